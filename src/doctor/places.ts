// Where a node with given options keeps its store and its secrets.

import type { Config } from '../config.ts'
import { dataPaths } from '../store/layout.ts'

export interface Places {
  readonly store: string
  readonly nodeKey: string
  /** The first admin token. */
  readonly token: string
}

export function placesOf({ dataDir, storeDir, nodeKeyFile }: Config): Places {
  const { store, nodeKey, token } = dataPaths(dataDir, storeDir)
  return { store, nodeKey: nodeKeyFile ?? nodeKey, token }
}

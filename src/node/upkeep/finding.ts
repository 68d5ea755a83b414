// What a check of `doctor` comes to, and how a check that fails unforeseen becomes one.

import type { Config } from '../config.ts'
import { placeOfStore } from '../open-storage.ts'
import { type DataPaths, dataPaths } from '../store/layout.ts'

export interface Finding {
  /** Short name of what was looked at. */
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  /** What was found, in one sentence. */
  readonly found: string
  /** What to do, in one line; for everything that is not ok. */
  readonly hint?: string
  /** True when what failed is not of this machine: brokers, a node elsewhere. */
  readonly isRemote?: boolean
}

/** A check of an installation. */
export type Check = (config: Config) => Promise<readonly Finding[]>

export function ok(check: string, found: string): Finding {
  return { check, status: 'ok', found }
}

export function warn(check: string, found: string, hint: string): Finding {
  return { check, status: 'warn', found, hint }
}

export function fail(check: string, found: string, hint: string): Finding {
  return { check, status: 'fail', found, hint }
}

/** The text of what was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Where a node with these options keeps its store and its secrets; `token` is the first admin token. */
export function placesOf(config: Config): Pick<DataPaths, 'store' | 'nodeKey' | 'token'> {
  const { nodeKey, token } = dataPaths(config.dataDir)
  return { store: placeOfStore(config), nodeKey: config.nodeKeyFile ?? nodeKey, token }
}

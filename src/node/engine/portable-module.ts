// Where the portable form of an engine lies on this machine, and whether its files are those that the release knows.

import { createRequire } from 'node:module'
import { NodeError } from '../../libraries/base/errors.ts'
import { type KnownModule, knownEngines } from './known-engines.ts'
import { resolved, sha256Of } from './native-engine.ts'

export const modulePackage = '@duckdb/duckdb-wasm'

/** A file, and the SHA-256 that it must have, in hex. */
export interface KnownFile {
  readonly path: string
  readonly digest: string
}

export class PortableModule {
  /** Of DuckDB. */
  readonly version: string
  readonly module: KnownFile
  readonly driver: KnownFile
  #checked: Promise<void> | undefined

  constructor(version: string, known: KnownModule, paths: { readonly module: string; readonly driver: string }) {
    this.version = version
    this.module = { path: paths.module, digest: known.module }
    this.driver = { path: paths.driver, digest: known.driver }
  }

  /** SHA-256 of its module, in hex; its files are read once. Throws NodeError `EngineUnavailable` for files that the release does not know. */
  async digest(): Promise<string> {
    await (this.#checked ??= this.#check())
    return this.module.digest
  }

  async #check(): Promise<void> {
    for (const { path, digest } of [this.module, this.driver]) {
      if ((await sha256Of(path)) === digest) continue
      throw new NodeError('EngineUnavailable', `The file ${path} of DuckDB ${this.version} is another one.`)
    }
  }
}

/** Undefined where it is not installed beside the node, or the release does not know it. */
export function findPortableModule(version: string): PortableModule | undefined {
  const known = knownEngines.find((one) => one.version === version)?.portable
  const load = createRequire(import.meta.url)
  const module = resolved(load, `${modulePackage}/dist/duckdb-eh.wasm`)
  const driver = resolved(load, `${modulePackage}/dist/duckdb-node-eh.worker.cjs`)
  if (known === undefined || module === undefined || driver === undefined) return undefined
  return new PortableModule(version, known, { module, driver })
}

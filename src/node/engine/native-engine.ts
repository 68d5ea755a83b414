// Where a native engine lies on this machine, and whether its library is one that the release knows. It is looked for in the
// directory of added engines, then as an installed package: under the alias duckdb-<version>, and as the one of the release.

import { readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { NodeError } from '../../libraries/base/errors.ts'
import { toHex } from '../../libraries/base/bytes.ts'
import { createSha2 } from '../../libraries/base/ids/native-crypto.ts'
import { type KnownEngine, knownEngines } from './known-engines.ts'

const apiPackage = '@duckdb/node-api'
const chunkBytes = 1024 * 1024
const libraryNames: Readonly<Record<string, string>> = { darwin: 'libduckdb.dylib', win32: 'duckdb.dll' }

/** Name of the shared library in a package of bindings for this system. */
export const libraryName = libraryNames[process.platform] ?? 'libduckdb.so'

/** Platforms whose packages run here: those for both C libraries of Linux. */
export const ownPlatforms: readonly string[] = ['', '-musl'].map((end) => `${process.platform}-${process.arch}${end}`)

/** Folder of the package in the directory of added engines: an absolute path, which the loader asks for. */
export function addedFolder(enginesDir: string, version: string): string {
  return resolve(enginesDir, version, 'node_modules', ...apiPackage.split('/'))
}

export class NativeEngine {
  /** Of DuckDB. */
  readonly version: string
  /** Of its package `@duckdb/node-api`. */
  readonly folder: string
  readonly #known: KnownEngine
  #digest: Promise<string> | undefined

  constructor(known: KnownEngine, folder: string) {
    this.version = known.version
    this.folder = folder
    this.#known = known
  }

  /** SHA-256 of its library, in hex; read once. Throws NodeError `EngineUnavailable` for a library that the release does not know. */
  async digest(): Promise<string> {
    return await (this.#digest ??= this.#readDigest())
  }

  async #readDigest(): Promise<string> {
    const path = this.#libraryPath()
    const digest = path === undefined ? undefined : await sha256Of(path)
    const { platforms } = this.#known
    if (digest !== undefined && ownPlatforms.some((platform) => platforms[platform]?.library === digest)) return digest
    const what = digest === undefined ? 'has no library for this machine' : `is not known: its library is ${digest}`
    throw new NodeError('EngineUnavailable', `The engine DuckDB ${this.version} of this machine ${what}.`, {
      hint: addingHint(this.version),
    })
  }

  #libraryPath(): string | undefined {
    try {
      const bindings = createRequire(join(this.folder, 'package.json')).resolve('@duckdb/node-bindings/package.json')
      const load = createRequire(bindings)
      for (const platform of ownPlatforms) {
        const found = resolved(load, `@duckdb/node-bindings-${platform}/package.json`)
        if (found !== undefined) return join(dirname(found), libraryName)
      }
    } catch (error) {
      if (!isMissing(error)) throw error
    }
    return undefined
  }
}

/** Undefined where it is not on this machine, or the release does not know it. */
export function findNativeEngine(version: string, enginesDir: string | undefined): NativeEngine | undefined {
  const known = knownEngines.find((one) => one.version === version)
  if (known === undefined) return undefined
  const load = createRequire(import.meta.url)
  const places = [
    ...(enginesDir === undefined ? [] : [join(addedFolder(enginesDir, version), 'package.json')]),
    resolved(load, `duckdb-${version}/package.json`),
    resolved(load, `${apiPackage}/package.json`),
  ]
  const place = places.find((path) => path !== undefined && versionAt(path) === known.packageVersion)
  return place === undefined ? undefined : new NativeEngine(known, dirname(place))
}

/** For what needs an engine that is not on this machine. */
export function engineAbsent(version: string): NodeError {
  return new NodeError('EngineUnavailable', `The engine DuckDB ${version} is not on this machine.`, {
    hint: addingHint(version),
  })
}

/** What to do about an engine that is not here. */
export function addingHint(version: string): string {
  const known = knownEngines.find((one) => one.version === version)
  if (known === undefined)
    return 'This release knows no engine of that version. proofstream engine list shows those that it knows.'
  return `Its operator adds ${apiPackage} ${known.packageVersion} with: proofstream engine add ${version}`
}

function versionAt(path: string): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(path, 'utf8')) as { readonly version?: string } // a manifest of npm
    return version
  } catch {
    return undefined
  }
}

/** Path of what an installed package has under this name; undefined where it is not installed. */
function resolved(load: NodeJS.Require, name: string): string | undefined {
  try {
    return load.resolve(name)
  } catch (error) {
    if (!isMissing(error)) throw error
    return undefined
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND'
}

/** In hex; undefined where there is no such file. */
async function sha256Of(path: string): Promise<string | undefined> {
  const handle = await open(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
  if (handle === undefined) return undefined
  try {
    const state = createSha2('sha256')
    const chunk = new Uint8Array(chunkBytes)
    for (;;) {
      const { bytesRead } = await handle.read(chunk, 0, chunkBytes)
      if (bytesRead === 0) return toHex(state.digest())
      state.update(chunk.subarray(0, bytesRead))
    }
  } finally {
    await handle.close()
  }
}

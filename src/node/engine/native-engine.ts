// Where a native engine lies on this machine, and whether its files are those that the release knows. It is looked for in the
// directory of added engines, then as an installed package: under the alias duckdb-<version>, and as the one of the release.

import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { NodeError } from '../../libraries/base/errors.ts'
import { toHex, utf8 } from '../../libraries/base/bytes.ts'
import { createSha2, sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { type KnownEngine, knownEngines } from './known-engines.ts'

const apiPackage = '@duckdb/node-api'
const chunkBytes = 1024 * 1024
const libraryNames: Readonly<Record<string, string>> = { darwin: 'libduckdb.dylib', win32: 'duckdb.dll' }

const addonName = 'duckdb.node'
/** Name of the shared library in a package of bindings for this system. */
export const libraryName = libraryNames[process.platform] ?? 'libduckdb.so'

/** Platforms whose packages run here: those for both C libraries of Linux. */
export const ownPlatforms: readonly string[] = ['', '-musl'].map((end) => `${process.platform}-${process.arch}${end}`)

/** Folder of the package in the directory of added engines: an absolute path, which the loader asks for. */
export function addedFolder(enginesDir: string, version: string): string {
  return resolve(enginesDir, version, 'node_modules', ...apiPackage.split('/'))
}

/** The files of an engine that run. */
interface EngineFiles {
  readonly library: string
  /** What speaks for the library in Node. */
  readonly addon: string
  /** Folder of the package's own modules, and each file in it. */
  readonly api: string
  readonly modules: readonly string[]
}

/** The files of the package in a folder; undefined where it has none for this machine, or where one is no file. */
export function filesOf(folder: string): EngineFiles | undefined {
  try {
    const files = foundFiles(folder)
    if (files === undefined) return undefined
    const isWhole = [files.library, files.addon, ...files.modules].every((path) => statSync(path).isFile())
    return isWhole ? files : undefined
  } catch {
    // Links in a circle, a folder that may not be read, a manifest that is none: as if it were not here.
    return undefined
  }
}

function foundFiles(folder: string): EngineFiles | undefined {
  const bindings = resolved(createRequire(join(folder, 'package.json')), '@duckdb/node-bindings/package.json')
  if (bindings === undefined) return undefined
  const load = createRequire(bindings)
  for (const platform of ownPlatforms) {
    const found = resolved(load, `@duckdb/node-bindings-${platform}/package.json`)
    if (found === undefined) continue
    const [library, addon] = [join(dirname(found), libraryName), join(dirname(found), addonName)]
    if (!existsSync(library) || !existsSync(addon)) continue
    const api = realpathSync(join(folder, 'lib'))
    const entries = readdirSync(api, { recursive: true, withFileTypes: true })
    const modules = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
    return { library, addon, api, modules: modules.sort() }
  }
  return undefined
}

/** The state of files, by which a change of any is seen: where each lies, its size, and when it was written last. */
export function stateOf({ library, addon, modules }: EngineFiles): string {
  const states = [library, addon, ...modules].map((path) => {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
    return [path, stat?.dev, stat?.ino, stat?.size, stat?.ctimeNs].join(' ')
  })
  return toHex(sha256(utf8(states.join('\n'))))
}

/** What was found in the files while they were in a state. */
interface Looked {
  readonly files: EngineFiles
  readonly state: string
  readonly libraryState: string
  /** SHA-256 of the library, in hex, or why nothing of them runs. */
  readonly found: string | NodeError
}

export class NativeEngine {
  /** Of DuckDB. */
  readonly version: string
  /** Of its package `@duckdb/node-api`. */
  readonly folder: string
  readonly #known: KnownEngine
  #looked: Promise<Looked> | undefined

  constructor(known: KnownEngine, folder: string) {
    this.version = known.version
    this.folder = folder
    this.#known = known
  }

  /**
   * SHA-256 of its library, in hex. All its files are read once, and again where the library has changed since. Throws
   * NodeError `EngineUnavailable` for files that the release does not know.
   */
  async digest(): Promise<string> {
    const before = await this.#looked
    const isSame = before !== undefined && before.libraryState === libraryStateOf(before.files)
    return foundIn(isSame ? before : await this.#look()).digest
  }

  /** The state in which its files are those that the release knows: they run in no other. Throws as `digest`. */
  async state(): Promise<string> {
    const before = await this.#looked
    const isSame = before !== undefined && before.state === stateOf(this.#files())
    return foundIn(isSame ? before : await this.#look()).state
  }

  #files(): EngineFiles {
    const files = filesOf(this.folder)
    if (files === undefined) throw this.#unusable('has no library for this machine')
    return files
  }

  async #look(): Promise<Looked> {
    return await (this.#looked = this.#read(this.#files()))
  }

  async #read(files: EngineFiles): Promise<Looked> {
    const { library, addon, api, modules } = files
    const about = { files, state: stateOf(files), libraryState: libraryStateOf(files) }
    const [digest, spoken] = [await sha256Of(library), await sha256Of(addon)]
    const lines: string[] = []
    for (const path of modules) lines.push(`${relative(api, path).replaceAll(sep, '/')} ${await sha256Of(path)}`)
    const { platforms, modules: known } = this.#known
    const own = ownPlatforms.map((name) => platforms[name]).find((one) => one?.library === digest)
    if (digest === undefined || own === undefined)
      return { ...about, found: this.#unusable(`is not known: its library is ${digest}`) }
    const isWhole = own.addon === spoken && known === toHex(sha256(utf8(lines.sort().join('\n'))))
    if (isWhole && stateOf(files) === about.state) return { ...about, found: digest }
    const place = own.addon === spoken ? api : addon
    return { ...about, found: this.#unusable(`is not known: there are other files in ${place}`) }
  }

  #unusable(why: string): NodeError {
    return new NodeError('EngineUnavailable', `The engine DuckDB ${this.version} in ${this.folder} ${why}.`, {
      hint: addingHint(this.version),
    })
  }
}

function libraryStateOf(files: EngineFiles): string {
  return stateOf({ ...files, modules: [] })
}

function foundIn({ found, state }: Looked): { readonly digest: string; readonly state: string } {
  // mutant: any library runs
  if (found instanceof NodeError) throw found
  return { digest: found, state }
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
  const folders = places.flatMap((path) =>
    path !== undefined && versionAt(path) === known.packageVersion ? [dirname(path)] : [],
  )
  // Its own package is for every machine; that of the library may be missing.
  const folder = folders.find((one) => filesOf(one) !== undefined)
  return folder === undefined ? undefined : new NativeEngine(known, folder)
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
    return 'This release knows no engine of that version. proofstream doctor shows those that it knows.'
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

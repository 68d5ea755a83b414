// `engine add`: the engines of other versions, which only proofs use. What is added are archives of npm whose hashes the release
// knows, unpacked as they are: nothing of them runs meanwhile. And which engines are here, as `doctor` shows them.

import { execFile } from 'node:child_process'
import { constants, mkdir, mkdtemp, open, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { Config } from '../../node/config.ts'
import type { EngineAbout } from '../../node/engine/engines.ts'
import { type KnownEngine, knownEngines } from '../../node/engine/known-engines.ts'
import {
  addedFolder,
  addingHint,
  findNativeEngine,
  ownPlatforms,
  NativeEngine,
} from '../../node/engine/native-engine.ts'
import { engineVersion } from '../../node/engine/messages.ts'
import { dataPaths } from '../../node/store/layout.ts'
import { fail, type Finding, ok, reasonOf, warn } from '../../node/upkeep/finding.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { createSha2 } from '../../libraries/base/ids/native-crypto.ts'
import { base64Text } from '../../libraries/base/base64.ts'

const run = promisify(execFile)
/** npm is a script of the shell there. */
const shell = process.platform === 'win32'
/** Of one archive; the largest that is known has 26 MB. */
const archiveMost = 128 * 1024 * 1024

/** The engines that the release knows: whether statements can run here, and proofs of other versions. */
export async function checkEngines({ dataDir }: Config): Promise<readonly Finding[]> {
  const checked = knownEngines.map(async ({ version }): Promise<Finding> => {
    const name = `DuckDB ${version}`
    const found = findNativeEngine(version, dataPaths(dataDir).engines)
    if (found === undefined) {
      if (version === engineVersion) return warn('engine', `${name} is not on this machine.`, addingHint(version))
      return ok('engine', `${name} is not on this machine; only its proofs need it: proofstream engine add ${version}`)
    }
    try {
      const digest = await found.digest()
      return ok('engine', `${name} is here, and its library is the one that this release knows (${digest}).`)
    } catch (error) {
      return fail('engine', reasonOf(error), addingHint(version))
    }
  })
  return await Promise.all(checked)
}

/** An archive that is needed, and the folder of its package. */
interface Wanted {
  readonly name: string
  readonly integrity: string
  readonly folder: string
}

/**
 * Puts an engine into the data directory, out of `files` or, where there are none, from the registry that npm is set to. Nothing
 * is changed where one archive is missing or is another. Nodes that run find it. Throws NodeError `InvalidParameter` for a
 * version that the release does not know and for other archives, `EngineUnavailable` where there is none for this machine.
 */
export async function addEngine(config: Config, version: string, files: readonly string[]): Promise<EngineAbout> {
  const known = knownEngines.find((one) => one.version === version)
  if (known === undefined) {
    const candidates = knownEngines.map((one) => one.version)
    throw new NodeError('InvalidParameter', `This release knows no engine DuckDB ${version}.`, { candidates })
  }
  const { engines } = dataPaths(config.dataDir)
  const there = await findNativeEngine(version, engines)
    ?.digest()
    .catch(() => undefined)
  const digest = there ?? (await putEngine(engines, known, files))
  return { version, digest, default: version === engineVersion }
}

/** SHA-256 of its library. */
async function putEngine(engines: string, known: KnownEngine, files: readonly string[]): Promise<string> {
  const { version } = known
  const first = await mkdir(engines, { recursive: true, mode: 0o700 })
  const made = await mkdtemp(join(engines, '.new-'))
  try {
    const wanted = wantedOf(known, made)
    const archives = files.length > 0 ? files : await fetched(wanted, known, made)
    const found = await matched(wanted, archives)
    for (const { folder, bytes } of found) {
      await mkdir(folder, { recursive: true })
      const unpacked = run('tar', ['-xzf', '-', '-C', folder, '--strip-components=1'])
      unpacked.child.stdin?.end(bytes)
      await unpacked
    }
    const digest = await new NativeEngine(known, addedFolder(made, '.')).digest()
    await rm(join(engines, version), { recursive: true, force: true })
    await rename(made, join(engines, version))
    return digest
  } finally {
    await rm(made, { recursive: true, force: true })
    if (first !== undefined) await removeEmpty(engines, first)
  }
}

/** Removes a directory and those above it up to `last`, as long as they are empty. */
async function removeEmpty(folder: string, last: string): Promise<void> {
  const gone = await rmdir(folder).catch(() => 'in use')
  if (gone === undefined && relative(last, folder) !== '') await removeEmpty(dirname(folder), last)
}

function wantedOf({ version, archives, platforms }: KnownEngine, made: string): Wanted[] {
  const [plain = '', musl = ''] = ownPlatforms
  const platform = isMusl() ? musl : plain
  const library = platforms[platform]
  if (library === undefined) {
    throw new NodeError('EngineUnavailable', `There is no engine DuckDB ${version} for ${platform}.`)
  }
  const folderOf = (name: string): string => join(made, 'node_modules', ...name.split('/'))
  return [
    ...Object.entries(archives).map(([name, integrity]) => ({ name, integrity, folder: folderOf(name) })),
    {
      name: `@duckdb/node-bindings-${platform}`,
      integrity: library.archive,
      // Alone in its directory it is found under this name, whatever its C library.
      folder: folderOf(`@duckdb/node-bindings-${plain}`),
    },
  ]
}

/** The archives as npm has them. Throws NodeError `EngineUnavailable` where npm gets none. */
async function fetched(
  wanted: readonly Wanted[],
  { version, packageVersion }: KnownEngine,
  dir: string,
): Promise<string[]> {
  const names = wanted.map(({ name }) => `${name}@${packageVersion}`)
  const flags = ['--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', dir]
  try {
    const { stdout } = await run('npm', ['pack', ...flags, ...names], { shell, maxBuffer: 16 * 1024 * 1024 })
    const packed = JSON.parse(stdout) as { readonly filename: string }[] // what npm prints for --json
    return packed.map(({ filename }) => join(dir, filename))
  } catch (cause) {
    throw new NodeError('EngineUnavailable', `npm did not get ${names.join(', ')}.`, {
      hint: `On a machine with a registry: npm pack ${names.join(' ')}. Then here: proofstream engine add ${version}, with --file <archive> for each of them.`,
      cause,
    })
  }
}

/** The bytes of each archive, found among files by their hash. Throws NodeError `InvalidParameter` for one that is none, or that is missing. */
async function matched(
  wanted: readonly Wanted[],
  files: readonly string[],
): Promise<{ readonly folder: string; readonly bytes: Uint8Array }[]> {
  const found = new Map<string, Uint8Array>()
  for (const file of files) {
    const state = createSha2('sha512')
    const bytes = await archiveIn(file)
    state.update(bytes)
    const integrity = `sha512-${base64Text(state.digest())}`
    if (!wanted.some((one) => one.integrity === integrity)) {
      const names = wanted.map(({ name }) => name).join(', ')
      throw new NodeError('InvalidParameter', `${file} is another archive: expected one of ${names}.`)
    }
    found.set(integrity, bytes)
  }
  return wanted.map(({ name, integrity, folder }) => {
    const bytes = found.get(integrity)
    if (bytes === undefined) throw new NodeError('InvalidParameter', `The archive of ${name} is missing.`)
    return { folder, bytes }
  })
}

/** All of a file, read once: what is hashed is what is unpacked. Throws NodeError `InvalidParameter` for what is no archive. */
async function archiveIn(file: string): Promise<Uint8Array> {
  // A pipe that nobody writes into must not be waited for.
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const stat = await handle.stat()
    if (stat.isFile() && stat.size <= archiveMost) return await handle.readFile()
    throw new NodeError('InvalidParameter', `${file} is no archive: expected a file of ${archiveMost} bytes at most.`)
  } finally {
    await handle.close()
  }
}

function isMusl(): boolean {
  if (process.platform !== 'linux') return false
  // Names of the network's other hosts are not asked for.
  Object.assign(process.report, { excludeNetwork: true })
  const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } } // Node's own
  return header.glibcVersionRuntime === undefined
}

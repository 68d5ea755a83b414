// Which native engines may run: those of the release, by the hashes of their archives and of their files. The list says the
// same as the lock file and as what is installed. A process of another library never starts.

import { execFileSync } from 'node:child_process'
import { appendFile, cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { ChildHandle } from '../../../src/node/engine/process/child-handle.ts'
import { type Engine, openEngine } from '../../../src/node/engine/engine.ts'
import { knownEngines } from '../../../src/node/engine/known-engines.ts'
import { engineVersion } from '../../../src/node/engine/messages.ts'
import { addingHint, filesOf, libraryName, NativeEngine } from '../../../src/node/engine/native-engine.ts'
import '../../helpers/older-engine.ts'
import { repository } from '../../helpers/sources.ts'
import { benchOptions } from './helpers.ts'

const ofRelease = must(
  knownEngines.find(({ version }) => version === engineVersion),
  'the engine of the release',
)

const childSettings = {
  engineVersion,
  memoryBytes: 2 ** 28,
  killBytes: 2 ** 30,
  resultBytes: 2 ** 20,
  exportBytes: 2 ** 20,
  dataRoots: ['/nowhere'],
}

test('the archives of the release are those of the lock file, for every platform', async () => {
  const { packages } = JSON.parse(await readFile(join(repository, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>
  }
  const locked = Object.entries(packages).flatMap(([path, { version, integrity }]) => {
    const name = path.replace(/^.*node_modules\//, '')
    return name.startsWith('@duckdb/node-') ? [[name, version, integrity]] : []
  })
  const { packageVersion, archives, platforms } = ofRelease
  const listed = [
    ...Object.entries(archives),
    ...Object.entries(platforms).map(([platform, { archive }]) => [`@duckdb/node-bindings-${platform}`, archive]),
  ].map(([name, archive]) => [name, packageVersion, archive])
  expect(new Set(listed)).toEqual(new Set(locked))
  expect(addingHint(engineVersion)).toContain(packageVersion)
})

test('every version has the same platforms, and no hash stands twice but for the library of both processors of macOS', () => {
  const names = Object.keys(ofRelease.platforms)
  for (const { platforms } of knownEngines) expect(Object.keys(platforms)).toEqual(names)
  const all = knownEngines.flatMap(({ archives, platforms }) => [
    ...Object.values(archives),
    ...Object.values(platforms).flatMap(({ archive, library, addon }) => [archive, library, addon]),
  ])
  expect(all.length - new Set(all).size).toBe(knownEngines.length)
})

describe('an engine with another file', () => {
  const bindings = `node-bindings-${process.platform}-${process.arch}`
  const others = [
    join(bindings, libraryName),
    join(bindings, 'duckdb.node'),
    'node-api/lib/DuckDBVector.js',
    // A module is looked for under its name alone first.
    'node-api/lib/DuckDBVector',
  ]

  /** A copy of the packages of the release. */
  async function copied(): Promise<string> {
    const dir = await mkdtemp(join(tmpdir(), 'proofstream-library-'))
    onTestFinished(async () => await rm(dir, { recursive: true }))
    const modules = join(dir, 'node_modules', '@duckdb')
    await mkdir(modules, { recursive: true })
    for (const name of ['node-api', 'node-bindings', bindings])
      await cp(join(repository, 'node_modules', '@duckdb', name), join(modules, name), { recursive: true })
    return modules
  }

  test.each(others)('%s, changed while the node runs, runs in no process from then on', async (path) => {
    const modules = await copied()
    const native = new NativeEngine(ofRelease, join(modules, 'node-api'))
    const opened = (of: NativeEngine): Engine => {
      const engine = openEngine({ ...benchOptions, dataRoots: [modules], native: of })
      onTestFinished(async () => await engine.close())
      return engine
    }
    expect(await native.digest()).toBe(await benchOptions.native.digest())
    const state = await native.state()
    const before = opened(native)
    await appendFile(join(modules, path), 'x')
    const later = opened(new NativeEngine(ofRelease, native.folder))
    await expect(later.prove()).rejects.toMatchObject({ kind: 'Internal' })
    // No statement waits for a process that never starts.
    const refused = { kind: 'EngineUnavailable', message: expect.stringContaining(native.folder) }
    for (const engine of [before, before, later]) {
      await expect(engine.analyze('SELECT 1')).rejects.toMatchObject(refused)
    }
    // What its parent has read is not what it finds: it ends before it loads anything.
    const child = new ChildHandle(childSettings, { folder: native.folder, state }, systemClock)
    await expect(child.ready()).rejects.toMatchObject({ kind: 'Internal' })
    await child.exited
    await expect(native.digest()).rejects.toMatchObject(refused)
  })

  test('a file that was written again as it was is read again, and runs', async () => {
    const modules = await copied()
    const native = new NativeEngine(ofRelease, join(modules, 'node-api'))
    const [digest, state] = [await native.digest(), await native.state()]
    const path = join(modules, bindings, 'duckdb.node')
    await writeFile(path, await readFile(path))
    expect(await native.digest()).toBe(digest)
    expect(await native.state()).not.toBe(state)
  })

  test.runIf(process.platform !== 'win32').each([
    ['a pipe', join(bindings, libraryName), (path: string) => execFileSync('mkfifo', [path])],
    ['a pipe', join(bindings, 'duckdb.node'), (path: string) => execFileSync('mkfifo', [path])],
    ['a folder', join(bindings, libraryName), async (path: string) => await mkdir(path)],
    ['a link to itself', 'node-api/lib/DuckDBVector.js', async (path: string) => await symlink(path, path)],
    ['a link to a folder', 'node-api/lib/DuckDBVector.js', async (path: string) => await symlink('..', path)],
    ['nothing', 'node-api/lib', async () => await Promise.resolve()],
    ['no JSON', 'node-bindings/package.json', async (path: string) => await writeFile(path, '{')],
  ])('with %s in place of %s is not there', async (_, path, put) => {
    const modules = await copied()
    await rm(join(modules, path), { recursive: true })
    await put(join(modules, path))
    expect(filesOf(join(modules, 'node-api'))).toBeUndefined()
    const native = new NativeEngine(ofRelease, join(modules, 'node-api'))
    await expect(native.state()).rejects.toMatchObject({ kind: 'EngineUnavailable' })
  })

  test('a machine without the library has no engine', async () => {
    const modules = await copied()
    expect(filesOf(join(modules, 'node-api'))?.library).toBe(join(await realpath(modules), bindings, libraryName))
    await rm(join(modules, bindings), { recursive: true })
    expect(filesOf(join(modules, 'node-api'))).toBeUndefined()
  })
})

test('an engine that is closed while its library is read starts no process', async () => {
  const before = processes()
  const native = new NativeEngine(ofRelease, benchOptions.native.folder)
  const engine = openEngine({ ...benchOptions, dataRoots: [tmpdir()], native })
  const proved = engine.prove()
  await engine.close()
  await proved
  await native.digest()
  expect(processes()).toBe(before)
})

function processes(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap').length
}

// Which native engines may run: those of the release, by the hashes of their archives and of their libraries. The list says the
// same as the lock file and as what is installed. A process of another library never starts.

import { appendFile, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { openEngine } from '../../../src/node/engine/engine.ts'
import { knownEngines } from '../../../src/node/engine/known-engines.ts'
import { engineVersion } from '../../../src/node/engine/messages.ts'
import { addingHint, libraryName, NativeEngine } from '../../../src/node/engine/native-engine.ts'
import { repository } from '../../helpers/sources.ts'
import { benchOptions } from './helpers.ts'

const ofRelease = must(
  knownEngines.find(({ version }) => version === engineVersion),
  'the engine of the release',
)

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
    ...Object.values(platforms).flatMap(({ archive, library }) => [archive, library]),
  ])
  expect(all.length - new Set(all).size).toBe(knownEngines.length)
})

test('a library with one more byte runs in no process', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'proofstream-library-'))
  try {
    const modules = join(dir, 'node_modules', '@duckdb')
    const bindings = `node-bindings-${process.platform}-${process.arch}`
    await mkdir(modules, { recursive: true })
    for (const name of ['node-api', 'node-bindings', bindings]) {
      await cp(join(repository, 'node_modules', '@duckdb', name), join(modules, name), { recursive: true })
    }
    const folder = join(modules, 'node-api')
    expect(await new NativeEngine(ofRelease, folder).digest()).toBe(await benchOptions.native.digest())
    await appendFile(join(modules, bindings, libraryName), 'x')
    const engine = openEngine({ ...benchOptions, dataRoots: [dir], native: new NativeEngine(ofRelease, folder) })
    await expect(engine.prove()).rejects.toMatchObject({ kind: 'Internal' })
    await expect(engine.analyze('SELECT 1')).rejects.toMatchObject({ kind: 'EngineUnavailable' })
    await engine.close()
  } finally {
    await rm(dir, { recursive: true })
  }
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

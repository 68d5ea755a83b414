// The tests are tested with bugs: each mutant of the source must be caught by the simulation, or by the test that it
// names, or those are worth nothing. A mutant is a copy of the repository in a temporary directory with one change;
// MUTANT_SEEDS says how many seeds there are (default 400), of which the odd ones run; MUTANTS, how many mutants
// have their turn, each so many from SEED on (default all).

import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { seed } from '../helpers/seed.ts'
import { filesUnder } from '../helpers/sources.ts'
import { type Mutant, mutants, planted } from './mutants.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const copied = [
  'src',
  'scripts',
  'streams',
  'texts',
  'test',
  'package.json',
  'tsconfig.json',
  'package-lock.json',
  'docs',
]
const sources = filesUnder('src')
const seeds = process.env['MUTANT_SEEDS'] ?? '400'
const wanted = Number(process.env['MUTANTS'] ?? mutants.length)
const first = (seed * wanted) % mutants.length
const chosen = mutants.filter((_mutant, at) => (at + mutants.length - first) % mutants.length < wanted)

let home = ''
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'proofstream-mutants-'))
})
afterAll(() => rm(home, { recursive: true, force: true }))

/** A copy of the repository under `home`. */
async function copyOf(name: string): Promise<string> {
  const copy = join(home, name.replaceAll(' ', '-'))
  for (const path of [...copied, 'vitest.config.ts']) await cp(join(root, path), join(copy, path), { recursive: true })
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

interface Outcome {
  readonly status: number
  readonly output: string
}

/** Runs the simulation or unit test that must catch the mutant, with this many seeds. */
function tried(
  copy: string,
  { unit, test: name = 'seeds-odd' }: Pick<Mutant, 'unit' | 'test'>,
  count: string,
): Promise<Outcome> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const what = unit ?? `test/sim/${name}`
  const projects = unit === undefined ? ['--project=sim'] : ['--project=unit', '--project=together']
  const args = [vitest, 'run', '--no-cache', ...projects, what]
  const env = { ...process.env, SIM_SEEDS: count, SIM_MOST_BAD: '1', NO_COLOR: '1', FORCE_COLOR: '0' }
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: copy, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : 1, output: stdout + stderr })
    })
  })
}

describe.concurrent('the tests', () => {
  // One half of the seeds is enough: two mutants run at the same time.
  test.for(chosen)('catch a node with $name', async (mutant, { expect }) => {
    const copy = await copyOf(mutant.name)
    const { path, text } = planted(sources, mutant)
    await writeFile(join(copy, path), text)
    const { status, output } = await tried(copy, mutant, seeds)
    const isCaught = output.includes('AssertionError')
    expect({ status, isCaught, output: isCaught ? '' : output.slice(-2000) }).toEqual({
      status: 1,
      isCaught: true,
      output: '',
    })
    const seed = /SIM_SEED=\d+/.exec(output)?.[0] ?? mutant.unit ?? mutant.test
    const kinds = new Set(
      [...output.matchAll(/"kind": "([a-z-]+)"|^\W*"([A-Z]\w+): /gm)].map((found) => found[1] ?? found[2]),
    )
    console.log(`${mutant.name}: caught by ${seed}: ${[...kinds].join(', ')}`)
    await rm(copy, { recursive: true, force: true })
  })

  test('pass the same copy without a change', async ({ expect }) => {
    const copy = await copyOf('unchanged')
    expect(await tried(copy, { test: 'seeds' }, '20')).toMatchObject({ status: 0 })
    for (const unit of new Set(chosen.flatMap((mutant) => mutant.unit ?? []))) {
      expect(await tried(copy, { unit }, '20')).toMatchObject({ status: 0 })
    }
  })
})

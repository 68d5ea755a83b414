// The harness is tested with bugs: each mutant of the source must be caught by the simulation, or the simulation is
// worth nothing. A mutant is a copy of the repository in a temporary directory with one change; MUTANT_SEEDS says how
// many seeds it may survive (default 400).

import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mutants } from './mutants.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const copied = [
  'src',
  'streams',
  'test/sim',
  'test/helpers',
  'test/builder',
  'test/crash',
  'package.json',
  'tsconfig.json',
]
const seeds = process.env['MUTANT_SEEDS'] ?? '400'

let copy = ''
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'proofstream-mutants-'))
  for (const path of [...copied, 'vitest.config.ts']) await cp(join(root, path), join(copy, path), { recursive: true })
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
})
afterAll(() => rm(copy, { recursive: true, force: true }))

interface Outcome {
  readonly status: number
  readonly output: string
}

function simulate(name: string, count: string): Promise<Outcome> {
  const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'sim', `test/sim/${name}`]
  const env = { ...process.env, SIM_SEEDS: count, SIM_MOST_BAD: '1', NO_COLOR: '1', FORCE_COLOR: '0' }
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: copy, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : 1, output: stdout + stderr })
    })
  })
}

describe('the simulation', () => {
  test.each(mutants)('catches a node with $name', async ({ file, from, to, test: name = 'seeds' }) => {
    const path = join(copy, file)
    const source = await readFile(path, 'utf8')
    expect(source.split(from)).toHaveLength(2)
    await writeFile(
      path,
      source.replace(from, () => to),
    )
    try {
      const { status, output } = await simulate(name, seeds)
      const isCaught = output.includes('AssertionError')
      expect({ status, isCaught, output: isCaught ? '' : output.slice(-2000) }).toEqual({
        status: 1,
        isCaught: true,
        output: '',
      })
      const seed = /SIM_SEED=\d+/.exec(output)?.[0] ?? name
      const kinds = new Set(
        [...output.matchAll(/"kind": "([a-z-]+)"|^\W*"([A-Z]\w+): /gm)].map((found) => found[1] ?? found[2]),
      )
      console.log(`caught by ${seed}: ${[...kinds].join(', ')}`)
    } finally {
      await writeFile(path, source)
    }
  })

  test('passes the same copy without a change', async () => {
    expect(await simulate('seeds', '20')).toMatchObject({ status: 0 })
  })
})

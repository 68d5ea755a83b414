// The body of the crash tests: `chaos` with a given log. A node under load is killed again and again at moments drawn by
// chance (SIGKILL: nothing is flushed, nothing closed), now and then frozen for a while, or killed while it starts.
// CRASH_CYCLES says how many cycles, SEED repeats the choices of a run. A kill leaves the page cache: lost power
// is simulated in test/sim, test/node/log and test/node/store.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runChaos } from '../history/chaos.ts'
import { seed } from '../helpers/seed.ts'

const cycles = Number(process.env['CRASH_CYCLES'] ?? 4)

/** Registers the test of one file. `options`: those of the node beside those of every run. */
export function testKills(options: () => Readonly<Record<string, string>>): void {
  let dir = ''
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'proofstream-crash-'))
  })
  afterAll(() => rm(dir, { recursive: true, force: true }))

  test(`no promise breaks over ${cycles} kills (SEED=${seed})`, async () => {
    const { verdicts, problems, counts } = await runChaos({ dir, cycles, seed, options: options() })
    console.log(`kills of a node: ${JSON.stringify(counts)}`)
    expect({ verdicts: verdicts.slice(0, 20), problems: problems.slice(0, 20) }).toEqual({ verdicts: [], problems: [] })
    expect(Number(counts['kills']) + Number(counts['earlyKills'])).toBe(cycles)
    expect(counts['acknowledged']).toBeGreaterThan(cycles)
    expect(counts['replays']).toBeGreaterThan(0)
  })
}

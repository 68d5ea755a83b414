// `chaos` runs from end to end on a directory of its own and leaves nothing behind.

import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { failureOfReport } from '../../src/cli/commands/fsck.ts'
import { runCommand } from '../helpers/run-node.ts'

const left = async (): Promise<string[]> =>
  (await readdir(tmpdir())).filter((name) => name.startsWith('proofstream-chaos-'))

test('chaos kills its own node as often as asked, tells what it counted, and ends with 0', async () => {
  const before = new Set(await left())
  const { code, stdout, stderr } = await runCommand(['chaos', '--cycles', '3', '--seed', '7'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const report = JSON.parse(stdout) as Record<string, unknown>
  expect(report).toMatchObject({ ok: true, seed: 7, cycles: 3, wrong: [] })
  expect(Number(report['kills']) + Number(report['earlyKills'])).toBe(3)
  expect(Number(report['acknowledged'])).toBeGreaterThan(0)
  expect((await left()).filter((name) => !before.has(name))).toEqual([])
})

test('a broken promise, of the history or of the store, ends with 10 and is named', () => {
  const sound = { verdicts: [], problems: [] }
  expect(failureOfReport(sound)).toBeUndefined()
  const lost = failureOfReport({ ...sound, verdicts: [{ kind: 'lost', message: 'batch 4' }] })
  expect(lost).toMatchObject({ exitCode: 10, details: { facts: ['lost  batch 4'] } })
  const damaged = failureOfReport({ ...sound, problems: ['ObjectMissing  acme/a'] })
  expect(damaged).toMatchObject({ exitCode: 10, details: { facts: ['ObjectMissing  acme/a'] } })
})

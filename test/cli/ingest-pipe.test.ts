// `ingest` of a pipe that its writer keeps open, to a real node: a signal sends what was read, a fault ends the command, and
// places are those in the pipe.

import type { ChildProcess } from 'node:child_process'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { liveNode } from '../helpers/live-node.ts'
import { type Finished, runCommand } from '../helpers/run-node.ts'
import { until } from '../helpers/until.ts'

const live = await liveNode()
const pipes: PassThrough[] = []
beforeAll(async () => {
  for (const name of ['int', 'term', 'bad', 'csv', 'stream']) {
    const json = { schema: { fields: [{ name: 'n', type: 'Int64?' }] } }
    await live.call(`/me/${name}`, { method: 'PUT', json })
  }
})
afterAll(() => {
  for (const pipe of pipes) pipe.end()
})

/** The command over a pipe that stays open. */
function piped(dataset: string, text: string, ...more: readonly string[]): [Promise<Finished>, () => ChildProcess] {
  const input = new PassThrough()
  pipes.push(input)
  input.write(text)
  let started: ChildProcess | undefined
  const running = runCommand(['ingest', dataset, '-', ...more, '--server', live.node.url], {
    input,
    env: { PROOFSTREAM_TOKEN: live.adminToken },
    onStart: (child) => (started = child),
  })
  return [running, () => started as ChildProcess] // it has begun when `runCommand` returns
}

const stored = async (dataset: string): Promise<unknown> =>
  (await live.query(`select n from "${dataset}" order by "offset"`)).at('output.data')
const isStored = (dataset: string, rows: number) => async (): Promise<boolean> =>
  Array.isArray(await stored(dataset)) && ((await stored(dataset)) as unknown[]).length >= rows

test.each([
  ['SIGINT', 'me/int'],
  ['SIGTERM', 'me/term'],
] as const)('%s sends the whole lines that were read, and tells the last of them', async (signal, dataset) => {
  const text = '{"n":1}\n\n{"n":2}\n{"n":3}\n{"n":'
  const [running, child] = piped(dataset, text, '--batch-rows', '2', '--batch-age', '1h')
  await until('the first batch', isStored(dataset, 2))
  child().kill(signal)
  const { code, stdout, stderr } = await running
  expect([code, stderr]).toEqual([130, 'interrupted: line 4 of stdin is the last that was taken\n'])
  expect(stdout.trim().split('\n')).toHaveLength(2)
  await until('the rows', isStored(dataset, 3))
  expect(await stored(dataset)).toEqual([[1], [2], [3]])
})

test('a row that does not fit ends the command, with its place in the pipe', async () => {
  const [running] = piped('me/bad', '{"n":1}\n{"n":2}\n\n{"n":3}\n{"n":"x"}\n', '--batch-rows', '2')
  const { code, stderr } = await running
  expect(code).toBe(5)
  expect(stderr).toContain('Record 3')
  expect(stderr).toContain('Nothing of this batch was stored; the 2 records before were sent.')
  expect(stderr).toMatch(/^ +3 +5 +n /m)
  expect(await stored('me/bad')).toEqual([[1], [2]])
})

test('a header that each batch repeats moves no place', async () => {
  const [running] = piped('me/csv', 'n\n1\n2\n3\n4\nx\n', '-f', 'csv', '--batch-rows', '2')
  const { code, stderr } = await running
  expect(code).toBe(5)
  expect(stderr).toMatch(/^ +4 +6 +n /m)
  expect(await stored('me/csv')).toEqual([[1], [2], [3], [4]])
})

test('a stream ends in good order at a signal', async () => {
  const [running, child] = piped('me/stream', '{"n":1}\n{"n":2}\n{"n":', '--stream')
  await until('the rows', isStored('me/stream', 2))
  child().kill('SIGTERM')
  const { code, stderr } = await running
  expect([code, stderr]).toEqual([130, 'interrupted: line 2 of stdin is the last that was taken\n'])
  expect(await stored('me/stream')).toEqual([[1], [2]])
})

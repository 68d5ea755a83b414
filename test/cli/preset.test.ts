// `preset`: the table, and what a file would become, without a node; the flags of `ingest` for the same.

import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type Preset, presetNames, presets } from '../../src/formats/presets.ts'
import { runCommand } from '../helpers/run-node.ts'
import { receipt, startStub } from './stub-node.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-preset-'))
const run = (...args: readonly string[]) => runCommand(['preset', ...args], { cwd: folder })
const lines = (text: string): unknown[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line): unknown => JSON.parse(line))

test('list and show tell the table', async () => {
  expect(lines((await run('list')).stdout)).toEqual(
    presetNames.map((name) => ({ name, mediaType: presets[name].mediaType, about: presets[name].about })),
  )
  const { code, stdout } = await run('show', 'telegraf', '-o', 'json')
  expect([code, JSON.parse(stdout)]).toEqual([0, { name: 'telegraf', ...presets.telegraf }])
  expect((await run('show', 'telegraff')).code).toBe(3)
})

test.each(presetNames)('test prints the rows of the body that %s has as its example', async (name) => {
  const { example }: Preset = presets[name]
  await writeFile(join(folder, `${name}.json.gz`), gzipSync(example))
  const { code, stdout, stderr } = await run('test', name, `${name}.json.gz`)
  expect([code, stderr]).toEqual([0, expect.stringMatching(/: \d rows?; nothing was stored\n$/)])
  for (const row of lines(stdout)) expect(row).toHaveProperty('event_time', expect.stringMatching(/^20\d\d-.*Z$/))
})

test('test prints rows beyond what is held in memory, and says of a fault where it is', async () => {
  const many = Array.from({ length: 20_000 }, (_, i) => ({ tst: i, name: 'x'.repeat(100), n: i }))
  await writeFile(join(folder, 'many.json'), JSON.stringify(many))
  const rows = lines((await run('test', 'owntracks', 'many.json')).stdout)
  expect(rows.map((row) => Number(Object(row)['n']))).toEqual(many.map(({ n }) => n))
  await writeFile(join(folder, 'bad.json'), '[{"tst":1,"n":1},{"n":2}]')
  const bad = await run('test', 'owntracks', 'bad.json')
  expect([bad.code, bad.stdout]).toEqual([5, ''])
  expect(bad.stderr).toMatch(/1 +1 +event_time +MissingRequired/)
  expect((await run('test', 'owntracks', 'nowhere.json')).code).toBe(3)
})

test('ingest sends the flags as parameters, and no key where the body has it', async () => {
  await using stub = await startStub({
    'GET /me/lab/metadata': { body: { output: {} } },
    'POST /me/lab/ingest': { body: receipt() },
  })
  const send = (...args: string[]) =>
    runCommand(['ingest', 'me/lab', ...args, '--server', stub.url], { cwd: folder, input: '{"a":1}\n' })
  const codes = [
    await send('--event-time', '/up/ts', '--records', '/rows', '--flatten', '--dedupe', 'body'),
    await send('--preset', 'ttn', '--no-flatten'),
    await send('--preset', 'ttn', '--key', 'mine'),
    await send('--event-time', 'ts'),
  ].map(({ code }) => code)
  expect(codes).toEqual([0, 0, 0, 0])
  const sent = stub
    .of('POST', '/me/lab/ingest')
    .map(({ query, headers }) => [Object.fromEntries(query), headers['idempotency-key']])
  expect(sent).toEqual([
    [{ eventTime: '/up/ts', records: '/rows', flatten: 'true', dedupe: 'body' }, undefined],
    [{ preset: 'ttn', flatten: 'false' }, undefined],
    [{ preset: 'ttn' }, 'mine'],
    [{ eventTime: 'ts' }, expect.stringMatching(/^[0-9a-f-]{36}$/)],
  ])
})

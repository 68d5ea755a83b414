// A long body into a dataset that exists: its rows are in the log while it still comes, and nothing of it is stored unless
// it comes to a good end.

import { readdirSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readControls } from '../../../src/node/gateway/controls.ts'
import type { IngestAnswer } from '../../../src/node/gateway/gateway.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { parseAliasText } from '../../../src/libraries/model/names.ts'
import { until } from '../../helpers/until.ts'
import { kindOf, Rig, spoolDir } from './support.ts'

const rows = 60_000
const line = (i: number): string => `{"i":${i},"text":"${'word '.repeat(20)}${i}"}\n`
const body = Array.from({ length: rows }, (_, i) => line(i)).join('')

let rig: Rig
beforeEach(async () => {
  rig = await new Rig().build()
  await rig.post('a/b', line(-1), { query: { create: 'true' } })
})
afterEach(() => rig.stop())

/** A post whose body is sent by the test. */
async function begin(headers: Readonly<Record<string, string>> = {}): Promise<{
  readonly stream: PassThrough
  readonly answer: Promise<IngestAnswer>
}> {
  const stream = new PassThrough({ highWaterMark: 1 })
  const answer = rig.gateway.ingest({
    alias: parseAliasText('a/b'),
    chain: await rig.catalog.byAlias('a/b'),
    tokenId: 't1',
    controls: readControls({ 'content-type': 'application/x-ndjson', prefer: 'wait=20', ...headers }, {}),
    body: stream,
  })
  answer.catch(() => {})
  return { stream, answer }
}

function send(stream: PassThrough, text: string): void {
  for (let at = 0; at < text.length; at += 100_000) stream.write(text.slice(at, at + 100_000))
}

/** Kinds of messages since the first post, parts by their numbers. */
async function logged(): Promise<(number | string)[]> {
  const headers = await rig.headers()
  const names = headers.map((header) => (header.kind === 'rows' ? (header.part?.number ?? 'rows') : header.kind))
  return names.slice(names.indexOf('rows') + 1).filter((name) => name !== 'cut')
}

async function storedRows(): Promise<number> {
  const chain = must(await rig.catalog.byAlias('a/b'), 'the dataset is there')
  await rig.catalog.refresh(chain)
  return (chain.slices.at(-1)?.end ?? -1) + 1
}

test('is in the log part after part before its end is known, and in one block after it', async () => {
  const { stream, answer } = await begin()
  send(stream, body)
  await until('parts are in the log', async () => (await logged()).length >= 8)
  expect(await storedRows()).toBe(1)
  // Others are not kept waiting.
  expect((await rig.post('a/b', line(-2))).body).toMatchObject({ offsets: { start: 1, end: 1 } })
  stream.end(line(rows))
  expect(await answer).toMatchObject({ status: 200, body: { offsets: { start: 2, end: rows + 2 } } })
  expect(readdirSync(spoolDir)).toEqual([])
})

const faults: Readonly<Record<string, { kind: string; end: (stream: PassThrough) => void }>> = {
  'a record at its end does not fit': { kind: 'RecordsDoNotFit', end: (stream) => void stream.end('{"i":"x"}\n') },
  'it is cut off': { kind: 'MalformedBody', end: (stream) => void stream.destroy() },
}

test.each(Object.keys(faults))('leaves nothing but an abort where %s', async (name) => {
  const { kind, end } = must(faults[name], 'a fault')
  const { stream, answer } = await begin({ 'idempotency-key': '"k"' })
  send(stream, body)
  await until('parts are in the log', async () => (await logged()).length >= 8)
  end(stream)
  expect(await kindOf(answer)).toBe(kind)
  expect((await logged()).at(-1)).toBe('abort')
  // Its key is free, and its rows are nowhere.
  const again = await rig.post('a/b', body, { headers: { 'idempotency-key': '"k"' } })
  expect(again).toMatchObject({ replayed: false, body: { offsets: { start: 1, end: rows } } })
})

test('is given up where its first record does not fit, with nothing in the log', async () => {
  expect(await kindOf(rig.post('a/b', `{"i":"x"}\n${body}`))).toBe('RecordsDoNotFit')
  expect(await logged()).toEqual([])
})

test('has the outcome of its key, which is judged at its end', async () => {
  const keyed = { headers: { 'idempotency-key': '"k"' } }
  const first = await rig.post('a/b', body, keyed)
  const parts = (await logged()).length
  const other = await kindOf(rig.post('a/b', `${body}${line(rows)}`, keyed))
  expect(other).toBe('IdempotencyKeyReused')
  const again = await rig.post('a/b', body, keyed)
  expect(again.replayed).toBe(true)
  expect(again.body).toMatchObject({ offsets: { start: 1, end: rows } })
  expect(first.replayed).toBe(false)
  expect((await logged()).slice(parts).filter((name) => name === 'abort')).toHaveLength(2)
  expect(await storedRows()).toBe(rows + 1)
})

test('of two with one key at the same time only one is stored', async () => {
  const keyed = { 'idempotency-key': '"k"' }
  const [one, other] = [await begin(keyed), await begin(keyed)]
  for (const { stream } of [one, other]) {
    send(stream, body)
    stream.end()
  }
  const answers = await Promise.all([one.answer, other.answer])
  expect(new Set(answers.map(({ replayed }) => replayed))).toEqual(new Set([false, true]))
  for (const { body: receipt } of answers) expect(receipt).toMatchObject({ offsets: { start: 1, end: rows } })
  expect(await storedRows()).toBe(rows + 1)
})

test('is judged by If-Match at its end', async () => {
  const chain = must(await rig.catalog.byAlias('a/b'), 'the dataset is there')
  const { stream, answer } = await begin({ 'if-match': `"${chain.head.hash}"` })
  send(stream, body)
  await until('parts are in the log', async () => (await logged()).length >= 8)
  await rig.post('a/b', line(-2))
  stream.end()
  expect(await kindOf(answer)).toBe('HeadMoved')
  expect((await logged()).at(-1)).toBe('abort')
  expect(await storedRows()).toBe(2)
})

test('that is only looked at is not in the log', async () => {
  expect((await rig.post('a/b', body, { query: { dryRun: 'true' } })).body).toMatchObject({ records: rows })
  expect(await logged()).toEqual([])
  expect(readdirSync(spoolDir)).toEqual([])
})

test('that makes its dataset is read while it arrives, and typed as it would be from its end', async () => {
  const fields = { headers: { 'content-type': 'text/csv' }, query: { create: 'true' } }
  const csv = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, i) => `${from + i},t${'1'.repeat(60)}${i},\n`).join('')
  const good = `n,text,none\n${csv(0, rows)}`
  expect((await rig.post('a/csv', good, fields)).body).toMatchObject({ offsets: { start: 0, end: rows - 1 } })
  const bad = rig.post('a/other', `${good}x,y,\n`, fields)
  await expect(bad).rejects.toMatchObject({
    kind: 'RecordsDoNotFit',
    details: { errorsTotal: 1, errors: [{ line: rows + 2 }] },
  })
  expect(await rig.catalog.byAlias('a/other')).toBeUndefined()
  const map = `{"type":"FeatureCollection","features":[${Array.from({ length: 12_000 }, (_, i) => `{"type":"Feature","geometry":{"type":"Point","coordinates":[${i / 100},2]},"properties":{"i":${i}}}`).join(',')}]}`
  const geojson = { headers: { 'content-type': 'application/geo+json' }, query: { create: 'true' } }
  expect((await rig.post('a/map', map, geojson)).body).toMatchObject({ offsets: { start: 0, end: 11_999 } })
  expect(readdirSync(spoolDir)).toEqual([])
})

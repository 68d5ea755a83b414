// Texts that decoders like to change — a byte order mark, NUL, joiners, private use at their start — come back as they
// were sent: by every format in, through the slice, by every format out, and in what is signed.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()

const starts = [
  '\ufeff',
  '\ufeff\ufeff',
  '\u0000',
  '\ufffe',
  '\uffff',
  '\ue000',
  '\u200d',
  '\u2028',
  '\ud83d\ude00',
  '',
] as const
const text = fc
  .tuple(fc.constantFrom(...starts), fc.string({ unit: 'binary', maxLength: 20 }))
  .map(([start, rest]) => start + rest)
const texts = fc.sample(text, { numRuns: 300, seed: 7 }).concat(starts, ['\ufeff', 'a\ufeff'])

test('a text comes back as it was sent, whatever stands at its start', async () => {
  const rows = texts.map((value, n) => ({ n, text: value }))
  await live.ingest('odd/json', rows, '?create=true')
  const where = [
    ['JsonAos', (data: unknown) => (data as { text: string }[]).map((row) => row.text)],
    ['JsonAoa', (data: unknown) => (data as [string][]).map(([value]) => value)],
    ['JsonSoa', (data: unknown) => (data as { text: string[] }).text],
  ] as const
  for (const [dataFormat, read] of where) {
    const asked = { dataFormat, limit: 1_000, include: ['proof'] }
    const answer = await live.query('select text from "odd/json" order by n', asked)
    expect(answer.status).toBe(200)
    expect(read(answer.at('output.data'))).toEqual(texts)
    const verified = await live.call('/verify', {
      method: 'POST',
      body: answer.text,
      headers: { 'content-type': 'application/json' },
    })
    expect(verified.json).toMatchObject({ ok: true })
  }
  const tail = await live.call('/odd/json/tail?limit=1000')
  expect((tail.at('data') as { text: string }[]).map((row) => row.text)).toEqual(texts)
})

test('CSV and GeoJSON keep it too', async () => {
  const csv = `n,text\n${texts.map((value, n) => `${n},"${value.replaceAll('"', '""')}"\n`).join('')}`
  const headers = { 'content-type': 'text/csv', prefer: 'wait=20' }
  const posted = await live.call('/odd/csv/ingest?create=true', { method: 'POST', body: csv, headers })
  expect(posted.status).toBe(200)
  const features = texts.map((value, n) => ({ type: 'Feature', geometry: null, properties: { n, text: value } }))
  const collection = JSON.stringify({ type: 'FeatureCollection', features })
  const geo = { 'content-type': 'application/geo+json', prefer: 'wait=20' }
  expect(
    (await live.call('/odd/geo/ingest?create=true', { method: 'POST', body: collection, headers: geo })).status,
  ).toBe(200)
  for (const name of ['csv', 'geo']) {
    const answer = await live.query(`select text from odd.${name} order by n`, { limit: 1_000 })
    expect((answer.at('output.data') as [string][]).map(([value]) => value)).toEqual(texts)
  }
})

test('in SQL it is what was written: as a literal, as a name of an answer, as a key of a struct and a list', async () => {
  const plain = starts.filter((start) => start !== '' && start !== '\u0000')
  for (const start of plain) {
    const sql = `select '${start}x' as "${start}name", {'${start}k': ['${start}v']} as s, length('${start}x') as l`
    const answer = await live.query(sql, { dataFormat: 'JsonAos', include: ['proof'] })
    expect(answer.at('output.data')).toEqual([
      { [`${start}name`]: `${start}x`, s: { [`${start}k`]: [`${start}v`] }, l: Array.from(start).length + 1 },
    ])
    expect(answer.at('input.query')).toBe(sql)
  }
})

test('a lone surrogate is not a text and is refused with its place', async () => {
  for (const value of ['"\\ud800"', '"\\udc00x"', '"\\ufeff\\ud800"']) {
    const headers = { 'content-type': 'application/json' }
    const answer = await live.call('/odd/json/ingest', { method: 'POST', body: `[{"n":0,"text":${value}}]`, headers })
    expect(answer.status).toBe(422)
    expect(answer.at('errors.0.kind')).toBe('InvalidUtf8')
  }
})

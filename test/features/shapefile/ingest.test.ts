// Shapefiles over HTTP: a body becomes a block, or is refused with nothing stored.

import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'
import { fixture } from './reading.ts'
import { changed, entriesOf, without, zipOf } from './zips.ts'

const live = await liveNode()
const values = fixture('values.zip')

function post(alias: string, body: Uint8Array, query = 'create=true', headers: Record<string, string> = {}) {
  return live.call(`/${alias}/ingest?${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/zip', prefer: 'wait=20', ...headers },
    body,
  })
}

test('countries are stored, and answered as they came', async () => {
  const answer = await post('acme/countries', fixture('public-countries.zip'))
  expect([answer.status, answer.at('records.received'), answer.at('mediaType')]).toEqual([
    200,
    177,
    'application/vnd.esri.shapefile',
  ])
  const rows = await live.query(
    `select name, pop_est, geometry from "acme/countries" where name = 'Lesotho' or name = 'Fiji' order by name`,
  )
  const [fiji, lesotho] = rows.at('output.data') as [string, number, string][]
  expect([fiji?.[0], fiji?.[1]]).toEqual(['Fiji', 920938])
  expect(JSON.parse(fiji?.[2] ?? '').type).toBe('MultiPolygon')
  expect(JSON.parse(lesotho?.[2] ?? '').coordinates[0]).toHaveLength(12)
})

test('values are exact, nulls are nulls, measures are kept', async () => {
  expect((await post('acme/values', values)).status).toBe(200)
  const rows = await live.query('select n, price, text, day, yes from "acme/values" order by "offset"')
  expect((rows.at('output.data') as unknown[]).slice(0, 2)).toEqual([
    [expect.any(Number), 1.25, 'Tromsø', '2026-01-31', true],
    [null, null, null, null, null],
  ])
  expect(rows.text).toContain('[9007199254740993,')
  await post('acme/measured', fixture('lines-zm.zip'))
  const measured = await live.query('select feature_extra from "acme/measured"')
  expect(measured.at('output.data')).toEqual([['{"m":[[1,2.5],[null,4,5]]}']])
})

test('a second batch is read by the columns that are there', async () => {
  await post('acme/twice', values)
  expect((await post('acme/twice', values, '')).at('records.committed')).toBe(5)
  const other = await post('acme/twice', fixture('lines.zip'), '')
  expect([other.refusal, other.at('errors.0.kind'), other.at('errors.0.column')]).toEqual([
    '422 RecordsDoNotFit',
    'UnknownField',
    'name',
  ])
  expect(other.at('errors.0.line')).toBeUndefined()
  expect((await post('acme/twice', fixture('lines.zip'), 'unknownFields=add')).status).toBe(200)
})

test('in gzip, by layer and by character set', async () => {
  expect((await post('acme/packed', gzipSync(values), undefined, { 'content-encoding': 'gzip' })).status).toBe(200)
  const both = zipOf([...entriesOf(values), ...entriesOf(fixture('page-88591.zip'))])
  const answer = await post('acme/layers', both)
  expect([answer.refusal, answer.at('candidates')]).toEqual(['422 InvalidRequest', ['values', 'page-88591']])
  expect((await post('acme/layers', both, 'create=true&layer=page-88591')).at('records.received')).toBe(1)
  expect((await post('acme/layers', both, 'layer=roads')).refusal).toBe('400 InvalidParameter')
  expect((await post('acme/layers', both, 'layer=')).refusal).toBe('400 InvalidParameter')
  const unnamed = without(fixture('page-88591.zip'), '.cpg')
  expect((await post('acme/pages', unnamed)).refusal).toBe('422 RecordsDoNotFit')
  expect((await post('acme/pages', unnamed, 'create=true&charset=latin1')).status).toBe(200)
  expect((await live.query('select name from "acme/pages"')).at('output.data')).toEqual([['Zürich, Orléans']])
})

test('layer is a parameter of shapefiles alone', async () => {
  const answer = await live.ingest('acme/plain', [{ a: 1 }], '?create=true&layer=x')
  expect([answer.status, answer.at('error.kind')]).toEqual([400, 'InvalidParameter'])
})

describe('is refused, and nothing is stored', () => {
  const files = entriesOf(values)
  const bodies: readonly (readonly [string, Uint8Array, string])[] = [
    ['two layers', zipOf([...files, ...entriesOf(fixture('lines.zip'))]), '422 InvalidRequest'],
    ['a path that climbs', zipOf([...files, { name: '../a', content: Buffer.from('a') }]), '400 MalformedBody'],
    ['a bomb', zipOf([...files, { name: 'a', content: Buffer.alloc(2 ** 24) }]), '413 BodyTooLarge'],
    ['a nested zip', zipOf([{ name: 'a.zip', content: values }]), '400 MalformedBody'],
    ['a cut zip', values.subarray(0, -30), '400 MalformedBody'],
    ['no zip', Buffer.from('a,b\n1,2\n'), '400 MalformedBody'],
    ['no bytes', Buffer.alloc(0), '400 MalformedBody'],
    ['a count of columns that lies', changed(values, '.dbf', (b) => (b.writeUInt16LE(97, 8), b)), '400 MalformedBody'],
    ['a ring with one point', fixture('broken-rings.zip'), '422 RecordsDoNotFit'],
    ['coordinates that are NaN', fixture('broken.zip'), '422 RecordsDoNotFit'],
    ['another system', fixture('utm.zip'), '422 UnsupportedCrs'],
    ['feet', without(fixture('feet.zip'), '.prj'), '422 UnsupportedCrs'],
  ]
  test.each(bodies)('%s', async (_, body, refusal) => {
    const answer = await post('acme/bad', body)
    expect(answer.refusal).toBe(refusal)
    expect(answer.at('hint')).toBeTruthy()
    expect((await live.call('/acme/bad/tail')).status).toBe(404)
  })

  test('a layer without rows, as there is nothing to infer from', async () => {
    expect((await post('acme/bad', fixture('empty.zip'))).refusal).toBe('422 NothingToInfer')
  })
})

test('a text that its writer cut in the middle of a character is stored without that character, and warned of', async () => {
  const cut = fixture('cut-text.zip')
  const answer = await post('acme/cut', cut)
  expect(answer.at('warnings')).toEqual([
    "A text of column 'T' ends in the middle of a character, where it was cut; that character is left out (record 0).",
  ])
  expect((await live.query('select t from acme.cut')).at('output.data')).toEqual([['aé']])
  // Where nobody says that it is UTF-8 it may be something else.
  const unnamed = await post('acme/unnamed', without(cut, '.cpg'))
  expect([unnamed.refusal, unnamed.at('errors.0.kind')]).toEqual(['422 RecordsDoNotFit', 'InvalidUtf8'])
})

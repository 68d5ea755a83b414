// Workbooks over HTTP: a sheet becomes a block, or is refused with nothing stored.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { excelFacts } from '../../../src/features/excel/facts.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { bookOf, columnOf, row, style } from './reading.ts'

const live = await liveNode()
const [type] = excelFacts.mediaTypes
const fixture = (name: string): Buffer => readFileSync(join(import.meta.dirname, '../../fixtures/ingest/excel', name))

function post(alias: string, body: Uint8Array, query = 'create=true', mediaType: string = type) {
  const headers = { 'content-type': mediaType, prefer: 'wait=20' }
  return live.call(`/${alias}/ingest?${query}`, { method: 'POST', headers, body })
}

test('a workbook becomes typed rows, and a second one goes on', async () => {
  const answer = await post('acme/stock', fixture('openpyxl.xlsx'))
  expect([answer.status, answer.at('records.received'), answer.at('mediaType')]).toEqual([200, 3, type])
  expect((await post('acme/stock', fixture('openpyxl.xlsx'), '')).status).toBe(200)
  const rows = await live.query('select tag, ort, plz, menge, preis, ok, uhrzeit from "acme/stock" order by "offset"')
  const [first, ...others] = rows.at('output.data') as unknown[][]
  expect(first).toEqual(['2026-01-31', 'Köln', '01067', 3, 19.99, true, '07:30:00'])
  expect(others[2]).toEqual(first)
})

test('a margin, hidden sheets, formulas: a second workbook is read as the first', async () => {
  const answer = await post('acme/sales', fixture('xlsxwriter.xlsx'), 'create=true&dryRun=true')
  expect(answer.at('warnings')).toEqual(
    expect.arrayContaining([expect.stringContaining('Hidden sheets are not read: Notes')]),
  )
  for (const query of ['create=true', ''])
    expect((await post('acme/sales', fixture('xlsxwriter.xlsx'), query)).at('records.committed')).toBe(3)
})

test('the event time is taken with its zone, and needs one', async () => {
  const rows = row(1, ['event_time', 'n']) + row(2, [`<c s="${style.time}"><v>46204.5</v></c>`, 1])
  expect((await post('acme/times', bookOf({ rows }))).refusal).toBe('422 RecordsDoNotFit')
  expect((await post('acme/times', bookOf({ rows }), 'create=true&timeZone=Europe/Berlin')).status).toBe(200)
  expect((await live.query('select event_time from "acme/times"')).at('output.data')).toEqual([
    ['2026-07-01T10:00:00Z'],
  ])
})

test('sheet names one of several, and counts for workbooks alone', async () => {
  const workbook = '<sheet name="Sales" r:id="rId1"/><sheet name="More" r:id="rId1"/>'
  const book = bookOf({ rows: row(1, ['a']) + row(2, [1]), workbook })
  const answer = await post('acme/sheets', book)
  expect([answer.refusal, answer.at('candidates')]).toEqual(['422 InvalidRequest', ['Sales', 'More']])
  expect((await post('acme/sheets', book, 'create=true&sheet=More')).status).toBe(200)
  expect((await post('acme/sheets', book, 'sheet=Other')).refusal).toBe('400 InvalidParameter')
  expect((await live.ingest('acme/plain', [{ a: 1 }], '?create=true&sheet=x')).status).toBe(400)
  expect((await post('acme/sheets', book, 'sheet=More&delimiter=%3B')).refusal).toBe('400 InvalidParameter')
})

test('nulls and skipped rows hold for later workbooks, and not for their dataset what CSV alone takes', async () => {
  const book = bookOf({ rows: row(1, ['Report']) + row(2, ['a', 'b']) + row(3, [1, '-']) + row(4, ['-', 2]) })
  expect((await post('acme/ruled', book, 'create=true&skipRows=1&nulls=-')).status).toBe(200)
  expect((await post('acme/ruled', book, '')).status).toBe(200)
  expect((await live.query('select a, b from "acme/ruled"')).at('output.data')).toHaveLength(4)
  const absent = `${type}; header=absent`
  expect((await post('acme/ruled', columnOf(1), 'skipRows=1', absent)).at('records.committed')).toBe(1)
})

test('faults name the sheet and the cell', async () => {
  const answer = await post('acme/faults', fixture('broken.xlsx'))
  expect([answer.refusal, answer.at('errors.1.record'), answer.at('errors.1.message')]).toEqual([
    '422 RecordsDoNotFit',
    2,
    expect.stringContaining('Sheet!B4'),
  ])
  expect((await post('acme/faults', Buffer.from('d0cf11e0a1b11ae1', 'hex'))).refusal).toBe('400 MalformedBody')
})

test('a body that does not fit into the memory of its spool is read whole', async () => {
  const count = 70_000
  const noise = (at: number): string => (Math.imul(at, 2654435761) >>> 0).toString(36)
  const rows = Array.from({ length: count }, (_, at) => row(at + 2, [at, noise(at), noise(at + count)]))
  const book = bookOf({ rows: row(1, ['n', 'a', 'b']) + rows.join('') })
  expect(book.length).toBeGreaterThan(1024 * 1024)
  expect((await post('acme/large', book)).at('records.committed')).toBe(count)
  const sums = await live.query(
    'select count(*) as c, sum(n)::varchar as s, max(a) as m from "acme/large" where a <> b',
  )
  const most = Array.from({ length: count }, (_, at) => noise(at))
    .toSorted()
    .at(-1)
  expect(sums.at('output.data')).toEqual([[count, String((count * (count - 1)) / 2), most]])
})

// Over HTTP: statements read the slices that can hold a row they need, and Query-Scan tells which those were.

import { describe, expect, it } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
const hours = 8
for (let hour = 0; hour < hours; hour++) {
  const rows = Array.from({ length: 60 }, (_, minute) => ({
    event_time: new Date(Date.UTC(2026, 0, 1, hour, minute)).toISOString(),
    n: hour * 60 + minute,
    x: minute / 7,
  }))
  await live.ingest('acme/hours', rows, hour === 0 ? '?create=true' : '')
}

async function scanOf(query: string, more: object = {}): Promise<unknown> {
  const answer = await live.query(query, { explain: true, include: [], ...more })
  const rows = answer.at('output.data')
  return [answer.headers['query-scan'], Array.isArray(rows) ? rows.length : answer.refusal]
}

const whole = 'files-read=8, files=8, row-groups-read=8, row-groups=8, rows-read=480, rows=480'
const part = (files: number): string =>
  `files-read=${files}, files=8, row-groups-read=${files}, row-groups=8, rows-read=${60 * files}, rows=480`

describe('what is read', () => {
  it.each([
    ['select * from "acme/hours" order by offset desc limit 5', part(1), 5],
    ['select n from "acme/hours" order by offset desc', part(2), 100],
    ['select n, event_time from "acme/hours" order by event_time desc limit 61', part(2), 61],
    ['select n from "acme/hours" where event_time >= \'2026-01-01T07:30:00Z\'', part(1), 30],
    ['select avg(x) from "acme/hours" where event_time > \'2026-01-01 06:30:00\'', part(2), 1],
    ['select count(*) from "acme/hours" where offset between 100 and 130', part(2), 1],
    ['select n from "acme/hours" where offset = 479 and n > 3', part(1), 1],
    ['select n from "acme/hours" where n = 3', whole, 1],
    ['select count(*) from "acme/hours"', whole, 1],
    ['select 1', 'files-read=0, files=0, row-groups-read=0, row-groups=0, rows-read=0, rows=0', 1],
  ])('%s', async (sql, scan, rows) => {
    expect(await scanOf(sql)).toEqual([scan, rows])
  })

  it('is told in a file and in a query string as well, and only where it is asked for', async () => {
    const query = 'query=select+n+from+"acme/hours"+where+offset+>=+470'
    const file = await live.call(`/query?${query}&explain=true&format=Csv`)
    expect([file.headers['query-scan'], file.text.trim().split('\n').length]).toEqual([part(1), 11])
    expect((await live.call(`/query?${query}&explain=true`)).headers['query-scan']).toBe(part(1))
    expect((await live.call(`/query?${query}&explain=false`)).headers['query-scan']).toBeUndefined()
    expect((await live.call(`/query?${query}`)).headers['query-scan']).toBeUndefined()
    expect((await live.call(`/query?${query}&explain=yes`)).refusal).toBe('400 InvalidParameter')
    expect((await live.query('select 1', { explain: 'yes' })).refusal).toBe('422 InvalidRequest')
  })

  it('is all of the slices for a proof of a statement to which their rows are not all', async () => {
    const sum = 'select avg(x) from "acme/hours" where event_time > \'2026-01-01T06:30:00Z\''
    const newest = 'select * from "acme/hours" order by event_time desc limit 3'
    for (const [sql, scan] of [
      [sum, whole],
      [newest, part(1)],
    ] as const) {
      const answer = await live.query(sql, { explain: true, include: ['Proof'] })
      expect([answer.headers['query-scan'], answer.at('input.explain')]).toEqual([scan, undefined])
      const headers = { 'content-type': 'application/json' }
      expect((await live.call('/verify', { method: 'POST', headers, body: answer.text })).at('ok')).toBe(true)
    }
  })

  it('follows the head, with columns that came later', async () => {
    const late = { event_time: '2026-01-01T00:00:30Z', n: 1000, added: 'late' }
    await live.ingest('acme/hours', [late], '?unknownFields=add')
    const newest = await live.query('select n, added from "acme/hours" order by offset desc limit 2', { explain: true })
    expect([newest.headers['query-scan'], newest.at('output.data')]).toEqual([
      'files-read=2, files=9, row-groups-read=2, row-groups=9, rows-read=61, rows=481',
      [
        [1000, 'late'],
        [479, null],
      ],
    ])
    const sql = 'select n, added from "acme/hours" where event_time < \'2026-01-01T00:02:00Z\''
    const first = await live.query(sql, { explain: true, include: ['Schema'] })
    expect(first.headers['query-scan']).toBe(
      'files-read=2, files=9, row-groups-read=2, row-groups=9, rows-read=61, rows=481',
    )
    expect(first.at('output.data')).toEqual([
      [0, null],
      [1, null],
      [1000, 'late'],
    ])
    const older = await live.query('select n, added from "acme/hours" where offset < 1', { explain: true })
    expect(older.at('output.data')).toEqual([[0, null]])
  })
})

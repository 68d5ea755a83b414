// What a first batch sets in stone: which column is the event time, under which name, and how its texts are read. What is in doubt is
// asked, and each candidate settles it.

import { describe, expect, it } from 'vitest'
import { datasetCalls } from '../helpers/dataset-calls.ts'
import { HttpStream } from '../helpers/http-stream.ts'
import { liveNode } from '../helpers/live-node.ts'

const live = await liveNode({}, { stream: { ageMs: 20 } })

const { post, rowsOf, columnsOf } = datasetCalls(() => live)
const csv = { 'content-type': 'text/csv' }
const json = { 'content-type': 'application/json' }
const made = '?create=true'

interface Candidate {
  readonly field: string
  readonly why: string
  readonly parameters: Readonly<Record<string, string>>
  readonly query: string
}

describe('the event time of a first batch', () => {
  it.each([
    ['Zeit (UTC)', 'Zeit (UTC),n\n2024-01-01T00:00:00Z,1\n', csv],
    ['timestamp', '{"timestamp":"2024-01-01T00:00:00Z","n":1}\n', {}],
    ['Messzeit', '[{"n":1,"Messzeit":"2024-01-01T01:00:00+01:00"}]', json],
    ['date', 'n,date\n1,2024-01-01\n', csv],
    ['Day', 'Day,n\n2024-01-01,1\n', csv],
  ])('is the one column of times, told and under its name: %s', async (name, body, headers) => {
    const alias = `named/x${name.replaceAll(/\W/g, '')}`
    const answer = await post(alias, body, headers, made)
    expect(answer.at('eventTime')).toEqual({ from: 'field', name })
    expect(answer.at('warnings')).toEqual([expect.stringContaining(`'${name}' is used as the event time`)])
    const later = await post(alias, body.replace(/2024/, '2025'), headers, made)
    expect([later.at('eventTime'), later.at('warnings')]).toEqual([{ from: 'field', name }, undefined])
    expect(await rowsOf(alias, `year("${name}"), n`)).toEqual([
      [2024, 1],
      [2025, 1],
    ])
    const { columns, ingest } = (await live.call(`/${alias}`)).json as { columns: { name: string }[]; ingest?: object }
    expect(columns.map((column) => column.name).slice(3)).toEqual([name, 'n'])
    expect(ingest).toBeUndefined()
  })

  it.each([
    ['numbers', '{"ts":1704067200}\n', ''],
    ['texts', '{"time":"noon"}\n', ''],
    ['received', '{"time":"2024-01-01T00:00:00Z"}\n', '&eventTime=received'],
    ['kept', '{"time":"2024-01-01T00:00:00Z"}\n', '&eventTime=event_time'],
    ['day', '{"born":"2024-01-01"}\n', ''],
  ])('is the arrival where nothing says another: %s', async (name, body, query) => {
    const answer = await post(`columns/${name}`, body, {}, made + query)
    expect(answer.at('eventTime')).toEqual({ from: 'received' })
    expect((await columnsOf(`columns/${name}`)).length).toBe(1)
    const warned = name === 'numbers' || name === 'texts' || name === 'day'
    expect(answer.at('warnings') ?? []).toHaveLength(warned ? 1 : 0)
  })

  it('is a field event_time before all others', async () => {
    const answer = await post(
      'named/first',
      '{"event_time":"2024-01-01T00:00:00Z","t":"2020-01-01T00:00:00Z"}\n',
      {},
      made,
    )
    expect(answer.at('eventTime')).toEqual({ from: 'field', name: 'event_time' })
    expect(await columnsOf('named/first')).toEqual([expect.stringMatching(/^t: /)])
  })

  it('may be named in another case, and is called as the body calls it', async () => {
    await post('named/case', 'Zeit,n\n2024-01-01 10:00,1\n', csv, `${made}&eventTime=zeit&timeZone=Europe/Berlin`)
    await post('named/case', 'Zeit,n\n2024-07-01 10:00,2\n', csv, '')
    expect(await rowsOf('named/case', '"Zeit"::text, n')).toEqual([
      ['2024-01-01 09:00:00+00', 1],
      ['2024-07-01 08:00:00+00', 2],
    ])
  })

  it('has no name of a system column', async () => {
    const answer = await post('named/op', '{"op":"2024-01-01T00:00:00Z"}\n', {}, `${made}&eventTime=op`)
    expect(answer.refusal).toBe('422 InvalidColumnName')
  })
})

describe('what is in doubt', () => {
  it.each([
    ['two columns of times', '{"start":"2024-01-01T00:00:00Z","end":"2024-01-02T00:00:00Z"}\n', {}, ['start', 'end']],
    ['records without a time', '{"t":"2024-01-01T00:00:00Z","n":1}\n{"n":2}\n', {}, ['t']],
    ['German times', 'Zeit,n\n31.12.2025 14:05,1\n31.12.2025 14:06,2\n', csv, ['Zeit']],
    ['American or British times', 'at,n\n01/02/2025 09:00 AM,1\n', csv, ['at', 'at']],
    ['times without a zone', '{"at":"2025-12-31 14:05:00"}\n', {}, ['at']],
    ['times beside days of a pattern', 'd,at\n31.12.2025,2025-12-31 14:05\n', csv, ['at'], '&dateFormat=dd.MM.yyyy'],
    ['times of a zone beside them', 'd,at\n31.12.2025,2025-12-31T14:05:00Z\n', csv, ['at'], '&dateFormat=dd.MM.yyyy'],
  ])(
    'is asked before anything is stored, and each candidate settles it: %s',
    async (what, body, headers, fields, said = '') => {
      const alias = `asked/${what.replaceAll(/\W/g, '-')}`
      const refused = await post(alias, body, headers, made + said)
      expect(refused.refusal).toBe('422 SayHow')
      expect((await live.call(`/${alias}`)).status).toBe(404)
      const candidates = refused.at('candidates') as readonly Candidate[]
      expect(candidates.map(({ field }) => field)).toEqual([...fields, 'received'])
      for (const [at, { field, query, parameters }] of candidates.entries()) {
        expect(new URLSearchParams(query)).toEqual(new URLSearchParams(parameters))
        const filled = query.replace('timeZone=', 'timeZone=Europe/Berlin')
        const answer = await post(`${alias}-${at}`, body, headers, `${made}${said}&${filled}`)
        expect([answer.status, answer.at('eventTime.from')]).toEqual([200, field === 'received' ? 'received' : 'field'])
      }
    },
  )

  it('is a column of times that lacks a value beyond the sample, or in a file of columns', async () => {
    const lines = Array.from(
      { length: 10_500 },
      (_, n) => `{"t":${n < 10_400 ? '"2024-01-01T00:00:00Z"' : 'null'},"n":${n}}`,
    )
    expect((await post('asked/late', lines.join('\n'), {}, made)).refusal).toBe('422 SayHow')
    const table = await live.query(
      "select unnest([timestamptz '2024-01-01T00:00:00Z', null]) as t, 1 as n",
      undefined,
      {
        headers: { accept: 'application/vnd.apache.parquet' },
      },
    )
    const parquet = { 'content-type': 'application/vnd.apache.parquet' }
    expect((await post('asked/file', table.bytes, parquet, made)).refusal).toBe('422 SayHow')
    expect((await post('asked/file', table.bytes, parquet, `${made}&eventTime=received`)).status).toBe(200)
    expect(await rowsOf('asked/file', 't')).toEqual([['2024-01-01T00:00:00Z'], [null]])
  })

  it('is kept as rules of the dataset', async () => {
    const body = (n: number): string => `Zeit;n\n31.12.2025 14:0${n};${n},5\n`
    const said =
      'delimiter=%3B&decimal=%2C&eventTime=Zeit&dateFormat.Zeit=dd.MM.yyyy%20HH%3Amm&timeZone=Europe%2FBerlin'
    await post('kept/made', body(1), csv, `${made}&${said}`)
    await live.call('/kept/empty', { method: 'PUT' })
    await post('kept/empty', body(1), csv, `?${said}`)
    for (const [alias, time] of [
      ['kept/made', 'Zeit'],
      ['kept/empty', 'event_time'],
    ] as const) {
      await post(alias, body(2), csv, '')
      expect(await rowsOf(alias, `"${time}"::text, n`)).toEqual([
        ['2025-12-31 13:01:00+00', 1.5],
        ['2025-12-31 13:02:00+00', 2.5],
      ])
    }
  })
})

describe('what the first batch says wrongly', () => {
  it.each([
    ['a field that no record has', 't,v\n2025-01-01T00:00:00Z,1\n', 'eventTime=tme'],
    ['arrival beside a field event_time', 'event_time,v\n2020-01-01T00:00:00Z,1\n', 'eventTime=received'],
  ])('is refused: %s', async (_, body, query) => {
    const answer = await post('wrong/said', body, csv, `${made}&${query}`)
    expect(answer.refusal).toBe('400 InvalidParameter')
    expect((await live.call('/wrong/said')).status).toBe(404)
  })

  it.each(['received', 'D,H', '/a/t'])('names no column with PUT: %s', async (eventTime) => {
    expect((await live.call('/wrong/put', { method: 'PUT', json: { eventTime } })).refusal).toBe('422 InvalidRequest')
  })

  it('has no way where a format has no patterns, but the arrival', async () => {
    const answer = await post('wrong/json', '{"t":"31.12.2025 14:05","v":1}\n', {}, made)
    expect(answer.refusal).toBe('422 SayHow')
    expect(answer.at('candidates')).toEqual([expect.objectContaining({ field: 'received' })])
    expect(answer.at('hint')).toContain('2026-01-31T12:00:00Z')
  })

  it('takes another field than event_time, which is a column then', async () => {
    const body = 'event_time,t\nfoo,2025-01-01T00:00:00Z\n'
    expect((await post('wrong/both', body, csv, `${made}&eventTime=t`)).status).toBe(200)
    expect(await rowsOf('wrong/both', 'event_time, year(t)')).toEqual([['foo', 2025]])
  })

  it('keeps no lines by their numbers for later files', async () => {
    const made4 = await post('wrong/rows', 'id,v\n1,2\n3,4\nTotal,\n', csv, `${made}&skipRows=4-4`)
    expect([made4.status, made4.at('skipped.rows')]).toEqual([200, 1])
    await post('wrong/rows', 'id,v\n5,6\n7,8\n9,10\n', csv, '')
    expect(await rowsOf('wrong/rows', 'id')).toEqual([[1], [3], [5], [7], [9]])
  })
})

describe('a day and a time of day', () => {
  const said = 'delimiter=%3B&dateFormat=dd.MM.yyyy&timeZone=Europe/Berlin&eventTime=Datum,Uhrzeit'

  it('are one event time, and stay columns', async () => {
    await post('two/fields', 'Datum;Uhrzeit;n\n31.12.2025;14:05;1\n', csv, `${made}&${said}`)
    await post('two/fields', 'Uhrzeit;Datum;n\n4:06:01.5;01.07.2026;2\n', csv, '')
    expect(await rowsOf('two/fields', 'event_time::text, "Datum"::text, "Uhrzeit", n')).toEqual([
      ['2025-12-31 13:05:00+00', '2025-12-31', '14:05', 1],
      ['2026-07-01 02:06:01.5+00', '2026-07-01', '4:06:01.5', 2],
    ])
  })

  it.each([
    ['no time of day', '31.12.2025;25:00', 'is no time of day'],
    ['a time that clocks skip', '29.03.2026;02:30', 'skip this time'],
    ['a time that clocks show twice', '25.10.2026;02:30', 'show this time twice'],
  ])('are refused with their record where they are %s', async (_, cells, why) => {
    const answer = await post('two/faults', `Datum;Uhrzeit\n31.12.2025;14:05\n${cells}\n`, csv, `${made}&${said}`)
    expect([answer.status, answer.at('error.kind'), answer.at('errorsTotal')]).toEqual([422, 'RecordsDoNotFit', 1])
    expect(answer.at('errors')).toEqual([expect.objectContaining({ record: 1, column: 'Uhrzeit' })])
    expect(JSON.stringify(answer.at('errors'))).toContain(why)
  })

  it.each([
    ['no zone', said.replace('&timeZone=Europe/Berlin', ''), 'timeZone'],
    ['no column', said.replace('Uhrzeit', 'Zeit'), 'is no column'],
    ['days that are not read', said.replace('&dateFormat=dd.MM.yyyy', ''), 'dateFormat.Datum'],
  ])('are refused with what to do: %s', async (_, query, what) => {
    const answer = await post('two/ways', 'Datum;Uhrzeit\n31.12.2025;14:05\n', csv, `${made}&${query}`)
    expect(answer.refusal).toBe('400 InvalidParameter')
    expect(`${answer.at('message')} ${answer.at('hint')}`).toContain(what)
  })

  it('leave a time that a record brings', async () => {
    const body =
      '{"event_time":"2020-01-01T00:00:00Z","D":"2025-07-01","H":"14:05"}\n{"D":"2025-07-01","H":"14:05"}\n' +
      '{"event_time":"2020-01-02T00:00:00Z","D":"2025-07-01"}\n'
    await post('two/own', body, {}, `${made}&eventTime=D,H&timeZone=UTC`)
    expect(await rowsOf('two/own', 'year(event_time)')).toEqual([[2020], [2025], [2020]])
  })

  it('are the time of a body that is its own key', async () => {
    const send = () => post('two/key', 'D,H\n2025-07-01,12:05\n', csv, `${made}&eventTime=D,H&timeZone=UTC&dedupe=body`)
    expect((await send()).status).toBe(200)
    expect((await send()).headers['idempotent-replayed']).toBe('true')
  })

  it('are read in a thread as on the own one', async () => {
    const lines = Array.from({ length: 60_000 }, (_, n) => `31.12.2025;${String(n % 24).padStart(2, '0')}:05:00;${n}`)
    const answer = await post('two/many', `Datum;Uhrzeit;n\n${lines.join('\n')}\n`, csv, `${made}&${said}`)
    expect(answer.status).toBe(200)
    const counts = await live.query('select count(distinct event_time), count(*), sum(n)::double from "two/many"')
    expect(counts.at('output.data')).toEqual([[24, 60_000, 1_799_970_000]])
  })
})

describe('what an answer tells of the columns', () => {
  const body = 'Zeit;wert;n\n31.12.2025 14:05;1,5;\n31.12.2025 14:06;;12345678901234567\n'
  const said = 'delimiter=%3B&decimal=%2C&dateFormat=dd.MM.yyyy%20HH%3Amm&timeZone=Europe%2FBerlin'
  const columns = [
    { name: 'Zeit', type: 'Timestamp', nulls: 0, value: '2025-12-31T13:05:00Z' },
    { name: 'wert', type: 'Float64', read: 'decimal comma', nulls: 1, value: 1.5 },
    { name: 'n', type: 'Int64', nulls: 1, value: '12345678901234567' },
  ]

  it('is how they were read, before and with the first block, and not later', async () => {
    const dry = await post('told/columns', body, csv, `${made}&dryRun=true&rows=20&${said}`)
    expect(dry.at('columns')).toMatchObject(columns)
    expect(dry.at('columns.0.read')).toContain('dd.MM.yyyy HH:mm')
    expect(dry.at('rows')).toEqual([
      { Zeit: '2025-12-31T13:05:00Z', wert: 1.5, n: null },
      { Zeit: '2025-12-31T13:06:00Z', wert: null, n: '12345678901234567' },
    ])
    const first = await post('told/columns', body, csv, `${made}&${said}`)
    expect([first.at('columns'), first.at('rows')]).toMatchObject([columns, undefined])
    const second = await post('told/columns', body, csv, '')
    expect(second.at('columns')).toBeUndefined()
  })

  it('is told beside lists, and of integers that doubles do not keep', async () => {
    const list = { kind: 'List', itemType: { kind: 'Int64' } }
    const fields = [
      { name: 'x', type: { kind: 'Option', inner: list } },
      { name: 'v', type: 'Int64?' },
    ]
    await live.call('/told/lists', { method: 'PUT', json: { schema: { fields } } })
    const dry = await post('told/lists', '{"x":[1],"v":9007199254740993}\n', {}, '?dryRun=true&rows=1')
    expect(dry.at('rows')).toEqual([expect.objectContaining({ x: null, v: '9007199254740993' })])
    const refused = await post('told/lists', 'v\nNA\n2\n', csv, '')
    expect([refused.status, refused.at('offers.0.query')]).toEqual([422, 'nulls=NA'])
  })

  it.each(['rows=20', 'dryRun=true&rows=101', 'dryRun=true&rows=x'])('shows no rows for %s', async (query) => {
    const answer = await post('told/rows', body, csv, `${made}&${said}&${query}`)
    expect(answer.refusal).toBe('400 InvalidParameter')
  })
})

describe('first posts', () => {
  it('that come at once have one event time', async () => {
    const bodies = Array.from({ length: 8 }, (_, n) => `{"time":"2024-01-01T00:00:0${n}Z","c${n % 3}":${n}}\n`)
    const answers = await Promise.all(bodies.map((body) => post('times/race', body, {}, made)))
    expect(answers.map((answer) => answer.status)).toEqual(bodies.map(() => 200))
    const rows = (await rowsOf('times/race', 'epoch("time")::int - 1704067200')) as number[][]
    expect(rows.flat().toSorted((one, other) => one - other)).toEqual(bodies.map((_, n) => n))
  })

  it('of a stream that makes the dataset have it in each batch', async () => {
    for (const query of ['?create=true', '?create=true&unknownFields=reject']) {
      const alias = `times/stream-${query.length}`
      const stream = new HttpStream(`/${alias}/stream${query}`, {}, live)
      for (const n of [0, 1, 2]) {
        stream.request.write(`{"time":"2024-01-01T00:00:0${n}Z","n":${n}}\n`)
        await stream.told(n)
      }
      expect(await stream.end()).toEqual({ ended: true, last: 2 })
      await expect
        .poll(() => rowsOf(alias, 'year("time"), n'), { timeout: 20_000 })
        .toEqual([
          [2024, 0],
          [2024, 1],
          [2024, 2],
        ])
    }
  })
})

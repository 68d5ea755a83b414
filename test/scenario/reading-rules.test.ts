// What the cells, times and numbers of a body mean, on a real node: CSV headers, event times, epochs, integers.

import { describe, expect, test } from 'vitest'
import { datasetCalls } from '../helpers/dataset-calls.ts'
import { liveNode } from '../helpers/live-node.ts'

const live = await liveNode()

const { put, post, rowsOf, columnsOf } = datasetCalls(() => live)
const csv = { 'content-type': 'text/csv' }

describe('CSV', () => {
  test('finds its header by the names of the columns, in any case and order', async () => {
    await put('acme/csv', {
      schema: {
        fields: [
          { name: 'city', type: 'String' },
          { name: 'n', type: 'Int64?' },
        ],
      },
    })
    expect((await post('acme/csv', 'Pisa,\n', csv)).at('hint')).toContain('header=absent')
    const answers = [
      await post('acme/csv', 'N,City\n1,Oslo\n', csv),
      await post('acme/csv', 'Rome,2\n', csv),
      await post('acme/csv', 'Pisa,\n', { 'content-type': 'text/csv; header=absent' }),
      await post('acme/csv', 'city,3\n', { 'content-type': 'text/csv; header=absent' }),
    ]
    expect(answers.map((answer) => answer.at('csvHeader'))).toEqual(['present', 'absent', 'absent', 'absent'])
    expect(await rowsOf('acme/csv', 'city, n')).toEqual([
      ['Oslo', 1],
      ['Rome', 2],
      ['Pisa', null],
      ['city', 3],
    ])
    const unknown = await post('acme/csv', 'city,x\nOslo,1\n', { 'content-type': 'text/csv; header=present' })
    expect([unknown.status, unknown.at('errors.0.kind')]).toEqual([422, 'UnknownField'])
    expect(unknown.at('errors.0.record')).toBeUndefined()
  })

  test('whose header has changed puts no value into another column', async () => {
    await post('acme/drift', 'name,city\nAnn,Rome\n', csv, '?create=true')
    for (const [body, query, kind] of [
      ['name,country\nBob,Norway\n', '', 'UnknownField'],
      ['person,country\nBob,Norway\n', '', 'MalformedRecord'],
      ['name,city\nBob,Oslo\nname,city\nEve,Bern\n', '', 'MalformedRecord'],
    ] as const) {
      const answer = await post('acme/drift', body, csv, query)
      expect([answer.status, answer.at('errors.0.kind')]).toEqual([422, kind])
    }
    await post('acme/drift', 'name,country\nBob,Norway\n', csv, '?unknownFields=ignore')
    await post('acme/drift', 'country, Name\nPeru,Eve\n', csv, '?unknownFields=add')
    expect(await rowsOf('acme/drift', 'name, city, country')).toEqual([
      ['Ann', 'Rome', null],
      ['Bob', null, null],
      ['Eve', null, 'Peru'],
    ])
  })

  test('with other separators is refused, and with an unnamed index taken, when it makes a dataset', async () => {
    for (const body of ['name;city\nBob;Oslo\nEve;Rome\n', 'a\tb\n1\t2\n', 'a|b|c\r\nx|y|z\r\n', 'sep=,\na,b\n1,2\n']) {
      const answer = await post('acme/semicolons', body, csv, '?create=true')
      expect([answer.status, answer.at('error.kind'), answer.at('hint')]).toEqual([
        422,
        expect.stringMatching(/^(RecordsDoNotFit|InvalidColumnName)$/),
        expect.stringMatching(/commas|tab-separated/),
      ])
    }
    const texts = await post('acme/texts', 'note\na;b\nc;d\n', csv, '?create=true')
    expect(texts.at('status')).toBe('committed')
    const frame = await post('acme/frame', ',a,b\n0,1,x\n1,2,y\n', csv, '?create=true')
    expect(frame.at('warnings')).toEqual(["The header has no name for a column: it is called 'column_1'."])
    expect((await post('acme/frame', ',a,b\n2,3,z\n', csv)).at('status')).toBe('committed')
    expect(await rowsOf('acme/frame', 'column_1, a, b')).toEqual([
      [0, 1, 'x'],
      [1, 2, 'y'],
      [2, 3, 'z'],
    ])
  })

  test('without header counts the event time where it is declared, and not otherwise', async () => {
    const fields = [
      { name: 'city', type: 'String?' },
      { name: 'event_time', type: 'Timestamp' },
      { name: 'n', type: 'Int64?' },
    ]
    await put('acme/with-time', { schema: { fields } })
    expect((await post('acme/with-time', 'Oslo,2026-01-01T00:00:00Z,1\n', csv)).at('csvHeader')).toBe('absent')
    expect(await rowsOf('acme/with-time', 'city, event_time, n')).toEqual([['Oslo', '2026-01-01T00:00:00Z', 1]])
    await put('acme/no-time', { schema: { fields: fields.filter(({ name }) => name !== 'event_time') } })
    const many = await post('acme/no-time', 'Oslo,2026-01-01T00:00:00Z,1\n', csv)
    expect([many.status, many.at('errors.0.kind')]).toEqual([422, 'TooManyFields'])
    const named = await post('acme/no-time', 'event_time,n,city\n2026-01-01T00:00:00Z,1,Oslo\n', csv)
    expect(named.at('status')).toBe('committed')
  })

  test('declares the event time where its header has it', async () => {
    const body = 'city,empty,event_time,n\nOslo,,2026-01-01T00:00:00Z,1\n'
    expect((await post('acme/from-csv', body, csv, '?create=true')).at('csvHeader')).toBe('present')
    expect(await columnsOf('acme/from-csv')).toEqual(['city: String?', 'n: Int64?'])
    const bare = await post('acme/from-csv', 'Rome,2026-01-02T00:00:00Z,2\n', csv)
    expect([bare.at('status'), bare.at('csvHeader')]).toEqual(['committed', 'absent'])
    expect(await rowsOf('acme/from-csv', 'city, event_time, n')).toEqual([
      ['Oslo', '2026-01-01T00:00:00Z', 1],
      ['Rome', '2026-01-02T00:00:00Z', 2],
    ])
  })

  test('that begins a dataset must show whether it has a header', async () => {
    const doubtful = await post('acme/doubt', 'Oslo,1\n', csv, '?create=true')
    expect([doubtful.status, doubtful.at('error.kind'), doubtful.at('hint')]).toEqual([
      422,
      'RecordsDoNotFit',
      expect.stringContaining('header='),
    ])
    const absent = await post('acme/doubt', 'Oslo,1\n', { 'content-type': 'text/csv; header=absent' }, '?create=true')
    expect(absent.at('csvHeader')).toBe('absent')
    expect(await columnsOf('acme/doubt')).toEqual(['column_1: String?', 'column_2: Int64?'])
  })
})

describe('how times and numbers are read', () => {
  test('is told by timeZone, eventTimeUnit, integers and odf-event-time', async () => {
    const zoneless = '{"event_time":"2026-01-01 00:00:00","n":1}\n'
    const refused = await post('acme/times', zoneless, {}, '?create=true')
    expect([refused.status, refused.at('errors.0.kind')]).toEqual([422, 'BadTimestamp'])
    const utc = await post('acme/times', zoneless, {}, '?create=true&timeZone=UTC&integers=int64')
    expect(utc.at('status')).toBe('committed')
    const epochs = [
      ['s', '1767225600'],
      ['ms', '1767225600123.9'],
      ['us', '1767225600123456'],
      ['ns', '1767225600123456789'],
    ]
    for (const [unit, value] of epochs) {
      const answer = await post('acme/times', `{"event_time":${value},"n":2}\n`, {}, `?eventTimeUnit=${unit}`)
      expect(answer.at('status')).toBe('committed')
    }
    const bare = await post('acme/times', '{"event_time":1767225600,"n":2}\n', {})
    expect(bare.at('errors.0.kind')).toBe('WrongType')
    await post('acme/times', '{"n":3}\n{"event_time":null,"n":4}\n', { 'odf-event-time': '2020-02-29T12:00:00+01:00' })
    expect(await rowsOf('acme/times', 'event_time, n')).toEqual([
      ['2026-01-01T00:00:00Z', 1],
      ['2026-01-01T00:00:00Z', 2],
      ['2026-01-01T00:00:00.123Z', 2],
      ['2026-01-01T00:00:00.123Z', 2],
      ['2026-01-01T00:00:00.123Z', 2],
      ['2020-02-29T11:00:00Z', 3],
      ['2020-02-29T11:00:00Z', 4],
    ])
    expect(await columnsOf('acme/times')).toEqual(['n: Int64?'])
  })

  test('makes integers of numbers only where there is evidence', async () => {
    await live.ingest('acme/few', [{ n: 1 }], '?create=true')
    await live.ingest(
      'acme/many',
      Array.from({ length: 1000 }, (_, n) => ({ n })),
      '?create=true',
    )
    await post('acme/wide-int', '{"n":9007199254740993}\n', {}, '?create=true')
    await live.ingest('acme/forced', [{ n: 1 }], '?create=true&integers=int64')
    await live.ingest(
      'acme/float',
      Array.from({ length: 1000 }, (_, n) => ({ n })),
      '?create=true&integers=float64',
    )
    const names = ['few', 'many', 'wide-int', 'forced', 'float']
    expect(await Promise.all(names.map((name) => columnsOf(`acme/${name}`)))).toEqual([
      ['n: Float64?'],
      ['n: Int64?'],
      ['n: Int64?'],
      ['n: Int64?'],
      ['n: Float64?'],
    ])
    expect((await live.query('select n from "acme/wide-int"')).text).toContain('[[9007199254740993]]')
  })

  test('keeps a Date as event time when the first batch has dates', async () => {
    await live.ingest('acme/days', [{ event_time: '2026-01-01' }, { event_time: '2026-01-02' }], '?create=true')
    await post('acme/days', '{}\n', { 'odf-event-time': '2026-01-03T23:30:00-01:00' })
    expect(await rowsOf('acme/days', 'event_time')).toEqual([['2026-01-01'], ['2026-01-02'], ['2026-01-04']])
  })
})

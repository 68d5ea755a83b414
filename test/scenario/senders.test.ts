// What senders with fixed bodies and headers ask for in the URL: where the event time is, which answer they can read.

import { describe, expect, test } from 'vitest'
import { datasetCalls } from '../helpers/dataset-calls.ts'
import { type Answer, liveNode } from '../helpers/live-node.ts'

const live = await liveNode()
const { put, post, rowsOf, columnsOf } = datasetCalls(() => live)

const types = {
  json: { 'content-type': 'application/json' },
  geojson: { 'content-type': 'application/geo+json' },
  csv: { 'content-type': 'text/csv' },
  tsv: { 'content-type': 'text/tab-separated-values' },
  parquet: { 'content-type': 'application/vnd.apache.parquet' },
  arrow: { 'content-type': 'application/vnd.apache.arrow.stream' },
} as const

describe('Prefer: return=minimal', () => {
  test.each([
    ['wait=20, return=minimal', 200],
    ['respond-async, return = "minimal"', 202],
    ['return=minimal, respond-async', 202],
  ])('is an answer without a body: %s', async (prefer, status) => {
    const answer = await post('acme/minimal', '{"n":1}', { prefer }, '?create=true')
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([status, '', undefined])
    expect(answer.headers['preference-applied']).toBe(
      prefer.includes('wait') ? 'wait=20, return=minimal' : 'respond-async, return=minimal',
    )
    expect(answer.headers.location).toBe(`/receipts/${String(answer.headers['receipt-id'])}`)
    const receipt = await live.call(String(answer.headers.location))
    expect(receipt.at('receiptId')).toBe(answer.headers['receipt-id'])
  })

  test('counts for no refusal and no dry run', async () => {
    const headers = { prefer: 'return=minimal' }
    expect((await post('acme/minimal', '{"n":"x"}', headers)).at('error.kind')).toBe('RecordsDoNotFit')
    const dry = await post('acme/minimal', '{"n":2}', headers, '?dryRun=true')
    expect([dry.at('records'), dry.headers['preference-applied']]).toEqual([1, undefined])
  })
})

describe('eventTime', () => {
  const time = '2026-01-31T12:00:00Z'
  const noon = time

  test('names the field that becomes the event time, under its name, in every format', async () => {
    const json = await post(
      'time/json',
      `[{"ts":"${time}","n":1},{"n":2,"TS":"${time}"}]`,
      types.json,
      '?create=true&eventTime=ts',
    )
    expect(json.status).toBe(200)
    await post('time/ndjson', `{"a":{"at":"${time}","b":[1]},"n":1}`, {}, '?create=true&eventTime=/a/at')
    const feature = `{"type":"Feature","geometry":null,"properties":{"when":"${time}","n":1}}`
    await post('time/geojson', feature, types.geojson, '?create=true&eventTime=when')
    await post('time/property', feature, types.geojson, '?create=true&eventTime=/properties/when')
    await post('time/csv', `n,ts\n1,${time}\n`, types.csv, '?create=true&eventTime=ts')
    await post('time/tsv', `ts\tn\n${time}\t1\n`, types.tsv, '?create=true&eventTime=/ts')
    for (const format of ['parquet', 'arrow'] as const) {
      const file = await live.query(
        'select n, ts from "time/csv"',
        { dataFormat: undefined },
        { headers: { accept: types[format]['content-type'] } },
      )
      await post(`time/${format}`, file.bytes, types[format], '?create=true&eventTime=ts')
    }
    for (const name of ['json', 'property', 'geojson', 'csv', 'tsv', 'parquet', 'arrow']) {
      const time = ['property', 'geojson'].includes(name) ? 'when' : 'ts'
      const { output } = (await live.query(`select "${time}", n from "time/${name}" where n = 1`)).json as {
        output: { data: unknown }
      }
      expect([name, output.data]).toEqual([name, [[noon, 1]]])
      expect(String(await columnsOf(`time/${name}`))).not.toMatch(/ts|when/i)
    }
    expect(await columnsOf('time/ndjson')).toEqual(['a: String?', 'n: Int64?'])
    expect(await rowsOf('time/ndjson', 'event_time, a')).toEqual([[time, `{"at":"${time}","b":[1]}`]])
  })

  test('is a number or a text of one where a unit says of what', async () => {
    const send = (body: string, more: string): Promise<Answer> =>
      post('time/epochs', body, {}, `?create=true&eventTime=tst${more}`)
    expect((await send('{"tst":1769860800,"n":1}', '&eventTimeUnit=s')).status).toBe(200)
    expect((await send('{"tst":1769860800.5,"n":2}', '&eventTimeUnit=s')).status).toBe(200)
    expect((await send('{"tst":"1769860800000000001","n":3}', '&eventTimeUnit=ns')).status).toBe(200)
    expect((await send(`{"tst":"${time}","n":4}`, '&eventTimeUnit=ns')).status).toBe(200)
    expect(await rowsOf('time/epochs', 'epoch_ms(tst), n')).toEqual([
      [1769860800000, 1],
      [1769860800500, 2],
      [1769860800000, 3],
      [1769860800000, 4],
    ])
    for (const value of ['1769860800', '"1769860800"']) {
      const answer = await send(`{"tst":${value}}`, '')
      expect([answer.status, answer.at('errors.0.pointer')]).toEqual([422, '/tst'])
      expect(answer.at('errors.0.message')).toMatch(/eventTimeUnit=s/)
    }
  })

  test('leaves no second way: the column itself is not sent, and a column of the dataset is not taken', async () => {
    await post('time/strict', `{"ts":"${time}","n":1}`, {}, '?create=true&eventTime=ts')
    const both = await post('time/strict', `{"ts":"${time}","at":"${time}"}`, {}, '?eventTime=at')
    expect(both.at('errors.0.kind')).toBe('ReservedColumn')
    expect((await post('time/strict', `{"at":"${time}"}`, {}, '?eventTime=at')).status).toBe(200)
    await put('time/own', { schema: { fields: [{ name: 'ts', type: 'String?' }] } })
    expect((await post('time/own', `{"ts":"${time}"}`, {}, '?eventTime=ts')).refusal).toBe('400 InvalidParameter')
  })

  test('inside of an object faults say where, and what is missing falls back', async () => {
    const make = await post('time/deep', `{"up":{"at":"${time}","x":"1"}}`, {}, '?create=true&eventTime=/up/at')
    expect(make.status).toBe(200)
    const bad = await post('time/deep', '{"up":{"at":"soon"}}', {}, '?eventTime=/up/at')
    expect([bad.status, bad.at('errors.0.pointer'), bad.at('errors.0.excerpt')]).toEqual([422, '/up/at', '"soon"'])
    const headers = { 'odf-event-time': '2020-02-02T00:00:00Z' }
    const bodies = ['{"up":{"x":[{"at":1}]}}', '{"up":3}', '{"up":{"at":null}}', '{"up":[]}']
    expect((await post('time/deep', bodies.join('\n'), headers, '?eventTime=/up/at')).status).toBe(200)
    const times = await rowsOf('time/deep', 'event_time')
    expect(times).toEqual([[time], ...bodies.map(() => ['2020-02-02T00:00:00Z'])])
    const items = `{"up":[0,{"a~/b":"${time}"}]}`
    expect((await post('time/items', items, {}, '?create=true&eventTime=/up/1/a~0~1b')).status).toBe(200)
    expect(await rowsOf('time/items', 'event_time, up')).toEqual([[time, `[0,{"a~/b":"${time}"}]`]])
  })

  test.each([
    ['csv', '/a/b', 'Name a column'],
    ['geojson', '/when', 'properties'],
    ['json', '/a//b', 'JSON pointer'],
    ['json', '/a~2', '~1 stands for /'],
    ['json', '', 'one value'],
  ] as const)('that leads nowhere is refused in %s: %s', async (format, eventTime, hint) => {
    const answer = await post(
      'time/none',
      'n\n1\n',
      types[format],
      `?create=true&eventTime=${encodeURIComponent(eventTime)}`,
    )
    expect(answer.refusal).toBe('400 InvalidParameter')
    expect(`${String(answer.at('message'))} ${String(answer.at('hint'))}`).toContain(hint)
  })
})

describe('records and flatten', () => {
  // As the serializer of Telegraf's documentation writes a batch.
  const metrics =
    '{"metrics":[{"fields":{"field_1":30,"field_2":4},"name":"docker","tags":{"host":"raynor"},"timestamp":1458229140},' +
    '{"fields":{"field_1":31,"list":[1,{"a":2}]},"name":"docker","tags":{"host":"raynor"},"timestamp":1458229150}]}'
  const controls = 'records=/metrics&flatten=true&eventTime=timestamp&eventTimeUnit=s'

  test('make rows of an object that has them in an array, and columns of what is inside', async () => {
    const answer = await post('nest/metrics', metrics, types.json, `?create=true&${controls}`)
    expect([answer.status, answer.at('records.received')]).toEqual([200, 2])
    expect(await columnsOf('nest/metrics')).toEqual([
      'fields_field_1: Int64?',
      'fields_field_2: Int64?',
      'name: String?',
      'tags_host: String?',
      'fields_list: String?',
    ])
    expect(await rowsOf('nest/metrics', 'epoch_ms("timestamp"), fields_field_1, tags_host, fields_list')).toEqual([
      [1458229140000, 30, 'raynor', null],
      [1458229150000, 31, 'raynor', '[1,{"a":2}]'],
    ])
    const again = await post('nest/metrics', metrics, types.json, `?${controls}`)
    expect([again.status, again.at('offsets.start')]).toEqual([200, 2])
    const deep = metrics.replaceAll('"timestamp":', '"at":{"s":').replaceAll(/(145822\d+)/g, '$1}')
    const pointed = controls.replace('=timestamp', '=/at/s')
    expect((await post('nest/metrics', deep, types.json, `?${pointed}`)).status).toBe(200)
    const times = (await rowsOf('nest/metrics', 'epoch_ms("timestamp")')) as number[][]
    expect(times.slice(4)).toEqual(times.slice(0, 2))
  })

  test('tell what is wrong where it is, and count in no format that has neither', async () => {
    const bad = await post('nest/metrics', metrics.replace('31', '"x"'), types.json, `?${controls}`)
    expect(bad.at('errors.0')).toMatchObject({ record: 1, pointer: '/fields/field_1', column: 'fields_field_1' })
    expect((await post('nest/metrics', '[]', types.json, `?${controls}`)).refusal).toBe('400 MalformedBody')
    for (const [type, parameter] of [
      ['csv', 'flatten=true'],
      ['parquet', 'flatten=true'],
      ['geojson', 'records=/features'],
    ] as const) {
      expect((await post('nest/none', 'n\n1\n', types[type], `?create=true&${parameter}`)).refusal).toBe(
        '400 InvalidParameter',
      )
    }
  })
})

describe('dedupe', () => {
  const time = '2026-01-31T12:00:00Z'
  const send = (body: string, query: string, headers = {}): Promise<Answer> =>
    post('twice/rows', body, { ...types.json, ...headers }, `?create=true&eventTime=t&${query}`)

  test('body: the same bytes are one batch, and each record brings its time', async () => {
    const body = `[{"t":"${time}","n":1},{"t":"${time}","n":2}]`
    const first = await send(body, 'dedupe=body')
    expect([first.status, first.at('idempotencyKey')]).toEqual([200, first.at('bodyHash')])
    const again = await send(body, 'dedupe=body')
    expect([again.headers['idempotent-replayed'], again.at('receiptId')]).toEqual(['true', first.at('receiptId')])
    expect(await rowsOf('twice/rows', 'n')).toEqual([[1], [2]])
    const undated = await send(`[{"t":"${time}"},{"n":1}]`, 'dedupe=body', { 'odf-event-time': time })
    expect([undated.status, undated.at('errors.0.kind'), undated.at('errors.0.record')]).toEqual([
      422,
      'MissingRequired',
      1,
    ])
    const csvBody = 'n\n1\n'
    const csv = await post('twice/csv', csvBody, types.csv, '?create=true&dedupe=body')
    expect([csv.status, csv.at('errors.0.kind')]).toEqual([422, 'MissingRequired'])
    expect(csv.at('errors.0.message')).toContain('because dedupe=body tells equal readings apart by their times')
  })

  test('a field: its value is the key, in all records the same', async () => {
    const body = (id: unknown, n: number): string => JSON.stringify({ t: time, id: { up: id }, n })
    const query = 'flatten=true&dedupe=/id/up'
    for (const [id, key] of [
      ['a-1', /^a-1$/],
      ['a b', /^f1220/],
      ['ü'.repeat(300), /^f1220/],
    ] as const) {
      const first = await send(body(id, 3), query)
      expect(first.at('idempotencyKey')).toMatch(key)
      expect((await send(body(id, 3), query)).headers['idempotent-replayed']).toBe('true')
      expect((await send(body(id, 4), query)).refusal).toBe('409 IdempotencyKeyReused')
    }
    const two = await send(`[${body('x', 1)},${body('y', 1)}]`, query)
    expect([two.status, two.at('errors.0.record'), two.at('errors.0.column')]).toEqual([422, 1, 'id_up'])
    const none = await send(`[${body(null, 1)}]`, query)
    expect([none.status, none.at('errors.0.kind')]).toEqual([422, 'MissingRequired'])
    expect((await send(body('z', 1), 'flatten=true&dedupe=n')).at('idempotencyKey')).toBe('1')
  })

  test('several fields, or one inside of an object that is JSON text', async () => {
    const body = (source: string, id: string, n = 1): string => JSON.stringify({ t: time, s: source, up: { id }, n })
    const deep = (text: string, query = 'dedupe=s,/up/id'): Promise<Answer> =>
      post('twice/deep', text, {}, `?create=true&eventTime=t&${query}`)
    const first = await deep(body('a', '1'))
    expect([first.status, first.at('idempotencyKey')]).toEqual([200, '["a","1"]'])
    expect((await deep(body('a', '1'))).headers['idempotent-replayed']).toBe('true')
    expect((await deep(body('a', '1', 2))).refusal).toBe('409 IdempotencyKeyReused')
    for (const [source, id] of [
      ['b', '1'],
      ['a","1', ''],
    ] as const) {
      const other = await deep(body(source, id))
      expect([other.status, other.headers['idempotent-replayed']]).toEqual([200, undefined])
    }
    expect((await deep(body('c', 'one'), 'dedupe=/up/id')).at('idempotencyKey')).toBe('one')
    for (const up of ['{broken', '{"other":1}', 'null']) {
      const none = await deep(JSON.stringify({ t: time, s: 'a', up, n: 1 }))
      expect([none.status, none.at('errors.0.kind'), none.at('errors.0.column')]).toEqual([
        422,
        'MissingRequired',
        '/up/id',
      ])
    }
  })

  test('is no second key, and names a column', async () => {
    const refusals = [
      await send('{"n":1}', 'dedupe=n', { 'idempotency-key': 'k' }),
      await send(`{"t":"${time}"}`, 'dedupe=t'),
      await send(`{"t":"${time}"}`, 'dedupe=n,t'),
    ]
    expect(refusals.map((answer) => answer.refusal)).toEqual(refusals.map(() => '400 InvalidParameter'))
  })

  test('of a long body, which a thread reads', async () => {
    const rows = Array.from({ length: 30_000 }, (_, n) => JSON.stringify({ t: time, n, day: 'one' })).join('\n')
    const ask = (key: string): Promise<Answer> => post('twice/long', rows, {}, `?create=true&eventTime=t&dedupe=${key}`)
    const first = await ask('day')
    expect([first.status, first.at('idempotencyKey')]).toEqual([200, 'one'])
    expect((await ask('day')).headers['idempotent-replayed']).toBe('true')
    const other = await ask('n')
    expect([other.status, other.at('errors.0.record')]).toEqual([422, 1])
  })
})

describe('an answer', () => {
  const time = '2026-01-31T12:00:00Z'

  test('tells where the event time came from, and once that nobody named what looks like one', async () => {
    const make = await post('told/rows', '{"ts":1769860800,"n":1}', {}, '?create=true&dryRun=true')
    expect([make.at('eventTime'), String(make.at('warnings.0'))]).toEqual([
      { from: 'received' },
      expect.stringContaining('eventTime=ts'),
    ])
    const first = await post('told/rows', '{"ts":1769860800,"n":1}', { 'odf-event-time': time }, '?create=true')
    expect([first.at('eventTime.from'), first.at('warnings.length')]).toEqual(['header', 1])
    expect((await post('told/rows', '{"ts":1769860801}')).at('warnings')).toBeUndefined()
    const named = await post('told/named', `{"ts":"${time}"}\n{"ts":null,"n":1}`, {}, '?create=true&eventTime=ts')
    expect(named.at('eventTime')).toEqual({ from: 'field', name: 'ts', missing: 1, otherwise: 'received' })
    const all = await post('told/rows', `{"event_time":"${time}"}`)
    expect(all.at('eventTime')).toEqual({ from: 'field', name: 'event_time' })
  })
})

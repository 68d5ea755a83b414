// Logs as programs of OpenTelemetry send them: what is stored of them in JSON, once, and how refusals are told.

import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { datasetCalls } from '../helpers/dataset-calls.ts'
import { liveNode } from '../helpers/live-node.ts'

const live = await liveNode()
const { rowsOf, columnsOf } = datasetCalls(() => live)
const json = { 'content-type': 'application/json' }
const value = (text: string): object => ({ stringValue: text })

function exportOf(records: readonly object[]): string {
  const resource = { attributes: [{ key: 'service.name', value: value('pump') }], droppedAttributesCount: 1 }
  return JSON.stringify({
    resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 'main', version: '1' }, logRecords: records }] }],
  })
}

const record = {
  timeUnixNano: '1769860800123456789',
  observedTimeUnixNano: '1769860900000000000',
  severityNumber: 13,
  severityText: 'WARN',
  body: value('dry'),
  attributes: [
    { key: 'n', value: { intValue: '9007199254740993' } },
    { key: 'bar', value: { doubleValue: 2 } },
    { key: 'wet', value: { boolValue: false } },
    { key: 'http', value: { kvlistValue: { values: [{ key: 'status', value: { intValue: 503 } }] } } },
    { key: 'tags', value: { arrayValue: { values: [value('a'), {}, { bytesValue: 'AQI=' }] } } },
    { key: 'none', value: { doubleValue: 'NaN' } },
  ],
  traceId: '5B8EFFF798038103D269B633813FC60C',
  spanId: '0000000000000000',
  later: { unknown: true },
}

async function send(
  alias: string,
  body: string | Uint8Array,
  headers: object = {},
  more: { token?: string | null; query?: string } = {},
) {
  const { query = '', ...call } = more
  return live.call(`/${alias}/v1/logs${query}`, { method: 'POST', body, headers: { ...json, ...headers }, ...call })
}

async function stored(alias: string, count: number, columns?: string): Promise<unknown> {
  await expect.poll(async () => (await live.call(`/${alias}`)).at('rows')).toBe(count)
  return rowsOf(alias, columns)
}

describe('what is stored', () => {
  test('is a row a record, once, its types those of the sender', async () => {
    const body = exportOf([record, { observedTimeUnixNano: 1_769_860_801_000_000_000, body: value('') }])
    const answer = await send('otlp/typed', body)
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([
      200,
      '{}',
      'application/json; charset=utf-8',
    ])
    expect(
      (await send('otlp/typed', gzipSync(body), { 'content-encoding': 'gzip' })).headers['idempotent-replayed'],
    ).toBe('true')
    expect(await columnsOf('otlp/typed')).toEqual([
      'severity_number: Int64?',
      'severity_text: String?',
      'body: String?',
      'attributes_n: Int64?',
      'attributes_bar: Float64?',
      'attributes_wet: Bool?',
      'attributes_http_status: Int64?',
      'attributes_tags: String?',
      'trace_id: String?',
      'resource_service.name: String?',
      'scope_name: String?',
      'scope_version: String?',
    ])
    const times = ['2026-01-31T12:00:00.123Z', '2026-01-31T12:00:01Z']
    const none = Array.from({ length: 5 }, () => null)
    expect(await stored('otlp/typed', 2, '* exclude (offset, op, system_time, attributes_n)')).toEqual([
      [
        times[0],
        13,
        'WARN',
        'dry',
        2,
        false,
        503,
        '["a",null,"AQI="]',
        '5b8efff798038103d269b633813fc60c',
        'pump',
        'main',
        '1',
      ],
      [times[1], null, null, '', ...none, 'pump', 'main', '1'],
    ])
    expect(await rowsOf('otlp/typed', 'attributes_n::text')).toEqual([['9007199254740993'], [null]])
  })

  test('is the same where it is posted as a batch with the preset, which no dataset keeps', async () => {
    const body = exportOf([record])
    const post = (query: string) =>
      live.call(`/otlp/preset/ingest?create=true${query}`, { method: 'POST', body, headers: json })
    expect((await post('&preset=otlp-logs')).at('records.received')).toBe(1)
    expect((await post('&preset=otlp-logs')).headers['idempotent-replayed']).toBe('true')
    await send('otlp/posted', body)
    const columns = 'epoch_ms(event_time), * exclude ("offset", op, system_time, event_time)'
    expect(await stored('otlp/preset', 1, columns)).toEqual(await stored('otlp/posted', 1, columns))
    const kept = await live.call('/otlp/preset', { method: 'PATCH', json: { ingest: { preset: 'otlp-logs' } } })
    expect([kept.refusal, String(kept.at('message'))]).toEqual([
      '422 InvalidRequest',
      expect.stringContaining('sent with each'),
    ])
  })

  test('has the time of its arrival where a record has none, and is then no repeat', async () => {
    const body = exportOf([{ body: value('when?') }])
    const before = Date.now()
    expect([(await send('otlp/timeless', body)).status, (await send('otlp/timeless', body)).status]).toEqual([200, 200])
    const rows = (await stored('otlp/timeless', 2, 'epoch_ms(event_time), body')) as [number, string][]
    for (const [ms, text] of rows) expect([ms >= before && ms <= Date.now(), text]).toEqual([true, 'when?'])
  })
})

describe('what is told', () => {
  test('of records that do not fit: how many are left out and why, and the others are stored', async () => {
    await send('otlp/fits', exportOf([record]))
    const other = { ...record, attributes: [{ key: 'n', value: value('many') }] }
    const answer = await send('otlp/fits', exportOf([record, other, { ...record, body: value('wet') }, other]))
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        partialSuccess: {
          rejectedLogRecords: '2',
          errorMessage: expect.stringMatching(/^Record 1: .*attributes_n.* All others are stored\.$/),
        },
      },
    ])
    expect(await stored('otlp/fits', 3, 'body')).toEqual([['dry'], ['dry'], ['wet']])
    const none = await send('otlp/fits', exportOf([other]))
    expect([none.status, none.at('code'), none.at('errors.0.record'), none.at('errors.0.line')]).toEqual([
      422,
      3,
      0,
      undefined,
    ])
    expect(none.headers['content-type']).toMatch(/^application\/problem\+json/)
  })

  test('of records that do not fit in protobuf: as a message of the protocol', async () => {
    const protobuf = { 'content-type': 'application/x-protobuf' }
    const field = (number: number, ...parts: Buffer[]): Buffer => {
      const bytes = Buffer.concat(parts)
      return Buffer.concat([Buffer.from([8 * number + 2, bytes.length]), bytes])
    }
    const text = (number: number, said: string): Buffer => field(number, Buffer.from(said))
    const attribute = (name: string, ...inside: Buffer[]): Buffer => field(6, text(1, name), field(2, ...inside))
    // Its attributes a_b and a: {b} would be one column.
    const one = attribute('a_b', text(1, 'x'))
    const two = attribute('a', field(6, field(1, text(1, 'b'), field(2, text(1, 'y')))))
    const body = field(1, field(2, field(2, one), field(2, one, two)))
    const answer = await send('otlp/partial', body, protobuf)
    const message = answer.bytes.subarray(6)
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/x-protobuf'])
    expect([...answer.bytes.subarray(0, 6)]).toEqual([10, message.length + 4, 8, 1, 18, message.length])
    expect(Buffer.from(message).toString('utf8')).toMatch(/^Record 1: .*'attributes_a_b'\. All others are stored\.$/)
    const broken = await send('otlp/partial', Buffer.from('0affff', 'hex'), protobuf)
    expect([broken.status, String(broken.at('hint'))]).toEqual([400, expect.stringMatching(/^Send an ExportLogs/)])
  })

  test.each([
    ['[]', json, 400],
    ['{"resourceLogs":{}}', json, 400],
    ['{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"soon"}]}]}]}', json, 400],
    ['{"resourceLogs":[', json, 400],
    ['\n', { 'content-type': 'application/x-protobuf' }, 400],
    ['x', { 'content-type': 'text/plain' }, 415],
    ['', json, 400],
  ])('%j %j is refused with %i', async (body, headers, status) => {
    const answer = await send('otlp/refused', body, headers)
    expect([answer.status, typeof answer.at('code'), typeof answer.at('message')]).toEqual([status, 'number', 'string'])
    expect((await live.call('/otlp/refused')).status).toBe(404)
  })

  test('of who may not, and where there is nothing', async () => {
    const ingest = String(
      (await live.call('/tokens', { method: 'POST', json: { name: 'one', scopes: ['ingest'] } })).at('token'),
    )
    expect((await send('otlp/missing', exportOf([record]), {}, { token: null })).at('code')).toBe(16)
    expect((await send('otlp/missing', exportOf([record]), {}, { token: ingest })).refusal).toBe('404 DatasetNotFound')
    expect((await send('otlp/missing', exportOf([]))).refusal).toBe('422 NothingToInfer')
  })
})

// Exports of OpenTelemetry logs: what a short body may stand for, which spellings are read, and what is not understood.

import { describe, expect, test } from 'vitest'
import type { Inferred } from '../../../src/libraries/formats/format.ts'
import { failure, infer, optionalField, readBytes, readerOptions, rowsOf } from '../../libraries/formats/reading.ts'

const noFields = readerOptions([], { unknownFields: 'ignore' })

/** A field of protobuf that holds bytes. */
function field(number: number, bytes: Buffer): Buffer {
  const head: number[] = [8 * number + 2]
  let length = bytes.length
  for (; length >= 0x80; length = Math.floor(length / 0x80)) head.push((length % 0x80) + 0x80)
  return Buffer.concat([Buffer.from([...head, length]), bytes])
}

interface Shape {
  readonly resource: string
  readonly scopes: number
  readonly records: number
}

function protobufOf({ resource, scopes, records }: Shape): Buffer {
  const value = field(1, Buffer.from(resource))
  const attribute = field(1, Buffer.concat([field(1, Buffer.from('a')), field(2, value)]))
  const scope = field(2, Buffer.concat(Array.from({ length: records }, () => field(2, Buffer.alloc(0)))))
  return field(1, Buffer.concat([...Array.from({ length: scopes }, () => scope), field(1, attribute)]))
}

function jsonOf({ resource, scopes, records }: Shape): Buffer {
  const scope = `{"logRecords":[${Array.from({ length: records }, () => '{}').join(',')}]}`
  const scopeLogs = Array.from({ length: scopes }, () => scope).join(',')
  const attributes = `[{"key":"a","value":{"stringValue":"${resource}"}}]`
  return Buffer.from(`{"resourceLogs":[{"scopeLogs":[${scopeLogs}],"resource":{"attributes":${attributes}}}]}`)
}

const forms = [
  ['otlp-protobuf', protobufOf],
  ['otlp-json', jsonOf],
] as const

describe.each(forms)('what a short body stands for in %s', (format, bodyOf) => {
  test.each([
    ['a resource of many records', { resource: 'x'.repeat(300_000), scopes: 1, records: 150_000 }],
    ['a resource of many scopes', { resource: 'x'.repeat(300_000), scopes: 75_000, records: 1 }],
    ['a resource of some records', { resource: 'x'.repeat(14_000), scopes: 1, records: 7_000 }],
  ])('is refused before it is made: %s', (_about, shape) => {
    const body = bodyOf(shape)
    for (const work of [() => readBytes(format, body, noFields), () => infer(format, body)]) {
      const { kind, details } = failure(work)
      expect([kind, details.limit?.name]).toEqual(['BodyTooLarge', 'otlpRowBytes'])
    }
  })

  test('is taken where records of a batch say much of their resource', () => {
    const shape = { resource: 'x'.repeat(2_048), scopes: 1, records: 8 * 512 }
    const read = readBytes(format, bodyOf(shape), readerOptions([optionalField('resource', { kind: 'String' })]))
    expect(read.records).toBe(shape.records)
    expect(rowsOf(read)[4095]).toEqual([null, `{"a":"${shape.resource}"}`])
  })
})

describe('JSON', () => {
  const text = (inferred: Inferred): string[] => inferred.fields.map(({ name }) => name)
  const read = (record: string, flatten = false): unknown => {
    const body = Buffer.from(`{"resource_logs":[{"scope_logs":[{"log_records":[${record}]}]}]}`)
    const { fields, eventTimeType } = infer('otlp-json', body, { flatten })
    const options = readerOptions(fields, { flatten, eventTimeType })
    return [text(infer('otlp-json', body, { flatten })), ...rowsOf(readBytes('otlp-json', body, options))]
  }

  test('may have the names of the definition', () => {
    const record = `{"time_unix_nano":"1704067201000000000","severity_text":"INFO","body":{"string_value":"kept"},
      "attributes":[{"key":"n","value":{"int_value":"7"}},{"key":"l","value":{"array_value":{"values":[{"bool_value":true}]}}}],
      "dropped_attributes_count":2,"event_name":"e"}`
    expect(read(record, true)).toEqual([
      ['severity_text', 'body', 'attributes_n', 'attributes_l', 'dropped_attributes_count', 'event_name'],
      [1_704_067_201_000n, 'INFO', 'kept', 7n, '[true]', 2n, 'e'],
    ])
  })

  test('may have ids in base64, bytes in its other alphabet, and the name of a severity', () => {
    const id = Buffer.from('5b8efff798038103d269b633813fc60c', 'hex')
    const span = Buffer.from('eee19b7ec3c1b174', 'hex')
    const record = `{"timeUnixNano":1,"severityNumber":"SEVERITY_NUMBER_ERROR2","traceId":"${id.toString('base64')}",
      "spanId":"${span.toString('base64url')}","body":{"bytesValue":"-_8"}}`
    expect(read(record)).toEqual([
      ['severity_number', 'body', 'trace_id', 'span_id'],
      [0n, 18n, '+/8=', id.toString('hex'), span.toString('hex')],
    ])
  })

  test('tells names apart that columns cannot', () => {
    const pair = (key: string): string => `{"key":"${key}","value":{"stringValue":"${key}"}}`
    const record = (...keys: string[]): string => `{"timeUnixNano":1,"attributes":[${keys.map(pair).join(',')}]}`
    expect(read(record('host', 'Host', 'HOST', 'host_2'), true)).toEqual([
      ['attributes_host_4', 'attributes_Host_3', 'attributes_HOST', 'attributes_host_2'],
      [0n, 'host', 'Host', 'HOST', 'host_2'],
    ])
    expect(read(record('host', 'Host'), false)).toEqual([['attributes'], [0n, '{"host":"host","Host":"Host"}']])
  })

  test.each([
    ['host', ['Host', 'host_2'], [null, 'host']],
    ['Host', ['Host', 'host_2'], ['Host', null]],
    ['HOST', ['Host', 'host_2'], ['HOST', null]],
    ['host', ['HOST', 'host_4', 'Host_3', 'host_2'], [null, 'host', null, null]],
    ['host', ['Host'], ['host']],
  ])('keeps names apart that columns tell apart: %s, for %s', (key, keys, row) => {
    const attributes = `[{"key":"${key}","value":{"stringValue":"${key}"}}]`
    const body = (place: string, of: string): Buffer =>
      Buffer.from(`{"resourceLogs":[{${place},"scopeLogs":[{"logRecords":[{"timeUnixNano":1${of}}]}]}]}`)
    for (const [under, bytes] of [
      ['attributes_', body('"resource":{}', `,"attributes":${attributes}`)],
      ['resource_', body(`"resource":{"attributes":${attributes}}`, '')],
      [
        'scope_attributes_',
        Buffer.from(
          `{"resourceLogs":[{"scopeLogs":[{"scope":{"attributes":${attributes}},"logRecords":[{"timeUnixNano":1}]}]}]}`,
        ),
      ],
    ] as const) {
      const options = readerOptions(
        keys.map((name) => optionalField(under + name, { kind: 'String' })),
        { flatten: true },
      )
      expect(rowsOf(readBytes('otlp-json', bytes, options))).toEqual([[0n, ...row]])
    }
  })

  test.each([
    '{"resourceSpans":[{"scopeSpans":[]}]}',
    '{"resourceLogs":[{"scope-logs":[{"logRecords":[{}]}]}]}',
    '{"resourceLogs":[{"scopeLogs":[{"records":[{"timeUnixNano":"1"}]}]}]}',
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"time":"1"}]}]}]}',
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"text":"lost"}}]}]}]}',
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"a","intValue":1}}]}]}]}',
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","time_unix_nano":"2"}]}]}]}',
    '{"resourceLogs":[],"resource_logs":[]}',
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"bytesValue":"*"}}]}]}]}',
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"traceId":"5b8efff7-9803-8103-d269-b633813fc60c"}]}]}]}',
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"flags":"9007199254740993"}]}]}]}',
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}, 7]}]}]}',
    '{"resourceLogs":[]} {}',
    '\u{feff}{"resourceLogs":[]}',
  ])('is refused where it is not understood, or would lose something: %s', (text) => {
    expect(failure(() => readBytes('otlp-json', Buffer.from(text), noFields)).kind).toBe('MalformedBody')
  })

  test.each(['{}', '{"resourceLogs":null}', '{"resourceLogs":[{"scopeLogs":[{"logRecords":[]}]}]}'])(
    'has no records: %s',
    (text) => expect(readBytes('otlp-json', Buffer.from(text), noFields).records).toBe(0),
  )
})

test('protobuf in which nothing is known is refused', () => {
  const other = field(9, Buffer.from('x'))
  const record = (bytes: Buffer): Buffer => field(1, field(2, field(2, bytes)))
  for (const body of [other, field(1, other), field(1, field(2, other)), record(field(20, Buffer.from('x')))]) {
    expect(failure(() => readBytes('otlp-protobuf', body, noFields)).kind).toBe('MalformedBody')
  }
})

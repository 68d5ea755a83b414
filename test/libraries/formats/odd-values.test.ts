// A value that came in is the same in the column, or was refused with its place, or its batch is told of it: every format of
// text with every odd value, in a dataset that is made of it, and in columns of each type.

import { describe, expect, it } from 'vitest'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { type DataType, type Field, innerType, timestampMs } from '../../../src/libraries/model/schema.ts'
import { infer, optionalField, readBytes, readerOptions, rowsOf } from './reading.ts'

/** An odd value as CSV, JSON and line protocol write it; undefined where that has no such thing. */
interface Odd {
  readonly json: string
  /** The cell; by default the text of a JSON string, or the token. */
  readonly csv?: string | undefined
  readonly lp?: string | undefined
}

const text = (value: string): Odd => ({
  json: JSON.stringify(value),
  csv: /[",\r\n\t]|^$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value,
  lp: `"${value.replaceAll(/["\\]/g, '\\$&')}"`,
})
const token = (value: string): Odd => ({ json: value, lp: value })

const odd: Readonly<Record<string, Odd>> = {
  'an integer beyond 2^53': token('9007199254740993'),
  'a negative one': token('-1234567890123456789'),
  'one beyond 64 bits': token('18446744073709551617'),
  'many digits': token('1'.repeat(60)),
  'a long fraction': token('0.1234567890123456789012345'),
  '-0': token('-0'),
  '1e400': token('1e400'),
  '1e-400': token('1e-400'),
  'an exponent': token('1e5'),
  'a capital exponent': token('12E7'),
  '1.10': token('1.10'),
  NaN: token('NaN'),
  Infinity: token('Infinity'),
  'minus infinity': token('-Infinity'),
  'a leading zero': { json: '"007"', csv: '007', lp: '"007"' },
  'a plus': { json: '"+14155550123"', csv: '+14155550123', lp: '"+14155550123"' },
  'a point at the end': { json: '"5."', csv: '5.', lp: '"5."' },
  hexadecimal: text('0x1F'),
  'digits with underscores': text('1_000'),
  'a byte order mark': text('\ufeffx'),
  'half a pair': { json: '"\\ud800"' },
  NUL: { json: '"a\\u0000b"', csv: '"a\0b"', lp: '"a\0b"' },
  'empty text': text(''),
  null: { json: 'null', csv: '' },
  true: token('true'),
  TRUE: { json: '"TRUE"', csv: 'TRUE', lp: 'TRUE' },
  t: { json: '"t"', csv: 't', lp: 't' },
  'the year 0': text('0000-01-01'),
  'the last day': text('9999-12-31'),
  'no day': text('2024-02-30'),
  'a leap second': text('2016-12-31T23:59:60Z'),
  '24:00': text('2024-01-01T24:00:00Z'),
  'a time with a zone': text('2024-01-01T01:00:00.123456+01:00'),
  nanoseconds: text('2024-01-01T00:00:00.123456789Z'),
  'a time without zone': text('2024-01-01T00:00:00'),
  'an object': { json: '{"b": 1.0, "a": [1, null]}', csv: '"{""b"": 1.0, ""a"": [1, null]}"' },
  'an object with a name twice': { json: '{"a":1,"a":2}' },
  'white space around': text(' x '),
  'white space around a number': { json: '" 5 "', csv: ' 5 ', lp: '" 5 "' },
  'white space alone': text('  '),
  'a no-break space': text('\u00a0'),
  'line ends': text('a\r\nb\tc'),
  'a backslash': text('\\N'),
  quotes: text('say "hi"'),
}

const cellOf = ({ json, csv }: Odd): string => csv ?? json
const feature = (json: string): string => `{"type":"Feature","geometry":null,"properties":{"k":1,"v":${json}}}`
/** By the name of a format, a body of one record with the value `v`. */
const senders: Readonly<Record<string, (value: Odd) => string | undefined>> = {
  csv: (value) => `k,v\n1,${cellOf(value)}\n`,
  tsv: (value) => `k\tv\n1\t${cellOf(value)}\n`,
  json: ({ json }) => `[{"k":1,"v":${json}}]`,
  ndjson: ({ json }) => `{"k":1,"v":${json}}\n`,
  geojson: ({ json }) => `{"type":"FeatureCollection","features":[${feature(json)}]}`,
  ndgeojson: ({ json }) => `${feature(json)}\n`,
  'line-protocol': ({ lp }) => lp && `m k=1,v=${lp} 1769860800000000000\n`,
  'otlp-json': ({ json }) => (json.startsWith('"') ? exportOf(`{"stringValue":${json}}`) : undefined),
}

function exportOf(value: string): string {
  const record = `{"timeUnixNano":"1769860800000000000","attributes":[{"key":"v","value":${value}}]}`
  return `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${record}]}]}]}`
}

type Cell = string | number | bigint | boolean | null | undefined

interface Found {
  readonly verdict: 'refused' | 'refused without a place' | 'taken'
  readonly warned: boolean
  readonly value?: Cell
  readonly type?: DataType
}

const columnOf = (format: string): string => (format === 'otlp-json' ? 'attributes_v' : 'v')

/** What becomes of the body: in a dataset that is made of it, or in one with `fields`. */
function outcome(format: string, body: string, fields: readonly Field[] | undefined): Found {
  const header = format === 'csv' || format === 'tsv' ? ({ csvHeader: 'present' } as const) : {}
  const flat = format === 'otlp-json' ? { flatten: true } : {}
  const options = { ...header, ...flat }
  try {
    const inferred = fields === undefined ? infer(format, body, options) : undefined
    const columns = fields ?? inferred?.fields ?? []
    const against = inferred === undefined ? {} : { valueless: inferred.valueless }
    const read = readBytes(format, Buffer.from(body), readerOptions(columns, { ...options, ...against }))
    const at = columns.findIndex(({ name }) => name === columnOf(format))
    const warned = [...(inferred?.warnings ?? []), ...(read.warnings ?? [])].length > 0
    const type = columns[at]?.type
    if (type === undefined) return { verdict: 'taken', warned }
    return { verdict: 'taken', warned, value: rowsOf(read)[0]?.[at + 1] as Cell, type: innerType(type) }
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    const isPlaced = error.details.errors?.[0] !== undefined || error.kind === 'MalformedBody'
    return { verdict: isPlaced ? 'refused' : 'refused without a place', warned: false }
  }
}

/** The text of what was sent: of a cell, of a JSON text, or the token. */
function sentText({ json, csv }: Odd, isCell: boolean): string {
  if (!isCell) return json.startsWith('"') ? String(JSON.parse(json)) : json
  const cell = csv ?? json
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell
}

/** True where what is stored says what was sent. Numbers are compared exactly, times as instants. */
function isSame(sent: Odd, isCell: boolean, { value, type }: Found): boolean {
  const text = sentText(sent, isCell)
  if (value === undefined || value === null) return sent.json === 'null' || (isCell && text.trim() === '')
  switch (type?.kind) {
    case 'String':
      // In line protocol t is a boolean, and the text of a boolean is `true`.
      return value === text || (sent.lp === text && /^(t|true)$/i.test(text) && value === 'true')
    case 'Bool':
      return /^(t|true)$/i.test(text) === value && /^(t|f|true|false)$/i.test(text)
    case 'Date':
      return Number(value) * 86_400_000 === Date.parse(text.trim())
    case 'Timestamp':
      return isSameInstant(text.trim(), BigInt(String(value)), type.unit === 'Microsecond' ? 6 : 3)
    case 'Decimal':
      return new Big(text.trim()).equals(new Big(String(value), type.scale))
    default:
      return isSameNumber(text.trim(), value)
  }
}

function isSameInstant(text: string, value: bigint, digits: number): boolean {
  const [, fraction = ''] = /\.(\d+)/.exec(text) ?? []
  const ms = BigInt(Date.parse(text.replace(/\.\d+/, '')))
  const nanos = ms * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
  return nanos === value * 10n ** BigInt(9 - digits)
}

/** A token that is written as an integer keeps its value; another one is the nearest double, or single. */
function isSameNumber(text: string, value: Cell): boolean {
  const nearest = Number(text)
  if (!/^[+-]?\d+$/.test(text))
    return Object.is(nearest, Number(value)) || Object.is(Math.fround(nearest), Number(value))
  const exact = BigInt(String(value).includes('e') ? Number(value) : String(value))
  return (
    exact === BigInt(text.replace('+', '')) && (typeof value === 'bigint' || Object.is(nearest, value) || nearest !== 0)
  )
}

/** A decimal number: digits times a power of ten. */
class Big {
  readonly #text: string

  constructor(text: string, scale = 0) {
    const [, sign = '', whole = '', fraction = '', exponent = '0'] =
      /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
    const digits = (whole + fraction).replace(/^0+/, '')
    const plain = digits.replace(/0+$/, '')
    const power = Number(exponent) - fraction.length - scale + digits.length - plain.length
    this.#text = plain === '' ? '0' : `${sign === '-' ? '-' : ''}${plain}e${power}`
  }

  equals(other: Big): boolean {
    return this.#text === other.#text
  }
}

const types: readonly DataType[] = [
  { kind: 'Float64' },
  { kind: 'Float32' },
  { kind: 'Int64' },
  { kind: 'UInt64' },
  { kind: 'Int16' },
  { kind: 'Decimal', precision: 38, scale: 10 },
  { kind: 'String' },
  { kind: 'Bool' },
  { kind: 'Date' },
  timestampMs,
]

describe.each(Object.keys(senders))('an odd value in %s', (format) => {
  const isCell = format === 'csv' || format === 'tsv'
  /** What is neither the same nor refused nor told. */
  const silent = (fields: readonly Field[] | undefined): string[] =>
    Object.entries(odd).flatMap(([about, value]) => {
      const body = senders[format]?.(value)
      if (body === undefined) return []
      const found = outcome(format, body, fields)
      if (found.verdict === 'refused' || (found.verdict === 'taken' && (found.warned || isSame(value, isCell, found))))
        return []
      return [`${about}: ${body} was ${found.verdict}, as ${String(found.value)}`]
    })

  it('makes a dataset that has it, or is refused, or told', () => {
    expect(silent(undefined)).toEqual([])
  })

  it.each(types)('is in a column of $kind what it was, or is refused, or told', (type) => {
    const more = ['geometry', '_measurement', 'trace_id', 'span_id', 'body'].map((name) =>
      optionalField(name, { kind: 'String' }),
    )
    expect(silent([optionalField('k', { kind: 'Float64' }), optionalField(columnOf(format), type), ...more])).toEqual(
      [],
    )
  })

  it('is read whole somewhere: the table compares values', () => {
    const taken = Object.values(odd).filter((value) => {
      const body = senders[format]?.(value)
      return body !== undefined && outcome(format, body, undefined).verdict === 'taken'
    })
    expect(taken.length).toBeGreaterThan(10)
  })
})

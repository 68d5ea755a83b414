// Values that a client binds to parameters, text or binary, as constants of the engine. What a type's text does not say without
// doubt goes to the engine as text, which it reads as the type that stands beside it.

import { decodeUtf8, fromHex, toHex, utf8 } from '../base/bytes.ts'
import type { Parameter } from '../model/parameters.ts'
import { arrayText } from './arrays.ts'
import { arrayOids } from './catalogue/types.ts'
import { PostgresFault } from './report.ts'

const oids = { bool: 16, bytea: 17, int8: 20, int2: 21, int4: 23, oid: 26, float4: 700, float8: 701 } as const
const date = 1082
const [time, timestamp, timestamptz, interval, numeric, uuid, jsonb] = [1083, 1114, 1184, 1186, 1700, 2950, 3802]
/** char, name, text, unknown, bpchar, varchar, json: the same bytes in either form. */
const texts = new Set([0, 18, 19, 25, 114, 705, 1042, 1043])
const dayMs = 86_400_000
/** Of a numeric on each side of its point, as many as a double has; and of the elements of an array. */
const [groupsMost, charactersMost] = [90, 256 * 1024]
/** 2000-01-01, from which binary times count. */
const epochMs = 946_684_800_000

/** The value of `$<place>`. Throws PostgresFault 22P02, 22P03, 22021, 0A000. */
export function parameterOf(place: number, oid: number, format: number, bytes: Uint8Array | undefined): Parameter {
  const name = String(place)
  if (bytes === undefined) return { name, type: 'NULL', text: 'null' }
  if (format !== 0 && format !== 1) throw new PostgresFault('08P01', `unsupported format code: ${format}`)
  const isText = format === 0 || texts.has(oid)
  const value = isText ? fromText(oid, textOf(bytes)) : fromBinary(oid, bytes)
  return { name, ...value }
}

type Value = Pick<Parameter, 'type' | 'text'>

const varchar = (text: string): Value => ({ type: 'VARCHAR', text })

function textOf(bytes: Uint8Array): string {
  let text: string
  try {
    text = decodeUtf8(bytes)
  } catch {
    throw new PostgresFault('22021', 'invalid byte sequence for encoding "UTF8"')
  }
  if (text.includes('\0')) throw new PostgresFault('22021', 'invalid byte sequence for encoding "UTF8": 0x00')
  return text
}

function fromText(oid: number, text: string): Value {
  switch (oid) {
    case oids.int2:
    case oids.int4:
    case oids.int8:
    case oids.oid:
      return integer(text.trim(), text)
    case oids.float4:
      return float(text.trim(), text, Math.fround)
    case oids.float8:
      return float(text.trim(), text)
    case oids.bool:
      return boolean(text)
    case oids.bytea:
      return varchar(blob(byteaOf(text)))
    default:
      return varchar(text)
  }
}

function integer(digits: string, text: string): Value {
  if (!/^[+-]?\d{1,19}$/.test(digits)) throw invalid('bigint', text)
  const value = BigInt(digits.replace('+', ''))
  if (BigInt.asIntN(64, value) !== value)
    throw new PostgresFault('22003', `value "${text.slice(0, 50)}" is out of range for type bigint`)
  return { type: 'BIGINT', text: String(value) }
}

function float(number: string, text: string, size: (value: number) => number = Number): Value {
  if (/^[+-]?(?:nan|inf(?:inity)?)$/i.test(number)) return varchar(number)
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(number)) throw invalid('double precision', text)
  const value = size(Number(number))
  const isOut = !Number.isFinite(value) || (value === 0 && /[1-9]/.test(number.replace(/e.*/i, '')))
  if (isOut) throw new PostgresFault('22003', `"${text.slice(0, 50)}" is out of range for type double precision`)
  return doubleOf(value)
}

function doubleOf(value: number): Value {
  if (Number.isFinite(value)) return { type: 'DOUBLE', text: Object.is(value, -0) ? '-0.0' : String(value) }
  return varchar(String(value))
}

function boolean(text: string): Value {
  const word = text.trim().toLowerCase()
  if (/^(?:t|tr|tru|true|y|ye|yes|on|1)$/.test(word)) return { type: 'BOOLEAN', text: 'true' }
  if (/^(?:f|fa|fal|fals|false|n|no|of|off|0)$/.test(word)) return { type: 'BOOLEAN', text: 'false' }
  throw invalid('boolean', text)
}

function byteaOf(text: string): Uint8Array {
  const bytes = /^\\x/i.test(text) ? fromHex(text.slice(2).toLowerCase()) : undefined
  if (bytes === undefined) throw invalid('bytea', text)
  return bytes
}

/** As the engine casts text to bytes. */
function blob(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('')
}

function fromBinary(oid: number, bytes: Uint8Array): Value {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const sized = (length: number): void => {
    if (bytes.length !== length) throw new PostgresFault('22P03', 'incorrect binary data format in bind parameter')
  }
  switch (oid) {
    case oids.bool:
      return (sized(1), { type: 'BOOLEAN', text: bytes[0] === 0 ? 'false' : 'true' })
    case oids.int2:
      return (sized(2), { type: 'BIGINT', text: String(view.getInt16(0)) })
    case oids.int4:
      return (sized(4), { type: 'BIGINT', text: String(view.getInt32(0)) })
    case oids.oid:
      return (sized(4), { type: 'BIGINT', text: String(view.getUint32(0)) })
    case oids.int8:
      return (sized(8), { type: 'BIGINT', text: String(view.getBigInt64(0)) })
    case oids.float4:
      return (sized(4), doubleOf(view.getFloat32(0)))
    case oids.float8:
      return (sized(8), doubleOf(view.getFloat64(0)))
    case oids.bytea:
      return varchar(blob(bytes))
    case date:
      return (sized(4), varchar(instant(BigInt(view.getInt32(0)) * BigInt(dayMs) * 1000n).slice(0, 10)))
    case time:
      return (sized(8), varchar(clock(view.getBigInt64(0))))
    case timestamp:
      return (sized(8), varchar(instant(view.getBigInt64(0))))
    case timestamptz:
      return (sized(8), varchar(`${instant(view.getBigInt64(0))}+00`))
    case interval:
      sized(16)
      return varchar(`${view.getInt32(12)} months ${view.getInt32(8)} days ${view.getBigInt64(0)} microseconds`)
    case numeric:
      return varchar(numericOf(view))
    case uuid:
      return (sized(16), varchar(toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')))
    case jsonb:
      if (bytes[0] !== 1) throw new PostgresFault('22P03', `unsupported jsonb version number ${bytes[0] ?? 0}`)
      return varchar(textOf(bytes.subarray(1)))
    default:
      if (arrayOids.has(oid)) return varchar(arrayText(arrayElements(view)))
      throw new PostgresFault(
        '0A000',
        `A parameter of the type with oid ${oid} is not taken in binary form.`,
        'Send it as text.',
      )
  }
}

/** The elements of an array in binary form, as texts. Throws PostgresFault 22P03, 0A000. */
function arrayElements(view: DataView): (string | null)[] {
  const wrong = new PostgresFault('22P03', 'incorrect binary data format in bind parameter')
  const int32 = (at: number): number => {
    if (at + 4 > view.byteLength) throw wrong
    return view.getInt32(at)
  }
  const dimensions = int32(0)
  if (dimensions === 0) return []
  // An element that is an array would have its own elements without end.
  if (arrayOids.has(int32(8))) throw wrong
  if (dimensions !== 1) throw new PostgresFault('0A000', 'Arrays of arrays are not taken.')
  const [oid, elements]: [number, (string | null)[]] = [int32(8), []]
  let [at, characters] = [20, 0]
  for (let left = int32(12); left > 0; left--) {
    const length = int32(at)
    at += 4
    if (length > view.byteLength - at) throw wrong
    const bytes = length < 0 ? undefined : new Uint8Array(view.buffer, view.byteOffset + at, length)
    const text = bytes === undefined ? null : parameterOf(1, oid, 1, bytes).text
    elements.push(text)
    characters += text?.length ?? 0
    if (characters > charactersMost)
      throw new PostgresFault('54000', `more than ${charactersMost} characters in an array`)
    at += Math.max(length, 0)
  }
  if (at !== view.byteLength) throw wrong
  return elements
}

/** Digits to the base 10,000 as a decimal. Throws PostgresFault 22P03. */
function numericOf(view: DataView): string {
  const count = view.byteLength < 8 ? -1 : view.getUint16(0)
  if (view.byteLength !== 8 + 2 * count)
    throw new PostgresFault('22P03', 'incorrect binary data format in bind parameter')
  const [weight, sign, scale] = [view.getInt16(2), view.getUint16(4), view.getUint16(6)]
  if (sign !== 0 && sign !== 0x4000) return sign === 0xc000 ? 'NaN' : sign === 0xd000 ? 'Infinity' : '-Infinity'
  // Few bytes say many zeros.
  if (weight >= groupsMost || scale > 4 * groupsMost) throw new PostgresFault('22003', 'value overflows numeric format')
  const digit = (at: number): string => String(at < 0 || at >= count ? 0 : view.getInt16(8 + 2 * at)).padStart(4, '0')
  const whole = Array.from({ length: Math.max(weight + 1, 1) }, (_, at) => digit(weight < 0 ? -1 : at)).join('')
  const rest = Array.from({ length: Math.ceil(scale / 4) }, (_, at) => digit(weight + 1 + at)).join('')
  const decimals = scale === 0 ? '' : `.${rest.slice(0, scale)}`
  return `${sign === 0 ? '' : '-'}${whole.replace(/^0+(?=\d)/, '')}${decimals}`
}

const dayMicros = 86_400_000_000n

/** Microseconds of a day as `10:00:00.000000`; a day has ended at 24:00. */
function clock(micros: bigint): string {
  if (micros === dayMicros) return '24:00:00.000000'
  if (micros < 0n || micros > dayMicros) throw new PostgresFault('22008', 'time out of range')
  return instant(micros).slice(11)
}

/** Microseconds from 2000-01-01 on, as `2026-03-01 10:00:00.000000`. */
function instant(micros: bigint): string {
  const ms = Number(micros / 1000n - (micros % 1000n < 0n ? 1n : 0n))
  const rest = Number(((micros % 1000n) + 1000n) % 1000n)
  const at = new Date(epochMs + ms)
  if (Number.isNaN(at.getTime()) || at.getUTCFullYear() > 9999 || at.getUTCFullYear() < 1) {
    throw new PostgresFault(
      '22008',
      'A time outside of the years 1 to 9999 is not taken in binary form.',
      'Send it as text.',
    )
  }
  return `${at.toISOString().slice(0, 23).replace('T', ' ')}${String(rest).padStart(3, '0')}`
}

function invalid(type: string, text: string): PostgresFault {
  return new PostgresFault('22P02', `invalid input syntax for type ${type}: "${text.slice(0, 100)}"`)
}

const samples: Readonly<Record<number, string>> = {
  ...Object.fromEntries(Object.values(oids).map((oid) => [oid, '1'])),
  [oids.bytea]: '\\x',
  [date]: '2000-01-01',
  [time]: '00:00',
  [timestamp]: '2000-01-01 00:00',
  [timestamptz]: '2000-01-01 00:00+00',
  [interval]: '1 day',
  [numeric]: '1',
  [uuid]: '00000000-0000-0000-0000-000000000000',
  [jsonb]: 'null',
  ...Object.fromEntries([...arrayOids].map((oid) => [oid, '{}'])),
}

/** A value of a type, which stands for any; `other` where the type is a text or is not known. */
export function sampleOf(place: number, oid: number, other: string | undefined): Parameter {
  const text = samples[oid] ?? other
  return parameterOf(place, oid, 0, text === undefined ? undefined : utf8(text))
}

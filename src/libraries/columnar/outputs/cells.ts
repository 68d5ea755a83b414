// Text of the cells of a column, written straight into a buffer: what JSON and CSV print for each type. Numbers, times
// and bytes read as value-text.ts prints them (docs/spec/http.md §4); how text is quoted is the format's.

import { isPresent } from '../arrow/columns.ts'
import { int128At, longsOf, numbersOf, typedView } from '../arrow/numbers.ts'
import { assert, must } from '../../base/assert.ts'
import { decodeUtf8, utf8 } from '../../base/bytes.ts'
import { type Column, type DataType, noZone, type TimeUnit, unitsPerSecond } from '../../model/schema.ts'
import type { FileColumn } from './file-format.ts'
import type { ByteBuffer } from '../../base/byte-buffer.ts'
import {
  decimalText,
  float32Token,
  float64Token,
  nearbyDateText,
  stringToken,
  timestampNanosText,
} from './value-text.ts'

/** How a text format spells what JSON and CSV spell differently. */
export interface CellStyle {
  readonly null: string
  /** Of floats that are no numbers: NaN and infinities. */
  readonly notFinite: (value: number) => string
  /** Stands around times, decimals and bytes. */
  readonly quote: '"' | ''
  /** Writes the bytes [start, end) of a text. */
  readonly text: (out: ByteBuffer, bytes: Uint8Array, start: number, end: number) => void
  /** Writes JSON text. */
  readonly json: CellStyle['text']
}

/** Writes the cell of a row. */
export type CellWriter = (row: number) => void

/** The writer of the cells of `column`, nulls included. */
export function cellWriter(column: Column, facts: FileColumn, out: ByteBuffer, style: CellStyle): CellWriter {
  const write = valueWriter(column, facts, out, style)
  if (column.nullCount === 0) return write
  return (row) => {
    if (isPresent(column, row)) write(row)
    else out.ascii(style.null)
  }
}

function valueWriter(column: Column, { type, means }: FileColumn, out: ByteBuffer, style: CellStyle): CellWriter {
  switch (type.kind) {
    case 'Bool':
      return (row) => out.ascii((((column.values[row >> 3] ?? 0) >> (row & 7)) & 1) === 1 ? 'true' : 'false')
    case 'String':
      return bytesWriter(column, out, means === 'json' ? style.json : style.text)
    case 'Binary':
      return bytesWriter(column, out, (_, bytes, start, end) => {
        // None are not nothing, which a null is.
        if (start === end) return style.text(out, bytes, start, end)
        out.ascii(style.quote)
        writeHex(out, bytes, start, end)
        out.ascii(style.quote)
      })
    case 'Float32': {
      const values = typedView(Float32Array, column.values)
      return (row) => writeFloat(out, values[row] ?? 0, float32Token, style)
    }
    case 'Float64': {
      const values = typedView(Float64Array, column.values)
      return (row) => {
        const value = values[row] ?? 0
        if (!writeShortDecimal(out, value, 1)) writeFloat(out, value, float64Token, style)
      }
    }
    case 'Decimal':
      return means === 'integer'
        ? decimalWriter(column, type.scale, out)
        : quoted(out, style, decimalWriter(column, type.scale, out))
    case 'Date': {
      const days = typedView(Int32Array, column.values)
      return quoted(out, style, (row) => out.ascii(nearbyDateText(days[row] ?? 0)))
    }
    case 'Time':
      return quoted(out, style, timeWriter(column, type.unit ?? 'Millisecond', out))
    case 'Timestamp': {
      const zone = (type.timezone ?? noZone) === noZone ? '' : 'Z'
      return quoted(out, style, timestampWriter(column, type.unit ?? 'Millisecond', zone, out))
    }
    default:
      return integerWriter(column, type, out)
  }
}

function quoted(out: ByteBuffer, { quote: around }: CellStyle, write: CellWriter): CellWriter {
  if (around === '') return write
  return (row) => {
    out.byte(quote)
    write(row)
    out.byte(quote)
  }
}

function bytesWriter({ values, offsets }: Column, out: ByteBuffer, write: CellStyle['text']): CellWriter {
  const cuts = must(offsets, 'offsets of a variable column')
  return (row) => write(out, values, cuts[row] ?? 0, cuts[row + 1] ?? 0)
}

const hexCodes = new TextEncoder().encode('0123456789abcdef')

export function writeHex(out: ByteBuffer, bytes: Uint8Array, start: number, end: number): void {
  out.reserve(2 * (end - start))
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0
    out.byte(hexCodes[byte >> 4] ?? 0)
    out.byte(hexCodes[byte & 15] ?? 0)
  }
}

function writeFloat(out: ByteBuffer, value: number, token: (value: number) => string, style: CellStyle): void {
  out.ascii(Number.isFinite(value) ? token(value) : style.notFinite(value))
}

const powers = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7] as const
/** Any two decimals of up to 15 digits are different doubles: the one that a double was made of is its shortest text. */
const mostScaled = 1e15

/** Writes a number that is a decimal of few digits, as most measured numbers are, with so many places at least; false where it is none. */
export function writeShortDecimal(out: ByteBuffer, value: number, leastPlaces: 0 | 1): boolean {
  const magnitude = value < 0 ? -value : value
  if (!(magnitude >= 1e-5 && magnitude < mostScaled)) return false // the token has an exponent, and zero a sign
  // What has more than seven places has them for any power.
  if (magnitude < 1e8 && Math.round(magnitude * 1e7) / 1e7 !== magnitude) return false
  for (let places = 0; places < powers.length; places++) {
    const power = powers[places] ?? 1
    const scaled = Math.round(magnitude * power)
    if (scaled >= mostScaled) return false
    if (scaled / power !== magnitude) continue
    if (value < 0) out.byte(minus)
    const whole = Math.floor(scaled / power)
    out.integer(whole)
    if (places + leastPlaces === 0) return true
    out.byte(point)
    out.padded(scaled - whole * power, Math.max(1, places))
    return true
  }
  return false
}

const [minus, point] = [0x2d, 0x2e]

function integerWriter(column: Column, { kind }: DataType, out: ByteBuffer): CellWriter {
  const numbers = numbersOf(column)
  if (numbers !== undefined) return (row) => out.integer(numbers[row] ?? 0)
  assert(kind === 'Int64' || kind === 'UInt64', 'a column of text formats has a type that they print')
  const longs = longWords(column)
  return (row) => {
    const value = longs.small(row)
    if (value !== undefined) out.integer(value)
    else out.ascii(String(longs.big(row)))
  }
}

/** 64-bit integers: as plain numbers where those are exact, which is nearly always and much faster. */
interface Longs {
  readonly small: (row: number) => number | undefined
  readonly big: (row: number) => bigint
}

function longWords(column: Column): Longs {
  const isUnsigned = column.type.kind === 'UInt64'
  const words = typedView(Int32Array, column.values)
  const bigs = longsOf(column)
  const small = (row: number): number | undefined => {
    const high = words[2 * row + 1] ?? 0
    if (high >= 0x200000 || high < (isUnsigned ? 0 : -0x1fffff)) return undefined
    return high * 2 ** 32 + ((words[2 * row] ?? 0) >>> 0)
  }
  return { small, big: (row) => bigs[row] ?? 0n }
}

function decimalWriter(column: Column, scale: number, out: ByteBuffer): CellWriter {
  const words = typedView(Int32Array, column.values)
  const longs = longsOf(column)
  return (row) => {
    const at = 4 * row
    const high = words[at + 1] ?? 0
    const isSmall = high < 0x200000 && high >= -0x1fffff && words[at + 2] === high >> 31 && words[at + 3] === high >> 31
    if (isSmall) writeScaled(out, high * 2 ** 32 + ((words[at] ?? 0) >>> 0), scale)
    else out.ascii(decimalText(int128At(longs, row), scale))
  }
}

function writeScaled(out: ByteBuffer, scaled: number, scale: number): void {
  if (scale === 0) return out.integer(scaled)
  if (scale > 9) return out.ascii(decimalText(BigInt(scaled), scale))
  const magnitude = Math.abs(scaled)
  const fraction = magnitude % 10 ** scale
  if (scaled < 0) out.byte(minus)
  out.integer((magnitude - fraction) / 10 ** scale)
  out.byte(point)
  out.padded(fraction, scale)
}

/** Times of day of the engine: in units of which a day has fewer than 2^53. */
function timeWriter(column: Column, unit: TimeUnit, out: ByteBuffer): CellWriter {
  const longs = longWords(column)
  return (row) => writeTime(out, must(longs.small(row), 'a time of day is a safe integer'), unitsPerSecond[unit])
}

function timestampWriter(column: Column, unit: TimeUnit, zone: 'Z' | '', out: ByteBuffer): CellWriter {
  const units = unitsPerSecond[unit]
  const perDay = 86_400 * units
  const longs = longWords(column)
  return (row) => {
    const count = longs.small(row)
    if (count === undefined) out.ascii(timestampNanosText(longs.big(row) * BigInt(1e9 / units)))
    else {
      const days = Math.floor(count / perDay)
      out.ascii(nearbyDateText(days))
      out.byte(0x54)
      writeTime(out, count - days * perDay, units)
    }
    out.ascii(zone)
  }
}

/** `21:50:00.120`: fraction of 0, 3, 6 or 9 digits as the value needs. */
function writeTime(out: ByteBuffer, inDay: number, units: number): void {
  const seconds = Math.floor(inDay / units)
  const nanos = (inDay - seconds * units) * (1e9 / units)
  const minutes = Math.floor(seconds / 60)
  out.padded(Math.floor(minutes / 60), 2)
  out.byte(0x3a)
  out.padded(minutes % 60, 2)
  out.byte(0x3a)
  out.padded(seconds % 60, 2)
  if (nanos === 0) return
  out.byte(0x2e)
  if (nanos % 1e6 === 0) out.padded(nanos / 1e6, 3)
  else if (nanos % 1e3 === 0) out.padded(nanos / 1e3, 6)
  else out.padded(nanos, 9)
}

const [quote, backslash, space, del] = [0x22, 0x5c, 0x20, 0x7f]

/** How `JSON.stringify` writes each byte that does not stand for itself. */
const escapes: readonly (Uint8Array | undefined)[] = Array.from({ length: 128 }, (_, code) => {
  const token = JSON.stringify(String.fromCharCode(code))
  return token.length === 3 ? undefined : utf8(token.slice(1, -1))
})

/** A JSON string of UTF-8 text. */
export function writeJsonString(out: ByteBuffer, bytes: Uint8Array, start: number, end: number): void {
  out.reserve(end - start + 2)
  const target = out.bytes
  let { at } = out
  target[at++] = quote
  let i = start
  for (; i < end; i++) {
    const byte = bytes[i] ?? 0
    if (byte < space || byte === quote || byte === backslash) break
    target[at++] = byte
  }
  out.at = at
  for (; i < end; i++) {
    const byte = bytes[i] ?? 0
    const escape = byte < 128 ? escapes[byte] : undefined
    if (escape === undefined) out.byte(byte)
    else out.raw(escape)
  }
  out.byte(quote)
}

export const jsonStyle: CellStyle = {
  null: 'null',
  // JSON has no others.
  notFinite: () => 'null',
  quote: '"',
  text: writeJsonString,
  json: (out, bytes, start, end) => out.raw(bytes, start, end),
}

/** As `writeJsonString`, with all from U+007F on as `\\uxxxx`. */
function writeAsciiString(out: ByteBuffer, bytes: Uint8Array, start: number, end: number): void {
  let at = start
  for (; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (byte < space || byte === quote || byte === backslash || byte >= del) break
  }
  if (at === end) {
    out.byte(quote)
    out.raw(bytes, start, end)
    out.byte(quote)
    return
  }
  while (at < end && (bytes[at] ?? 0) < del) at++
  if (at === end) writeJsonString(out, bytes, start, end)
  else out.ascii(stringToken(decodeUtf8(bytes.subarray(start, end)), true))
}

/** JSON as proofs have it. */
export const asciiStyle: CellStyle = { ...jsonStyle, text: writeAsciiString }

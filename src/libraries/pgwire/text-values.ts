// Values as text, as PostgreSQL prints them with DateStyle ISO, IntervalStyle postgres, bytea_output hex and the time zone UTC.
// Source: PostgreSQL's datetime.c (EncodeDateTime, EncodeInterval)

import { must } from '../base/assert.ts'
import type { ByteBuffer } from '../base/byte-buffer.ts'
import { decodeUtf8 } from '../base/bytes.ts'
import { NodeError } from '../base/errors.ts'
import { bitAt } from '../columnar/arrow/buffers.ts'
import { longsOf, numbersOf, typedView } from '../columnar/arrow/numbers.ts'
import { cellWriter, writeHex } from '../columnar/outputs/cells.ts'
import { styleOf } from '../columnar/outputs/csv/format.ts'
import type { FileColumn } from '../columnar/outputs/file-format.ts'
import { nearbyDateText } from '../columnar/outputs/value-text.ts'
import { type Column, type TimeUnit, unitsPerSecond } from '../model/schema.ts'
import { writeFloat4, writeFloat8 } from './floats.ts'
import { pgTypeOf } from './types.ts'

/** Writes the value of a row, which has one. */
export type ValueWriter = (row: number) => void

/** The writer of the text of values. Throws NodeError `SqlValue` for text with a NUL, which PostgreSQL has not. */
export function textWriter(column: Column, facts: FileColumn, out: ByteBuffer): ValueWriter {
  const { values } = column
  switch (pgTypeOf(facts).name) {
    case 'bool':
      return (row) => out.byte(bitAt(values, row) ? 0x74 : 0x66)
    case 'bytea':
      return hexWriter(column, out)
    case 'float4': {
      const floats = typedView(Float32Array, values)
      return (row) => writeFloat4(out, floats[row] ?? 0)
    }
    case 'float8': {
      const floats = typedView(Float64Array, values)
      return (row) => writeFloat8(out, floats[row] ?? 0)
    }
    case 'date': {
      const days = typedView(Int32Array, values)
      return (row) => {
        if (writeDay(out, days[row] ?? 0) === 'before Christ') out.ascii(eraText)
      }
    }
    case 'interval': {
      const text = textsOf(column)
      return (row) => out.ascii(intervalText(intervalParts(text(row))))
    }
    default:
      return otherWriter(column, facts, out)
  }
}

/** Times, texts, and numbers, which CSV has as PostgreSQL has them. */
function otherWriter(column: Column, facts: FileColumn, out: ByteBuffer): ValueWriter {
  const { type } = column
  if (type.kind === 'Time') {
    const units = unitsPerSecond[type.unit ?? 'Millisecond']
    const count = countsOf(column)
    return (row) => writeTime(out, count(row) ?? 0, units)
  }
  if (type.kind === 'Timestamp') {
    return timestampWriter(column, type.unit ?? 'Millisecond', pgTypeOf(facts).name === 'timestamptz', out)
  }
  return type.kind === 'String' ? bytesWriter(column, out) : cellWriter(column, facts, out, plainNumbers)
}

const plainNumbers = styleOf(() => {})

/** The bytes of texts as they are. Throws NodeError `SqlValue` for a NUL. */
export function bytesWriter({ name, type, values, offsets }: Column, out: ByteBuffer): ValueWriter {
  if (type.kind === 'String' && values.includes(0)) {
    throw new NodeError(
      'SqlValue',
      `A text of the column ${JSON.stringify(name)} has a NUL, which PostgreSQL's have not.`,
      {
        hint: 'Use replace(…, chr(0), …), or encode(…) for bytes.',
      },
    )
  }
  const cuts = must(offsets, 'offsets of a variable column')
  return (row) => out.raw(values, cuts[row] ?? 0, cuts[row + 1] ?? 0)
}

/** The texts of a column of ASCII. */
export function textsOf({ values, offsets }: Column): (row: number) => string {
  const cuts = must(offsets, 'offsets of a variable column')
  return (row) => decodeUtf8(values.subarray(cuts[row], cuts[row + 1]))
}

function hexWriter({ values, offsets }: Column, out: ByteBuffer): ValueWriter {
  const cuts = must(offsets, 'offsets of a variable column')
  return (row) => {
    const end = cuts[row + 1] ?? 0
    const start = cuts[row] ?? 0
    out.ascii('\\x')
    writeHex(out, values, start, end)
  }
}

/** Integers of 32 or 64 bits as plain numbers; undefined where those are not exact. */
export function countsOf(column: Column): (row: number) => number | undefined {
  const numbers = numbersOf(column)
  if (numbers !== undefined) return (row) => numbers[row]
  const words = typedView(Int32Array, column.values)
  return (row) => {
    const high = words[2 * row + 1] ?? 0
    if (high >= 0x200000 || high < -0x1fffff) return undefined
    return high * 2 ** 32 + ((words[2 * row] ?? 0) >>> 0)
  }
}

function timestampWriter(column: Column, unit: TimeUnit, hasZone: boolean, out: ByteBuffer): ValueWriter {
  const units = unitsPerSecond[unit]
  const perDay = 86_400 * units
  const count = countsOf(column)
  const longs = longsOf(column)
  const write = (days: number, inDay: number): void => {
    const era = writeDay(out, days)
    out.byte(0x20)
    writeTime(out, inDay, units)
    if (hasZone) out.ascii('+00')
    if (era === 'before Christ') out.ascii(eraText)
  }
  return (row) => {
    const exact = count(row)
    if (exact !== undefined) {
      const days = Math.floor(exact / perDay)
      return write(days, exact - days * perDay)
    }
    const long = longs[row] ?? 0n
    const rest = long % BigInt(perDay)
    const inDay = Number(rest) + (rest < 0n ? perDay : 0)
    write(Number((long - BigInt(inDay)) / BigInt(perDay)), inDay)
  }
}

const eraText = ' BC'

/** Writes a day without its era, which stands at the end of a timestamp. The year before 1 is 1 BC. */
function writeDay(out: ByteBuffer, days: number): 'of our time' | 'before Christ' {
  const text = nearbyDateText(days)
  if (text.startsWith('-') || text.startsWith('0000-')) {
    const at = text.indexOf('-', 1)
    out.ascii(String(1 - Number(text.slice(0, at))).padStart(4, '0'))
    out.ascii(text.slice(at))
    return 'before Christ'
  }
  out.ascii(text.startsWith('+') ? text.slice(1) : text)
  return 'of our time'
}

/** `21:50:00.12` of so many units of a second; zeros at the end of the fraction are left out. */
function writeTime(out: ByteBuffer, count: number, units: number): void {
  const seconds = Math.floor(count / units)
  const minutes = Math.floor(seconds / 60)
  out.padded(Math.floor(minutes / 60), 2)
  out.byte(0x3a)
  out.padded(minutes % 60, 2)
  out.byte(0x3a)
  out.padded(seconds % 60, 2)
  const fraction = count - seconds * units
  if (fraction === 0) return
  out.byte(0x2e)
  out.padded(fraction, Math.round(Math.log10(units)))
  while (out.bytes[out.at - 1] === 0x30) out.at--
}

export interface IntervalParts {
  readonly months: number
  readonly days: number
  readonly micros: bigint
}

const intervalForm = /^P(?:(-?\d+)M)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?)(\d+)(?:\.(\d{1,6}))?S)?)?$/

/** The parts of what `intervalText` of value-text.ts prints. */
export function intervalParts(text: string): IntervalParts {
  const found = must(intervalForm.exec(text) ?? undefined, 'the engine hands over intervals as durations')
  const [, months = '0', days = '0', hours = '0', minutes = '0', sign = '', seconds = '0', fraction = ''] = found
  const inSecond = BigInt(sign + seconds + fraction.padEnd(6, '0'))
  const micros = BigInt(hours) * 3_600_000_000n + BigInt(minutes) * 60_000_000n + inSecond
  return { months: Number(months), days: Number(days), micros }
}

/** `1 year 2 mons -3 days +04:05:06.789`: a sign where the part before has another. */
function intervalText({ months, days, micros }: IntervalParts): string {
  const parts: string[] = []
  let isBefore = false
  const years = Math.trunc(months / 12)
  for (const [count, unit] of [
    [years, 'year'],
    [months - 12 * years, 'mon'],
    [days, 'day'],
  ] as const) {
    if (count === 0) continue
    parts.push(`${isBefore && count > 0 ? '+' : ''}${count} ${unit}${count === 1 ? '' : 's'}`)
    isBefore = count < 0
  }
  if (parts.length > 0 && micros === 0n) return parts.join(' ')
  const magnitude = micros < 0n ? -micros : micros
  const seconds = magnitude / 1_000_000n
  const [hours, minutes] = [seconds / 3600n, (seconds / 60n) % 60n]
  const two = (value: bigint): string => String(value).padStart(2, '0')
  const fraction = String(magnitude % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  const sign = micros < 0n ? '-' : isBefore ? '+' : ''
  parts.push(`${sign}${two(hours)}:${two(minutes)}:${two(seconds % 60n)}${fraction === '' ? '' : `.${fraction}`}`)
  return parts.join(' ')
}

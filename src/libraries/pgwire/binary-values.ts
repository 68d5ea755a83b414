// Values in binary form, in network order, as the receive functions of PostgreSQL read them. Times are counted from 2000-01-01.
// Source: PostgreSQL's numeric.c (numeric_recv), timestamp.c, date.c, jsonb.c, timestamp.h

import { must } from '../base/assert.ts'
import type { ByteBuffer } from '../base/byte-buffer.ts'
import { NodeError } from '../base/errors.ts'
import { bitAt } from '../columnar/arrow/buffers.ts'
import { int128At, longsOf, numbersOf, typedView } from '../columnar/arrow/numbers.ts'
import { fixedWidth } from '../columnar/arrow/columns.ts'
import type { FileColumn } from '../columnar/outputs/file-format.ts'
import { type Column, unitsPerSecond } from '../model/schema.ts'
import { hexValue } from '../base/bytes.ts'
import { putInt16, putInt32, putInt64 } from './integers.ts'
import { bytesWriter, countsOf, intervalParts, textsOf, textWriter, type ValueWriter } from './text-values.ts'
import { pgTypeOf } from './types.ts'

/** The writer of values in binary form. It throws NodeError `SqlValue` at a date or time that PostgreSQL cannot hold. */
export function binaryWriter(column: Column, facts: FileColumn, out: ByteBuffer): ValueWriter {
  const { values } = column
  const { name, type } = pgTypeOf(facts)
  switch (name) {
    case 'bool':
      return (row) => out.byte(bitAt(values, row) ? 1 : 0)
    case 'int2':
    case 'int4':
    case 'int8':
    case 'float4':
    case 'float8':
      return numberWriter(column, type.length, out)
    case 'numeric':
      return numericWriter(column, out)
    case 'date': {
      const days = typedView(Int32Array, values)
      return (row) => putInt32(out, dayOf(days[row] ?? 0))
    }
    case 'time': {
      const factor = 1e6 / unitsPerSecond[column.type.kind === 'Time' ? (column.type.unit ?? 'Millisecond') : 'Second']
      const count = countsOf(column)
      return (row) => putInt64(out, (count(row) ?? 0) * factor)
    }
    case 'timestamp':
    case 'timestamptz':
      return timestampWriter(column, out)
    case 'bytea':
      return bytesWriter(column, out)
    case 'jsonb': {
      const write = bytesWriter(column, out)
      return (row) => {
        out.byte(1)
        write(row)
      }
    }
    case 'text':
      return textWriter(column, facts, out)
    default:
      return parsedWriter(column, name, out)
  }
}

/** Types that the engine has as text. */
function parsedWriter(column: Column, name: 'interval' | 'timetz' | 'uuid', out: ByteBuffer): ValueWriter {
  if (name === 'uuid') return uuidWriter(column, out)
  const text = textsOf(column)
  if (name === 'timetz') return (row) => putZonedTime(out, text(row))
  return (row) => {
    const { months, days, micros } = intervalParts(text(row))
    putLong(out, micros)
    putInt32(out, days)
    putInt32(out, months)
  }
}

function putLong(out: ByteBuffer, value: bigint): void {
  putInt32(out, Number(value >> 32n))
  putInt32(out, Number(BigInt.asIntN(32, value)))
}

/** The bytes of a value the other way round, or a number that is widened. */
function numberWriter(column: Column, size: number, out: ByteBuffer): ValueWriter {
  const { values } = column
  const width = must(fixedWidth(column.type), 'numbers have a width')
  if (width === size) {
    return (row) => {
      out.reserve(size)
      const { bytes } = out
      for (let from = (row + 1) * size - 1; from >= row * size; from--) bytes[out.at++] = values[from] ?? 0
    }
  }
  const numbers = must(numbersOf(column), 'a number that is widened has at most 32 bits')
  if (size === 2) return (row) => putInt16(out, numbers[row] ?? 0)
  if (size === 4) return (row) => putInt32(out, numbers[row] ?? 0)
  return (row) => putInt64(out, numbers[row] ?? 0)
}

/** Days and microseconds from 1970 to 2000. */
const epochDays = 10_957
const epochMicros = 946_684_800_000_000
/** From 4714-11-24 BC, day 0 of astronomers, to 5874897-12-31 and to the end of 294276; from 2000 on. */
const [firstDay, endDay] = [-2_451_545, 2_145_031_949]
const [firstMicro, endMicro] = [-211_813_488_000_000_000n, 9_223_371_331_200_000_000n]

function dayOf(days: number): number {
  const day = days - epochDays
  if (day < firstDay || day >= endDay) throw beyond('date', '4714-11-24 BC to 5874897-12-31')
  return day
}

function timestampWriter(column: Column, out: ByteBuffer): ValueWriter {
  const factor = 1e6 / unitsPerSecond[column.type.kind === 'Timestamp' ? (column.type.unit ?? 'Millisecond') : 'Second']
  const count = countsOf(column)
  const longs = longsOf(column)
  return (row) => {
    const micros = (count(row) ?? Number.NaN) * factor - epochMicros
    if (Number.isSafeInteger(micros)) return putInt64(out, micros)
    const exact = BigInt.asIntN(64, longs[row] ?? 0n) * BigInt(factor) - BigInt(epochMicros)
    if (exact < firstMicro || exact >= endMicro) throw beyond('timestamp', '4714-11-24 BC to 294276-12-31')
    putLong(out, exact)
  }
}

function beyond(what: string, range: string): NodeError {
  return new NodeError('SqlValue', `A ${what} is beyond what PostgreSQL holds, which is ${range}.`, {
    hint: 'Cast it to VARCHAR, or ask for text instead of the binary form.',
  })
}

function uuidWriter({ values, offsets }: Column, out: ByteBuffer): ValueWriter {
  const cuts = must(offsets, 'offsets of a variable column')
  return (row) => {
    let half = -1
    for (let from = cuts[row] ?? 0; from < (cuts[row + 1] ?? 0); from++) {
      const digit = hexValue(values[from] ?? 0)
      if (digit < 0) continue
      if (half >= 0) out.byte(16 * half + digit)
      half = half < 0 ? digit : -1
    }
  }
}

const zonedTime = /^(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?$/

/** Microseconds of the clock, and seconds west of Greenwich. */
function putZonedTime(out: ByteBuffer, text: string): void {
  const found = must(zonedTime.exec(text) ?? undefined, 'the engine hands over times with a zone as clocks show them')
  const [, hour, minute, second, fraction = '', sign, hours, minutes = 0, seconds = 0] = found
  const inDay = Number(hour) * 3600 + Number(minute) * 60 + Number(second)
  const east = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  putInt64(out, inDay * 1e6 + Number(fraction.padEnd(6, '0')))
  putInt32(out, sign === '-' ? east : -east)
}

const base = 10_000
const mostGroups = 11

/** A numeric: digits of base 10,000 without zeros at either end, the weight of the first, the sign, the digits after the point. */
function numericWriter(column: Column, out: ByteBuffer): ValueWriter {
  const { type } = column
  const scale = type.kind === 'Decimal' ? type.scale : 0
  const isLong = type.kind === 'UInt64'
  const longs = longsOf(column)
  const words = typedView(Int32Array, column.values)
  const fractions = Math.ceil(scale / 4)
  const shift = 10 ** (4 * fractions - scale)
  const groups = new Int16Array(mostGroups)
  return (row) => {
    const at = isLong ? 2 * row : 4 * row
    const [low, high] = [(words[at] ?? 0) >>> 0, words[at + 1] ?? 0]
    const isSmall = isLong || (words[at + 2] === high >> 31 && words[at + 3] === high >> 31)
    const scaled = (high * 2 ** 32 + low) * shift
    if (isSmall && high >= (isLong ? 0 : -0x1fffff) && Number.isSafeInteger(scaled)) {
      let count = 0
      let rest = Math.abs(scaled)
      for (; rest > 0; count++) {
        const next = Math.floor(rest / base)
        groups[count] = rest - next * base
        rest = next
      }
      return putNumeric(out, groups, count, { fractions, scale, isNegative: scaled < 0 })
    }
    const value = (isLong ? BigInt.asUintN(64, longs[row] ?? 0n) : int128At(longs, row)) * BigInt(shift)
    let count = 0
    for (let rest = value < 0n ? -value : value; rest > 0n; rest /= 10_000n) groups[count++] = Number(rest % 10_000n)
    putNumeric(out, groups, count, { fractions, scale, isNegative: value < 0n })
  }
}

interface NumericForm {
  /** Groups of digits after the point. */
  readonly fractions: number
  readonly scale: number
  readonly isNegative: boolean
}

/** `count` groups, the lowest first. */
function putNumeric(out: ByteBuffer, groups: Int16Array, count: number, form: NumericForm): void {
  let lowest = 0
  while (lowest < count && groups[lowest] === 0) lowest++
  putInt16(out, count - lowest)
  putInt16(out, count === 0 ? 0 : count - form.fractions - 1)
  putInt16(out, form.isNegative ? 0x4000 : 0)
  putInt16(out, form.scale)
  for (let at = count - 1; at >= lowest; at--) putInt16(out, groups[at] ?? 0)
}

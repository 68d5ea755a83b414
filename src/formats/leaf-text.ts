// Numbers, days and times inside of structs, lists and maps as JSON tokens: as answers print them (outputs/value-text.ts).

import { must } from '../lib/assert.ts'
import { DecodeError } from '../model/errors.ts'
import type { Column, TimeUnit } from '../model/schema.ts'
import {
  dateText,
  decimalText,
  float32Token,
  float64Token,
  timeNanosText,
  timestampMicrosText,
  timestampNanosText,
} from '../outputs/value-text.ts'

const unitNanos: Readonly<Record<TimeUnit, bigint>> = {
  Second: 1_000_000_000n,
  Millisecond: 1_000_000n,
  Microsecond: 1000n,
  Nanosecond: 1n,
}
const dayNanos = 86_400_000_000_000n

/** Makes the token of the value at a row. */
export type LeafText = (row: number) => string

/** The printer of values of fixed width, which lie as in a column. It throws DecodeError for a time of day that does not exist. */
export function fixedText({ type, values }: Pick<Column, 'type' | 'values'>): LeafText {
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength)
  switch (type.kind) {
    case 'Int8':
      return (row) => String(view.getInt8(row))
    case 'UInt8':
      return (row) => String(view.getUint8(row))
    case 'Int16':
      return (row) => String(view.getInt16(2 * row, true))
    case 'UInt16':
      return (row) => String(view.getUint16(2 * row, true))
    case 'Int32':
      return (row) => String(view.getInt32(4 * row, true))
    case 'UInt32':
      return (row) => String(view.getUint32(4 * row, true))
    case 'Int64':
      return (row) => String(view.getBigInt64(8 * row, true))
    case 'UInt64':
      return (row) => String(view.getBigUint64(8 * row, true))
    case 'Float32':
      return (row) => float32Token(view.getFloat32(4 * row, true))
    case 'Float64':
      return (row) => float64Token(view.getFloat64(8 * row, true))
    case 'Date':
      return (row) => `"${dateText(view.getInt32(4 * row, true))}"`
    case 'Decimal':
      return (row) => `"${decimalText(int128(view, 16 * row), type.scale)}"`
    case 'Time':
      return timeText(view, type.unit ?? 'Millisecond')
    case 'Timestamp':
      return timestampText(view, type.unit ?? 'Millisecond', type.timezone === undefined ? '' : 'Z')
    default:
      return must<LeafText>(undefined, `a type of fixed width, not ${type.kind}`)
  }
}

function int128(view: DataView, at: number): bigint {
  return view.getBigUint64(at, true) | (view.getBigInt64(at + 8, true) << 64n)
}

function timeText(view: DataView, unit: TimeUnit): LeafText {
  const nanos = unitNanos[unit]
  return unit === 'Nanosecond' || unit === 'Microsecond'
    ? (row) => timeToken(view.getBigInt64(8 * row, true) * nanos)
    : (row) => timeToken(BigInt(view.getInt32(4 * row, true)) * nanos)
}

function timeToken(nanos: bigint): string {
  if (nanos < 0n || nanos > dayNanos) throw new DecodeError('value', 'has a time of day that does not exist')
  return `"${timeNanosText(nanos)}"`
}

function timestampText(view: DataView, unit: TimeUnit, zone: string): LeafText {
  if (unit === 'Nanosecond') return (row) => `"${timestampNanosText(view.getBigInt64(8 * row, true))}${zone}"`
  const micros = unitNanos[unit] / 1000n
  return (row) => `"${timestampMicrosText(view.getBigInt64(8 * row, true) * micros)}${zone}"`
}

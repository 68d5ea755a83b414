// A value inside of a struct, list or map as a JSON token, as our JSON output prints values of its type.

import { must } from '../../lib/assert.ts'
import type { DataType, TimeUnit } from '../../model/schema.ts'
import { dateText, float32Token, float64Token, timeNanosText, timestampNanosText } from '../../outputs/value-text.ts'
import { damaged } from './faults.ts'

const unitNanos: Readonly<Record<TimeUnit, bigint>> = {
  Second: 1_000_000_000n,
  Millisecond: 1_000_000n,
  Microsecond: 1_000n,
  Nanosecond: 1n,
}
const dayNanos = 86_400_000_000_000n

/** The token of the value in `row` of fixed-width values that lie as in our columns, decimals apart. */
export function leafText(type: DataType, view: DataView, row: number): string {
  switch (type.kind) {
    case 'Float32':
      return float32Token(view.getFloat32(4 * row, true))
    case 'Float64':
      return float64Token(view.getFloat64(8 * row, true))
    case 'Date':
      return `"${dateText(view.getInt32(4 * row, true))}"`
    case 'Time': {
      const nanos = timeOf(type.unit ?? 'Millisecond', view, row)
      if (nanos < 0n || nanos > dayNanos) return damaged('has a time of day that does not exist')
      return `"${timeNanosText(nanos)}"`
    }
    case 'Timestamp': {
      const nanos = view.getBigInt64(8 * row, true) * unitNanos[type.unit ?? 'Millisecond']
      return `"${timestampNanosText(nanos)}${type.timezone === undefined ? '' : 'Z'}"`
    }
    default:
      return integerText(type, view, row)
  }
}

function timeOf(unit: TimeUnit, view: DataView, row: number): bigint {
  const isShort = unit === 'Second' || unit === 'Millisecond'
  return (isShort ? BigInt(view.getInt32(4 * row, true)) : view.getBigInt64(8 * row, true)) * unitNanos[unit]
}

const integerTexts: Readonly<Partial<Record<DataType['kind'], (view: DataView, row: number) => string>>> = {
  Int8: (view, row) => String(view.getInt8(row)),
  UInt8: (view, row) => String(view.getUint8(row)),
  Int16: (view, row) => String(view.getInt16(2 * row, true)),
  UInt16: (view, row) => String(view.getUint16(2 * row, true)),
  Int32: (view, row) => String(view.getInt32(4 * row, true)),
  UInt32: (view, row) => String(view.getUint32(4 * row, true)),
  Int64: (view, row) => String(view.getBigInt64(8 * row, true)),
  UInt64: (view, row) => String(view.getBigUint64(8 * row, true)),
}

function integerText({ kind }: DataType, view: DataView, row: number): string {
  return must(integerTexts[kind], 'an integer type')(view, row)
}

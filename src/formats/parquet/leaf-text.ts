// Single values inside of structs, lists and maps as JSON text: as answers print them (outputs/value-text.ts).

import { decodeUtf8, toHex } from '../../lib/bytes.ts'
import type { Column } from '../../model/schema.ts'
import {
  dateText,
  decimalText,
  float32Token,
  float64Token,
  stringToken,
  timeNanosText,
  timestampMicrosText,
  timestampNanosText,
} from '../../outputs/value-text.ts'
import { damaged } from '../../parquet/refusals.ts'

const dayNanos = 86_400_000_000_000n

/** Makes the token of the value at a row. */
export type LeafText = (row: number) => string

/** The printer of the values of `column`, which has no nulls; booleans in it are a byte each. */
export function leafText({ type, values, offsets }: Column): LeafText {
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength)
  switch (type.kind) {
    case 'Bool':
      return (row) => (values[row] === 1 ? 'true' : 'false')
    case 'String':
      return (row) => stringToken(text(values.subarray(offsets?.[row], offsets?.[row + 1])), false)
    case 'Binary':
      return (row) => `"${toHex(values.subarray(offsets?.[row], offsets?.[row + 1]))}"`
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
      return timeText(view, type.unit)
    case 'Timestamp':
      return timestampText(view, type.unit, type.timezone === undefined ? '' : 'Z')
    case 'Null':
      return () => 'null'
    default:
      return damaged(`has values of a type that no column has (${type.kind})`)
  }
}

function text(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch (error) {
    if (error instanceof TypeError) return damaged('has text that is not UTF-8')
    throw error
  }
}

function int128(view: DataView, at: number): bigint {
  return view.getBigUint64(at, true) | (view.getBigInt64(at + 8, true) << 64n)
}

function timeText(view: DataView, unit: string | undefined): LeafText {
  switch (unit) {
    case 'Nanosecond':
      return (row) => timeToken(view.getBigInt64(8 * row, true))
    case 'Microsecond':
      return (row) => timeToken(view.getBigInt64(8 * row, true) * 1000n)
    default:
      return (row) => timeToken(BigInt(view.getInt32(4 * row, true)) * 1_000_000n)
  }
}

function timeToken(nanos: bigint): string {
  if (nanos < 0n || nanos > dayNanos) return damaged('has a time of day that does not exist')
  return `"${timeNanosText(nanos)}"`
}

function timestampText(view: DataView, unit: string | undefined, zone: string): LeafText {
  switch (unit) {
    case 'Nanosecond':
      return (row) => `"${timestampNanosText(view.getBigInt64(8 * row, true))}${zone}"`
    case 'Microsecond':
      return (row) => `"${timestampMicrosText(view.getBigInt64(8 * row, true))}${zone}"`
    default:
      return (row) => `"${timestampMicrosText(view.getBigInt64(8 * row, true) * 1000n)}${zone}"`
  }
}

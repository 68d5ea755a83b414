// Numbers, days and times inside of structs, lists and maps as JSON tokens: as answers print them (libraries/columnar/outputs/value-text.ts).

import { int128At, longsOf, numbersOf } from '../arrow/numbers.ts'
import { DecodeError } from '../../base/errors.ts'
import { type Column, unitNanos } from '../../model/schema.ts'
import {
  dateText,
  decimalText,
  float32Token,
  float64Token,
  timeNanosText,
  timestampMicrosText,
  timestampNanosText,
} from './value-text.ts'

const dayNanos = 86_400_000_000_000n

/** Makes the token of the value at a row. */
export type LeafText = (row: number) => string

/** The printer of values of fixed width, which lie as in a column. It throws DecodeError for a time of day that does not exist. */
export function fixedText(column: Pick<Column, 'type' | 'values'>): LeafText {
  const { type } = column
  const numbers = numbersOf(column)
  const longs = numbers === undefined ? longsOf(column) : new BigInt64Array(0)
  const number = (row: number): number => numbers?.[row] ?? 0
  const long = (row: number): bigint => longs[row] ?? 0n
  switch (type.kind) {
    case 'Float32':
      return (row) => float32Token(number(row))
    case 'Float64':
      return (row) => float64Token(number(row))
    case 'Date':
      return (row) => `"${dateText(number(row))}"`
    case 'Decimal':
      return (row) => `"${decimalText(int128At(longs, row), type.scale)}"`
    case 'Time': {
      const nanos = unitNanos(type.unit)
      return numbers === undefined
        ? (row) => timeToken(long(row) * nanos)
        : (row) => timeToken(BigInt(number(row)) * nanos)
    }
    case 'Timestamp': {
      const zone = type.timezone === undefined ? '' : 'Z'
      if (type.unit === 'Nanosecond') return (row) => `"${timestampNanosText(long(row))}${zone}"`
      const micros = unitNanos(type.unit) / 1000n
      return (row) => `"${timestampMicrosText(long(row) * micros)}${zone}"`
    }
    default:
      return numbers === undefined ? (row) => String(long(row)) : (row) => String(number(row))
  }
}

function timeToken(nanos: bigint): string {
  if (nanos < 0n || nanos > dayNanos) throw new DecodeError('value', 'has a time of day that does not exist')
  return `"${timeNanosText(nanos)}"`
}

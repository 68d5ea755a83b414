// Columns from and to plain JavaScript values, and random batches: for the tests of columns, Arrow, hashes, slices.
// Integers of 64 bits, times, timestamps and decimals (unscaled) are bigint; Date is days; Binary is Uint8Array.

import * as fc from 'fast-check'
import { bitAt } from '../../../../src/libraries/columnar/arrow/buffers.ts'
import { type ColumnBuilder, createColumnBuilder } from '../../../../src/libraries/columnar/arrow/column-builder.ts'
import { fixedWidth, isPresent } from '../../../../src/libraries/columnar/arrow/columns.ts'
import {
  type Column,
  type DataType,
  type Field,
  innerType,
  isOptional,
  type RecordBatch,
} from '../../../../src/libraries/model/schema.ts'
import { appendText } from '../../../helpers/slices.ts'

export type Value = null | boolean | number | bigint | string | Uint8Array | Value[]

export function appendValue(builder: ColumnBuilder, value: Value): void {
  if (value === null) builder.appendNull()
  else if (typeof value === 'boolean') builder.appendBool(value)
  else if (typeof value === 'string') appendText(builder, value)
  else if (value instanceof Uint8Array) builder.appendBytes(value, 0, value.length)
  else if (Array.isArray(value)) {
    for (const item of value) appendValue(builder.items!, item)
    builder.endList()
  } else if (builder.type.kind === 'Decimal') builder.appendDecimal(BigInt(value))
  else if (typeof value === 'bigint') builder.appendBigInt64(value)
  else if (builder.type.kind === 'Float32' || builder.type.kind === 'Float64') builder.appendFloat64(value)
  else if (fixedWidth(builder.type) === 8) builder.appendInt64(value)
  else builder.appendInt32(value)
}

export function columnOf(field: Field, values: readonly Value[]): Column {
  const builder = createColumnBuilder(field)
  for (const value of values) appendValue(builder, value)
  return builder.finish()
}

export function batchOf(fields: readonly Field[], rows: readonly (readonly Value[])[]): RecordBatch {
  return {
    rows: rows.length,
    columns: fields.map((field, i) =>
      columnOf(
        field,
        rows.map((row) => row[i]!),
      ),
    ),
  }
}

export function valueAt(column: Column, row: number): Value {
  if (!isPresent(column, row)) return null
  const { type, values, offsets, child } = column
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength)
  const first = offsets?.[row] ?? 0
  const last = offsets?.[row + 1] ?? 0
  switch (type.kind) {
    case 'Bool':
      return bitAt(values, row)
    case 'String':
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(values.subarray(first, last))
    case 'Binary':
      return values.slice(first, last)
    case 'List':
      return Array.from({ length: last - first }, (_, i) => valueAt(child!, first + i))
    case 'Int8':
      return view.getInt8(row)
    case 'UInt8':
      return view.getUint8(row)
    case 'Int16':
      return view.getInt16(2 * row, true)
    case 'UInt16':
      return view.getUint16(2 * row, true)
    case 'UInt32':
      return view.getUint32(4 * row, true)
    case 'Float32':
      return view.getFloat32(4 * row, true)
    case 'Float64':
      return view.getFloat64(8 * row, true)
    case 'UInt64':
      return view.getBigUint64(8 * row, true)
    case 'Decimal':
      return (view.getBigInt64(16 * row + 8, true) << 64n) | view.getBigUint64(16 * row, true)
    default:
      return fixedWidth(type) === 4 ? view.getInt32(4 * row, true) : view.getBigInt64(8 * row, true)
  }
}

export function columnValues(column: Column): Value[] {
  return Array.from({ length: column.rows }, (_, row) => valueAt(column, row))
}

export function batchRows(batch: RecordBatch): Value[][] {
  return Array.from({ length: batch.rows }, (_, row) => batch.columns.map((column) => valueAt(column, row)))
}

const scalarTypes: DataType[] = [
  ...(['Bool', 'Date', 'Float32', 'Float64', 'String', 'Binary'] as const).map((kind) => ({ kind })),
  ...(['Int8', 'Int16', 'Int32', 'Int64', 'UInt8', 'UInt16', 'UInt32', 'UInt64'] as const).map((kind) => ({ kind })),
  { kind: 'Decimal', precision: 9, scale: 2 },
  { kind: 'Decimal', precision: 18, scale: 4 },
  { kind: 'Decimal', precision: 38, scale: 10 },
  { kind: 'Time', unit: 'Millisecond' },
  { kind: 'Time', unit: 'Microsecond' },
  { kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' },
  { kind: 'Timestamp', unit: 'Microsecond', timezone: 'UTC' },
]

const arbScalarType = fc.constantFrom(...scalarTypes)
const arbMaybe = (type: fc.Arbitrary<DataType>): fc.Arbitrary<DataType> =>
  fc.tuple(type, fc.boolean()).map(([inner, option]) => (option ? { kind: 'Option', inner } : inner))
const arbListType = arbMaybe(arbScalarType).map((itemType): DataType => ({ kind: 'List', itemType }))

/** Types that a column can hold, Option included. */
export const arbType: fc.Arbitrary<DataType> = arbMaybe(
  fc.oneof({ arbitrary: arbScalarType, weight: 4 }, { arbitrary: arbListType, weight: 1 }),
)

export function arbValue(type: DataType): fc.Arbitrary<Value> {
  if (isOptional(type)) return fc.option(arbValue(innerType(type)), { nil: null, freq: 3 })
  switch (type.kind) {
    case 'Bool':
      return fc.boolean()
    case 'String':
      return fc.oneof(fc.constantFrom('', 'a', 'žluť', '🦊'), fc.string({ unit: 'binary', maxLength: 12 }))
    case 'Binary':
      return fc.uint8Array({ maxLength: 9 })
    case 'Float32':
      return fc.float()
    case 'Float64':
      return fc.double()
    case 'Decimal':
      return fc.bigInt({ min: -(10n ** BigInt(type.precision)) + 1n, max: 10n ** BigInt(type.precision) - 1n })
    case 'List':
      return fc.array(arbValue(type.itemType), { maxLength: 4 })
    default:
      return arbInteger(type)
  }
}

function arbInteger(type: DataType): fc.Arbitrary<Value> {
  const width = fixedWidth(type)!
  if (type.kind === 'Date') return fc.integer({ min: -700_000, max: 2_900_000 })
  if (type.kind === 'Time') {
    if (width === 4) return fc.integer({ min: 0, max: 86_399_999 })
    return fc.bigInt({ min: 0n, max: 86_399_999_999n })
  }
  const unsigned = type.kind.startsWith('U')
  if (width === 8)
    return unsigned
      ? fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
      : fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  const span = 2 ** (8 * width)
  return fc.integer(unsigned ? { min: 0, max: span - 1 } : { min: -span / 2, max: span / 2 - 1 })
}

/** Fields and rows that fit them. Names are unique. */
export const arbTable: fc.Arbitrary<{ fields: Field[]; rows: Value[][] }> = fc
  .array(arbType, { minLength: 1, maxLength: 5 })
  .chain((types) => {
    const fields = types.map((type, i) => ({ name: i === 0 ? 'první' : `c${i}`, type }))
    const row = fc.tuple(...types.map(arbValue))
    return fc.array(row, { maxLength: 40 }).map((rows) => ({ fields, rows: rows as Value[][] }))
  })

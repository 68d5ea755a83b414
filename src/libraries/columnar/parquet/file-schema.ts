// How our fields stand in a Parquet schema: physical types, annotations, levels. The same annotations as arrow-rs
// writes, so that readers see equal types in our slices and in those of other ODF software.
// Source: Apache Parquet, parquet.thrift and LogicalTypes.

import { defined } from '../../base/collections.ts'
import { columnLayout, itemName } from '../arrow/columns.ts'
import { assert, must } from '../../base/assert.ts'
import { type DataType, type Field, innerType, isOptional, type TimeUnit, noZone } from '../../model/schema.ts'
import { physicalTypes } from './page-header.ts'
import type { ThriftWriter } from './thrift.ts'

const convertedList = 3
const repetitions = { required: 0, optional: 1, repeated: 2 } as const

/** The one leaf that a field has in a file. `fixedBytes` is the length of values of physical type `fixed`, else 0. */
export interface ParquetLeaf {
  readonly field: Field
  readonly type: DataType
  readonly form: ParquetForm
  readonly fixedBytes: number
  readonly path: readonly string[]
  readonly maxDefinition: number
  readonly maxRepetition: number
}

/** The leaf of a field, which is a column type or a list of such, and not of a unit that Parquet lacks. */
export function parquetLeaf(field: Field): ParquetLeaf {
  const path = [field.name]
  let type = innerType(field.type)
  let maxDefinition = isOptional(field.type) ? 1 : 0
  let maxRepetition = 0
  while (type.kind === 'List') {
    path.push('list', itemName)
    maxRepetition++
    maxDefinition += isOptional(type.itemType) ? 2 : 1
    type = innerType(type.itemType)
  }
  must(columnLayout(type), `a column type, not ${type.kind}`)
  const form = parquetForm(type)
  const fixedBytes = type.kind === 'Decimal' && form.physical === physicalTypes.fixed ? decimalBytes(type.precision) : 0
  return { field, type, form, fixedBytes, path, maxDefinition, maxRepetition }
}

/** Columns of answers that stand together in an optional group: all or none of them have a value in a row. */
export interface ColumnGroup {
  readonly name: string
  /** Of plain types, not optional by themselves. */
  readonly fields: readonly Field[]
}

/** The leaves of a group. Their columns are nullable, with the nulls of the group. */
export function groupLeaves({ name, fields }: ColumnGroup): ParquetLeaf[] {
  return fields.map((field) => ({ ...parquetLeaf(field), path: [name, field.name], maxDefinition: 1 }))
}

/** Least bytes of a two's complement that holds every decimal of `precision` digits. */
function decimalBytes(precision: number): number {
  return Math.ceil((Math.log2(10) * precision + 1) / 8)
}

/** Writes the schema (field 2 of FileMetaData): the root, then each field depth first, and a group at the end. */
export function writeParquetSchema(thrift: ThriftWriter, leaves: readonly ParquetLeaf[], group?: ColumnGroup): void {
  const grouped = leaves.length - (group?.fields.length ?? 0)
  const elements: (() => void)[] = [
    () => {
      thrift.text(4, 'arrow_schema')
      thrift.i32(5, grouped + (group === undefined ? 0 : 1))
    },
  ]
  for (const leaf of leaves.slice(0, grouped)) pushElements(thrift, elements, leaf.field, leaf)
  if (group !== undefined) {
    elements.push(() => {
      thrift.i32(3, repetitions.optional)
      thrift.text(4, group.name)
      thrift.i32(5, group.fields.length)
    })
    for (const leaf of leaves.slice(grouped)) pushElements(thrift, elements, leaf.field, leaf)
  }
  thrift.structs(2, elements, (element) => element())
}

function pushElements(thrift: ThriftWriter, elements: (() => void)[], field: Field, leaf: ParquetLeaf): void {
  const type = innerType(field.type)
  const repetition = isOptional(field.type) ? repetitions.optional : repetitions.required
  if (type.kind !== 'List') {
    elements.push(() => writeLeaf(thrift, field, leaf))
    return
  }
  elements.push(
    () => {
      thrift.i32(3, repetition)
      thrift.text(4, field.name)
      thrift.i32(5, 1)
      thrift.i32(6, convertedList)
      thrift.struct(10, () => thrift.struct(3, () => undefined))
    },
    () => {
      thrift.i32(3, repetitions.repeated)
      thrift.text(4, 'list')
      thrift.i32(5, 1)
    },
  )
  pushElements(thrift, elements, { name: itemName, type: type.itemType }, leaf)
}

function writeLeaf(thrift: ThriftWriter, field: Field, { type, form, fixedBytes }: ParquetLeaf): void {
  const { physical, converted, logical } = form
  thrift.i32(1, physical)
  if (physical === physicalTypes.fixed) thrift.i32(2, fixedBytes)
  thrift.i32(3, isOptional(field.type) ? repetitions.optional : repetitions.required)
  thrift.text(4, field.name)
  if (converted !== undefined) thrift.i32(6, converted)
  if (type.kind === 'Decimal') {
    thrift.i32(7, type.scale)
    thrift.i32(8, type.precision)
  }
  if (logical === undefined) return
  thrift.struct(10, () => thrift.struct(logical.member, () => logical.write?.(thrift)))
}

/** How values of a type stand in a file: physical type, and the older and the newer annotation of what they mean. */
interface ParquetForm {
  readonly physical: (typeof physicalTypes)[keyof typeof physicalTypes]
  /** Number of the ConvertedType. */
  readonly converted?: number
  /** Member of the union LogicalType, and what stands in it. */
  readonly logical?: { readonly member: number; readonly write?: (thrift: ThriftWriter) => void }
}

function parquetForm(type: DataType): ParquetForm {
  const { boolean, int32, int64, float, double, byteArray, fixed } = physicalTypes
  switch (type.kind) {
    case 'Bool':
      return { physical: boolean }
    case 'Float32':
      return { physical: float }
    case 'Float64':
      return { physical: double }
    case 'Binary':
      return { physical: byteArray }
    case 'String':
      return { physical: byteArray, converted: 0, logical: { member: 1 } }
    case 'Date':
      return { physical: int32, converted: 6, logical: { member: 6 } }
    case 'Decimal': {
      const { precision, scale } = type
      const write = (thrift: ThriftWriter): void => {
        thrift.i32(1, scale)
        thrift.i32(2, precision)
      }
      const physical = precision > 18 ? fixed : precision > 9 ? int64 : int32
      return { physical, converted: 5, logical: { member: 5, write } }
    }
    case 'Time':
      return timeForm(type.unit === undefined || type.unit === 'Millisecond' ? int32 : int64, type.unit, 'time')
    case 'Timestamp':
      return timeForm(int64, type.unit, type.timezone === noZone ? 'local' : 'instant')
    case 'Int32':
      return { physical: int32 }
    case 'Int64':
      return { physical: int64 }
    default: {
      const bits = Number(type.kind.replace(/^U?Int/, ''))
      const isSigned = !type.kind.startsWith('U')
      const write = (thrift: ThriftWriter): void => {
        thrift.i8(1, bits)
        thrift.bool(2, isSigned)
      }
      // UINT_8 to UINT_64 are 11 to 14, INT_8 to INT_64 15 to 18.
      const converted = (isSigned ? 15 : 11) + Math.log2(bits / 8)
      return { physical: bits === 64 ? int64 : int32, converted, logical: { member: 10, write } }
    }
  }
}

/**
 * A time of day, a point in time in UTC, or a date and time of no zone. The older annotation has no nanoseconds, and means
 * UTC.
 */
function timeForm(
  physical: ParquetForm['physical'],
  unit: TimeUnit = 'Millisecond',
  means: 'time' | 'instant' | 'local',
): ParquetForm {
  const isTimestamp = means !== 'time'
  assert(unit !== 'Second', 'Parquet has no times in seconds')
  const older = { Millisecond: isTimestamp ? 9 : 7, Microsecond: isTimestamp ? 10 : 8, Nanosecond: undefined }[unit]
  const converted = means === 'local' ? undefined : older
  const write = (thrift: ThriftWriter): void => {
    thrift.bool(1, means === 'instant')
    thrift.struct(2, () => thrift.struct({ Millisecond: 1, Microsecond: 2, Nanosecond: 3 }[unit], () => undefined))
  }
  return { physical, ...defined({ converted }), logical: { member: isTimestamp ? 8 : 7, write } }
}

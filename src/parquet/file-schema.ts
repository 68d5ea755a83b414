// How our fields stand in a Parquet schema: physical types, annotations, levels. The same annotations as arrow-rs
// writes, so that readers see equal types in our slices and in those of other ODF software.
// Source: Apache Parquet, parquet.thrift and LogicalTypes.md.

import { columnLayout, itemName } from '../arrow/columns.ts'
import { assert, must } from '../lib/assert.ts'
import { type DataType, type Field, innerType, isOptional, type TimeUnit } from '../model/schema.ts'
import type { ThriftWriter } from './thrift.ts'

/** Physical types by their numbers in parquet.thrift. */
export const physicalTypes = {
  boolean: 0,
  int32: 1,
  int64: 2,
  float: 4,
  double: 5,
  byteArray: 6,
  fixed: 7,
} as const

type PhysicalType = (typeof physicalTypes)[keyof typeof physicalTypes]

const convertedTypes = {
  utf8: 0,
  list: 3,
  decimal: 5,
  date: 6,
  timeMillis: 7,
  timeMicros: 8,
  timestampMillis: 9,
  timestampMicros: 10,
  uint8: 11,
  int8: 15,
} as const

const repetitions = { required: 0, optional: 1, repeated: 2 } as const

/** The one leaf that a field has in a file. `fixedBytes` is the length of values of physical type `fixed`. */
export interface ParquetLeaf {
  readonly field: Field
  readonly type: DataType
  readonly physical: PhysicalType
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
  const fixedBytes = type.kind === 'Decimal' && type.precision > 18 ? decimalBytes(type.precision) : 0
  return { field, type, physical: physicalType(type), fixedBytes, path, maxDefinition, maxRepetition }
}

function physicalType(type: DataType): PhysicalType {
  switch (type.kind) {
    case 'Bool':
      return physicalTypes.boolean
    case 'Float32':
      return physicalTypes.float
    case 'Float64':
      return physicalTypes.double
    case 'String':
    case 'Binary':
      return physicalTypes.byteArray
    case 'Decimal':
      if (type.precision > 18) return physicalTypes.fixed
      return type.precision > 9 ? physicalTypes.int64 : physicalTypes.int32
    case 'Int64':
    case 'UInt64':
    case 'Timestamp':
      return physicalTypes.int64
    case 'Time':
      return type.unit === 'Microsecond' || type.unit === 'Nanosecond' ? physicalTypes.int64 : physicalTypes.int32
    default:
      return physicalTypes.int32
  }
}

/** Least bytes of a two's complement that holds every decimal of `precision` digits. */
function decimalBytes(precision: number): number {
  return Math.ceil((Math.log2(10) * precision + 1) / 8)
}

/** Writes the schema (field 2 of FileMetaData): the root, then each field depth first. */
export function writeParquetSchema(thrift: ThriftWriter, leaves: readonly ParquetLeaf[]): void {
  const elements: (() => void)[] = [
    () => {
      thrift.text(4, 'arrow_schema')
      thrift.i32(5, leaves.length)
    },
  ]
  for (const leaf of leaves) pushElements(thrift, elements, leaf.field, leaf)
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
      thrift.i32(6, convertedTypes.list)
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

function writeLeaf(thrift: ThriftWriter, field: Field, leaf: ParquetLeaf): void {
  const { type } = leaf
  thrift.i32(1, leaf.physical)
  if (leaf.physical === physicalTypes.fixed) thrift.i32(2, leaf.fixedBytes)
  thrift.i32(3, isOptional(field.type) ? repetitions.optional : repetitions.required)
  thrift.text(4, field.name)
  const converted = convertedType(type)
  if (converted !== undefined) thrift.i32(6, converted)
  if (type.kind === 'Decimal') {
    thrift.i32(7, type.scale)
    thrift.i32(8, type.precision)
  }
  writeLogicalType(thrift, type)
}

function convertedType(type: DataType): number | undefined {
  switch (type.kind) {
    case 'String':
      return convertedTypes.utf8
    case 'Decimal':
      return convertedTypes.decimal
    case 'Date':
      return convertedTypes.date
    case 'Time':
      return unitOf(type.unit, convertedTypes.timeMillis, convertedTypes.timeMicros)
    case 'Timestamp':
      return unitOf(type.unit, convertedTypes.timestampMillis, convertedTypes.timestampMicros)
    case 'UInt8':
    case 'UInt16':
    case 'UInt32':
    case 'UInt64':
      return convertedTypes.uint8 + Math.log2(Number(type.kind.slice(4)) / 8)
    case 'Int8':
    case 'Int16':
      return convertedTypes.int8 + Math.log2(Number(type.kind.slice(3)) / 8)
    default:
      return undefined
  }
}

function unitOf(unit: TimeUnit | undefined, millis: number, micros: number): number | undefined {
  if (unit === 'Nanosecond') return undefined
  return unit === 'Microsecond' ? micros : millis
}

function writeLogicalType(thrift: ThriftWriter, type: DataType): void {
  const empty = (): void => undefined
  switch (type.kind) {
    case 'String':
      return thrift.struct(10, () => thrift.struct(1, empty))
    case 'Date':
      return thrift.struct(10, () => thrift.struct(6, empty))
    case 'Decimal':
      return thrift.struct(10, () =>
        thrift.struct(5, () => {
          thrift.i32(1, type.scale)
          thrift.i32(2, type.precision)
        }),
      )
    case 'Time':
      return thrift.struct(10, () => thrift.struct(7, () => writeTimeType(thrift, type.unit, false)))
    case 'Timestamp':
      return thrift.struct(10, () => thrift.struct(8, () => writeTimeType(thrift, type.unit, true)))
    case 'UInt8':
    case 'UInt16':
    case 'UInt32':
    case 'UInt64':
    case 'Int8':
    case 'Int16':
      return thrift.struct(10, () =>
        thrift.struct(10, () => {
          thrift.i8(1, Number(type.kind.replace(/^U?Int/, '')))
          thrift.bool(2, !type.kind.startsWith('U'))
        }),
      )
    default:
      return
  }
}

function writeTimeType(thrift: ThriftWriter, unit: TimeUnit = 'Millisecond', adjustedToUtc: boolean): void {
  thrift.bool(1, adjustedToUtc)
  assert(unit !== 'Second', 'Parquet has no times in seconds')
  thrift.struct(2, () => thrift.struct(unitNumbers[unit], () => undefined))
}

const unitNumbers = { Millisecond: 1, Microsecond: 2, Nanosecond: 3 } as const

// What the leaves of a Parquet schema are to us: the type of the column, and how its values are read. A type that would
// not be read exactly is refused by name. Source: Apache Parquet, LogicalTypes (with the older ConvertedTypes).

import { integerType } from '../arrow/columns.ts'
import type { DataType, TimeUnit } from '../../model/schema.ts'
import { logicalTypes, type SchemaElement } from './footer.ts'
import { physicalTypes as physical } from './page-header.ts'
import { physicalNames } from './page-values.ts'
import { damaged, unsupported, UnsupportedParquet } from './refusals.ts'
import {
  type Convert,
  fixedDecimals,
  halfFloats,
  int96Times,
  integerDecimals,
  shortIntegers,
  wideDecimals,
} from './conversions.ts'

/**
 * How values are read: `fixed` ones of `width` bytes are copied or converted, `bytes` are taken as they are, `uuid` become
 * text, `decimalBytes` 16 bytes; `none` have no values.
 */
export interface LeafType {
  readonly type: DataType
  readonly physical: number
  /** Bytes of a physical value, 1 of a boolean; 0 of byte arrays. */
  readonly width: number
  readonly reading: 'fixed' | 'bytes' | 'uuid' | 'decimalBytes' | 'none'
  readonly convert?: Convert
  /** What is wrong with a value that `convert` does not take, where it is not that it is too large: what its column does. */
  readonly beyond?: string
  /** Why values are not read; then the rest means nothing. */
  readonly refusal?: UnsupportedParquet
}

const widths = [1, 4, 8, 12, 4, 8, 0]
const mostFixedBytes = 2 ** 20

/** The type of a leaf, with a refusal where it is not read here. Throws DecodeError for a schema that is none. */
export function leafType(element: SchemaElement): LeafType {
  const type = element.physical ?? damaged('has neither a type nor columns in it')
  const width = type === physical.fixed ? element.typeLength : widths[type]
  if (width === undefined) return damaged(`has the physical type ${type}, which the format does not have`)
  if (type === physical.fixed && !(width > 0 && width <= mostFixedBytes)) {
    return damaged(`has values of ${width} bytes`)
  }
  const read: Reading = { element, physical: type, width }
  try {
    return byLogicalType(read) ?? byConvertedType(read) ?? plainType(read)
  } catch (refusal) {
    if (!(refusal instanceof UnsupportedParquet)) throw refusal
    return { type: { kind: 'String' }, physical: type, width, reading: 'none', refusal }
  }
}

interface Reading {
  readonly element: SchemaElement
  readonly physical: number
  readonly width: number
}

function fixed(read: Reading, type: DataType, convert?: Convert): LeafType {
  const { physical: physicalType, width } = read
  const leaf = { type, physical: physicalType, width, reading: 'fixed' as const }
  return convert === undefined ? leaf : { ...leaf, convert }
}

function byteArrays({ physical: physicalType, width }: Reading, type: DataType): LeafType {
  return { type, physical: physicalType, width, reading: 'bytes' }
}

function expect(read: Reading, annotation: string, ...allowed: readonly number[]): void {
  if (!allowed.includes(read.physical)) {
    damaged(`is annotated ${annotation}, which values of ${physicalNames[read.physical]} are not`)
  }
}

function byLogicalType(read: Reading): LeafType | undefined {
  const { logical } = read.element
  switch (logical?.member) {
    case undefined:
      return undefined
    case logicalTypes.string:
    case logicalTypes.json:
    case logicalTypes.enum:
      return textType(read)
    case logicalTypes.bson:
      expect(read, 'BSON', physical.byteArray)
      return byteArrays(read, { kind: 'Binary' })
    case logicalTypes.geometry:
    case logicalTypes.geography:
      expect(read, 'GEOMETRY', physical.byteArray)
      return byteArrays(read, { kind: 'Binary' })
    case logicalTypes.decimal:
      return decimalType(read, logical.precision ?? 0, logical.scale ?? 0)
    case logicalTypes.date:
      return dateType(read)
    case logicalTypes.time:
      return timeType(read, logical.unit ?? 0)
    case logicalTypes.timestamp:
      return timestampType(read, logical.unit ?? 0, logical.isUtc ?? false)
    case logicalTypes.integer:
      return integers(read, logical.bits ?? 0, logical.isSigned ?? true)
    case logicalTypes.unknown:
      return { ...fixed(read, { kind: 'Null' }), reading: 'none' }
    case logicalTypes.uuid:
      expect(read, 'UUID', physical.fixed)
      if (read.width !== 16) damaged(`is annotated UUID, which values of ${read.width} bytes are not`)
      return { type: { kind: 'String' }, physical: read.physical, width: 16, reading: 'uuid' }
    case logicalTypes.float16:
      expect(read, 'FLOAT16', physical.fixed)
      if (read.width !== 2) damaged(`is annotated FLOAT16, which values of ${read.width} bytes are not`)
      return fixed(read, { kind: 'Float32' }, halfFloats)
    default:
      // A type that is newer than this reader: the older annotation says what it is, or nothing does.
      if (read.element.converted !== undefined) return undefined
      return unsupported(`has the logical type number ${logical?.member}, which is not read here`)
  }
}

function byConvertedType(read: Reading): LeafType | undefined {
  const { converted, precision, scale } = read.element
  switch (converted) {
    case undefined:
      return undefined
    case 0:
    case 4:
    case 19:
      return textType(read)
    case 5:
      return decimalType(read, precision, scale)
    case 6:
      return dateType(read)
    case 7:
      return timeType(read, 1)
    case 8:
      return timeType(read, 2)
    case 9:
      return timestampType(read, 1, true)
    case 10:
      return timestampType(read, 2, true)
    case 20:
      expect(read, 'BSON', physical.byteArray)
      return byteArrays(read, { kind: 'Binary' })
    case 21:
      return unsupported('is an INTERVAL, for which no column has a type')
    default:
      if (converted >= 11 && converted <= 18) return integers(read, 8 * 2 ** ((converted - 11) % 4), converted >= 15)
      return unsupported(`has the converted type number ${converted}, which is not read here`)
  }
}

function plainType(read: Reading): LeafType {
  switch (read.physical) {
    case physical.boolean:
      return fixed(read, { kind: 'Bool' })
    case physical.int32:
      return fixed(read, { kind: 'Int32' })
    case physical.int64:
      return fixed(read, { kind: 'Int64' })
    case physical.int96:
      return fixed(read, { kind: 'Timestamp', unit: 'Nanosecond' }, int96Times)
    case physical.float:
      return fixed(read, { kind: 'Float32' })
    case physical.double:
      return fixed(read, { kind: 'Float64' })
    default:
      return byteArrays(read, { kind: 'Binary' })
  }
}

function textType(read: Reading): LeafType {
  expect(read, 'text', physical.byteArray, physical.fixed)
  return byteArrays(read, { kind: 'String' })
}

function dateType(read: Reading): LeafType {
  expect(read, 'DATE', physical.int32)
  return fixed(read, { kind: 'Date' })
}

const timeUnits: readonly (TimeUnit | undefined)[] = [undefined, 'Millisecond', 'Microsecond', 'Nanosecond']

function timeType(read: Reading, unit: number): LeafType {
  const name = timeUnits[unit] ?? unsupported(`has times in the unit number ${unit}, which is not read here`)
  expect(read, 'TIME', unit === 1 ? physical.int32 : physical.int64)
  return fixed(read, { kind: 'Time', unit: name })
}

function timestampType(read: Reading, unit: number, isUtc: boolean): LeafType {
  const name = timeUnits[unit] ?? unsupported(`has times in the unit number ${unit}, which is not read here`)
  expect(read, 'TIMESTAMP', physical.int64)
  return fixed(read, { kind: 'Timestamp', unit: name, ...(isUtc ? { timezone: 'UTC' } : {}) })
}

function integers(read: Reading, bits: number, isSigned: boolean): LeafType {
  const type = integerType(bits, isSigned) ?? damaged(`has integers of ${bits} bits`)
  expect(read, `INTEGER of ${bits} bits`, bits === 64 ? physical.int64 : physical.int32)
  return fixed(read, type, bits === 8 || bits === 16 ? shortIntegers(bits, isSigned) : undefined)
}

function decimalType(read: Reading, precision: number, scale: number): LeafType {
  const { width } = read
  if (!(precision >= 1 && scale >= 0 && scale <= precision)) {
    damaged(`is a decimal of ${precision} digits, ${scale} of them behind the point`)
  }
  if (precision > 38) unsupported(`is a decimal of ${precision} digits; 38 are the most that a column holds`)
  const type: DataType = { kind: 'Decimal', precision, scale }
  expect(read, 'DECIMAL', physical.int32, physical.int64, physical.fixed, physical.byteArray)
  if (read.physical === physical.byteArray) {
    return { type, physical: physical.byteArray, width, reading: 'decimalBytes', convert: wideDecimals(precision) }
  }
  if (read.physical === physical.fixed) return fixed(read, type, fixedDecimals(width, precision))
  return fixed(read, type, integerDecimals(width === 4 ? 4 : 8, precision))
}

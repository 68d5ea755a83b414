// The footer of a Parquet file: schema, row groups and where their column chunks lie. Row groups are kept as bytes and
// read when their turn comes. Source: Apache Parquet, parquet.thrift, FileMetaData.

import { damaged, unsupported } from './refusals.ts'
import { ThriftReader } from './thrift-reader.ts'

/** Member of the union LogicalType, by its number, with what stands in it. */
export interface LogicalType {
  readonly member: number
  readonly isUtc?: boolean
  /** 1 milli-, 2 micro-, 3 nanoseconds. */
  readonly unit?: number
  readonly bits?: number
  readonly isSigned?: boolean
  readonly scale?: number
  readonly precision?: number
  /** Of geometries. */
  readonly crs?: string
}

/** Members of the union LogicalType by their numbers. */
export const logicalTypes = {
  string: 1,
  map: 2,
  list: 3,
  enum: 4,
  decimal: 5,
  date: 6,
  time: 7,
  timestamp: 8,
  integer: 10,
  unknown: 11,
  json: 12,
  bson: 13,
  uuid: 14,
  float16: 15,
  variant: 16,
  geometry: 17,
  geography: 18,
} as const

/** A node of the schema: the root, then each field depth first. Numbers as in parquet.thrift. */
export interface SchemaElement {
  readonly name: string
  readonly physical: number | undefined
  readonly typeLength: number
  /** 0 required, 1 optional, 2 repeated. */
  readonly repetition: number
  /** Undefined for a leaf. */
  readonly children: number | undefined
  readonly converted: number | undefined
  readonly scale: number
  readonly precision: number
  readonly logical: LogicalType | undefined
}

/** Least and greatest value in PLAIN form (bytes without a length). */
export interface Bounds {
  readonly min: Uint8Array
  readonly max: Uint8Array
}

/** A column of a row group: where its pages lie. */
export interface ColumnChunk {
  readonly physical: number
  readonly codec: number
  readonly values: number
  /** First byte of its first page, the dictionary included. */
  readonly start: number
  readonly storedBytes: number
  /** Where it is told. */
  readonly nulls?: number
  /** Of the values that are no nulls, where they are told. */
  readonly bounds?: Bounds
}

export interface RowGroup {
  readonly rows: number
  readonly chunks: readonly ColumnChunk[]
}

export interface FooterLimits {
  readonly rowGroups: number
  readonly schemaElements: number
}

/** What a footer says. `keyValues`: those of the names asked for. */
export interface Footer {
  readonly schema: readonly SchemaElement[]
  readonly rows: number
  readonly rowGroups: number
  readonly keyValues: ReadonlyMap<string, string>
  /** The library that wrote the file. */
  readonly createdBy: string | undefined
  /** Reads row group `index`. Throws DecodeError. */
  readonly rowGroup: (index: number) => RowGroup
}

/** Throws DecodeError for a chunk of a leaf that contradicts its row group or the file, whose pages end at `end`. */
export function checkChunk(chunk: ColumnChunk, rows: number, leaf: ChunkLeaf, end: number): void {
  const { start, storedBytes, values } = chunk
  if (chunk.physical !== leaf.leafType.physical) damaged('has another type than in the schema')
  // Of a column without values, writers say nothing.
  if (values > 0 && !(start >= 4 && storedBytes >= 0 && start + storedBytes <= end)) damaged('lies outside of the file')
  const fits = leaf.maxRepetition === 0 ? values === rows : values >= rows
  if (!fits) damaged(`has ${values} values in a row group of ${rows} rows`)
}

interface ChunkLeaf {
  readonly maxRepetition: number
  readonly leafType: { readonly physical: number }
}

/** Reads a footer, without the length and the magic after it. Throws DecodeError, UnsupportedParquet. */
export function readFooter(bytes: Uint8Array, limits: FooterLimits, keys: readonly string[]): Footer {
  const thrift = new ThriftReader(bytes)
  const schema: SchemaElement[] = []
  const keyValues = new Map<string, string>()
  const starts: number[] = []
  let rows = -1
  let createdBy: string | undefined
  thrift.struct((id) => {
    if (id === 2) thrift.list(limits.schemaElements, () => schema.push(schemaElement(thrift)))
    else if (id === 3) rows = thrift.integer()
    else if (id === 4) {
      thrift.list(limits.rowGroups, () => {
        starts.push(thrift.at)
        thrift.skipValue()
      })
    } else if (id === 5) thrift.list(bytes.length, () => keyValue(thrift, keys, keyValues))
    else if (id === 6) createdBy = thrift.text()
    else if (id === 8) return unsupported('is encrypted')
    else return false
    return true
  })
  if (rows < 0) damaged('does not say how many rows it has')
  const rowGroup = (index: number): RowGroup => readRowGroup(new ThriftReader(bytes, starts[index]), schema.length)
  return { schema, rows, rowGroups: starts.length, keyValues, createdBy, rowGroup }
}

function keyValue(thrift: ThriftReader, keys: readonly string[], into: Map<string, string>): void {
  let key: string | undefined
  thrift.struct((id) => {
    if (id === 1) key = thrift.text()
    else if (id === 2 && key !== undefined && keys.includes(key)) into.set(key, thrift.text())
    else return false
    return true
  })
}

function schemaElement(thrift: ThriftReader): SchemaElement {
  let [physical, children, converted]: (number | undefined)[] = []
  let [typeLength, repetition, scale, precision] = [0, 0, 0, 0]
  let name: string | undefined
  let logical: LogicalType | undefined
  thrift.struct((id) => {
    if (id === 1) physical = thrift.integer()
    else if (id === 2) typeLength = thrift.integer()
    else if (id === 3) repetition = thrift.integer()
    else if (id === 4) name = thrift.text()
    else if (id === 5) children = thrift.integer()
    else if (id === 6) converted = thrift.integer()
    else if (id === 7) scale = thrift.integer()
    else if (id === 8) precision = thrift.integer()
    else if (id === 10) logical = logicalType(thrift)
    else return false
    return true
  })
  if (name === undefined) return damaged('has a column without a name')
  // Some writers say 0 children of a leaf.
  const isLeaf = physical !== undefined && (children ?? 0) === 0
  return {
    name,
    physical,
    typeLength,
    repetition,
    children: isLeaf ? undefined : (children ?? 0),
    converted,
    scale,
    precision,
    logical,
  }
}

function logicalType(thrift: ThriftReader): LogicalType | undefined {
  let found: LogicalType | undefined
  thrift.struct((member) => {
    switch (member) {
      case logicalTypes.decimal:
        found = decimalType(thrift)
        break
      case logicalTypes.time:
      case logicalTypes.timestamp:
        found = timeType(thrift, member)
        break
      case logicalTypes.integer:
        found = integerType(thrift)
        break
      case logicalTypes.geometry:
      case logicalTypes.geography:
        found = geometryType(thrift, member)
        break
      default:
        found = { member }
        return false
    }
    return true
  })
  return found
}

function decimalType(thrift: ThriftReader): LogicalType {
  const [scale = 0, precision = 0] = thrift.numbers([1, 2])
  return { member: logicalTypes.decimal, scale, precision }
}

function timeType(thrift: ThriftReader, member: number): LogicalType {
  let isUtc = false
  let unit = 0
  thrift.struct((id) => {
    if (id === 1) isUtc = thrift.boolean()
    else if (id === 2) {
      thrift.struct((which) => {
        unit = which
        return false
      })
    } else return false
    return true
  })
  return { member, isUtc, unit }
}

function integerType(thrift: ThriftReader): LogicalType {
  const [bits = 0, signed = 0] = thrift.numbers([1], [2])
  return { member: logicalTypes.integer, bits, isSigned: signed === 1 }
}

function geometryType(thrift: ThriftReader, member: number): LogicalType {
  let crs: string | undefined
  thrift.struct((id) => {
    if (id !== 1) return false
    crs = thrift.text()
    return true
  })
  return crs === undefined ? { member } : { member, crs }
}

function readRowGroup(thrift: ThriftReader, mostColumns: number): RowGroup {
  const chunks: ColumnChunk[] = []
  let rows = -1
  thrift.struct((id) => {
    if (id === 1) thrift.list(mostColumns, () => chunks.push(columnChunk(thrift)))
    else if (id === 3) rows = thrift.integer()
    else return false
    return true
  })
  if (rows < 0) damaged('does not say how many rows it has')
  return { rows, chunks }
}

function columnChunk(thrift: ThriftReader): ColumnChunk {
  let chunk: ColumnChunk | undefined
  thrift.struct((id) => {
    if (id === 1) {
      if (thrift.text() !== '') unsupported('has columns that lie in another file')
      return true
    }
    if (id === 8 || id === 9) return unsupported('is encrypted')
    if (id !== 3) return false
    chunk = chunkMetadata(thrift)
    return true
  })
  return chunk ?? damaged('has a column that it does not describe')
}

function chunkMetadata(thrift: ThriftReader): ColumnChunk {
  let [physical, codec, values, storedBytes, dataAt, dictionaryAt] = [-1, -1, -1, -1, -1, 0]
  let stated: Pick<ColumnChunk, 'nulls' | 'bounds'> = {}
  thrift.struct((id) => {
    if (id === 1) physical = thrift.integer()
    else if (id === 4) codec = thrift.integer()
    else if (id === 5) values = thrift.integer()
    else if (id === 7) storedBytes = thrift.integer()
    else if (id === 9) dataAt = thrift.integer()
    else if (id === 11) dictionaryAt = thrift.integer()
    else if (id === 12) stated = statistics(thrift)
    else return false
    return true
  })
  // Some writers say 0 where there is no dictionary; some, a place behind the data, which then has none either.
  const start = dictionaryAt > 0 && dictionaryAt < dataAt ? dictionaryAt : dataAt
  if (values < 0) return damaged('has a column that does not say how many values it has')
  return { physical, codec, values, start, storedBytes, ...stated }
}

function statistics(thrift: ThriftReader): Pick<ColumnChunk, 'nulls' | 'bounds'> {
  let nulls: number | undefined
  let [min, max]: (Uint8Array | undefined)[] = []
  thrift.struct((id) => {
    if (id === 3) nulls = thrift.integer()
    else if (id === 5) max = thrift.binary()
    else if (id === 6) min = thrift.binary()
    else return false
    return true
  })
  const bounds = min !== undefined && max !== undefined && { bounds: { min, max } }
  return { ...(nulls !== undefined && { nulls }), ...bounds }
}

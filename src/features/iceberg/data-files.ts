// What a manifest says of a slice: its place, its rows and, from its footer, counts and bounds by which engines leave files
// out. A bound that is wrong loses rows unsaid, so there is none unless it is exact: none of texts and bytes from 64 bytes
// on, which writers may have cut, and none of floats, among which a NaN would be missed.
// Sources: https://iceberg.apache.org/spec/ (Manifests, Appendix D single-value serialization); Apache Parquet, parquet.thrift.

import { littleEndian } from '../../libraries/base/bytes.ts'
import { type DataType, innerType, sameType } from '../../libraries/model/schema.ts'
import { fileColumns } from '../../libraries/columnar/parquet/file-columns.ts'
import { type Bounds, type ColumnChunk, readFooter, type RowGroup } from '../../libraries/columnar/parquet/footer.ts'
import { physicalTypes } from '../../libraries/columnar/parquet/page-header.ts'
import { byteText, footerBytes, trailerBytes } from '../../libraries/columnar/parquet/time-range.ts'
import { AvroWriter } from './avro.ts'
import type { TableColumn } from './table-schema.ts'

/** A file of a table. */
interface DataFile {
  readonly rows: number
  readonly sizeBytes: number
}

/** What is known of a column in one file. Counts are of rows; bounds as Iceberg writes single values. */
interface ColumnFacts {
  readonly id: number
  readonly nulls: number | undefined
  readonly bounds: Bounds | undefined
}

/** Nested columns of slices; deeper ones have no facts that are told here. */
const mostDepth = 64
/** Columns of which facts are told, from the first: as many as Iceberg's own writers tell of. */
const factsMost = 100
/** Bounds of texts and bytes are shorter than this. */
const boundBytesMost = 64

/**
 * What stands in the record `data_file` of a slice behind its place, in Avro's binary form; `end` is the end of the slice,
 * which was checked, with the whole footer. Throws DecodeError.
 */
export function dataFileFacts(file: DataFile, end: Uint8Array, columns: ReadonlyMap<string, TableColumn>): Uint8Array {
  const facts = factsOf(end, columns)
  const counted = facts.filter(({ nulls }) => nulls !== undefined)
  const bounded = facts.flatMap(({ id, bounds }) => (bounds === undefined ? [] : [{ id, bounds }]))
  const record = new AvroWriter().long(file.rows).long(file.sizeBytes)
  record.long(isThere).list(counted, ({ id }) => record.long(id).long(file.rows))
  record.long(isThere).list(counted, ({ id, nulls = 0 }) => record.long(id).long(nulls))
  record.long(isThere).list(bounded, ({ id, bounds }) => record.long(id).bytes(bounds.min))
  record.long(isThere).list(bounded, ({ id, bounds }) => record.long(id).bytes(bounds.max))
  return record.finish()
}

/** Adds the record `data_file` of a file at `uri`. */
export function writeDataFile(record: AvroWriter, uri: string, facts: Uint8Array): AvroWriter {
  return record.long(contentData).text(uri).text('PARQUET').encoded(facts)
}

/** Of the kinds of files, and of the branches of a union with null. */
const contentData = 0
const isThere = 1

/** The schema of those records. The table has no partitions. */
export const dataFileSchema = {
  type: 'record',
  name: 'r2',
  fields: [
    { name: 'content', type: 'int', 'field-id': 134 },
    { name: 'file_path', type: 'string', 'field-id': 100 },
    { name: 'file_format', type: 'string', 'field-id': 101 },
    { name: 'partition', type: { type: 'record', name: 'r102', fields: [] }, 'field-id': 102 },
    { name: 'record_count', type: 'long', 'field-id': 103 },
    { name: 'file_size_in_bytes', type: 'long', 'field-id': 104 },
    optionalMap('value_counts', 109, { ids: [119, 120], type: 'long' }),
    optionalMap('null_value_counts', 110, { ids: [121, 122], type: 'long' }),
    optionalMap('lower_bounds', 125, { ids: [126, 127], type: 'bytes' }),
    optionalMap('upper_bounds', 128, { ids: [129, 130], type: 'bytes' }),
  ],
} as const

/** A map by the numbers of columns, or null. */
function optionalMap(
  name: string,
  id: number,
  { ids: [key, value], type }: { readonly ids: readonly [number, number]; readonly type: 'long' | 'bytes' },
): object {
  const fields = [
    { name: 'key', type: 'int', 'field-id': key },
    { name: 'value', type, 'field-id': value },
  ]
  const items = { type: 'record', name: `k${key}_v${value}`, fields }
  return { name, type: ['null', { type: 'array', items, logicalType: 'map' }], default: null, 'field-id': id }
}

/** The columns of the root that are no lists and have the type that the table says. */
function factsOf(end: Uint8Array, columns: ReadonlyMap<string, TableColumn>): ColumnFacts[] {
  const bytes = end.subarray(end.length - footerBytes(end), end.length - trailerBytes)
  const footer = readFooter(bytes, { rowGroups: end.length, schemaElements: end.length }, [])
  const groups = Array.from({ length: footer.rowGroups }, (_, index) => footer.rowGroup(index))
  return fileColumns(footer.schema, mostDepth)
    .slice(0, factsMost)
    .flatMap(({ field, isFlat, leaves }) => {
      const column = columns.get(field.name)
      const [leaf] = leaves
      const isSame = column !== undefined && sameType(innerType(field.type), column.type)
      if (leaf === undefined || !isFlat || !isSame || leaf.leafType.reading === 'uuid') return []
      const chunks = groups.map(({ rows, chunks: all }) => ({ rows, chunk: all[leaf.index] }))
      const nulls = chunks.reduce<number | undefined>((sum, { chunk }) => addKnown(sum, chunk?.nulls), 0)
      return [{ id: column.id, nulls, bounds: boundsOf(column.type, leaf.leafType.physical, chunks) }]
    })
}

function addKnown(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b
}

/** A value that has the order of its type: a number, or the bytes of a text as characters. */
type Ordered = bigint | string

/** The bounds over all row groups; undefined where one does not tell its own, or they have no exact form. */
function boundsOf(
  type: DataType,
  physical: number,
  groups: readonly (Pick<RowGroup, 'rows'> & { readonly chunk: ColumnChunk | undefined })[],
): Bounds | undefined {
  let [least, most]: (Ordered | undefined)[] = []
  for (const { rows, chunk } of groups) {
    if (chunk?.nulls === rows) continue
    const min = chunk?.bounds && valueOf(type, physical, chunk.bounds.min)
    const max = chunk?.bounds && valueOf(type, physical, chunk.bounds.max)
    if (min === undefined || max === undefined) return undefined
    if (least === undefined || min < least) least = min
    if (most === undefined || max > most) most = max
  }
  const min = least === undefined ? undefined : singleValue(type, least)
  const max = most === undefined ? undefined : singleValue(type, most)
  return min && max && { min, max }
}

function valueOf(type: DataType, physical: number, bytes: Uint8Array): Ordered | undefined {
  const { boolean, int32, int64, fixed, byteArray } = physicalTypes
  if (type.kind === 'String' || type.kind === 'Binary') {
    return physical === byteArray && bytes.length < boundBytesMost ? byteText(bytes) : undefined
  }
  const isWhole = type.kind === 'Decimal' && (physical === fixed || physical === byteArray) && bytes.length > 0
  if (isWhole) return BigInt.asIntN(8 * bytes.length, littleEndian(bytes.toReversed()))
  const width = physical === boolean ? 1 : physical === int32 ? 4 : physical === int64 ? 8 : undefined
  if (width === undefined || bytes.length !== width) return undefined
  const value = littleEndian(bytes)
  return physical === boolean || type.kind.startsWith('UInt') ? value : BigInt.asIntN(8 * width, value)
}

/** The serialized form of a value; undefined where the type has none here, or the value none in its type. */
function singleValue(type: DataType, value: Ordered): Uint8Array | undefined {
  if (typeof value === 'string') return Uint8Array.from(value, (char) => char.charCodeAt(0))
  switch (type.kind) {
    case 'Bool':
      return Uint8Array.of(Number(value))
    case 'Int8':
    case 'Int16':
    case 'Int32':
    case 'UInt8':
    case 'UInt16':
    case 'Date':
      return wholeNumber(value, 4)
    case 'Int64':
    case 'UInt32':
      return wholeNumber(value, 8)
    case 'Timestamp':
    case 'Time':
      return wholeNumber(type.unit === 'Microsecond' ? value : value * 1000n, 8)
    case 'Decimal':
    case 'UInt64':
      return shortest(value)
    default:
      return undefined
  }
}

/** Little-endian; undefined for a number that needs more bytes. */
function wholeNumber(value: bigint, bytes: 4 | 8): Uint8Array | undefined {
  if (BigInt.asIntN(8 * bytes, value) !== value) return undefined
  const out = new DataView(new ArrayBuffer(bytes))
  if (bytes === 4) out.setInt32(0, Number(value), true)
  else out.setBigInt64(0, value, true)
  return new Uint8Array(out.buffer)
}

/** Two's complement, big-endian, in as few bytes as hold the sign. */
function shortest(value: bigint): Uint8Array {
  let length = 1
  while (BigInt.asIntN(8 * length, value) !== value) length++
  return Uint8Array.from({ length }, (_, at) => Number(BigInt.asUintN(8, value >> BigInt(8 * (length - 1 - at)))))
}

// A Parquet file, by the writer of our slices: row groups of 131,072 rows, compressed with Zstandard; GeoParquet 1.1 where it
// has a column of geometry.
// Source: https://github.com/apache/parquet-format

import { must } from '../../../base/assert.ts'
import { NodeError } from '../../../base/errors.ts'
import { foldAscii } from '../../../model/names.ts'
import { type Column, type DataType, innerType, optional, type RecordBatch } from '../../../model/schema.ts'
import { SliceWriter } from '../../parquet/write-slice.ts'
import {
  type FileColumn,
  fieldsOf,
  type FileFormat,
  type FileOptions,
  type FileTools,
  type FileWriter,
} from '../file-format.ts'
import { geometryColumn } from '../geojson/features.ts'
import { beginsWithGeometry, boundNames, GeometryColumn } from './geo-columns.ts'

export const parquet: FileFormat = {
  kind: 'file',
  name: 'Parquet',
  spellings: ['parquet', 'GeoParquet', 'geoparquet'],
  mediaTypes: ['application/vnd.apache.parquet', 'application/parquet'],
  extension: 'parquet',
  hasSystemColumns: true,
  choices: ['geometry'],
  hasLists: true,
  isReadInParts: true,
  begin: (columns, options, tools) => beginParquet(columns, options, tools),
}

/** A file whose rows are there, and what makes them. */
interface OpenParquet {
  readonly writer: SliceWriter
  readonly convert: (batch: RecordBatch) => RecordBatch
  readonly metadata: () => Readonly<Record<string, string>>
}

function beginParquet(columns: readonly FileColumn[], { geometry }: FileOptions, { compress }: FileTools): FileWriter {
  // Fails before any row where the named column cannot be it.
  const named = geometry === undefined ? undefined : geometryColumn(columns, geometry)
  const stored = columns.map((column) => ({ ...column, type: parquetType(column.type) }))
  let file: OpenParquet | undefined
  const open = (first: RecordBatch | undefined): OpenParquet => {
    const at = named ?? likelyGeometry(columns, first)
    if (at !== undefined) return openGeoParquet(stored, at, compress)
    const writer = new SliceWriter({ fields: fieldsOf(stored), compress })
    return { writer, convert: (batch) => batch, metadata: () => ({}) }
  }
  return {
    *rows(batch) {
      file ??= open(batch)
      for (const _ of file.writer.add(file.convert(inMilliseconds(batch, columns)))) yield* file.writer.take()
      yield* file.writer.take()
    },
    *end() {
      file ??= open(undefined)
      const steps = file.writer.finish(file.metadata())
      for (;;) {
        const { done, value } = steps.next()
        if (done === true) return yield* value
        yield* file.writer.take()
      }
    },
  }
}

/** The column `geometry`, where it is text that begins with GeoJSON: WKT, for instance, stays the text that it is. */
function likelyGeometry(columns: readonly FileColumn[], first: RecordBatch | undefined): number | undefined {
  const at = columns.findIndex(({ name, type }) => foldAscii(name) === 'geometry' && type.kind === 'String')
  const column = first?.columns[at]
  return at >= 0 && (column === undefined || beginsWithGeometry(column)) ? at : undefined
}

function openGeoParquet(columns: readonly FileColumn[], at: number, compress: FileTools['compress']): OpenParquet {
  const { name } = must(columns[at], 'a column')
  const taken = new Set(columns.map((column) => foldAscii(column.name)))
  const boundsName = taken.has('bbox') ? `${name}_bbox` : 'bbox'
  if (taken.has(foldAscii(boundsName))) {
    throw new NodeError(
      'InvalidParameter',
      `GeoParquet needs a name for bounds: '${boundsName}' is a column already.`,
      { hint: 'Give that column another name, or the geometry.' },
    )
  }
  const converted = columns.map((column, index) => (index === at ? { ...column, type: binary } : column))
  const group = { name: boundsName, fields: boundNames.map((bound) => ({ name: bound, type: double })) }
  const writer = new SliceWriter({ fields: fieldsOf(converted), compress, group })
  const geometries = new GeometryColumn()
  return {
    writer,
    convert: ({ rows, columns: all }) => {
      const { geometry, bounds } = geometries.convert(must(all[at], 'a column of the batch'))
      return { rows, columns: [...all.with(at, geometry), ...bounds] }
    },
    metadata: () => ({ geo: geometries.metadata(name, boundsName) }),
  }
}

const binary: DataType = { kind: 'Binary' }
const double: DataType = { kind: 'Float64' }

function holdsSeconds(type: DataType): boolean {
  if (type.kind === 'List') return holdsSeconds(innerType(type.itemType))
  return type.kind === 'Timestamp' && type.unit === 'Second'
}

/** Parquet has no timestamps in seconds. */
function parquetType(type: DataType): DataType {
  if (!holdsSeconds(type)) return type
  if (type.kind === 'List') return { ...type, itemType: optional(parquetType(innerType(type.itemType))) }
  return type.kind === 'Timestamp' ? { ...type, unit: 'Millisecond' } : type
}

function inMilliseconds(batch: RecordBatch, columns: readonly FileColumn[]): RecordBatch {
  if (!columns.some(({ type }) => holdsSeconds(type))) return batch
  return { rows: batch.rows, columns: batch.columns.map(columnInMilliseconds) }
}

function columnInMilliseconds(column: Column): Column {
  const type = parquetType(column.type)
  if (type === column.type) return column
  if (column.child !== undefined) return { ...column, type, child: columnInMilliseconds(column.child) }
  if (type.kind !== 'Timestamp') return column
  const { buffer, byteOffset } = column.values
  const seconds = new BigInt64Array(buffer, byteOffset, column.rows)
  const millis = seconds.map((second) => {
    const exact = second * 1000n
    if (BigInt.asIntN(64, exact) !== exact) throw beyondParquet(column.name)
    return exact
  })
  return { ...column, type, values: new Uint8Array(millis.buffer) }
}

function beyondParquet(column: string): NodeError {
  return new NodeError('SqlValue', `A timestamp of the column '${column}' has no place among Parquet's milliseconds.`, {
    hint: 'Cast the column to TIMESTAMP.',
  })
}

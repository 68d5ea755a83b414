// The door to the formats: which one a media type names, a reader or an inferrer for it, and the last touch to what a
// reader made.

import { bitAt } from '../arrow/buffers.ts'
import { must, unreachable } from '../lib/assert.ts'
import { NodeError } from '../model/errors.ts'
import type { Column, RecordBatch } from '../model/record-batch.ts'
import type { DataType } from '../model/schema.ts'
import { createCsvInferrer } from './csv/infer.ts'
import { createCsvReader } from './csv/reader.ts'
import { createGeoJsonInferrer, createNdGeoJsonInferrer } from './geojson/infer.ts'
import { createGeoJsonReader, createNdGeoJsonReader } from './geojson/reader.ts'
import { createJsonInferrer, createNdjsonInferrer } from './json/infer.ts'
import { createJsonReader, createNdjsonReader } from './json/reader.ts'
import type { CsvHeader, Format, InferOptions, Inferrer, ReaderOptions, RecordReader } from './reader.ts'

const formatsByType: ReadonlyMap<string, Format> = new Map([
  ['text/csv', 'csv'],
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/geo+json', 'geojson'],
  ['application/vnd.geo+json', 'geojson'],
  ['application/x-ndgeojson', 'ndgeojson'],
  ['application/geo+json-seq', 'ndgeojson'],
])

/** The canonical media type of each format. */
export const mediaTypes: Readonly<Record<Format, string>> = {
  csv: 'text/csv',
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  geojson: 'application/geo+json',
  ndgeojson: 'application/x-ndgeojson',
}

export interface BodyFormat {
  readonly format: Format
  /** Canonical media type, without parameters. */
  readonly mediaType: string
  /** What the parameter `header` says. */
  readonly csvHeader: CsvHeader | undefined
}

function unsupported(message: string, mediaType: string): NodeError {
  const form = mediaType === 'application/x-www-form-urlencoded'
  const hint = form
    ? "curl -d sends a form unless it is told otherwise: add -H 'Content-Type: application/x-ndjson', and --data-binary to keep line ends."
    : `Use ${Object.values(mediaTypes).join(', ')}.`
  return new NodeError('UnsupportedMediaType', message, { hint, candidates: Object.values(mediaTypes) })
}

function parameter(text: string): readonly [string, string] {
  const equals = text.indexOf('=')
  if (equals < 0) return [text.trim().toLowerCase(), '']
  const value = text.slice(equals + 1).trim()
  const unquoted = value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
  return [text.slice(0, equals).trim().toLowerCase(), unquoted.toLowerCase()]
}

/** The format that a `Content-Type` names. Throws NodeError `UnsupportedMediaType`. */
export function formatOf(contentType: string | undefined): BodyFormat {
  const [type = '', ...parameters] = (contentType ?? '').split(';')
  const mediaType = type.trim().toLowerCase()
  const format = formatsByType.get(mediaType)
  if (format === undefined) {
    const shown =
      mediaType === '' ? 'The body has no media type.' : `The media type '${mediaType.slice(0, 100)}' is not supported.`
    throw unsupported(shown, mediaType)
  }
  let csvHeader: CsvHeader | undefined
  for (const text of parameters) {
    const [name, value] = parameter(text)
    if (name === 'charset' && value !== 'utf-8' && value !== 'utf8') {
      throw unsupported(`The charset '${value.slice(0, 100)}' is not supported; only UTF-8 is.`, mediaType)
    }
    if (name !== 'header' || format !== 'csv') continue
    if (value !== 'present' && value !== 'absent') {
      throw unsupported(`The parameter header is 'present' or 'absent', not '${value.slice(0, 100)}'.`, mediaType)
    }
    csvHeader = value
  }
  return { format, mediaType: mediaTypes[format], csvHeader }
}

/** A reader of one body. Cheap to make when `options.fields` is an array seen before. */
export function createReader(format: Format, options: ReaderOptions): RecordReader {
  switch (format) {
    case 'csv':
      return createCsvReader(options)
    case 'json':
      return createJsonReader(options)
    case 'ndjson':
      return createNdjsonReader(options)
    case 'geojson':
      return createGeoJsonReader(options)
    case 'ndgeojson':
      return createNdGeoJsonReader(options)
    default:
      return unreachable(format)
  }
}

/** An inferrer for one body. */
export function createInferrer(format: Format, options: InferOptions): Inferrer {
  switch (format) {
    case 'csv':
      return createCsvInferrer(options)
    case 'json':
      return createJsonInferrer(options)
    case 'ndjson':
      return createNdjsonInferrer(options)
    case 'geojson':
      return createGeoJsonInferrer(options)
    case 'ndgeojson':
      return createNdGeoJsonInferrer(options)
    default:
      return unreachable(format)
  }
}

const dayMs = 86_400_000

function fallbackValue(type: DataType, fallbackMs: number): bigint {
  if (type.kind !== 'Timestamp') return BigInt(Math.floor(fallbackMs / dayMs))
  const ms = BigInt(fallbackMs)
  switch (type.unit ?? 'Millisecond') {
    case 'Second':
      return BigInt(Math.floor(fallbackMs / 1000))
    case 'Millisecond':
      return ms
    case 'Microsecond':
      return ms * 1000n
    default:
      return ms * 1_000_000n
  }
}

/**
 * The batch with its first column (Timestamp or Date) made non-null: missing values become `fallbackMs`, milliseconds
 * since 1970 UTC (its day in a Date column), written into the values of `batch`. Nothing is copied.
 */
export function fillEventTime(batch: RecordBatch, fallbackMs: number): RecordBatch {
  const [column, ...others] = batch.columns
  const { validity, ...whole } = must(column, 'an event-time column')
  const filled: Column = { ...whole, nullable: false, nullCount: 0 }
  if (validity === undefined) return { rows: batch.rows, columns: [filled, ...others] }
  const { values } = whole
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength)
  const isDate = whole.type.kind === 'Date'
  const value = fallbackValue(whole.type, fallbackMs)
  for (let row = 0; row < batch.rows; row++) {
    if (bitAt(validity, row)) continue
    if (isDate) view.setInt32(4 * row, Number(value), true)
    else view.setBigInt64(8 * row, value, true)
  }
  return { rows: batch.rows, columns: [filled, ...others] }
}

// What the tests of formats share: options, reading a text in chunks, and columns back to plain values.

import { concatBatches } from '../../../src/libraries/columnar/arrow/columns.ts'
import type { BodyFile } from '../../../src/libraries/columnar/body-file.ts'
import type {
  FileFormat,
  InferOptions,
  Inferred,
  ParsedBody,
  ReaderOptions,
  StreamFormat,
} from '../../../src/libraries/formats/format.ts'
import { formatNamed } from '../../helpers/formats.ts'
import { NodeError, type RecordError } from '../../../src/libraries/base/errors.ts'
import {
  type Column,
  type DataType,
  defaultVocabulary,
  type Field,
  optional,
  timestampMs,
} from '../../../src/libraries/model/schema.ts'
import { type Value, valueAt as plainValueAt } from '../columnar/arrow/columns-helper.ts'
import { defaultLimits } from '../../helpers/default-limits.ts'

/** True for doubles that JavaScript does not print as integers of other value: such tokens are refused. */
export const isPlain = (value: number): boolean =>
  !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21

export const optionalField = (name: string, type: DataType): Field => ({ name, type: optional(type) })

const string = { kind: 'String' } as const

/** Columns of a dataset of features with a name and a height. */
export const featureFields: readonly Field[] = [
  optionalField('name', string),
  optionalField('height', { kind: 'Float64' }),
  optionalField('geometry', string),
  optionalField('feature_id', string),
  optionalField('feature_extra', string),
]

export const base = {
  vocabulary: defaultVocabulary,
  recordBytes: 16 * 1024 * 1024,
  jsonDepth: 64,
}

export function readerOptions(fields: readonly Field[], more: Partial<ReaderOptions> = {}): ReaderOptions {
  return { ...base, fields, eventTimeType: timestampMs, unknownFields: 'reject', ...more }
}

export function streamFormat(name: string): StreamFormat {
  const format = formatNamed(name)
  if (format.kind === 'file') throw new TypeError(`${name} is read from files`)
  return format
}

export function readBytes(format: string, bytes: Uint8Array, options: ReaderOptions, chunkBytes?: number): ParsedBody {
  const reader = streamFormat(format).createReader(options)
  const step = chunkBytes ?? Math.max(bytes.length, 1)
  for (let at = 0; at < bytes.length; at += step) {
    // What was pushed is overwritten: a reader that keeps it instead of copying gives other rows.
    const chunk = new Uint8Array(bytes.subarray(at, at + step))
    reader.push(chunk)
    chunk.fill(0x7b)
  }
  return reader.finish()
}

export function read(format: string, text: string, options: ReaderOptions, chunkBytes?: number): ParsedBody {
  return readBytes(format, Buffer.from(text), options, chunkBytes)
}

/** Bytes as the file that a format of files opens. */
export function bodyFile(bytes: Uint8Array): BodyFile {
  return { bytes: bytes.length, at: async (start, end) => bytes.slice(start, end), demandCaller: () => {} }
}

/** All that a generator gives. */
export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** A file whose columns are inferred and whose rows are read. */
export async function readFileBody(
  format: FileFormat,
  bytes: Uint8Array,
  more: Partial<InferOptions> = {},
): Promise<{ readonly inferred: Inferred; readonly body: ParsedBody }> {
  const file = await format.openFile(bodyFile(bytes), { limits: defaultLimits() })
  const inferred = await file.infer({ ...base, columns: 2000, ...more })
  const { fields, eventTimeType, valueless } = inferred
  const batches = await collected(file.read(readerOptions(fields, { ...more, eventTimeType, valueless })))
  return { inferred, body: { records: batches.reduce((sum, { rows }) => sum + rows, 0), batches } }
}

/** The NodeError that the work throws. */
export function failure(work: () => unknown): NodeError {
  try {
    work()
  } catch (error) {
    if (error instanceof NodeError) return error
    throw error
  }
  throw new TypeError('nothing was thrown')
}

/** The NodeError that the promise comes to. */
export async function failureOf(work: Promise<unknown>): Promise<NodeError> {
  const error = await work.then(
    () => new TypeError('nothing was thrown'),
    (thrown: unknown) => thrown,
  )
  if (error instanceof NodeError) return error
  throw error
}

export function faults(
  format: string,
  text: string | Uint8Array,
  options: ReaderOptions,
  chunkBytes?: number,
): readonly RecordError[] {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  return failure(() => readBytes(format, bytes, options, chunkBytes)).details.errors ?? []
}

/** `kind@record` of each fault, `kind@header` for a header. */
export function kinds(format: string, text: string | Uint8Array, options: ReaderOptions): string[] {
  return faults(format, text, options).map(({ kind, record }) => `${kind}@${record ?? 'header'}`)
}

export function infer(format: string, text: string | Buffer, more: Partial<InferOptions> = {}): Inferred {
  const inferrer = streamFormat(format).createInferrer({ ...base, columns: 2000, ...more })
  inferrer.push(typeof text === 'string' ? Buffer.from(text) : text)
  return inferrer.finish()
}

/** As `plainValueAt`, with bytes in hexadecimal. */
export function valueAt(column: Column, row: number): unknown {
  const shown = (value: Value): unknown =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : Array.isArray(value) ? value.map(shown) : value
  return shown(plainValueAt(column, row))
}

/** All rows as arrays in column order, event time first. */
export function rowsOf(body: ParsedBody): unknown[][] {
  if (body.batches.length === 0) return []
  const { rows, columns } = concatBatches(body.batches)
  return Array.from({ length: rows }, (_, row) => columns.map((column) => valueAt(column, row)))
}

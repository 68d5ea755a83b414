// A body being read into typed rows: what it is read from and against, the options of its format, and the rows.

import type { Readable } from 'node:stream'
import { demandReadBack } from '../chain/read-back.ts'
import type {
  CsvHeader,
  FileReader,
  FormatOptions,
  InferOptions,
  Inferred,
  ReaderOptions,
  StreamFormat,
} from '../formats/format.ts'
import type { BodyFormat } from '../formats/registry.ts'
import type { Hash } from '../model/events.ts'
import type { RecordBatch } from '../model/schema.ts'
import type { TaskThreads } from '../work/work-pool.ts'
import type { IngestControls } from './controls.ts'
import { type RowReader, rowReader } from './row-reader.ts'
import { fullSchema, type Shape, shapeOf, type Target } from './shape.ts'
import { fillEventTime, type RowsSource, type TypedRows, typedRowsOf } from './typed-rows.ts'

export interface BodySource extends RowsSource {
  readonly stream: Readable
  readonly format: BodyFormat
  readonly controls: IngestControls
  /** Event time of records that have none, milliseconds since 1970 UTC. */
  readonly fallbackMs: number
  /** Threads that read long bodies. */
  readonly threads?: TaskThreads | undefined
  /** Told the inflated size so far; may throw to end the reading. */
  readonly onBytes: (bytes: number) => void
}

/** A body in which every record fits. */
export interface TypedBody {
  readonly rows: number
  /** Event time (never null), then user columns. The caller discards them. */
  readonly typed: TypedRows
  /** sha2-256: processors have it in hardware. */
  readonly bodyHash: Hash
  /** Of a small body, the hash that bodies had before: so that a repeat of a batch from then is known again. */
  readonly earlierHash?: () => Hash
  /** Inflated size. */
  readonly bytes: number
  readonly csvHeader: CsvHeader | undefined
  /** What the rows were read against; another than that of the target when columns were inferred. */
  readonly shape: Shape
  /** Where columns were inferred: the bytes, to be read again where the dataset turns out to have others. */
  readonly kept?: KeptBytes
}

/** The bytes of a body, for as long as it may have to be read against another schema. */
export interface KeptBytes {
  /** Reads it against `target`; what was read before is freed. Throws as `typedBody`. */
  read(target: Target): Promise<TypedBody>
  /** Frees memory and files. Idempotent. */
  discard(): Promise<void>
}

export interface BodyFacts {
  readonly bodyHash: Hash
  /** Inflated size. */
  readonly bytes: number
}

/** A body being read into rows. */
export class Reading {
  readonly #reader: RowReader
  readonly #source: BodySource
  readonly #shape: Shape
  readonly #typed: TypedRows

  /** Against `shape`, which `inferred` has made, if anything; of `bytes`, where that is known. */
  constructor(
    source: BodySource,
    format: StreamFormat,
    against: { shape: Shape; inferred?: Inferred; bytes?: number },
  ) {
    const { shape, inferred, bytes = source.controls.contentLength } = against
    this.#source = source
    this.#shape = shape
    this.#typed = typedRowsOf(source, shape)
    this.#reader = rowReader(format, readerOptions(source, shape, inferred), { threads: source.threads, bytes })
  }

  get fits(): boolean {
    return this.#reader.fits
  }

  /** Takes the next bytes, and lets go of the rows that are complete. */
  async push(chunk: Uint8Array): Promise<true> {
    // A small body is read at once, and waits for nothing.
    const read = this.#reader.push(chunk)
    const adding = this.#add(read instanceof Promise ? await read : read)
    if (adding !== undefined) await adding
    return true
  }

  /** Takes the end of the body. */
  async end({ bodyHash, bytes }: BodyFacts): Promise<TypedBody> {
    const finished = this.#reader.finish()
    const { records, batches, csvHeader } = finished instanceof Promise ? await finished : finished
    this.#reader.end()
    const adding = this.#add(batches)
    if (adding !== undefined) await adding
    return { rows: records, typed: this.#typed, csvHeader, shape: this.#shape, bodyHash, bytes }
  }

  async discard(): Promise<void> {
    this.#reader.end()
    await this.#typed.discard()
  }

  #add(batches: readonly RecordBatch[]): Promise<unknown> | undefined {
    if (batches.length === 0) return undefined
    return this.#typed.add(batches.map((batch) => fillEventTime(batch, this.#source.fallbackMs)))
  }
}

interface OpenFile {
  readonly reader: FileReader
  readonly shape: Shape
  /** What has made the shape, if anything. */
  readonly inferred?: Inferred
}

/** All rows of a file against `shape`. */
export async function readRows(source: BodySource, file: OpenFile, facts: BodyFacts): Promise<TypedBody> {
  const { reader, shape, inferred } = file
  const typed = typedRowsOf(source, shape, facts.bytes)
  let rows = 0
  try {
    for await (const batch of reader.read(readerOptions(source, shape, inferred))) {
      rows += batch.rows
      await typed.add([fillEventTime(batch, source.fallbackMs)])
    }
    return { rows, typed, csvHeader: undefined, shape, ...facts }
  } catch (error) {
    await typed.discard()
    throw error
  }
}

function readerOptions(source: BodySource, shape: Shape, inferred: Inferred | undefined): ReaderOptions {
  const { vocabulary, fields, eventTimeType } = shape
  return {
    ...formatOptions(source),
    vocabulary,
    fields,
    eventTimeType,
    unknownFields: source.controls.unknownFields === 'ignore' ? 'ignore' : 'reject',
    ...(inferred === undefined ? {} : { valueless: inferred.valueless }),
    ...(inferred?.csvHeader === undefined ? {} : { csvHeader: inferred.csvHeader }),
  }
}

export function inferOptions(source: BodySource, { vocabulary, shape }: Target): InferOptions {
  const { integers } = source.controls
  return {
    ...formatOptions(source),
    vocabulary,
    columns: source.limits.columns,
    ...(integers === undefined ? {} : { integers }),
    ...(shape === undefined ? {} : { known: shape.payloadFields.slice(1), eventTimeType: shape.eventTimeType }),
  }
}

export function inferredShape(
  inferred: Inferred,
  target: Target,
): { readonly shape: Shape; readonly inferred: Inferred } {
  return { shape: shapeWith(inferred, target), inferred }
}

/** The target's shape with the columns that were inferred; the same one when there are none. Throws `InvalidColumnName`. */
function shapeWith(inferred: Inferred, { vocabulary, shape }: Target): Shape {
  if (shape !== undefined && inferred.added.length === 0) return shape
  const eventTime = { type: inferred.eventTimeType, position: inferred.eventTimePosition }
  const schema =
    shape === undefined
      ? fullSchema(inferred.fields, vocabulary, eventTime)
      : { ...shape.schema, fields: [...shape.schema.fields, ...inferred.added] }
  demandReadBack(schema)
  return shapeOf(schema, shape?.schemaSequence ?? -1, vocabulary)
}

function formatOptions({ controls, limits, format }: BodySource): Omit<FormatOptions, 'vocabulary'> {
  const { timeZone, eventTimeUnit } = controls
  return {
    recordBytes: limits.recordBytes,
    jsonDepth: limits.jsonDepth,
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(eventTimeUnit === undefined ? {} : { eventTimeUnit }),
    ...(format.csvHeader === undefined ? {} : { csvHeader: format.csvHeader }),
  }
}

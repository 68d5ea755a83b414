// From the body of a request to typed columns: read, inflate, count, hash, infer where asked, parse.
// A body is read to its end and found right before anything of it reaches the log; its first bytes are kept (body-head.ts).

import type { Readable } from 'node:stream'
import { demandReadBack } from '../chain/read-back.ts'
import type {
  CsvHeader,
  FileOptions,
  FileReader,
  Format,
  FormatOptions,
  InferOptions,
  Inferred,
  Inferrer,
  ReaderOptions,
  StreamFormat,
} from '../formats/format.ts'
import type { BodyFormat } from '../formats/registry.ts'
import { sha2HashOfHex, sha2HashText, sha3Hash } from '../ids/identifiers.ts'
import { createSha2, sha256Hex } from '../ids/native-crypto.ts'
import { NodeError } from '../model/errors.ts'
import { freeBytes } from '../lib/bytes.ts'
import type { Hash } from '../model/events.ts'
import type { RecordBatch } from '../model/schema.ts'
import type { TaskThreads } from '../work/work-pool.ts'
import type { IngestControls } from './controls.ts'
import { BodyHead } from './body-head.ts'
import { type RowReader, rowReader } from './row-reader.ts'
import { demandUndamaged, DigestCheck } from './content-digest.ts'
import { bodyChunks, wholeBody } from './read-body.ts'
import { fullSchema, type Shape, shapeOf, type Target } from './shape.ts'
import { Spool } from './spool.ts'
import { fillEventTime, type RowsSource, type TypedRows, typedRowsOf } from './typed-rows.ts'

/** Bodies up to this size are read whole before they are parsed. */
const wholeBodyBytes = 64 * 1024

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
  readonly kept?: KeptBody
}

/** Frees what a body holds; undefined where nothing has to be awaited. Idempotent. */
export function discardBody({ typed, kept }: TypedBody): Promise<unknown> | undefined {
  const discarded = typed.discard()
  return kept === undefined ? discarded : Promise.all([discarded, kept.discard()])
}

/**
 * Reads the body against `target`; without a schema, or with `unknownFields=add`, columns are inferred first.
 * Throws NodeErrors of docs/spec/http.md §6.
 */
export async function typedBody(source: BodySource, target: Target): Promise<TypedBody> {
  const head = new BodyHead(source.format.format.name)
  const digest = new DigestCheck(source.controls.contentDigests)
  try {
    const body = await readBody({ ...source, head, digest }, target)
    const map = head.mapDocument(target.shape)
    if (map === undefined) return body
    await discardBody(body)
    throw head.refusal(map)
  } catch (error) {
    await demandUndamaged(source, digest, error)
    throw head.explained(error, target.shape)
  }
}

async function readBody(source: HeadedSource, target: Target): Promise<TypedBody> {
  const { shape } = target
  const { format } = source.format
  if (format.kind === 'file') return readFile(source, target)
  if (shape === undefined || source.controls.unknownFields === 'add') return readInferred(source, format, target)
  const { contentEncoding, contentLength } = source.controls
  const isSmall = contentEncoding === undefined && contentLength !== undefined && contentLength <= wholeBodyBytes
  const body = isSmall ? await wholeBody(source.stream) : undefined
  const reading = new Reading(source, format, { shape })
  try {
    if (body === undefined) {
      const facts = await readThrough(source, async (chunk) => {
        await reading.push(chunk)
        freeBytes(chunk)
      })
      return await reading.end(facts)
    }
    source.digest.update(body)
    source.digest.demandEqual()
    source.head.add(body)
    if (body.length > 0) await reading.push(body)
    const typed = await reading.end({ bodyHash: sha2HashOfHex(sha256Hex(body)), bytes: body.length })
    return { ...typed, earlierHash: () => sha3Hash(body) }
  } catch (error) {
    await reading.discard()
    throw error
  }
}

interface HeadedSource extends BodySource {
  readonly head: BodyHead
  readonly digest: DigestCheck
}

interface BodyFacts {
  readonly bodyHash: Hash
  /** Inflated size. */
  readonly bytes: number
}

/**
 * Reads a body that may have new columns: as if it had none while it arrives, and from the spool, first for its columns
 * and then for its rows, where that does not fit.
 */
async function readInferred(source: HeadedSource, format: StreamFormat, target: Target): Promise<TypedBody> {
  const { shape } = target
  const spool = new Spool(source.spoolDir)
  // Without user columns, a first line of CSV is judged otherwise.
  let attempt =
    shape === undefined || shape.payloadFields.length < 2 ? undefined : new Reading(source, format, { shape })
  try {
    const facts = await readThrough(source, async (chunk) => {
      await spool.append(chunk)
      if (attempt !== undefined && (await whileItFits(attempt, attempt.push(chunk))) === undefined) attempt = undefined
    })
    const kept = new KeptBody(source, spool, facts)
    const read = attempt === undefined ? undefined : await whileItFits(attempt, attempt.end(facts))
    return { ...(read ?? (await kept.read(target))), kept }
  } catch (error) {
    await attempt?.discard()
    await spool.discard()
    throw error
  }
}

/** Reads a body of which any part may be needed first. */
async function readFile(source: HeadedSource, target: Target): Promise<TypedBody> {
  const spool = new Spool(source.spoolDir)
  try {
    const facts = await readThrough(source, (chunk) => spool.append(chunk))
    return await new KeptBody(source, spool, facts).read(target)
  } catch (error) {
    await spool.discard()
    throw error
  }
}

/**
 * What `work` on a reading comes to; undefined, and the reading is given up, at the first thing that is no column or
 * does not fit: reading the body again will find and tell it.
 */
async function whileItFits<T>(reading: Reading, work: Promise<T>): Promise<T | undefined> {
  try {
    const done = await work
    if (reading.fits) return done
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
  }
  await reading.discard()
  return undefined
}

/** The bytes of a body, for as long as it may have to be read against another schema. */
export class KeptBody {
  readonly #source: BodySource
  readonly #spool: Spool
  readonly #facts: BodyFacts
  #last: TypedRows | undefined

  constructor(source: BodySource, spool: Spool, facts: BodyFacts) {
    this.#source = source
    this.#spool = spool
    this.#facts = facts
  }

  /** Reads it against `target`; what was read before is freed. Throws as `typedBody`. */
  async read(target: Target): Promise<TypedBody> {
    await this.#last?.discard()
    const body = await this.#readAs(this.#source.format.format, target)
    this.#last = body.typed
    return { ...body, kept: this }
  }

  async #readAs(format: Format, target: Target): Promise<TypedBody> {
    const { shape } = target
    const isKnown = shape !== undefined && this.#source.controls.unknownFields !== 'add'
    const options = inferOptions(this.#source, target)
    if (format.kind === 'file') {
      const reader = await format.openFile(this.#spool, fileOptions(this.#source))
      const against = isKnown ? { shape } : inferredShape(await reader.infer(options), target)
      return readRows(this.#source, { reader, ...against }, this.#facts)
    }
    const { shape: against, inferred } = isKnown
      ? { shape, inferred: undefined }
      : inferredShape(await infer(format.createInferrer(options), this.#spool), target)
    const reading = new Reading(this.#source, format, {
      shape: against,
      bytes: this.#facts.bytes,
      ...(inferred === undefined ? {} : { inferred }),
    })
    try {
      for await (const chunk of this.#spool.chunks()) await reading.push(chunk)
      return await reading.end(this.#facts)
    } catch (error) {
      await reading.discard()
      throw error
    }
  }

  /** Frees memory and files. Idempotent. */
  async discard(): Promise<void> {
    await this.#last?.discard()
    await this.#spool.discard()
  }
}

function fileOptions({ limits, controls: { layer, charset } }: BodySource): FileOptions {
  return { limits, ...(layer === undefined ? {} : { layer }), ...(charset === undefined ? {} : { charset }) }
}

/** Hands every inflated chunk to `take`; the hash and size of the whole. */
async function readThrough(
  { stream, controls, limits, onBytes, head, digest }: HeadedSource,
  take: (chunk: Uint8Array) => Promise<unknown>,
): Promise<BodyFacts> {
  const hash = createSha2('sha256')
  let bytes = 0
  head.isWaiting = true
  const seen = digest.isAsked ? digest : undefined
  for await (const chunk of bodyChunks(stream, controls.contentEncoding, limits, seen)) {
    head.isWaiting = false
    hash.update(chunk)
    head.add(chunk)
    bytes += chunk.length
    onBytes(bytes)
    await take(chunk)
    head.isWaiting = true
  }
  head.isWaiting = false
  digest.demandEqual()
  return { bodyHash: sha2HashText(hash.digest()), bytes }
}

/** A body being read into rows. */
class Reading {
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
async function readRows(source: BodySource, file: OpenFile, facts: BodyFacts): Promise<TypedBody> {
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

function inferOptions(source: BodySource, { vocabulary, shape }: Target): InferOptions {
  const { integers } = source.controls
  return {
    ...formatOptions(source),
    vocabulary,
    columns: source.limits.columns,
    ...(integers === undefined ? {} : { integers }),
    ...(shape === undefined ? {} : { known: shape.payloadFields.slice(1), eventTimeType: shape.eventTimeType }),
  }
}

async function infer(inferrer: Inferrer, spool: Spool): Promise<Inferred> {
  for await (const piece of spool.chunks()) if (!inferrer.push(piece)) break
  return inferrer.finish()
}

function inferredShape(inferred: Inferred, target: Target): { readonly shape: Shape; readonly inferred: Inferred } {
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

/** Throws NodeError `NothingToInfer` unless there are records to make a dataset of. */
export function demandRecords(body: TypedBody): void {
  if (body.rows > 0) return
  throw new NodeError(
    'NothingToInfer',
    'The body has no records, so there are no columns to create the dataset with.',
    { hint: 'Send records, or declare the schema with PUT.' },
  )
}

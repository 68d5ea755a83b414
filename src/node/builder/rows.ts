// Rows on their way from the log into blocks. A message is decoded once, when it is folded, and a large batch part by
// part as its parts come: the fold gets a summary of columns and counts, and the decoded batches are kept by position for
// the block that will take them, within a bound of bytes for the whole process. What is not kept is read from the log
// again, in one go. Rows that an operator has rejected are not looked into: whatever is wrong with them may be why.

import { batchBytes } from '../../libraries/columnar/arrow/columns.ts'
import { ArrowStreamReader } from '../../libraries/columnar/arrow/ipc-reader.ts'
import { copyBytes } from '../../libraries/base/bytes.ts'
import type { EventLog, LogEntry } from '../log/event-log.ts'
import type { CreateHeader, CutHeader, MessageHeader, RowsHeader } from '../log/messages.gen.ts'
import { type DecodedMessage, decodeMessage } from '../log/messages.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { innerType, type RecordBatch } from '../../libraries/model/schema.ts'
import { rejectionOf, type Rejects } from '../store/records.ts'
import type { EarlyBatch, EarlySlices } from './early-slice.ts'
import { attemptKey, type DatasetState, type PayloadSummary, type WholeRows } from './dataset-state.ts'
import { foldChange, type Rejected } from './fold-change.ts'
import { foldAbort, type FoldResult, foldRows, needsRows } from './fold.ts'

/** What a batch and each of its columns cost beside their bytes, roughly. */
const batchOverheadBytes = 500
const columnOverheadBytes = 500

/** How many bytes of rows the builders of one process keep together. */
export interface RowMemory {
  freeBytes: number
}

interface RowsMessage {
  readonly position: number
  readonly header: RowsHeader
  readonly payload: Uint8Array
}

interface Kept {
  readonly dataset: DatasetId
  readonly batches: readonly RecordBatch[]
  readonly bytes: number
}

/**
 * Decoded rows of one partition by position, and the large batches whose parts are still coming. What was kept first
 * stays until it is taken or forgotten, and what finds no room is not kept: blocks are built in the order of the log, so
 * a backlog would otherwise push out just the rows that are needed next.
 */
export class KeptRows {
  readonly #memory: RowMemory
  /** Rows of a message, or of a large batch under the position of its last part. */
  readonly #kept = new Map<number, Kept>()
  /** By the key of the attempt. */
  readonly #coming = new Map<string, { readonly dataset: DatasetId; readonly reading: RowsReading }>()
  #isClosed = false
  /** What has begun the slices of large batches that find no room. */
  readonly early: EarlySlices | undefined

  constructor(memory: RowMemory, early?: EarlySlices) {
    this.#memory = memory
    this.early = early
  }

  /** How many bytes may be kept now. */
  get freeBytes(): number {
    return this.#isClosed ? 0 : this.#memory.freeBytes
  }

  /** Takes memory, if there is so much. */
  reserve(bytes: number): boolean {
    if (bytes > this.freeBytes) return false
    this.#memory.freeBytes -= bytes
    return true
  }

  release(bytes: number): void {
    this.#memory.freeBytes += bytes
  }

  /** Keeps rows whose memory is reserved. */
  add(position: number, kept: Kept): void {
    if (this.#isClosed || this.#kept.has(position)) this.release(kept.bytes)
    else this.#kept.set(position, kept)
  }

  /** Hands out what is kept at `position`, which gives its memory back. */
  take(position: number): readonly RecordBatch[] | undefined {
    const kept = this.#kept.get(position)
    if (kept === undefined) return undefined
    this.#kept.delete(position)
    this.release(kept.bytes)
    return kept.batches
  }

  /**
   * Reads a part of `attempt`, at its turn, if the parts before it were read so. Whether its rows find no room to be kept.
   */
  readPart(dataset: DatasetId, attempt: string, part: RowsMessage & { readonly earlier: readonly number[] }): boolean {
    const reading = part.earlier.length === 0 ? new RowsReading(this) : this.takeComing(attempt, part.earlier)
    if (this.#isClosed) return false
    if (reading === undefined) return true
    reading.push(part)
    // The sender of the parts decides how large its messages are: what does not fit is read at the end.
    if (reading.reserveHeld()) this.#coming.set(attempt, { dataset, reading })
    else reading.discard()
    return !this.#coming.has(attempt) || !reading.isKept
  }

  /** Hands out the large batch of which exactly the parts at `positions` were read. */
  takeComing(attempt: string, positions: readonly number[]): RowsReading | undefined {
    const reading = this.#coming.get(attempt)?.reading
    this.#coming.delete(attempt)
    if (reading?.positions.length === positions.length && reading.positions.every((at, i) => at === positions[i])) {
      return reading
    }
    reading?.discard()
    return undefined
  }

  /** Drops what is kept of a dataset. */
  forget(dataset: DatasetId): void {
    for (const [position, kept] of this.#kept) if (kept.dataset === dataset) this.take(position)
    for (const [attempt, coming] of this.#coming) if (coming.dataset === dataset) this.takeComing(attempt, [])
    this.early?.drop((batch) => batch.dataset === dataset)
  }

  /** Gives all memory back, and keeps nothing from now on. */
  close(): void {
    this.#isClosed = true
    for (const position of this.#kept.keys()) this.take(position)
    for (const attempt of this.#coming.keys()) this.takeComing(attempt, [])
    this.early?.drop(({ owner }) => owner === this)
  }
}

/** Where messages are read from, what was rejected there, and what is kept of them. */
export interface MessageSource {
  readonly log: EventLog
  readonly partition: number
  readonly rejects: Rejects
  readonly kept?: KeptRows
}

/**
 * Reads a message; one that cannot be read and that an operator has rejected is nobody's.
 * Throws HaltErrors `NewerLog`, `LogDamaged`.
 */
export function decodeEntry(rejects: Rejects, { position, bytes }: LogEntry): DecodedMessage {
  try {
    return decodeMessage(bytes)
  } catch (error) {
    if (!(error instanceof HaltError) || error.reason !== 'LogDamaged' || !rejects.has(position)) throw error
    return { kind: 'foreign' }
  }
}

/** A message of a dataset that exists. */
export interface DatasetMessage {
  readonly position: number
  readonly header: Exclude<MessageHeader, CutHeader | CreateHeader>
  readonly payload: Uint8Array
}

/**
 * Folds a message into its dataset. A rejection of a message covers all its batches; of a part, the whole large batch,
 * whose outcome stands at its last part. `refusal` is why a change is none, as the store says. Throws HaltErrors `LogTruncated`, `LogReplaced` for parts that are gone.
 */
export async function foldMessage(
  source: MessageSource,
  state: DatasetState,
  { position, header, payload }: DatasetMessage,
  refusal?: Rejected,
): Promise<FoldResult> {
  const { kept, rejects } = source
  const dataset = state.id
  if (header.kind === 'change' || header.kind === 'delete' || header.kind === 'restore') {
    const message = rejectionOf(rejects, dataset, [position])
    const byOperator: Rejected | undefined =
      message === undefined ? undefined : { kind: 'rejected', error: 'InvalidRequest', message }
    return foldChange(state, { position, header, refusal: byOperator ?? refusal })
  }
  if (header.kind === 'abort') {
    const key = attemptKey(header.attempt)
    kept?.takeComing(key, [])
    kept?.early?.drop((batch) => batch.attempt === key)
    return foldAbort(state, header, position)
  }
  const attempt = header.part === undefined ? undefined : attemptKey(header.part.attempt)
  const earlier = attempt === undefined ? [] : (state.attempts.get(attempt)?.positions ?? [])
  const message = { position, header, payload }
  if (!needsRows(state, header)) {
    const result = foldRows(state, { position, header, whole: undefined })
    if (result.effect === 'changed' && attempt !== undefined && !rejects.has(position)) {
      const findsNoRoom = kept?.readPart(dataset, attempt, { ...message, earlier })
      if (findsNoRoom === true) kept?.early?.part(earlyBatch(source, state, attempt), earlier, position)
    }
    return result
  }
  const rejection = rejectionOf(rejects, dataset, [...earlier, position])
  const reading = (attempt && kept?.takeComing(attempt, earlier)) || new RowsReading(kept)
  try {
    if (reading.positions.length === 0) {
      for await (const part of readRows(source, earlier)) reading.push(part, rejection === undefined)
    }
    reading.push(message, rejection === undefined)
    const whole = reading.end(rejection)
    const result = foldRows(state, { position, header, whole })
    const isInBlock = state.open?.sources.at(-1)?.positions === whole.positions
    if (isInBlock) reading.keep(dataset)
    if (isInBlock && attempt !== undefined) kept?.early?.end(attempt, earlier, position)
    else kept?.early?.drop((batch) => batch.attempt === attempt)
    return result
  } finally {
    reading.discard()
  }
}

function earlyBatch(source: MessageSource, { id, schema }: DatasetState, attempt: string): EarlyBatch {
  return { dataset: id, attempt, schema, owner: source.kept, read: (positions) => readRows(source, positions) }
}

const notLookedInto: PayloadSummary = { columns: [], rows: 0 }

/**
 * The rows messages at `positions`, which rise, read in order. Throws HaltErrors `LogTruncated` when one is gone,
 * `LogReplaced` when one is another.
 */
async function* readRows({ log, partition }: MessageSource, positions: readonly number[]): AsyncGenerator<RowsMessage> {
  for (let at = 0; at < positions.length;) {
    const before = at
    // What lies between is read too, unless it is more than a step of the log: then the next one is looked for anew.
    for await (const entries of log.read(partition, positions[at] ?? 0, { follow: false })) {
      const first = entries[0]?.position ?? 0
      for (; at < positions.length; at++) {
        const entry = entries[(positions[at] ?? 0) - first]
        if (entry === undefined) break
        yield rowsOf(entry)
      }
      if ((positions[at] ?? 0) !== first + entries.length) break
    }
    if (at === before) throw new HaltError('LogTruncated', `message ${positions[at]} is needed and gone`)
  }
}

function rowsOf({ position, bytes }: LogEntry): RowsMessage {
  const message = decodeMessage(bytes)
  if (message.kind !== 'message' || message.header.kind !== 'rows') {
    throw new HaltError('LogReplaced', `message ${position} has no rows`)
  }
  return { position, header: message.header, payload: message.payload }
}

/**
 * The rows of the messages at `positions`, which are one Arrow stream: as they were kept, or read again. Throws
 * HaltErrors `LogTruncated`, `LogReplaced`, and DecodeError.
 */
export async function* readBatches(source: MessageSource, positions: readonly number[]): AsyncGenerator<RecordBatch> {
  const kept = source.kept?.take(positions.at(-1) ?? -1)
  if (kept !== undefined) {
    yield* kept
    return
  }
  const stream = new ArrowStreamReader()
  for await (const { payload } of readRows(source, positions)) yield* stream.push(payload)
  stream.end()
}

/**
 * The rows of one message, or of a large batch part after part. Validates their Arrow stream in full, so that every
 * builder comes to the same summary, and holds what is decoded while there is room for all of it.
 */
class RowsReading {
  readonly positions: number[] = []
  readonly #kept: KeptRows | undefined
  readonly #stream = new ArrowStreamReader()
  /** Says what the batches are: of a large batch its last part. */
  #telling: RowsHeader | undefined
  #payloadBytes = 0
  #atMs = Number.NEGATIVE_INFINITY
  /** Whether the column has nulls, by its place. */
  readonly #hasNulls: boolean[] = []
  #rows = 0
  #fault: string | undefined
  /** All batches so far; absent once they are more than may be kept. */
  #batches: RecordBatch[] | undefined
  #batchBytes = 0
  #heldBytes = 0

  constructor(kept: KeptRows | undefined) {
    this.#kept = kept
    this.#batches = kept === undefined ? undefined : []
  }

  /** The next message. Never throws for bad bytes: the summary says why. */
  push({ position, header, payload }: RowsMessage, isLookedInto = true): void {
    this.positions.push(position)
    if (header.batches !== undefined) this.#telling ??= header
    this.#payloadBytes += payload.length
    this.#atMs = Math.max(this.#atMs, Date.parse(header.at))
    if (!isLookedInto) return
    const bytes = this.#batches === undefined ? payload : ownBytes(payload)
    this.#unlessFaulty(() => {
      for (const batch of this.#stream.push(bytes)) this.#add(batch)
      if (!this.isKept) this.#stream.free()
    })
  }

  /** There was room for all rows so far. */
  get isKept(): boolean {
    return this.#batches !== undefined
  }

  /** Reserves memory for what waits for the next message. */
  reserveHeld(): boolean {
    const { heldBytes } = this.#stream
    this.#kept?.release(this.#heldBytes)
    this.#heldBytes = 0
    if (this.#kept?.reserve(heldBytes) !== true) return false
    this.#heldBytes = heldBytes
    return true
  }

  /** What the fold is told. */
  end(rejection: string | undefined): WholeRows {
    const { batches = [], schema } = this.#telling ?? {}
    const summary = rejection === undefined ? this.#summary() : notLookedInto
    const { positions } = this
    return { batches, schema, summary, rejection, payloadBytes: this.#payloadBytes, atMs: this.#atMs, positions }
  }

  #summary(): PayloadSummary {
    const fields = this.#unlessFaulty(() => this.#stream.end()) ?? []
    if (this.#fault !== undefined) return { columns: [], rows: 0, fault: this.#fault }
    const columns = fields.map(({ name, type }, index) => {
      return { name, type: innerType(type), hasNulls: this.#hasNulls[index] === true }
    })
    return { columns, rows: this.#rows }
  }

  /** Keeps the rows for the block that takes them, if there was room for all of them. */
  keep(dataset: DatasetId): void {
    if (this.#batches === undefined || this.#fault !== undefined) return
    this.#kept?.add(this.positions.at(-1) ?? -1, { dataset, batches: this.#batches, bytes: this.#batchBytes })
    this.#batches = undefined
    this.#batchBytes = 0
  }

  /** Gives back the memory of what was not kept. Idempotent. */
  discard(): void {
    this.#kept?.release(this.#batchBytes + this.#heldBytes)
    this.#batches = undefined
    this.#batchBytes = 0
    this.#heldBytes = 0
  }

  #add(batch: RecordBatch): void {
    this.#rows += batch.rows
    for (const [index, { nullCount }] of batch.columns.entries()) if (nullCount > 0) this.#hasNulls[index] = true
    if (this.#batches === undefined) return
    const bytes = batchBytes(batch) + batchOverheadBytes + batch.columns.length * columnOverheadBytes
    if (this.#kept?.reserve(bytes) === true) {
      this.#batches.push(batch)
      this.#batchBytes += bytes
      return
    }
    this.#kept?.release(this.#batchBytes)
    this.#batches = undefined
    this.#batchBytes = 0
  }

  #unlessFaulty<T>(read: () => T): T | undefined {
    if (this.#fault !== undefined) return undefined
    try {
      return read()
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      this.#fault = error.message
      return undefined
    }
  }
}

/**
 * Bytes that keep at most 2.5 times as much memory as they have from being freed; others, views of a large chunk, are
 * copied. A chunk that the file log reads has room for two full parts.
 */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength > 2.5 * bytes.length ? copyBytes(bytes) : bytes
}

// Rows on their way from the log into blocks. A message is decoded once, when it is folded: the fold gets a summary of
// columns and counts, and the decoded batches are kept by position for the block that will take them, within a bound of
// bytes for the whole process. What is not kept is read from the log again. Rows that an operator has rejected are not
// looked into: whatever is wrong with them may be why.

import { batchBytes } from '../arrow/columns.ts'
import { ArrowStreamReader } from '../arrow/ipc-reader.ts'
import { copyBytes } from '../lib/bytes.ts'
import type { EventLog, LogEntry } from '../log/event-log.ts'
import type { CreateHeader, CutHeader, MessageHeader, RowsHeader } from '../log/messages.gen.ts'
import { type DecodedMessage, decodeMessage } from '../log/messages.ts'
import { DecodeError, HaltError } from '../model/errors.ts'
import type { DatasetId } from '../model/events.ts'
import { innerType, type RecordBatch } from '../model/schema.ts'
import { rejectionOf, type Rejects } from '../store/records.ts'
import { attemptKey, type DatasetState, type PayloadSummary, type WholeRows } from './dataset-state.ts'
import { foldAbort, type FoldResult, foldRows, needsRows } from './fold.ts'

const keptBytesMost = 64 * 1024 * 1024
/** What a batch and each of its columns cost beside their bytes, roughly. */
const batchOverheadBytes = 500
const columnOverheadBytes = 500

/** How many bytes of rows the builders of one process keep together. */
export class RowMemory {
  freeBytes: number

  constructor(mostBytes = keptBytesMost) {
    this.freeBytes = mostBytes
  }
}

interface RowsMessage {
  readonly header: RowsHeader
  readonly payload: Uint8Array
}

interface Kept {
  readonly dataset: DatasetId
  readonly bytes: number
  /** A part whose batch is not complete yet. */
  readonly part?: RowsMessage
  /** The rows of a message, or of a large batch under the position of its last part. */
  readonly batches?: readonly RecordBatch[]
}

/**
 * Parts and decoded rows of one partition by position. What was kept first stays until it is taken or forgotten, and
 * what finds no room is not kept: blocks are built in the order of the log, so a backlog would otherwise push out just
 * the rows that are needed next.
 */
export class KeptRows {
  readonly #memory: RowMemory
  readonly #kept = new Map<number, Kept>()
  #isClosed = false

  constructor(memory: RowMemory) {
    this.#memory = memory
  }

  /** How many bytes may be kept now. */
  get freeBytes(): number {
    return this.#isClosed ? 0 : this.#memory.freeBytes
  }

  /** Keeps what fits. */
  add(position: number, kept: Kept): void {
    if (kept.bytes > this.freeBytes || this.#kept.has(position)) return
    this.#kept.set(position, kept)
    this.#memory.freeBytes -= kept.bytes
  }

  /** Hands out what is kept at `position`, which gives its memory back. */
  take(position: number): Kept | undefined {
    const kept = this.#kept.get(position)
    if (kept === undefined) return undefined
    this.#kept.delete(position)
    this.#memory.freeBytes += kept.bytes
    return kept
  }

  /** Drops what is kept of a dataset. */
  forget(dataset: DatasetId): void {
    for (const [position, kept] of this.#kept) if (kept.dataset === dataset) this.take(position)
  }

  /** Gives all memory back, and keeps nothing from now on. */
  close(): void {
    this.#isClosed = true
    for (const position of this.#kept.keys()) this.take(position)
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
 * whose outcome stands at its last part. Throws HaltErrors `LogTruncated`, `LogReplaced` for parts that are gone.
 */
export async function foldMessage(
  source: MessageSource,
  state: DatasetState,
  { position, header, payload }: DatasetMessage,
): Promise<FoldResult> {
  const { kept, rejects } = source
  const dataset = state.id
  if (header.kind === 'abort') {
    for (const part of state.attempts.get(attemptKey(header.attempt))?.positions ?? []) kept?.take(part)
    return foldAbort(state, header, position)
  }
  if (!needsRows(state, header)) {
    const result = foldRows(state, { position, header, whole: undefined })
    if (result.effect === 'changed' && kept !== undefined && payload.length <= kept.freeBytes) {
      kept.add(position, { dataset, bytes: payload.length, part: { header, payload: ownBytes(payload) } })
    }
    return result
  }
  const attempt = header.part === undefined ? undefined : state.attempts.get(attemptKey(header.part.attempt))
  const positions = [...(attempt?.positions ?? []), position]
  const rejection = rejectionOf(rejects, dataset, positions)
  const { whole, decoded } = await readWhole(source, { positions, last: { header, payload }, rejection })
  const result = foldRows(state, { position, header, whole })
  const isInBlock = state.open?.sources.at(-1)?.positions === positions
  if (isInBlock && decoded !== undefined) kept?.add(position, { dataset, ...decoded })
  return result
}

interface Decoded {
  readonly batches: readonly RecordBatch[]
  /** Memory that they take. */
  readonly bytes: number
}

const notLookedInto: PayloadSummary = { columns: [], rows: 0 }

/** A message that is whole by itself, or a large batch: part after part, which are never all held beyond what is kept. */
async function readWhole(
  source: MessageSource,
  from: {
    readonly positions: readonly number[]
    readonly last: RowsMessage
    readonly rejection: string | undefined
  },
): Promise<{ whole: WholeRows; decoded: Decoded | undefined }> {
  const { positions, last, rejection } = from
  const decoder = new PayloadDecoder(source.kept?.freeBytes ?? 0)
  let first: RowsHeader | undefined
  let payloadBytes = 0
  let atMs = Number.NEGATIVE_INFINITY
  for (const [index, position] of positions.entries()) {
    const isLast = index === positions.length - 1
    const { header, payload } = isLast
      ? last
      : (source.kept?.take(position)?.part ?? (await readRows(source, position)))
    first ??= header
    if (rejection === undefined) decoder.push(payload)
    payloadBytes += payload.length
    atMs = Math.max(atMs, Date.parse(header.at))
  }
  const { summary, decoded } = rejection === undefined ? decoder.end() : { summary: notLookedInto, decoded: undefined }
  const { batches = [], schema } = first ?? last.header
  return { whole: { batches, schema, summary, rejection, payloadBytes, atMs, positions }, decoded }
}

/** The rows message at `position`. Throws HaltError `LogTruncated` when it is gone, `LogReplaced` when it is another. */
async function readRows({ log, partition }: MessageSource, position: number): Promise<RowsMessage> {
  const bytes = await log.get(partition, position)
  if (bytes === undefined) throw new HaltError('LogTruncated', `message ${position} is needed and gone`)
  const message = decodeMessage(bytes)
  if (message.kind !== 'message' || message.header.kind !== 'rows') {
    throw new HaltError('LogReplaced', `message ${position} has no rows`)
  }
  return { header: message.header, payload: message.payload }
}

/**
 * The rows of the messages at `positions`, which are one Arrow stream: as they were kept, or read again. Throws
 * HaltErrors `LogTruncated`, `LogReplaced`, and DecodeError.
 */
export async function* readBatches(source: MessageSource, positions: readonly number[]): AsyncGenerator<RecordBatch> {
  const kept = source.kept?.take(positions.at(-1) ?? -1)?.batches
  if (kept !== undefined) {
    yield* kept
    return
  }
  const stream = new ArrowStreamReader()
  for (const position of positions) yield* stream.push((await readRows(source, position)).payload)
  stream.end()
}

/** Validates an Arrow stream in full, part after part, so that every builder comes to the same summary. */
class PayloadDecoder {
  readonly #stream = new ArrowStreamReader()
  readonly #roomBytes: number
  /** Whether the column has nulls, by its place. */
  readonly #hasNulls: boolean[] = []
  #rows = 0
  #fault: string | undefined
  #bytes = 0
  /** All batches so far; absent once they are more than may be kept. */
  #batches: RecordBatch[] | undefined = []

  constructor(roomBytes: number) {
    this.#roomBytes = roomBytes
  }

  /** The next bytes of the stream. Never throws for bad bytes: the summary says why. */
  push(payload: Uint8Array): void {
    const bytes = this.#bytes + payload.length <= this.#roomBytes ? ownBytes(payload) : payload
    this.#unlessFaulty(() => {
      for (const batch of this.#stream.push(bytes)) this.#add(batch)
    })
  }

  /** What all of the stream holds, and its rows if they may be kept. */
  end(): { summary: PayloadSummary; decoded: Decoded | undefined } {
    const fields = this.#unlessFaulty(() => this.#stream.end()) ?? []
    if (this.#fault !== undefined) {
      return { summary: { columns: [], rows: 0, fault: this.#fault }, decoded: undefined }
    }
    const columns = fields.map(({ name, type }, index) => {
      return { name, type: innerType(type), hasNulls: this.#hasNulls[index] === true }
    })
    const batches = this.#batches
    return {
      summary: { columns, rows: this.#rows },
      decoded: batches === undefined ? undefined : { batches, bytes: this.#bytes },
    }
  }

  #add(batch: RecordBatch): void {
    this.#rows += batch.rows
    for (const [index, { nullCount }] of batch.columns.entries()) if (nullCount > 0) this.#hasNulls[index] = true
    this.#bytes += batchBytes(batch) + batchOverheadBytes + batch.columns.length * columnOverheadBytes
    if (this.#bytes <= this.#roomBytes) this.#batches?.push(batch)
    else this.#batches = undefined
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

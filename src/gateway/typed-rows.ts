// The rows of a body on their way to the log: in memory while they are few, from then on as an Arrow stream that goes to
// the log part after part, or into a spool where it is not yet known whose rows they are. A long body is never held as a
// whole; few rows cost no promise, since most bodies are one small record.

import { bitAt } from '../arrow/buffers.ts'
import { batchBytes, concatBatches } from '../arrow/columns.ts'
import { arrowBatchMessage, arrowStreamEnd, arrowStreamStart } from '../arrow/ipc.ts'
import { assert, must } from '../lib/assert.ts'
import { nextTurn } from '../lib/clock.ts'
import type { Limits } from '../lib/limits.ts'
import { NodeError } from '../model/errors.ts'
import type { Column, DataType, Field, RecordBatch } from '../model/schema.ts'
import { type LargeBatch, partBytes } from './large-batch.ts'
import type { Shape } from './shape.ts'
import { Spool } from './spool.ts'

export interface TypedRowsOptions {
  /** Columns of the batches. One array per schema. */
  readonly fields: readonly Field[]
  /** Takes what is not held in memory. */
  readonly open: () => Spool | LargeBatch
  /** Most bytes that the rows may take as columns. */
  readonly mostBytes: number
}

/** What a message can hold, a whole Arrow stream for several, or one of which all but the end is in the log. */
export type RowsForLog =
  | { readonly kind: 'few'; readonly columns: RecordBatch; readonly bytes: number }
  | { readonly kind: 'spooled'; readonly spool: Spool }
  | { readonly kind: 'sent'; readonly large: LargeBatch }

/** Rows up to this size are held until all are read: most of what is refused leaves no trace in the log. */
const heldBytes = 4 * 1024 * 1024
/** What a file of so many bytes may become: a few bytes of dictionary can stand for gigabytes of text. */
const leastTypedBytes = 64 * 1024 * 1024

/** Rows read against `shape`, within the limits of a body, or of a file of `fileBytes`. */
export function typedRowsOf({ spoolDir, limits, toLog }: RowsSource, shape: Shape, fileBytes?: number): TypedRows {
  const { inflatedBytes, inflatedRatio } = limits
  const ofFile = fileBytes === undefined ? inflatedBytes : Math.max(leastTypedBytes, fileBytes * inflatedRatio)
  const open = (): Spool | LargeBatch => toLog?.(shape) ?? new Spool(spoolDir)
  return new TypedRows({ fields: shape.payloadFields, open, mostBytes: Math.min(inflatedBytes, ofFile) })
}

export interface RowsSource {
  /** Directory for what does not fit in memory. */
  readonly spoolDir: string
  readonly limits: Limits
  /** Where rows of a shape go that are many; absent where it is not known yet. */
  readonly toLog?: ((shape: Shape) => LargeBatch) | undefined
}

export class TypedRows {
  readonly #options: TypedRowsOptions
  #batches: RecordBatch[] = []
  #bytes = 0
  #stream: Spool | LargeBatch | undefined

  constructor(options: TypedRowsOptions) {
    this.#options = options
  }

  /**
   * Adds batches in order; undefined where nothing had to be awaited. Throws NodeError `BodyTooLarge`,
   * `StorageFull`, and what the log throws.
   */
  add(batches: readonly RecordBatch[]): Promise<unknown> | undefined {
    const { mostBytes } = this.#options
    for (const batch of batches) this.#bytes += batchBytes(batch)
    if (this.#bytes > mostBytes) {
      throw new NodeError('BodyTooLarge', `The rows take more than ${mostBytes} bytes as columns.`, {
        hint: 'Send them in smaller batches. A file may become at most inflatedRatio times as large (GET /limits).',
        limit: { name: 'inflatedBytes', value: mostBytes, unit: 'bytes' },
      })
    }
    this.#batches.push(...batches)
    return this.#stream === undefined && this.#bytes <= heldBytes ? undefined : this.#write()
  }

  async #write(): Promise<Spool | LargeBatch> {
    const { fields, open } = this.#options
    if (this.#stream === undefined) {
      this.#stream = open()
      await this.#stream.append(arrowStreamStart(fields))
    }
    for (const batch of this.#batches.splice(0)) {
      // To read them has held the event loop long enough.
      await nextTurn()
      await this.#stream.append(arrowBatchMessage(fields, batch))
    }
    return this.#stream
  }

  /** All rows, at once while they are few; there must be some. Nothing may be added afterwards. Throws as `add`. */
  finish(): RowsForLog | Promise<RowsForLog> {
    if (this.#stream !== undefined || this.#bytes > partBytes) return this.#end()
    assert(this.#batches.length > 0, 'a body without rows is not sent')
    return { kind: 'few', columns: concatBatches(this.#batches), bytes: this.#bytes }
  }

  async #end(): Promise<RowsForLog> {
    const stream = await this.#write()
    await stream.append(arrowStreamEnd())
    return stream instanceof Spool ? { kind: 'spooled', spool: stream } : { kind: 'sent', large: stream }
  }

  /** Frees memory and file; undefined where nothing has to be awaited. Idempotent. */
  discard(): Promise<void> | undefined {
    this.#batches = []
    return this.#stream?.discard()
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

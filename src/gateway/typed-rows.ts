// The rows of a body on their way to the log: in memory while they are few, from then on as a spooled Arrow stream, so
// that a long body is never held as a whole. Few rows cost no promise: most bodies are one small record.

import { bitAt } from '../arrow/buffers.ts'
import { batchBytes, concatBatches } from '../arrow/columns.ts'
import { arrowBatchMessage, arrowStreamEnd, arrowStreamStart } from '../arrow/ipc.ts'
import { assert, must } from '../lib/assert.ts'
import { nextTurn } from '../lib/clock.ts'
import type { Limits } from '../lib/limits.ts'
import { NodeError } from '../model/errors.ts'
import type { Column, DataType, Field, RecordBatch } from '../model/schema.ts'
import { partBytes } from './publish.ts'
import { Spool } from './spool.ts'

export interface TypedRowsOptions {
  /** Columns of the batches. One array per schema. */
  readonly fields: readonly Field[]
  readonly spoolDir: string
  /** Most bytes that the rows may take as columns. */
  readonly mostBytes: number
}

/** What a message can hold, or a whole Arrow stream for several. */
export type RowsForLog =
  | { readonly kind: 'few'; readonly columns: RecordBatch; readonly bytes: number }
  | { readonly kind: 'many'; readonly spool: Spool }

/** What a file of so many bytes may become: a few bytes of dictionary can stand for gigabytes of text. */
const leastTypedBytes = 64 * 1024 * 1024

/** Rows of `fields`, within the limits of a body, or of a file of `fileBytes`. */
export function typedRowsOf(
  { spoolDir, limits }: { readonly spoolDir: string; readonly limits: Limits },
  fields: readonly Field[],
  fileBytes?: number,
): TypedRows {
  const { inflatedBytes, inflatedRatio } = limits
  const ofFile = fileBytes === undefined ? inflatedBytes : Math.max(leastTypedBytes, fileBytes * inflatedRatio)
  return new TypedRows({ fields, spoolDir, mostBytes: Math.min(inflatedBytes, ofFile) })
}

export class TypedRows {
  readonly #options: TypedRowsOptions
  #batches: RecordBatch[] = []
  #bytes = 0
  #spool: Spool | undefined

  constructor(options: TypedRowsOptions) {
    this.#options = options
  }

  /** Adds batches in order; undefined where nothing had to be awaited. Throws NodeError `BodyTooLarge`, `StorageFull`. */
  add(batches: readonly RecordBatch[]): Promise<void> | undefined {
    const { mostBytes } = this.#options
    for (const batch of batches) this.#bytes += batchBytes(batch)
    if (this.#bytes > mostBytes) {
      throw new NodeError('BodyTooLarge', `The rows take more than ${mostBytes} bytes as columns.`, {
        hint: 'Send them in smaller batches. A file may become at most inflatedRatio times as large (GET /limits).',
        limit: { name: 'inflatedBytes', value: mostBytes, unit: 'bytes' },
      })
    }
    this.#batches.push(...batches)
    return this.#bytes <= partBytes ? undefined : this.#spoolBatches()
  }

  async #spoolBatches(): Promise<void> {
    const { fields, spoolDir } = this.#options
    if (this.#spool === undefined) {
      this.#spool = new Spool(spoolDir)
      await this.#spool.append(arrowStreamStart(fields))
    }
    for (const batch of this.#batches.splice(0)) {
      // To read them has held the event loop long enough.
      await nextTurn()
      await this.#spool.append(arrowBatchMessage(fields, batch))
    }
  }

  /** All rows, at once while they are few; there must be some. Nothing may be added afterwards. */
  finish(): RowsForLog | Promise<RowsForLog> {
    if (this.#spool !== undefined) return endSpool(this.#spool)
    assert(this.#batches.length > 0, 'a body without rows is not sent')
    return { kind: 'few', columns: concatBatches(this.#batches), bytes: this.#bytes }
  }

  /** Frees memory and file; undefined where nothing has to be awaited. Idempotent. */
  discard(): Promise<void> | undefined {
    this.#batches = []
    return this.#spool?.discard()
  }
}

async function endSpool(spool: Spool): Promise<RowsForLog> {
  await spool.append(arrowStreamEnd())
  return { kind: 'many', spool }
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

// The rows of a body on their way to the log: in memory while they are few, from then on as an Arrow stream that goes to
// the log part after part, or into a spool where it is not yet known whose rows they are. A long body is never held as a
// whole; few rows cost no promise, since most bodies are one small record.

import {
  type BroughtSoFar,
  bytesWith,
  cellsOf,
  fieldsAt,
  leavesOut,
  rowsWith,
} from '../../libraries/columnar/arrow/brought-rows.ts'
import { freeBuilt } from '../../libraries/columnar/arrow/column-builder.ts'
import { batchBytes, concatBatches } from '../../libraries/columnar/arrow/columns.ts'
import { arrowStreamEnd, arrowStreamStart } from '../../libraries/columnar/arrow/ipc.ts'
import { assert } from '../../libraries/base/assert.ts'
import type { Limits } from '../../libraries/base/limits.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { Field, RecordBatch } from '../../libraries/model/schema.ts'
import type { BodyCost } from './body-cost.ts'
import { heldBytes, type LargeBatch, partBytes } from './large-batch.ts'
import type { ReadRows } from './row-reader.ts'
import { batchesOf, messagesOf, RowsSpool } from './rows-spool.ts'
import type { Shape } from './shape.ts'

export interface TypedRowsOptions {
  /** Columns that rows may have. One array per schema. */
  readonly fields: readonly Field[]
  readonly spoolDir: string
  /** Begins what takes many rows with all columns; absent where none may be in the log before the last is known. */
  readonly open?: (() => LargeBatch) | undefined
  /** Most bytes that the rows may take as columns. */
  readonly mostBytes: number
  /** Columns are in memory of their own, that of builders. */
  readonly isBuilt?: boolean
  /** Told how many cells the rows take; may throw to end the reading. */
  readonly onCells: (cells: number) => void
}

/** What a message can hold, a whole Arrow stream for several, or one of which all but the end is in the log. */
export type RowsForLog =
  /** The columns of `fields`. */
  | { readonly kind: 'few'; readonly fields: readonly Field[]; readonly columns: RecordBatch; readonly bytes: number }
  | { readonly kind: 'spooled'; readonly stream: () => AsyncIterable<Uint8Array> }
  | { readonly kind: 'sent'; readonly large: LargeBatch }

/** What a file of so many bytes may become: a few bytes of dictionary can stand for gigabytes of text. */
const leastTypedBytes = 64 * 1024 * 1024

/** Rows read against `shape`, within the limits of a body, or of a file of `fileBytes`. */
export function typedRowsOf(
  { spoolDir, limits, toLog, cost }: RowsSource,
  shape: Shape,
  fileBytes?: number,
): TypedRows {
  const { columnBytes, inflatedRatio } = limits
  const ofFile = fileBytes === undefined ? columnBytes : Math.max(leastTypedBytes, fileBytes * inflatedRatio)
  return new TypedRows({
    fields: shape.payloadFields,
    spoolDir,
    open: toLog && ((): LargeBatch => toLog(shape)),
    isBuilt: fileBytes === undefined,
    mostBytes: Math.min(columnBytes, ofFile),
    onCells: (cells) => cost.fill(cells, fileBytes === undefined ? 'stream' : 'file'),
  })
}

export interface RowsSource {
  /** Directory for what does not fit in memory. */
  readonly spoolDir: string
  readonly limits: Limits
  /** Where rows of a shape go that are many; absent where it is not known yet. */
  readonly toLog?: ((shape: Shape) => LargeBatch) | undefined
  readonly cost: Pick<BodyCost, 'read' | 'fill' | 'bound'>
}

export class TypedRows {
  readonly #options: TypedRowsOptions
  #held: ReadRows[] = []
  #rows = 0
  #bytes = 0
  /** Items of lists, beside the rows. */
  #items = 0
  #batches = 0
  /** Of the columns that the rows bring, by place: in how many rows. */
  readonly #rowsOf = new Map<number, number>([[0, 0]])
  #many: RowsSpool | LargeBatch | undefined

  constructor(options: TypedRowsOptions) {
    this.#options = options
  }

  /** How many there are so far. */
  get rows(): number {
    return this.#rows
  }

  /**
   * Adds rows in order; undefined where nothing had to be awaited. Throws NodeError `BodyTooLarge`,
   * `StorageFull`, and what the log throws.
   */
  add(read: readonly ReadRows[]): Promise<unknown> | undefined {
    for (const rows of read) this.#count(rows)
    const { fields, mostBytes, onCells } = this.#options
    const places = this.#places()
    if (bytesWith(fields, places, this.#brought) > mostBytes) {
      throw new NodeError('BodyTooLarge', `The rows take more than ${mostBytes} bytes as columns.`, {
        hint: 'Send them in smaller batches. A file may become at most inflatedRatio times as large (GET /limits).',
        limit: { name: 'columnBytes', value: mostBytes, unit: 'bytes' },
      })
    }
    onCells(this.#rows * places.length + this.#items)
    this.#held.push(...read)
    return this.#many === undefined && this.#bytes <= heldBytes ? undefined : this.#write()
  }

  #count(read: ReadRows): void {
    const { rows, places } = read
    this.#rows += rows
    this.#bytes += 'messages' in read ? read.bytes : batchBytes(read)
    this.#items += ('messages' in read ? read.cells : cellsOf(read)) - rows * places.length
    for (const place of places) this.#rowsOf.set(place, (this.#rowsOf.get(place) ?? 0) + rows)
    this.#batches += 'messages' in read ? read.messages.length : 1
  }

  /** The columns that the rows have in the log, by place: those that they bring, or all where that is little more. */
  #places(): readonly number[] {
    const { fields } = this.#options
    const isPart = (this.#many === undefined || this.#many instanceof RowsSpool) && leavesOut(fields, this.#brought)
    return isPart ? [...this.#rowsOf.keys()].sort((a, b) => a - b) : [...fields.keys()]
  }

  get #brought(): BroughtSoFar {
    return { rows: this.#rows, batches: this.#batches, bytes: this.#bytes, rowsOf: this.#rowsOf }
  }

  /** Rows that bring nearly all columns go to the log at once: of others it is not known yet which they bring. */
  async #begin(): Promise<RowsSpool | LargeBatch> {
    const { fields, open, spoolDir } = this.#options
    if (open === undefined || this.#places().length < fields.length) return new RowsSpool(fields, spoolDir)
    const large = open()
    this.#many = large
    await large.append(arrowStreamStart(fields))
    return large
  }

  async #write(): Promise<RowsSpool | LargeBatch> {
    const { fields } = this.#options
    const many = (this.#many ??= await this.#begin())
    for (const rows of this.#held.splice(0)) {
      if (many instanceof RowsSpool) await many.append(rows)
      else for (const message of await messagesOf(rows, fields, [...fields.keys()])) await many.append(message)
      if ('columns' in rows && this.#options.isBuilt === true) freeBuilt(rows.columns)
    }
    return many
  }

  /** All rows, at once while they are few; there must be some. Nothing may be added afterwards. Throws as `add`. */
  finish(): RowsForLog | Promise<RowsForLog> {
    if (this.#many !== undefined || this.#bytes > partBytes) return this.#end()
    assert(this.#held.length > 0, 'a body without rows is not sent')
    const { fields } = this.#options
    const places = this.#places()
    const batches = this.#held.flatMap((rows) => batchesOf(rows, fields))
    const columns = concatBatches(batches.map((batch) => rowsWith(batch, fields, places)))
    return { kind: 'few', fields: fieldsAt(fields, places), columns, bytes: batchBytes(columns) }
  }

  async #end(): Promise<RowsForLog> {
    const many = await this.#write()
    if (many instanceof RowsSpool) {
      const places = this.#places()
      return { kind: 'spooled', stream: () => many.stream(places) }
    }
    await many.append(arrowStreamEnd())
    return { kind: 'sent', large: many }
  }

  /** Frees memory and file; undefined where nothing has to be awaited. Idempotent. */
  discard(): Promise<void> | undefined {
    this.#held = []
    return this.#many?.discard()
  }
}

// The rows of a body on their way to the log: in memory while they are few, from then on as an Arrow stream that goes to
// the log part after part, or into a spool where it is not yet known whose rows they are. A long body is never held as a
// whole; few rows cost no promise, since most bodies are one small record.

import { batchBytes, concatBatches } from '../arrow/columns.ts'
import { ArrowStreamReader } from '../arrow/ipc-reader.ts'
import { arrowBatchMessages, arrowStreamEnd, arrowStreamStart } from '../arrow/ipc.ts'
import { assert } from '../lib/assert.ts'
import { nextTurn } from '../lib/clock.ts'
import type { Limits } from '../lib/limits.ts'
import { NodeError } from '../model/errors.ts'
import type { Field, RecordBatch } from '../model/schema.ts'
import type { RowMessages } from '../work/tasks.ts'
import { heldBytes, type LargeBatch, partBytes } from './large-batch.ts'
import type { ReadRows } from './row-reader.ts'
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
  #held: ReadRows[] = []
  #bytes = 0
  #stream: Spool | LargeBatch | undefined

  constructor(options: TypedRowsOptions) {
    this.#options = options
  }

  /**
   * Adds rows in order; undefined where nothing had to be awaited. Throws NodeError `BodyTooLarge`,
   * `StorageFull`, and what the log throws.
   */
  add(read: readonly ReadRows[]): Promise<unknown> | undefined {
    const { mostBytes } = this.#options
    for (const rows of read) this.#bytes += 'messages' in rows ? rows.bytes : batchBytes(rows)
    if (this.#bytes > mostBytes) {
      throw new NodeError('BodyTooLarge', `The rows take more than ${mostBytes} bytes as columns.`, {
        hint: 'Send them in smaller batches. A file may become at most inflatedRatio times as large (GET /limits).',
        limit: { name: 'inflatedBytes', value: mostBytes, unit: 'bytes' },
      })
    }
    this.#held.push(...read)
    return this.#stream === undefined && this.#bytes <= heldBytes ? undefined : this.#write()
  }

  async #write(): Promise<Spool | LargeBatch> {
    const { fields, open } = this.#options
    if (this.#stream === undefined) {
      this.#stream = open()
      await this.#stream.append(arrowStreamStart(fields))
    }
    for (const rows of this.#held.splice(0)) {
      // To read them has held the event loop long enough.
      if (!('messages' in rows)) await nextTurn()
      const messages = 'messages' in rows ? rows.messages : arrowBatchMessages(fields, rows)
      for (const message of messages) await this.#stream.append(message)
    }
    return this.#stream
  }

  /** All rows, at once while they are few; there must be some. Nothing may be added afterwards. Throws as `add`. */
  finish(): RowsForLog | Promise<RowsForLog> {
    if (this.#stream !== undefined || this.#bytes > partBytes) return this.#end()
    assert(this.#held.length > 0, 'a body without rows is not sent')
    const batches = this.#held.flatMap((rows) => ('messages' in rows ? this.#decoded(rows) : rows))
    return { kind: 'few', columns: concatBatches(batches), bytes: this.#bytes }
  }

  async #end(): Promise<RowsForLog> {
    const stream = await this.#write()
    await stream.append(arrowStreamEnd())
    return stream instanceof Spool ? { kind: 'spooled', spool: stream } : { kind: 'sent', large: stream }
  }

  /** Frees memory and file; undefined where nothing has to be awaited. Idempotent. */
  discard(): Promise<void> | undefined {
    this.#held = []
    return this.#stream?.discard()
  }

  #decoded({ messages }: RowMessages): RecordBatch[] {
    const reader = new ArrowStreamReader()
    return [arrowStreamStart(this.#options.fields), ...messages].flatMap((message) => reader.push(message))
  }
}

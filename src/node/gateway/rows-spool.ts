// Many rows that are not in the log yet, as messages of an Arrow stream, until all are there and it is known which columns they
// bring: the first of them in memory, the others in a file. Messages that lack some columns get them when they are read.

import { type BroughtRows, fieldsAt, rowsWith } from '../../libraries/columnar/arrow/brought-rows.ts'
import { ArrowStreamReader } from '../../libraries/columnar/arrow/ipc-reader.ts'
import { arrowBatchMessages, arrowStreamEnd, arrowStreamStart } from '../../libraries/columnar/arrow/ipc.ts'
import { freeBytes } from '../../libraries/base/bytes.ts'
import { crc32c, rememberCrc32c, rememberedCrc32c } from '../../libraries/base/crc32c.ts'
import { sameValue } from '../../libraries/base/compare.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import type { Field, RecordBatch } from '../../libraries/model/schema.ts'
import type { ReadRows } from './row-reader.ts'
import { Spool } from './spool.ts'

/** As much is held in memory: a small part of what a body is admitted for. */
const heldMost = 4 * 1024 * 1024

/** A message: itself, or how many bytes it has in the file. */
interface Piece {
  readonly places: readonly number[]
  readonly sum: number
  readonly message: Uint8Array | number
}

export class RowsSpool {
  readonly #fields: readonly Field[]
  readonly #spool: Spool
  #pieces: Piece[] = []
  #heldBytes = 0

  /** For rows of some of `fields`; see `Spool`. */
  constructor(fields: readonly Field[], spoolDir: string) {
    this.#fields = fields
    this.#spool = new Spool(spoolDir)
  }

  /** Adds rows at the end. Throws NodeError `StorageFull`, and what else the file system throws. */
  async append(rows: ReadRows): Promise<void> {
    const last = this.#pieces.at(-1)?.places
    const places = last !== undefined && sameValue(last, rows.places) ? last : rows.places
    for (const message of await messagesOf(rows, this.#fields, places)) {
      const sum = rememberedCrc32c(message) ?? crc32c(message)
      const isHeld = this.#heldBytes + message.length <= heldMost
      this.#pieces.push({ places, sum, message: isHeld ? message : message.length })
      if (isHeld) this.#heldBytes += message.length
      else {
        await this.#spool.append(message)
        freeBytes(message)
      }
    }
  }

  /** The stream of all rows with the columns at `places`, which have all that any rows bring. To be read once. */
  async *stream(places: readonly number[]): AsyncGenerator<Uint8Array> {
    yield arrowStreamStart(fieldsAt(this.#fields, places))
    let at = 0
    for (const { places: brought, sum, message: held } of this.#pieces.splice(0)) {
      const message = typeof held === 'number' ? await this.#spool.at(at, at + held) : held
      if (typeof held === 'number') at += held
      const rows = { rows: 0, bytes: 0, cells: 0, places: brought, messages: [message], sums: [sum] }
      yield* await messagesOf(rows, this.#fields, places)
    }
    yield arrowStreamEnd()
  }

  /** Frees memory and file. Idempotent. */
  discard(): Promise<void> {
    this.#pieces = []
    return this.#spool.discard()
  }
}

/** Messages of rows with the columns at `places`, which have all that they bring. */
export async function messagesOf(
  rows: ReadRows,
  fields: readonly Field[],
  places: readonly number[],
): Promise<readonly Uint8Array[]> {
  const isSame = rows.places.length === places.length
  if ('messages' in rows && isSame) {
    for (const [i, message] of rows.messages.entries()) rememberCrc32c(message, rows.sums[i] ?? crc32c(message))
    return rows.messages
  }
  // To read them has held the event loop long enough.
  await nextTurn()
  const columns = fieldsAt(fields, places)
  return batchesOf(rows, fields).flatMap((batch) => arrowBatchMessages(columns, rowsWith(batch, fields, places)))
}

/** The rows as columns. */
export function batchesOf(rows: ReadRows, fields: readonly Field[]): BroughtRows[] {
  if (!('messages' in rows)) return [rows]
  const reader = new ArrowStreamReader()
  const start = arrowStreamStart(fieldsAt(fields, rows.places))
  const batches: RecordBatch[] = [start, ...rows.messages].flatMap((message) => reader.push(message))
  return batches.map(({ rows: count, columns }) => ({ rows: count, places: rows.places, columns }))
}

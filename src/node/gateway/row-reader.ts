// Parses a body into rows for the log: on this thread, or a long body on a free worker, so that posts and queries beside it do not
// wait. At most two blocks are in flight. Both accept and reject the same rows.

import { must } from '../../libraries/base/assert.ts'
import { freeBytes } from '../../libraries/base/bytes.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { Hash } from '../../libraries/base/ids/identifiers.ts'
import type { BroughtRows } from '../../libraries/columnar/arrow/brought-rows.ts'
import type { StreamFormat } from '../../libraries/formats/format.ts'
import {
  BodyRows,
  type BodySettings,
  type EndedBody,
  type FromBodyRows,
  type RowMessages,
  type ToBodyRows,
} from '../machine/work/body-task.ts'
import { Handover } from '../machine/work/handover.ts'
import { type Task, type TaskThreads, ThreadLost } from '../machine/work/work-pool.ts'

/** Rows with an event time each: columns of this thread, messages of another. */
export type ReadRows = BroughtRows | RowMessages

export interface WholeBody extends EndedBody {
  /** The last ones. */
  readonly rows: readonly ReadRows[]
}

/** Reads one body, as a `RecordReader`. One that has thrown is used up. */
export interface RowReader {
  readonly fits: boolean
  /**
   * Takes the next bytes, which are gone from the caller's hands. Gives the rows that have become complete, of these or of
   * earlier ones; this thread gives them at once.
   */
  push(chunk: Uint8Array): readonly ReadRows[] | Promise<readonly ReadRows[]>
  /** The hash of all bytes, where the settings ask for it; after the last of them, once. */
  hash(): Hash | Promise<Hash>
  finish(): WholeBody | Promise<WholeBody>
  /** Lets go of a thread, however it went. Idempotent. */
  end(): void
}

/** So many bytes are handed to a thread at once. */
const blockBytes = 256 * 1024
/** Of rows of many columns, whose cells are several times their bytes. */
const wideBlockBytes = 64 * 1024
const wideColumns = 256
const blocksUnderWay = 2
/** Chunks of up to so many bytes are the collector's: it is sooner done with them. */
const freedBytes = 16 * 1024

type Settings = Omit<BodySettings, 'format'>

/** A reader of a body of so many bytes, as far as that is known. */
export function rowReader(
  format: StreamFormat,
  against: Settings,
  by: { readonly threads: TaskThreads | undefined; readonly bytes: number | undefined },
): RowReader {
  const about = { bytes: by.bytes ?? Number.POSITIVE_INFINITY, most: 1 }
  const { name, module } = format
  const [task] = by.threads?.begin('body', { format: { name, module }, ...against }, about) ?? []
  return task === undefined ? new OwnReader(format, against) : new ThreadReader(task, against.fields.length)
}

class OwnReader implements RowReader {
  readonly #rows: BodyRows

  constructor(format: StreamFormat, settings: Settings) {
    this.#rows = new BodyRows(format, settings)
  }

  get fits(): boolean {
    return this.#rows.fits
  }

  push(chunk: Uint8Array): readonly BroughtRows[] | Promise<readonly BroughtRows[]> {
    if (chunk.length > blockBytes) return this.#pushLong(chunk)
    const rows = this.#rows.push([chunk])
    if (chunk.length > freedBytes) freeBytes(chunk)
    return rows
  }

  hash(): Hash {
    return this.#rows.hash()
  }

  finish(): WholeBody {
    const { rows, ended } = this.#rows.finish()
    return { ...ended, rows }
  }

  end(): void {
    // Holds nothing.
  }

  /** Others have their turn between the pieces. */
  async #pushLong(chunk: Uint8Array): Promise<readonly BroughtRows[]> {
    const rows: BroughtRows[] = []
    for (let at = 0; at < chunk.length; at += blockBytes) {
      if (at > 0) await nextTurn()
      rows.push(...this.#rows.push([chunk.subarray(at, at + blockBytes)]))
    }
    freeBytes(chunk)
    return rows
  }
}

class ThreadReader implements RowReader {
  #task: Task<'body'> | undefined
  /** The next block, as far as it has come. */
  #pieces: Uint8Array[] = []
  #bytes = 0
  #underWay: Promise<FromBodyRows>[] = []
  fits = true

  readonly #blockBytes: number

  constructor(task: Task<'body'>, columns: number) {
    this.#task = task
    this.#blockBytes = columns < wideColumns ? blockBytes : wideBlockBytes
  }

  async push(chunk: Uint8Array): Promise<readonly RowMessages[]> {
    const rows: RowMessages[] = []
    // What comes of the wire stays in its own memory, and is not copied.
    for (let at = 0; at < chunk.length; at += this.#blockBytes) {
      const piece = chunk.subarray(at, at + this.#blockBytes)
      this.#pieces.push(piece)
      this.#bytes += piece.length
      if (this.#bytes < this.#blockBytes) break
      if (this.#underWay.length === blocksUnderWay) rows.push(...(await this.#next()))
      this.#send()
    }
    return rows
  }

  async hash(): Promise<Hash> {
    if (this.#bytes > 0) this.#send()
    const { hash } = await this.#say({ kind: 'hash' })
    return must(hash, 'a body that is hashed')
  }

  async finish(): Promise<WholeBody> {
    if (this.#bytes > 0) this.#send()
    const rows: RowMessages[] = []
    while (this.#underWay.length > 0) rows.push(...(await this.#next()))
    const last = await this.#say({ kind: 'end' })
    this.fits &&= last.fits
    return { records: 0, undated: 0, keyValue: undefined, ...last.ended, rows: [...rows, ...last.rows] }
  }

  end(): void {
    this.#task?.end()
    this.#task = undefined
  }

  #say(message: ToBodyRows, over?: Handover): Promise<FromBodyRows> {
    return must(this.#task, 'a task goes on').say(message, over).catch(told)
  }

  #send(): void {
    const over = new Handover()
    const pieces = this.#pieces.map((piece) => over.take(piece))
    const block = this.#say({ kind: 'bytes', pieces }, over)
    // Its failure is met when its turn comes.
    block.catch(() => {})
    this.#underWay.push(block)
    this.#pieces = []
    this.#bytes = 0
  }

  async #next(): Promise<readonly RowMessages[]> {
    const answer = await this.#underWay.shift()
    this.fits &&= answer?.fits === true
    return answer?.rows ?? []
  }
}

/** A lost thread is no fault of the body. */
function told(error: unknown): never {
  if (!(error instanceof ThreadLost)) throw error
  throw new NodeError('Saturated', 'The thread that read the body was lost; nothing was stored.', {
    hint: 'Send it again in a moment, or in smaller batches.',
    retryAfterSeconds: 1,
    cause: error,
  })
}

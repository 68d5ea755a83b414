// Parses a body into rows for the log: on this thread, or a long body on a free worker, so that posts and queries beside it do not
// wait. At most two blocks are in flight. Both accept and reject the same rows.

import { type BroughtRows, broughtRows } from '../../libraries/columnar/arrow/brought-rows.ts'
import type { ParsedBody, RecordReader, StreamFormat } from '../../libraries/formats/format.ts'
import { type SentFacts, SentRows } from '../../libraries/formats/sent-rows.ts'
import { must } from '../../libraries/base/assert.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { RecordBatch } from '../../libraries/model/schema.ts'
import type { BodySettings, FromBodyRows, RowMessages, ToBodyRows } from '../machine/work/body-task.ts'
import { Handover } from '../machine/work/handover.ts'
import { type Task, type TaskThreads, ThreadLost } from '../machine/work/work-pool.ts'

/** Rows with an event time each: columns of this thread, messages of another. */
export type ReadRows = BroughtRows | RowMessages

export interface WholeBody extends Omit<ParsedBody, 'batches'>, SentFacts {
  /** The last ones. */
  readonly rows: readonly ReadRows[]
}

/** Reads one body, as a `RecordReader`. One that has thrown is used up. */
export interface RowReader {
  readonly fits: boolean
  /** Takes the next bytes; the rows that have become complete, of these or of earlier ones: at once by this thread. */
  push(chunk: Uint8Array): readonly ReadRows[] | Promise<readonly ReadRows[]>
  finish(): WholeBody | Promise<WholeBody>
  /** Lets go of a thread, however it went. Idempotent. */
  end(): void
}

const blockBytes = 256 * 1024
/** Of rows of many columns, whose cells are several times their bytes. */
const wideBlockBytes = 64 * 1024
const wideColumns = 256
const blocksUnderWay = 2
const noBytes = new Uint8Array(0)

/** A reader of a body of so many bytes, as far as that is known. */
export function rowReader(
  format: StreamFormat,
  against: Omit<BodySettings, 'format'>,
  by: { readonly threads: TaskThreads | undefined; readonly bytes: number | undefined },
): RowReader {
  const about = { bytes: by.bytes ?? Number.POSITIVE_INFINITY, most: 1 }
  const { name, module } = format
  const [task] = by.threads?.begin('body', { format: { name, module }, ...against }, about) ?? []
  return task === undefined ? new OwnReader(format, against) : new ThreadReader(task, against.fields.length)
}

class OwnReader implements RowReader {
  readonly #reader: RecordReader
  readonly #sent: SentRows

  constructor(format: StreamFormat, { options, sent }: Omit<BodySettings, 'format'>) {
    this.#reader = format.createReader(options)
    this.#sent = new SentRows(sent)
  }

  get fits(): boolean {
    return this.#reader.fits
  }

  push(chunk: Uint8Array): readonly BroughtRows[] {
    this.#reader.push(chunk)
    return this.#filled(this.#reader.take())
  }

  finish(): WholeBody {
    const { batches, ...ended } = this.#reader.finish()
    const rows = this.#filled(batches)
    return { ...ended, ...this.#sent.finish(), rows }
  }

  end(): void {
    // Holds nothing.
  }

  #filled(batches: readonly RecordBatch[]): BroughtRows[] {
    return batches.map((batch) => broughtRows(this.#sent.take(batch)))
  }
}

class ThreadReader implements RowReader {
  #task: Task<'body'> | undefined
  /** The next block, as far as it is filled. */
  #block: Uint8Array = noBytes
  #filled = 0
  /** Blocks that have been read: memory for the next ones. */
  readonly #spare: Uint8Array[] = []
  #underWay: Promise<FromBodyRows>[] = []
  fits = true

  readonly #blockBytes: number

  constructor(task: Task<'body'>, columns: number) {
    this.#task = task
    this.#blockBytes = columns < wideColumns ? blockBytes : wideBlockBytes
  }

  async push(chunk: Uint8Array): Promise<readonly RowMessages[]> {
    const rows: RowMessages[] = []
    for (let rest = chunk; rest.length > 0;) {
      if (this.#filled === 0) this.#block = this.#spare.pop() ?? new Uint8Array(this.#blockBytes)
      const piece = rest.subarray(0, this.#blockBytes - this.#filled)
      this.#block.set(piece, this.#filled)
      this.#filled += piece.length
      rest = rest.subarray(piece.length)
      if (this.#filled < this.#blockBytes) break
      if (this.#underWay.length === blocksUnderWay) rows.push(...(await this.#next()))
      this.#send()
    }
    return rows
  }

  async finish(): Promise<WholeBody> {
    if (this.#filled > 0) this.#send()
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
    const block = this.#say({ kind: 'bytes', bytes: over.take(this.#block.subarray(0, this.#filled)) }, over)
    // Its failure is met when its turn comes.
    block.catch(() => {})
    this.#underWay.push(block)
    this.#block = noBytes
    this.#filled = 0
  }

  async #next(): Promise<readonly RowMessages[]> {
    const answer = await this.#underWay.shift()
    this.fits &&= answer?.fits === true
    if (answer?.block?.length === this.#blockBytes) this.#spare.push(answer.block)
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

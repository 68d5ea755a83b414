// Who turns the bytes of a body into rows: this thread, or one that is free for a long body, so that posts and queries
// beside it do not wait. Two blocks are under way at most; the rows are the same, and so is what is refused.

import type { ParsedBody, ReaderOptions, RecordReader, StreamFormat } from '../formats/format.ts'
import { must } from '../lib/assert.ts'
import { NodeError } from '../model/errors.ts'
import type { RecordBatch } from '../model/schema.ts'
import type { FromBodyRows, ToBodyRows } from '../work/tasks.ts'
import { type Task, type TaskThreads, ThreadLost } from '../work/work-pool.ts'

/** Reads one body, as a `RecordReader`. One that has thrown is used up. */
export interface RowReader {
  readonly fits: boolean
  /** Takes the next bytes; the rows that have become complete, of these or of earlier ones: at once by this thread. */
  push(chunk: Uint8Array): readonly RecordBatch[] | Promise<readonly RecordBatch[]>
  finish(): ParsedBody | Promise<ParsedBody>
  /** Lets go of a thread, however it went. Idempotent. */
  end(): void
}

const blockBytes = 256 * 1024
const blocksUnderWay = 2
const noBytes = new Uint8Array(0)

/** A reader of a body of so many bytes, as far as that is known. */
export function rowReader(
  format: StreamFormat,
  options: ReaderOptions,
  by: { readonly threads: TaskThreads | undefined; readonly bytes: number | undefined },
): RowReader {
  const about = { bytes: by.bytes ?? Number.POSITIVE_INFINITY, most: 1 }
  const [task] = by.threads?.begin('body', { format: format.name, options }, about) ?? []
  return task === undefined ? new OwnReader(format.createReader(options)) : new ThreadReader(task)
}

class OwnReader implements RowReader {
  readonly #reader: RecordReader

  constructor(reader: RecordReader) {
    this.#reader = reader
  }

  get fits(): boolean {
    return this.#reader.fits
  }

  push(chunk: Uint8Array): readonly RecordBatch[] {
    this.#reader.push(chunk)
    return this.#reader.take()
  }

  finish(): ParsedBody {
    return this.#reader.finish()
  }

  end(): void {
    // Holds nothing.
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

  constructor(task: Task<'body'>) {
    this.#task = task
  }

  async push(chunk: Uint8Array): Promise<readonly RecordBatch[]> {
    const batches: RecordBatch[] = []
    for (let rest = chunk; rest.length > 0; ) {
      if (this.#filled === 0) this.#block = this.#spare.pop() ?? new Uint8Array(blockBytes)
      const piece = rest.subarray(0, blockBytes - this.#filled)
      this.#block.set(piece, this.#filled)
      this.#filled += piece.length
      rest = rest.subarray(piece.length)
      if (this.#filled < blockBytes) break
      if (this.#underWay.length === blocksUnderWay) batches.push(...(await this.#next()))
      this.#send()
    }
    return batches
  }

  async finish(): Promise<ParsedBody> {
    if (this.#filled > 0) this.#send()
    const batches: RecordBatch[] = []
    while (this.#underWay.length > 0) batches.push(...(await this.#next()))
    const last = await this.#say({ kind: 'end' })
    this.fits &&= last.fits
    return { records: 0, ...last.ended, batches: [...batches, ...last.batches] }
  }

  end(): void {
    this.#task?.end()
    this.#task = undefined
  }

  #say(message: ToBodyRows): Promise<FromBodyRows> {
    return must(this.#task, 'a task goes on').say(message).catch(told)
  }

  #send(): void {
    const block = this.#say({ kind: 'bytes', bytes: this.#block.subarray(0, this.#filled) })
    // Its failure is met when its turn comes.
    block.catch(() => {})
    this.#underWay.push(block)
    this.#block = noBytes
    this.#filled = 0
  }

  async #next(): Promise<readonly RecordBatch[]> {
    const answer = await this.#underWay.shift()
    this.fits &&= answer?.fits === true
    if (answer?.block?.length === blockBytes) this.#spare.push(answer.block)
    return answer?.batches ?? []
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

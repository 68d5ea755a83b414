// Messages of a route as lines of one batch: those that come while a batch is being made durable are the next one
// (self-clocked, no timer). For messages that need no key of their own, which cost a tenth that way.

import { concatBytes, utf8 } from '../../libraries/base/bytes.ts'
import { nextTurn } from '../../libraries/base/clock.ts'

/** Of one batch; bodies of this size are read at once (node/gateway/parse-body.ts). */
const [mostRows, mostBytes] = [1_000, 64 * 1024]
const newline = utf8('\n')

/** A line was not in the batch that was refused; it is to be added again behind those that were. */
export class BehindRefused extends Error {
  override readonly name = 'BehindRefused'
}

interface Waiting {
  readonly line: Uint8Array
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** True for a payload that is one line of NDJSON, if it is JSON at all: whatever it says, it cannot be part of another's. */
export function isLine(payload: Uint8Array): boolean {
  return payload.length < mostBytes && payload[0] === 0x7b && !payload.includes(0x0a) && !payload.includes(0x0d)
}

export class JoinedBatches {
  readonly #ingest: (lines: Uint8Array) => Promise<void>
  #waiting: Waiting[] = []
  #isRunning = false

  /** `ingest` takes NDJSON, all of it or nothing. */
  constructor(ingest: (lines: Uint8Array) => Promise<void>) {
    this.#ingest = ingest
  }

  /**
   * Durable when it resolves; rejects where the batch that it was in was refused, for this line or another, and with
   * `BehindRefused` where an earlier one was. `onRefused` is called at once then, before anything else can be added.
   */
  add(line: Uint8Array, onRefused: () => void = () => {}): Promise<void> {
    return new Promise((resolve, rejects) => {
      const reject = (error: unknown): void => {
        onRefused()
        rejects(error)
      }
      this.#waiting.push({ line, resolve, reject })
      if (!this.#isRunning) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) {
      // What has come in one piece goes in one piece.
      await nextTurn()
      const batch = this.#take()
      try {
        await this.#ingest(concatBytes(batch.flatMap(({ line }) => [line, newline])))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        const behind = this.#waiting.splice(0)
        for (const { reject } of batch) reject(error)
        for (const { reject } of behind) reject(new BehindRefused())
      }
    }
    this.#isRunning = false
  }

  #take(): Waiting[] {
    let bytes = 0
    const over = this.#waiting.findIndex(({ line }, at) => {
      bytes += line.length + 1
      return at >= mostRows || bytes > mostBytes
    })
    return this.#waiting.splice(0, over < 0 ? this.#waiting.length : Math.max(1, over))
  }
}

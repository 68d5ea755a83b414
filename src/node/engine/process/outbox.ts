// The child's end of a streamed answer: gathers small pieces, sends them on, and waits while the parent has as many bytes
// as it may hold. The first bytes wait a little, so that a query that fails early still has an answer of its own.

import { concatBytes } from '../../../libraries/base/bytes.ts'
import type { Clock } from '../../../libraries/base/clock.ts'
import { cancelled } from './cancelled.ts'
import { type FromChild, type StreamEnd, streamWindowBytes } from '../messages.ts'
import type { Stability } from '../../../libraries/sql/statement.ts'

/** Bytes that travel in one message. */
const pieceBytes = 128 * 1024
/** Bytes do not wait longer than this for others to travel with, as long as rows come. */
const waitMs = 100

export class Outbox {
  readonly #send: (message: FromChild) => Promise<void>
  readonly #clock: Clock
  readonly #stability: Stability
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #lastSentMs: number
  /** Bytes that the parent has and nobody has taken from it yet. */
  #aheadBytes = 0
  #onRoom: (() => void) | undefined
  #state: 'waiting' | 'begun' | 'stopped' = 'waiting'
  /** Bytes that have been sent. */
  sentBytes = 0

  constructor(
    send: (message: FromChild) => Promise<void>,
    { clock, stability }: { readonly clock: Clock; readonly stability: Stability },
  ) {
    this.#send = send
    this.#clock = clock
    this.#stability = stability
    this.#lastSentMs = clock.monotonicMs()
  }

  /** Resolves when there is room for more. Throws NodeError `QueryTimeout` when nobody wants more. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    const isDue = this.#clock.monotonicMs() - this.#lastSentMs >= waitMs
    if (this.#waitingBytes >= pieceBytes || isDue) await this.#flush(undefined)
    this.#check()
  }

  /** Sends what waits, and that this was all. */
  async end(end: StreamEnd): Promise<void> {
    this.#check()
    const isWhole = this.#state === 'waiting' && this.#waitingBytes <= pieceBytes
    await this.#flush(isWhole ? end : undefined)
    if (!isWhole) await this.#send({ kind: 'ended', end })
  }

  taken(bytes: number): void {
    this.#aheadBytes -= bytes
    this.#onRoom?.()
  }

  /** Nobody wants more. */
  stop(): void {
    this.#state = 'stopped'
    this.#onRoom?.()
  }

  #check(): void {
    if (this.#state === 'stopped') throw cancelled()
  }

  async #flush(end: StreamEnd | undefined): Promise<void> {
    const bytes = concatBytes(this.#waiting)
    this.#waiting = []
    this.#waitingBytes = 0
    this.#lastSentMs = this.#clock.monotonicMs()
    for (let at = 0; at < bytes.length || this.#state === 'waiting'; at += pieceBytes) {
      await this.#sendPiece(bytes.subarray(at, at + pieceBytes), end)
    }
  }

  async #sendPiece(bytes: Uint8Array, end: StreamEnd | undefined): Promise<void> {
    while (this.#aheadBytes + bytes.length > streamWindowBytes && this.#state === 'begun') {
      await new Promise<void>((resolve) => (this.#onRoom = resolve))
    }
    this.#onRoom = undefined
    this.#check()
    this.sentBytes += bytes.length
    this.#aheadBytes += bytes.length
    if (this.#state === 'begun') return await this.#send({ kind: 'more', bytes })
    this.#state = 'begun'
    await this.#send({ kind: 'begun', start: { stability: this.#stability, first: bytes, end } })
  }
}

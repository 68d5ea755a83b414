// What a replica of another node takes of this machine and of the way there: pieces of work at a time, bytes of objects in
// memory, bytes a second.

import type { Clock } from '../../lib/clock.ts'

/** A measure of which so much is taken at the same time; who does not fit waits in line, and one alone always fits. */
export class Bound {
  readonly #most: number
  #taken = 0
  readonly #waiting: { readonly amount: number; readonly go: () => void }[] = []

  constructor(most: number) {
    this.#most = most
  }

  /** Does `work`, which takes `amount`, in its turn. Throws what it throws. */
  async run<T>(amount: number, work: () => Promise<T>): Promise<T> {
    if (this.#waiting.length > 0 || !this.#fits(amount)) {
      await new Promise<void>((go) => this.#waiting.push({ amount, go }))
    } else this.#taken += amount
    try {
      return await work()
    } finally {
      this.#taken -= amount
      this.#next()
    }
  }

  #fits(amount: number): boolean {
    return this.#taken === 0 || this.#taken + amount <= this.#most
  }

  #next(): void {
    for (let first = this.#waiting[0]; first !== undefined && this.#fits(first.amount); first = this.#waiting[0]) {
      this.#waiting.shift()
      this.#taken += first.amount
      first.go()
    }
  }
}

/** Bytes a second, over all that is fetched; 0 for as fast as they come. */
export class Rate {
  readonly #bytesPerSecond: number
  readonly #clock: Clock
  /** When what was taken so far is paid for, by the monotonic clock. */
  #paidMs = 0

  constructor(bytesPerSecond: number, clock: Clock) {
    this.#bytesPerSecond = bytesPerSecond
    this.#clock = clock
  }

  /** Resolves when `bytes` more may be read. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    if (this.#bytesPerSecond === 0) return
    const nowMs = this.#clock.monotonicMs()
    this.#paidMs = Math.max(nowMs, this.#paidMs) + (bytes * 1000) / this.#bytesPerSecond
    await this.#clock.sleep(this.#paidMs - nowMs, signal)
  }
}

// Appends that wait for one partition, in both adapters: a bounded queue, emptied group by group, each group stored by
// one write. Appends of the same turn of the event loop share the first group.

import type { Clock } from '../../libraries/base/clock.ts'
import { NodeError } from '../../libraries/base/errors.ts'

/** One call of `append` that waits. */
export interface WaitingAppend {
  readonly messages: readonly Uint8Array[]
  readonly bytes: number
  readonly useReserve: boolean
  /** When it came, by the monotonic clock. */
  readonly atMs: number
  readonly resolve: (first: number) => void
  readonly reject: (error: NodeError) => void
}

interface AppendQueueOptions {
  /** Most bytes that wait; one append may always. */
  readonly bytesMost: number
  readonly clock: Clock
  /** Stores the next group, which it takes. Called again and again until nothing waits. */
  readonly storeNext: () => Promise<void>
}

export class AppendQueue {
  readonly #options: AppendQueueOptions
  #waiting: WaitingAppend[] = []
  /** How many at the front go before the others. */
  #ahead = 0
  #bytes = 0
  #storing: Promise<void> | undefined

  constructor(options: AppendQueueOptions) {
    this.#options = options
  }

  /** Resolves with the position of the first message. Throws NodeError `Saturated`, and what the group is rejected with. */
  add(
    messages: readonly Uint8Array[],
    bytes: number,
    { useReserve = false, ahead = false }: { readonly useReserve?: boolean; readonly ahead?: boolean },
  ): Promise<number> {
    if (this.#bytes + bytes > this.#options.bytesMost && this.#bytes > 0) {
      return Promise.reject(new NodeError('Saturated', 'Too many rows wait to be written to the log.'))
    }
    return new Promise((resolve, reject) => {
      const call = { messages, bytes, useReserve, atMs: this.#options.clock.monotonicMs(), resolve, reject }
      if (ahead) this.#waiting.splice(this.#ahead++, 0, call)
      else this.#waiting.push(call)
      this.#bytes += bytes
      this.#storing ??= this.#store()
    })
  }

  /** Takes appends from the front until `judge` lets one wait; those that it gives an error for are rejected. */
  take(judge: (call: WaitingAppend) => 'take' | 'wait' | NodeError): WaitingAppend[] {
    const group: WaitingAppend[] = []
    let done = 0
    for (const call of this.#waiting) {
      const verdict = judge(call)
      if (verdict === 'wait') break
      done++
      this.#bytes -= call.bytes
      if (verdict === 'take') group.push(call)
      else call.reject(verdict)
    }
    this.#waiting = this.#waiting.slice(done)
    this.#ahead = Math.max(0, this.#ahead - done)
    return group
  }

  /** Rejects all that wait. */
  rejectAll(error: () => NodeError): void {
    this.take(error)
  }

  /** Resolves when nothing waits or is being stored. */
  async idle(): Promise<void> {
    await this.#storing
  }

  async #store(): Promise<void> {
    await Promise.resolve()
    while (this.#waiting.length > 0) await this.#options.storeNext()
    this.#storing = undefined
  }
}

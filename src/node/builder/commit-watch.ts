// Whether blocks of this process can be committed: commits that fail and are tried again are reported once that has gone on for
// some seconds without a success. What is logged meanwhile is safe; a node that only takes rows is not ready.

import type { Clock } from '../../libraries/base/clock.ts'
import { NodeError } from '../../libraries/base/errors.ts'

/** Failing for so long is more than a moment of a store. */
const toldAfterMs = 5_000
/** Without another try for so long there is nothing left to commit: what failed was dropped. */
const forgottenAfterMs = 60_000

export class CommitWatch {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #failing: { readonly sinceMs: number; readonly lastMs: number; readonly reason: string } | undefined

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  succeeded(): void {
    this.#failing = undefined
  }

  failed(error: unknown): void {
    const lastMs = this.#clock.monotonicMs()
    this.#failing = { sinceMs: this.#failing?.sinceMs ?? lastMs, lastMs, reason: reasonOf(error) }
  }

  /** Why no block can be committed, in words for anyone; undefined where blocks can, as far as is known. */
  get fault(): string | undefined {
    if (this.#failing === undefined) return undefined
    const { sinceMs, lastMs, reason } = this.#failing
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - lastMs > forgottenAfterMs) this.#failing = undefined
    const seconds = Math.round((nowMs - sinceMs) / 1000)
    const isTold = this.#failing !== undefined && nowMs - sinceMs >= toldAfterMs
    return isTold ? `no block could be committed for ${seconds} s: ${reason}` : undefined
  }
}

/** A code or a kind: messages name places inside. */
function reasonOf(error: unknown): string {
  if (error instanceof NodeError) return error.kind
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? `the store fails with ${code}` : 'the store fails'
}

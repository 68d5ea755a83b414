// What of single datasets cannot be entered now: told once for each reason, and tried again at longer and longer intervals, so
// that all other datasets go on.

import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'

const firstRetryMs = 2_000
const longestRetryMs = 120_000

interface Failing {
  readonly reason: string
  readonly failures: number
  /** By the wall clock. */
  readonly sinceMs: number
  /** By the monotonic clock. */
  readonly againMs: number
}

export class SetAside {
  readonly #deps: { readonly clock: Clock; readonly logger: Logger }
  /** By the id or the tag of a dataset. */
  readonly #failing = new Map<string, Failing>()

  constructor(deps: { readonly clock: Clock; readonly logger: Logger }) {
    this.#deps = deps
  }

  get datasets(): number {
    return this.#failing.size
  }

  /** Since when the first has failed, in milliseconds since 1970. */
  get sinceMs(): number | undefined {
    const [first] = [...this.#failing.values()].map(({ sinceMs }) => sinceMs).sort((a, b) => a - b)
    return first
  }

  has(dataset: string): boolean {
    return this.#failing.has(dataset)
  }

  /** Undefined where `work` fails, or has failed and is not to be tried again yet. */
  async trying<T>(dataset: string, work: () => Promise<T>): Promise<T | undefined> {
    const { clock, logger } = this.#deps
    const before = this.#failing.get(dataset)
    if (before !== undefined && clock.monotonicMs() < before.againMs) return undefined
    try {
      const done = await work()
      if (this.#failing.delete(dataset)) logger.info({ dataset }, 'A dataset is entered in the ledger again')
      return done
    } catch (error) {
      const reason = String(error)
      const { failures = 0, sinceMs = clock.nowMs() } = before ?? {}
      const againMs = clock.monotonicMs() + Math.min(firstRetryMs * 2 ** failures, longestRetryMs)
      this.#failing.set(dataset, { reason, failures: failures + 1, sinceMs, againMs })
      if (before?.reason !== reason)
        logger.error({ dataset, err: error }, 'A dataset cannot be entered in the ledger now; all others go on')
      return undefined
    }
  }
}

// Tries again what may succeed later, a bounded number of times and with growing pauses.

import { randomInt } from 'node:crypto'
import { type Clock, systemClock } from '../index.ts'
import { CommandFailure } from './failure.ts'

export interface RetryOptions {
  /** Tries after the first. */
  readonly retries: number
  /** False: a node that was not reached at all is not tried again. */
  readonly reconnect: boolean
  /** Told before each pause. */
  readonly onRetry: (failure: CommandFailure, pauseMs: number) => void
  readonly clock?: Clock
}

const firstPauseMs = 250
const longestPauseMs = 8_000

/** Runs `attempt` until it succeeds, fails for good, or the tries are used up; then throws its last failure. */
export async function withRetries<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const clock = options.clock ?? systemClock
  for (let tried = 0; ; tried++) {
    try {
      return await attempt()
    } catch (error) {
      if (tried >= options.retries || !mayRetry(error, options)) throw error
      const pauseMs = error.details.retryAfterMs ?? backoffMs(tried)
      options.onRetry(error, pauseMs)
      await clock.sleep(pauseMs)
    }
  }
}

function mayRetry(error: unknown, { reconnect }: RetryOptions): error is CommandFailure {
  if (!(error instanceof CommandFailure) || error.details.retryable !== true) return false
  return reconnect || error.details.neverConnected !== true
}

/** Doubles from try to try; the random quarter keeps many clients from coming back at once. */
function backoffMs(tried: number): number {
  const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** tried)
  return pauseMs - randomInt(Math.ceil(pauseMs / 4))
}

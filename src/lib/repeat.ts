// Work that is done now and again at an interval, until it is closed: a look at something that others change.

import type { Clock } from './clock.ts'

export interface Repeated {
  /** Resolves when the work under way has ended; it is not done again. */
  close(): Promise<void>
}

export interface RepeatOptions {
  readonly everyMs: number
  readonly clock: Clock
  /** Hears of work that failed; it is done again all the same. */
  readonly onError: (error: unknown) => void
}

/** Does `work` at once, and again `everyMs` after each time that it ended. */
export function repeat(work: () => Promise<void>, { everyMs, clock, onError }: RepeatOptions): Repeated {
  const stop = new AbortController()
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await work().catch(onError)
      await clock.sleep(everyMs, stop.signal)
    }
  }
  const running = run()
  return {
    async close() {
      stop.abort()
      await running
    },
  }
}

// The clocks. The only place that reads time; everything else is handed a Clock.

/** Wall and monotonic time, and a timer. Tests hand in their own. */
export interface Clock {
  /** Wall clock, milliseconds since 1970 UTC. */
  nowMs(): number
  /** Monotonic clock, milliseconds from an arbitrary start. */
  monotonicMs(): number
  /** Resolves after `ms`, or earlier (without error) when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done, { once: true })
    }),
}

let textMs = 0
let text = new Date(0).toISOString()

/** RFC 3339 UTC with milliseconds, of milliseconds since 1970. The last one is kept: many come in the same millisecond. */
export function timeText(epochMs: number): string {
  if (epochMs !== textMs) {
    text = new Date(epochMs).toISOString()
    textMs = epochMs
  }
  return text
}

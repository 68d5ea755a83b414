// Time: the clocks, durations as text, work that repeats at an interval, and turns of the event loop. The only place that reads time;
// everything else is handed a Clock.

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

let minute = 0
let minuteText = new Date(0).toISOString().slice(0, 17)

/** RFC 3339 UTC with milliseconds, of milliseconds since 1970. What stands before the seconds is kept: many share it. */
export function timeText(epochMs: number): string {
  const minuteOf = Math.floor(epochMs / 60_000)
  if (minuteOf !== minute) {
    // Throws where it is no time.
    minuteText = new Date(epochMs).toISOString().slice(0, -7)
    minute = minuteOf
  }
  const ms = Math.trunc(epochMs) - minuteOf * 60_000
  const [seconds, rest] = [Math.floor(ms / 1000), ms % 1000]
  return `${minuteText}${seconds < 10 ? '0' : ''}${seconds}.${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}Z`
}

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

/** Milliseconds of a duration such as `500ms`, `5s`, `10m` or `2h`; undefined for any other text. */
export function durationMs(duration: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,9})(ms|s|m|h)$/.exec(duration) ?? []
  const factor = unitMs[unit]
  return factor === undefined ? undefined : Number(digits) * factor
}

/** A duration in the largest unit of which it is a whole number: `90s`, `1h`. */
export function durationText(ms: number): string {
  const [unit, factor] = Object.entries(unitMs).find(([, factor]) => ms % factor === 0) ?? ['ms', 1]
  return `${ms / factor}${unit}`
}

/** Resolves after pending IO and timers have had their turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export interface Repeated {
  /** Resolves when the work in flight has ended; it is not done again. */
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

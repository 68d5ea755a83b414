// Time and chance of one simulated run. Nothing happens but what is scheduled here: events run one after the other in
// the order of a virtual clock, each to its end, so that one seed gives one run.

import { type Random, randomOf } from '../history/load.ts'

interface Event {
  readonly atMs: number
  readonly order: number
  readonly run: () => void
}

export class World {
  readonly random: Random
  nowMs = 0
  events = 0
  #order = 0
  readonly #heap: Event[] = []

  constructor(seed: number) {
    this.random = randomOf(seed)
  }

  /** A number that rises with every call: what is seen later has a higher one. */
  tick(): number {
    return ++this.#order
  }

  chance(probability: number): boolean {
    return this.random.next() < probability
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.random.between(0, items.length - 1)] ?? items[0]
  }

  schedule(delayMs: number, run: () => void): void {
    const heap = this.#heap
    const event = { atMs: this.nowMs + Math.max(0, delayMs), order: this.tick(), run }
    let at = heap.push(event) - 1
    for (let up = (at - 1) >> 1; at > 0; up = (at - 1) >> 1) {
      const above = heap[up]
      if (above === undefined || isBefore(above, event)) break
      heap[at] = above
      at = up
    }
    heap[at] = event
  }

  after(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.schedule(delayMs, resolve))
  }

  /** Runs events until `work` has ended. Throws when nothing is left to happen, or too much happens. */
  async run<T>(work: Promise<T>, mostEvents = 500_000): Promise<T> {
    let ended = false
    const watched = work.finally(() => {
      ended = true
    })
    watched.catch(() => {})
    for (await turn(); !ended; await turn()) {
      const event = this.#take()
      if (event === undefined || ++this.events > mostEvents) {
        throw new RangeError(`the simulation ${event === undefined ? 'waits for nothing' : 'never ends'}`)
      }
      this.nowMs = Math.max(this.nowMs, event.atMs)
      event.run()
    }
    return work
  }

  #take(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      let down = 2 * at + 1
      const [left, right] = [heap[down], heap[down + 1]]
      if (left === undefined) break
      let next = left
      if (right !== undefined && isBefore(right, left)) {
        next = right
        down++
      }
      if (isBefore(last, next)) break
      heap[at] = next
      at = down
    }
    heap[at] = last
    return first
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}

/** Lets everything that can go on now go on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** One simulated process: it can be killed between any two of its operations, and stopped and let go on. */
export class Process {
  readonly world: World
  readonly name: string
  /** Wall clock against the world's time. */
  skewMs: number
  /** The wall clock has been moved while the process ran. */
  hasJumped = false
  #alive = true
  #paused: Promise<void> | undefined
  #resume: () => void = () => {}
  readonly #deaths: ((error: Error) => void)[] = []
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>

  constructor(world: World, name: string, skewMs = 0) {
    this.world = world
    this.name = name
    this.skewMs = skewMs
    this.ended = new Promise((resolve) => this.#deaths.push(() => resolve()))
  }

  get isAlive(): boolean {
    return this.#alive
  }

  get isPaused(): boolean {
    return this.#paused !== undefined
  }

  /** Moves the wall clock, as a sleep of the machine does, or somebody who sets it. */
  jump(ms: number): void {
    this.skewMs += ms
    this.hasJumped = true
  }

  kill(): void {
    if (!this.#alive) return
    this.#alive = false
    this.resume()
    for (const die of this.#deaths) die(new RangeError('the connection was reset'))
  }

  pause(): void {
    this.#paused ??= new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  resume(): void {
    this.#paused = undefined
    this.#resume()
  }

  /** Passes while the process runs; waits while it is stopped, forever once it is dead. */
  async gate(): Promise<void> {
    while (this.#paused !== undefined) await this.#paused
    // A promise of its own: what waits for nothing can be forgotten.
    if (!this.#alive) await new Promise<never>(() => {})
  }

  /** Takes `ms` of the world's time, and longer if the process is stopped meanwhile. */
  async spend(ms: number): Promise<void> {
    await this.world.after(ms)
    await this.gate()
  }

  /** What an outsider gets of `work`: its end, or a reset connection when the process dies first. */
  call<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!this.#alive) return reject(new RangeError('connection refused'))
      this.#deaths.push(reject)
      void this.gate()
        .then(work)
        .then(
          async (value) => {
            await this.gate()
            resolve(value)
          },
          async (error: unknown) => {
            await this.gate()
            reject(error)
          },
        )
    })
  }

  readonly clock = {
    nowMs: (): number => epochMs + Math.floor(this.world.nowMs + this.skewMs),
    monotonicMs: (): number => this.world.nowMs,
    sleep: async (ms: number, signal?: AbortSignal): Promise<void> => {
      if (signal?.aborted !== true) {
        await new Promise<void>((resolve) => {
          const done = (): void => {
            signal?.removeEventListener('abort', done)
            resolve()
          }
          // Timers know whole milliseconds; less might be too little for this clock to move.
          this.world.schedule(Math.max(1, ms), done)
          signal?.addEventListener('abort', done, { once: true })
        })
      }
      await this.gate()
    },
  }
}

const epochMs = Date.parse('2026-03-01T00:00:00Z')

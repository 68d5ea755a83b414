// Holds the partitions that this builder is given, and those that another builder was given and does not build.

import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { EventLog } from '../log/event-log.ts'
import type { PartitionShare } from '../log/partitions.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { newestFloor } from '../store/records.ts'
import type { Partition } from './partition.ts'

const lookMs = 20_000

export interface FollowDeps extends StallWatchDeps {
  readonly logger: Logger
  readonly share?: PartitionShare | undefined
}

/** Until `signal` aborts, and the partitions are handed back. Without a share all are held at once. Never throws. */
export async function followShare(held: HeldPartitions, deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const { log, share, logger } = deps
  if (share === undefined) return held.set(Array.from({ length: log.partitions }, (_, number) => number))
  let given: readonly number[] | undefined
  let taken: readonly number[] = []
  const apply = (): void => {
    if (given !== undefined) held.set([...new Set([...given, ...taken])])
  }
  // Not awaited: at the end it may wait for a log that does not answer, and what it finds then is of no use.
  void watchStalls(deps, signal, async (watch) => {
    if (given === undefined) return
    const before = taken
    taken = await watch.look(given)
    const news = taken.filter((number) => !before.includes(number))
    if (news.length > 0) logger.warn({ partitions: news }, 'others were given these partitions and do not build them')
    apply()
  })
  for await (const numbers of share.assignments(signal)) {
    given = numbers
    logger.info({ partitions: numbers }, 'these partitions are built here')
    apply()
  }
}

async function watchStalls(
  deps: FollowDeps,
  signal: AbortSignal,
  look: (watch: StallWatch) => Promise<void>,
): Promise<void> {
  const watch = new StallWatch(deps)
  while (!signal.aborted) {
    await deps.clock.sleep(lookMs, signal)
    if (signal.aborted) return
    try {
      await look(watch)
    } catch (error) {
      if (signal.aborted) return
      deps.logger.warn({ err: error }, 'the floors of other builders cannot be looked at')
    }
  }
}

/** Longer than the longest time between blocks of a dataset by default. */
const stalledMs = 2 * 60_000
/** A partition that was found so is built for this long; then it is looked at afresh. */
const takenMs = 60 * 60_000

export interface StallWatchDeps {
  readonly log: EventLog
  readonly store: ObjectStore
  readonly clock: Clock
}

interface Seen {
  readonly floor: number
  readonly sinceMs: number
}

export class StallWatch {
  readonly #deps: StallWatchDeps
  readonly #seen = new Map<number, Seen>()
  /** Until when each is built here. */
  readonly #taken = new Map<number, number>()

  constructor(deps: StallWatchDeps) {
    this.#deps = deps
  }

  /**
   * Looks at all partitions but those `given` to this builder; resolves with those that should be built here
   * nevertheless. Throws what log and store throw.
   */
  async look(given: readonly number[]): Promise<readonly number[]> {
    const { log, clock } = this.#deps
    for (let number = 0; number < log.partitions; number++) {
      const nowMs = clock.monotonicMs()
      if (given.includes(number)) {
        this.#seen.delete(number)
        this.#taken.delete(number)
      } else if ((this.#taken.get(number) ?? nowMs) <= nowMs) {
        this.#taken.delete(number)
        if (await this.#isStalled(number)) this.#taken.set(number, nowMs + takenMs)
      }
    }
    return [...this.#taken.keys()]
  }

  /** True when the floor has been below the end of the log, and the same, for long. */
  async #isStalled(number: number): Promise<boolean> {
    const { log, store, clock } = this.#deps
    const floor = (await newestFloor(store, log.id, number))?.position ?? 0
    const { end } = await log.range(number)
    const nowMs = clock.monotonicMs()
    const seen = this.#seen.get(number)
    if (end <= floor) this.#seen.delete(number)
    else if (seen?.floor !== floor) this.#seen.set(number, { floor, sinceMs: nowMs })
    else if (nowMs - seen.sinceMs >= stalledMs) {
      this.#seen.delete(number)
      return true
    }
    return false
  }
}

interface Held {
  readonly partition: Partition
  readonly done: Promise<void>
}

export class HeldPartitions {
  readonly #create: (number: number) => Partition
  readonly #held = new Map<number, Held>()
  /** Given back, but not ended yet. */
  readonly #ending = new Map<number, Promise<void>>()
  #pastLostRaces = 0
  #isClosed = false
  /** False until it has been said which partitions these are. */
  isKnown = false

  constructor(create: (number: number) => Partition) {
    this.#create = create
  }

  /** Begins what is new in `numbers` and ends what is not in it. After `close` nothing happens. */
  set(numbers: readonly number[]): void {
    if (this.#isClosed) return
    this.isKnown = true
    for (const number of this.#held.keys()) if (!numbers.includes(number)) this.#end(number)
    for (const number of numbers) if (!this.#held.has(number)) this.#begin(number)
  }

  /** By number, ascending. */
  get all(): Partition[] {
    return [...this.#held.values()].map(({ partition }) => partition).sort((a, b) => a.number - b.number)
  }

  get(number: number): Partition | undefined {
    return this.#held.get(number)?.partition
  }

  /** Of all partitions held by now, those given back too. */
  get lostRaces(): number {
    return this.all.reduce((sum, { lostRaces }) => sum + lostRaces, this.#pastLostRaces)
  }

  /** Ends all; resolves when they have ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { partition } of this.#held.values()) partition.stop()
    await Promise.all([...[...this.#held.values()].map(({ done }) => done), ...this.#ending.values()])
  }

  #begin(number: number): void {
    const partition = this.#create(number)
    const before = this.#ending.get(number) ?? Promise.resolve()
    this.#held.set(number, { partition, done: before.then(() => partition.run()) })
  }

  #end(number: number): void {
    const held = this.#held.get(number)
    if (held === undefined) return
    this.#held.delete(number)
    held.partition.stop()
    const ending = held.done.then(() => {
      this.#pastLostRaces += held.partition.lostRaces
      if (this.#ending.get(number) === ending) this.#ending.delete(number)
    })
    this.#ending.set(number, ending)
  }
}

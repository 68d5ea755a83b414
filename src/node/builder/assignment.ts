// Which partitions this builder works on, as they come and go: those that it is given, and those that another builder
// was given and does not build: its process beats, but cannot write, has halted them, or belongs to another store with
// the same group. Two builders of one partition never do harm. A partition that is given back ends at a clean point:
// commits in flight are finished and the floor is written; if it comes again, it begins anew at floor and chains.

import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { EventLog } from '../log/event-log.ts'
import type { PartitionAssignment } from '../log/partitions.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { newestLowWaterMark } from '../store/records.ts'
import type { Partition } from './partition.ts'

const lookMs = 20_000
/** Longer than the longest time between blocks of a dataset by default. */
const stalledMs = 2 * 60_000
/** A partition that was found stalled is built here for this long; then it is looked at afresh. */
const takenMs = 60 * 60_000

export interface AssignmentDeps {
  readonly log: EventLog
  readonly store: ObjectStore
  readonly clock: Clock
  readonly logger: Logger
  /** Without it all partitions are built. */
  readonly assignment?: PartitionAssignment | undefined
}

export class Assignment {
  readonly #deps: AssignmentDeps
  readonly #create: (number: number) => Partition
  readonly #held = new Map<number, Partition>()
  /** By number: resolves when the last builder of the partition has ended. */
  readonly #ends = new Map<number, Promise<void>>()
  /** Undefined until it has been said which partitions these are. */
  #given: readonly number[] | undefined
  /** Stalled partitions of others, and until when each is built here. */
  readonly #taken = new Map<number, number>()
  /** Floors of others that have been below the end of the log, and since when. */
  readonly #seen = new Map<number, { readonly floor: number; readonly sinceMs: number }>()
  #pastLostRaces = 0
  #isClosed = false

  constructor(deps: AssignmentDeps, create: (number: number) => Partition) {
    this.#deps = deps
    this.#create = create
  }

  /** By number, ascending. */
  get all(): Partition[] {
    return [...this.#held.values()].sort((a, b) => a.number - b.number)
  }

  get isKnown(): boolean {
    return this.#given !== undefined
  }

  get(number: number): Partition | undefined {
    return this.#held.get(number)
  }

  /** Of all partitions held by now, those given back too. */
  get lostRaces(): number {
    return this.all.reduce((sum, { lostRaces }) => sum + lostRaces, this.#pastLostRaces)
  }

  /** Until `signal` aborts, and the partitions are handed back. Never throws. */
  async follow(signal: AbortSignal): Promise<void> {
    const { log, assignment, logger } = this.#deps
    if (assignment === undefined) {
      this.#given = Array.from({ length: log.partitions }, (_, number) => number)
      return this.#apply()
    }
    // Not awaited: at the end it may wait for a log that does not answer, and what it finds then is of no use.
    void this.#watchStalls(signal)
    for await (const numbers of assignment.assignments(signal)) {
      this.#given = numbers
      logger.info({ partitions: numbers }, 'these partitions are built here')
      this.#apply()
    }
  }

  /** Ends all; resolves when they have ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const partition of this.#held.values()) partition.stop()
    await Promise.all(this.#ends.values())
  }

  /** Begins the partitions that are new, and ends those that are no longer built here. */
  #apply(): void {
    if (this.#given === undefined || this.#isClosed) return
    const numbers = new Set([...this.#given, ...this.#taken.keys()])
    for (const [number, partition] of this.#held) {
      if (numbers.has(number)) continue
      this.#held.delete(number)
      partition.stop()
      void this.#ends.get(number)?.then(() => (this.#pastLostRaces += partition.lostRaces))
    }
    for (const number of numbers) {
      if (this.#held.has(number)) continue
      const partition = this.#create(number)
      this.#held.set(number, partition)
      this.#ends.set(
        number,
        (this.#ends.get(number) ?? Promise.resolve()).then(() => partition.run()),
      )
    }
  }

  async #watchStalls(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps
    while (!signal.aborted) {
      await clock.sleep(lookMs, signal)
      if (signal.aborted || this.#given === undefined) continue
      try {
        const news = await this.#findStalls(this.#given)
        if (news.length > 0) {
          logger.warn({ partitions: news }, 'others were given these partitions and do not build them')
        }
        this.#apply()
      } catch (error) {
        if (signal.aborted) return
        logger.warn({ err: error }, 'the floors of other builders cannot be looked at')
      }
    }
  }

  /** Takes the stalled ones of all partitions but those `given`, and resolves with the new ones. Throws what log and store throw. */
  async #findStalls(given: readonly number[]): Promise<readonly number[]> {
    const { log, clock } = this.#deps
    const news: number[] = []
    for (let number = 0; number < log.partitions; number++) {
      const nowMs = clock.monotonicMs()
      const untilMs = this.#taken.get(number)
      if (given.includes(number)) {
        this.#seen.delete(number)
        this.#taken.delete(number)
      } else if (untilMs === undefined || untilMs <= nowMs) {
        this.#taken.delete(number)
        if (!(await this.#isStalled(number))) continue
        this.#taken.set(number, nowMs + takenMs)
        if (untilMs === undefined) news.push(number)
      }
    }
    return news
  }

  /** True when the floor has been below the end of the log, and the same, for long. */
  async #isStalled(number: number): Promise<boolean> {
    const { log, store, clock } = this.#deps
    const floor = (await newestLowWaterMark(store, log.id, number))?.position ?? 0
    const { end } = await log.range(number)
    const nowMs = clock.monotonicMs()
    const seen = this.#seen.get(number)
    if (end <= floor) this.#seen.delete(number)
    else if (seen?.floor !== floor) this.#seen.set(number, { floor, sinceMs: nowMs })
    else if (nowMs - seen.sinceMs >= stalledMs) return this.#seen.delete(number)
    return false
  }
}

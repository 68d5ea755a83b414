// Reads on from one position of a partition: the next messages are fetched while the last ones are worked on, and
// never more than those. After each failure, and every 30 s, it looks whether the log is still the one it has read:
// same cluster, same number of partitions, same message before the next position.

import { equalBytes } from '../../lib/bytes.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/logger.ts'
import { HaltError, NodeError } from '../../model/errors.ts'
import type { LogEntry } from '../event-log.ts'
import { checkInRange, readStepBytes, readStepEntries } from '../tail.ts'
import { describeError, isOutOfRange } from './errors.ts'
import type { TopicReader } from './reader.ts'

const fetchOptions = { maxWaitMs: 300, maxBytes: 2 * 1024 * 1024 } as const
const checkMs = 30_000
const firstWaitMs = 50
const longestWaitMs = 1_000
/** Positions that are in range and yet out of range may be so while a leader changes. */
const outOfRangeMs = 5_000

export interface FollowOptions {
  /** The reader's own connections: a waiting fetch keeps others of its connection waiting. */
  readonly reader: TopicReader
  readonly partition: number
  /** Partitions that the topic must have. */
  readonly partitions: number
  readonly from: number
  /** Position at which reading ends. */
  readonly stop: number
  readonly clock: Clock
  readonly logger: Logger
  readonly signal?: AbortSignal
}

export class Follow {
  readonly partition: number
  /** Resolves when reading has ended. */
  readonly done: Promise<void>
  readonly #options: FollowOptions
  #setDone: () => void = () => {}
  #stop: number
  #next: number
  /** The message before `#next`, once one has been read. */
  #last: Uint8Array | undefined
  #isDoubtful = false
  #checkedAtMs: number
  #closed = new AbortController()

  constructor(options: FollowOptions) {
    this.#options = options
    this.partition = options.partition
    this.#stop = options.stop
    this.#next = options.from
    this.#checkedAtMs = options.clock.monotonicMs()
    this.done = new Promise((resolve) => {
      this.#setDone = resolve
    })
    options.signal?.addEventListener('abort', () => this.#closed.abort(), { once: true })
    if (options.signal?.aborted === true) this.#closed.abort()
  }

  /** Reading ends at `position`, or where it is when it is further. */
  finishAt(position: number): void {
    this.#stop = Math.min(this.#stop, position)
  }

  async close(): Promise<void> {
    this.#closed.abort()
    await this.#options.reader.close()
  }

  /** Steps of entries until the end. Throws HaltErrors only: all else is waited out. */
  async *entries(): AsyncGenerator<LogEntry[]> {
    try {
      await this.#readLast()
      let fetching = this.#fetch(this.#next)
      while (this.#next < this.#stop && !this.#closed.signal.aborted) {
        const fetched = await untilAborted(fetching, this.#closed.signal)
        if (fetched === undefined) return
        if (fetched instanceof HaltError) throw fetched
        await this.#check()
        const last = fetched.at(-1)
        const next = last === undefined ? this.#next : last.position + 1
        if (next < this.#stop) fetching = this.#fetch(next)
        for (const step of stepsOf(fetched, this.#stop)) {
          this.#next += step.length
          yield step
        }
        if (last !== undefined) this.#last = last.bytes
        this.#next = Math.max(this.#next, next)
      }
    } finally {
      this.#setDone()
      await this.close()
    }
  }

  /** Reads the message before the first position, if it is still kept: by it the log is known again. */
  async #readLast(): Promise<void> {
    const { reader, partition, logger } = this.#options
    const before = this.#next - 1
    if (before < 0) return
    try {
      this.#last = (await reader.fetch(partition, before, { maxWaitMs: 1, maxBytes: 1 }))[0]?.bytes
    } catch (error) {
      if (error instanceof HaltError) throw error
      if (!isOutOfRange(error)) logger.warn({ partition, before, why: describeError(error) }, 'no anchor could be read')
    }
  }

  /** Fetches from `from`, however long it takes; a halt is a result, so that nobody need await it. */
  async #fetch(from: number): Promise<LogEntry[] | HaltError> {
    const { reader, partition, clock, logger } = this.#options
    const startedMs = clock.monotonicMs()
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
      try {
        return await reader.fetch(partition, from, fetchOptions)
      } catch (error) {
        if (error instanceof HaltError) return error
        if (this.#closed.signal.aborted) return []
        this.#isDoubtful = true
        if (isOutOfRange(error)) {
          const halt = await this.#outOfRange(from, clock.monotonicMs() - startedMs > outOfRangeMs)
          if (halt !== undefined) return halt
        }
        logger.warn({ partition, from, why: describeError(error) }, 'Kafka cannot be read; trying again')
        await clock.sleep(waitMs, this.#closed.signal)
      }
    }
  }

  /** Why `from` is out of range; undefined while that is not certain. */
  async #outOfRange(from: number, isCertain: boolean): Promise<HaltError | undefined> {
    const { reader, partition } = this.#options
    try {
      const range = (await reader.ranges([partition])).get(partition)
      if (range === undefined) return undefined
      if (from < range.start || isCertain) checkInRange(from, range.start, range.end)
      return isCertain ? new HaltError('LogRegressed', `position ${from} is gone and come again`) : undefined
    } catch (error) {
      return error instanceof HaltError ? error : undefined
    }
  }

  /** Checks after a failure, and now and then, that this is still the log that was read. */
  async #check(): Promise<void> {
    const { clock, logger, partition } = this.#options
    if (!this.#isDoubtful && clock.monotonicMs() - this.#checkedAtMs < checkMs) return
    for (let waitMs = firstWaitMs; !this.#closed.signal.aborted; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
      try {
        await this.#checkOnce()
        this.#isDoubtful = false
        this.#checkedAtMs = clock.monotonicMs()
        return
      } catch (error) {
        if (error instanceof HaltError) throw error
        logger.warn({ partition, why: describeError(error) }, 'Kafka cannot be checked; trying again')
        await clock.sleep(waitMs, this.#closed.signal)
      }
    }
  }

  async #checkOnce(): Promise<void> {
    const { reader, partition, partitions } = this.#options
    const found = await reader.describe()
    if (found.partitions === 0) throw new NodeError('LogUnavailable', 'The topic is not there.')
    if (found.partitions !== partitions) {
      throw new HaltError('LogReplaced', `the topic has ${found.partitions} partitions, not ${partitions}`)
    }
    if (this.#last === undefined || this.#next === 0) return
    const before = this.#next - 1
    const range = (await reader.ranges([partition])).get(partition)
    if (range === undefined) throw new NodeError('LogUnavailable', `Partition ${partition} is not there.`)
    checkInRange(this.#next, range.start, range.end)
    if (range.start > before) return
    const [message] = await reader.fetch(partition, before, { maxWaitMs: 1, maxBytes: 1 })
    if (message !== undefined && !equalBytes(message.bytes, this.#last)) {
      throw new HaltError('LogReplaced', `message ${before} is not the one that was read before`)
    }
  }
}

/** Entries below `stop` in steps of bounded size. */
function* stepsOf(entries: readonly LogEntry[], stop: number): Generator<LogEntry[]> {
  let step: LogEntry[] = []
  let bytes = 0
  for (const entry of entries) {
    if (entry.position >= stop) break
    if (step.length > 0 && (bytes + entry.bytes.length > readStepBytes || step.length >= readStepEntries)) {
      yield step
      step = []
      bytes = 0
    }
    step.push(entry)
    bytes += entry.bytes.length
  }
  if (step.length > 0) yield step
}

/** What `work` gives, or undefined once `signal` aborts. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined
  const stop = new AbortController()
  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true, signal: stop.signal })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    stop.abort()
  }
}

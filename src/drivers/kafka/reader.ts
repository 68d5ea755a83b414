// Reading one topic by position, without a consumer group: a position that is not there is an error here, where a group
// would jump to another one in silence. `TopicReader` asks once; `Follow` reads on, waits failures out, and after each
// one, and every 30 s, checks that the log is still the one it has read: same cluster, same number of partitions, same
// message before the next position.

import type { Broker, Cluster } from 'kafkajs'
import { defined } from '../../libraries/base/collections.ts'
import { must } from '../../libraries/base/assert.ts'
import { equalBytes } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { HaltError, NodeError } from '../../libraries/base/errors.ts'
import type { LogEntry } from '../../node/log/event-log.ts'
import { checkInRange, readStepBytes, readStepEntries } from '../../node/log/tail.ts'
import { badAnswer, type TopicAddress, TopicConnections } from './client.ts'
import { backoff, connectLimitMs, describeError, isOutOfRange, within } from './errors.ts'

/** An attempt that takes longer is given up, connections and all. */
const attemptMs = 10_000
const closeMs = 1_000
const readUncommitted = 0
const nothing = new Uint8Array(0)
const followOptions = { maxWaitMs: 300, maxBytes: 2 * 1024 * 1024 } as const
const checkMs = 30_000
/** Positions that are in range and yet out of range may be so while a leader changes. */
const outOfRangeMs = 5_000

export interface FetchOptions {
  /** How long the broker waits for a first message. */
  readonly maxWaitMs: number
  /** About how much it sends; at least one record batch. */
  readonly maxBytes: number
}

export interface TopicEntry extends LogEntry {
  readonly headers?: Readonly<Record<string, unknown>>
  /** When the broker stored it, by the broker's clock. */
  readonly storedMs: number
}

export interface Range {
  readonly start: number
  readonly end: number
}

/** Asks the leaders of one topic. It has its own connections and makes new ones after a failure. */
export class TopicReader {
  readonly #topic: string
  readonly #clock: Clock
  readonly #connections: TopicConnections
  readonly #firstFetches = new WeakMap<Broker, Promise<void>>()
  #closed = false

  constructor(address: TopicAddress & { readonly clock: Clock }) {
    this.#topic = address.topic
    this.#clock = address.clock
    this.#connections = new TopicConnections(address)
  }

  /**
   * Entries from `from` on, without gaps; none when there are none yet.
   * Throws HaltError `LogReplaced`, `LogDamaged`, and what kafkajs throws (`isOutOfRange` tells a position that is not
   * there).
   */
  fetch(partition: number, from: number, { maxWaitMs, maxBytes }: FetchOptions): Promise<TopicEntry[]> {
    const topic = this.#topic
    return this.#attempt(async (cluster) => {
      const leader = await this.#connections.leaderOf(cluster, partition)
      const answer = await this.#fetchFrom(cluster, leader, {
        maxWaitTime: maxWaitMs,
        minBytes: 1,
        maxBytes,
        isolationLevel: readUncommitted,
        topics: [{ topic, partitions: [{ partition, fetchOffset: String(from), maxBytes }] }],
      })
      return entriesOf(answer, from)
    })
  }

  /** The message at `position`. Throws as `fetch`. */
  async at(partition: number, position: number): Promise<TopicEntry | undefined> {
    return (await this.fetch(partition, position, { maxWaitMs: 1, maxBytes: 1 }))[0]
  }

  /** First position kept and durable end of each partition. Throws as `fetch`. */
  ranges(partitions: readonly number[]): Promise<ReadonlyMap<number, Range>> {
    return this.#attempt(async (cluster) => {
      await cluster.refreshMetadataIfNecessary()
      const topic = this.#topic
      const asked = partitions.map((partition) => ({ partition }))
      const [starts] = await cluster.fetchTopicsOffset([{ topic, partitions: asked, fromBeginning: true }])
      const [ends] = await cluster.fetchTopicsOffset([{ topic, partitions: asked, fromBeginning: false }])
      const startOf = new Map(starts?.partitions.map(({ partition, offset }) => [partition, Number(offset)]))
      return new Map(
        (ends?.partitions ?? []).map(({ partition, offset }) => {
          const start = must(startOf.get(partition), 'the broker names the same partitions twice')
          return [partition, { start, end: Number(offset) }]
        }),
      )
    })
  }

  /** Asks the cluster who it is and how many partitions the topic has. Throws as `fetch`, soon if told. */
  countPartitions(limitMs = attemptMs): Promise<number> {
    return this.#attempt((cluster) => this.#connections.countPartitions(cluster), limitMs)
  }

  /** Ends what is in flight; waits a moment for the connections to end. */
  async close(): Promise<void> {
    this.#closed = true
    await within(closeMs, this.#clock, this.#connections.drop()).catch(() => {})
  }

  async #attempt<T>(work: (cluster: Cluster) => Promise<T>, limitMs = attemptMs): Promise<T> {
    if (this.#closed) throw new NodeError('LogUnavailable', 'The log is closed.')
    try {
      const connecting = this.#connections.connected()
      const cluster = await within(Math.min(limitMs, connectLimitMs), this.#clock, connecting)
      return await within(limitMs, this.#clock, work(cluster))
    } catch (error) {
      // Not awaited: a broker that is silent would keep everyone waiting.
      if (!isOutOfRange(error)) void this.#connections.drop()
      throw error
    }
  }

  /**
   * The library opens the connection for fetching at the first fetch, and for two of them at once it opens two, of which
   * it forgets one, which would never end. So the others wait for the first one.
   */
  async #fetchFrom(cluster: Cluster, broker: Broker, request: Parameters<Broker['fetch']>[0]): Promise<unknown> {
    const first = this.#firstFetches.get(broker)
    if (first !== undefined) await first
    if (this.#connections.hasDropped(cluster)) {
      // It would open connections again.
      throw new NodeError('LogUnavailable', 'The connections to Kafka were given up.')
    }
    const fetching = broker.fetch(request)
    if (first === undefined) this.#firstFetches.set(broker, answered(fetching))
    return fetching
  }
}

/** Resolves when `fetching` has been answered, with a position that is not there too; fails with all other failures. */
function answered(fetching: Promise<unknown>): Promise<void> {
  const answer = fetching.then(
    () => {},
    (error: unknown) => {
      if (!isOutOfRange(error)) throw error
    },
  )
  answer.catch(() => {})
  return answer
}

interface FetchedMessage {
  readonly offset: string
  readonly value: Uint8Array | null
  readonly timestamp: string
  readonly isControlRecord?: boolean
  readonly headers?: Readonly<Record<string, unknown>>
}

interface FetchAnswer {
  readonly responses: readonly { readonly partitions: readonly { readonly messages: readonly FetchedMessage[] }[] }[]
}

/** The entries of an answer from `from` on. Markers of foreign transactions are positions without bytes. */
function entriesOf(answer: unknown, from: number): TopicEntry[] {
  // `as`: the library leaves the type of this answer open; its members are as it decodes version 11 of the request.
  const messages = (answer as FetchAnswer).responses[0]?.partitions[0]?.messages
  if (messages === undefined) throw badAnswer('fetch')
  const entries: TopicEntry[] = []
  let next = from
  for (const { offset, value, timestamp, isControlRecord, headers } of messages) {
    const position = Number(offset)
    if (position < from) continue
    if (position !== next)
      throw new HaltError('LogDamaged', `message ${next} is missing; ${position} came in its place`)
    const bytes = isControlRecord === true ? nothing : (value ?? nothing)
    entries.push({ position, bytes, storedMs: Number(timestamp), ...defined({ headers }) })
    next++
  }
  return entries
}

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

/** Reads on from one position: the next messages are fetched while the last ones are worked on, never more than those. */
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
      this.#last = (await reader.at(partition, before))?.bytes
    } catch (error) {
      if (error instanceof HaltError) throw error
      if (!isOutOfRange(error)) logger.warn({ partition, before, why: describeError(error) }, 'no anchor could be read')
    }
  }

  /** Fetches from `from`, however long it takes; a halt is a result, so that it need not be awaited. */
  async #fetch(from: number): Promise<LogEntry[] | HaltError> {
    const { reader, partition, clock, logger } = this.#options
    const startedMs = clock.monotonicMs()
    const pauseMs = backoff()
    for (;;) {
      try {
        return await reader.fetch(partition, from, followOptions)
      } catch (error) {
        if (error instanceof HaltError) return error
        if (this.#closed.signal.aborted) return []
        this.#isDoubtful = true
        if (isOutOfRange(error)) {
          const halt = await this.#outOfRange(from, clock.monotonicMs() - startedMs > outOfRangeMs)
          if (halt !== undefined) return halt
        }
        logger.warn({ partition, from, why: describeError(error) }, 'Kafka cannot be read; trying again')
        await clock.sleep(pauseMs(), this.#closed.signal)
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
    const pauseMs = backoff()
    while (!this.#closed.signal.aborted) {
      try {
        await this.#checkOnce()
        this.#isDoubtful = false
        this.#checkedAtMs = clock.monotonicMs()
        return
      } catch (error) {
        if (error instanceof HaltError) throw error
        logger.warn({ partition, why: describeError(error) }, 'Kafka cannot be checked; trying again')
        await clock.sleep(pauseMs(), this.#closed.signal)
      }
    }
  }

  async #checkOnce(): Promise<void> {
    const { reader, partition, partitions } = this.#options
    const found = await reader.countPartitions()
    if (found === 0) throw new NodeError('LogUnavailable', 'The topic is not there.')
    if (found !== partitions) {
      throw new HaltError('LogReplaced', `the topic has ${found} partitions, not ${partitions}`)
    }
    if (this.#last === undefined || this.#next === 0) return
    const before = this.#next - 1
    const range = (await reader.ranges([partition])).get(partition)
    if (range === undefined) throw new NodeError('LogUnavailable', `Partition ${partition} is not there.`)
    checkInRange(this.#next, range.start, range.end)
    if (range.start > before) return
    const message = await reader.at(partition, before)
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

// Reads one topic by position, without a consumer group: a position that is not there is an error here, where a group
// would jump to another one in silence. A reader has its own connections; after a failure it makes new ones, and with
// them checks that the cluster is still the same.

import type { Broker, Cluster, Kafka } from 'kafkajs'
import { must } from '../../lib/assert.ts'
import type { Clock } from '../../lib/clock.ts'
import { DecodeError, HaltError, NodeError } from '../../model/errors.ts'
import type { LogEntry } from '../event-log.ts'
import { clusterOf } from './client.ts'
import { connectLimitMs, within } from './deadline.ts'
import { isOutOfRange } from './errors.ts'

/** An attempt that takes longer is given up, connections and all. */
const attemptMs = 10_000
const closeMs = 1_000
const readUncommitted = 0
const nothing = new Uint8Array(0)

export interface ReaderOptions {
  readonly kafka: Kafka
  readonly topic: string
  readonly clock: Clock
  /** Identity of the cluster; absent when not known yet. */
  readonly clusterId?: string
}

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

export class TopicReader {
  readonly #options: ReaderOptions
  #cluster: Promise<Cluster> | undefined
  readonly #firstFetches = new WeakMap<Broker, Promise<void>>()
  readonly #dropped = new WeakSet<Cluster>()
  #closed = false

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /**
   * Entries from `from` on, without gaps; none when there are none yet.
   * Throws HaltError `LogReplaced`, `LogDamaged`, and what kafkajs throws (`isOutOfRange` tells a position that is not
   * there).
   */
  fetch(partition: number, from: number, options: FetchOptions): Promise<TopicEntry[]> {
    const { topic } = this.#options
    return this.#attempt(async (cluster) => {
      await cluster.refreshMetadataIfNecessary()
      const nodeId = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))[0]
      if (nodeId === undefined) throw new NodeError('LogUnavailable', `Partition ${partition} of ${topic} is gone.`)
      const broker = await cluster.findBroker({ nodeId })
      const answer = await this.#fetchFrom(cluster, broker, {
        maxWaitTime: options.maxWaitMs,
        minBytes: 1,
        maxBytes: options.maxBytes,
        isolationLevel: readUncommitted,
        topics: [{ topic, partitions: [{ partition, fetchOffset: String(from), maxBytes: options.maxBytes }] }],
      })
      return entriesOf(answer, from)
    })
  }

  /**
   * The library opens the connection for fetching at the first fetch, and for two of them at once it opens two, of which
   * it forgets one: nobody would ever end that. So the others wait for the first one.
   */
  async #fetchFrom(cluster: Cluster, broker: Broker, request: Parameters<Broker['fetch']>[0]): Promise<unknown> {
    const first = this.#firstFetches.get(broker)
    if (first !== undefined) await first
    // It would open connections again.
    if (this.#dropped.has(cluster)) throw new NodeError('LogUnavailable', 'The connections to Kafka were given up.')
    const fetching = broker.fetch(request)
    if (first === undefined) this.#firstFetches.set(broker, answered(fetching))
    return fetching
  }

  /** First position kept and durable end of each partition. Throws as `fetch`. */
  ranges(partitions: readonly number[]): Promise<ReadonlyMap<number, Range>> {
    const { topic } = this.#options
    return this.#attempt(async (cluster) => {
      await cluster.refreshMetadataIfNecessary()
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

  /** Asks the cluster for its identity and for the number of partitions of the topic. Throws as `fetch`, soon if told. */
  describe(limitMs = attemptMs): Promise<{ readonly clusterId: string; readonly partitions: number }> {
    const { topic } = this.#options
    return this.#attempt(async (cluster) => {
      const { clusterId, topicMetadata } = await metadataOf(cluster, [topic])
      const partitions = topicMetadata.find((one) => one.topic === topic)?.partitionMetadata.length ?? 0
      this.#checkCluster(clusterId)
      return { clusterId, partitions }
    }, limitMs)
  }

  /** Ends what is under way; waits a moment for the connections to end. */
  async close(): Promise<void> {
    this.#closed = true
    await within(closeMs, this.#options.clock, this.#drop()).catch(() => {})
  }

  async #attempt<T>(work: (cluster: Cluster) => Promise<T>, limitMs = attemptMs): Promise<T> {
    if (this.#closed) throw new NodeError('LogUnavailable', 'The log is closed.')
    const { clock } = this.#options
    try {
      const cluster = await within(Math.min(limitMs, connectLimitMs), clock, this.#connected())
      return await within(limitMs, clock, work(cluster))
    } catch (error) {
      // Not awaited: a broker that is silent would keep everyone waiting.
      if (!isOutOfRange(error)) void this.#drop()
      throw error
    }
  }

  #connected(): Promise<Cluster> {
    this.#cluster ??= this.#connect()
    return this.#cluster
  }

  async #connect(): Promise<Cluster> {
    const { kafka, topic } = this.#options
    const cluster = clusterOf(kafka)
    await cluster.connect()
    // Before the topic is asked for: another cluster may not have it.
    this.#checkCluster((await metadataOf(cluster, [])).clusterId)
    await cluster.addTargetTopic(topic)
    return cluster
  }

  #checkCluster(found: string): void {
    const { clusterId } = this.#options
    if (clusterId !== undefined && found !== clusterId) {
      throw new HaltError('LogReplaced', `the brokers now belong to cluster ${found}, not to ${clusterId}`)
    }
  }

  async #drop(): Promise<void> {
    const cluster = this.#cluster
    this.#cluster = undefined
    try {
      const one = await cluster
      if (one === undefined) return
      this.#dropped.add(one)
      await one.disconnect()
    } catch {
      // A cluster that cannot be left in peace has nothing more to lose.
    }
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

interface ClusterMetadata {
  readonly clusterId: string
  readonly topicMetadata: readonly { readonly topic: string; readonly partitionMetadata: readonly unknown[] }[]
}

/** The library's type leaves out the argument of `metadata` and the cluster's identity in its answer. */
async function metadataOf(cluster: Cluster, topics: string[]): Promise<ClusterMetadata> {
  const asking: { metadata(about?: { topics: string[] }): Promise<unknown> } = cluster
  const found: unknown = await asking.metadata({ topics })
  // `as`: both members are checked on the next line; the list is the library's own type.
  const metadata = found as ClusterMetadata
  if (typeof metadata.clusterId !== 'string' || !Array.isArray(metadata.topicMetadata)) throw badAnswer('metadata')
  return metadata
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
    entries.push({ position, bytes, storedMs: Number(timestamp), ...(headers === undefined ? {} : { headers }) })
    next++
  }
  return entries
}

function badAnswer(what: string): DecodeError {
  return new DecodeError('Kafka answer', `the answer to ${what} has not the form that is known`)
}

// Sends to one topic over connections of its own. Finding and reaching the leader is a step before the request, and
// the request is one exchange that the library does not repeat: so it is known whether a failure came before anything
// was sent, and what is thrown after that is never the failure of a later connection.

import type { Broker, Cluster, Kafka } from 'kafkajs'
import type { Clock } from '../../lib/clock.ts'
import { HaltError, NodeError } from '../../model/errors.ts'
import { clusterOf, produceMs } from './client.ts'
import { connectLimitMs, within } from './deadline.ts'
import { isAnswer, isSilence } from './errors.ts'
import type { Unsent } from './sender.ts'

/** A request that takes longer is given up, and its connections with it. */
const attemptMs = 10_000
/** How often a writer looks whether cluster and topic are still the same. */
const checkMs = 30_000
const allReplicas = -1

export interface WriterOptions {
  readonly kafka: Kafka
  readonly topic: string
  readonly clock: Clock
  /** Throws HaltError `LogReplaced` when the brokers or the topic are not those that were opened. */
  readonly checkIdentity: () => Promise<void>
}

export class TopicWriter {
  readonly #options: WriterOptions
  #cluster: Promise<Cluster> | undefined
  /** An attempt has failed: who leads the partitions is asked again. */
  #isStale = false
  #checkedAtMs = 0

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /**
   * One attempt: the position of the first message, or why nothing was sent. What it throws was met after the request
   * was given to the connection: `sendVerdict` says what that means. Throws HaltError `LogReplaced` before sending.
   */
  async send(partition: number, messages: readonly Uint8Array[]): Promise<number | Unsent> {
    const { topic, clock } = this.#options
    let leader: Broker
    try {
      leader = await within(attemptMs, clock, this.#leader(partition))
      // The library would connect again as a part of sending.
      if (!leader.isConnected()) throw new NodeError('LogUnavailable', 'The connection to Kafka has just ended.')
    } catch (error) {
      if (error instanceof HaltError) throw error
      this.#isStale = true
      return { unsent: error }
    }
    try {
      const values = messages.map((bytes) => ({ key: null, value: viewOf(bytes) }))
      const topicData = [{ topic, partitions: [{ partition, messages: values }] }]
      const sending = leader.produce({ acks: allReplicas, timeout: produceMs, topicData })
      return firstPosition(await within(attemptMs, clock, sending), partition)
    } catch (error) {
      this.#isStale = true
      this.#checkedAtMs = Number.NEGATIVE_INFINITY
      if (!isAnswer(error) && isSilence(error)) this.#drop()
      throw error
    }
  }

  /** Ends the connections. */
  async close(): Promise<void> {
    const cluster = this.#cluster
    this.#cluster = undefined
    await cluster?.then((one) => one.disconnect())
  }

  /** The connected leader of a partition, once cluster and topic are known to be the same. */
  async #leader(partition: number): Promise<Broker> {
    const { topic, clock, checkIdentity } = this.#options
    if (this.#cluster === undefined || clock.monotonicMs() - this.#checkedAtMs > checkMs) {
      await checkIdentity()
      this.#checkedAtMs = clock.monotonicMs()
    }
    const cluster = await within(connectLimitMs, clock, this.#connected())
    if (this.#isStale) {
      await within(connectLimitMs, clock, this.#refreshed(cluster))
      this.#isStale = false
    }
    await cluster.refreshMetadataIfNecessary()
    const nodeId = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))[0]
    if (nodeId === undefined) throw new NodeError('LogUnavailable', `The client knows no partition ${partition}.`)
    return cluster.findBroker({ nodeId })
  }

  #connected(): Promise<Cluster> {
    if (this.#cluster !== undefined) return this.#cluster
    const connecting = this.#connect()
    this.#cluster = connecting
    connecting.catch(() => {
      if (this.#cluster === connecting) this.#cluster = undefined
    })
    return connecting
  }

  async #connect(): Promise<Cluster> {
    const { kafka, topic } = this.#options
    const cluster = clusterOf(kafka)
    try {
      await cluster.connect()
      await cluster.addTargetTopic(topic)
      return cluster
    } catch (error) {
      void cluster.disconnect().catch(() => {})
      throw error
    }
  }

  async #refreshed(cluster: Cluster): Promise<void> {
    try {
      await cluster.refreshMetadata()
    } catch (error) {
      this.#drop()
      throw error
    }
  }

  /** The next attempt begins with new connections and fresh metadata. Not awaited: a silent broker would never end. */
  #drop(): void {
    void this.close().catch(() => {})
  }
}

interface ProduceAnswer {
  readonly topics?: readonly {
    readonly partitions: readonly {
      readonly partition: number
      readonly errorCode: number
      readonly baseOffset: string
    }[]
  }[]
}

/** The position that an answer gives the first message. Another form of answer says nothing: that is thrown. */
function firstPosition(answer: unknown, partition: number): number {
  // `as`: the library leaves the type of this answer open; every member is looked at before it is used.
  const results = (answer as ProduceAnswer).topics?.flatMap((topic) => topic.partitions) ?? []
  const [result] = results
  const first = Number(result?.baseOffset ?? Number.NaN)
  const isStored = results.length === 1 && result?.partition === partition && result.errorCode === 0
  if (isStored && Number.isSafeInteger(first) && first >= 0) return first
  throw new NodeError('LogUnavailable', `Kafka did not say where the messages for partition ${partition} are.`)
}

/** The client wants a Buffer; this one shares the memory. */
function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

// Spreads the partitions over builders by a consumer group of which only the membership is used: every partition is
// paused as soon as it is given, nothing is fetched, committed or reset. Reading stays with positions from floor and
// chain (kafka-log.ts). docs/decisions/kafka.md says why and when a builder builds without being told.

import kafkajs from 'kafkajs'
import type { Assigner, Cluster, Consumer, GroupMember, Kafka } from 'kafkajs'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { assignPartitions, type PartitionAssignment } from '../../node/log/partitions.ts'
import { createKafka, endConnections, type KafkaConnection } from './client.ts'
import { describeError, within } from './errors.ts'
import { topicNames } from './topics.ts'

/** The least that brokers allow by default: a builder that is killed is missed after it. */
const sessionMs = 6_000
const heartbeatMs = 1_000
/** How often the client looks whether a heartbeat is due. */
const pulseMs = 250
const tickMs = 250
/** A builder that has heard nothing for so long builds everything. */
const lostMs = 15_000
/** A member that hears nothing for so long is given up for a new one. */
const memberSilenceMs = 12_000
const leaveMs = 3_000
const firstRetryMs = 500
const longestRetryMs = 10_000

export interface KafkaAssignmentOptions {
  readonly connection: KafkaConnection
  readonly clock: Clock
  readonly logger: Logger
  readonly topicPrefix: string
  /** Partitions of the records topic. */
  readonly partitions: number
  /** Tells builders of one store from those of others that read the same topic. */
  readonly group: string
}

/** The assignment of one process. Nothing happens before `assignments` is asked for. */
export function openKafkaAssignment(options: KafkaAssignmentOptions): PartitionAssignment {
  return new GroupShare(options)
}

class GroupShare implements PartitionAssignment {
  readonly #options: KafkaAssignmentOptions
  readonly #kafka: Kafka
  readonly #topic: string
  readonly #all: readonly number[]
  /** The last word of the group. */
  #given: readonly number[] | undefined
  #heardAtMs = Number.NEGATIVE_INFINITY
  /** Time without a word in which this process was awake: one that was stopped for a while is not alone for that. */
  #silentMs = 0
  #wake = new AbortController()

  constructor(options: KafkaAssignmentOptions) {
    this.#options = options
    this.#kafka = createKafka(options.connection, options.logger)
    this.#topic = topicNames(options.topicPrefix).records
    this.#all = Array.from({ length: options.partitions }, (_, number) => number)
  }

  async *assignments(signal: AbortSignal): AsyncGenerator<readonly number[]> {
    const staying = this.#stay(signal)
    let last: readonly number[] | undefined
    while (!signal.aborted) {
      const current = this.#current()
      if (current !== last) {
        last = current
        yield current
      } else {
        const awakeMs = await this.#tick(AbortSignal.any([signal, this.#wake.signal]))
        this.#silentMs += awakeMs
      }
    }
    await staying
    endConnections(this.#kafka)
  }

  /** Everything until the first word: this may be the only builder, back after a crash. */
  #current(): readonly number[] {
    return this.#given === undefined || this.#silentMs >= lostMs ? this.#all : this.#given
  }

  /** Waits a moment; resolves with how long this process was awake meanwhile. */
  async #tick(signal: AbortSignal): Promise<number> {
    const { clock } = this.#options
    const fromMs = clock.monotonicMs()
    await clock.sleep(tickMs, signal)
    return Math.min(clock.monotonicMs() - fromMs, 2 * tickMs)
  }

  #hear(given: readonly number[] | undefined): void {
    const isNews = this.#silentMs >= lostMs || (given !== undefined && String(given) !== String(this.#given))
    this.#silentMs = 0
    this.#heardAtMs = this.#options.clock.monotonicMs()
    if (!isNews) return
    this.#given = given ?? this.#given
    this.#wake.abort()
    this.#wake = new AbortController()
  }

  /** Is a member until `signal` aborts, one after the other if need be. */
  async #stay(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options
    let retryMs = firstRetryMs
    while (!signal.aborted) {
      const fromMs = clock.monotonicMs()
      const why = await this.#beMember(signal)
      if (signal.aborted) return
      logger.warn({ why }, 'the group of builders cannot be asked; what it gave last stands for a while')
      retryMs = this.#heardAtMs > fromMs ? firstRetryMs : Math.min(2 * retryMs, longestRetryMs)
      await clock.sleep(retryMs, signal)
    }
  }

  /** Resolves with why it is no member any more. */
  async #beMember(signal: AbortSignal): Promise<string> {
    const { clock } = this.#options
    const over = new AbortController()
    let why = 'nothing was heard for long'
    let quietMs = 0
    const end = (error: unknown): void => {
      why = describeError(error)
      over.abort()
    }
    const consumer = this.#createConsumer()
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      // Before the first fetch, which then has nothing to ask for.
      consumer.pause([{ topic: this.#topic }])
      if (over.signal.aborted) return
      quietMs = 0
      this.#hear([...(payload.memberAssignment[this.#topic] ?? [])].sort((a, b) => a - b))
    })
    consumer.on(consumer.events.HEARTBEAT, () => {
      if (over.signal.aborted) return
      quietMs = 0
      this.#hear(undefined)
    })
    consumer.on(consumer.events.CRASH, ({ payload }) => end(payload.error))
    const joined = join(consumer, this.#topic).catch(end)
    const ended = AbortSignal.any([signal, over.signal])
    while (!ended.aborted && quietMs < memberSilenceMs) {
      const awakeMs = await this.#tick(ended)
      quietMs += awakeMs
    }
    over.abort()
    // One that is left while it joins would go on by itself, unheard, and keep its partitions.
    const left = joined.then(() => consumer.disconnect())
    left.catch(() => {})
    await within(leaveMs, clock, left).catch(() => {})
    return why
  }

  #createConsumer(): Consumer {
    return this.#kafka.consumer({
      groupId: this.#options.group,
      allowAutoTopicCreation: false,
      sessionTimeout: sessionMs,
      rebalanceTimeout: sessionMs,
      heartbeatInterval: heartbeatMs,
      maxWaitTimeInMs: pulseMs,
      // A consumer that restarts itself cannot be stopped for sure.
      retry: { retries: 3, initialRetryTime: 100, maxRetryTime: 500, restartOnFailure: async () => false },
      partitionAssigners: [({ cluster }) => this.#assigner(cluster)],
    })
  }

  /** A member that was heard lately names what it was given, and keeps it where that is even. */
  #assigner(cluster: Cluster): Assigner {
    const topic = this.#topic
    const version = 1
    const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol
    return {
      name: 'proofstream',
      version,
      protocol: ({ topics }) => {
        const isFresh = this.#options.clock.monotonicMs() - this.#heardAtMs < sessionMs
        const userData = Buffer.from(JSON.stringify(isFresh ? (this.#given ?? []) : []))
        return { name: 'proofstream', metadata: MemberMetadata.encode({ version, topics, userData }) }
      },
      assign: async ({ members }) => {
        const { length } = cluster.findTopicPartitionMetadata(topic)
        const holders = members.map((member) => ({ id: member.memberId, held: heldBy(member) }))
        return [...assignPartitions(length, holders)].map(([memberId, given]) => {
          const assignment = { [topic]: [...given] }
          return {
            memberId,
            memberAssignment: MemberAssignment.encode({ version, assignment, userData: Buffer.alloc(0) }),
          }
        })
      },
    }
  }
}

async function join(consumer: Consumer, topic: string): Promise<void> {
  await consumer.connect()
  await consumer.subscribe({ topics: [topic] })
  await consumer.run({ autoCommit: false, eachBatch: async () => {} })
}

/** What a member says that it builds; nothing when that cannot be read. */
function heldBy({ memberMetadata }: GroupMember): readonly number[] {
  try {
    const userData = kafkajs.AssignerProtocol.MemberMetadata.decode(memberMetadata)?.userData
    const held: unknown = JSON.parse(String(userData))
    return Array.isArray(held) ? held.filter((one): one is number => Number.isSafeInteger(one)) : []
  } catch {
    return []
  }
}

// The event log as a topic of Apache Kafka. Written by one sender per partition, read by position without a consumer
// group. Nothing rests on the broker's memory of us: no group offsets, no idempotent producer, no transactions
// (docs/decisions/kafka.md says why).

import type { Kafka } from 'kafkajs'
import { defined } from '../../libraries/base/collections.ts'
import { sha3256 } from '../../libraries/base/ids/native-crypto.ts'
import { assert, must } from '../../libraries/base/assert.ts'
import { toHex, utf8 } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { HaltError, NodeError } from '../../libraries/base/errors.ts'
import type { EventLog, LogEntry } from '../../node/log/event-log.ts'
import { prepareContract } from '../../node/log/messages.ts'
import { checkInRange } from '../../node/log/tail.ts'
import { createKafka, endConnections, type KafkaConnection } from './client.ts'
import { connectionHint, describeError, isConfigurationError, isOutOfRange, within } from './errors.ts'
import { Follow, type Range, type TopicEntry, TopicReader } from './reader.ts'
import { PartitionSender, TopicWriter } from './sender.ts'
import { ensureTopics, topicNames } from './topics.ts'

const defaultPartitions = 8
const stepBytes = 1024 * 1024
/** A broker that takes longer to say who it is may be frozen: another one is asked. */
const checkLimitMs = 1_500
/** How long closing waits for readers to reach what has been appended. */
const drainMs = 5_000
/** How long closing waits for connections to end; a silent broker would never let it end. */
const closeMs = 1_000
/** An end below a position that was read before may be that of a leader that does not know it yet. */
const endTries = 4
const retryMs = 500
/** How long brokers that cannot be reached are tried when the log is opened, and how often that is told. */
const openMs = 60_000
const tellMs = 10_000

export interface KafkaLogOptions {
  readonly connection: KafkaConnection
  readonly clock: Clock
  readonly logger: Logger
  /** First word of the names of the topics; default `proofstream`. */
  readonly topicPrefix?: string
  /** Partitions of a topic that is made; an existing one keeps its number. */
  readonly partitions?: number
}

/** A log with what an operator should know of it. */
export interface KafkaLog extends EventLog {
  /** Copies of each message; with fewer than 3, *logged* survives a killed broker, not a loss of power. */
  readonly replicas: number
  /** How long the topic keeps a message at least; Infinity: without end. */
  readonly retentionMs: number
  /** When the broker stored the message, by its clock, or undefined when the message is not there. */
  storedMs(partition: number, position: number): Promise<number | undefined>
  /** Why the log cannot be written, or undefined. */
  fault(): string | undefined
}

/**
 * Opens the log; makes its topics if they are missing. Waits up to a minute for brokers that cannot be reached.
 * Throws NodeError `LogUnavailable` after that or when the brokers refuse this client, `InvalidParameter` when settings
 * of a topic could lose data.
 */
export async function openKafkaLog(options: KafkaLogOptions): Promise<KafkaLog> {
  const { clock, logger, topicPrefix = 'proofstream', partitions = defaultPartitions } = options
  const names = topicNames(topicPrefix)
  return openPatiently(options, async (kafka) => {
    const found = await ensureTopics({ kafka, logger, names, partitions })
    if (found.partitions === 0) throw new NodeError('LogUnavailable', 'The topic is not there yet.')
    const reader = new TopicReader({ kafka, topic: names.records, clock, clusterId: found.clusterId })
    const ranges = await reader.ranges(Array.from({ length: found.partitions }, (_, number) => number))
    prepareContract()
    return new TopicLog({ ...options, ...found, kafka, topic: names.records, reader, ranges })
  })
}

interface Parts extends KafkaLogOptions {
  readonly kafka: Kafka
  readonly topic: string
  readonly clusterId: string
  readonly partitions: number
  readonly replicas: number
  readonly retentionMs: number
  readonly reader: TopicReader
  readonly ranges: ReadonlyMap<number, Range>
}

class TopicLog implements KafkaLog {
  readonly kind = 'kafka'
  readonly id: string
  readonly partitions: number
  readonly replicas: number
  readonly retentionMs: number
  readonly #parts: Parts
  readonly #reader: TopicReader
  /** Its own connections, because it gives them up easily. */
  readonly #watcher: TopicReader
  readonly #writer: TopicWriter
  readonly #senders: readonly PartitionSender[]
  /** What the last lookup in each partition fetched: the next one often asks for a message right behind. */
  readonly #fetched = new Map<number, readonly TopicEntry[]>()
  readonly #follows = new Set<Follow>()
  readonly #starting = new Set<Promise<unknown>>()
  /** Lookups of one partition come one after the other: the second often finds the first one's messages. */
  readonly #lookups = new Map<number, Promise<unknown>>()
  #halt: HaltError | undefined
  #closing: Promise<void> | undefined

  constructor(parts: Parts) {
    const { topic, clusterId, partitions, replicas, clock, logger, ranges, reader } = parts
    this.#parts = parts
    this.#reader = reader
    this.#watcher = new TopicReader({ kafka: parts.kafka, topic, clock, clusterId })
    this.#writer = new TopicWriter({ kafka: parts.kafka, topic, clock, checkIdentity: () => this.#checkIdentity() })
    this.id = toHex(sha3256(utf8(`kafka\n${clusterId}\n${topic}`)).subarray(0, 16))
    this.partitions = partitions
    this.replicas = replicas
    this.retentionMs = parts.retentionMs
    this.#senders = Array.from({ length: partitions }, (_, partition) => {
      return new PartitionSender({
        partition,
        end: ranges.get(partition)?.end ?? 0,
        clock,
        logger,
        send: (messages) => this.#writer.send(partition, messages),
        find: (span, messages) => this.#find(partition, span, messages),
        peek: async (position) => (await this.#fetch(partition, position, 1))[0]?.bytes,
        onHalt: (error) => this.#stop(error),
      })
    })
  }

  append(
    partition: number,
    messages: readonly Uint8Array[],
    options: { readonly useReserve?: boolean; readonly ahead?: boolean } = {},
  ): Promise<number> {
    assert(messages.length > 0, 'an append holds at least one message')
    if (this.#closing !== undefined) return Promise.reject(closed())
    return this.#sender(partition).append(messages, options.ahead === true)
  }

  async *read(
    partition: number,
    from: number,
    options: { readonly signal?: AbortSignal; readonly follow?: boolean },
  ): AsyncGenerator<readonly LogEntry[]> {
    const starting = this.#checkStart(partition, from)
    this.#starting.add(starting)
    const end = await starting.finally(() => this.#starting.delete(starting))
    const { kafka, topic, clusterId, clock, logger } = this.#parts
    const follow = new Follow({
      reader: new TopicReader({ kafka, topic, clock, clusterId }),
      partition,
      partitions: this.partitions,
      from,
      stop: options.follow === false ? end : Number.POSITIVE_INFINITY,
      clock,
      logger,
      ...defined({ signal: options.signal }),
    })
    this.#follows.add(follow)
    if (this.#closing !== undefined) {
      const sender = this.#sender(partition)
      await sender.idle()
      follow.finishAt(sender.end)
    }
    try {
      for await (const entries of follow.entries()) {
        if (this.#halt !== undefined) throw this.#halt
        yield entries
      }
    } finally {
      this.#follows.delete(follow)
    }
  }

  async get(partition: number, position: number): Promise<Uint8Array | undefined> {
    assert(position < 0 || Number.isSafeInteger(position), 'a position is a whole number')
    if (position < 0) return undefined
    const before = this.#lookups.get(partition) ?? Promise.resolve()
    const lookup = before.then(() => this.#look(partition, position))
    this.#lookups.set(
      partition,
      lookup.catch(() => undefined),
    )
    return lookup
  }

  async range(partition: number): Promise<Range> {
    const ranges = await this.#patiently(() => this.#reader.ranges([partition]))
    return must(ranges.get(partition), `the topic has no partition ${partition}`)
  }

  async storedMs(partition: number, position: number): Promise<number | undefined> {
    return (await this.#fetch(partition, position, 1))[0]?.storedMs
  }

  async release(): Promise<void> {
    // The topic's retention decides what is kept.
  }

  fault(): string | undefined {
    return this.#halt?.message
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish()
    return this.#closing
  }

  async #finish(): Promise<void> {
    await Promise.all(this.#senders.map((sender) => sender.idle()))
    await Promise.allSettled(this.#starting)
    const follows = [...this.#follows]
    for (const follow of follows) follow.finishAt(this.#sender(follow.partition).end)
    const drained = Promise.all(follows.map((follow) => follow.done))
    await within(drainMs, this.#parts.clock, drained).catch(() => {})
    await Promise.all(follows.map((follow) => follow.close()))
    await Promise.all([this.#reader.close(), this.#watcher.close()])
    await within(closeMs, this.#parts.clock, this.#writer.close()).catch(() => {})
    endConnections(this.#parts.kafka)
  }

  /** Checks that reading may begin at `from`; resolves with the end of the partition. */
  async #checkStart(partition: number, from: number): Promise<number> {
    if (this.#halt !== undefined) throw this.#halt
    for (let tries = 1; ; tries++) {
      const { start, end } = await this.range(partition)
      if (from <= end || tries === endTries) checkInRange(from, start, end)
      if (from <= end) return end
      await this.#parts.clock.sleep(retryMs)
    }
  }

  /** The message, from what the last lookup fetched, or with those behind it. */
  async #look(partition: number, position: number): Promise<Uint8Array | undefined> {
    const fetched = this.#fetched.get(partition) ?? []
    const held = fetched[position - (fetched[0]?.position ?? 0)]
    if (held?.position === position) return held.bytes
    const entries = await this.#fetch(partition, position, stepBytes)
    this.#fetched.set(partition, entries)
    return entries[0]?.bytes
  }

  /** The message at `position` and those after it, about `maxBytes`; none when it is not there. */
  async #fetch(partition: number, position: number, maxBytes: number): Promise<readonly TopicEntry[]> {
    try {
      return await this.#patiently(() => this.#reader.fetch(partition, position, { maxWaitMs: 1, maxBytes }))
    } catch (error) {
      if (isOutOfRange(error)) return []
      throw error
    }
  }

  /** Repeats a question on new connections; what fails at the last try is a `LogUnavailable`. */
  async #patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await ask()
      } catch (error) {
        if (error instanceof HaltError) throw error
        if (isOutOfRange(error) || this.#closing !== undefined) throw error
        if (tries === endTries) {
          const hint = describeError(error)
          throw new NodeError('LogUnavailable', 'Kafka cannot be read.', { hint, retryAfterSeconds: 5, cause: error })
        }
        await this.#parts.clock.sleep(retryMs)
      }
    }
  }

  /** Throws HaltError `LogReplaced` when the brokers or the topic are not those that were opened. */
  async #checkIdentity(): Promise<void> {
    const found = await this.#watcher.countPartitions(checkLimitMs)
    if (found === this.partitions) return
    throw new HaltError('LogReplaced', `the topic has ${found} partitions, not ${this.partitions}`)
  }

  /** Position in [from, below) at which `messages` begin, if they are all there. */
  async #find(
    partition: number,
    { from, below }: { readonly from: number; readonly below: number },
    messages: readonly Uint8Array[],
  ): Promise<number | undefined> {
    for (let first = from; first + messages.length <= below; first++) {
      let same = 0
      while (same < messages.length) {
        const found = await this.get(partition, first + same)
        if (found === undefined || Buffer.compare(found, messages[same] ?? new Uint8Array(0)) !== 0) break
        same++
      }
      if (same === messages.length) return first
    }
    return undefined
  }

  #stop(error: HaltError): void {
    this.#halt = error
    this.#parts.logger.error({ reason: error.reason }, error.message)
  }

  #sender(partition: number): PartitionSender {
    return must(this.#senders[partition], `the log has no partition ${partition}`)
  }
}

function closed(): NodeError {
  return new NodeError('LogUnavailable', 'The log is closed.')
}

/**
 * What `open` makes of a client. Brokers that cannot be reached are tried for a minute; an operator is told at once and
 * now and then, not at every try. Throws NodeError `LogUnavailable` after that, or at once when the brokers refuse this
 * client; `InvalidParameter` as `open` throws it.
 */
async function openPatiently<T>(
  { connection, clock, logger }: Pick<KafkaLogOptions, 'connection' | 'clock' | 'logger'>,
  open: (kafka: Kafka) => Promise<T>,
): Promise<T> {
  const { brokers } = connection
  let isOpen = false
  const kafka = createKafka(connection, {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    // The client has a line for each connection that it tries.
    warn: (fields, message) => (isOpen ? logger.warn(fields, message) : logger.debug(fields, message)),
    error: (fields, message) => logger.error(fields, message),
  })
  const endMs = clock.monotonicMs() + openMs
  let tellAtMs = Number.NEGATIVE_INFINITY
  for (;;) {
    try {
      const opened = await open(kafka)
      isOpen = true
      return opened
    } catch (error) {
      if (error instanceof NodeError && error.kind === 'InvalidParameter') throw error
      const why = connectionHint(error)
      const nowMs = clock.monotonicMs()
      if (isConfigurationError(error) || nowMs + retryMs > endMs) {
        const message = `Kafka at ${brokers.join(', ')} cannot be used.`
        throw new NodeError('LogUnavailable', message, { hint: why, cause: error })
      }
      if (nowMs >= tellAtMs) {
        const secondsLeft = Math.ceil((endMs - nowMs) / 1000)
        logger.warn({ brokers, why }, `Kafka cannot be reached; trying for ${secondsLeft} s more`)
        tellAtMs = nowMs + tellMs
      }
      await clock.sleep(retryMs)
    }
  }
}

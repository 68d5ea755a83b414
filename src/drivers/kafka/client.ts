// The door to kafkajs: how clients are made, the few parts of its public interface that the adapter uses, and the
// connections over which one topic is read or written. Settings and the reasons for them: docs/decisions/kafka.md.

import { createRequire } from 'node:module'
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import kafkajs from 'kafkajs'
import type { Broker, Cluster, ISocketFactory, Kafka, LogEntry as KafkaLogEntry, SASLOptions } from 'kafkajs'
import { must } from '../../libraries/base/assert.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { DecodeError, HaltError, NodeError } from '../../libraries/base/errors.ts'

export interface KafkaSasl {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
  readonly username: string
  readonly password: string
}

/** PEM texts; without any the system's certificate authorities decide. */
export interface KafkaTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

export interface KafkaConnection {
  /** `host:port` of some brokers; the others are found through them. */
  readonly brokers: readonly string[]
  readonly sasl?: KafkaSasl
  readonly tls?: KafkaTls
  /** Opens the connections; tests put faults here. */
  readonly socketFactory?: ISocketFactory
}

const requestMs = 5_000
/** How long a leader waits for its followers; below the request's own limit. */
const produceMs = 4_000
const metadataMaxAgeMs = 5_000
const keepAliveMs = 60_000

/** The open connections of a client; ended ones get no more. */
interface Connections {
  readonly open: Set<Socket>
  isEnded: boolean
}

const connectionsOf = new WeakMap<Kafka, Connections>()

/** A client. It connects at first use; its lines of log become ours, errors as warnings, because it retries. */
export function createKafka(connection: KafkaConnection, logger: Logger): Kafka {
  calmIdleConnections(logger)
  const { brokers, sasl, tls } = connection
  const connections: Connections = { open: new Set(), isEnded: false }
  const kafka = new kafkajs.Kafka({
    clientId: 'proofstream',
    brokers: [...brokers],
    ...(tls === undefined ? {} : { ssl: { ...tls } }),
    // `as`: the library's type is a union by mechanism, of which these three have the same members.
    ...(sasl === undefined ? {} : { sasl: { ...sasl } as SASLOptions }),
    connectionTimeout: 1_000,
    authenticationTimeout: 5_000,
    requestTimeout: requestMs,
    retry: { retries: 2, initialRetryTime: 50, maxRetryTime: 500 },
    socketFactory: kept(connection.socketFactory ?? openSocket, connections),
    logCreator: () => (entry) => passOn(entry, logger),
  })
  connectionsOf.set(kafka, connections)
  return kafka
}

/**
 * Ends every connection of a client for good. For the end of its use, after what was opened with it was closed: the
 * library leaves a connection open now and then, and that would keep the process alive.
 */
export function endConnections(kafka: Kafka): void {
  const connections = connectionsOf.get(kafka)
  if (connections === undefined) return
  connections.isEnded = true
  for (const socket of connections.open) socket.destroy()
}

function kept(open: ISocketFactory, connections: Connections): ISocketFactory {
  return (asked) => {
    const socket = open(asked)
    connections.open.add(socket)
    socket.once('close', () => connections.open.delete(socket))
    if (connections.isEnded) socket.destroy()
    return socket
  }
}

/**
 * New connections of a client, for fetching without a consumer group: a group would reset positions in silence.
 * The library hands them to partition assigners, so a consumer is made for that and never run.
 */
export function clusterOf(kafka: Kafka): Cluster {
  let cluster: Cluster | undefined
  kafka.consumer({
    groupId: 'proofstream',
    allowAutoTopicCreation: false,
    metadataMaxAge: metadataMaxAgeMs,
    readUncommitted: true,
    retry: { retries: 0 },
    partitionAssigners: [
      (given) => {
        cluster = given.cluster
        return kafkajs.PartitionAssigners.roundRobin(given)
      },
    ],
  })
  return must(cluster, 'kafkajs hands the cluster to its partition assigners')
}

/** As the library's own, but a socket that just closes also ends: otherwise only the request's limit would notice. */
const openSocket: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  const servername = isIP(host) === 0 ? { servername: host } : {}
  const socket = ssl
    ? connectTls({ host, port, ...servername, ...ssl }, onConnect)
    : connectPlain({ host, port }, onConnect)
  let hasEnded = false
  socket.setKeepAlive(true, keepAliveMs)
  socket.once('end', () => {
    hasEnded = true
  })
  socket.once('close', () => {
    if (!hasEnded) socket.emit('end')
  })
  return socket
}

function passOn({ level, namespace, log }: KafkaLogEntry, logger: Logger): void {
  const { message, timestamp: _at, logger: _name, stack: _stack, ...fields } = log
  const text = `kafkajs ${namespace}: ${message}`
  if (level === kafkajs.logLevel.ERROR) logger.warn(fields, text)
  else logger.debug(fields, text)
}

/** Where connections lead. */
export interface TopicAddress {
  readonly kafka: Kafka
  readonly topic: string
  /** Identity of the cluster; absent when not known yet. */
  readonly clusterId?: string
}

/** The connections of one reader or writer of a topic: made when they are needed, given up together after a failure. */
export class TopicConnections {
  readonly #address: TopicAddress
  #cluster: Promise<Cluster> | undefined
  readonly #dropped = new WeakSet<Cluster>()

  constructor(address: TopicAddress) {
    this.#address = address
  }

  /** False when the next use connects. */
  get isOpen(): boolean {
    return this.#cluster !== undefined
  }

  /** The connected cluster. Throws HaltError `LogReplaced` for another one than before, and what kafkajs throws. */
  connected(): Promise<Cluster> {
    if (this.#cluster !== undefined) return this.#cluster
    const connecting = this.#connect()
    this.#cluster = connecting
    connecting.catch(() => {
      if (this.#cluster === connecting) this.#cluster = undefined
    })
    return connecting
  }

  /** The broker that leads a partition. Throws NodeError `LogUnavailable` when the cluster knows no such partition. */
  async leaderOf(cluster: Cluster, partition: number): Promise<Broker> {
    const { topic } = this.#address
    await cluster.refreshMetadataIfNecessary()
    const nodeId = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))[0]
    if (nodeId === undefined) throw new NodeError('LogUnavailable', `Partition ${partition} of ${topic} is gone.`)
    return cluster.findBroker({ nodeId })
  }

  /** Asks how many partitions the topic has. Throws as `connected`. */
  async countPartitions(cluster: Cluster): Promise<number> {
    const { topic } = this.#address
    const topics = await this.#metadata(cluster, [topic])
    return topics.find((one) => one.topic === topic)?.partitionMetadata.length ?? 0
  }

  hasDropped(cluster: Cluster): boolean {
    return this.#dropped.has(cluster)
  }

  /** Ends the connections; resolves when they have ended. Never throws. */
  async drop(): Promise<void> {
    const cluster = this.#cluster
    this.#cluster = undefined
    try {
      const one = await cluster
      if (one === undefined) return
      this.#dropped.add(one)
      await one.disconnect()
    } catch {
      // Connections that cannot be ended in order have nothing more to lose.
    }
  }

  async #connect(): Promise<Cluster> {
    const { kafka, topic } = this.#address
    const cluster = clusterOf(kafka)
    try {
      await cluster.connect()
      // Before the topic is asked for: another cluster may not have it.
      await this.#metadata(cluster, [])
      await cluster.addTargetTopic(topic)
      return cluster
    } catch (error) {
      void cluster.disconnect().catch(() => {})
      throw error
    }
  }

  /** The library's type leaves out the argument of `metadata` and the cluster's identity in its answer. */
  async #metadata(cluster: Cluster, topics: string[]): Promise<ClusterMetadata['topicMetadata']> {
    const asking: { metadata(about?: { topics: string[] }): Promise<unknown> } = cluster
    // `as`: both members are checked on the next line; the list is the library's own type.
    const found = (await asking.metadata({ topics })) as ClusterMetadata
    if (typeof found.clusterId !== 'string' || !Array.isArray(found.topicMetadata)) throw badAnswer('metadata')
    const { clusterId } = this.#address
    if (clusterId === undefined || found.clusterId === clusterId) return found.topicMetadata
    throw new HaltError('LogReplaced', `the brokers now belong to cluster ${found.clusterId}, not to ${clusterId}`)
  }
}

/** A message as it is sent; without a key where none is given. */
export interface Outgoing {
  readonly value: Uint8Array
  readonly key?: Buffer
  readonly headers?: Readonly<Record<string, Buffer>>
}

/**
 * One request that stores messages, with `acks` of the leader alone or of every replica in step; gives the position of
 * the first. The library does not repeat it. Throws what kafkajs throws, and NodeError `LogUnavailable` for an answer
 * that does not say.
 */
export async function produce(
  leader: Broker,
  to: { readonly topic: string; readonly partition: number; readonly acks: 'leader' | 'all' },
  messages: readonly Outgoing[],
): Promise<number> {
  const { topic, partition } = to
  const sent = messages.map(({ value: { buffer, byteOffset, byteLength }, key = null, headers }) => {
    // The client wants a Buffer; this one shares the memory.
    const value = Buffer.from(buffer, byteOffset, byteLength)
    return headers === undefined ? { key, value } : { key, value, headers }
  })
  const topicData = [{ topic, partitions: [{ partition, messages: sent }] }]
  const acks = to.acks === 'all' ? -1 : 1
  return firstPosition(await leader.produce({ acks, timeout: produceMs, topicData }), partition)
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

interface ClusterMetadata {
  readonly clusterId: string
  readonly topicMetadata: readonly { readonly topic: string; readonly partitionMetadata: readonly unknown[] }[]
}

export function badAnswer(what: string): DecodeError {
  return new DecodeError('Kafka answer', `the answer to ${what} has not the form that is known`)
}

const isCalm = Symbol('proofstream')

interface RequestQueue {
  readonly pending?: unknown
  scheduleCheckPendingRequests?: (this: RequestQueue) => void
  [isCalm]?: true
}

/**
 * Stops the idle timers of all connections of the process, once: kafkajs 2.2.4 re-arms a timer of one millisecond for
 * ever on each connection that has served a request, 7 % of a core when idle. It is only of use while requests wait.
 * This is the one place that touches the inside of the library; where that looks different, nothing is changed.
 */
function calmIdleConnections(logger: Logger): void {
  const queue = requestQueue()
  const schedule = queue?.scheduleCheckPendingRequests
  if (queue === undefined || schedule === undefined) {
    logger.debug({}, 'kafkajs is not the version whose idle timers are known')
    return
  }
  if (queue[isCalm] === true) return
  queue[isCalm] = true
  queue.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (!Array.isArray(this.pending) || this.pending.length > 0) schedule.call(this)
  }
}

function requestQueue(): RequestQueue | undefined {
  try {
    const found: unknown = createRequire(import.meta.url)('kafkajs/src/network/requestQueue')
    const prototype: unknown = typeof found === 'function' ? found.prototype : undefined
    // `as`: every member is optional and looked at before it is used.
    return typeof prototype === 'object' && prototype !== null ? (prototype as RequestQueue) : undefined
  } catch {
    return undefined
  }
}

// The door to kafkajs: how clients are made, and the few parts of its public interface that the adapter uses.
// Settings and the reasons for them: docs/decisions/kafka.md.

import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import kafkajs from 'kafkajs'
import type { Cluster, ISocketFactory, Kafka, LogEntry as KafkaLogEntry, Producer, SASLOptions } from 'kafkajs'
import { must } from '../../lib/assert.ts'
import type { Logger } from '../../lib/logger.ts'
import { calmIdleConnections } from './idle.ts'

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
export const produceMs = 4_000
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

/** A producer that sends each request once: repeating is the adapter's, because only it knows what may be stored. */
export function createProducer(kafka: Kafka): Producer {
  return kafka.producer({
    idempotent: false,
    allowAutoTopicCreation: false,
    metadataMaxAge: metadataMaxAgeMs,
    retry: { retries: 0 },
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  })
}

/**
 * The connections of a client, for fetching without a consumer group: a group would reset positions in silence.
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

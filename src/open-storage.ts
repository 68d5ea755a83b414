// Opens the log and the announcements that the options of a process call for.

import { readFile } from 'node:fs/promises'
import type { Config, KafkaConfig } from './config.ts'
import type { LogFacts } from './http/context.ts'
import { systemClock } from './lib/clock.ts'
import type { Logger } from './lib/logger.ts'
import { type Announcements, openLocalAnnouncements } from './log/announcements.ts'
import type { EventLog } from './log/event-log.ts'
import { openFileLog } from './log/file/file-log.ts'
import type { KafkaConnection } from './log/kafka/client.ts'
import type { KafkaLog } from './log/kafka/kafka-log.ts'
import type { TopicState } from './log/kafka/topics.ts'
import type { PartitionShare } from './log/partitions.ts'
import { NodeError } from './model/errors.ts'
import type { Role } from './model/names.ts'
import { createLogger } from './ops/create-logger.ts'
import type { DataPaths } from './store/layout.ts'

/** A log that takes longer to say where it ends is not there for an accept either. */
const logAnswerMs = 2_000

export interface OpenedLog {
  /** Absent for a replica alone. */
  readonly log: EventLog | undefined
  /** The same, where it deletes what is old. */
  readonly aging?: KafkaLog
  readonly announcements: Announcements
  /** Spreads the partitions over the builders of `group`; absent where one process builds all. */
  readonly share?: (group: string) => PartitionShare
  /** What is told of the log beside its kind. */
  readonly facts: Pick<LogFacts, 'replicas' | 'caution'>
  /** Why the log takes nothing, or undefined. */
  readonly logFault: () => Promise<string | undefined>
}

interface LogNeeds {
  readonly config: Config
  readonly paths: DataPaths
  readonly logger: Logger
  readonly fail: (error: unknown) => void
  readonly openBytes: () => number
}

/** Opens the log that options and roles call for. The client of Kafka is loaded only for a log in Kafka. */
export async function openLog(needs: LogNeeds, opened: (() => Promise<void>)[]): Promise<OpenedLog> {
  const { config, paths, logger, fail, openBytes } = needs
  const clock = systemClock
  const isReader = !has(config, 'gateway') && !has(config, 'builder')
  const logFault = async (): Promise<undefined> => undefined
  if (config.kafka === undefined) {
    const announcements = openLocalAnnouncements(logger)
    if (isReader) return { log: undefined, announcements, facts: {}, logFault }
    const log = await openFileLog({ directory: paths.log, clock, logger, onFailure: fail, openBytes })
    opened.push(() => log.close())
    return { log, announcements, facts: {}, logFault }
  }
  const { openKafkaLog } = await import('./log/kafka/kafka-log.ts')
  const { openKafkaAnnouncements } = await import('./log/kafka/announcements.ts')
  const { openKafkaShare } = await import('./log/kafka/share.ts')
  const { topicPrefix, partitions } = config.kafka
  const connection = await kafkaConnection(config.kafka)
  const log = isReader ? undefined : await openKafkaLog({ connection, clock, logger, topicPrefix, partitions })
  if (log !== undefined) opened.push(() => log.close())
  const announcements = openKafkaAnnouncements({ connection, clock, logger, topicPrefix })
  opened.push(() => announcements.close())
  if (log === undefined) return { log, announcements, facts: {}, logFault }
  const share = (group: string): PartitionShare => {
    const sharing = { connection, clock, logger, topicPrefix, partitions: log.partitions }
    return openKafkaShare({ ...sharing, group: `${topicPrefix}.builders.${group}` })
  }
  const { replicas } = log
  const caution = `with ${replicas} of 3 replicas a loss of power may lose logged rows`
  if (replicas < 3) logger.warn({ replicas }, caution)
  const facts = { replicas, ...(replicas < 3 ? { caution } : {}) }
  return { log, aging: log, announcements, share, facts, logFault: async () => log.fault() ?? (await silenceOf(log)) }
}

/** Says so when the log does not answer in time. */
async function silenceOf(log: EventLog): Promise<string | undefined> {
  const ended = new AbortController()
  const answer = log.range(0).then(
    () => undefined,
    () => 'the log cannot be reached',
  )
  const silence = systemClock.sleep(logAnswerMs, ended.signal).then(() => 'the log does not answer')
  return Promise.race([answer, silence]).finally(() => ended.abort())
}

/** What an operator may do with the topics of an installation; both resolve with the topics as they are then. */
export interface Streams {
  /** The brokers that there are now. */
  cluster(): Promise<{ readonly clusterId: string; readonly brokers: number }>
  /** Compares them with their contracts. */
  compare(): Promise<readonly TopicState[]>
  /** Makes those that are missing and sets what differs. */
  apply(): Promise<readonly TopicState[]>
}

/** Topics of the log that `config` names. Throws NodeErrors `InvalidParameter`; its methods throw `LogUnavailable`. */
export async function openStreams(config: Config, logger: Logger = createLogger(config.logLevel)): Promise<Streams> {
  if (config.kafka === undefined) throw new NodeError('InvalidParameter', 'The file log has no topics.')
  const { brokers, topicPrefix, partitions } = config.kafka
  const [{ createKafka }, topics] = await Promise.all([
    import('./log/kafka/client.ts'),
    import('./log/kafka/topics.ts'),
  ])
  const kafka = createKafka(await kafkaConnection(config.kafka), logger)
  const options = { kafka, logger, names: topics.topicNames(topicPrefix), partitions }
  const told = (error: unknown): never => {
    const hint = topics.connectionHint(error)
    throw new NodeError('LogUnavailable', `Kafka at ${brokers.join(', ')} cannot be used.`, { hint, cause: error })
  }
  return {
    cluster: () => topics.describeBrokers(kafka).catch(told),
    compare: () => topics.compareTopics(options).catch(told),
    apply: () => topics.applyTopics(options).catch(told),
  }
}

export async function kafkaConnection({ brokers, sasl, tls }: KafkaConfig): Promise<KafkaConnection> {
  const pem = async (name: 'ca' | 'cert' | 'key'): Promise<Record<string, string>> => {
    const path = tls?.[name]
    return path === undefined ? {} : { [name]: await readFile(path, 'utf8') }
  }
  return {
    brokers,
    ...(sasl === undefined ? {} : { sasl }),
    ...(tls === undefined ? {} : { tls: { ...(await pem('ca')), ...(await pem('cert')), ...(await pem('key')) } }),
  }
}

function has({ roles }: Config, role: Role): boolean {
  return roles.includes(role)
}

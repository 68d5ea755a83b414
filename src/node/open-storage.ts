// Opens the store and the log that the options of a process call for, for nodes and for commands that work on what is
// stored. What only some processes need, such as the client of Kafka, is loaded when it is opened.

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Config } from './config.ts'
import type { KafkaConfig } from '../drivers/kafka/options.ts'
import { systemClock as clock } from '../libraries/base/clock.ts'
import type { Logger } from '../libraries/base/logger.ts'
import type { Announcements } from './log/announcements.ts'
import type { EventLog } from './log/event-log.ts'
import type { KafkaConnection } from '../drivers/kafka/client.ts'
import type { KafkaLog } from '../drivers/kafka/kafka-log.ts'
import type { TopicState } from '../drivers/kafka/topics.ts'
import type { PartitionAssignment } from './log/partitions.ts'
import { NodeError } from '../libraries/base/errors.ts'
import { openDirectoryStore, openReadOnlyDirectoryStore } from './store/directory/directory-store.ts'
import { counted, type StoreOperation } from './store/counted-store.ts'
import { dataPaths, logsPrefix } from './store/layout.ts'
import type { ObjectStore } from './store/object-store.ts'
import { withPacks } from './store/packed-store.ts'
import type { BucketConfig } from '../drivers/s3/options.ts'

/** A log that takes longer to say where it ends is not there for an accept either. */
const logAnswerMs = 2_000

/** How slices are compressed by this process. */
export const compressor = {
  name: `zstd ${process.versions['zstd'] ?? 'unknown'}`,
  compress: (bytes: Uint8Array) => zstdCompressSync(bytes),
  decompress: (bytes: Uint8Array) => zstdDecompressSync(bytes),
}

/** What a process does with what it opens, and how that ends. */
export interface Opening {
  readonly logger: Logger
  /** Called once when what was opened takes no more: the process should stop. */
  readonly onFailure: (error: unknown) => void
  /** What closes what was opened, in the order of opening. */
  readonly opened: (() => Promise<void>)[]
}

/** Closes in reverse order of opening, each once. */
export async function closeAll(opened: Opening['opened']): Promise<void> {
  for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close()
}

/** Who is told of what the store does. */
interface StoreWatch extends Partial<Pick<Opening, 'logger' | 'onFailure'>> {
  /** Called for requests. */
  readonly onRequest?: ((operation: StoreOperation, requests: number) => void) | undefined
  /** For so long a bucket that does not answer is asked again; absent: it is not. */
  readonly patienceMs?: number
}

/**
 * Opens the store in `root`, which for writing is made where it is missing; objects of chains are found loose or packed.
 * Throws as the directory store.
 */
export async function openStore(
  root: string,
  use: 'read' | 'write',
  { onFailure, onRequest }: StoreWatch = {},
): Promise<ObjectStore> {
  const opening = use === 'read' ? openReadOnlyDirectoryStore(root) : openDirectoryStore(root, undefined, onFailure)
  return readable(await opening, onRequest)
}

/** Objects of chains are found loose or packed, and each request is counted. */
function readable(store: ObjectStore, onRequest: StoreWatch['onRequest']): ObjectStore {
  return withPacks(onRequest === undefined ? store : counted(store, onRequest), clock)
}

/**
 * Opens the store that `config` names, in a directory or a bucket. Throws as the directory store, and of a bucket that does
 * not pass its trial NodeError `StoreUnavailable`.
 */
export async function openConfiguredStore(
  config: Config,
  use: 'read' | 'write',
  watch: StoreWatch = {},
): Promise<ObjectStore> {
  if (config.bucket === undefined) return openStore(placeOfStore(config), use, watch)
  const logger = watch.logger ?? (await import('./machine/ops/logger.ts')).createLogger(config.logLevel)
  const { patienceMs = 0 } = watch
  return readable(await openInBucket(config, config.bucket, { use, logger, patienceMs }), watch.onRequest)
}

/** Opens the store that `config` names, as above. Throws NodeError `ObjectNotFound` where there is none. */
export async function openStoreThatIs(
  config: Config,
  use: 'read' | 'write' = 'write',
  onFailure?: (error: unknown) => void,
): Promise<ObjectStore> {
  const place = placeOfStore(config)
  if (config.bucket !== undefined || (await isThere(join(place, logsPrefix)))) {
    const store = await openConfiguredStore(config, use, onFailure === undefined ? {} : { onFailure })
    if ((await store.list(logsPrefix)).length > 0) return store
    await store.close()
  }
  throw new NodeError('ObjectNotFound', `There is no store in ${place}.`, {
    hint: 'Name the data directory with --data, and the store with --store if it is elsewhere.',
  })
}

/** Where the store of `config` is: a directory, or the URL of a bucket. */
export function placeOfStore({ dataDir, storeDir, bucket }: Config): string {
  return bucket?.url ?? dataPaths(dataDir, storeDir).store
}

async function openInBucket(
  { dataDir, limits }: Config,
  { bucket, prefix, condition, endpoint, region, pathStyle }: BucketConfig,
  { use, logger, patienceMs }: { readonly use: 'read' | 'write'; readonly logger: Logger; readonly patienceMs: number },
): Promise<ObjectStore> {
  const { openBucket } = await import('../drivers/s3/open-bucket.ts')
  return openBucket({
    address: { endpoint, bucket, region, pathStyle, dialect: condition },
    prefix,
    use,
    spoolDir: dataPaths(dataDir).cache,
    clock,
    logger,
    answerMs: limits.storeAnswerMs,
    patienceMs,
  })
}

export async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

export interface LogFacts {
  /** Copies of each message, for a log in Kafka. */
  readonly replicas?: number
  /** What *logged* does not survive, when that is more than usual. */
  readonly caution?: string
}

/** The log of a process, with what belongs to it. */
export interface OpenedLog {
  /** Absent for a replica alone. */
  readonly log: EventLog | undefined
  /** The same, where it deletes what is old. */
  readonly aging: KafkaLog | undefined
  readonly announcements: Announcements
  /** Assigns the partitions to the builders of `group`; absent where one process builds all. */
  readonly assignment: ((group: string) => PartitionAssignment) | undefined
  /** What `/info` says about the log besides its kind. */
  readonly facts: LogFacts
  /** Why the log takes nothing, or undefined. */
  readonly fault: () => Promise<string | undefined>
}

/** What is told of a process that has no log in Kafka. */
const withoutKafka = { aging: undefined, assignment: undefined, facts: {}, fault: async () => undefined }

/** Opens the log and the announcements that options and roles call for; `openBytes` of its rows are in no block yet. */
export async function openLog(config: Config, opening: Opening, openBytes: () => number): Promise<OpenedLog> {
  const { logger, opened } = opening
  const isReader = !config.roles.includes('gateway') && !config.roles.includes('builder')
  if (config.kafka !== undefined) return openKafka(config.kafka, isReader, opening)
  const { openLocalAnnouncements } = await import('./log/announcements.ts')
  const log = isReader ? undefined : await openLogDirectory(dataPaths(config.dataDir).log, opening, openBytes)
  if (log !== undefined) opened.push(() => log.close())
  const announcements = openLocalAnnouncements(logger)
  return { ...withoutKafka, log, announcements }
}

/** Opens the file log in a directory. Throws as `openFileLog`. */
export async function openLogDirectory(
  directory: string,
  { logger, onFailure }: Opening,
  openBytes?: () => number,
): Promise<EventLog> {
  const { openFileLog } = await import('./log/file/file-log.ts')
  return openFileLog({ directory, clock, logger, onFailure, ...(openBytes === undefined ? {} : { openBytes }) })
}

/** Opens the log in the topics of a prefix. Throws as `openKafkaLog`. */
export async function openTopics(kafka: KafkaConfig, logger: Logger): Promise<KafkaLog> {
  const { openKafkaLog } = await import('../drivers/kafka/kafka-log.ts')
  const { topicPrefix, partitions } = kafka
  return openKafkaLog({ connection: await connectionOf(kafka), clock, logger, topicPrefix, partitions })
}

async function openKafka(kafka: KafkaConfig, isReader: boolean, { logger, opened }: Opening): Promise<OpenedLog> {
  const { topicPrefix } = kafka
  const log = isReader ? undefined : await openTopics(kafka, logger)
  if (log !== undefined) opened.push(() => log.close())
  const { openKafkaAnnouncements } = await import('../drivers/kafka/announcements.ts')
  const connection = await connectionOf(kafka)
  const announcements = openKafkaAnnouncements({ connection, clock, logger, topicPrefix })
  opened.push(() => announcements.close())
  if (log === undefined) return { ...withoutKafka, log, announcements }
  const { openKafkaAssignment } = await import('../drivers/kafka/assignment.ts')
  const { replicas, partitions } = log
  const caution = `with ${replicas} of 3 replicas a loss of power may lose logged rows`
  if (replicas < 3) logger.warn({ replicas }, caution)
  return {
    log,
    aging: log,
    announcements,
    assignment: (store) => {
      const group = `${topicPrefix}.builders.${store}`
      return openKafkaAssignment({ connection, clock, logger, topicPrefix, partitions, group })
    },
    facts: { replicas, ...(replicas < 3 ? { caution } : {}) },
    fault: async () => log.fault() ?? (await silenceOf(log)),
  }
}

/** Says so when the log does not answer in time. */
async function silenceOf(log: EventLog): Promise<string | undefined> {
  const ended = new AbortController()
  const answer = log.range(0).then(
    () => undefined,
    () => 'the log cannot be reached',
  )
  const silence = clock.sleep(logAnswerMs, ended.signal).then(() => 'the log does not answer')
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
export async function openStreams({ kafka: config, logLevel }: Config, logger?: Logger): Promise<Streams> {
  if (config === undefined) throw new NodeError('InvalidParameter', 'The file log has no topics.')
  const { brokers, topicPrefix, partitions } = config
  const log = logger ?? (await import('./machine/ops/logger.ts')).createLogger(logLevel)
  const [{ createKafka }, { connectionHint }, topics] = await Promise.all([
    import('../drivers/kafka/client.ts'),
    import('../drivers/kafka/errors.ts'),
    import('../drivers/kafka/topics.ts'),
  ])
  const kafka = createKafka(await connectionOf(config), log)
  const options = { kafka, logger: log, names: topics.topicNames(topicPrefix), partitions }
  const told = (cause: unknown): never => {
    const hint = connectionHint(cause)
    throw new NodeError('LogUnavailable', `Kafka at ${brokers.join(', ')} cannot be used.`, { hint, cause })
  }
  return {
    cluster: () => topics.describeBrokers(kafka).catch(told),
    compare: () => topics.compareTopics(options).catch(told),
    apply: () => topics.applyTopics(options).catch(told),
  }
}

async function connectionOf({ brokers, sasl, tls }: KafkaConfig): Promise<KafkaConnection> {
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

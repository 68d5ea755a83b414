// The composition root of `log adopt`: opens the store and the two logs of a data directory on which no node runs.

import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Adoption, adoptLog } from './builder/adopt-log.ts'
import type { Config, KafkaConfig } from './config.ts'
import { lockDirectory } from './disk/directory-lock.ts'
import { systemClock } from './lib/clock.ts'
import type { Logger } from './lib/logger.ts'
import { openLocalAnnouncements } from './log/announcements.ts'
import type { EventLog } from './log/event-log.ts'
import { openFileLog } from './log/file/file-log.ts'
import { NodeError } from './model/errors.ts'
import { compressor } from './node.ts'
import { kafkaConnection, openStreams } from './open-storage.ts'
import { createLogger } from './ops/create-logger.ts'
import { openDirectoryStore } from './store/directory/directory-store.ts'
import { dataPaths, logsPrefix } from './store/layout.ts'
import type { ObjectStore } from './store/object-store.ts'

/** A log as a person names it. */
export type LogName =
  | { readonly kind: 'file'; readonly directory?: string }
  | { readonly kind: 'kafka'; readonly topicPrefix?: string }
  | { readonly kind: 'id'; readonly id: string }

const logNameForms = 'file, file:DIRECTORY, kafka, kafka:PREFIX, or the id of a log that is gone (32 hex digits)'

/** Reads `file[:DIRECTORY]`, `kafka[:PREFIX]`, or an id. Throws NodeError `InvalidParameter`. */
export function logNameOf(text: string): LogName {
  if (/^[0-9a-f]{32}$/.test(text)) return { kind: 'id', id: text }
  const [, kind, rest] = /^(file|kafka)(?::(.+))?$/.exec(text) ?? []
  if (kind === 'file') return { kind, ...(rest === undefined ? {} : { directory: rest }) }
  if (kind === 'kafka') return { kind, ...(rest === undefined ? {} : { topicPrefix: rest }) }
  throw new NodeError('InvalidParameter', `'${text}' names no log.`, { hint: `Expected ${logNameForms}.` })
}

export interface AdoptOptions {
  readonly old: LogName
  readonly next: LogName
  readonly acceptLoss: boolean
}

/**
 * Gives up the log `old` for `next` in the store that `config` names. Throws as `adoptLog`; NodeErrors `LogUnavailable`
 * while a node has the data directory or a log, `ObjectNotFound` where there is no store or no such log.
 */
export async function adopt(config: Config, options: AdoptOptions): Promise<Adoption> {
  const logger = createLogger(config.logLevel)
  const opened: (() => Promise<void>)[] = []
  const failure = new AbortController()
  const onFailure = (error: unknown): void => failure.abort(error)
  try {
    const store = await openStore(config, { opened, onFailure })
    const opening: Opening = { config, logger, opened, store, onFailure }
    const name = await foundName(config, options.old)
    const into = nextName(config, name, options.next)
    const old = name.kind === 'id' ? name.id : await openOld(opening, name)
    const next = await openLog(opening, into)
    const announcements = openLocalAnnouncements(logger)
    const { signal } = failure
    const deps = { store, announcements, clock: systemClock, logger, compressor, signal }
    return await adoptLog(deps, { old, next, acceptLoss: options.acceptLoss })
  } finally {
    for (const close of opened.toReversed()) await close()
  }
}

/** The file log of the data directory where its id was named: it is not gone. */
async function foundName(config: Config, name: LogName): Promise<LogName> {
  if (name.kind !== 'id') return name
  const id = await readFile(join(dataPaths(config.dataDir).log, 'id'), 'utf8').catch(() => '')
  return id.trim().split(' ')[0] === name.id ? { kind: 'file' } : name
}

function nextName(config: Config, old: LogName, next: LogName): OpenLogName {
  if (next.kind === 'id') {
    throw new NodeError('InvalidParameter', 'The new log is named by an id.', { hint: `Expected ${logNameForms}.` })
  }
  const isSame =
    old.kind === 'file' &&
    next.kind === 'file' &&
    resolve(directoryOf(config, old)) === resolve(directoryOf(config, next))
  if (!isSame) return next
  throw new NodeError('InvalidParameter', 'The two are one log.', {
    hint: `Move ${directoryOf(config, old)} away and name it as file:DIRECTORY; the node then begins an empty one.`,
  })
}

async function openStore(
  config: Config,
  { opened, onFailure }: Pick<Opening, 'opened' | 'onFailure'>,
): Promise<ObjectStore> {
  const paths = dataPaths(config.dataDir, config.storeDir)
  if (!(await exists(join(paths.store, logsPrefix)))) {
    throw new NodeError('ObjectNotFound', `There is no store in ${paths.store}.`, {
      hint: 'Name the data directory with --data, and the store with --store if it lies elsewhere.',
    })
  }
  if (await exists(paths.cache)) {
    const unlock = lockDirectory(paths.cache, 'cache')
    opened.push(async () => unlock())
  }
  const store = await openDirectoryStore(paths.store, undefined, onFailure)
  opened.push(() => store.close())
  return store
}

interface Opening {
  readonly config: Config
  readonly logger: Logger
  readonly opened: (() => Promise<void>)[]
  readonly store: ObjectStore
  /** What was opened takes no more. */
  readonly onFailure: (error: unknown) => void
}

type OpenLogName = Exclude<LogName, { kind: 'id' }>

/** Opens a log that must be there: a new one in its place would be another. */
async function openOld(at: Opening, name: OpenLogName): Promise<EventLog> {
  const directory = directoryOf(at.config, name)
  const isThere =
    name.kind === 'file' ? await exists(join(directory, 'id')) : await hasTopics(kafkaOf(at.config, name), at)
  if (isThere) return openLog(at, name)
  const ids = await at.store.list(logsPrefix)
  const place = name.kind === 'file' ? directory : 'Kafka under that name'
  throw new NodeError('ObjectNotFound', `There is no log in ${place}.`, {
    hint: `If it is gone, name it by its id. The store knows ${ids.join(', ')}.`,
  })
}

async function openLog({ config, logger, opened, onFailure }: Opening, name: OpenLogName): Promise<EventLog> {
  const log = name.kind === 'file' ? await openFile() : await openTopic()
  opened.push(() => log.close())
  return log

  async function openFile(): Promise<EventLog> {
    return openFileLog({ directory: directoryOf(config, name), clock: systemClock, logger, onFailure })
  }
  async function openTopic(): Promise<EventLog> {
    const kafka = kafkaOf(config, name)
    const [{ openKafkaLog }, connection] = await Promise.all([
      import('./log/kafka/kafka-log.ts'),
      kafkaConnection(kafka),
    ])
    return openKafkaLog({ ...kafka, connection, clock: systemClock, logger })
  }
}

function directoryOf(config: Config, name: OpenLogName): string {
  return (name.kind === 'file' ? name.directory : undefined) ?? dataPaths(config.dataDir).log
}

function kafkaOf({ kafka }: Config, name: OpenLogName): KafkaConfig {
  if (kafka === undefined) throw new NodeError('InvalidParameter', 'It is not said where Kafka is.')
  const topicPrefix = name.kind === 'kafka' ? name.topicPrefix : undefined
  return { ...kafka, topicPrefix: topicPrefix ?? kafka.topicPrefix }
}

async function hasTopics(kafka: KafkaConfig, { config, logger }: Opening): Promise<boolean> {
  const streams = await openStreams({ ...config, kafka }, logger)
  return (await streams.compare()).every(({ partitions }) => partitions > 0)
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

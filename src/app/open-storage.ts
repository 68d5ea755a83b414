// Opens the store and the log that the options of a process call for, for nodes and for commands that work on what is
// stored. What only some processes need, such as the client of Kafka, is loaded when it is opened.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { logDrivers, storeDrivers } from './drivers.ts'
import { must } from '../libraries/base/assert.ts'
import { systemClock as clock } from '../libraries/base/clock.ts'
import { NodeError } from '../libraries/base/errors.ts'
import type { Logger } from '../libraries/base/logger.ts'
import type { Config } from '../node/config.ts'
import type { LogDriverCode, OpenedLog, Opening, StoreDriver, StorePlace, Streams } from '../node/driver.ts'
import type { EventLog } from '../node/log/event-log.ts'
import type { FileLogOptions } from '../node/log/file/file-log.ts'
import { schemeOf, settingsOf } from '../node/options.ts'
import { openDirectoryStore, openReadOnlyDirectoryStore } from '../node/store/directory/directory-store.ts'
import { counted, type StoreOperation } from '../node/store/counted-store.ts'
import { type DataPaths, dataPaths, logsPrefix } from '../node/store/layout.ts'
import type { ObjectStore } from '../node/store/object-store.ts'
import { withPacks } from '../node/store/packed-store.ts'

/** Closes in reverse order of opening, each once. */
export async function closeAll(opened: Opening['opened']): Promise<void> {
  for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close()
}

/** The listeners to what the store does. */
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
 * Opens the store that `config` names, in a directory or by its driver. Throws as the directory store, and of a bucket that
 * does not pass its trial NodeError `StoreUnavailable`.
 */
export async function openConfiguredStore(
  config: Config,
  use: 'read' | 'write',
  watch: StoreWatch = {},
): Promise<ObjectStore> {
  const driven = storeDriverOf(config)
  if (driven === undefined) return openStore(placeOfStore(config), use, watch)
  const logger = watch.logger ?? (await loggerOf(config))
  const { patienceMs = 0 } = watch
  const spoolDir = dataPaths(config.dataDir).cache
  const opening = { use, logger, patienceMs, spoolDir, answerMs: config.limits.storeAnswerMs }
  return readable(await (await driven.driver.load()).open(driven.options, opening), watch.onRequest)
}

/** The driver of the store of `config`, with what its options came to; undefined for a directory. */
function storeDriverOf({
  settings,
}: Config): { readonly driver: StoreDriver; readonly options: StorePlace } | undefined {
  for (const driver of storeDrivers) {
    const options = settingsOf(settings, driver.options)
    if (options !== undefined) return { driver, options }
  }
  return undefined
}

/** Whether the store is a directory of this machine. */
export function isDirectoryStore(config: Config): boolean {
  return storeDriverOf(config) === undefined
}

/** Whether the store, which is a directory here, is a copy of what another node has. */
export function isCopy(config: Config): boolean {
  return config.storeUrl !== undefined && isDirectoryStore(config)
}

async function loggerOf({ logLevel }: Config): Promise<Logger> {
  return (await import('../node/machine/ops/logger.ts')).createLogger(logLevel)
}

/** Opens the store that `config` names, as above. Throws NodeError `ObjectNotFound` where there is none. */
export async function openStoreThatIs(
  config: Config,
  use: 'read' | 'write' = 'write',
  onFailure?: (error: unknown) => void,
): Promise<ObjectStore> {
  const place = placeOfStore(config)
  if (!isDirectoryStore(config) || (await isThere(join(place, logsPrefix)))) {
    const store = await openConfiguredStore(config, use, onFailure === undefined ? {} : { onFailure })
    if ((await store.list(logsPrefix)).length > 0) return store
    await store.close()
  }
  throw new NodeError('ObjectNotFound', `There is no store in ${place}.`, {
    hint: 'Name the data directory with --data, and the store with --store if it is elsewhere.',
  })
}

/**
 * The options of a node that has this store: in a data directory, in a directory of its own, or at a URL. Throws NodeError
 * `ObjectNotFound`.
 */
export async function optionsOfStore(place: string): Promise<{ readonly data?: string; readonly store: string }> {
  if (schemeOf(place) !== undefined) return { store: place }
  const inside = dataPaths(place).store
  if (await isThere(inside)) return { data: place, store: inside }
  if (await isThere(join(place, logsPrefix))) return { store: place }
  throw new NodeError('ObjectNotFound', `There is no store in ${place}.`, {
    hint: `Name the data directory of a node (the one with 'store' in it), a store, or the URL of one.`,
  })
}

/** Where the store of `config` is: a directory, or the URL of a bucket. */
export function placeOfStore(config: Config): string {
  return storeDriverOf(config)?.options.url ?? dataPaths(config.dataDir, config.storeDir).store
}

/** Where a node with these options keeps its store and its secrets; `token` is the first admin token. */
export function placesOf(config: Config): Pick<DataPaths, 'store' | 'nodeKey' | 'token'> {
  const { nodeKey, token } = dataPaths(config.dataDir)
  return { store: placeOfStore(config), nodeKey: config.nodeKeyFile ?? nodeKey, token }
}

export async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

/** Opens the log and the announcements that options and roles call for; `openBytes` of its rows are in no block yet. */
export async function openLog(config: Config, opening: Opening, openBytes: () => number): Promise<OpenedLog> {
  const isReader = !config.roles.includes('gateway') && !config.roles.includes('builder')
  const driven = await logDriverOf(config)
  if (driven !== undefined) return driven.code.open(driven.options, isReader, opening)
  const tailBytes = config.limits.logMemoryBytes
  const { openLocalAnnouncements } = await import('../node/log/announcements.ts')
  const log = isReader
    ? undefined
    : await openLogDirectory(dataPaths(config.dataDir).log, opening, { openBytes, tailBytes })
  if (log !== undefined) opening.opened.push(() => log.close())
  const announcements = openLocalAnnouncements(opening.logger)
  return { log, announcements, aging: undefined, assignment: undefined, facts: {}, fault: async () => undefined }
}

/** Opens the file log in a directory. Throws as `openFileLog`. */
export async function openLogDirectory(
  directory: string,
  { logger, onFailure }: Opening,
  more: Pick<FileLogOptions, 'openBytes' | 'tailBytes'> = {},
): Promise<EventLog> {
  const { openFileLog } = await import('../node/log/file/file-log.ts')
  return openFileLog({ directory, clock, logger, onFailure, ...more })
}

/** A driver of a log, with what its options came to. */
export interface LogDriven {
  readonly code: LogDriverCode<unknown>
  readonly options: unknown
}

/** The driver of the log of `config`; undefined for the file log. */
export async function logDriverOf({ log, settings }: Config): Promise<LogDriven | undefined> {
  const driver = logDrivers.find(({ options }) => options.name === log)
  if (driver === undefined) return undefined
  const options = must(settingsOf(settings, driver.options), 'options of the log that is named')
  return { code: await driver.load(), options }
}

/** Topics of the log that `config` names. Throws NodeErrors `InvalidParameter`; its methods throw `LogUnavailable`. */
export async function openStreams(config: Config): Promise<Streams> {
  const driven = await logDriverOf(config)
  if (driven === undefined) {
    const hint = 'Name the log with --log kafka://host:9092/prefix.'
    throw new NodeError('InvalidParameter', 'The file log has no topics.', { hint })
  }
  return driven.code.streams(driven.options, await loggerOf(config))
}

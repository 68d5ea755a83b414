// The composition root of an operator's commands on what is stored: `log adopt`, `pack` and `restore`, which need the data
// directory for themselves, and `log reject` and `backup`, which work beside whatever nodes run on the store.

import { readdir, readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { defined } from '../../libraries/base/collections.ts'
import { type Adoption, adoptLog } from '../../node/builder/adopt-log.ts'
import type { Config } from '../../node/config.ts'
import type { Opening } from '../../node/driver.ts'
import { schemeOf } from '../../node/options.ts'
import { lockDirectory } from '../../node/machine/disk/directory-lock.ts'
import { createPrivate, ifThere } from '../../node/machine/disk/files.ts'
import { makeDurableDirectory, readText, replacePrivate } from '../../node/machine/disk/files.ts'
import { readLog } from '../config.ts'
import { systemClock as clock, timeText } from '../../libraries/base/clock.ts'
import { openLocalAnnouncements } from '../../node/log/announcements.ts'
import type { EventLog } from '../../node/log/event-log.ts'
import { DecodeError, HaltError, NodeError } from '../../libraries/base/errors.ts'
import {
  closeAll,
  isDirectoryStore,
  isThere,
  logDriverOf,
  type LogDriven,
  openLogDirectory,
  openConfiguredStore,
  openStore,
  openStoreThatIs,
} from '../open-storage.ts'
import { createLogger } from '../../node/machine/ops/logger.ts'
import { compressor } from '../../node/machine/work/zstd-page.ts'
import { copyStore, type CopyProgress, type CopyReport } from '../../node/store/copy-store.ts'
import { readHead } from '../../node/store/heads.ts'
import { dataPaths, logsPrefix } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { listNames, readName } from '../../node/store/names.ts'
import { readAdoption } from '../../node/store/records.ts'
import { rejectHalted, type Rejection, rejectUnreadable } from '../../node/store/reject-message.ts'
import { markSwept, sweepChain } from '../../node/store/sweep.ts'
import { packChain } from '../../node/store/write-pack.ts'

/** A log as a person names it. */
export type LogName =
  | { readonly kind: 'file'; readonly directory?: string }
  | { readonly kind: 'driver'; readonly driven: LogDriven }
  | { readonly kind: 'id'; readonly id: string }

type OpenLogName = Exclude<LogName, { kind: 'id' }>

const logNameForms = 'file, file:DIRECTORY, a URL as --log has it, or the id of a log that is gone (32 hex digits)'

/** Reads `file[:DIRECTORY]`, a URL, or an id. Throws NodeError `InvalidParameter`. */
export async function logNameOf(text: string): Promise<LogName> {
  if (/^[0-9a-f]{32}$/.test(text)) return { kind: 'id', id: text }
  const [isFile, directory] = /^file(?::(.+))?$/.exec(text) ?? []
  if (isFile !== undefined) return { kind: 'file', ...defined({ directory }) }
  const read = schemeOf(text) === undefined ? undefined : readLog(text)
  if (read === undefined) {
    throw new NodeError('InvalidParameter', `'${text}' names no log.`, { hint: `Expected ${logNameForms}.` })
  }
  return { kind: 'driver', driven: { code: await read.driver.load(), options: read.options } }
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
  const failure = new AbortController()
  const logger = createLogger(config.logLevel)
  const opening: Opening = { logger, onFailure: (error) => failure.abort(error), opened: [] }
  const { opened } = opening
  try {
    const store = await openForItself(config, opening)
    const name = await foundName(config, options.old)
    const into = nextName(config, name, options.next)
    const old = name.kind === 'id' ? name.id : await openOldLog(config, name, { ...opening, store })
    const next = await openNamedLog(config, into, opening)
    const announcements = openLocalAnnouncements(logger)
    const deps = { store, announcements, clock, logger, compressor, signal: failure.signal }
    return await adoptLog(deps, { old, next, acceptLoss: options.acceptLoss })
  } finally {
    await closeAll(opened)
  }
}

/** Opens the store; no node has the data directory until it is closed. Throws as `adopt`. */
export async function openForItself(config: Config, { opened, onFailure }: Opening): Promise<ObjectStore> {
  const { cache } = dataPaths(config.dataDir)
  if (await isThere(cache)) {
    const unlock = lockDirectory(cache, 'cache')
    opened.push(async () => unlock())
  }
  const store = await openStoreThatIs(config, 'write', onFailure)
  opened.push(() => store.close())
  return store
}

/** What `work` comes to, which has the store for itself. Throws as `openForItself`, and what it throws. */
export async function withStore<T>(config: Config, work: (store: ObjectStore) => Promise<T>): Promise<T> {
  const failure = new AbortController()
  const logger = createLogger(config.logLevel)
  const opening: Opening = { logger, onFailure: (error) => failure.abort(error), opened: [] }
  try {
    return await work(await openForItself(config, opening))
  } finally {
    await closeAll(opening.opened)
  }
}

/** What packing has done to one dataset. */
export interface PackedDataset {
  readonly dataset: string
  /** How many packs were made now. */
  readonly packs: number
  /** Commits of which loose copies were removed now. */
  readonly swept: number
  /** Why the rest of it cannot be packed: it is damaged. */
  readonly fault?: string
}

/**
 * Packs what is full and not packed of the dataset `alias`, or of all, in the store that `config` names, one after the
 * other; `sweep` then removes the loose copies of all that is packed, at once: no other process may be reading them.
 * Durable as far as it has come. Throws NodeErrors `DatasetNotFound`, `LogUnavailable` while a node has the data
 * directory, `ObjectNotFound` where there is no store, `StorageFull`.
 */
export async function packDatasets(
  config: Config,
  { alias, sweep = false }: { readonly alias?: string | undefined; readonly sweep?: boolean | undefined },
): Promise<readonly PackedDataset[]> {
  const failure = new AbortController()
  const opening: Opening = {
    logger: createLogger(config.logLevel),
    onFailure: (error) => failure.abort(error),
    opened: [],
  }
  try {
    const store = await openForItself(config, opening)
    if (sweep) await markSwept(store)
    const done: PackedDataset[] = []
    for (const dataset of alias === undefined ? await listNames(store) : [alias]) {
      const packed = { dataset, packs: 0, swept: 0 }
      try {
        const name = await readName(store, dataset)
        if (name === undefined && alias !== undefined) throw noDataset(alias)
        // A name that a rename or a deletion has left free.
        if (name === undefined) continue
        packed.dataset = name.alias
        const head = await readHead(store, name.id)
        const onPack = async (): Promise<void> => {
          packed.packs++
          failure.signal.throwIfAborted()
        }
        if (head !== undefined) await packChain(store, name.id, head.sequence, { onPack })
        const onStep = async (): Promise<void> => failure.signal.throwIfAborted()
        if (sweep) packed.swept = await sweepChain(store, name.id, { beforeMs: Number.POSITIVE_INFINITY, onStep })
        done.push(packed)
      } catch (error) {
        if (!(error instanceof HaltError) && !(error instanceof DecodeError)) throw error
        done.push({ ...packed, fault: error.message })
      }
    }
    return done
  } finally {
    await closeAll(opening.opened)
  }
}

function noDataset(alias: string): NodeError {
  return new NodeError('DatasetNotFound', `There is no dataset '${alias}'.`)
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

/** Opens a log that must be there: a new one in its place would be another. */
async function openOldLog(
  config: Config,
  name: OpenLogName,
  { store, ...opening }: Opening & { readonly store: ObjectStore },
): Promise<EventLog> {
  const directory = directoryOf(config, name)
  const exists = name.kind === 'file' ? await isThere(join(directory, 'id')) : await hasTopics(name.driven, opening)
  if (exists) return openNamedLog(config, name, opening)
  const ids = await store.list(logsPrefix)
  const place = name.kind === 'file' ? directory : 'Kafka under that name'
  throw new NodeError('ObjectNotFound', `There is no log in ${place}.`, {
    hint: `If it is gone, name it by its id. The store knows ${ids.join(', ')}.`,
  })
}

async function openNamedLog(config: Config, name: OpenLogName, opening: Opening): Promise<EventLog> {
  const log =
    name.kind === 'file'
      ? await openLogDirectory(directoryOf(config, name), opening)
      : await name.driven.code.openLog(name.driven.options, opening.logger)
  opening.opened.push(() => log.close())
  return log
}

async function hasTopics({ code, options }: LogDriven, { logger }: Opening): Promise<boolean> {
  const streams = await code.streams(options, logger)
  return (await streams.compare()).every(({ partitions }) => partitions > 0)
}

function directoryOf(config: Config, name: OpenLogName): string {
  return (name.kind === 'file' ? name.directory : undefined) ?? dataPaths(config.dataDir).log
}

/** A message that halts a dataset, or one that cannot be read. */
export type RejectOptions = {
  readonly reason: string
  readonly position: number
} & ({ readonly dataset: string } | { readonly log?: string | undefined; readonly partition: number })

/** Writes the rejection. Durable when it resolves. Throws as `rejectHalted`, `rejectUnreadable`; NodeError `ObjectNotFound`. */
export async function rejectMessage(config: Config, options: RejectOptions): Promise<Rejection> {
  const store = await openStoreThatIs(config)
  try {
    const word = { reason: options.reason, by: operator(), at: timeText(clock.nowMs()) }
    return 'dataset' in options
      ? await rejectHalted(store, options, word)
      : await rejectUnreadable(store, options, word)
  } finally {
    await store.close()
  }
}

/** The user who runs this, as the machine knows it. */
function operator(): string {
  try {
    return userInfo().username
  } catch {
    // A user id without a name, as in containers.
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}

/**
 * Copies all that is committed in the store that `config` names to `dir`, with the node's key and token: a directory that
 * `restore` and `fsck` read. A repeat copies what is new. Nodes may be running. Durable when it resolves. Throws as
 * `copyStore`; NodeErrors `ObjectNotFound` where there is no store, `InvalidParameter` where `dir` is the data directory.
 */
export async function backup(
  config: Config,
  dir: string,
  onProgress?: (progress: CopyProgress) => void,
): Promise<CopyReport> {
  const [from, to] = [dataPaths(config.dataDir, config.storeDir), dataPaths(resolve(dir))]
  if (isDirectoryStore(config) && to.store === resolve(from.store)) {
    throw new NodeError('InvalidParameter', `${dir} is the data directory.`, { hint: 'Name another directory.' })
  }
  const report = await copyFrom(
    await openStoreThatIs(config, 'read'),
    async () => {
      await makeDurableDirectory(to.keys)
      return openStore(to.store, 'write')
    },
    onProgress,
  )
  await copyPrivate(config.nodeKeyFile ?? from.nodeKey, to.nodeKey)
  await copyLedgerKeys(from.keys, to.keys)
  await copyPrivate(from.token, to.token)
  return report
}

/** What a restore has made. */
export interface Restored extends CopyReport {
  /** Logs whose datasets go on in a log of their own now: what they held and no block does was not in the backup. */
  readonly leftLogs: readonly string[]
}

/**
 * Makes a data directory out of a backup. Its datasets go on in a new log, for the old one may hold what the backup does not
 * know; `sameLog` keeps the old one, for a Kafka that is still there. Repeatable until it has resolved; durable then. Throws
 * as `adopt` and `copyStore`; NodeErrors `ObjectNotFound` where `dir` is no backup, `InvalidParameter` where the data
 * directory has a key already.
 */
export async function restore(
  config: Config,
  dir: string,
  { sameLog, onProgress }: { readonly sameLog: boolean; readonly onProgress?: (progress: CopyProgress) => void },
): Promise<Restored> {
  const [from, to] = [dataPaths(resolve(dir)), dataPaths(config.dataDir, config.storeDir)]
  if (!(await isThere(join(from.store, logsPrefix)))) throw noStore(from.store)
  const nodeKey = config.nodeKeyFile ?? to.nodeKey
  if ((await readText(nodeKey)) !== undefined) {
    throw new NodeError('InvalidParameter', `There is a node in ${config.dataDir} already.`, {
      hint: 'Name a directory that is empty or missing with --data.',
    })
  }
  await makeDurableDirectory(resolve(to.keys))
  const target = (): Promise<ObjectStore> => openConfiguredStore(config, 'write')
  const report = await copyFrom(await openStore(from.store, 'read'), target, onProgress)
  const leftLogs = sameLog ? [] : await leaveLogs(config, from.store)
  await copyPrivate(from.token, to.token)
  await copyLedgerKeys(from.keys, to.keys)
  await copyPrivate(from.nodeKey, nodeKey)
  return { ...report, leftLogs }
}

/** Closes both when it ends. */
async function copyFrom(
  source: ObjectStore,
  openTarget: () => Promise<ObjectStore>,
  onProgress?: (progress: CopyProgress) => void,
): Promise<CopyReport> {
  try {
    const target = await openTarget()
    try {
      return await copyStore(source, target, onProgress)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** Gives up all logs that are in force in the store of a backup for the one that the configuration names. */
async function leaveLogs(config: Config, backupStore: string): Promise<readonly string[]> {
  const [source, target] = [await openStore(backupStore, 'read'), await openStoreThatIs(config)]
  const left: string[] = []
  const begun: string[] = []
  try {
    for (const log of await source.list(logsPrefix)) {
      if ((await readAdoption(source, log)) !== undefined) continue
      left.push(log)
      // A restore that was interrupted may have come so far.
      if ((await readAdoption(target, log)) === undefined) begun.push(log)
    }
  } finally {
    await Promise.all([source.close(), target.close()])
  }
  const driven = await logDriverOf(config)
  const next: OpenLogName = driven === undefined ? { kind: 'file' } : { kind: 'driver', driven }
  for (const id of begun) await adopt(config, { old: { kind: 'id', id }, next, acceptLoss: true })
  return left
}

/** Those of the ledgers of a store, of which the newest is kept. */
async function copyLedgerKeys(from: string, to: string): Promise<void> {
  const names = (await ifThere(readdir(from))) ?? []
  for (const name of names.filter((one) => /^ledger(?:-\d+)?\.json$/.test(one))) {
    await copyPrivate(join(from, name), join(to, name))
  }
}

/** A missing file is left out: a node may have been started without one. */
async function copyPrivate(from: string, to: string): Promise<void> {
  const text = await readText(from)
  if (text === undefined) return
  if ((await createPrivate(to, text)) === 'exists') await replacePrivate(to, text)
}

function noStore(place: string): NodeError {
  return new NodeError('ObjectNotFound', `There is no store in ${place}.`, {
    hint: 'Name the directory that holds it, or where it would be.',
  })
}

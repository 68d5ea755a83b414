// What an installation has stored: who has the directory, the log, the store, and whether log and store fit. Cheap
// checks of many things; `fsck` is the one that reads everything.

import { stat } from 'node:fs/promises'
import type { NameRecord } from '../../libraries/odf/chain/records.ts'
import type { Config } from '../../node/config.ts'
import { lockOwner } from '../../node/machine/disk/directory-lock.ts'
import { sound } from '../../node/upkeep/report.ts'
import { inspectLog, type LogInspection } from '../../node/log/file/recover-log.ts'
import { DecodeError, HaltError, NodeError } from '../../libraries/base/errors.ts'
import { isDirectoryStore, openConfiguredStore, openStore, placeOfStore } from '../open-storage.ts'
import { readHead } from '../../node/store/heads.ts'
import { dataPaths, floorsPrefix, numberOfName } from '../../node/store/layout.ts'
import { loadBlock, ObjectFault } from '../../node/store/load-block.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { listNames, readName } from '../../node/store/names.ts'
import { adoptionsFrom, newestLowWaterMark, readLog } from '../../node/store/records.ts'
import { fail, type Finding, ok, reasonOf, warn } from '../../node/upkeep/finding.ts'

/** Damaged datasets that are named; the others are counted. */
const namedMost = 5
const fsckHint = 'Run proofstream fsck, which lists all that is damaged, and put it back from a backup.'
const adoptHint = 'Put the right log back. If it is lost for good, run proofstream log adopt.'

/** Looks at the lock, the log and the store. */
export async function checkState(config: Config): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const paths = dataPaths(config.dataDir)
  const place = placeOfStore(config)
  const writes = config.roles.some((role) => role !== 'replica')
  const hasFileLog = config.log === 'file' && config.roles.includes('builder')
  const owner = lockOwner(hasFileLog ? paths.log : paths.cache)
  const isRunning = owner !== undefined
  findings.push(ok('process', isRunning ? `A node runs here (${owner}).` : 'No node runs here.'))
  let log: LogInspection | undefined
  if (hasFileLog && isRunning) findings.push(ok('log', 'The node that runs here has it.'))
  else if (hasFileLog) log = await checkLog(paths.log, findings)
  if (!isDirectoryStore(config)) await checkBucket(config, writes ? 'write' : 'read', { log, findings })
  else if (await isDirectory(place)) await checkStore(await openStore(place, 'read'), { log, findings })
  else if (writes) findings.push(ok('store', `${place} is not there yet; the first start makes it.`))
  else {
    const hint = 'Name with --store the one that gateways and builders use.'
    findings.push(fail('store', `${place} is not there.`, hint))
  }
  return findings
}

/** Opens the store as a node does, which tries the bucket, and looks at what it holds. */
async function checkBucket(config: Config, use: 'read' | 'write', against: Against): Promise<void> {
  const { findings } = against
  const place = placeOfStore(config)
  try {
    const store = await openConfiguredStore(config, use)
    findings.push(ok('bucket', `${place} passes its trial for ${use === 'read' ? 'readers' : 'writers'}.`))
    await checkStore(store, against)
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    findings.push(fail('bucket', error.message, error.details.hint ?? 'Check network, credentials and bucket.'))
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true
}

/** The log as it lies there; undefined where there is none, and where it is damaged. */
async function checkLog(path: string, findings: Finding[]): Promise<LogInspection | undefined> {
  if (!(await isDirectory(path))) {
    findings.push(ok('log', `${path} is not there yet; the first start makes it.`))
    return undefined
  }
  try {
    const log = await inspectLog(path)
    findings.push(logFinding(log))
    return log
  } catch (error) {
    if (!(error instanceof HaltError)) throw error
    const hint = 'Put the log back from a backup. Until then --roles replica reads the store.'
    findings.push(fail('log', `${error.message}.`, hint))
    return undefined
  }
}

function logFinding({ start, end, segments, tornBytes, hasFailed }: LogInspection): Finding {
  const held = `Messages ${start} to below ${end}, in ${segments} ${segments === 1 ? 'segment' : 'segments'}, are whole.`
  if (hasFailed) {
    const hint =
      'Check the disk. The next start copies the last segment, since the disk may hold other bytes than were read.'
    return warn('log', `${held} The last process could not write it.`, hint)
  }
  const torn = ` It ends in a frame of ${tornBytes} bytes that is not whole: a torn write, or a damaged last message.`
  return ok('log', tornBytes === 0 ? held : held + torn)
}

/** Closes `store` when it ends. */
async function checkStore(store: ObjectStore, { log, findings }: Against): Promise<void> {
  try {
    const names = await checkNames(store, findings)
    await checkLogs(store, names, { log, findings })
    await checkFloors(store, names, { log, findings })
  } finally {
    await store.close()
  }
}

async function checkNames(store: ObjectStore, findings: Finding[]): Promise<readonly NameRecord[]> {
  const names: NameRecord[] = []
  const damaged: string[] = []
  for (const alias of await listNames(store)) {
    const name = await sound(alias, readName(store, alias), () => damaged.push(`the name ${alias}`))
    if (name !== undefined) names.push(name)
  }
  for (const name of names) {
    const fault = await headFault(store, name)
    if (fault !== undefined) damaged.push(`${name.alias}: ${fault}`)
  }
  const datasets = `${names.length} ${names.length === 1 ? 'dataset' : 'datasets'}`
  findings.push(
    damaged.length === 0
      ? ok('store', `${datasets}; names and heads are whole (fsck checks the rest).`)
      : fail('store', `Damaged: ${listed(damaged)}.`, fsckHint),
  )
  return names
}

function listed(items: readonly string[]): string {
  const more = items.length - namedMost
  return [...items.slice(0, namedMost), ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}

async function headFault(store: ObjectStore, { id }: NameRecord): Promise<string | undefined> {
  try {
    const head = await readHead(store, id)
    if (head === undefined) return 'there is no chain'
    await loadBlock(store, { id }, head.hash)
    return undefined
  } catch (error) {
    if (error instanceof ObjectFault) return `its head ${error.hash} is ${error.fault}`
    if (error instanceof DecodeError) return reasonOf(error)
    throw error
  }
}

interface Against {
  readonly log: LogInspection | undefined
  readonly findings: Finding[]
}

/** Datasets of another log than the one that is here take no rows. */
async function checkLogs(store: ObjectStore, names: readonly NameRecord[], { log, findings }: Against): Promise<void> {
  const others: string[] = []
  for (const id of new Set(names.map((name) => name.log))) {
    const now = (await adoptionsFrom(store, id)).at(-1)?.new ?? id
    if ((await readLog(store, now)) === undefined)
      findings.push(fail('logs', `Log ${now} is not declared in the store.`, fsckHint))
    if (log !== undefined && now !== log.id)
      others.push(...names.filter((name) => name.log === id).map(({ alias }) => alias))
  }
  if (others.length === 0) return
  const found = `Datasets of another log than the one here take no rows: ${listed(others)}.`
  findings.push(fail('logs', found, adoptHint))
}

/** What the newest floors say: halted datasets, and a log that does not reach as far as was read. */
async function checkFloors(
  store: ObjectStore,
  names: readonly NameRecord[],
  { log, findings }: Against,
): Promise<void> {
  for (const id of await store.list(floorsPrefix)) {
    for (const partition of await store.list(`${floorsPrefix}/${id}`)) {
      const number = numberOfName(partition)
      if (number === undefined) continue
      const floor = await sound(partition, newestLowWaterMark(store, id, number), () => {})
      if (floor === undefined) {
        findings.push(fail('floors', `The floor of log ${id}, partition ${partition}, is damaged.`, fsckHint))
        continue
      }
      for (const { dataset, reason, message } of floor.halted) {
        const alias = names.find((name) => name.id === dataset)?.alias ?? dataset
        findings.push(
          warn('halts', `${alias} is halted: ${reason}. It is read, and takes no rows.`, wayOut(alias, message)),
        )
      }
      if (log?.id === id) findings.push(reach(log, floor.position))
    }
  }
}

/** What ends the halt of a dataset, at `message` where one message is to blame. */
function wayOut(alias: string, message: number | undefined): string {
  if (message === undefined) return 'The log of the builder says why; docs/halts.md what ends it.'
  const command = `proofstream log reject ${alias} --position ${message} --reason TEXT`
  return `The log of the builder says why. To give up what is in message ${message}: ${command}`
}

function reach({ start, end }: LogInspection, floor: number): Finding {
  const committed = `everything below ${floor} is committed`
  if (floor > end) return fail('floors', `LogRegressed: the log ends at ${end}, but ${committed}.`, adoptHint)
  if (start > floor)
    return fail('floors', `LogTruncated: the log begins at ${start}, but only ${committed}.`, adoptHint)
  return ok('floors', `The log goes on from the store: ${committed}, the log ends at ${end}.`)
}

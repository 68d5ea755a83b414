// What an installation has stored: who has the directory, the log, the store, and whether log and store fit. Cheap
// checks of many things; `fsck` is the one that reads everything.

import { stat } from 'node:fs/promises'
import type { NameRecord } from '../chain/records.ts'
import type { Config } from '../config.ts'
import { lockOwner } from '../disk/directory-lock.ts'
import { inspectLog, type LogInspection } from '../log/file/recover-log.ts'
import { DecodeError, HaltError } from '../model/errors.ts'
import { openReadOnlyDirectoryStore } from '../store/directory/directory-store.ts'
import { readHead } from '../store/heads.ts'
import { dataPaths, floorsPrefix, numberOfName } from '../store/layout.ts'
import { loadBlock, ObjectFault } from '../store/load-block.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { adoptionsFrom, listNames, newestFloor, readLog, readName } from '../store/records.ts'
import { fail, type Finding, ok, reasonOf, warn } from './finding.ts'

/** Damaged datasets that are named; the others are counted. */
const namedMost = 5
const fsckHint = 'Run proofstream fsck, which lists all that is damaged, and put it back from a backup.'
const adoptHint = 'Put the right log back; where it is lost for good: proofstream log adopt.'

/** The log as it lies there; absent while a node has it, where there is none, and where it is damaged. */
export interface State {
  readonly findings: readonly Finding[]
  readonly isRunning: boolean
}

export async function checkState(config: Config): Promise<State> {
  const paths = dataPaths(config.dataDir, config.storeDir)
  const hasFileLog = config.kafka === undefined && config.roles.some((role) => role !== 'replica')
  const owner = lockOwner(hasFileLog ? paths.log : paths.cache)
  const findings: Finding[] = []
  findings.push(ok('process', owner === undefined ? 'No node runs here.' : `A node runs here (${owner}).`))
  let log: LogInspection | undefined
  if (hasFileLog && owner !== undefined) findings.push(ok('log', 'The node that runs here has it.'))
  else if (hasFileLog) {
    const looked = await checkLog(paths.log)
    findings.push(looked.finding)
    log = looked.log
  }
  if (!(await isDirectory(paths.store))) {
    const made = config.roles.some((role) => role !== 'replica')
    findings.push(
      made
        ? ok('store', `${paths.store} is not there yet; the first start makes it.`)
        : fail('store', `${paths.store} is not there.`, 'Name with --store the one that gateways and builders use.'),
    )
    return { findings, isRunning: owner !== undefined }
  }
  const store = await openReadOnlyDirectoryStore(paths.store)
  try {
    findings.push(...(await checkStore(store, log)))
  } finally {
    await store.close()
  }
  return { findings, isRunning: owner !== undefined }
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true
}

async function checkLog(path: string): Promise<{ readonly finding: Finding; readonly log?: LogInspection }> {
  if (!(await isDirectory(path))) return { finding: ok('log', `${path} is not there yet; the first start makes it.`) }
  try {
    const log = await inspectLog(path)
    const { start, end, segments, tornBytes, hasFailed } = log
    const held = `Messages ${start} to below ${end}, in ${segments} ${segments === 1 ? 'segment' : 'segments'}, are whole.`
    if (hasFailed) {
      const hint =
        'Check the disk. The next start copies the last segment, since the disk may hold other bytes than were read.'
      return { finding: warn('log', `${held} The last process could not write it.`, hint), log }
    }
    const torn =
      tornBytes === 0
        ? ''
        : ` It ends in a frame of ${tornBytes} bytes that is not whole: a torn write, or a damaged last message.`
    return { finding: ok('log', held + torn), log }
  } catch (error) {
    if (!(error instanceof HaltError)) throw error
    return {
      finding: fail(
        'log',
        `${error.message}.`,
        `Put the log back from a backup. Until then --roles replica reads the store.`,
      ),
    }
  }
}

async function checkStore(store: ObjectStore, log: LogInspection | undefined): Promise<readonly Finding[]> {
  const names: NameRecord[] = []
  const damaged: string[] = []
  for (const alias of await listNames(store)) {
    try {
      const name = await readName(store, alias)
      if (name !== undefined) names.push(name)
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      damaged.push(`the name ${alias}`)
    }
  }
  for (const name of names) {
    const fault = await headFault(store, name)
    if (fault !== undefined) damaged.push(`${name.alias}: ${fault}`)
  }
  return [
    damaged.length === 0
      ? ok(
          'store',
          `${names.length} ${names.length === 1 ? 'dataset' : 'datasets'}; names and heads are whole (fsck checks the rest).`,
        )
      : fail('store', `Damaged: ${listed(damaged)}.`, fsckHint),
    ...(await checkLogs(store, names, log)),
    ...(await checkFloors(store, names, log)),
  ]
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

/** Datasets of another log than the one that is here take no rows. */
async function checkLogs(
  store: ObjectStore,
  names: readonly NameRecord[],
  log: LogInspection | undefined,
): Promise<readonly Finding[]> {
  const found: string[] = []
  const others: string[] = []
  for (const id of new Set(names.map((name) => name.log))) {
    const now = (await adoptionsFrom(store, id)).at(-1)?.new ?? id
    if ((await readLog(store, now)) === undefined) found.push(now)
    if (log !== undefined && now !== log.id)
      others.push(...names.filter((name) => name.log === id).map(({ alias }) => alias))
  }
  const undeclared = found.map((id) => fail('logs', `Log ${id} is not declared in the store.`, fsckHint))
  if (others.length === 0) return undeclared
  return [
    ...undeclared,
    fail('logs', `Datasets of another log than the one here take no rows: ${listed(others)}.`, adoptHint),
  ]
}

/** What the newest floors say: halted datasets, and a log that does not reach as far as was read. */
async function checkFloors(
  store: ObjectStore,
  names: readonly NameRecord[],
  log: LogInspection | undefined,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const id of await store.list(floorsPrefix)) {
    for (const partition of await store.list(`${floorsPrefix}/${id}`)) {
      const number = numberOfName(partition)
      if (number === undefined) continue
      const floor = await newestFloor(store, id, number).catch((error: unknown) => {
        if (error instanceof DecodeError) return undefined
        throw error
      })
      if (floor === undefined) {
        findings.push(fail('floors', `The floor of log ${id}, partition ${partition}, is damaged.`, fsckHint))
        continue
      }
      for (const { dataset, reason, message } of floor.halted) {
        const alias = names.find((name) => name.id === dataset)?.alias ?? dataset
        findings.push(
          warn(
            'halts',
            `${alias} is halted: ${reason}. It is read, and takes no rows.`,
            message === undefined
              ? 'The log of the builder says why; docs/halts.md what ends it.'
              : `The log of the builder says why. To give up what is in message ${message}: proofstream dataset reject ${alias} --position ${message} --reason TEXT`,
          ),
        )
      }
      if (log?.id === id) findings.push(...reach(log, floor.position))
    }
  }
  return findings
}

function reach({ start, end }: LogInspection, floor: number): readonly Finding[] {
  const committed = `everything below ${floor} is committed`
  if (floor > end) return [fail('floors', `LogRegressed: the log ends at ${end}, but ${committed}.`, adoptHint)]
  if (start > floor)
    return [fail('floors', `LogTruncated: the log begins at ${start}, but only ${committed}.`, adoptHint)]
  return [ok('floors', `The log goes on from the store: ${committed}, the log ends at ${end}.`)]
}

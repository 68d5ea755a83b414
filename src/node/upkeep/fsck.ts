// Checks a whole store: every chain from seed to head with all that its blocks name, every name, log, floor, rejection,
// signer. Reads only. What is wrong becomes a problem in the report, so that one broken dataset hides no other.

import { defined } from '../../libraries/base/collections.ts'
import type { LogPosition, LogRecord, LowWaterMark, NameRecord } from '../../libraries/odf/chain/records.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import {
  adoptionsPrefix,
  datasetOfFolder,
  datasetsPrefix,
  floorsPrefix,
  generationsPrefix,
  logsPrefix,
  numberOfName,
  rejectsRoot,
  queriesPrefix,
  retiredKeysPrefix,
  signersPrefix,
} from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { listChangedNames, listNames, readDeletion, readName } from '../store/names.ts'
import { adoptionsFrom, listNumbers, newestLowWaterMark, readLog, readRejects } from '../store/records.ts'
import { savedQueryFault } from '../store/saved-queries.ts'
import { retiredFault, signerFault } from '../store/signers.ts'
import { isRemovalBegun } from '../store/remove-chain.ts'
import type { Successors } from './commits.ts'
import { checkDataset } from './dataset.ts'
import {
  type AddProblem,
  type DatasetReport,
  type FsckProgress,
  type Problem,
  sound,
  type StoreReport,
} from './report.ts'

export interface FsckOptions {
  /** `optional`: chains without any commit are taken as their head says. Default `required`. */
  readonly commits?: 'required' | 'optional'
  readonly onProgress?: (progress: FsckProgress) => void
  /** What features check of what they keep in the store; none by default. */
  readonly checks?: readonly ((store: ObjectStore, add: AddProblem) => Promise<void>)[]
}

/** What all checks of one run share. */
interface Run {
  readonly store: ObjectStore
  readonly add: AddProblem
  readonly logs: ReadonlyMap<string, LogRecord>
}

/** Checks everything in `store`. Rejects for IO errors alone; memory: a slice's bytes and the hashes of one chain. */
export async function fsck(store: ObjectStore, options: FsckOptions = {}): Promise<StoreReport> {
  const problems: Problem[] = []
  const add: AddProblem = (kind, message) => void problems.push({ kind, message })
  const run: Run = { store, add, logs: await readLogs(store, add) }
  const successors = await readSuccessors(run)
  await checkRejects(run)
  await checkRecords(run)
  for (const check of options.checks ?? []) await check(store, add)
  const names = await readNames(run)
  const ids = new Set<DatasetId>()
  for (const folder of await store.list(datasetsPrefix)) {
    const id = datasetOfFolder(folder)
    if (id === undefined) add('UnknownObject', `${datasetsPrefix}/${folder} is not a dataset`)
    else ids.add(id)
  }
  for (const [id, { alias }] of names) {
    if (!ids.has(id)) add('ObjectMissing', `the name ${alias} is of ${id}, which is not stored`)
  }
  const datasets: DatasetReport[] = []
  const positions = new Map<DatasetId, LogPosition>()
  for (const id of ids) {
    const alias = names.get(id)?.alias
    const deletion =
      alias === undefined ? await sound(`the deletion of ${id}`, readDeletion(store, id), add) : undefined
    if (deletion !== undefined && (await isRemovalBegun(store, id))) continue
    const named = { id, ...defined({ alias }) }
    const place = { ...named, dataset: datasets.length, datasets: ids.size }
    const onBlock = (blocksDone: number, blocks: number): void => options.onProgress?.({ ...place, blocksDone, blocks })
    onBlock(0, 0)
    const commits = options.commits ?? 'required'
    const { report, position } = await checkDataset({ store, ...named, commits, successors, onBlock })
    if (position !== undefined) positions.set(id, position)
    if (alias !== undefined) datasets.push(report)
    // A folder that holds nothing is what a sweep leaves.
    else if (!report.ok || report.blocks > 0 || report.orphans > 0) {
      const note =
        deletion === undefined
          ? 'no name leads to it'
          : `deleted as ${deletion.name.alias} at ${deletion.at}; it can be restored until ${deletion.until}`
      datasets.push({ ...report, notes: [...report.notes, note] })
    }
  }
  await checkFloors(run, positions, ids)
  const ok = problems.length === 0 && datasets.every((dataset) => dataset.ok)
  return { ok, datasets, problems, orphans: datasets.reduce((sum, dataset) => sum + dataset.orphans, 0) }
}

async function readLogs(store: ObjectStore, add: AddProblem): Promise<ReadonlyMap<string, LogRecord>> {
  const logs = new Map<string, LogRecord>()
  for (const name of await store.list(logsPrefix)) {
    const record = await sound(`log ${name}`, readLog(store, name), add)
    if (record === undefined) continue
    if (record.id !== name) add('RecordDisagrees', `log ${name} says that it is ${record.id}`)
    logs.set(name, record)
  }
  return logs
}

/** Checks the records of keys that sign, of those that no longer do, and of saved queries. */
async function checkRecords({ store, add }: Run): Promise<void> {
  const checks = [
    [signersPrefix, signerFault],
    [retiredKeysPrefix, retiredFault],
    [queriesPrefix, savedQueryFault],
  ] as const
  for (const [prefix, faultOf] of checks) {
    for (const name of await store.list(prefix)) {
      const fault = await faultOf(store, name)
      if (fault !== undefined) add('RecordDisagrees', `${prefix}/${name} ${fault}`)
    }
  }
}

/** Reads the records of logs that were given up for others. */
async function readSuccessors({ store, logs, add }: Run): Promise<Successors> {
  const successors = new Map<string, readonly string[]>()
  for (const log of await store.list(adoptionsPrefix)) {
    const records = await sound(`the record of log ${log}, which was given up`, adoptionsFrom(store, log), add)
    const own = records?.[0]
    if (records === undefined || own === undefined) continue
    successors.set(
      log,
      records.map((record) => record.new),
    )
    const counts = { [own.old]: own.partitions.length, [own.new]: own.begin.length }
    for (const [id, count] of Object.entries(counts)) {
      const declared = logs.get(id)?.partitions
      if (declared === undefined) add('RecordDisagrees', `log ${log} was given up, but log ${id} is not declared`)
      else if (declared !== count) {
        add('RecordDisagrees', `log ${log} was given up with ${count} partitions of log ${id}, which has ${declared}`)
      }
    }
  }
  return successors
}

async function readNames({ store, logs, add }: Run): Promise<ReadonlyMap<DatasetId, NameRecord>> {
  const names = new Map<DatasetId, NameRecord>()
  for (const alias of await listNames(store)) {
    const record = await sound(`name ${alias}`, readName(store, alias), add)
    if (record === undefined) continue
    const { id, log, partition } = record
    const other = names.get(id)
    const isOlder = other !== undefined && (other.changed ?? 0) > (record.changed ?? 0)
    const [older, newer] = isOlder ? [record, other] : [other, record]
    // While it is renamed it has both names.
    if (older !== undefined && newer.from !== older.alias) {
      add('RecordDisagrees', `${newer.alias} and ${older.alias} are names of one dataset`)
    }
    const partitions = logs.get(log)?.partitions
    if (partitions === undefined) add('RecordDisagrees', `the name ${alias} is of log ${log}, which is not declared`)
    else if (partition >= partitions) {
      add('RecordDisagrees', `the name ${alias} is of partition ${partition}; log ${log} has ${partitions}`)
    }
    names.set(id, newer)
  }
  for (const alias of await listChangedNames(store)) {
    const numbers = await listNumbers(store, generationsPrefix(alias))
    const isWhole = numbers.every((number, place) => number === place + 1)
    if (!isWhole)
      add('RecordDisagrees', `the name ${alias} has the generations ${numbers.join(', ')}, and others are missing`)
  }
  return names
}

/** The partitions that have records under `prefix/<log>`, which must be of declared logs; `words` for messages. */
async function* partitionsUnder(
  { store, logs, add }: Run,
  prefix: string,
  undeclared: (log: string) => string,
): AsyncGenerator<{ readonly log: string; readonly partition: number }> {
  for (const log of await store.list(prefix)) {
    const partitions = logs.get(log)?.partitions
    if (partitions === undefined) add('RecordDisagrees', undeclared(log))
    for (const name of await store.list(`${prefix}/${log}`)) {
      const partition = numberOfName(name)
      if (partition !== undefined && partition < (partitions ?? Number.POSITIVE_INFINITY)) yield { log, partition }
      else add('UnknownObject', `${prefix}/${log}/${name} is not a partition of the log`)
    }
  }
}

/** What operators have rejected: records that can be read, of messages that a log can hold. */
async function checkRejects(run: Run): Promise<void> {
  const { store, add } = run
  const undeclared = (log: string): string => `messages of log ${log} are rejected, which is not declared`
  for await (const { log, partition } of partitionsUnder(run, rejectsRoot, undeclared)) {
    for (const position of await store.list(`${rejectsRoot}/${log}/${partition}`)) {
      if (numberOfName(position) !== undefined) continue
      add('UnknownObject', `${rejectsRoot}/${log}/${partition}/${position} is not a position of a log`)
    }
    await readRejects(store, { log, partition }, (position, error) =>
      add('Malformed', `the rejection of message ${position} of ${log}/${partition}: ${error.message}`),
    )
  }
}

async function checkFloors(
  run: Run,
  positions: ReadonlyMap<DatasetId, LogPosition>,
  ids: ReadonlySet<DatasetId>,
): Promise<void> {
  const { store, add } = run
  const undeclared = (log: string): string => `there are floors of log ${log}, which is not declared`
  for await (const { log, partition } of partitionsUnder(run, floorsPrefix, undeclared)) {
    const words = `the floor of ${log}/${partition}`
    const floor = await sound(words, newestLowWaterMark(store, log, partition), add)
    if (floor === undefined) continue
    for (const { dataset, message } of floor.halted) {
      // A halted creation has not come to be stored.
      if (!ids.has(dataset) && message === undefined) {
        add('RecordDisagrees', `${words} halts ${dataset}, which is not stored`)
      }
    }
    for (const [id, read] of positions) {
      if (meets(floor, read) && read.anchor !== floor.anchor) {
        add('RecordDisagrees', `${words} at ${floor.position} and ${id} name different messages`)
      }
    }
  }
}

/** True when a floor and a chain speak of the same place in the log: they must name the same message there. */
function meets(floor: LowWaterMark, read: LogPosition): boolean {
  return read.log === floor.log && read.partition === floor.partition && read.next === floor.position
}

// Checks a whole store: every chain from seed to head with all that its blocks name, every name, log and floor. Reads
// only. What is wrong becomes a problem in the report, so that one broken dataset hides no other.

import type { FloorRecord, LogPosition, LogRecord, NameRecord } from '../chain/records.ts'
import { DecodeError } from '../model/errors.ts'
import type { DatasetId } from '../model/events.ts'
import {
  datasetOfFolder,
  datasetsPrefix,
  floorsPrefix,
  logsPrefix,
  numberOfName,
  signersPrefix,
} from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { listNames, newestFloor, readLog, readName, signerFault } from '../store/records.ts'
import { readSuccessors, type Successors } from './adoptions.ts'
import { checkDataset, type CheckedDataset } from './dataset.ts'
import { checkRejects } from './rejects.ts'
import type { DatasetReport, FsckProgress, Problem, ProblemKind, StoreReport } from './report.ts'

export interface FsckOptions {
  /** `optional`: chains without any commit are taken as their head says. Default `required`. */
  readonly commits?: 'required' | 'optional'
  readonly onProgress?: (progress: FsckProgress) => void
}

/** Checks everything in `store`. Rejects for IO errors alone; memory: a slice's bytes and the hashes of one chain. */
export async function fsck(store: ObjectStore, options: FsckOptions = {}): Promise<StoreReport> {
  const problems: Problem[] = []
  const add = (kind: ProblemKind, message: string): unknown => problems.push({ kind, message })
  const logs = await readLogs(store, add)
  const successors = await readSuccessors(store, logs, add)
  await checkRejects(store, logs, add)
  await checkSigners(store, add)
  const names = await readNames(store, logs, add)
  const ids = new Set<DatasetId>()
  for (const folder of await store.list(datasetsPrefix)) {
    const id = datasetOfFolder(folder)
    if (id === undefined) add('UnknownObject', `${datasetsPrefix}/${folder} is no dataset`)
    else ids.add(id)
  }
  for (const [id, { alias }] of names) {
    if (!ids.has(id)) add('ObjectMissing', `the name ${alias} is of ${id}, which is not stored`)
  }
  const datasets: DatasetReport[] = []
  const positions: { id: DatasetId; position: LogPosition }[] = []
  for (const id of ids) {
    const checked = await checkOne(
      store,
      { id, alias: names.get(id)?.alias, at: datasets.length, of: ids.size, successors },
      options,
    )
    // A folder that holds nothing is what a sweep leaves.
    if (!isEmpty(checked.report)) datasets.push(checked.report)
    if (checked.position !== undefined) positions.push({ id, position: checked.position })
  }
  await checkFloors(store, { logs, positions, ids }, add)
  const ok = problems.length === 0 && datasets.every((dataset) => dataset.ok)
  return { ok, datasets, problems, orphans: datasets.reduce((sum, dataset) => sum + dataset.orphans, 0) }
}

function isEmpty({ alias, ok, blocks, orphans }: DatasetReport): boolean {
  return alias === undefined && ok && blocks === 0 && orphans === 0
}

type AddProblem = (kind: ProblemKind, message: string) => void

interface Place {
  readonly id: DatasetId
  readonly alias: string | undefined
  readonly at: number
  readonly of: number
  readonly successors: Successors
}

async function checkOne(store: ObjectStore, place: Place, options: FsckOptions): Promise<CheckedDataset> {
  const { id, at, of, successors } = place
  const alias = place.alias === undefined ? {} : { alias: place.alias }
  const tell = (blocksDone: number, blocks: number): void =>
    options.onProgress?.({ id, ...alias, dataset: at, datasets: of, blocksDone, blocks })
  tell(0, 0)
  const checked = await checkDataset({
    store,
    id,
    ...alias,
    commits: options.commits ?? 'required',
    successors,
    onBlock: tell,
  })
  if (place.alias !== undefined) return checked
  const notes = [...checked.report.notes, 'no name leads to it']
  return { ...checked, report: { ...checked.report, notes } }
}

/** A value, or undefined and a problem when its bytes are not what they should be. */
async function sound<T>(what: string, reading: Promise<T>, add: AddProblem): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    add('Malformed', `${what}: ${error.message}`)
    return undefined
  }
}

async function checkSigners(store: ObjectStore, add: AddProblem): Promise<void> {
  for (const name of await store.list(signersPrefix)) {
    const fault = await signerFault(store, name)
    if (fault !== undefined) add('RecordDisagrees', `${signersPrefix}/${name} ${fault}`)
  }
}

async function readLogs(store: ObjectStore, add: AddProblem): Promise<Map<string, LogRecord>> {
  const logs = new Map<string, LogRecord>()
  for (const name of await store.list(logsPrefix)) {
    const record = await sound(`log ${name}`, readLog(store, name), add)
    if (record === undefined) continue
    if (record.id !== name) add('RecordDisagrees', `log ${name} says that it is ${record.id}`)
    logs.set(name, record)
  }
  return logs
}

async function readNames(
  store: ObjectStore,
  logs: ReadonlyMap<string, LogRecord>,
  add: AddProblem,
): Promise<Map<DatasetId, NameRecord>> {
  const names = new Map<DatasetId, NameRecord>()
  for (const alias of await listNames(store)) {
    const record = await sound(`name ${alias}`, readName(store, alias), add)
    if (record === undefined) continue
    const { id, log, partition } = record
    const other = names.get(id)
    if (other !== undefined) add('RecordDisagrees', `${alias} and ${other.alias} are names of one dataset`)
    const partitions = logs.get(log)?.partitions
    if (partitions === undefined) add('RecordDisagrees', `the name ${alias} is of log ${log}, which is not declared`)
    else if (partition >= partitions) {
      add('RecordDisagrees', `the name ${alias} is of partition ${partition}; log ${log} has ${partitions}`)
    }
    names.set(id, record)
  }
  return names
}

interface Chains {
  readonly logs: ReadonlyMap<string, LogRecord>
  readonly positions: readonly { readonly id: DatasetId; readonly position: LogPosition }[]
  readonly ids: ReadonlySet<DatasetId>
}

async function checkFloors(store: ObjectStore, chains: Chains, add: AddProblem): Promise<void> {
  for (const log of await store.list(floorsPrefix)) {
    const partitions = chains.logs.get(log)?.partitions
    if (partitions === undefined) add('RecordDisagrees', `there are floors of log ${log}, which is not declared`)
    for (const name of await store.list(`${floorsPrefix}/${log}`)) {
      const partition = numberOfName(name)
      if (partition === undefined || (partitions !== undefined && partition >= partitions)) {
        add('UnknownObject', `${floorsPrefix}/${log}/${name} is no partition of the log`)
        continue
      }
      const floor = await sound(`the floor of ${log}/${partition}`, newestFloor(store, log, partition), add)
      if (floor !== undefined) checkFloor(floor, chains, add)
    }
  }
}

/** A floor and the chains of its partition speak of the same log: where they meet, they name the same message. */
function checkFloor(floor: FloorRecord, { positions, ids }: Chains, add: AddProblem): void {
  const { log, partition, position, anchor, halted } = floor
  for (const { dataset, message } of halted) {
    // A halted creation has not come to be stored.
    if (!ids.has(dataset) && message === undefined)
      add('RecordDisagrees', `the floor of ${log}/${partition} halts ${dataset}, which is not stored`)
  }
  for (const { id, position: read } of positions) {
    const meets = read.log === log && read.partition === partition && read.next === position
    if (meets && read.anchor !== anchor) {
      add('RecordDisagrees', `the floor of ${log}/${partition} at ${position} and ${id} name different messages`)
    }
  }
}

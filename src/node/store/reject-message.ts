// An operator's rejection of one message, checked before it is written, for it cannot be taken back: only the very message
// that a builder names as the cause of a halt, or one that cannot be read.

import type { HaltedDataset, LogPlace, LowWaterMark, RejectRecord } from '../../libraries/odf/chain/records.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { parseAliasText } from '../../libraries/model/names.ts'
import { floorsPrefix, logsPrefix } from './layout.ts'
import type { ObjectStore } from './object-store.ts'
import { readName } from './names.ts'
import { listNumbers, newestLowWaterMark, putReject, readAdoption, readLog } from './records.ts'

const reasonCharsMost = 500
const pageHint = 'docs/halts.md says what ends each halt.'

/** What an operator says, and when. */
export type OperatorsWord = Omit<RejectRecord, 'dataset'>

export interface Rejection extends LogPlace {
  readonly outcome: 'rejected' | 'was rejected before'
  /** The word that stands. */
  readonly record: RejectRecord
}

/**
 * Rejects the message at `position`, which halts the dataset with this name or id. Durable when it resolves. Throws
 * NodeErrors `DatasetNotFound`, `InvalidParameter` (it is not halted, or not by this message).
 */
export async function rejectHalted(
  store: ObjectStore,
  at: { readonly dataset: string; readonly position: number },
  word: OperatorsWord,
): Promise<Rejection> {
  checkWord(word)
  const id = at.dataset.startsWith('did:') ? at.dataset : await idOf(store, at.dataset)
  const found = await haltOf(store, id)
  if (found === undefined) {
    throw new NodeError('InvalidParameter', `No builder has halted ${at.dataset}.`, {
      hint: 'A halt is listed in the store within 10 s; proofstream doctor tells them all.',
    })
  }
  const { log, partition, halt } = found
  if (halt.message === undefined) {
    throw new NodeError('InvalidParameter', `${halt.reason} is not the fault of one message.`, { hint: pageHint })
  }
  if (halt.message !== at.position) {
    throw new NodeError('InvalidParameter', `${at.dataset} is not halted by message ${at.position}.`, {
      hint: `${halt.reason} is because of message ${halt.message}: --position ${halt.message}`,
    })
  }
  return put(store, { log, partition, position: at.position }, { dataset: id, ...word })
}

/**
 * Rejects the message at `position`, which cannot be read; builders skip it if that is so, and go on otherwise. Durable
 * when it resolves. `log` may be left out where the store has one log in force. Throws NodeError `InvalidParameter`.
 */
export async function rejectUnreadable(
  store: ObjectStore,
  at: { readonly log?: string | undefined; readonly partition: number; readonly position: number },
  word: OperatorsWord,
): Promise<Rejection> {
  checkWord(word)
  const logs = await logsInForce(store)
  const log = at.log ?? logs[0]
  if (log === undefined || !logs.includes(log) || (at.log === undefined && logs.length > 1)) {
    throw new NodeError('InvalidParameter', at.log === undefined ? 'It is not said which log.' : `No log ${at.log}.`, {
      candidates: logs,
      hint: logs.length === 0 ? 'The store knows no log.' : `Say --log with one of ${logs.join(', ')}.`,
    })
  }
  const partitions = (await readLog(store, log))?.partitions ?? 0
  if (at.partition >= partitions) {
    throw new NodeError('InvalidParameter', `The log has no partition ${at.partition}.`, {
      hint: `It has ${partitions}, counted from 0.`,
    })
  }
  const floor = await newestLowWaterMark(store, log, at.partition)
  if (floor !== undefined && at.position < floor.position) {
    throw new NodeError('InvalidParameter', `Message ${at.position} has been read.`, {
      hint: `Everything below ${floor.position} is committed or listed as halted. ${pageHint}`,
    })
  }
  return put(store, { log, partition: at.partition, position: at.position }, word)
}

async function put(store: ObjectStore, place: LogPlace, record: RejectRecord): Promise<Rejection> {
  const done = await putReject(store, place, record)
  if (done.outcome === 'won') return { ...place, outcome: 'rejected', record }
  if (done.inForce.dataset === record.dataset) return { ...place, outcome: 'was rejected before', record: done.inForce }
  throw new NodeError('InvalidParameter', `Message ${place.position} was rejected as one of another dataset.`, {
    hint: 'What was rejected stays so.',
  })
}

function checkWord({ reason }: OperatorsWord): void {
  if (reason.length > 0 && reason.length <= reasonCharsMost && !/\p{Cc}/u.test(reason)) return
  throw new NodeError('InvalidParameter', 'The reason cannot be shown to the senders of these records.', {
    hint: `Give one line of 1 to ${reasonCharsMost} characters.`,
  })
}

async function idOf(store: ObjectStore, alias: string): Promise<DatasetId> {
  const { account, dataset } = parseAliasText(alias)
  const name = await readName(store, `${account}/${dataset}`)
  if (name !== undefined) return name.id
  throw new NodeError('DatasetNotFound', `There is no dataset ${alias}.`, {
    hint: 'A dataset whose creation is halted has no name yet: give its id (did:odf:…), as proofstream doctor tells it.',
  })
}

async function logsInForce(store: ObjectStore): Promise<readonly string[]> {
  const logs: string[] = []
  for (const log of await store.list(logsPrefix)) if ((await readAdoption(store, log)) === undefined) logs.push(log)
  return logs
}

/** Where the newest floors of logs in force list the dataset. */
async function haltOf(
  store: ObjectStore,
  id: DatasetId,
): Promise<(Pick<LowWaterMark, 'log' | 'partition'> & { readonly halt: HaltedDataset }) | undefined> {
  for (const log of await logsInForce(store)) {
    for (const partition of await listNumbers(store, `${floorsPrefix}/${log}`)) {
      const floor = await newestLowWaterMark(store, log, partition)
      const halt = floor?.halted.find(({ dataset }) => dataset === id)
      if (halt !== undefined) return { log, partition, halt }
    }
  }
  return undefined
}

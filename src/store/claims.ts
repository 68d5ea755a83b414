// Records that the first writer decides for everyone: commits, names, logs, floors. Each is one put-if-absent; who
// finds the very same bytes there has won too, so a repeat after a crash is no conflict.

import {
  decodeAdoptionRecord,
  decodeCommitRecord,
  decodeFloorRecord,
  decodeLogRecord,
  decodeNameRecord,
  encodeAdoptionRecord,
  encodeCommitRecord,
  encodeFloorRecord,
  encodeLogRecord,
  encodeNameRecord,
} from '../chain/record-codec.ts'
import type { AdoptionRecord, CommitRecord, FloorRecord, LogRecord, NameRecord } from '../chain/records.ts'
import { assert, must } from '../lib/assert.ts'
import { equalBytes } from '../lib/bytes.ts'
import { DecodeError } from '../model/errors.ts'
import type { DatasetId } from '../model/events.ts'
import {
  adoptionKey,
  commitKey,
  logKey,
  nameKey,
  namesPrefix,
  numberOfName,
  progressKey,
  progressPrefix,
} from './layout.ts'
import type { ObjectStore } from './object-store.ts'

/** `won`: the record in force is the one that was put, by us or by somebody with the same bytes. */
export type Claim<T> = { readonly outcome: 'won' } | { readonly outcome: 'lost'; readonly inForce: T }

/** Floors kept per partition; older ones are deleted, for only the newest counts. */
const floorsKept = 16

export async function claim<T>(
  store: ObjectStore,
  key: string,
  codec: { bytes: Uint8Array; decode: (b: Uint8Array) => T },
): Promise<Claim<T>> {
  if ((await store.put(key, codec.bytes)) === 'stored') return { outcome: 'won' }
  const there = must(await store.get(key), `the object ${key} exists`)
  return equalBytes(there, codec.bytes) ? { outcome: 'won' } : { outcome: 'lost', inForce: codec.decode(there) }
}

async function read<T>(store: ObjectStore, key: string, decode: (bytes: Uint8Array) => T): Promise<T | undefined> {
  const bytes = await store.get(key)
  return bytes === undefined ? undefined : decode(bytes)
}

/**
 * Puts the commit whose first new block has number `sequence`: the linearisation point. Durable when it resolves.
 * Throws `DecodeError` when what is there is no commit record.
 */
export function putCommit(
  store: ObjectStore,
  at: { id: DatasetId; sequence: number },
  record: CommitRecord,
): Promise<Claim<CommitRecord>> {
  const bytes = encodeCommitRecord(record)
  return claim(store, commitKey(at.id, at.sequence), { bytes, decode: decodeCommitRecord })
}

/** The commit whose first new block has number `sequence`, or undefined. Throws `DecodeError`. */
export function readCommit(store: ObjectStore, id: DatasetId, sequence: number): Promise<CommitRecord | undefined> {
  return read(store, commitKey(id, sequence), decodeCommitRecord)
}

/** Claims `record.alias` for `record.id`. Durable when it resolves. Throws `DecodeError`. */
export function putName(store: ObjectStore, record: NameRecord): Promise<Claim<NameRecord>> {
  const bytes = encodeNameRecord(record)
  return claim(store, nameKey(record.alias), { bytes, decode: (there) => nameRecordOf(record.alias, there) })
}

/** The record under the key of `alias`. Throws `DecodeError`, also for one that is of another name. */
function nameRecordOf(alias: string, bytes: Uint8Array): NameRecord {
  const record = decodeNameRecord(bytes)
  if (nameKey(record.alias) === nameKey(alias)) return record
  throw new DecodeError('name record', `it is of '${record.alias}' and stands under '${alias}'`)
}

/** Who owns `alias` (any ASCII case), or undefined. Throws `DecodeError`. */
export function readName(store: ObjectStore, alias: string): Promise<NameRecord | undefined> {
  return read(store, nameKey(alias), (bytes) => nameRecordOf(alias, bytes))
}

/** All names as aliases in lower case, sorted by account, then dataset. */
export async function listNames(store: ObjectStore): Promise<string[]> {
  const aliases: string[] = []
  for (const account of await store.list(namesPrefix)) {
    for (const dataset of await store.list(`${namesPrefix}/${account}`)) aliases.push(`${account}/${dataset}`)
  }
  return aliases
}

/** Declares a log and its partition count; the first declaration stands. Durable when it resolves. Throws `DecodeError`. */
export function putLog(store: ObjectStore, record: LogRecord): Promise<Claim<LogRecord>> {
  return claim(store, logKey(record.id), { bytes: encodeLogRecord(record), decode: decodeLogRecord })
}

/** What is declared about a log, or undefined. Throws `DecodeError`. */
export function readLog(store: ObjectStore, id: string): Promise<LogRecord | undefined> {
  return read(store, logKey(id), decodeLogRecord)
}

/** Gives up `record.old` for `record.new`; the first such record stands. Durable when it resolves. Throws `DecodeError`. */
export function putAdoption(store: ObjectStore, record: AdoptionRecord): Promise<Claim<AdoptionRecord>> {
  return claim(store, adoptionKey(record.old), { bytes: encodeAdoptionRecord(record), decode: decodeAdoptionRecord })
}

/** What became of log `old`, or undefined while it is not given up. Throws `DecodeError`. */
export function readAdoption(store: ObjectStore, old: string): Promise<AdoptionRecord | undefined> {
  return read(store, adoptionKey(old), decodeAdoptionRecord)
}

/** The adoptions that lead from `log` to the log that its datasets are in now, in order. Throws `DecodeError`. */
export async function adoptionsFrom(store: ObjectStore, log: string): Promise<readonly AdoptionRecord[]> {
  const records: AdoptionRecord[] = []
  for (let at = log; ; ) {
    const record = await readAdoption(store, at)
    if (record === undefined) return records
    if (record.old !== at || records.some(({ old }) => old === record.new)) {
      throw new DecodeError('adoption record', `that of log ${at} does not lead to another log`)
    }
    records.push(record)
    at = record.new
  }
}

async function floorPositions(store: ObjectStore, log: string, partition: number): Promise<number[]> {
  const positions: number[] = []
  for (const name of await store.list(progressPrefix(log, partition))) {
    const position = numberOfName(name)
    if (position !== undefined) positions.push(position)
  }
  return positions.sort((a, b) => a - b)
}

/**
 * Puts the floor, then lets go of all but the newest few below it. Durable when it resolves.
 * Floors of one position may differ in what they list as halted: the first stands.
 */
export async function putFloor(store: ObjectStore, record: FloorRecord): Promise<Claim<FloorRecord>> {
  const { log, partition, position } = record
  assert((position === 0) === (record.anchor === undefined), 'a floor has an anchor, except at position 0')
  const bytes = encodeFloorRecord(record)
  const outcome = await claim(store, progressKey(log, partition, position), { bytes, decode: decodeFloorRecord })
  const positions = await floorPositions(store, log, partition)
  for (const old of positions.slice(0, -floorsKept)) await store.delete(progressKey(log, partition, old))
  return outcome
}

/** The floor with the highest position, or undefined when there is none. Throws `DecodeError`. */
export async function newestFloor(
  store: ObjectStore,
  log: string,
  partition: number,
): Promise<FloorRecord | undefined> {
  for (;;) {
    const position = (await floorPositions(store, log, partition)).at(-1)
    if (position === undefined) return undefined
    const record = await read(store, progressKey(log, partition, position), decodeFloorRecord)
    // Gone since it was listed: so many newer ones have come that another look finds them.
    if (record === undefined) continue
    if (record.log !== log || record.partition !== partition || record.position !== position) {
      throw new DecodeError('floor record', `is not of ${log}, partition ${partition}, position ${position}`)
    }
    return record
  }
}

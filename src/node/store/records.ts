// Records of which the first one written stands, whichever process writes it: commits, logs, floors, adoptions,
// rejections, secrets (names: `names.ts`, keys: `signers.ts`). Each is one put-if-absent; a writer that finds its own bytes there has won too, so a
// repeat after a crash is no conflict.

import {
  adoptionCodec,
  type AdoptionRecord,
  commitCodec,
  type CommitRecord,
  logCodec,
  type LogPlace,
  type LogRecord,
  type LowWaterMark,
  lowWaterMarkCodec,
  rejectCodec,
  type RejectRecord,
  sweptFormat,
} from '../../libraries/odf/chain/records.ts'
import { randomBytes } from '../../libraries/base/ids/native-crypto.ts'
import type { RecordCodec } from '../../libraries/base/json/shape.ts'
import { assert, must } from '../../libraries/base/assert.ts'
import { equalBytes } from '../../libraries/base/bytes.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import {
  adoptionKey,
  commitKey,
  logKey,
  logsPrefix,
  numberOfName,
  progressKey,
  progressPrefix,
  rejectKey,
  rejectsPrefix,
  secretKey,
} from './layout.ts'
import type { ObjectStore } from './object-store.ts'

/** `won`: the record in force is the one that was put, by us or by somebody with the same bytes. */
export type PutOnce<T> = { readonly outcome: 'won' } | { readonly outcome: 'lost'; readonly inForce: T }

/** The rejected messages of one partition, by position. */
export type Rejects = ReadonlyMap<number, RejectRecord>

/** Floors kept per partition; older ones are deleted, for only the newest counts. */
const floorsKept = 16

/** Durable when it resolves, as are all that follow. Throws DecodeError when what is there is no such record. */
export async function putOnce<T>(
  store: ObjectStore,
  key: string,
  record: { readonly codec: RecordCodec<T>; readonly value: T },
): Promise<PutOnce<T>> {
  const bytes = record.codec.encode(record.value)
  if ((await store.put(key, bytes)) === 'stored') return { outcome: 'won' }
  const there = must(await store.get(key), `the object ${key} exists`)
  return equalBytes(there, bytes) ? { outcome: 'won' } : { outcome: 'lost', inForce: record.codec.decode(there) }
}

export async function readRecord<T>(store: ObjectStore, key: string, codec: RecordCodec<T>): Promise<T | undefined> {
  const bytes = await store.get(key)
  return bytes === undefined ? undefined : codec.decode(bytes)
}

/**
 * Puts the commit whose first new block has number `sequence`: the linearisation point. A pack that covers the number has
 * the last word: what is put beside one was there already. Throws DecodeError.
 */
export async function putCommit(
  store: ObjectStore,
  at: { id: DatasetId; sequence: number },
  value: CommitRecord,
): Promise<PutOnce<CommitRecord | undefined>> {
  const key = commitKey(at.id, at.sequence)
  const bytes = commitCodec.encode(value)
  if ((await store.put(key, bytes)) === 'stored') return { outcome: 'won' }
  const there = await store.get(key)
  if (there !== undefined && equalBytes(there, bytes)) return { outcome: 'won' }
  return { outcome: 'lost', inForce: there && commitCodec.decode(there) }
}

/** The commit whose first new block has number `sequence`, or undefined. Throws DecodeError. */
export function readCommit(store: ObjectStore, id: DatasetId, sequence: number): Promise<CommitRecord | undefined> {
  return readRecord(store, commitKey(id, sequence), commitCodec)
}

/** Declares a log and its partition count; the first declaration stands. Throws DecodeError. */
export function putLog(store: ObjectStore, value: LogRecord): Promise<PutOnce<LogRecord>> {
  return putOnce(store, logKey(value.id), { codec: logCodec, value })
}

/** What is declared about a log, or undefined. Throws DecodeError. */
export function readLog(store: ObjectStore, id: string): Promise<LogRecord | undefined> {
  return readRecord(store, logKey(id), logCodec)
}

/**
 * Since when loose copies of what packs hold may be missing (milliseconds since 1970 by the store's clock), or undefined
 * while they are all there. A log record says so. Throws DecodeError.
 */
export async function sweptSince(store: ObjectStore): Promise<number | undefined> {
  let sinceMs: number | undefined
  for (const id of await store.list(logsPrefix)) {
    if ((await readLog(store, id))?.storeFormat !== sweptFormat) continue
    const markedMs = await store.modifiedMs(logKey(id))
    if (markedMs !== undefined) sinceMs = Math.min(markedMs, sinceMs ?? markedMs)
  }
  return sinceMs
}

/** Gives up `value.old` for `value.new`; the first such record stands. Throws DecodeError. */
export function putAdoption(store: ObjectStore, value: AdoptionRecord): Promise<PutOnce<AdoptionRecord>> {
  return putOnce(store, adoptionKey(value.old), { codec: adoptionCodec, value })
}

/** What became of log `old`, or undefined while it is not given up. Throws DecodeError. */
export function readAdoption(store: ObjectStore, old: string): Promise<AdoptionRecord | undefined> {
  return readRecord(store, adoptionKey(old), adoptionCodec)
}

/** The adoptions that lead from `log` to the log that its datasets are in now, in order. Throws DecodeError. */
export async function adoptionsFrom(store: ObjectStore, log: string): Promise<readonly AdoptionRecord[]> {
  const records: AdoptionRecord[] = []
  for (let at = log; ;) {
    const record = await readAdoption(store, at)
    if (record === undefined) return records
    if (record.old !== at || records.some(({ old }) => old === record.new)) {
      throw new DecodeError('adoption record', `that of log ${at} does not lead to another log`)
    }
    records.push(record)
    at = record.new
  }
}

/** The numbers that name objects directly under `prefix`, ascending; other names are left out. */
export async function listNumbers(store: Pick<ObjectStore, 'list'>, prefix: string): Promise<readonly number[]> {
  const numbers = (await store.list(prefix)).map(numberOfName).filter((number) => number !== undefined)
  return numbers.sort((a, b) => a - b)
}

/**
 * Puts the floor, then deletes all but the newest few below it. Floors of one position may differ in what they list as
 * halted: the first stands.
 */
export async function putLowWaterMark(store: ObjectStore, value: LowWaterMark): Promise<PutOnce<LowWaterMark>> {
  const { log, partition, position } = value
  assert((position === 0) === (value.anchor === undefined), 'a floor has an anchor, except at position 0')
  const outcome = await putOnce(store, progressKey(log, partition, position), { codec: lowWaterMarkCodec, value })
  const positions = await listNumbers(store, progressPrefix(log, partition))
  for (const old of positions.slice(0, -floorsKept)) await store.delete(progressKey(log, partition, old))
  return outcome
}

/** The floor with the highest position, or undefined when there is none. Throws DecodeError. */
export async function newestLowWaterMark(
  store: ObjectStore,
  log: string,
  partition: number,
): Promise<LowWaterMark | undefined> {
  for (;;) {
    const position = (await listNumbers(store, progressPrefix(log, partition))).at(-1)
    if (position === undefined) return undefined
    const record = await readRecord(store, progressKey(log, partition, position), lowWaterMarkCodec)
    // Gone since it was listed: so many newer ones have come that another look finds them.
    if (record === undefined) continue
    if (record.log !== log || record.partition !== partition || record.position !== position) {
      throw new DecodeError('floor record', `is not of ${log}, partition ${partition}, position ${position}`)
    }
    return record
  }
}

/** Rejects the message at `at`; the first such record stands. Throws DecodeError. */
export function putReject(store: ObjectStore, at: LogPlace, value: RejectRecord): Promise<PutOnce<RejectRecord>> {
  return putOnce(store, rejectKey(at.log, at.partition, at.position), { codec: rejectCodec, value })
}

/**
 * All rejections of one partition. One that cannot be read is handed to `onDamaged` and counts as none: its dataset
 * stays halted, and others are not stopped by it.
 */
export async function readRejects(
  store: ObjectStore,
  { log, partition }: Pick<LogPlace, 'log' | 'partition'>,
  onDamaged: (position: number, error: DecodeError) => void,
): Promise<Rejects> {
  const rejects = new Map<number, RejectRecord>()
  for (const position of await listNumbers(store, rejectsPrefix(log, partition))) {
    try {
      const record = await readRecord(store, rejectKey(log, partition, position), rejectCodec)
      if (record !== undefined) rejects.set(position, record)
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      onDamaged(position, error)
    }
  }
  return rejects
}

/** Why an operator has rejected rows of `dataset` at `positions`, in the words of their outcome; undefined if none has. */
export function rejectionOf(rejects: Rejects, dataset: DatasetId, positions: readonly number[]): string | undefined {
  if (rejects.size === 0) return undefined
  for (const position of positions) {
    const record = rejects.get(position)
    if (record?.dataset === dataset) return `Rejected by an operator (${record.by}): ${record.reason}`
  }
  return undefined
}

/** 32 bytes that are the same for every process that asks `store` for `name`; the first to ask makes them. */
export async function sharedSecret(store: ObjectStore, name: string): Promise<Uint8Array> {
  await store.put(secretKey(name), randomBytes(32))
  return must(await store.get(secretKey(name)), 'a secret that was put is there')
}

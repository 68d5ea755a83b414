// Removes a chain from the store. Its head and its first commit go first, each before anything else of it: a deleted dataset
// that lacks one of them is being removed. A late writer may put the head back; the missing first commit still shows it.

import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import {
  blocksPrefix,
  checkpointsPrefix,
  commitKey,
  commitsPrefix,
  dataPrefix,
  deletionClockKey,
  deletionKey,
  deletionsOf,
  headKey,
  ledgerKeyKey,
  packFilesPrefix,
  packKey,
  packLevelPrefix,
  packsPrefix,
} from './layout.ts'
import type { ObjectStore } from './object-store.ts'
import { listNumbers } from './records.ts'

const objectsAtOnce = 256

/** True for a deleted dataset whose removal has begun. `store` is one that finds packed objects too. */
export async function isRemovalBegun(store: ObjectStore, id: DatasetId): Promise<boolean> {
  return (await store.size(headKey(id))) === undefined || (await store.size(commitKey(id, 0))) === undefined
}

/**
 * Removes all objects of a chain, what refers before what it refers to; `signal` ends it between two steps, and it may be
 * repeated. Resolves with how many there were; durable then. Throws what the store throws.
 */
export async function removeChain(store: ObjectStore, id: DatasetId, signal: AbortSignal): Promise<number> {
  const levels = await listNumbers(store, packsPrefix(id))
  let count = 0
  const remove = async (keys: readonly string[]): Promise<void> => {
    for (let at = 0; at < keys.length && !signal.aborted; at += objectsAtOnce) {
      await store.delete(...keys.slice(at, at + objectsAtOnce))
    }
    count += keys.length
  }
  await store.delete(headKey(id))
  // What the ledger has of it says nothing to anybody from now on.
  await store.delete(ledgerKeyKey(id))
  for (const level of levels) await store.delete(packKey(id, level, 0))
  await store.delete(commitKey(id, 0))
  const folders = [
    ...levels.map((level) => packLevelPrefix(id, level)),
    commitsPrefix(id),
    packFilesPrefix(id),
    blocksPrefix(id),
    checkpointsPrefix(id),
    dataPrefix(id),
  ]
  for (const folder of folders) await remove((await store.list(folder)).map((name) => `${folder}/${name}`))
  return count
}

/**
 * How long ago the last record of deletion was stored, in milliseconds by the clock of the store, which may be another
 * machine's; undefined where there is none.
 */
export async function deletionAgeMs(store: ObjectStore, id: DatasetId): Promise<number | undefined> {
  const sequence = (await listNumbers(store, deletionsOf(id))).at(-1)
  const storedMs = sequence === undefined ? undefined : await store.modifiedMs(deletionKey(id, sequence))
  await store.replace(deletionClockKey(id), new Uint8Array())
  const nowMs = await store.modifiedMs(deletionClockKey(id))
  return storedMs === undefined || nowMs === undefined ? undefined : nowMs - storedMs
}

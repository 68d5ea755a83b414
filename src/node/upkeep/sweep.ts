// Removes what creations left that lost their name to another or were never committed: chains that no name leads to and
// that hold no rows. They cannot be reached, and no message will come for them. Only what is a day old goes, and only from
// a store that is sound. A chain with rows stays: it had a name once, and its name may have been lost.

import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { decodeBlock } from '../../libraries/odf/block.ts'
import {
  blocksPrefix,
  checkpointsPrefix,
  commitKey,
  commitsPrefix,
  dataPrefix,
  headKey,
  packsPrefix,
} from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { listNumbers } from '../store/records.ts'
import { type DatasetReport, sound, type StoreReport } from './report.ts'

export const sweptAgeMs = 24 * 60 * 60 * 1000

/** The datasets that a sweep of the store of `report` removes; none where anything is wrong in it. */
export async function sweepable(
  store: ObjectStore,
  report: StoreReport,
  nowMs: number,
): Promise<readonly DatasetReport[]> {
  if (!report.ok) return []
  const found: DatasetReport[] = []
  for (const dataset of report.datasets) {
    if (dataset.alias !== undefined || (await holdsRows(store, dataset.id))) continue
    const newestMs = await newestBlockMs(store, dataset.id)
    if (newestMs !== undefined && nowMs - newestMs > sweptAgeMs) found.push(dataset)
  }
  return found
}

/** Removes all objects of a dataset without rows. A sweep that was stopped in the middle leaves less of a chain that no name leads to. */
export async function sweep(store: ObjectStore, id: DatasetId): Promise<void> {
  await store.delete(headKey(id))
  // The last first, so that what is left is a chain.
  const commits = await listNumbers(store, commitsPrefix(id))
  for (const sequence of commits.toReversed()) await store.delete(commitKey(id, sequence))
  for (const name of await store.list(blocksPrefix(id))) await store.delete(`${blocksPrefix(id)}/${name}`)
}

async function holdsRows(store: ObjectStore, id: DatasetId): Promise<boolean> {
  // Packs are of chains that are long, whose rows may lie nowhere else.
  for (const prefix of [dataPrefix(id), checkpointsPrefix(id), packsPrefix(id)]) {
    if ((await store.list(prefix)).length > 0) return true
  }
  return false
}

/** Time of the newest block among all that are stored, reached or not; undefined if any cannot be read. */
async function newestBlockMs(store: ObjectStore, id: DatasetId): Promise<number | undefined> {
  let newestMs: number | undefined
  for (const name of await store.list(blocksPrefix(id))) {
    const bytes = await store.get(`${blocksPrefix(id)}/${name}`)
    const decoded =
      bytes === undefined
        ? undefined
        : await sound(
            name,
            () => decodeBlock(bytes),
            () => {},
          )
    if (decoded === undefined) return undefined
    const timeMs = Date.parse(decoded.block.systemTime)
    newestMs = Math.max(newestMs ?? timeMs, timeMs)
  }
  return newestMs
}

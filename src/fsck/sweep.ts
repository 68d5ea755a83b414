// Removes what creations left that lost their name to another or were never committed: chains that no name leads to and
// that hold no rows. Nobody can read them, and no message will come for them. Only what is a day old goes, and only from
// a store that is sound. A chain with rows stays: it had a name once, and its name may have been lost.

import { DecodeError } from '../model/errors.ts'
import type { DatasetId } from '../model/events.ts'
import { decodeBlock } from '../odf/block.ts'
import { blocksPrefix, checkpointsPrefix, commitsPrefix, dataPrefix, headKey, numberOfName } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { DatasetReport, StoreReport } from './report.ts'

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
  const commits = (await store.list(commitsPrefix(id))).toSorted(
    (a, b) => (numberOfName(b) ?? 0) - (numberOfName(a) ?? 0),
  )
  for (const name of commits) await store.delete(`${commitsPrefix(id)}/${name}`)
  for (const name of await store.list(blocksPrefix(id))) await store.delete(`${blocksPrefix(id)}/${name}`)
}

async function holdsRows(store: ObjectStore, id: DatasetId): Promise<boolean> {
  return (await store.list(dataPrefix(id))).length > 0 || (await store.list(checkpointsPrefix(id))).length > 0
}

/** Time of the newest block among all that are stored, reached or not; undefined where none tells it. */
async function newestBlockMs(store: ObjectStore, id: DatasetId): Promise<number | undefined> {
  let newestMs: number | undefined
  for (const name of await store.list(blocksPrefix(id))) {
    const timeMs = await blockMs(store, `${blocksPrefix(id)}/${name}`)
    if (timeMs === undefined) return undefined
    newestMs = Math.max(newestMs ?? timeMs, timeMs)
  }
  return newestMs
}

async function blockMs(store: ObjectStore, key: string): Promise<number | undefined> {
  const bytes = await store.get(key)
  if (bytes === undefined) return undefined
  try {
    return Date.parse(decodeBlock(bytes).block.systemTime)
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

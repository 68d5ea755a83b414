// Puts a built commit into the store (protocol.md §4): slice and checkpoint, blocks, then the commit record, which
// decides. Repeating a commit that is there already is harmless.

import type { DatasetId } from '../model/events.ts'
import { putCommit, putName } from '../store/records.ts'
import { blockKey, checkpointKey, dataKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { BuiltCommit } from './build-block.ts'

/**
 * `committed`: the chain has these blocks, put by us or by another with the same bytes. `lost`: it has others.
 * `refused`: committed, but the name belongs to another dataset, so nobody will find it.
 */
export type CommitOutcome = 'committed' | 'lost' | 'refused'

/** Durable when it resolves. Throws what the store throws; the caller may repeat it. */
export async function storeCommit(
  store: ObjectStore,
  at: { readonly id: DatasetId; readonly sequence: number },
  built: BuiltCommit,
): Promise<CommitOutcome> {
  const { slice, checkpoint, blocks, record, name } = built
  await Promise.all([
    slice === undefined ? undefined : store.put(dataKey(at.id, slice.hash), slice.chunks),
    checkpoint === undefined ? undefined : store.put(checkpointKey(at.id, checkpoint.hash), checkpoint.bytes),
  ])
  await Promise.all(blocks.map(({ hash, bytes }) => store.put(blockKey(at.id, hash), bytes)))
  // mutant: deleted when the commit is unclear
  const claim = await putCommit(store, at, record)
  // mutant: a lost race is taken for won
  if (claim.outcome === 'lost') return 'lost'
  if (name === undefined) return 'committed'
  const named = await putName(store, name)
  return named.outcome === 'won' || named.inForce.id === at.id ? 'committed' : 'refused'
}

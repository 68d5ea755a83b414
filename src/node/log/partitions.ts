// The partitions of a log: which one a dataset has, and the port that assigns partitions to builders. Pure but for the
// port; its adapter is kafka/assignment.ts.

import { sha3256 } from '../../libraries/base/ids/native-crypto.ts'
import { utf8 } from '../../libraries/base/bytes.ts'

/**
 * A dataset's partition: the first 32 bits (big-endian) of SHA3-256 of the folded alias, modulo `partitions`. Fixed when
 * the dataset is made, and decided again by the same rule at a failover (docs/decisions/log.md#adopting-another-log).
 */
export function partitionOf(foldedAlias: string, partitions: number): number {
  if (partitions === 1) return 0
  const digest = sha3256(utf8(foldedAlias))
  return new DataView(digest.buffer, digest.byteOffset).getUint32(0) % partitions
}

/**
 * Spreads the partitions of a log over the builders of an installation. A hint: it saves builders from making the same
 * blocks. Blocks stay right whatever it says, because one put-if-absent decides each commit.
 */
export interface PartitionAssignment {
  /**
   * The partitions that this process should build, and again at each change; only the newest assignment. Asking joins the
   * builders, and when `signal` aborts the partitions are handed back before it returns. Never throws: until the
   * group has answered it is all partitions, and when the group can no longer be asked the last answer stands for a time.
   */
  assignments(signal: AbortSignal): AsyncIterable<readonly number[]>
}

export interface Member {
  readonly id: string
  /** Partitions that it builds already. */
  readonly held: readonly number[]
}

/**
 * The partitions 0 … `partitions` - 1, each with one of `members`, which get the same number of them, or one more. Of two
 * that hold the same partition the one with the lower id keeps it; the order of `members` does not matter.
 */
export function assignPartitions(
  partitions: number,
  members: readonly Member[],
): ReadonlyMap<string, readonly number[]> {
  const byId = [...members].sort((a, b) => (a.id < b.id ? -1 : 1))
  const taken = new Set<number>()
  const kept = new Map<string, number[]>()
  for (const { id, held } of byId) {
    const own = [...new Set(held)].filter((one) => one >= 0 && one < partitions && !taken.has(one))
    for (const one of own) taken.add(one)
    kept.set(
      id,
      own.sort((a, b) => a - b),
    )
  }
  // A builder that holds most keeps one more, so that it need not move.
  const byHeld = [...byId].sort((a, b) => (kept.get(b.id)?.length ?? 0) - (kept.get(a.id)?.length ?? 0))
  const least = Math.floor(partitions / byId.length)
  const withOneMore = partitions % byId.length
  const quotas = new Map(byHeld.map(({ id }, at) => [id, least + (at < withOneMore ? 1 : 0)]))
  const free = Array.from({ length: partitions }, (_, number) => number).filter((one) => !taken.has(one))
  for (const [id, own] of kept) free.push(...own.splice(quotas.get(id) ?? 0))
  free.sort((a, b) => a - b)
  for (const [id, own] of kept) own.push(...free.splice(0, (quotas.get(id) ?? 0) - own.length))
  return new Map([...kept].map(([id, own]) => [id, own.sort((a, b) => a - b)]))
}

// What a chain remembers of numbered streams (docs/spec/protocol.md §12): of each producer its epoch and the last range of
// records that was taken. Here: who a producer is, and what becomes of a range. Pure; the fold and the gateways ask the same.

import { sha3Hash } from '../ids/identifiers.ts'
import { canonicalBytes } from '../json/canonical.ts'
import type { ErrorKind } from '../model/error-table.ts'
import type { DatasetId, Hash } from '../model/events.ts'

/** A range of records as a message says it; numbers are those of its first and last record. */
export interface ProducerRange {
  readonly id: string
  readonly epoch: number
  readonly first: number
  readonly last: number
}

/** The last range of a producer that was taken. */
export interface ProducerMark {
  readonly identity: Hash
  readonly epoch: number
  readonly first: number
  readonly last: number
  /** Of the range. */
  readonly bodyHash: Hash
}

/** The producers whose last range one checkpoint's block took, in log order. */
export interface ProducerGroup {
  /** Number of the checkpoint. */
  readonly number: number
  /** Time of its block, milliseconds since 1970 UTC. */
  readonly timeMs: number
  readonly marks: readonly ProducerMark[]
}

/** What a checkpoint holds of producers: its own, and like ids at the ends of groups and eras those of earlier ones. */
export interface ProducersHeld {
  /** How many the dataset remembers. */
  readonly count: number
  /** Number of the earliest checkpoint that holds one of them. */
  readonly from: number
  readonly groups: readonly ProducerGroup[]
}

/** What becomes of a range: `skip` of its first rows were taken before. */
export type RangeVerdict =
  | { readonly kind: 'taken'; readonly skip: number }
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'refused'; readonly error: ErrorKind; readonly message: string; readonly expected?: number }

/** Who a producer is: SHA3-256 over canonical `["producer", dataset, token, id]`, so that a checkpoint names nobody. */
export function producerIdentity(dataset: DatasetId, tokenId: string | undefined, id: string): Hash {
  return sha3Hash(canonicalBytes(['producer', dataset, tokenId ?? '', id]))
}

/**
 * Judges a range of `rows` rows, which have the last numbers of the range, against what is known of its producer. A range
 * that begins at or below the last number and ends above it is taken without the rows that are there.
 */
export function judgeRange(
  known: ProducerMark | undefined,
  range: ProducerRange,
  { rows, bodyHash }: { readonly rows: number; readonly bodyHash: Hash },
): RangeVerdict {
  // mutant: no memory of producers
  if (known === undefined || range.epoch > known.epoch) return { kind: 'taken', skip: 0 }
  if (range.epoch < known.epoch) {
    return { kind: 'refused', error: 'ProducerFenced', message: `The producer has a higher epoch: ${known.epoch}.` }
  }
  const expected = known.last + 1
  if (range.first > expected) {
    return { kind: 'refused', error: 'SequenceGap', message: `The producer's next number is ${expected}.`, expected }
  }
  if (range.last > known.last) return { kind: 'taken', skip: Math.max(0, expected - (range.last - rows + 1)) }
  const isLast = range.first === known.first && range.last === known.last
  if (!isLast || bodyHash === known.bodyHash) return { kind: 'duplicate' }
  const message = 'These numbers of the producer were used for other records.'
  return { kind: 'refused', error: 'IdempotencyKeyReused', message }
}

// What a chain remembers of numbered streams (docs/spec/protocol.md §12): of each producer its epoch and the last range of
// records that was taken, and the connection (stream) that is its current one. Here: who a producer is, and what becomes of
// a range. Pure; the fold and the gateways ask the same.

import { type DatasetId, type Hash, sha3Hash } from '../../base/ids/identifiers.ts'
import { canonicalBytes } from '../../base/json/canonical.ts'
import type { ErrorKind } from '../../base/error-table.ts'

/** A range of records as a message says it; numbers are those of its first and last record. */
export interface ProducerRange {
  readonly id: string
  readonly epoch: number
  readonly first: number
  readonly last: number
  /** Random name of the connection that it came over. */
  readonly stream: string
  /** Of the first range of a stream: the producer's stream, as far as the chain knew one when this one was opened. */
  readonly begins?: { readonly after?: string }
}

/** The last range of a producer that was taken, and its current stream. */
export interface ProducerMark {
  readonly identity: Hash
  readonly epoch: number
  readonly first: number
  readonly last: number
  /** Of the range. */
  readonly bodyHash: Hash
  readonly stream: string
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

/** What becomes of a range; `begun`: its records are there, but its stream is the current one from now on. */
export type RangeVerdict =
  | { readonly kind: 'taken' | 'begun' | 'duplicate' }
  | { readonly kind: 'refused'; readonly error: ErrorKind; readonly message: string }

/** Who a producer is: SHA3-256 over canonical `["producer", dataset, token, id]`, so that a checkpoint names nobody. */
export function producerIdentity(dataset: DatasetId, tokenId: string | undefined, id: string): Hash {
  return sha3Hash(canonicalBytes(['producer', dataset, tokenId ?? '', id]))
}

/** Judges a range against what is known of its producer. It is taken whole or not at all. */
export function judgeRange(known: ProducerMark | undefined, range: ProducerRange, bodyHash: Hash): RangeVerdict {
  const { epoch, first, last, stream, begins } = range
  // mutant: no memory of producers
  if (known === undefined || epoch > known.epoch) return begins === undefined ? unbegun : { kind: 'taken' }
  if (epoch < known.epoch) return refused('ProducerFenced', `The producer has a higher epoch: ${known.epoch}.`)
  // mutant: no memory of streams
  if ((begins === undefined ? stream : begins.after) !== known.stream) {
    return refused('ProducerFenced', 'Another stream of the producer has begun.')
  }
  const expected = known.last + 1
  if (last < expected) {
    const isLast = first === known.first && last === known.last
    if (!isLast || bodyHash === known.bodyHash) return { kind: begins === undefined ? 'duplicate' : 'begun' }
    return refused('IdempotencyKeyReused', 'These numbers of the producer were used for other records.')
  }
  if (first === expected) return { kind: 'taken' }
  return refused('SequenceGap', `The producer's next number is ${expected}.`)
}

function refused(error: ErrorKind, message: string): RangeVerdict {
  return { kind: 'refused', error, message }
}

const unbegun = refused('SequenceGap', 'The stream that these records go on with has not begun.')

// The checkpoint: the object that each AddData block points to. It holds the outcomes of the block's batches and all
// that the fold needs to go on from the head alone (protocol.md §2). A pure function of the log and the chain.

import { fixedLimits } from '../lib/limits.ts'
import type { Hash } from '../model/events.ts'

const dayMs = 24 * 60 * 60 * 1000

/** A block of the chain by hash and sequence. */
export interface BlockRef {
  readonly hash: Hash
  readonly sequence: number
}

/** What became of one batch. */
export type BatchStatus =
  | { readonly kind: 'committed' /** First and last offset. */; readonly start: number; readonly end: number }
  | { readonly kind: 'rejected' /** Kind of the error table. */; readonly error: string; readonly message: string }

/** What the receipt of a batch says of its request. */
export interface BatchArrival {
  /** Milliseconds since 1970 UTC. */
  readonly receivedMs: number
  readonly acceptedMs: number
  readonly mediaType: string
}

/** Outcome of a batch, found by its id and its place in the log. */
export interface BatchOutcome {
  /** Batch id: base64url of 32 bytes. */
  readonly id: string
  /** Position of the message that completed the batch (of a large batch: its last part). */
  readonly position: number
  /** Place of the batch in that message, 0-based; 0 for a large batch. */
  readonly index: number
  readonly status: BatchStatus
  /** Of a keyed batch that was committed, so that a repeat gets the same receipt; older checkpoints lack it. */
  readonly arrival?: BatchArrival
}

/** A large batch whose parts are still coming in, by log position of the parts that count. */
export interface OpenAttempt {
  /** Writer and number of part 1: the name of the attempt. */
  readonly writer: string
  readonly n: number
  readonly count: number
  readonly positions: readonly number[]
}

/** The highest message number heard of a writer. */
export interface WriterMark {
  readonly writer: string
  readonly n: number
}

/** A keyed batch that was committed: its id and the hash of its body. */
export interface KnownId {
  readonly id: string
  readonly bodyHash: Hash
}

/** The keyed batches that one checkpoint's block committed, in log order. */
export interface IdGroup {
  /** Number of the checkpoint. */
  readonly number: number
  /** Time of its block, milliseconds since 1970 UTC. */
  readonly timeMs: number
  readonly ids: readonly KnownId[]
}

/** Earlier checkpoints, by hash; each absent while there is none. */
export interface EarlierCheckpoints {
  readonly previous?: Hash
  /** The latest before this one whose number + 1 is a multiple of 64. */
  readonly group?: Hash
  /** The latest before this one whose number + 1 is a multiple of 4,096. */
  readonly era?: Hash
}

/** Contents of a checkpoint object. */
export interface CheckpointContent {
  /** 0-based count of the dataset's checkpoints. */
  readonly number: number
  readonly log: string
  readonly partition: number
  /** Log position after the last message that this block and those before it consumed. */
  readonly next: number
  /** Sequence of the last block with rows or schema; -1 when there is none. */
  readonly moved: number
  readonly outcomes: readonly BatchOutcome[]
  readonly schemaBlock?: BlockRef
  readonly vocabularyBlock?: BlockRef
  readonly sourceBlock?: BlockRef
  readonly attempts: readonly OpenAttempt[]
  /** At most 64, least recently heard first. */
  readonly writers: readonly WriterMark[]
  /** Ids of this checkpoint; every 64th repeats those of the 63 before it, every 4,096th those of the 4,095 before. */
  readonly ids: readonly IdGroup[]
  readonly earlier: EarlierCheckpoints
  /** Who wrote the slice: `slice-1, zstd 1.5.7`. */
  readonly sliceWriter: string
}

/** First checkpoint number whose ids checkpoint `number` holds. */
export function firstIdGroup(number: number): number {
  if ((number + 1) % 4096 === 0) return number - 4095
  if ((number + 1) % 64 === 0) return number - 63
  return number
}

/**
 * How many of its last keyed batches a dataset remembers at least, if the one before them was committed `ageMs` before
 * its last block: the oldest is forgotten while there are more (protocol.md §2, Memory of ids).
 */
export function idsRemembered(ageMs: number): number {
  const isYoung = ageMs < fixedLimits.keyedDays.value * dayMs
  return isYoung ? fixedLimits.keyedBatchesMost.value : fixedLimits.keyedBatches.value
}

/** Where to look for ids older than those that checkpoint `number` holds; undefined when there are none. */
export function olderIds(content: CheckpointContent): Hash | undefined {
  const { number, earlier } = content
  if ((number + 1) % 4096 === 0) return earlier.era
  return (number + 1) % 64 === 0 ? earlier.group : earlier.previous
}

/** The outcome of batch `id` at log position `position`, or undefined when this block did not decide it. */
export function findOutcome(content: CheckpointContent, id: string, position: number): BatchOutcome | undefined {
  return content.outcomes.find((outcome) => outcome.id === id && outcome.position === position)
}

/** The outcome by which keyed batch `id` was committed in this block, or undefined. */
export function findCommitted(content: CheckpointContent, id: string): BatchOutcome | undefined {
  return content.outcomes.find((outcome) => outcome.id === id && outcome.status.kind === 'committed')
}

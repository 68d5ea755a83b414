// The small records that the store keeps beside blocks, slices and checkpoints. All are canonical JSON in the store
// (store/records.ts); none holds anything of the process that wrote it.

import type { DatasetId, Hash } from '../model/events.ts'

export type Visibility = 'public' | 'private'

/** `names/<account>/<dataset>` (lower case): who owns a name, and which log and partition its rows go to. */
export interface NameRecord {
  readonly id: DatasetId
  /** `account/dataset` as first written. */
  readonly alias: string
  readonly log: string
  readonly partition: number
  readonly visibility: Visibility
}

/** `datasets/<id>/commits/<sequence of the first new block>`: the linearisation point of a commit. */
export interface CommitRecord {
  /** New blocks in chain order; the last one is the head. */
  readonly blocks: readonly Hash[]
  readonly log: string
  readonly partition: number
  /** Log position after the last message that these blocks consumed. */
  readonly next: number
}

/** A dataset that a builder has stopped. */
export interface HaltedDataset {
  readonly dataset: DatasetId
  /** Its first message that is in no block. */
  readonly position: number
  readonly reason: string
  /** The message that is at fault, where one is: an operator may reject it. */
  readonly message?: number
}

/** `progress/<log>/<partition>/<position>`: everything below `position` is committed, of every dataset but the halted. */
export interface FloorRecord {
  readonly log: string
  readonly partition: number
  readonly position: number
  /** sha3-256 multihash of the message at position - 1; absent at position 0. */
  readonly anchor?: Hash
  readonly halted: readonly HaltedDataset[]
}

/**
 * `rejects/<log>/<partition>/<position>`: an operator's word that the message there is in no block. Without a dataset it
 * is of a message that nobody can read.
 */
export interface RejectRecord {
  readonly dataset?: DatasetId
  readonly reason: string
  /** Who said so. */
  readonly by: string
  /** RFC 3339, UTC. */
  readonly at: string
}

/**
 * `adoptions/<old log>`: the old log is given up, its datasets go on in the new one. One per old log; an adopted log may
 * be given up in turn. `partitions` are those of the old log, `begin` has a position for each of the new one.
 */
export interface AdoptionRecord {
  readonly old: string
  readonly new: string
  readonly partitions: readonly {
    /** Everything below is committed, of every dataset but the halted. */
    readonly floor: number
    /** Position after the last message; absent when nobody can say. What lies between floor and end is given up. */
    readonly end?: number
  }[]
  /** Datasets whose messages from `position` on are given up. */
  readonly halted: readonly HaltedDataset[]
  /** Messages of the old log's datasets lie at these positions or above. */
  readonly begin: readonly number[]
}

/** A log that a chain has left, as its first block in the next log says. */
export interface LeftLog {
  readonly log: string
  readonly partition: number
  /** Messages of that partition that the chain has not read; without `to` the log's end is not known. Absent: none. */
  readonly givenUp?: { readonly from: number; readonly to?: number }
}

/** `logs/<log id>`: put by the first process; all use its partition count. */
export interface LogRecord {
  readonly id: string
  readonly kind: string
  readonly partitions: number
}

// What a check of a store finds, as values; printing them is for others.

import { DecodeError } from '../../libraries/base/errors.ts'
import type { DatasetId, Hash } from '../../libraries/base/ids/identifiers.ts'

export type ProblemKind =
  /** Something that is named is not there. */
  | 'ObjectMissing'
  /** Bytes do not hash to their name, or rows not to their logical hash. */
  | 'HashMismatch'
  /** Bytes are not what they should be. */
  | 'Malformed'
  /** A block breaks a rule of chains. */
  | 'ChainBroken'
  /** Commits do not cover the chain, or contradict it. */
  | 'CommitsDisagree'
  /** A slice's size, rows, offsets or columns are not what its block says. */
  | 'SliceDisagrees'
  /** A checkpoint is not what its block says. */
  | 'CheckpointDisagrees'
  /** A name, log or floor contradicts the chains. */
  | 'RecordDisagrees'
  /** A pack is not what its commits make. */
  | 'PackDisagrees'
  /** An object that no key of the layout leads to. */
  | 'UnknownObject'

export interface Problem {
  readonly kind: ProblemKind
  /** A sentence that names the place. */
  readonly message: string
}

/** Takes a problem that a check has found. */
export type AddProblem = (kind: ProblemKind, message: string) => void

/** A value, or undefined and a problem when its bytes are not what they should be. `what` names the object. */
export async function sound<T>(what: string, reading: Promise<T> | (() => T), add: AddProblem): Promise<T | undefined> {
  try {
    return await (typeof reading === 'function' ? reading() : reading)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    add('Malformed', `${what}: ${error.message}`)
    return undefined
  }
}

export interface DatasetReport {
  readonly id: DatasetId
  /** Absent for a chain that no name leads to (a creation that lost its name to another). */
  readonly alias?: string
  readonly head?: Hash
  readonly blocks: number
  readonly slices: number
  /** Packs that hold some of them. */
  readonly packs: number
  readonly rows: number
  /** Bytes of blocks, slices and checkpoints that the chain reaches. */
  readonly bytes: number
  readonly ok: boolean
  readonly problems: readonly Problem[]
  /** Remarks that are no faults, such as a hint that lags. */
  readonly notes: readonly string[]
  /** Stored objects that the chain does not reach: what a stopped process left behind. Harmless. */
  readonly orphans: number
}

export interface StoreReport {
  readonly ok: boolean
  readonly datasets: readonly DatasetReport[]
  /** Problems outside any one dataset. */
  readonly problems: readonly Problem[]
  /** Orphans of all datasets. */
  readonly orphans: number
}

/** Called while a check runs: before a dataset's first block and after each block. */
export interface FsckProgress {
  readonly id: DatasetId
  readonly alias?: string
  /** Place of the dataset among all, from 0, and their number. */
  readonly dataset: number
  readonly datasets: number
  readonly blocksDone: number
  readonly blocks: number
}

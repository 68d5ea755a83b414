// One dataset in the memory of a builder: the fold's state, the end of its chain, and the plans that wait between.

import type { HaltReason } from '../model/errors.ts'
import type { DatasetId } from '../model/events.ts'
import { type Cause, noCause } from './cause.ts'
import type { ChainTip } from './chain-tip.ts'
import { type BlockPlan, type DatasetState, firstNeeded } from './dataset-state.ts'

/** Why a dataset stopped, and its first message that is not committed. */
export interface DatasetHalt {
  readonly reason: HaltReason
  readonly what: string
  readonly position: number
  /** The message at fault, where one is: an operator may reject it. */
  readonly message?: number
}

export interface Slot {
  readonly id: DatasetId
  /** Absent while there is no chain. */
  state: DatasetState | undefined
  /** The end of the committed chain; plans in `queue` come on top. */
  tip: ChainTip
  /** `account/dataset` as written; undefined until looked up, or when no name leads here. */
  alias: string | undefined
  /** Of the rows that are in no plan yet. */
  cause: Cause
  /** Plans not committed yet, the one under way first. */
  readonly queue: BlockPlan[]
  committing: boolean
  /** Another builder has committed other bytes: messages wait until the chain has been read again. */
  isStale: boolean
  /** First message to fold again, from the loss of a race until that is done. */
  holdFrom: number | undefined
  halt: DatasetHalt | undefined
  /** Head and announcement of what the chain had when it was loaded have been written again. */
  retold: boolean
  /** For dropping the least recent: higher is later. */
  lastUsed: number
}

export function newSlot(id: DatasetId, tip: ChainTip): Slot {
  return {
    id,
    state: undefined,
    tip,
    alias: undefined,
    cause: noCause,
    queue: [],
    committing: false,
    isStale: false,
    holdFrom: undefined,
    halt: undefined,
    retold: false,
    lastUsed: 0,
  }
}

/** First message of the dataset that is not committed or must stay readable; undefined when there is none. */
export function firstUncommitted(slot: Slot): number | undefined {
  let first = slot.holdFrom
  const lower = (position: number | undefined): void => {
    if (position !== undefined && (first === undefined || position < first)) first = position
  }
  lower(slot.queue[0]?.firstChange)
  if (slot.state !== undefined) lower(firstNeeded(slot.state))
  return first
}

/** A part of a large batch is at most this long (protocol of the log). */
const longestPartBytes = 512 * 1024

/** Bytes of rows that have been read from the log and are in no block yet; parts of open batches count as full ones. */
export function openBytes({ state, queue }: Slot): number {
  let bytes = state?.open?.payloadBytes ?? 0
  for (const plan of queue) if (plan.kind === 'data') bytes += plan.payloadBytes
  if (state === undefined) return bytes
  for (const { positions } of state.attempts.values()) bytes += positions.length * longestPartBytes
  return bytes
}

/** Rows of whole batches that have been read from the log and are in no block yet. */
export function openRows({ state, queue }: Slot): number {
  let rows = state?.open?.rows ?? 0
  for (const plan of queue) if (plan.kind === 'data') rows += plan.rows
  return rows
}

/** True when the slot holds nothing that its chain does not hold. */
export function isClean(slot: Slot): boolean {
  const { halt, state, queue, committing } = slot
  return (
    halt === undefined &&
    !committing &&
    queue.length === 0 &&
    firstUncommitted(slot) === undefined &&
    state?.open === undefined
  )
}

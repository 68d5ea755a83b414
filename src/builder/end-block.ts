// The end of a block: what was open becomes a plan, and the state moves on to the next block.

import { assert } from '../lib/assert.ts'
import type { DataPlan, DatasetState } from './dataset-state.ts'
import { endIdGroup } from './id-memory.ts'

/** SetDataSchema, AddPushSource, AddData where the schema changed; else AddData alone. */
const blocksWithSchema = 3

/** Ends the open block at `timeMs` (never below the last block's time) with `next` as the position read up to. */
export function endBlock(state: DatasetState, end: { readonly timeMs: number; readonly next: number }): DataPlan {
  const { open, firstChange } = state
  assert(open !== undefined && firstChange !== undefined, 'a block that ends is open')
  const timeMs = Math.max(end.timeMs, state.timeMs)
  const sequence = state.nextSequence
  const number = state.nextCheckpoint
  state.nextSequence += open.schemaChanged ? blocksWithSchema : 1
  if (open.rows > 0) state.moved = state.nextSequence - 1
  state.nextCheckpoint++
  state.timeMs = timeMs
  state.next = end.next
  state.open = undefined
  state.firstChange = undefined
  state.lastChange = undefined
  return {
    kind: 'data',
    dataset: state.id,
    sequence,
    timeMs,
    firstChange,
    next: end.next,
    vocabulary: state.vocabulary,
    schema: state.schema,
    schemaChanged: open.schemaChanged,
    firstOffset: state.nextOffset - open.rows,
    rows: open.rows,
    sources: open.sources,
    payloadBytes: open.payloadBytes,
    checkpoint: {
      number,
      moved: state.moved,
      outcomes: open.outcomes,
      attempts: [...state.attempts.values()],
      writers: Array.from(state.writers, ([writer, n]) => ({ writer, n })),
      ids: endIdGroup(state.ids, number, timeMs),
    },
  }
}

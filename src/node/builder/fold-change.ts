// The fold of changes of a dataset, deletions among them (docs/decisions/datasets.md): a message that ends the open
// block and then makes a block of its own, whatever the pace, so that the change stands between the rows before it and
// those after it.

import { defined } from '../../libraries/base/collections.ts'
import type { BatchStatus } from '../../libraries/odf/chain/checkpoint.ts'
import type { ErrorKind } from '../../libraries/base/error-table.ts'
import { type AnyChange, type DataPlan, type DatasetState, descriptionEvents } from './dataset-state.ts'
import { deletedText, endBlock, type FoldResult, hasMoved, hear, isHeardFirst, openBlock } from './fold.ts'

export type Rejected = Extract<BatchStatus, { kind: 'rejected' }>

export const nameTaken: Rejected = {
  kind: 'rejected',
  error: 'DatasetExists',
  message: 'Another dataset has the name.',
}

/** Takes a change; `refusal` is why it is none, whatever the chain says. */
export function foldChange(
  state: DatasetState,
  { position, header, refusal }: { position: number; header: AnyChange; refusal: Rejected | undefined },
): FoldResult {
  if (!isHeardFirst(state, header)) return { effect: 'dropped' }
  const rejection = refusal ?? refusalOf(state, header)
  const plan = endOpenBlock(state)
  hear(state, header, position)
  const status = rejection ?? ({ kind: 'changed' } as const)
  const open = openBlock(state)
  open.outcomes.push({ id: header.id, position, index: 0, status })
  open.bodies.push(null)
  const atMs = Date.parse(header.at)
  // From the time of the block on: a message that a clock set back has dated is not older than what came before it.
  if (rejection === undefined && header.kind === 'delete')
    state.deletedUntilMs = Math.max(atMs, state.timeMs) + header.graceMs
  if (rejection === undefined && header.kind === 'restore') state.deletedUntilMs = undefined
  const events = rejection === undefined && header.kind === 'change' ? descriptionEvents(header) : []
  const changePlan = endBlock(state, { timeMs: atMs, next: position + 1 }, events)
  return {
    effect: 'changed',
    ...defined({ plan }),
    changePlan: rejection === undefined ? { ...changePlan, change: header } : changePlan,
  }
}

/** Ends what was read before the change, as a count would. */
function endOpenBlock(state: DatasetState): DataPlan | undefined {
  const { open, lastChange } = state
  if (open === undefined || lastChange === undefined) return undefined
  return endBlock(state, { timeMs: open.latestAtMs, next: lastChange + 1 })
}

function refusalOf(state: DatasetState, header: AnyChange): Rejected | undefined {
  const { deletedUntilMs } = state
  if (header.kind === 'restore') {
    if (deletedUntilMs === undefined) return rejected('DatasetExists', 'The dataset is not deleted.')
    return Date.parse(header.at) < deletedUntilMs
      ? undefined
      : rejected('DatasetDeleted', 'The time to restore it is over.')
  }
  if (deletedUntilMs !== undefined) return rejected('DatasetDeleted', deletedText)
  if (header.kind !== 'delete' || header.after === undefined || !hasMoved(state, header.after, 0)) return undefined
  return rejected('HeadMoved', 'The dataset has moved on since the block that the request names.')
}

function rejected(error: ErrorKind, message: string): Rejected {
  return { kind: 'rejected', error, message }
}

// What became of a batch, as its receipt is asked for it: now or years later, while its log may have been given up, or set
// back under its own name. Only a block makes it committed; what no block has and none will take is lost.

import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { GivenUp } from '../catalog/left-logs.ts'
import type { BatchPlace, DecidedOutcome, Outcomes } from '../catalog/outcomes.ts'
import type { ChainBlock } from '../catalog/packed-blocks.ts'
import { fixedLimits } from '../../libraries/base/limits.ts'
import { instantMs } from '../../libraries/model/instant.ts'
import type { ReceiptNote } from './receipt-id.ts'

const dayMs = 24 * 60 * 60 * 1000

export type Fate =
  /** Logged; no block has come to it. */
  | { readonly kind: 'open' }
  | { readonly kind: 'decided'; readonly decided: DecidedOutcome }
  /** As of this block the dataset has its records from others. */
  | { readonly kind: 'there'; readonly block: ChainBlock }
  /** No block took it, and none will. */
  | { readonly kind: 'lost'; readonly givenUp?: GivenUp }

/** Where a batch lies. */
export function placeOf({ batchId, position, index, log }: ReceiptNote): BatchPlace & Pick<ReceiptNote, 'index'> {
  return { id: batchId, position, index, log }
}

/** The chain was read beyond the batch. */
export function isPassed(chain: DatasetChain, { log, position }: BatchPlace): boolean {
  return chain.nextIn(log ?? chain.name.log) > position
}

/** Throws HaltError `ChainBroken`, DecodeError where a record of a log is damaged. */
export async function fateOf(outcomes: Outcomes, chain: DatasetChain, note: ReceiptNote): Promise<Fate> {
  if (note.rows === 0) return { kind: 'open' }
  const place = placeOf(note)
  const decision = await outcomes.at(chain, place)
  if (decision !== undefined && decision !== 'void') return { kind: 'decided', decided: decision }
  const known = await committedElsewhere(outcomes, chain, note)
  if (known !== undefined) return { kind: 'decided', decided: known }
  const left = await outcomes.leftBehind(chain, note)
  const isRead = decision === 'void' || left.kind === 'read'
  if (note.key === undefined && note.producer === undefined && isRead) {
    const copy = await outcomes.copyOf(chain, place, note.acceptedMs)
    if (copy !== undefined) return { kind: 'decided', decided: copy }
  }
  if (left.kind === 'lost') return left
  if (note.producer !== undefined) return fateOfRange(outcomes, chain, { note, isRead })
  if (!isRead) return { kind: 'open' }
  // A key may be forgotten; that another batch stands in its place says that this is not the log that it was in.
  if (note.key === undefined || (await outcomes.passedIn(chain, place))?.isOther === true) return { kind: 'lost' }
  return { kind: 'open' }
}

/** A range whose numbers the chain has from others calls for no block of its own, and has no outcome. */
async function fateOfRange(
  outcomes: Outcomes,
  chain: DatasetChain,
  { note, isRead }: { readonly note: ReceiptNote; readonly isRead: boolean },
): Promise<Fate> {
  const { identity, epoch, last } = note.producer ?? { identity: '', epoch: 0, last: 0 }
  const { mark, block } = await outcomes.producer(chain, identity)
  if (mark?.epoch === epoch && mark.last >= last) return { kind: 'there', block: block ?? chain.head }
  if (!isRead) return { kind: 'open' }
  if (mark !== undefined && mark.epoch > epoch) return { kind: 'there', block: chain.head }
  const isForgotten = instantMs(chain.head.systemTime) - note.acceptedMs >= fixedLimits.producerDays.value * dayMs
  return { kind: mark === undefined && isForgotten ? 'open' : 'lost' }
}

/**
 * Where an earlier copy of a keyed batch was committed. A copy calls for no block: in a quiet dataset no block may ever
 * come to its own position.
 */
export async function committedElsewhere(
  outcomes: Outcomes,
  chain: DatasetChain,
  note: ReceiptNote,
): Promise<DecidedOutcome | undefined> {
  if (note.key === undefined) return undefined
  const known = await outcomes.known(chain, note.batchId)
  return known?.bodyHash === note.bodyHash ? known.decided : undefined
}

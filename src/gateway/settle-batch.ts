// The answer to a batch that has its place: waits for its block as long as the caller wants, then tells what is known.

import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { DecidedOutcome, Outcomes } from '../catalog/outcomes.ts'
import type { CsvHeader } from '../formats/format.ts'
import { NodeError } from '../model/errors.ts'
import type { DatasetId } from '../model/events.ts'
import type { Receipt } from '../model/receipt.ts'
import type { BlockPace } from './block-pace.ts'
import type { Waiting } from './controls.ts'
import type { KeyedBatches, Placed } from './keyed.ts'
import type { ReceiptNote } from './receipt-id.ts'
import type { Receipts } from './receipts.ts'
import { keyReused, rejection } from './refusals.ts'
import type { Decision, Waiters } from './waiters.ts'

const defaultWaitSeconds = 10

export interface SettleDeps {
  readonly outcomes: Outcomes
  readonly waiters: Waiters
  readonly receipts: Receipts
  readonly keyed: KeyedBatches
}

export interface BatchToSettle extends Placed {
  readonly chain: DatasetChain
  readonly replayed: boolean
  readonly csvHeader: CsvHeader | undefined
  readonly waitSeconds: number
}

export interface Settled {
  readonly receipt: Receipt
  /** The batch repeats an earlier one. */
  readonly replayed: boolean
}

/** Seconds to wait: by default for a block that is due, not for one that is paced. */
export function waitSeconds(waiting: Waiting, dataset: DatasetId, pace: BlockPace): number {
  if (waiting.kind === 'wait') return waiting.seconds
  if (waiting.kind === 'async') return 0
  return pace.isDueSoon(dataset) ? defaultWaitSeconds : 0
}

/** Value of Preference-Applied: what was done about the caller's preference. */
export function preferenceApplied(waiting: Waiting, { receipt }: Settled): string | undefined {
  if (waiting.kind === 'wait') return `wait=${waiting.seconds}`
  return waiting.kind === 'async' && receipt.status === 'accepted' ? 'respond-async' : undefined
}

/** Throws what a rejection in the log means: NodeErrors `SchemaConflict`, `HeadMoved`, `IdempotencyKeyReused`. */
export async function settleBatch(deps: SettleDeps, batch: BatchToSettle): Promise<Settled> {
  const { note, chain, csvHeader } = batch
  // Nobody waits, and nothing is known before: then there is nothing to ask.
  const isFresh = batch.waitSeconds === 0 && !batch.replayed
  const decision = batch.decided ?? (isFresh ? undefined : await decisionOn(deps, batch))
  const decided = decision === 'void' ? await firstOf(deps, chain, note) : decision
  if (decided?.outcome.status.kind === 'rejected') {
    deps.keyed.forget(note.batchId)
    throw rejection(decided.outcome.status, chain)
  }
  return {
    receipt: deps.receipts.of(note, chain.name, decided, { csvHeader }),
    replayed: batch.replayed || decision === 'void' || (decided !== undefined && isElsewhere(decided, note)),
  }
}

function isElsewhere({ outcome }: DecidedOutcome, note: ReceiptNote): boolean {
  return outcome.position !== note.position
}

async function decisionOn(deps: SettleDeps, batch: BatchToSettle): Promise<Decision | undefined> {
  const { note, chain } = batch
  if (note.rows === 0) return undefined
  const place = { id: note.batchId, position: note.position }
  if (batch.waitSeconds > 0) {
    return (await deps.waiters.wait(chain, place, batch.waitSeconds * 1000)) ?? committedElsewhere(deps, chain, note)
  }
  return deps.outcomes.at(chain, place)
}

/** What is known of a batch now; undefined while it is only logged. */
export async function decisionNow(
  deps: Pick<SettleDeps, 'outcomes'>,
  chain: DatasetChain,
  note: ReceiptNote,
): Promise<DecidedOutcome | undefined> {
  const decision = await deps.outcomes.at(chain, { id: note.batchId, position: note.position })
  return decision === undefined || decision === 'void' ? committedElsewhere(deps, chain, note) : decision
}

/**
 * Where an earlier copy of a keyed batch was committed. A copy calls for no block: in a quiet dataset no block may ever
 * come to its own position.
 */
async function committedElsewhere(
  deps: Pick<SettleDeps, 'outcomes'>,
  chain: DatasetChain,
  note: ReceiptNote,
): Promise<DecidedOutcome | undefined> {
  if (note.key === undefined) return undefined
  const known = await deps.outcomes.known(chain, note.batchId)
  return known?.bodyHash === note.bodyHash ? known.decided : undefined
}

/** A batch that the fold passed over: an earlier one of the same key holds its place. */
async function firstOf(deps: SettleDeps, chain: DatasetChain, note: ReceiptNote): Promise<DecidedOutcome> {
  const known = await deps.outcomes.known(chain, note.batchId)
  if (known === undefined) {
    throw new NodeError('OutcomeUnknown', 'The log holds this batch, but no block took it.', {
      hint: 'Send it again with an Idempotency-Key.',
    })
  }
  if (known.bodyHash !== note.bodyHash) throw keyReused(note.key ?? '')
  return known.decided
}

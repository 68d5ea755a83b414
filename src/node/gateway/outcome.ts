// How a batch that has its place in the log becomes an answer: how long its caller waits for the block, what the chain
// then says of it, and the receipt or the refusal that follows.

import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { BatchPlace, DecidedOutcome, Outcomes } from '../catalog/outcomes.ts'
import type { CsvHeader } from '../../libraries/formats/format.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { Announcements } from '../log/announcements.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import type { IngestControls, Waiting } from './controls.ts'
import { committedElsewhere, type Fate, isPassed, placeOf } from './fate.ts'
import type { KeyedBatches, Placed } from './place-batch.ts'
import type { ReceiptNote } from './receipt-id.ts'
import type { Receipt, Receipts } from './receipts.ts'
import { keyReused, rejection } from './refusals.ts'

const defaultWaitMs = 10_000
/** A block due within this time is waited for by default. */
const worthWaitingMs = 1000
/** Nor are the blocks of more datasets than this waited for by default: a builder ends 100 a second. */
const waitedForMost = 100
/** So long after a block is due it is late, and waited for only while blocks of so few datasets are: as many are committed at once. */
const lateMs = 500
const waitedForLate = 8
/** For so long after a late block nobody waits by default. */
const behindMs = 1_000
/** Datasets remembered; the pace of a forgotten one is "at once". */
const maxDatasets = 10_000
/** A commit that was not announced here is found in the store; a caller that waits for a late block stops. */
const lookMs = 500

export interface OutcomeDeps {
  readonly outcomes: Outcomes
  readonly waiters: Waiters
  readonly receipts: Receipts
  readonly keyed: KeyedBatches
}

export interface PlacedBatch extends Placed {
  readonly chain: DatasetChain
  readonly replayed: boolean
  readonly csvHeader: CsvHeader | undefined
  readonly patience: Patience
}

/** How long a caller waits: never longer than `mostMs`, and longer than `patientMs` only while few others wait. */
export interface Patience {
  readonly mostMs: number
  readonly patientMs: number
}

export interface BatchAnswer {
  readonly receipt: Receipt
  /** The batch repeats an earlier one. */
  readonly replayed: boolean
}

/** What the chain says of a batch: its outcome, or `void` where the fold passed it over for an earlier one of its key. */
export type Decision = DecidedOutcome | 'void'

/** Of the callers that wait until then, however many. */
export function patientFor(ms: number): Patience {
  return { mostMs: ms, patientMs: ms }
}

/** By default a block is waited for that is due: not one that is paced, or late, or that many others come before. */
export function patienceOf(
  waiting: Waiting,
  dataset: DatasetId,
  { pace, waiters }: { readonly pace: BlockPace; readonly waiters: Pick<Waiters, 'datasets' | 'isBehind'> },
): Patience {
  if (waiting.kind === 'wait') return patientFor(waiting.seconds * 1000)
  const dueInMs = pace.dueInMs(dataset)
  const isWorthIt =
    waiting.kind === 'default' && dueInMs <= worthWaitingMs && waiters.datasets < waitedForMost && !waiters.isBehind
  return isWorthIt ? { mostMs: defaultWaitMs, patientMs: dueInMs + lateMs } : patientFor(0)
}

/** Value of Preference-Applied: what was done about the caller's preference. */
export function preferenceApplied(
  { waiting, isMinimal }: Pick<IngestControls, 'waiting' | 'isMinimal'>,
  { receipt }: BatchAnswer,
): string | undefined {
  const applied = isMinimal ? ['return=minimal'] : []
  if (waiting.kind === 'wait') applied.unshift(`wait=${waiting.seconds}`)
  else if (waiting.kind === 'async' && receipt.status === 'accepted') applied.unshift('respond-async')
  return applied.length === 0 ? undefined : applied.join(', ')
}

/** Throws what a rejection in the log means: NodeErrors `SchemaConflict`, `HeadMoved`, `IdempotencyKeyReused`. */
export async function answerOf(deps: OutcomeDeps, batch: PlacedBatch): Promise<BatchAnswer> {
  const { note, chain, csvHeader } = batch
  const decision = batch.decided ?? (await decisionOn(deps, batch))
  const decided = decision === 'void' ? await firstOf(deps, chain, note) : decision
  if (decided?.outcome.status.kind === 'rejected') {
    deps.keyed.forget(note.batchId)
    throw rejection(decided.outcome.status, chain)
  }
  const isElsewhere = note.key !== undefined && decided !== undefined && decided.outcome.position !== note.position
  return {
    receipt: deps.receipts.of(note, chain.name, fateOfDecided(decided), { csvHeader }),
    replayed: batch.replayed || decision === 'void' || isElsewhere,
  }
}

async function decisionOn(deps: OutcomeDeps, batch: PlacedBatch): Promise<Decision | undefined> {
  const { note, chain } = batch
  // Nobody waits, and nothing is known before: then there is nothing to ask.
  if (note.rows === 0 || (batch.patience.mostMs === 0 && !batch.replayed)) return undefined
  if (batch.patience.mostMs === 0) return deps.outcomes.at(chain, placeOf(note))
  return (
    (await deps.waiters.wait(chain, placeOf(note), batch.patience)) ?? committedElsewhere(deps.outcomes, chain, note)
  )
}

/** What a wait for a block has ended with. */
export function fateOfDecided(decided: DecidedOutcome | undefined): Fate {
  return decided === undefined ? { kind: 'open' } : { kind: 'decided', decided }
}

/** The outcome of the batch whose key a later one repeated, or that stands in the log twice. */
async function firstOf(deps: OutcomeDeps, chain: DatasetChain, note: ReceiptNote): Promise<DecidedOutcome> {
  const copy = note.key === undefined && (await deps.outcomes.copyOf(chain, placeOf(note), note.acceptedMs))
  if (copy) return copy
  const known = await deps.outcomes.known(chain, note.batchId)
  if (known === undefined) {
    throw new NodeError('OutcomeUnknown', 'The log holds this batch, but no block took it.', {
      hint: 'Send it again with an Idempotency-Key.',
    })
  }
  if (known.bodyHash !== note.bodyHash) throw keyReused(note.key ?? '')
  return known.decided
}

/** Whether waiting for a block is worth it: the earliest next cut of each dataset, as announcements tell it. */
export class BlockPace {
  readonly #clock: Clock
  readonly #earliestMs = new Map<DatasetId, number>()
  readonly close: () => void

  constructor({ announcements, clock }: { announcements: Announcements; clock: Clock }) {
    this.#clock = clock
    this.close = announcements.subscribe(({ dataset, earliestNextCutInMs }) => {
      this.#earliestMs.delete(dataset)
      this.#earliestMs.set(dataset, clock.monotonicMs() + earliestNextCutInMs)
      const oldest = this.#earliestMs.keys().next().value
      if (this.#earliestMs.size > maxDatasets && oldest !== undefined) this.#earliestMs.delete(oldest)
    })
  }

  /** How long it takes at least until the next block of the dataset, in milliseconds. */
  dueInMs(dataset: DatasetId): number {
    return Math.max(0, (this.#earliestMs.get(dataset) ?? 0) - this.#clock.monotonicMs())
  }
}

interface Waiter {
  readonly batch: BatchPlace
  readonly resolve: (decision: Decision | undefined) => void
}

interface WaitersDeps {
  readonly catalog: Catalog
  readonly outcomes: Outcomes
  readonly clock: Clock
  readonly logger: Logger
}

/** Callers that wait for a block. They are answered after the catalog holds the block that consumed their position. */
export class Waiters {
  readonly #deps: WaitersDeps
  readonly #waiting = new Map<DatasetId, Set<Waiter>>()
  readonly #unsubscribe: () => void
  /** When somebody last stopped waiting for a late block, by the monotonic clock. */
  #lateAtMs = Number.NEGATIVE_INFINITY

  constructor(deps: WaitersDeps) {
    this.#deps = deps
    this.#unsubscribe = deps.catalog.onAdvance(({ chain }) => this.#notify(chain))
  }

  /** Datasets for whose blocks callers wait. */
  get datasets(): number {
    return this.#waiting.size
  }

  /** Blocks have been late within the last second. */
  get isBehind(): boolean {
    return this.#deps.clock.monotonicMs() - this.#lateAtMs < behindMs
  }

  /** Callers that wait. */
  get count(): number {
    let count = 0
    for (const waiters of this.#waiting.values()) count += waiters.size
    return count
  }

  /** Ends every wait without a decision. */
  close(): void {
    this.#unsubscribe()
    for (const waiters of this.#waiting.values()) for (const waiter of waiters) waiter.resolve(undefined)
    this.#waiting.clear()
  }

  /** The decision on a batch in the log, or undefined when the caller's patience ends first. */
  async wait(chain: DatasetChain, batch: Waiter['batch'], patience: Patience): Promise<Decision | undefined> {
    const { id } = chain.name
    const ended = new AbortController()
    let waiter: Waiter | undefined
    try {
      return await new Promise<Decision | undefined>((resolve) => {
        waiter = { batch, resolve }
        this.#waiting.set(id, (this.#waiting.get(id) ?? new Set<Waiter>()).add(waiter))
        void this.#watch(chain, patience, ended.signal).then(() => resolve(undefined))
        // The block may be there already.
        if (isPassed(chain, batch)) this.#notify(chain)
      })
    } finally {
      ended.abort('answered')
      const waiters = this.#waiting.get(id)
      if (waiter !== undefined) waiters?.delete(waiter)
      if (waiters?.size === 0) this.#waiting.delete(id)
    }
  }

  /**
   * Resolves when the patience ends. Until then it asks for the chain again and again, which probes the store where others
   * may commit unheard.
   */
  async #watch({ name }: DatasetChain, { mostMs, patientMs }: Patience, ended: AbortSignal): Promise<void> {
    const { catalog, clock } = this.#deps
    const beganMs = clock.monotonicMs()
    for (let overMs = 0; overMs < mostMs; overMs = clock.monotonicMs() - beganMs) {
      if (overMs >= patientMs && (this.datasets > waitedForLate || this.isBehind)) {
        this.#lateAtMs = clock.monotonicMs()
        return
      }
      const untilMs = overMs < patientMs ? Math.min(patientMs, mostMs) : mostMs
      await clock.sleep(Math.min(lookMs, untilMs - overMs), ended)
      if (ended.aborted) return
      void catalog.chainOf(name).catch(() => undefined)
    }
  }

  /** Answers those whose position the chain has consumed; where outcomes cannot be read, they wait in vain. */
  #notify(chain: DatasetChain): void {
    this.#answer(chain).catch((cause: unknown) => {
      const { logger } = this.#deps
      logger.error({ dataset: chain.name.alias, cause: String(cause) }, 'Outcomes of a block could not be read')
    })
  }

  async #answer(chain: DatasetChain): Promise<void> {
    for (const { batch, resolve } of this.#waiting.get(chain.name.id) ?? []) {
      if (isPassed(chain, batch)) resolve(await this.#deps.outcomes.at(chain, batch))
    }
  }
}

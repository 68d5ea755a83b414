// Commits plans: one dataset's in order, several datasets at a time. Faults of the store are waited out; a block that
// cannot be built halts its dataset; a chain that another builder has continued differently is read again.

import { assert } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { Announcements } from '../log/announcements.ts'
import { HaltError } from '../model/errors.ts'
import { headOfCommit, type PlacedCommit, writeHead } from '../store/heads.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { type BuildDeps, type BuiltCommit, buildCommit } from './build-block.ts'
import { type BuildNotes, noted } from './build-notes.ts'
import type { BuildTurns } from './build-turns.ts'
import type { Cause } from './cause.ts'
import { storeCommit } from './commit.ts'
import type { ChainTip } from './chain-tip.ts'
import { type BlockPlan, planBytes } from './dataset-state.ts'
import { isFault } from './fault.ts'
import type { NameIndex } from './name-index.ts'
import { type DatasetHalt, firstUncommitted, type Slot } from './slot.ts'

/** Commits under way at the same time; more would only queue in the store. */
const parallelCommits = 8
/** Reading the log pauses while more plans wait than this, and they take more memory than that: never for few large ones. */
const waitingPlans = 64
const waitingBytes = 64 * 1024 * 1024
const firstRetryMs = 100
const longestRetryMs = 5_000

export interface CommitterDeps {
  readonly store: ObjectStore
  readonly announcements: Announcements
  readonly clock: Clock
  readonly logger: Logger
  readonly names: NameIndex
  readonly build: BuildDeps
  /** Shared by all committers of the process. */
  readonly turns: BuildTurns
  readonly notes?: BuildNotes | undefined
  readonly signal: AbortSignal
  /** The message at fault when a plan cannot be built on top of `tip`. Throws what log and store throw. */
  readonly culpritOf: (plan: BlockPlan, tip: ChainTip) => Promise<number>
  readonly metrics?: Metrics | undefined
  readonly earliestNextCutInMs: (dataset: string) => number
  readonly onHalt: (slot: Slot, halt: DatasetHalt) => void
  /** The slot's chain has blocks that are not ours: it is stale, its plans are gone. */
  readonly onStale: (slot: Slot) => void
}

export class Committer {
  readonly #deps: CommitterDeps
  readonly #causes = new WeakMap<BlockPlan, Cause>()
  #waiting = 0
  #waitingBytes = 0
  #running = 0
  /** Those that wait for a commit to end. */
  #waiters: (() => void)[] = []
  /** Creations commit one after the other, in log order: the first of a name wins. */
  #lastCreation: Promise<void> = Promise.resolve()
  lostRaces = 0

  constructor(deps: CommitterDeps) {
    this.#deps = deps
  }

  /** Plans not committed yet. */
  get waiting(): number {
    return this.#waiting
  }

  /**
   * Takes a plan; resolves at once unless too many wait. One dataset's backlog waits here, so that the blocks of others
   * behind it in the log come to their turn.
   */
  async enqueue(slot: Slot, plan: BlockPlan, cause: Cause): Promise<void> {
    if (slot.halt !== undefined || slot.isStale) return
    this.#causes.set(plan, cause)
    slot.queue.push(plan)
    this.#count(plan, 1)
    if (!slot.committing) void this.#work(slot)
    const isFull = (): boolean => this.#waiting > waitingPlans && this.#waitingBytes > waitingBytes
    while (isFull() && !this.#deps.signal.aborted) await this.#change()
  }

  /** Writes head and announcement of a commit that is there already, in case its committer did not come to it. */
  async tell(slot: Slot, commit: PlacedCommit): Promise<void> {
    const { store, names, announcements } = this.#deps
    const head = await writeHead(store, slot.id, headOfCommit(commit))
    slot.alias ??= await names.aliasOf(slot.id)
    if (slot.alias === undefined) return
    await announcements.announce({
      version: 1,
      dataset: slot.id,
      alias: slot.alias,
      sequence: commit.sequence,
      blocks: commit.record.blocks,
      head: head.hash,
      headSequence: head.sequence,
      log: commit.record.log,
      partition: commit.record.partition,
      next: commit.record.next,
      earliestNextCutInMs: this.#deps.earliestNextCutInMs(slot.id),
    })
  }

  /** Gives up the plans of a slot. */
  drop(slot: Slot): void {
    for (const plan of slot.queue.splice(0)) this.#count(plan, -1)
    this.#changed()
  }

  /**
   * Gives up what the slot holds from message `position` on; its chain is read again. Until then the log keeps all that
   * the slot needs, parts of open batches too.
   */
  giveUp(slot: Slot, position: number): void {
    slot.isStale = true
    slot.holdFrom = Math.min(position, firstUncommitted(slot) ?? position)
    this.drop(slot)
    this.#deps.onStale(slot)
  }

  /** Resolves when no commit is under way and no plan can be worked on. */
  async settled(): Promise<void> {
    while (this.#running > 0 || (this.#waiting > 0 && !this.#deps.signal.aborted)) await this.#change()
  }

  #count(plan: BlockPlan, sign: 1 | -1): void {
    this.#waiting += sign
    this.#waitingBytes += sign * planBytes(plan)
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve))
  }

  #changed(): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve()
  }

  async #work(slot: Slot): Promise<void> {
    slot.committing = true
    while (!this.#deps.signal.aborted && slot.halt === undefined && !slot.isStale) {
      const plan = slot.queue[0]
      if (plan === undefined) break
      await this.#inTurn(plan, () => this.#commit(slot, plan))
      if (slot.queue[0] === plan && !this.#deps.signal.aborted) {
        slot.queue.shift()
        this.#count(plan, -1)
      }
      this.#changed()
    }
    slot.committing = false
    this.#changed()
  }

  /** Runs `work` as one of few; a creation also waits for the creation before it, a large block for the large one. */
  async #inTurn(plan: BlockPlan, work: () => Promise<void>): Promise<void> {
    if (plan.kind === 'data') return this.#deps.turns.run(plan.payloadBytes, () => this.#asOneOfFew(work))
    const turn = this.#lastCreation.then(() => this.#asOneOfFew(work))
    this.#lastCreation = turn
    return turn
  }

  async #asOneOfFew(work: () => Promise<void>): Promise<void> {
    while (this.#running >= parallelCommits) await this.#change()
    this.#running++
    try {
      await work()
    } finally {
      this.#running--
      this.#changed()
    }
  }

  /** Ends when the plan is committed, or the slot is halted or stale, or the builder stops. Never throws. */
  async #commit(slot: Slot, plan: BlockPlan): Promise<void> {
    let built: BuiltCommit | undefined
    let faults = 0
    let halt: HaltError | undefined
    let retryMs = firstRetryMs
    while (!this.#deps.signal.aborted) {
      try {
        if (halt !== undefined) return this.#halt(slot, plan, halt, await this.#deps.culpritOf(plan, slot.tip))
        built ??= await this.#build(plan, slot.tip)
        return await this.#store(slot, plan, built)
      } catch (error) {
        if (this.#deps.signal.aborted) return
        // Messages that are gone may have been committed by another builder: the chain tells.
        if (error instanceof HaltError && error.reason === 'LogTruncated') return this.giveUp(slot, plan.firstChange)
        if (halt !== undefined && (error instanceof HaltError || isFault(error))) return this.#halt(slot, plan, halt)
        if (error instanceof HaltError && !blamesMessage(error)) return this.#halt(slot, plan, error)
        if (error instanceof HaltError) halt = error
        else if (isFault(error) && ++faults === 2) {
          halt = new HaltError('PoisonBlock', `block ${plan.sequence} cannot be built: ${String(error)}`, error)
        }
        if (halt !== undefined) continue
        this.#deps.logger.warn(
          { err: error, dataset: slot.id, sequence: plan.sequence },
          'a commit failed and is tried again',
        )
        await this.#deps.clock.sleep(retryMs, this.#deps.signal)
        retryMs = Math.min(2 * retryMs, longestRetryMs)
      }
    }
  }

  #build(plan: BlockPlan, tip: ChainTip): Promise<BuiltCommit> {
    const { build, notes } = this.#deps
    if (plan.kind === 'creation') return buildCommit(plan, tip, build)
    return noted(notes, plan, () => buildCommit(plan, tip, build))
  }

  async #store(slot: Slot, plan: BlockPlan, built: BuiltCommit): Promise<void> {
    const { store, names, logger } = this.#deps
    const outcome = await storeCommit(store, { id: slot.id, sequence: plan.sequence }, built)
    if (outcome === 'lost') {
      this.lostRaces++
      logger.warn(
        { dataset: slot.id, sequence: plan.sequence },
        'another builder committed other blocks; its chain stands',
      )
      return this.giveUp(slot, plan.firstChange)
    }
    assert(built.tip.chain.length === plan.sequence + built.blocks.length, 'blocks follow the chain')
    if (outcome === 'refused') {
      logger.warn({ dataset: slot.id }, 'a creation lost its name to an earlier one; its chain stays unreachable')
    } else if (built.name !== undefined) {
      names.add(slot.id, built.name.alias)
    }
    await this.tell(slot, { sequence: plan.sequence, record: built.record })
    slot.tip = built.tip
    if (outcome !== 'refused') this.#tellCause(slot, plan, built)
  }

  /** Measures the way from the log to the block, and ends the traces that led to it. */
  #tellCause(slot: Slot, plan: BlockPlan, { blocks }: BuiltCommit): void {
    const { clock, logger, metrics } = this.#deps
    const { acceptedMs, traceparents = [] } = this.#causes.get(plan) ?? {}
    if (acceptedMs !== undefined) {
      metrics?.loggedToCommittedSeconds.observe(Math.max(0, clock.nowMs() - acceptedMs) / 1000)
    }
    if (traceparents.length === 0) return
    const { sequence } = plan
    logger.info(
      { dataset: slot.alias ?? slot.id, sequence, block: blocks.at(-1)?.hash, traceparents },
      'a traced block',
    )
  }

  #halt(slot: Slot, plan: BlockPlan, error: HaltError, message?: number): void {
    this.drop(slot)
    const position = plan.firstChange
    if (message === undefined) return this.#deps.onHalt(slot, { reason: error.reason, what: error.what, position })
    const what = `${error.what} (because of message ${message})`
    this.#deps.onHalt(slot, { reason: error.reason, what, position, message })
  }
}

/** True for halts that one message of the block has brought about. */
function blamesMessage({ reason }: HaltError): boolean {
  return reason === 'ChainBroken' || reason === 'PoisonBlock'
}

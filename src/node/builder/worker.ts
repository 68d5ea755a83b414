// One dataset in the memory of a builder, in named phases. Messages are folded; what ends a block becomes a plan.
//   loading ──► following ◄──► committing          following: no plan waits; committing: plans wait, folding goes on
//                   │  ▲            │  ▲
//                   ▼  │            ▼  │           stale: the chain is not what this builder thought, messages wait;
//   halted ──►    stale ──►    rebasing            rebasing: chain and log are read again; any phase may end in halted

import { assert } from '../../libraries/base/assert.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { CreateHeader } from '../log/messages.gen.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { type PlacedCommit, readHead } from '../store/heads.ts'
import { putName } from '../store/names.ts'
import { rejectionOf, type Rejects } from '../store/records.ts'
import { type Committer, noTrace, type PlanOwner, type TraceContext, withMessage } from './committer.ts'
import { type BlockPlan, type DatasetState, firstNeeded, leastOf, nameRecordOf, stateBytes } from './dataset-state.ts'
import { nameTaken } from './fold-change.ts'
import { foldCreation, foldCut, type FoldResult, isFull } from './fold.ts'
import type { Governor } from './governor.ts'
import { type ChainTip, emptyTip, type LoadedDataset } from './load-dataset.ts'
import { type DatasetHalt, type Phase, transitions } from './phases.ts'
import { isFault } from './poison.ts'
import { type ChainSource, openChain } from './resume.ts'
import { type DatasetMessage, foldMessage, type KeptRows } from './rows.ts'

/** A part of a large batch is at most this long (docs/spec/protocol.md §1). */
const longestPartBytes = 512 * 1024
const emptySlotBytes = 1024

/** What the workers of one run over a partition share. */
export interface Run extends ChainSource {
  readonly clock: Clock
  readonly logger: Logger
  readonly governor: Governor
  readonly committer: Committer
  readonly kept: KeptRows
  /** Something calls for a cut earlier than before. */
  readonly onDue: () => void
  /** The worker has gone stale: it has to be rebased. */
  readonly onStale: (worker: DatasetWorker) => void
  /** Position of the next message to take. */
  position: number
  /** What operators have rejected, as far as this run knows. */
  rejects: Rejects
}

/** A message of a dataset: its own, or its creation. */
export type WorkerMessage =
  | DatasetMessage
  | { readonly position: number; readonly header: CreateHeader; readonly payload: Uint8Array }

export class DatasetWorker implements PlanOwner {
  readonly id: DatasetId
  readonly #run: Run
  #phase: Phase = { name: 'loading' }
  /** Absent while there is no chain. */
  #state: DatasetState | undefined
  /** The end of the committed chain; plans in the queue come on top. */
  #tip: ChainTip = emptyTip
  /** The commit that ended the chain when it was read: announced again when a message is met that it has taken. */
  #unannounced: PlacedCommit | undefined
  /** The same, whether it is announced or not; undefined once this builder has committed. */
  #lastRead: PlacedCommit | undefined
  /** Of the rows that are in no plan yet. */
  #trace: TraceContext = noTrace
  /** Plans not committed yet, the one in flight first. */
  readonly #queue: BlockPlan[] = []
  inFlight: Promise<void> | undefined
  /** For dropping the least recently used: higher is later. */
  lastUsed = 0

  constructor(id: DatasetId, run: Run) {
    this.id = id
    this.#run = run
  }

  get phase(): Phase['name'] {
    return this.#phase.name
  }

  get halted(): DatasetHalt | undefined {
    return this.#phase.name === 'halted' ? this.#phase.halt : undefined
  }

  get state(): DatasetState | undefined {
    return this.#state
  }

  get tip(): ChainTip {
    return this.#tip
  }

  get nextPlan(): BlockPlan | undefined {
    return this.#queue[0]
  }

  /** First message of the dataset that is not committed or must stay readable; undefined when there is none. */
  get firstUncommitted(): number | undefined {
    return leastOf([
      'replayFrom' in this.#phase ? this.#phase.replayFrom : undefined,
      this.nextPlan?.firstChange,
      this.#state === undefined ? undefined : firstNeeded(this.#state),
    ])
  }

  /** Bytes of rows that have been read from the log and are in no block yet; parts of open batches count as full ones. */
  get openBytes(): number {
    let bytes = this.#state?.open?.payloadBytes ?? 0
    for (const plan of this.#queue) if (plan.kind === 'data') bytes += plan.payloadBytes
    for (const { positions } of this.#state?.attempts.values() ?? []) bytes += positions.length * longestPartBytes
    return bytes
  }

  /** Rows of whole batches that have been read from the log and are in no block yet. */
  get openRows(): number {
    let rows = this.#state?.open?.rows ?? 0
    for (const plan of this.#queue) if (plan.kind === 'data') rows += plan.rows
    return rows
  }

  /** Memory that the worker takes, roughly, in bytes. */
  get memoryBytes(): number {
    return this.#state === undefined ? emptySlotBytes : stateBytes(this.#state)
  }

  /** True when the worker holds nothing that its chain does not hold. */
  get isIdle(): boolean {
    const isQuiet = this.#phase.name === 'following' && this.inFlight === undefined
    return isQuiet && this.firstUncommitted === undefined && this.#state?.open === undefined
  }

  /** Takes the chain as it is being read, or reads it. Throws what log and store throw. */
  async load(reading?: Promise<LoadedDataset | undefined>): Promise<void> {
    if (await this.#readChain(reading)) this.#enter({ name: 'following' })
  }

  /** Takes a message. Throws what log and store throw; what is wrong with the dataset halts it. */
  async take(message: WorkerMessage): Promise<void> {
    const { position, header, payload } = message
    await this.#guard(position, () =>
      header.kind === 'create' ? this.#takeCreation(position, header) : this.#takeOwn({ position, header, payload }),
    )
  }

  /** Takes an entry of a cut. Throws as `take`. */
  async takeCut(cut: { readonly position: number; readonly sequence: number; readonly timeMs: number }): Promise<void> {
    await this.#guard(cut.position, async () => {
      const state = await this.#knownState(cut.position)
      if (state === undefined) return
      if (cut.position < state.next) await this.#announceAgain()
      else await this.#after(foldCut(state, cut))
    })
  }

  committed(tip: ChainTip): void {
    const plan = this.#queue.shift()
    assert(plan !== undefined, 'a plan was committed')
    this.#run.committer.forget([plan])
    this.#tip = tip
    this.#lastRead = undefined
    if (this.#phase.name === 'committing' && this.#queue.length === 0) this.#enter({ name: 'following' })
  }

  lose(position: number): void {
    this.#enter({ name: 'stale', replayFrom: Math.min(position, this.firstUncommitted ?? position) })
    this.#run.onStale(this)
  }

  halt(error: HaltError, position: number, message?: number): void {
    const { reason, what } = error
    const first = Math.min(position, this.firstUncommitted ?? position)
    const halt = { reason, what, position: first, ...(message === undefined ? {} : { message }) }
    this.#enter({ name: 'halted', halt })
    this.#run.governor.forget(this.id)
    this.#run.logger.error({ dataset: this.id, reason, position: first, message }, error.message)
  }

  /** Ends a halt that an operator has ended: the chain has to be read again. */
  release(): void {
    const { halted } = this
    assert(halted !== undefined, 'what is released was halted')
    this.#enter({ name: 'stale', replayFrom: halted.position })
    this.#run.onStale(this)
  }

  /**
   * Reads a stale dataset's chain again and folds what the log has for it from there up to where the run is; `replay`
   * hands its messages to `take` and `takeCut`. Throws what log and store throw: then the dataset is as stale as before.
   */
  async rebase(replay: (from: number) => Promise<void>): Promise<void> {
    const { floors, governor } = this.#run
    if (this.#phase.name !== 'stale') return
    const { replayFrom } = this.#phase
    assert(this.inFlight === undefined, 'no commit is in flight when a dataset is rebased')
    this.#enter({ name: 'rebasing', replayFrom })
    governor.forget(this.id)
    try {
      // Read before the chain: what lies below this floor is in the chain.
      let floor = await floors.refresh()
      let isRead = await this.#readChain()
      while (isRead && floors.position > floor.position) {
        floor = await floors.refresh()
        isRead = await this.#readChain()
      }
      if (!isRead) return
      const isListed = floor.halted.some(({ dataset }) => dataset === this.id)
      const next = this.#state?.next ?? this.#run.position
      // The last message that the chain has may be a change that its committer did not finish.
      await replay(isListed ? next : Math.max(next - 1, floor.position))
      // Meanwhile a plan may have lost a race, or a message have halted the dataset.
      if (this.phase === 'rebasing') this.#enter({ name: this.#queue.length > 0 ? 'committing' : 'following' })
    } catch (error) {
      if (this.phase === 'rebasing') this.#enter({ name: 'stale', replayFrom })
      throw error
    }
  }

  #enter(next: Phase): void {
    const before = this.#phase.name
    assert(transitions[before].includes(next.name), `a dataset does not go from ${before} to ${next.name}`)
    this.#phase = next
    if (next.name === 'stale' || next.name === 'halted') {
      this.#run.committer.forget(this.#queue.splice(0))
      this.#run.kept.forget(this.id)
    }
    const isQueued = this.#queue.length > 0
    assert(next.name === 'rebasing' || isQueued === (next.name === 'committing'), 'plans wait only to be committed')
  }

  get #takesMessages(): boolean {
    const { phase } = this
    return phase === 'following' || phase === 'committing' || phase === 'rebasing'
  }

  /** Keeps a fault of one dataset from the others. */
  async #guard(position: number, work: () => Promise<void>): Promise<void> {
    if (!this.#takesMessages) return
    try {
      await work()
    } catch (fault) {
      const error =
        fault instanceof DecodeError
          ? new HaltError('ChainBroken', `dataset ${this.id}: ${fault.message}`, fault)
          : fault
      if (!(error instanceof HaltError)) throw error
      // A plan may have lost a race meanwhile: then the message is folded again.
      if (!this.#takesMessages) return
      if (error.reason !== 'LogTruncated') this.halt(error, position)
      else if (this.phase === 'rebasing') throw error
      // Messages that are gone may have been committed by another builder: the chain tells.
      else this.lose(position)
    }
  }

  async #takeOwn(message: DatasetMessage): Promise<void> {
    const { position, header } = message
    const state = await this.#knownState(position)
    if (state === undefined) return
    const { names, log, partition } = this.#run
    const isChange = header.kind === 'change' || header.kind === 'delete' || header.kind === 'restore'
    if (position < state.next) {
      // Nobody goes on from a change before the store says it: only that of the last commit can be unfinished.
      if (isChange) await names.finish(this.#tip.chain, header, { position, record: this.#lastRead?.record })
      return this.#announceAgain()
    }
    const isNaming = header.kind === 'restore' || (header.kind === 'change' && state.deletedUntilMs === undefined)
    const asked = isNaming ? header.alias : undefined
    const isTaken = asked !== undefined && (await names.isTaken(asked, this.id, { log: log.id, partition, position }))
    let result: FoldResult
    try {
      result = await foldMessage(this.#run, state, message, isTaken ? nameTaken : undefined)
    } catch (error) {
      if (!isFault(error)) throw error
      if (!this.#takesMessages) return
      // Once more from the chain: the memory may have been short.
      if (this.phase !== 'rebasing') return this.lose(position)
      const what = `message ${position} cannot be taken: ${String(error)}`
      return this.halt(new HaltError('PoisonBlock', what, error), position, position)
    }
    await this.#after(result, { position, header })
  }

  async #takeCreation(position: number, header: CreateHeader): Promise<void> {
    const { store, log, partition, logger, names, rejects } = this.#run
    const { dataset: id, alias, freshnessMs } = header
    if (this.#state !== undefined) {
      if (position >= this.#state.next) return
      // The chain has this creation: its committer may have stopped before it came to the name.
      await putName(store, nameRecordOf(header, { log: log.id, partition }))
      this.#run.governor.setFreshness(id, freshnessMs)
      return this.#announceAgain()
    }
    const rejection = rejectionOf(rejects, id, [position])
    if (rejection !== undefined) return logger.warn({ dataset: id, position }, rejection)
    if (await this.#isAbsent(position)) return
    const created = (await names.isTaken(alias, id, { log: log.id, partition, position }))
      ? 'taken'
      : foldCreation(header, position)
    if (created === undefined || created === 'taken') {
      if (await this.#isUnread(position)) return
      const why = created === 'taken' ? 'its name belongs to another dataset' : 'its schema cannot be stored'
      return logger.warn({ dataset: id, position }, `a creation is dropped: ${why}`)
    }
    this.#state = created.state
    this.#run.governor.setFreshness(id, freshnessMs)
    await this.#enqueue(created.plan, withMessage(noTrace, header))
  }

  async #after(
    { plan, changePlan, effect, waits = 'nobody' }: FoldResult,
    message?: Pick<DatasetMessage, 'position' | 'header'>,
  ): Promise<void> {
    const { clock, governor, onDue } = this.#run
    if (effect !== 'changed' || !this.#takesMessages) return
    const nowMs = clock.monotonicMs()
    if (plan !== undefined) governor.ended(this.id, nowMs)
    const open = this.#state?.open
    if (open !== undefined) {
      const isDueEarlier = governor.opened(this.id, nowMs, waits)
      if (isFull(open)) governor.hurry(this.id, nowMs)
      if (isDueEarlier || isFull(open)) onDue()
    }
    // A message that ends a block by its size is in that block or in the next one.
    const isInPlan = plan !== undefined && message !== undefined && plan.next > message.position
    const ended = isInPlan ? withMessage(this.#trace, message.header) : this.#trace
    if (plan !== undefined) this.#trace = noTrace
    if (message !== undefined && !isInPlan) this.#trace = withMessage(this.#trace, message.header)
    if (plan !== undefined) await this.#enqueue(plan, ended)
    if (changePlan === undefined || !this.#takesMessages) return
    const set = changePlan.change?.kind === 'change' ? changePlan.change : undefined
    if (set?.freshnessMs !== undefined) governor.setFreshness(this.id, set.freshnessMs || undefined)
    const trace = this.#trace
    this.#trace = noTrace
    await this.#enqueue(changePlan, trace)
  }

  async #enqueue(plan: BlockPlan, trace: TraceContext): Promise<void> {
    this.#queue.push(plan)
    if (this.phase === 'following') this.#enter({ name: 'committing' })
    await this.#run.committer.enqueue(this, plan, trace)
  }

  /** A chain that has what is being skipped: its committer may have stopped before it said so. */
  async #announceAgain(): Promise<void> {
    const commit = this.#unannounced
    this.#unannounced = undefined
    if (commit !== undefined) await this.#run.committer.announce(this.id, commit)
  }

  /** Begins anew with what the chain says. False when it cannot be gone on with, which halts the dataset. */
  async #readChain(reading = openChain(this.#run, this.id)): Promise<boolean> {
    this.#state = undefined
    this.#tip = emptyTip
    this.#trace = noTrace
    try {
      const loaded = await reading
      this.#state = loaded?.state
      this.#tip = loaded?.tip ?? emptyTip
      this.#unannounced = loaded?.commit
      this.#lastRead = loaded?.commit
      if (loaded !== undefined)
        this.#run.governor.setFreshness(this.id, (await this.#run.names.reread(this.id))?.freshnessMs)
      return true
    } catch (error) {
      if (!(error instanceof HaltError)) throw error
      this.halt(error, this.#run.position)
      return false
    }
  }

  /** True for a deleted dataset without a chain. One that came while this process slept is read: it may be restored later. */
  async #isAbsent(position: number): Promise<boolean> {
    const absence = await this.#run.names.absenceOf(this.id)
    if (absence === 'unread' && this.phase === 'following') this.lose(position)
    return absence !== undefined
  }

  /** True for a chain that came while this process slept: it is read. Its name may be another dataset's since. */
  async #isUnread(position: number): Promise<boolean> {
    if ((await readHead(this.#run.store, this.id)) === undefined) return false
    if (this.#takesMessages) this.lose(position)
    return true
  }

  /** Undefined as `#isAbsent` and `#isUnread` say. */
  async #knownState(position: number): Promise<DatasetState | undefined> {
    if (this.#state !== undefined || (await this.#isAbsent(position)) || (await this.#isUnread(position)))
      return this.#state
    throw new HaltError('ChainRegressed', `dataset ${this.id} has messages in the log, but no chain in the store`)
  }
}

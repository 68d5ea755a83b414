// Commits plans (docs/spec/protocol.md §4): one dataset's in order, several datasets at a time. Faults of the store are
// retried; a block that cannot be built halts its dataset; a dataset whose chain another builder has continued with other
// bytes loses its plans, and its chain is read again.

import { assert } from '../../libraries/base/assert.ts'
import { Bound } from '../../libraries/base/bound.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { Announcements } from '../log/announcements.ts'
import type { CommitAnnouncement, MessageHeader } from '../log/messages.gen.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import type { Metrics } from '../machine/ops/metrics.ts'
import { headOfCommit, type PlacedCommit, writeHead } from '../store/heads.ts'
import { blockKey, checkpointKey, dataKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { putName } from '../store/names.ts'
import { putCommit, readCommit } from '../store/records.ts'
import { buildCommit, type BuildDeps, type BuiltCommit } from './build-block.ts'
import type { CommitWatch } from './commit-watch.ts'
import { type BlockPlan, buildBytes, planBytes } from './dataset-state.ts'
import type { ChainTip } from './load-dataset.ts'
import type { NameIndex } from './name-index.ts'
import type { Packer } from './packer.ts'
import { type BuildNotes, isFault, noted } from './poison.ts'

/** Commits in flight at the same time; more would only queue in the store. */
const parallelCommits = 8
/** Back-pressure on reading the log: more plans than this wait, and they take more memory than that. */
const waitingPlans = 64
const waitingBytes = 64 * 1024 * 1024
const firstRetryMs = 100
const longestRetryMs = 5_000
/** Blocks of at most so many bytes are built beside large ones. */
const smallBlockBytes = 4 * 1024 * 1024
const tracesMost = 64

/** Whose plans are committed: a dataset's worker. */
export interface PlanOwner {
  readonly id: DatasetId
  /** The end of the committed chain. */
  readonly tip: ChainTip
  /** The plan to commit next; it is no longer that one once the owner has dropped its plans. */
  readonly nextPlan: BlockPlan | undefined
  /** Resolves when no plan of the owner is being committed; absent when that is so. */
  inFlight: Promise<void> | undefined
  /** `nextPlan` is in the chain, which now ends with `tip`. */
  committed(tip: ChainTip): void
  /** The chain has to be read again for all messages from `position` on. */
  lose(position: number): void
  /** `message` is the one at fault, where there is one. */
  halt(error: HaltError, position: number, message?: number): void
}

/** Where the rows of a block came from, for log lines and metrics: never part of state, plan or block. */
export interface TraceContext {
  /** Accept time of the first message, milliseconds since 1970 UTC; undefined while there is none. */
  readonly acceptedMs: number | undefined
  /** `traceparent` of the messages that have one, each once; at most 64. */
  readonly traceparents: readonly string[]
}

export const noTrace: TraceContext = { acceptedMs: undefined, traceparents: [] }

/** `trace` and one message more. Of a large batch the last part counts: before it nothing is logged. */
export function withMessage(trace: TraceContext, header: MessageHeader): TraceContext {
  if (header.kind === 'abort' || header.kind === 'cut') return trace
  if (header.kind === 'rows' && header.part !== undefined && header.part.number !== header.part.count) return trace
  const { at, traceparent } = header
  const { acceptedMs = Date.parse(at), traceparents } = trace
  const isNew = traceparent !== undefined && traceparents.length < tracesMost && !traceparents.includes(traceparent)
  return { acceptedMs, traceparents: isNew ? [...traceparents, traceparent] : traceparents }
}

/**
 * Large blocks of a process are built one after the other, because each takes several times its bytes of memory; small
 * ones go past them, as many at once as have room.
 */
export class BuildTurns {
  readonly #large = new Bound(1)
  readonly #small: Bound

  /** `smallBytesMost`: of small blocks at once. */
  constructor(smallBytesMost: number) {
    this.#small = new Bound(smallBytesMost)
  }

  /** Runs `build` of a block of so many bytes (see `buildBytes`). */
  run<T>(bytes: number, build: () => Promise<T>): Promise<T> {
    return bytes <= smallBlockBytes ? this.#small.run(bytes, build) : this.#large.run(1, build)
  }
}

export interface CommitterDeps {
  readonly store: ObjectStore
  readonly announcements: Announcements
  readonly clock: Clock
  readonly logger: Logger
  readonly names: NameIndex
  readonly build: BuildDeps
  /** Shared by all committers of the process. */
  readonly turns: BuildTurns
  readonly packer: Packer
  /** Where large blocks are noted while they are built; without it nobody learns of builds that end the process. */
  readonly notes?: BuildNotes | undefined
  readonly signal: AbortSignal
  /** The message at fault when a plan cannot be built on top of `tip`. Throws what log and store throw. */
  readonly culpritOf: (plan: BlockPlan, tip: ChainTip) => Promise<number>
  readonly metrics?: Metrics | undefined
  /** Told of commits that fail and are tried again, and of those that succeed. */
  readonly watch?: CommitWatch | undefined
  readonly earliestNextCutInMs: (dataset: string) => number
}

export class Committer {
  readonly #deps: CommitterDeps
  readonly #traces = new WeakMap<BlockPlan, TraceContext>()
  #waiting = 0
  #waitingBytes = 0
  #running = 0
  /** Those that wait for a commit to end. */
  #waiters: (() => void)[] = []
  /** Creations of one name, in lower case, commit one after the other in log order: the first wins. */
  readonly #creations = new Map<string, Promise<void>>()
  lostRaces = 0

  constructor(deps: CommitterDeps) {
    this.#deps = deps
  }

  /** Plans not committed yet. */
  get waiting(): number {
    return this.#waiting
  }

  /**
   * Takes a plan that its owner has queued; resolves at once unless too many wait. One dataset's backlog waits here, so
   * that the blocks of others behind it in the log come to their turn.
   */
  async enqueue(owner: PlanOwner, plan: BlockPlan, trace: TraceContext): Promise<void> {
    this.#traces.set(plan, trace)
    this.#count(plan, 1)
    owner.inFlight ??= this.#work(owner)
    const isFull = (): boolean => this.#waiting > waitingPlans && this.#waitingBytes > waitingBytes
    while (isFull() && !this.#deps.signal.aborted) await this.#change()
  }

  /** Plans that their owner has dropped, or that are committed. */
  forget(plans: readonly BlockPlan[]): void {
    for (const plan of plans) this.#count(plan, -1)
    this.#changed()
  }

  /**
   * Writes head and announcement of a commit, maybe once more: its committer may have stopped before; and of the last one
   * that has followed it by then. Resolves with the dataset's alias; without one nothing is announced. `bytes` are those of
   * its blocks, where they are at hand.
   */
  async announce(id: DatasetId, commit: PlacedCommit, bytes?: readonly Uint8Array[]): Promise<string | undefined> {
    const { store, names, announcements } = this.#deps
    const alias = await names.aliasOf(id)
    await writeHead(store, id, headOfCommit(commit), async (head) => {
      const { sequence, record } = head.commit ?? commit
      if (alias === undefined) return
      const { blocks, log, partition, next } = record
      const message: CommitAnnouncement = {
        version: 1,
        dataset: id,
        alias,
        sequence,
        blocks,
        head: head.hash,
        headSequence: head.sequence,
        log,
        partition,
        next,
        earliestNextCutInMs: this.#deps.earliestNextCutInMs(id),
      }
      await announcements.announce(message, sequence === commit.sequence ? bytes : undefined)
    })
    return alias
  }

  /** Resolves when no commit is in flight and no plan can be worked on. */
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

  async #work(owner: PlanOwner): Promise<void> {
    for (let plan = owner.nextPlan; plan !== undefined && !this.#deps.signal.aborted; plan = owner.nextPlan) {
      const next = plan
      await this.#inTurn(next, () => this.#commit(owner, next))
    }
    owner.inFlight = undefined
    this.#changed()
  }

  /** Runs `work` as one of few; a creation also waits for that of its name before it, a large block for the large one. */
  async #inTurn(plan: BlockPlan, work: () => Promise<void>): Promise<void> {
    if (plan.kind === 'data') return this.#deps.turns.run(buildBytes(plan), () => this.#asOneOfFew(work))
    const name = foldAscii(plan.header.alias)
    const turn = (this.#creations.get(name) ?? Promise.resolve()).then(() => this.#asOneOfFew(work))
    this.#creations.set(name, turn)
    await turn
    if (this.#creations.get(name) === turn) this.#creations.delete(name)
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

  /** Ends when the plan is committed, its owner has dropped it, or the builder stops. Never throws. */
  async #commit(owner: PlanOwner, plan: BlockPlan): Promise<void> {
    const { signal, clock, logger } = this.#deps
    const { sequence, firstChange } = plan
    let built: BuiltCommit | undefined
    let faults = 0
    let halt: HaltError | undefined
    let retryMs = firstRetryMs
    while (!signal.aborted && owner.nextPlan === plan) {
      try {
        if (halt !== undefined) return this.#halt(owner, plan, halt, await this.#deps.culpritOf(plan, owner.tip))
        built ??= await this.#build(plan, owner.tip)
        return await this.#store(owner, plan, built)
      } catch (error) {
        if (signal.aborted || owner.nextPlan !== plan) return
        // Messages that are gone may have been committed by another builder: the chain tells.
        if (error instanceof HaltError && error.reason === 'LogTruncated') return owner.lose(firstChange)
        if (halt !== undefined && (error instanceof HaltError || isFault(error))) return this.#halt(owner, plan, halt)
        if (error instanceof HaltError && !blamesMessage(error)) return this.#halt(owner, plan, error)
        if (error instanceof HaltError) halt = error
        else if (isFault(error) && ++faults === 2) {
          halt = new HaltError('PoisonBlock', `block ${sequence} cannot be built: ${String(error)}`, error)
        }
        if (halt !== undefined) continue
        this.#deps.watch?.failed(error)
        logger.warn({ err: error, dataset: owner.id, sequence }, 'a commit failed and is tried again')
        await clock.sleep(retryMs, signal)
        retryMs = Math.min(2 * retryMs, longestRetryMs)
      }
    }
  }

  #build(plan: BlockPlan, tip: ChainTip): Promise<BuiltCommit> {
    const { build, notes } = this.#deps
    if (plan.kind === 'creation') return buildCommit(plan, tip, build)
    return noted(notes, plan, () => buildCommit(plan, tip, build))
  }

  async #store(owner: PlanOwner, plan: BlockPlan, built: BuiltCommit): Promise<void> {
    const { store, names, logger } = this.#deps
    const { id } = owner
    const { sequence } = plan
    const change = plan.kind === 'data' ? plan.change : undefined
    const last = built.tip.chain.length - 1
    // Where the chain is longer by now there is nothing to claim a name for.
    const isLate = change !== undefined && (await readCommit(store, id, sequence)) !== undefined
    // A name that another took meanwhile: the message is judged again.
    if (change !== undefined && !isLate && !(await names.claim(id, change, last))) {
      if (owner.nextPlan === plan) owner.lose(plan.firstChange)
      return
    }
    const outcome = await storeCommit(store, { id, sequence }, built)
    this.#deps.watch?.succeeded()
    if (outcome === 'lost') {
      if (change !== undefined) await names.release(id, change, await readCommit(store, id, sequence), last)
      this.lostRaces++
      logger.warn({ dataset: id, sequence }, 'another builder committed other blocks; its chain stands')
      if (owner.nextPlan === plan) owner.lose(plan.firstChange)
      return
    }
    assert(built.tip.chain.length === sequence + built.blocks.length, 'blocks follow the chain')
    if (outcome === 'refused') {
      logger.warn({ dataset: id }, 'a creation lost its name to an earlier one; its chain stays unreachable')
    } else if (built.name !== undefined) {
      names.add(built.name)
    }
    if (change !== undefined)
      await names.change(id, change, { sequence: last, record: built.record, timeMs: plan.timeMs })
    const bytes = built.blocks.map((block) => block.bytes)
    const alias = await this.announce(id, { sequence, record: built.record }, bytes)
    this.#deps.packer.committed(id, sequence, built.blocks.length)
    if (outcome !== 'refused') this.#observe(alias ?? id, plan, built)
    if (owner.nextPlan === plan) owner.committed(built.tip)
  }

  /** Measures the way from the log to the block, and ends the traces that led to it. */
  #observe(dataset: string, plan: BlockPlan, { blocks }: BuiltCommit): void {
    const { clock, logger, metrics } = this.#deps
    const { acceptedMs, traceparents } = this.#traces.get(plan) ?? noTrace
    if (acceptedMs !== undefined) {
      metrics?.loggedToCommittedSeconds.observe(Math.max(0, clock.nowMs() - acceptedMs) / 1000)
    }
    if (traceparents.length === 0) return
    logger.info({ dataset, sequence: plan.sequence, block: blocks.at(-1)?.hash, traceparents }, 'a traced block')
  }

  #halt(owner: PlanOwner, plan: BlockPlan, error: HaltError, message?: number): void {
    if (owner.nextPlan !== plan) return
    if (message === undefined) return owner.halt(error, plan.firstChange)
    const what = `${error.what} (because of message ${message})`
    owner.halt(new HaltError(error.reason, what, error), plan.firstChange, message)
  }
}

/** True for halts that one message of the block has brought about. */
function blamesMessage({ reason }: HaltError): boolean {
  return reason === 'ChainBroken' || reason === 'PoisonBlock'
}

/**
 * Puts a built commit: slice, checkpoint and blocks, then the commit record, which decides. `committed`: the chain has
 * these blocks, put by us or by another with the same bytes. `lost`: it has others. `refused`: committed, but the name
 * belongs to another dataset, so nobody will find it. Durable when it resolves. Throws what the store throws; may be
 * repeated.
 */
async function storeCommit(
  store: ObjectStore,
  at: { readonly id: DatasetId; readonly sequence: number },
  built: BuiltCommit,
): Promise<'committed' | 'lost' | 'refused'> {
  const { slice, checkpoint, blocks, record, name } = built
  // None of them is part of the chain before the commit: in whatever order they come, what is left of some is an orphan.
  await Promise.all([
    slice === undefined ? undefined : store.put(dataKey(at.id, slice.hash), slice.chunks),
    checkpoint === undefined ? undefined : store.put(checkpointKey(at.id, checkpoint.hash), checkpoint.bytes),
    ...blocks.map(({ hash, bytes }) => store.put(blockKey(at.id, hash), bytes)),
  ])
  // mutant: deleted when the commit is unclear
  const claim = await putCommit(store, at, record)
  // mutant: a lost race is taken for won
  if (claim.outcome === 'lost') return 'lost'
  if (name === undefined) return 'committed'
  const named = await putName(store, name)
  return named.outcome === 'won' || named.inForce.id === at.id ? 'committed' : 'refused'
}

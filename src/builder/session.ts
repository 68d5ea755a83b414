// One run over a partition from its floor on: takes messages in order, folds them into their datasets, hands plans to
// the committer. A session that meets a fault of the log or the store is thrown away; the next one starts at the floor.

import type { FloorRecord } from '../chain/records.ts'
import { type Clock, nextTurn } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { EventLog, LogEntry } from '../log/event-log.ts'
import type { CreateHeader, CutHeader, RowsHeader } from '../log/messages.gen.ts'
import type { DecodedMessage } from '../log/messages.ts'
import { DecodeError, HaltError } from '../model/errors.ts'
import type { DatasetId } from '../model/events.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { newestFloor, putName, rejectionOf, type Rejects } from '../store/records.ts'
import { adoptChain } from './adopt-chain.ts'
import { noCause, withMessage } from './cause.ts'
import { emptyTip } from './chain-tip.ts'
import type { Committer } from './committer.ts'
import { stateBytes } from './dataset-state.ts'
import { isFault } from './fault.ts'
import { type DatasetMessage, decodeEntry, foldMessage } from './fold-message.ts'
import { foldCreation, foldCut, type FoldResult } from './fold.ts'
import type { Governor } from './governor.ts'
import { loadDataset, type LoadedDataset } from './load-dataset.ts'
import type { NameIndex } from './name-index.ts'
import { ReadAhead } from './read-ahead.ts'
import { adoptionsOf, checkAnchor } from './resume.ts'
import { firstUncommitted, isClean, newSlot, type Slot } from './slot.ts'

/** Work on messages goes on at most this long before the event loop turns. */
const turnMs = 5
const memoryBytes = 256 * 1024 * 1024

export interface SessionDeps {
  readonly log: EventLog
  readonly store: ObjectStore
  readonly partition: number
  readonly names: NameIndex
  readonly clock: Clock
  readonly logger: Logger
  readonly governor: Governor
  readonly committer: Committer
  /** Something calls for a cut earlier than before. */
  readonly onDue: () => void
}

/** Which datasets' messages to take; all when undefined. */
type Filter = ((dataset: DatasetId) => boolean) | undefined

export class Session {
  readonly #deps: SessionDeps
  readonly #slots = new Map<DatasetId, Slot>()
  /** Everything below is committed, as the store says. */
  floor: number
  /** Position of the next message to take. */
  position: number
  /** The message that stopped the partition, because it cannot be read. */
  unreadable: number | undefined
  /** What operators have rejected, as far as this session knows. */
  rejects: Rejects
  foreignMessages = 0
  #uses = 0
  readonly #ahead = new ReadAhead({ read: (id) => this.#read(id), decode: (entry) => this.#decode(entry) })
  #isRebasing = false

  constructor(
    deps: SessionDeps,
    start: { readonly floor: number; readonly position: number; readonly rejects: Rejects },
  ) {
    this.#deps = deps
    this.rejects = start.rejects
    this.floor = start.floor
    this.position = start.position
  }

  get slots(): Iterable<Slot> {
    return this.#slots.values()
  }

  slot(id: DatasetId): Slot | undefined {
    return this.#slots.get(id)
  }

  /** Takes `entries` in order. Throws HaltError for what stops the partition; store and log errors as they are. */
  async takeAll(entries: readonly LogEntry[], filter: Filter): Promise<void> {
    const { clock } = this.#deps
    let turnAtMs = clock.monotonicMs() + turnMs
    const isNew = (id: DatasetId): boolean => !this.#slots.has(id) && filter?.(id) !== false
    for (const { position, message } of this.#ahead.messages(entries, isNew)) {
      if (position !== this.position) {
        throw new HaltError('LogDamaged', `message ${position} comes where ${this.position} should`)
      }
      await this.#take(position, message(), filter)
      this.position++
      if (clock.monotonicMs() >= turnAtMs) {
        await nextTurn()
        turnAtMs = clock.monotonicMs() + turnMs
      }
    }
  }

  /**
   * Reads a stale dataset's chain again and folds what the log has for it from there up to where the session is.
   * Throws what log and store throw: then the dataset is as stale as before.
   */
  async rebase(slot: Slot): Promise<void> {
    if (!slot.isStale || slot.halt !== undefined) return
    this.#deps.governor.forget(slot.id)
    slot.state = undefined
    slot.cause = noCause
    slot.tip = emptyTip
    slot.retold = false
    // Read before the chain: what lies below this floor is in the chain.
    let floor = await this.#freshFloor()
    await this.#fill(slot)
    while (this.floor > floor.position) {
      floor = await this.#freshFloor()
      slot.state = undefined
      await this.#fill(slot)
    }
    slot.isStale = false
    this.#isRebasing = true
    try {
      await this.#foldAgain(slot, floor.halted.some(({ dataset }) => dataset === slot.id) ? 0 : floor.position)
      if (!slot.isStale) slot.holdFrom = undefined
    } catch (error) {
      slot.isStale = true
      this.#deps.committer.drop(slot)
      throw error
    } finally {
      this.#isRebasing = false
    }
  }

  /** True when the floor has risen since it was last read: what `error` says is gone may be committed by now. */
  async isBehind(error: HaltError): Promise<boolean> {
    const before = this.floor
    await this.#freshFloor()
    return error.reason === 'LogTruncated' && this.floor > before
  }

  async #foldAgain(slot: Slot, floor: number): Promise<void> {
    const { log, partition } = this.#deps
    const from = Math.max(slot.state?.next ?? this.position, floor)
    if (from >= this.position || slot.halt !== undefined) return
    for await (const entries of log.read(partition, from, { follow: false })) {
      for (const entry of entries) {
        if (entry.position >= this.position) return
        await this.#take(entry.position, this.#decode(entry), (id) => id === slot.id)
      }
    }
  }

  /** Stops one dataset; the others go on. `message` is the one at fault, where one is. */
  halt(slot: Slot, error: HaltError, position: number, message?: number): void {
    const first = Math.min(position, firstUncommitted(slot) ?? position)
    this.#deps.committer.drop(slot)
    const { reason, what } = error
    slot.halt = { reason, what, position: first, ...(message === undefined ? {} : { message }) }
    slot.isStale = false
    slot.holdFrom = undefined
    this.#deps.governor.forget(slot.id)
    this.#deps.logger.error({ dataset: slot.id, reason: error.reason, position: first, message }, error.message)
  }

  /** Datasets whose halt an operator has ended: they are stale now, and their chains have to be read again. */
  release(): Slot[] {
    const released: Slot[] = []
    for (const slot of this.#slots.values()) {
      const { halt } = slot
      if (halt?.message === undefined || this.rejects.get(halt.message)?.dataset !== slot.id) continue
      slot.halt = undefined
      slot.isStale = true
      slot.holdFrom = halt.position
      released.push(slot)
    }
    return released
  }

  /** Halts a dataset that the floor lists as halted and whose messages are gone. */
  haltUnread(id: DatasetId, error: HaltError, position: number): void {
    const slot = newSlot(id, emptyTip)
    this.#slots.set(id, slot)
    this.halt(slot, error, position)
  }

  /** Everything below is committed, but for halted datasets. */
  committedTo(): number {
    let position = this.position
    for (const slot of this.#slots.values()) {
      // mutant: the floor before the block
      if (slot.halt === undefined) position = Math.min(position, firstUncommitted(slot) ?? position)
    }
    return position
  }

  /** Drops datasets that hold nothing of their own, least recent first, until memory is within its bound. */
  dropIdle(): void {
    const bytesOf = (slot: Slot): number => (slot.state === undefined ? 1024 : stateBytes(slot.state))
    let bytes = 0
    for (const slot of this.#slots.values()) bytes += bytesOf(slot)
    if (bytes <= memoryBytes) return
    for (const slot of [...this.#slots.values()].sort((a, b) => a.lastUsed - b.lastUsed)) {
      if (bytes <= memoryBytes) return
      if (!isClean(slot)) continue
      bytes -= bytesOf(slot)
      this.#slots.delete(slot.id)
    }
  }

  async #take(position: number, message: DecodedMessage, filter: Filter): Promise<void> {
    if (message.kind === 'foreign') {
      this.foreignMessages++
      return
    }
    const { header, payload } = message
    if (header.kind === 'cut') return this.#takeCut(header, position, filter)
    if (filter !== undefined && !filter(header.dataset)) return
    const slot = this.#slots.get(header.dataset) ?? (await this.#load(header.dataset))
    slot.lastUsed = ++this.#uses
    await this.#guard(slot, position, () =>
      header.kind === 'create'
        ? this.#takeCreation(slot, position, header)
        : this.#takeOwn(slot, { position, header, payload }),
    )
  }

  #decode(entry: LogEntry): DecodedMessage {
    try {
      return decodeEntry(this.rejects, entry)
    } catch (error) {
      if (!(error instanceof HaltError) || error.reason !== 'LogDamaged') throw error
      this.unreadable = entry.position
      throw new HaltError(error.reason, `${error.what} (message ${entry.position})`, error)
    }
  }

  async #takeCut(header: CutHeader, position: number, filter: Filter): Promise<void> {
    const timeMs = Date.parse(header.time)
    for (const { dataset, sequence } of header.entries) {
      if (filter !== undefined && !filter(dataset)) continue
      const slot = this.#slots.get(dataset) ?? (await this.#load(dataset))
      await this.#guard(slot, position, async () => {
        const { state } = slot
        if (state === undefined) throw lostChain(dataset)
        if (position < state.next) await this.#retell(slot)
        else await this.#after(slot, foldCut(state, { position, sequence, timeMs }))
      })
    }
  }

  /** Keeps a fault of one dataset from the others. */
  async #guard(slot: Slot, position: number, work: () => Promise<void>): Promise<void> {
    if (slot.halt !== undefined || slot.isStale) return
    try {
      await work()
    } catch (fault) {
      const error =
        fault instanceof DecodeError
          ? new HaltError('ChainBroken', `dataset ${slot.id}: ${fault.message}`, fault)
          : fault
      if (!(error instanceof HaltError)) throw error
      if (error.reason !== 'LogTruncated') this.halt(slot, error, position)
      else if (this.#isRebasing) throw error
      // Messages that are gone may have been committed by another builder: the chain tells.
      else this.#deps.committer.giveUp(slot, position)
    }
  }

  async #takeOwn(slot: Slot, message: DatasetMessage): Promise<void> {
    const { position, header } = message
    const { state } = slot
    if (state === undefined) throw lostChain(slot.id)
    if (position < state.next) return this.#retell(slot)
    const { log, partition } = this.#deps
    let result: FoldResult
    try {
      result = await foldMessage({ log, partition, rejects: this.rejects }, state, message)
    } catch (error) {
      if (!isFault(error)) throw error
      // Once more from the chain: the memory may have been short.
      if (!this.#isRebasing) return this.#deps.committer.giveUp(slot, position)
      const what = `message ${position} cannot be taken: ${String(error)}`
      return this.halt(slot, new HaltError('PoisonBlock', what, error), position, position)
    }
    await this.#after(slot, result, header.kind === 'rows' ? { position, header } : undefined)
  }

  async #takeCreation(slot: Slot, position: number, header: CreateHeader): Promise<void> {
    const { store, log, partition, committer, logger, names } = this.#deps
    const { state } = slot
    if (state !== undefined) {
      if (position >= state.next) return
      // The chain has this creation: its committer may have stopped before it came to the name.
      const { dataset: id, alias, visibility } = header
      await putName(store, { id, alias, log: log.id, partition, visibility })
      return this.#retell(slot)
    }
    const rejection = rejectionOf(this.rejects, slot.id, [position])
    if (rejection !== undefined) return logger.warn({ dataset: slot.id, position }, rejection)
    const created = (await names.isTaken(header.alias, slot.id)) ? 'taken' : foldCreation(header, position)
    if (created === undefined || created === 'taken') {
      const why = created === 'taken' ? 'its name belongs to another dataset' : 'its schema cannot be stored'
      logger.warn({ dataset: slot.id, position }, `a creation is dropped: ${why}`)
      return
    }
    slot.state = created.state
    slot.retold = true
    await committer.enqueue(slot, created.plan, withMessage(noCause, header))
  }

  async #after(
    slot: Slot,
    result: FoldResult,
    rows?: { readonly position: number; readonly header: RowsHeader },
  ): Promise<void> {
    const { clock, governor, committer, onDue } = this.#deps
    const { plan, effect, waits } = result
    if (effect !== 'changed') return
    const nowMs = clock.monotonicMs()
    if (plan !== undefined) governor.ended(slot.id, nowMs)
    if (slot.state?.open !== undefined && governor.opened(slot.id, nowMs, waits ?? false)) onDue()
    // A message that ends a block by its size is in that block or in the next one.
    const isInPlan = plan !== undefined && rows !== undefined && plan.next > rows.position
    if (isInPlan) slot.cause = withMessage(slot.cause, rows.header)
    const { cause } = slot
    if (plan !== undefined) slot.cause = noCause
    if (rows !== undefined && !isInPlan) slot.cause = withMessage(slot.cause, rows.header)
    if (plan !== undefined) await committer.enqueue(slot, plan, cause)
  }

  /** A chain that has what is being skipped: its committer may have stopped before it said so. */
  async #retell(slot: Slot): Promise<void> {
    if (slot.retold) return
    slot.retold = true
    const loaded = await loadDataset(this.#deps.store, slot.id)
    if (loaded !== undefined) await this.#deps.committer.tell(slot, loaded.commit)
  }

  async #load(id: DatasetId): Promise<Slot> {
    const slot = newSlot(id, emptyTip)
    await this.#fill(slot, this.#ahead.take(id))
    this.#slots.set(id, slot)
    return slot
  }

  /** Reads the chain into the slot; a chain that cannot be gone on with halts it. */
  async #fill(slot: Slot, reading = this.#read(slot.id)): Promise<void> {
    try {
      const loaded = await reading
      if (loaded === undefined) return
      slot.state = loaded.state
      slot.tip = loaded.tip
    } catch (error) {
      if (!(error instanceof HaltError)) throw error
      this.halt(slot, error, this.position)
    }
  }

  async #read(id: DatasetId): Promise<LoadedDataset | undefined> {
    const loaded = await loadDataset(this.#deps.store, id)
    return loaded === undefined ? undefined : this.#fitted(loaded)
  }

  /** The dataset as this log goes on with it. Throws HaltError `LogRegressed`, `LogReplaced` when it cannot. */
  async #fitted(loaded: LoadedDataset): Promise<LoadedDataset> {
    const { log, partition, store, names } = this.#deps
    const from = loaded.commit.record.log
    if (from !== log.id) {
      const alias = await names.aliasOf(loaded.state.id)
      return adoptChain(loaded, await adoptionsOf(store, from), { log: log.id, partition, alias })
    }
    await this.#checkAnchor(loaded)
    return loaded
  }

  /** Another builder may have raised the floor, and the log have let go of what lies below it. */
  async #checkAnchor(loaded: LoadedDataset): Promise<void> {
    const { log, partition } = this.#deps
    try {
      await checkAnchor(log, { partition, floor: this.floor }, loaded)
    } catch (error) {
      if (!(error instanceof HaltError) || error.reason !== 'LogRegressed') throw error
      await this.#freshFloor()
      await checkAnchor(log, { partition, floor: this.floor }, loaded)
    }
  }

  async #freshFloor(): Promise<Pick<FloorRecord, 'position' | 'halted'>> {
    const { store, log, partition } = this.#deps
    const newest = await newestFloor(store, log.id, partition)
    this.floor = Math.max(this.floor, newest?.position ?? 0)
    return newest ?? { position: 0, halted: [] }
  }
}

function lostChain(id: DatasetId): HaltError {
  return new HaltError('ChainRegressed', `dataset ${id} has messages in the log, but no chain in the store`)
}

// When to end a block (docs/spec/protocol.md §3): fresh when quiet, sparing when busy. Pure over monotonic time; the choice
// itself goes into the log as a cut, so nothing here touches what a block contains.

import { must } from '../../libraries/base/assert.ts'
import { Heap } from '../../libraries/base/collections.ts'

export interface CutOptions {
  /** Age of the first open row at which a block ends. */
  readonly openAgeMs: number
  /** The same, when a caller waits. */
  readonly waitAgeMs: number
  /** Blocks that a quiet dataset may make at once. */
  readonly burstBlocks: number
  /** After a burst: least time between blocks of one dataset that has no freshness of its own. */
  readonly intervalMs: number
  /** What the interval grows to while the burst has not refilled for hours. */
  readonly maxIntervalMs: number
  /** Of all datasets together. */
  readonly blocksPerSecond: number
}

/** A quiet dataset shows its rows within a second, and at once where a caller waits; a minute of that is 60 blocks. */
export const defaultCutOptions: CutOptions = {
  openAgeMs: 1_000,
  waitAgeMs: 100,
  burstBlocks: 60,
  intervalMs: 5_000,
  maxIntervalMs: 60_000,
  blocksPerSecond: 100,
}

/** A cut that has not been read back by then is asked for again. */
const repeatMs = 30_000
/** A cut that could not be written is asked for again by then. */
const retryMs = 1_000
const hourMs = 3_600_000
/** Blocks of one dataset for streams that begin lie so far apart, whatever its pace. */
const beginningsMs = 1_000
/** A dataset for which a caller waits goes before those that have been due for up to so much longer. */
const waitingAheadMs = 60_000
const urgency: Readonly<Record<Waits, number>> = { nobody: 0, caller: 1, stream: 2 }
/** Entries of the heaps that may be out of date in any case. */
const entriesLeast = 64
const idleBuckets = 10_000

/** What waits for a block: nothing, a caller, or a sender whose stream goes on only when the block is there. */
export type Waits = 'nobody' | 'caller' | 'stream'

interface Bucket {
  /** Blocks that may be made at once; refilled while quiet, one per interval. */
  tokens: number
  atMs: number
  fullAtMs: number
  /** When a block last ended. */
  endedMs: number
}

interface Open {
  readonly dataset: string
  /** When the block should end by its age. */
  byAgeMs: number
  waits: Waits
  /** When it is asked for again; undefined before it has been asked for. */
  repeatAtMs: number | undefined
  /** It is among the due ones, not among the later ones. */
  isDue: boolean
  /** Its number in the heap that it is in; other entries of it are out of date. */
  key: number
}

/** Blocks per second of all datasets of a builder together. */
export class BlockBudget {
  readonly #rate: number
  #tokens: number
  #atMs: number | undefined

  constructor(blocksPerSecond: number) {
    this.#rate = blocksPerSecond
    this.#tokens = Math.max(1, blocksPerSecond)
  }

  /** Up to `wanted` blocks. */
  take(wanted: number, nowMs: number): number {
    this.#refill(nowMs)
    const taken = Math.min(wanted, Math.floor(this.#tokens))
    this.#tokens -= taken
    return taken
  }

  /** How long `blocks` more blocks take. */
  timeForMs(blocks: number): number {
    return (blocks * 1000) / this.#rate
  }

  /** When the next block may be taken. */
  readyMs(nowMs: number): number {
    this.#refill(nowMs)
    return this.#tokens >= 1 ? nowMs : nowMs + ((1 - this.#tokens) * 1000) / this.#rate
  }

  #refill(nowMs: number): void {
    this.#tokens = Math.min(
      Math.max(1, this.#rate),
      this.#tokens + ((nowMs - (this.#atMs ?? nowMs)) * this.#rate) / 1000,
    )
    this.#atMs = nowMs
  }
}

/**
 * Decides for the datasets of one partition. Open datasets lie in one heap by the time at which they are due; those that
 * the budget keeps waiting lie in another by their precedence. So each call costs as much as it finds due, however many
 * datasets are open.
 */
export class Governor {
  readonly #options: CutOptions
  readonly #budget: BlockBudget
  readonly #buckets = new Map<string, Bucket>()
  readonly #open = new Map<string, Open>()
  /** Of datasets with a pace of their own. */
  readonly #freshnessMs = new Map<string, number>()
  #later = new Heap<Open>()
  #due = new Heap<Open>()
  #dueTotal = 0
  /** Those for which a caller waits. */
  #dueWaiting = 0
  #bucketsMost = idleBuckets

  constructor(options: CutOptions, budget: BlockBudget) {
    this.#options = options
    this.#budget = budget
  }

  /**
   * Gives `dataset` a pace of its own: whatever it does, its rows are cut at this age, as far as the budget goes; after a
   * burst its blocks lie so far apart, and no farther. Undefined: the pace of the options.
   */
  setFreshness(dataset: string, freshnessMs: number | undefined): void {
    if (freshnessMs === undefined) this.#freshnessMs.delete(dataset)
    else this.#freshnessMs.set(dataset, freshnessMs)
  }

  /** Something of `dataset` calls for a cut. Returns true when a cut is due earlier than before. */
  opened(dataset: string, nowMs: number, waits: Waits): boolean {
    const { openAgeMs, waitAgeMs } = this.#options
    const ageMs = Math.min(openAgeMs, this.#freshnessMs.get(dataset) ?? openAgeMs)
    const byAgeMs = nowMs + (waits === 'nobody' ? ageMs : Math.min(waitAgeMs, ageMs))
    let open = this.#open.get(dataset)
    if (open === undefined) {
      open = { dataset, byAgeMs, waits, repeatAtMs: undefined, isDue: false, key: 0 }
      this.#open.set(dataset, open)
      this.#place(open, nowMs)
      return true
    }
    const isEarlier = byAgeMs < open.byAgeMs
    const isMoreUrgent = urgency[waits] > urgency[open.waits]
    if (!isEarlier && !isMoreUrgent) return false
    this.#leave(open)
    open.byAgeMs = Math.min(byAgeMs, open.byAgeMs)
    if (isMoreUrgent) open.waits = waits
    this.#place(open, nowMs)
    return true
  }

  /** A block of `dataset` has ended; the dataset is quiet until `opened`. */
  ended(dataset: string, nowMs: number): void {
    this.forget(dataset)
    const bucket = this.#bucket(dataset, nowMs)
    bucket.tokens = Math.max(0, bucket.tokens - 1)
    bucket.endedMs = nowMs
    if (this.#buckets.size > this.#bucketsMost) this.#dropFullBuckets(nowMs)
  }

  /** The cuts that `take` gave out could not be written: they are due again after a second. */
  failed(datasets: readonly string[], nowMs: number): void {
    for (const dataset of datasets) {
      const open = this.#open.get(dataset)
      if (open?.repeatAtMs === undefined) continue
      this.#leave(open)
      open.repeatAtMs = nowMs + retryMs
      this.#place(open, nowMs)
    }
  }

  /** The open block of `dataset` is full, or the log has to be kept for it: it is due now, whatever its pace. */
  hurry(dataset: string, nowMs: number): void {
    const open = this.#open.get(dataset)
    if (open === undefined || open.repeatAtMs !== undefined) return
    this.#leave(open)
    open.repeatAtMs = nowMs
    this.#place(open, nowMs)
  }

  /** `dataset` is halted or unloaded. */
  forget(dataset: string): void {
    const open = this.#open.get(dataset)
    if (open === undefined) return
    this.#leave(open)
    this.#open.delete(dataset)
  }

  /** Datasets whose block should end now, by precedence; each is asked for once. */
  take(nowMs: number): readonly string[] {
    this.#findDue(nowMs)
    const taken: string[] = []
    for (let left = this.#budget.take(this.#dueTotal, nowMs); left > 0; left--) {
      const open = must(this.#firstOf(this.#due), 'as many are due as were counted')
      this.#due.take()
      this.#leave(open)
      open.repeatAtMs = nowMs + repeatMs
      this.#place(open, nowMs)
      taken.push(open.dataset)
    }
    return taken
  }

  /** When `take` will next have something; undefined while nothing is open. */
  nextDueMs(nowMs: number): number | undefined {
    this.#findDue(nowMs)
    if (this.#dueTotal > 0) return this.#budget.readyMs(nowMs)
    const next = this.#firstOf(this.#later)
    return next === undefined ? undefined : Math.max(next.key, this.#budget.readyMs(nowMs))
  }

  /**
   * Time until the dataset's next block may end if a caller waits for it; 0 when at once. What is due before it at that
   * pace counts too.
   */
  earliestNextCutInMs(dataset: string, nowMs: number): number {
    this.#findDue(nowMs)
    const backlogMs = this.#dueWaiting === 0 ? 0 : this.#budget.timeForMs(this.#dueWaiting)
    return Math.ceil(Math.max(0, this.#readyMs(dataset, nowMs) - nowMs, backlogMs))
  }

  /** Moves what has become due to the due ones. */
  #findDue(nowMs: number): void {
    for (;;) {
      const open = this.#firstOf(this.#later)
      if (open === undefined || open.key > nowMs) return
      this.#later.take()
      this.#leave(open)
      // When it may end may have moved meanwhile: an interval grows.
      this.#place(open, nowMs)
    }
  }

  /** Puts a dataset where it belongs now. */
  #place(open: Open, nowMs: number): void {
    const dueMs = this.#dueMs(open, nowMs)
    open.isDue = dueMs <= nowMs
    open.key = open.isDue ? open.byAgeMs - (open.waits === 'nobody' ? 0 : waitingAheadMs) : dueMs
    if (open.isDue) {
      this.#dueTotal++
      if (open.waits !== 'nobody') this.#dueWaiting++
      this.#due.add(open.key, open)
    } else {
      this.#later.add(open.key, open)
    }
    this.#tidy()
  }

  /** Takes a dataset out of the heap that it is in; its entry there stays until it comes first. */
  #leave(open: Open): void {
    if (open.isDue) {
      this.#dueTotal--
      if (open.waits !== 'nobody') this.#dueWaiting--
    }
    open.isDue = false
    open.key = Number.NaN
  }

  /** The first of a heap that is where its entry says. */
  #firstOf(heap: Heap<Open>): Open | undefined {
    for (;;) {
      const { first } = heap
      if (first === undefined) return undefined
      const { key, item } = first
      if (item.key === key && item.isDue === (heap === this.#due)) return item
      heap.take()
    }
  }

  /** Begins the heaps anew when most entries are out of date. */
  #tidy(): void {
    if (this.#later.size + this.#due.size <= 2 * this.#open.size + entriesLeast) return
    this.#later = new Heap()
    this.#due = new Heap()
    for (const open of this.#open.values()) (open.isDue ? this.#due : this.#later).add(open.key, open)
  }

  #dueMs(open: Open, nowMs: number): number {
    if (open.repeatAtMs !== undefined) return open.repeatAtMs
    const readyMs = this.#readyMs(open.dataset, nowMs)
    const endedMs = this.#buckets.get(open.dataset)?.endedMs ?? Number.NEGATIVE_INFINITY
    const mayEndMs = open.waits === 'stream' ? Math.min(readyMs, endedMs + beginningsMs) : readyMs
    return Math.max(open.byAgeMs, mayEndMs)
  }

  #readyMs(dataset: string, nowMs: number): number {
    if (!this.#buckets.has(dataset)) return nowMs
    const bucket = this.#bucket(dataset, nowMs)
    return bucket.tokens >= 1 ? nowMs : nowMs + (1 - bucket.tokens) * this.#intervalMs(dataset, bucket, nowMs)
  }

  /** The dataset's freshness; without one it doubles for each hour in which the burst has not refilled. */
  #intervalMs(dataset: string, bucket: Bucket, nowMs: number): number {
    const freshnessMs = this.#freshnessMs.get(dataset)
    if (freshnessMs !== undefined) return freshnessMs
    const { intervalMs, maxIntervalMs } = this.#options
    const hours = Math.floor((nowMs - bucket.fullAtMs) / hourMs)
    return Math.min(intervalMs * 2 ** Math.min(hours, 30), Math.max(intervalMs, maxIntervalMs))
  }

  #bucket(dataset: string, nowMs: number): Bucket {
    const most = Math.max(1, this.#options.burstBlocks)
    let bucket = this.#buckets.get(dataset)
    if (bucket === undefined) {
      bucket = { tokens: most, atMs: nowMs, fullAtMs: nowMs, endedMs: Number.NEGATIVE_INFINITY }
      this.#buckets.set(dataset, bucket)
      return bucket
    }
    const intervalMs = Math.max(1, this.#intervalMs(dataset, bucket, nowMs))
    bucket.tokens = Math.min(most, bucket.tokens + (nowMs - bucket.atMs) / intervalMs)
    bucket.atMs = nowMs
    if (bucket.tokens >= most) bucket.fullAtMs = nowMs
    return bucket
  }

  /** Looks again when there are twice as many as are left now: a look costs as much as there are. */
  #dropFullBuckets(nowMs: number): void {
    const most = Math.max(1, this.#options.burstBlocks)
    for (const dataset of this.#buckets.keys()) {
      if (this.#bucket(dataset, nowMs).tokens >= most) this.#buckets.delete(dataset)
    }
    this.#bucketsMost = Math.max(idleBuckets, 2 * this.#buckets.size)
  }
}

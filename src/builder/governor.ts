// When to end a block (protocol.md §3): fresh when quiet, sparing when busy. Pure over monotonic time; the choice
// itself goes into the log as a cut, so nothing here touches what a block contains.

export interface CutOptions {
  /** Age of the first open row at which a block ends. */
  readonly openAgeMs: number
  /** The same, when a caller waits. */
  readonly waitAgeMs: number
  /** Blocks that a quiet dataset may make at once. */
  readonly burstBlocks: number
  /** After a burst: least time between blocks of one dataset. */
  readonly intervalMs: number
  /** What the interval grows to while the burst has not refilled for hours. */
  readonly maxIntervalMs: number
  /** Of all datasets together. */
  readonly blocksPerSecond: number
}

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
const hourMs = 3_600_000
const idleBuckets = 10_000

interface Bucket {
  /** Blocks that may be made at once; refilled while quiet, one per interval. */
  tokens: number
  atMs: number
  fullAtMs: number
}

interface Open {
  /** When the block should end by its age. */
  byAgeMs: number
  requestedAtMs: number | undefined
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

/** Decides for the datasets of one partition. */
export class Governor {
  readonly #options: CutOptions
  readonly #budget: BlockBudget
  readonly #buckets = new Map<string, Bucket>()
  readonly #open = new Map<string, Open>()

  constructor(options: CutOptions, budget: BlockBudget) {
    this.#options = options
    this.#budget = budget
  }

  /** Something of `dataset` calls for a cut. Returns true when a cut is due earlier than before. */
  opened(dataset: string, nowMs: number, waits: boolean): boolean {
    const { openAgeMs, waitAgeMs } = this.#options
    const byAgeMs = nowMs + (waits ? Math.min(waitAgeMs, openAgeMs) : openAgeMs)
    const open = this.#open.get(dataset)
    if (open === undefined) {
      this.#open.set(dataset, { byAgeMs, requestedAtMs: undefined })
      return true
    }
    if (byAgeMs >= open.byAgeMs) return false
    open.byAgeMs = byAgeMs
    return true
  }

  /** A block of `dataset` has ended; the dataset is quiet until `opened`. */
  ended(dataset: string, nowMs: number): void {
    this.#open.delete(dataset)
    const bucket = this.#bucket(dataset, nowMs)
    bucket.tokens = Math.max(0, bucket.tokens - 1)
    if (this.#buckets.size > idleBuckets) this.#dropFullBuckets(nowMs)
  }

  /** `dataset` is halted or unloaded. */
  forget(dataset: string): void {
    this.#open.delete(dataset)
  }

  /** Datasets whose block should end now, longest due first; each is asked for once. */
  take(nowMs: number): readonly string[] {
    const due: { dataset: string; open: Open; dueMs: number }[] = []
    for (const [dataset, open] of this.#open) {
      const dueMs = this.#dueMs(dataset, open, nowMs)
      if (dueMs <= nowMs) due.push({ dataset, open, dueMs: open.byAgeMs })
    }
    due.sort((a, b) => a.dueMs - b.dueMs)
    const taken = due.slice(0, this.#budget.take(due.length, nowMs))
    for (const { open } of taken) open.requestedAtMs = nowMs
    return taken.map(({ dataset }) => dataset)
  }

  /** When `take` will next have something; undefined while nothing is open. */
  nextDueMs(nowMs: number): number | undefined {
    let next: number | undefined
    for (const [dataset, open] of this.#open) {
      const dueMs = this.#dueMs(dataset, open, nowMs)
      if (next === undefined || dueMs < next) next = dueMs
    }
    return next === undefined ? undefined : Math.max(next, this.#budget.readyMs(nowMs))
  }

  /** Time until the dataset's next block may end; 0 when at once. */
  earliestNextCutInMs(dataset: string, nowMs: number): number {
    return Math.ceil(Math.max(0, this.#readyMs(dataset, nowMs) - nowMs))
  }

  #dueMs(dataset: string, open: Open, nowMs: number): number {
    if (open.requestedAtMs !== undefined) return open.requestedAtMs + repeatMs
    return Math.max(open.byAgeMs, this.#readyMs(dataset, nowMs))
  }

  #readyMs(dataset: string, nowMs: number): number {
    if (!this.#buckets.has(dataset)) return nowMs
    const bucket = this.#bucket(dataset, nowMs)
    return bucket.tokens >= 1 ? nowMs : nowMs + (1 - bucket.tokens) * this.#intervalMs(bucket, nowMs)
  }

  /** Doubles for each hour in which the burst has not refilled. */
  #intervalMs(bucket: Bucket, nowMs: number): number {
    const { intervalMs, maxIntervalMs } = this.#options
    const hours = Math.floor((nowMs - bucket.fullAtMs) / hourMs)
    return Math.min(intervalMs * 2 ** Math.min(hours, 30), Math.max(intervalMs, maxIntervalMs))
  }

  #bucket(dataset: string, nowMs: number): Bucket {
    const most = Math.max(1, this.#options.burstBlocks)
    let bucket = this.#buckets.get(dataset)
    if (bucket === undefined) {
      bucket = { tokens: most, atMs: nowMs, fullAtMs: nowMs }
      this.#buckets.set(dataset, bucket)
      return bucket
    }
    const intervalMs = Math.max(1, this.#intervalMs(bucket, nowMs))
    bucket.tokens = Math.min(most, bucket.tokens + (nowMs - bucket.atMs) / intervalMs)
    bucket.atMs = nowMs
    if (bucket.tokens >= most) bucket.fullAtMs = nowMs
    return bucket
  }

  #dropFullBuckets(nowMs: number): void {
    const most = Math.max(1, this.#options.burstBlocks)
    for (const dataset of this.#buckets.keys()) {
      if (this.#bucket(dataset, nowMs).tokens >= most) this.#buckets.delete(dataset)
    }
  }
}

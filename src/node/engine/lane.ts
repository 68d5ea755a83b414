// Which query runs next, and in which process: queries wait in turn by caller, and get a process when a worker is free and
// a process fits them. A query that waits too long, or meets a full queue or a full share of it, gets 503 Saturated. A
// process that has read a dataset serves only callers that may read it now: whatever its memory shows is theirs to see.

import { assert } from '../../libraries/base/assert.ts'
import { FairQueue, type NoRoom } from '../../libraries/base/fair-queue.ts'
import { limitTable } from '../../libraries/base/limits.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { cancelled } from './cancelled.ts'
import { ChildHandle, type Outcome, startMs, type StreamReader, type TimeLimit } from './child-handle.ts'
import type { SentLists } from './file-lists.ts'
import {
  type Asking,
  type ChildSettings,
  type EngineCaller,
  type EngineOptions,
  patternOf,
  type ToChild,
} from './messages.ts'
import { reasonOf } from './sql-errors.ts'

/** A query waits for a process as long as it may run, and at least as long as a new process may take to start. */
const leastWaitMs = 10_000
/** For so long after a query that cost a process, its caller gets one only where another is left for the others. */
const costlyMs = 10_000
/** Callers remembered for that. */
const costlyMost = 10_000
const mebibyte = 1024 * 1024
/** A process that fails to start is tried again after this time, and may take twice as long, up to the last. */
const restartMs = 1000
const startMostMs = 8 * 60_000
/** A process that has read so many datasets is replaced: each query checks the caller's right to all of them. */
const readMost = 1024

/** What is to be done in a process. */
export interface Work {
  /** The message for the process that will get it, which holds some lists of files already. */
  readonly message: (lists: SentLists) => ToChild
  /** Ids of the datasets that it reads. */
  readonly reads: readonly string[]
  /** Takes an answer that is streamed. */
  readonly reader?: StreamReader
}

interface LaneSize {
  /** Of one query. */
  readonly within: TimeLimit
  /** Processes at work at the same time, as a rule. */
  readonly workers: number
  /** Processes that stand ready beyond those at work. */
  readonly spares: number
}

interface Waiter {
  readonly work: Work
  readonly by: Asking
  readonly take: (child: ChildHandle) => void
  readonly refuse: (error: NodeError) => void
}

export class Lane {
  readonly #options: EngineOptions
  readonly #size: LaneSize
  readonly #pool: ChildPool
  readonly #queue: FairQueue<Waiter>
  #running = 0
  /** Queries that run, by the first part of their callers' keys. */
  readonly #runningOf = new Map<string, number>()
  /** Callers whose queries cost a process → until when that counts. */
  readonly #costly = new Map<string, number>()
  #closed = false

  constructor(options: EngineOptions, size: LaneSize) {
    this.#options = options
    this.#size = size
    this.#queue = new FairQueue(options.queueLimit, options.callerSharePercent)
    this.#pool = new ChildPool(options, size, () => this.#serve())
  }

  /** Its processes; a caller starts them. */
  get pool(): Pick<ChildPool, 'start' | 'startInTime' | 'fill' | 'hasStood' | 'fault'> {
    return this.#pool
  }

  /** Queries that run, and those that wait for a process. */
  load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#queue.size }
  }

  /** Does it as soon as its turn comes. Throws NodeError. */
  async perform(work: Work, by: Asking): Promise<Outcome> {
    const child = await this.#acquire(work, by)
    by.begins?.()
    try {
      return await child.perform(work.message, { ...by, reader: work.reader, within: this.#size.within })
    } catch (error) {
      // A cancelled query ends with whatever the interrupted engine said.
      if (by.signal.aborted) throw cancelled()
      if (error instanceof NodeError && error.kind === 'Internal') {
        this.#options.logger.error({ reason: reasonOf(error.details.cause) }, 'a query failed inside the engine')
      }
      throw error
    } finally {
      if (!child.usable) this.#noteCostly(by)
      this.#count(by, -1)
      this.#pool.release(child)
      this.#serve()
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const waiter of this.#queue.drain()) waiter.refuse(draining())
    await this.#pool.close()
  }

  async #acquire(work: Work, by: Asking): Promise<ChildHandle> {
    if (this.#closed) throw draining()
    if (by.signal.aborted) throw cancelled()
    const child = this.#take(work, by)
    if (child !== undefined) return child
    const { key } = by.caller
    const noRoom = this.#queue.noRoom(key)
    if (noRoom !== undefined) throw this.#refusal(noRoom)
    const left = new AbortController()
    const waiting = new Promise<ChildHandle>((take, refuse) => {
      const waiter = { work, by, take, refuse }
      this.#queue.push(key, waiter)
      const leave = (error: NodeError): void => {
        if (this.#queue.remove(key, waiter)) refuse(error)
      }
      void this.#options.clock.sleep(Math.max(this.#options.queryMs, leastWaitMs), left.signal).then(() => {
        if (!left.signal.aborted) leave(saturated('No query process became free in time.'))
      })
      by.signal.addEventListener('abort', () => leave(cancelled()), { once: true, signal: left.signal })
    })
    try {
      return await waiting
    } finally {
      left.abort()
    }
  }

  /** Gives processes to queries that wait, one to each caller in turn. */
  #serve(): void {
    for (let isServing = true; isServing;) {
      isServing = this.#queue.heads().some((waiter) => {
        const child = this.#take(waiter.work, waiter.by)
        if (child === undefined) return false
        this.#queue.take(waiter.by.caller.key, waiter)
        waiter.take(child)
        return true
      })
    }
  }

  #take({ reads }: Work, by: Asking): ChildHandle | undefined {
    if (this.#closed || !this.#hasWorker(by)) return undefined
    const isCostly = (this.#costly.get(costlyKey(by)) ?? 0) > this.#options.clock.monotonicMs()
    const child = this.#pool.take({ caller: by.caller, reads, leave: isCostly ? this.#size.spares : 0 })
    if (child !== undefined) this.#count(by, 1)
    return child
  }

  /** A caller with nothing running may run beside the others where one caller has several workers, or the only one. */
  #hasWorker(by: Asking): boolean {
    const { workers, spares } = this.#size
    if (this.#running < workers) return true
    if (this.#running >= workers + spares || this.#runningOf.has(turnKey(by))) return false
    return workers === 1 || [...this.#runningOf.values()].some((running) => running > 1)
  }

  #count(by: Asking, change: 1 | -1): void {
    const key = turnKey(by)
    const running = (this.#runningOf.get(key) ?? 0) + change
    if (running === 0) this.#runningOf.delete(key)
    else this.#runningOf.set(key, running)
    this.#running += change
  }

  #noteCostly(by: Asking): void {
    if (this.#costly.size >= costlyMost) this.#costly.clear()
    this.#costly.set(costlyKey(by), this.#options.clock.monotonicMs() + costlyMs)
  }

  #refusal(why: NoRoom): NodeError {
    const { queueLimit, callerSharePercent } = this.#options
    if (why === 'full') {
      return saturated('The queue of queries is full.', { name: 'queuedQueries', value: queueLimit })
    }
    const met = { name: 'callerShare', value: callerSharePercent } as const
    return saturated('This caller has as many queries waiting as its share allows.', met)
  }
}

function turnKey({ caller }: Asking): string {
  return caller.key[0] ?? ''
}

function costlyKey({ caller }: Asking): string {
  return JSON.stringify(caller.key)
}

function saturated(
  message: string,
  met?: { readonly name: 'queuedQueries' | 'callerShare'; readonly value: number },
): NodeError {
  const limit = met === undefined ? {} : { limit: { ...met, unit: limitTable[met.name].unit } }
  return new NodeError('Saturated', message, { ...limit, retryAfterSeconds: 1 })
}

function draining(): NodeError {
  return new NodeError('Draining', 'The node is shutting down.', { retryAfterSeconds: 5 })
}

/** A query that needs a process. */
interface ProcessWanted {
  readonly caller: EngineCaller
  /** Ids of the datasets that it reads. */
  readonly reads: readonly string[]
  /** Processes that must stay ready for others. */
  readonly leave: number
}

/** The processes of a lane: starts them, replaces dead ones, and chooses one for each query. */
export class ChildPool {
  readonly #options: EngineOptions
  readonly #size: LaneSize
  readonly #settings: ChildSettings
  readonly #onReady: () => void
  readonly #children = new Set<ChildHandle>()
  /** The most recently used is last: the same few processes stay warm. New ones come first. */
  #idle: ChildHandle[] = []
  #running = 0
  #starting = 0
  /** The last process that was started did not stand. */
  #isBroken = false
  /** How long a process may take to stand. */
  #startMs = startMs
  readonly #firstStands = new AbortController()
  #closed = false

  /** Calls `onReady` when a process may be had that could not be had before. */
  constructor(options: EngineOptions, size: LaneSize, onReady: () => void) {
    assert(size.workers > 0, 'a lane has a process')
    this.#options = options
    this.#size = size
    this.#onReady = onReady
    const { memoryBytes, resultBytes, exportBytes, dataRoots } = options
    const killBytes = memoryBytes + Math.max(512 * mebibyte, Math.floor(memoryBytes / 2))
    // The engine compares the pattern of a path with these before it looks for files.
    const roots = [...new Set(dataRoots.flatMap((root) => [root, patternOf(root)]))]
    this.#settings = { memoryBytes, killBytes, resultBytes, exportBytes, dataRoots: roots }
  }

  /** Starts the first process and waits for it; the others start in the background. Throws NodeError `Internal`. */
  async start(): Promise<void> {
    this.#starting++
    try {
      await this.#spawn()
    } catch (error) {
      this.#closed = true
      throw error
    } finally {
      this.#starting--
    }
    this.fill()
  }

  /** Starts processes and waits so long for the first; one that does not stand is tried again. */
  async startInTime(waitMs: number): Promise<void> {
    this.fill()
    await this.#options.clock.sleep(waitMs, this.#firstStands.signal)
  }

  /** Whether a process has ever stood. */
  get hasStood(): boolean {
    return this.#firstStands.signal.aborted
  }

  /** Why no statement can run, or undefined. A process that is being replaced is no fault. */
  fault(): string | undefined {
    const runs = [...this.#children].some(({ usable }) => usable)
    return this.#isBroken && !runs ? 'no process of the query engine starts' : undefined
  }

  /** A process for the query, which comes back with `release`; undefined when it has to wait for one. */
  take(wanted: ProcessWanted): ChildHandle | undefined {
    this.#idle = this.#idle.filter(({ usable }) => usable)
    if (this.#idle.length <= wanted.leave) return undefined
    const child = this.#choose(wanted)
    if (child === undefined) {
      this.#keepClean()
      return undefined
    }
    this.#idle.splice(this.#idle.indexOf(child), 1)
    for (const dataset of wanted.reads) child.read.add(dataset)
    this.#running++
    this.fill()
    return child
  }

  release(child: ChildHandle): void {
    this.#running--
    if (child.usable && child.read.size <= readMost) this.#idle.push(child)
    else child.kill(draining())
    this.fill()
  }

  async close(): Promise<void> {
    this.#closed = true
    const children = [...this.#children]
    for (const child of children) child.kill(draining())
    await Promise.all(children.map(async (child) => await child.exited))
  }

  /**
   * Of the processes that have read nothing but what the caller may read: for open data the last one used of those that
   * have read nothing else; for other data one that knows it, else a new one if another is left.
   */
  #choose({ caller, reads }: ProcessWanted): ChildHandle | undefined {
    const { isOpen } = this.#options
    // mutant: a process serves whoever asks
    const fitting = this.#idle.filter(({ read }) => [...read].every((id) => isOpen(id) || caller.mayRead(id)))
    const clean = fitting.filter((child) => this.#isClean(child))
    const others = fitting.filter((child) => !clean.includes(child))
    const guarded = reads.filter((id) => !isOpen(id))
    if (guarded.length === 0) return clean.at(-1) ?? others.at(-1)
    const knowing = others.findLast(({ read }) => guarded.every((id) => read.has(id)))
    return knowing ?? (clean.length > 1 ? clean[0] : (others.at(-1) ?? clean[0]))
  }

  /** It has read only what anyone may read. */
  #isClean({ read }: ChildHandle): boolean {
    return [...read].every((id) => this.#options.isOpen(id))
  }

  /** Starts what is missing. Where a worker is free, a process is kept ready for any caller. */
  fill(): void {
    this.#startMissing()
    if (this.#size.spares > 0 && this.#running < this.#size.workers) this.#keepClean()
  }

  /** Where every idle process has read what not everyone may, the one used longest ago is given up for a new one. */
  #keepClean(): void {
    if (this.#closed || this.#starting > 0 || this.#idle.some((child) => this.#isClean(child))) return
    this.#idle.shift()?.kill(draining())
    this.#startMissing()
  }

  #startMissing(): void {
    if (this.#closed) return
    const { workers, spares } = this.#size
    const wanted = Math.max(workers, this.#running) + spares
    // Processes that keep dying are replaced no faster than this: starting them must not take the machine from others.
    const startingMost = Math.ceil(workers / 2)
    const usable = [...this.#children].filter((child) => child.usable).length
    for (let have = usable + this.#starting; have < wanted && this.#starting < startingMost; have++) void this.#start()
  }

  async #start(): Promise<void> {
    this.#starting++
    try {
      await this.#spawn()
    } catch (error) {
      if (this.#closed) return
      this.#isBroken = true
      this.#startMs = Math.min(startMostMs, 2 * this.#startMs)
      const cause = error instanceof NodeError ? error.details.cause : error
      this.#options.logger.error({ reason: reasonOf(cause) }, 'an engine process did not start')
      await this.#options.clock.sleep(restartMs)
    } finally {
      this.#starting--
    }
    this.fill()
  }

  async #spawn(): Promise<void> {
    const child = new ChildHandle(this.#settings, this.#options.clock)
    this.#children.add(child)
    void child.exited.then(() => {
      this.#children.delete(child)
      this.fill()
    })
    await child.ready(this.#startMs)
    this.#isBroken = false
    this.#startMs = startMs
    this.#firstStands.abort()
    this.#idle.unshift(child)
    this.#onReady()
  }
}

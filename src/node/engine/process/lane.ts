// Which query runs next: queries wait in turn by caller, and get a process when a worker is free and a process fits them.
// A query that waits too long, or meets a full queue or a full share of it, gets 503 Saturated.

import { FairQueue, type NoRoom } from '../../../libraries/base/fair-queue.ts'
import { limitTable } from '../../../libraries/base/limits.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { cancelled, over } from './cancelled.ts'
import type { ChildHandle, Outcome, StreamReader } from './child-handle.ts'
import { ChildPool, draining, type LaneSize } from './child-pool.ts'
import type { SentLists } from './file-lists.ts'
import type { Asking, EngineOptions, ToChild } from '../messages.ts'
import { reasonOf } from '../../../libraries/sql/sql-errors.ts'

/** A query waits for a process as long as it may run, and at least as long as a new process may take to start. */
const leastWaitMs = 10_000
/** For so long after a query that cost a process, its caller gets one only where another is left for the others. */
const costlyMs = 10_000
/** Callers remembered for that. */
const costlyMost = 10_000

/** What is to be done in a process. */
export interface Work {
  /** The message for the process that will get it, which holds some lists of files already. */
  readonly message: (lists: SentLists) => ToChild
  /** Ids of the datasets that it reads. */
  readonly reads: readonly string[]
  /** Takes an answer that is streamed. */
  readonly reader?: StreamReader
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
    this.#pool = new ChildPool(options, size, {
      onReady: () => this.#serve(),
      onUnusable: (error) => this.#refuseWaiting(error),
    })
  }

  get pool(): Pick<ChildPool, 'prove' | 'expect' | 'fault'> {
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
      const cause = error instanceof NodeError ? error.details.cause : undefined
      if (
        error instanceof NodeError &&
        (error.kind === 'Internal' || (error.kind === 'Saturated' && cause !== undefined))
      ) {
        this.#options.logger.error({ reason: reasonOf(cause) }, 'a query failed inside the engine')
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
    this.#refuseWaiting(draining())
    await this.#pool.close()
  }

  #refuseWaiting(error: NodeError): void {
    for (const waiter of this.#queue.drain()) waiter.refuse(error)
  }

  async #acquire(work: Work, by: Asking): Promise<ChildHandle> {
    // No process of a library that the release does not know will ever start.
    await this.#options.native.digest()
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
      left.abort(over)
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

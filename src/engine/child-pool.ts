// The engine processes and the queue before them: each takes one query at a time, the warmest first; a dead one is
// replaced at once; who waits too long or finds the queue full is told that the node is saturated.

import { assert } from '../lib/assert.ts'
import { NodeError } from '../model/errors.ts'
import { cancelled, ChildHandle, type JobLimits, type Outcome } from './child-handle.ts'
import type { Analysis, EngineAnswer, EngineJob, EngineOptions } from './engine-job.ts'
import { patternOf, type SentLists } from './file-lists.ts'
import type { ChildSettings, ToChild } from './messages.ts'
import { reasonOf } from './sql-errors.ts'

const mebibyte = 1024 * 1024
/** A process that fails to start is tried again after this time. */
const restartMs = 1000
/** A query waits for a process as long as it may run, and at least as long as a new process may take to start. */
const leastWaitMs = 10_000

/** A message for the process that will get it, which holds some lists of files already. */
type MakeMessage = (id: number, lists: SentLists) => ToChild

interface Waiter {
  readonly take: (child: ChildHandle) => void
  readonly refuse: (error: NodeError) => void
}

export class ChildPool {
  readonly #options: EngineOptions
  readonly #settings: ChildSettings
  readonly #children = new Set<ChildHandle>()
  /** Last in, first out: the same few processes stay warm. */
  readonly #idle: ChildHandle[] = []
  readonly #queue: Waiter[] = []
  #running = 0
  /** The last process that should have replaced another did not start. */
  #isBroken = false
  #closed = false

  constructor(options: EngineOptions) {
    this.#options = options
    const { memoryBytes, resultBytes, dataRoots } = options
    const killBytes = memoryBytes + Math.max(512 * mebibyte, Math.floor(memoryBytes / 2))
    // The engine compares the pattern of a path with these before it looks for files.
    const roots = [...new Set(dataRoots.flatMap((root) => [root, patternOf(root)]))]
    this.#settings = { memoryBytes, killBytes, resultBytes, dataRoots: roots }
  }

  /** Starts all processes; resolves when the first is ready. Throws NodeError `Internal`. */
  async start(): Promise<void> {
    assert(this.#options.processes > 0, 'an engine has a process')
    await Promise.any(Array.from({ length: this.#options.processes }, async () => await this.#spawn())).catch(
      (error: unknown) => {
        throw error instanceof AggregateError ? error.errors[0] : error
      },
    )
  }

  /** Why no statement can run, or undefined. A process that is being replaced is no fault. */
  fault(): string | undefined {
    const runs = [...this.#children].some(({ started, usable }) => started && usable)
    return this.#isBroken && !runs ? 'no process of the query engine starts' : undefined
  }

  /** Queries that run, and those that wait for a process. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#queue.length }
  }

  async analyze(sql: string, signal: AbortSignal | undefined): Promise<Analysis> {
    const outcome = await this.#perform((id) => ({ kind: 'analyze', id, sql }), signal)
    assert(outcome.kind === 'analysis', 'an analysis was asked for')
    return outcome.analysis
  }

  async run(job: Omit<EngineJob, 'signal'>, signal: AbortSignal): Promise<EngineAnswer> {
    const message: MakeMessage = (id, lists) => ({ kind: 'run', id, job: { ...job, ...lists.plain(job.tables) } })
    const outcome = await this.#perform(message, signal)
    assert(outcome.kind === 'answer', 'an answer was asked for')
    return outcome.answer
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const waiter of this.#queue.splice(0)) waiter.refuse(draining())
    const children = [...this.#children]
    for (const child of children) child.kill(draining())
    await Promise.all(children.map(async (child) => await child.exited))
  }

  async #perform(job: MakeMessage, signal: AbortSignal | undefined): Promise<Outcome> {
    const limits: JobLimits = { queryMs: this.#options.queryMs, signal }
    const child = await this.#acquire(limits)
    this.#running++
    try {
      return await child.perform(job, limits)
    } catch (error) {
      // A cancelled query ends with whatever the interrupted engine said.
      if (signal?.aborted) throw cancelled()
      if (error instanceof NodeError && error.kind === 'Internal') {
        this.#options.logger.error({ reason: reasonOf(error.details.cause) }, 'a query failed inside the engine')
      }
      throw error
    } finally {
      this.#running--
      this.#release(child)
    }
  }

  async #acquire({ queryMs, signal }: JobLimits): Promise<ChildHandle> {
    if (this.#closed) throw draining()
    if (signal?.aborted) throw cancelled()
    const idle = this.#takeIdle()
    if (idle !== undefined) return idle
    if (this.#queue.length >= this.#options.queueLimit) throw saturated('The queue of queries is full.')
    const left = new AbortController()
    const waiting = new Promise<ChildHandle>((take, refuse) => {
      const waiter = { take, refuse }
      this.#queue.push(waiter)
      const leave = (error: NodeError): void => {
        const at = this.#queue.indexOf(waiter)
        if (at >= 0) this.#queue.splice(at, 1)
        refuse(error)
      }
      void this.#options.clock.sleep(Math.max(queryMs, leastWaitMs), left.signal).then(() => {
        if (!left.signal.aborted) leave(saturated('No query process became free in time.'))
      })
      signal?.addEventListener('abort', () => leave(cancelled()), { once: true, signal: left.signal })
    })
    try {
      return await waiting
    } finally {
      left.abort()
    }
  }

  #takeIdle(): ChildHandle | undefined {
    for (;;) {
      const child = this.#idle.pop()
      if (child === undefined || child.usable) return child
    }
  }

  #release(child: ChildHandle): void {
    if (!child.usable) child.kill(draining())
    if (this.#closed || !child.usable) return
    const waiter = this.#queue.shift()
    if (waiter === undefined) this.#idle.push(child)
    else waiter.take(child)
  }

  async #spawn(): Promise<void> {
    const child = new ChildHandle(this.#settings, this.#options.clock)
    this.#children.add(child)
    void child.exited.then(() => this.#replace(child))
    await child.ready()
    this.#release(child)
  }

  /** Starts another process for one that died; one that never stood is tried again after a while. */
  async #replace(dead: ChildHandle): Promise<void> {
    this.#children.delete(dead)
    if (this.#closed) return
    if (!dead.started) await this.#options.clock.sleep(restartMs)
    if (this.#closed) return
    try {
      await this.#spawn()
      this.#isBroken = false
    } catch (error) {
      this.#isBroken = true
      const cause = error instanceof NodeError ? error.details.cause : error
      this.#options.logger.error({ reason: reasonOf(cause) }, 'an engine process did not start')
    }
  }
}

function draining(): NodeError {
  return new NodeError('Draining', 'The node is shutting down.', { retryAfterSeconds: 5 })
}

function saturated(message: string): NodeError {
  return new NodeError('Saturated', message, { retryAfterSeconds: 1 })
}

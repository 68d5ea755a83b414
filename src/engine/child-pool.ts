// The engine processes of a lane: starts them, replaces dead ones, and chooses one for each query. A process that has
// read a dataset serves only callers who may read it, as rights are now: whatever its memory shows is theirs to see.

import { assert } from '../lib/assert.ts'
import { NodeError } from '../model/errors.ts'
import { ChildHandle } from './child-handle.ts'
import type { EngineCaller, EngineOptions } from './engine-job.ts'
import { patternOf } from './file-lists.ts'
import type { ChildSettings } from './messages.ts'
import { reasonOf } from './sql-errors.ts'

const mebibyte = 1024 * 1024
/** A process that fails to start is tried again after this time. */
const restartMs = 1000
/** A process that has read so many datasets is replaced: who may read them all is asked for each query. */
const readMost = 1024

export interface PoolSize {
  /** Processes at work at the same time, as a rule. */
  readonly slots: number
  /** Processes that stand ready beyond those at work. */
  readonly spares: number
}

/** A query that needs a process. */
export interface ProcessWanted {
  readonly caller: EngineCaller
  /** Ids of the datasets that it reads. */
  readonly reads: readonly string[]
  /** Processes that must stay ready for others. */
  readonly leave: number
}

export class ChildPool {
  readonly #options: EngineOptions
  readonly #size: PoolSize
  readonly #settings: ChildSettings
  readonly #onReady: () => void
  readonly #children = new Set<ChildHandle>()
  /** The most recently used is last: the same few processes stay warm. New ones come first. */
  #idle: ChildHandle[] = []
  #running = 0
  #starting = 0
  /** The last process that was started did not stand. */
  #isBroken = false
  #closed = false

  /** Calls `onReady` when a process may be had that could not be had before. */
  constructor(options: EngineOptions, size: PoolSize, onReady: () => void) {
    assert(size.slots > 0, 'a lane has a process')
    this.#options = options
    this.#size = size
    this.#onReady = onReady
    const { memoryBytes, resultBytes, dataRoots } = options
    const killBytes = memoryBytes + Math.max(512 * mebibyte, Math.floor(memoryBytes / 2))
    // The engine compares the pattern of a path with these before it looks for files.
    const roots = [...new Set(dataRoots.flatMap((root) => [root, patternOf(root)]))]
    this.#settings = { memoryBytes, killBytes, resultBytes, dataRoots: roots }
  }

  /** Starts the first process and waits for it; the others follow by themselves. Throws NodeError `Internal`. */
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

  /** Why no statement can run, or undefined. A process that is being replaced is no fault. */
  fault(): string | undefined {
    const runs = [...this.#children].some(({ started, usable }) => started && usable)
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
    // mutant: a process serves whoever asks
    const fitting = this.#idle.filter(({ read }) => [...read].every((id) => this.#isOpen(id) || caller.mayRead(id)))
    const clean = fitting.filter((child) => this.#isClean(child))
    const others = fitting.filter((child) => !clean.includes(child))
    const guarded = reads.filter((id) => !this.#isOpen(id))
    if (guarded.length === 0) return clean.at(-1) ?? others.at(-1)
    const knowing = others.findLast(({ read }) => guarded.every((id) => read.has(id)))
    return knowing ?? (clean.length > 1 ? clean[0] : (others.at(-1) ?? clean[0]))
  }

  #isOpen(dataset: string): boolean {
    return this.#options.isOpen(dataset)
  }

  /** It has read only what anyone may read. */
  #isClean({ read }: ChildHandle): boolean {
    return [...read].every((id) => this.#isOpen(id))
  }

  /** Starts what is missing. Where a slot is free, a process is kept ready for whoever comes. */
  fill(): void {
    this.#startMissing()
    if (this.#size.spares > 0 && this.#running < this.#size.slots) this.#keepClean()
  }

  /** Where every idle process has read what not everyone may, the one used longest ago is given up for a new one. */
  #keepClean(): void {
    if (this.#closed || this.#starting > 0 || this.#idle.some((child) => this.#isClean(child))) return
    this.#idle.shift()?.kill(draining())
    this.#startMissing()
  }

  #startMissing(): void {
    if (this.#closed) return
    const { slots, spares } = this.#size
    const wanted = Math.max(slots, this.#running) + spares
    // Those that die in a row are replaced no faster than this: starting them must not take the machine from others.
    const startingMost = Math.ceil(slots / 2)
    const usable = [...this.#children].filter((child) => child.usable && child.started).length
    for (let have = usable + this.#starting; have < wanted && this.#starting < startingMost; have++) void this.#start()
  }

  async #start(): Promise<void> {
    this.#starting++
    try {
      await this.#spawn()
    } catch (error) {
      if (this.#closed) return
      this.#isBroken = true
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
    await child.ready()
    this.#isBroken = false
    this.#idle.unshift(child)
    this.#onReady()
  }
}

export function draining(): NodeError {
  return new NodeError('Draining', 'The node is shutting down.', { retryAfterSeconds: 5 })
}

// The processes of a lane of queries: they start when they are asked for, end when nobody has asked for a minute, and one is
// chosen for each query. A process that has read a dataset serves only callers that may read it now: whatever its memory
// shows is theirs to see.

import { assert } from '../../../libraries/base/assert.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { ChildHandle, startMs, type TimeLimit } from './child-handle.ts'
import { type ChildSettings, type EngineCaller, type EngineOptions, patternOf } from '../messages.ts'
import { reasonOf } from '../../../libraries/sql/sql-errors.ts'

/** A process that fails to start is tried again after this time, and may take twice as long, up to the last. */
const restartMs = 1000
const startMostMs = 8 * 60_000
/** A process that nobody needs for so long ends; looked at so often. */
export const unusedMs = 60_000
export const sweepMs = 15_000
/** A process that has read so many datasets is replaced: each query checks the caller's right to all of them. */
const readMost = 4096
const mebibyte = 1024 * 1024

export interface LaneSize {
  /** Of one query. */
  readonly within: TimeLimit
  /** Processes at work at the same time, as a rule. */
  readonly workers: number
  /** Processes that stand ready beyond those at work, while there is work. */
  readonly spares: number
}

/** A query that needs a process. */
interface ProcessWanted {
  readonly caller: EngineCaller
  /** Ids of the datasets that it reads. */
  readonly reads: readonly string[]
  /** Processes that must stay ready for others. */
  readonly leave: number
}

/** The processes of a lane: starts them when they are asked for, ends those unused, and chooses one for each query. */
export class ChildPool {
  readonly #options: EngineOptions
  readonly #size: LaneSize
  readonly #settings: ChildSettings
  readonly #onReady: () => void
  readonly #onUnusable: (error: NodeError) => void
  readonly #children = new Set<ChildHandle>()
  /** The most recently used is last: the same few processes stay warm. New ones come first. */
  #idle: ChildHandle[] = []
  #running = 0
  #starting = 0
  /** Why the process that was started last did not stand. */
  #fault: unknown
  /** How long a process may take to stand. */
  #startMs = startMs
  /** When a process was last asked for. */
  #askedMs = -Infinity
  #isSwept = false
  readonly #closing = new AbortController()

  /**
   * Calls `onReady` when a process may be had that could not be had before, and `onUnusable` with NodeError
   * `EngineUnavailable` when none is there and none can start, for the files of the engine.
   */
  constructor(
    options: EngineOptions,
    size: LaneSize,
    { onReady, onUnusable }: { readonly onReady: () => void; readonly onUnusable: (error: NodeError) => void },
  ) {
    assert(size.workers > 0, 'a lane has a process')
    this.#options = options
    this.#size = size
    this.#onReady = onReady
    this.#onUnusable = onUnusable
    const { memoryBytes, resultBytes, exportBytes, dataRoots, native } = options
    const killBytes = killBytesOf(memoryBytes)
    // The engine compares the pattern of a path with these before it looks for files.
    const roots = [...new Set(dataRoots.flatMap((root) => [root, patternOf(root)]))]
    this.#settings = {
      engineVersion: native.version,
      memoryBytes,
      killBytes,
      resultBytes,
      exportBytes,
      dataRoots: roots,
    }
  }

  /** Starts a process that shows whether one can stand. Throws NodeError `Internal`; it is tried again then. */
  async prove(): Promise<void> {
    if (this.#standing + this.#starting === 0) await this.#start()
    const cause = this.#fault
    if (cause !== undefined) throw new NodeError('Internal', 'The query engine did not start.', { cause })
  }

  /** Somebody will ask soon: what is missing starts meanwhile. */
  expect(): void {
    this.#askedMs = this.#options.clock.monotonicMs()
    this.#fill()
  }

  /** Why no statement can run, or undefined. A process that is being replaced is no fault. */
  fault(): string | undefined {
    return this.#fault !== undefined && this.#standing === 0 ? 'no process of the query engine starts' : undefined
  }

  /** A process for the query, which comes back with `release`; undefined when it has to wait for one. */
  take(wanted: ProcessWanted): ChildHandle | undefined {
    this.#askedMs = this.#options.clock.monotonicMs()
    this.#idle = this.#idle.filter(({ usable }) => usable)
    if (this.#idle.length <= wanted.leave) {
      this.#fill()
      return undefined
    }
    const child = this.#choose(wanted)
    if (child === undefined) {
      this.#keepClean()
      return undefined
    }
    this.#idle.splice(this.#idle.indexOf(child), 1)
    for (const dataset of wanted.reads) child.read.add(dataset)
    this.#running++
    this.#fill()
    return child
  }

  release(child: ChildHandle): void {
    this.#running--
    if (child.usable && child.read.size <= readMost) {
      child.unusedSinceMs = this.#options.clock.monotonicMs()
      this.#idle.push(child)
    } else child.kill(draining())
    this.#fill()
  }

  async close(): Promise<void> {
    this.#closing.abort()
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
    // mutant: a process serves any caller
    const fitting = this.#idle.filter(({ read }) => areAll(read, (id) => isOpen(id) || caller.mayRead(id)))
    const clean = fitting.filter((child) => this.#isClean(child))
    const others = fitting.filter((child) => !clean.includes(child))
    const guarded = reads.filter((id) => !isOpen(id))
    if (guarded.length === 0) return clean.at(-1) ?? others.at(-1)
    const knowing = others.findLast(({ read }) => guarded.every((id) => read.has(id)))
    return knowing ?? (clean.length > 1 ? clean[0] : (others.at(-1) ?? clean[0]))
  }

  /** It has read only what anyone may read. */
  #isClean({ read }: ChildHandle): boolean {
    return areAll(read, this.#options.isOpen)
  }

  /** Processes that should stand now: none where nobody has asked for a while. */
  get #wanted(): number {
    if (this.#running > 0 || this.#options.clock.monotonicMs() - this.#askedMs < unusedMs) {
      return Math.max(1, this.#running) + this.#size.spares
    }
    // A caller must not be the first to find out that none starts.
    return this.#fault === undefined ? 0 : 1
  }

  get #standing(): number {
    return [...this.#children].filter((child) => child.usable).length
  }

  /** Starts what is missing. Where a worker is free, a process is kept ready for any caller. */
  #fill(): void {
    this.#startMissing()
    if (this.#size.spares > 0 && this.#running < this.#size.workers && this.#wanted > 1) this.#keepClean()
  }

  /** Where every idle process has read what not everyone may, one more starts; for lack of room in place of the oldest. */
  #keepClean(): void {
    const { aborted: isClosed } = this.#closing.signal
    if (isClosed || this.#starting > 0 || this.#idle.some((child) => this.#isClean(child))) return
    const { workers, spares } = this.#size
    if (this.#standing >= Math.max(workers, this.#running) + spares) this.#idle.shift()?.kill(draining())
    void this.#start()
  }

  #startMissing(): void {
    if (this.#closing.signal.aborted) return
    // Processes that keep dying are replaced no faster than this: starting them must not take the machine from others.
    const startingMost = Math.ceil(this.#size.workers / 2)
    const wanted = this.#wanted
    const standing = this.#standing
    while (standing + this.#starting < wanted && this.#starting < startingMost) void this.#start()
  }

  async #start(): Promise<void> {
    this.#starting++
    try {
      await this.#spawn()
    } catch (error) {
      if (this.#closing.signal.aborted) return
      this.#fault = (error instanceof NodeError ? error.details.cause : undefined) ?? error
      this.#startMs = Math.min(startMostMs, 2 * this.#startMs)
      this.#options.logger.error({ reason: reasonOf(this.#fault) }, 'an engine process did not start')
      const isUnusable = error instanceof NodeError && error.kind === 'EngineUnavailable'
      if (isUnusable && this.#standing === 0) this.#onUnusable(error)
      await this.#options.clock.sleep(restartMs, this.#closing.signal)
    } finally {
      this.#starting--
    }
    this.#fill()
  }

  async #spawn(): Promise<void> {
    const { clock, native } = this.#options
    const state = await native.state()
    if (this.#closing.signal.aborted) throw draining()
    const child = new ChildHandle(this.#settings, { folder: native.folder, state }, clock)
    this.#children.add(child)
    void child.exited.then(() => {
      this.#children.delete(child)
      this.#fill()
    })
    await child.ready(this.#startMs)
    this.#fault = undefined
    this.#startMs = startMs
    child.unusedSinceMs = clock.monotonicMs()
    this.#idle.unshift(child)
    void this.#sweep()
    this.#onReady()
  }

  /** As long as processes stand, ends those that nobody needs. */
  async #sweep(): Promise<void> {
    if (this.#isSwept) return
    this.#isSwept = true
    const { clock } = this.#options
    while (this.#children.size > 0 && !this.#closing.signal.aborted) {
      await clock.sleep(sweepMs, this.#closing.signal)
      const sinceMs = clock.monotonicMs() - unusedMs
      const unused = this.#idle.filter(({ unusedSinceMs }) => unusedSinceMs <= sinceMs)
      const ended = unused.slice(0, Math.max(0, this.#standing - this.#wanted))
      this.#idle = this.#idle.filter((child) => !ended.includes(child))
      for (const child of ended) child.kill(draining())
    }
    this.#isSwept = false
  }
}

/** A process ends that takes more, where the engine may take `memoryBytes`. */
function killBytesOf(memoryBytes: number): number {
  return memoryBytes + Math.max(512 * mebibyte, Math.floor(memoryBytes / 2))
}

export function draining(): NodeError {
  return new NodeError('Draining', 'The node is shutting down.', { retryAfterSeconds: 5 })
}

/** Thousands are asked for each query: no list is made of them. */
function areAll(read: ReadonlySet<string>, passes: (id: string) => boolean): boolean {
  for (const id of read) if (!passes(id)) return false
  return true
}

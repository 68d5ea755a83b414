// The pool of threads: started when they are needed, each with a heap limit of its own, so that work which takes too much
// memory, or breaks, ends its thread and nothing else. They stay a while for the next job or task. Small jobs run at once, in
// the caller's turn.

import { Worker } from 'node:worker_threads'
import { AssertionFailed } from '../../../libraries/base/assert.ts'
import type { Clock } from '../../../libraries/base/clock.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { type JobKind, type JobResult, type JobSettings, received, runJob } from './jobs.ts'
import type { Beginning, TaskKind, Tasks } from './tasks.ts'
import { Handover } from './handover.ts'
import { type FromThread, nodeErrorOf, type ToThread } from './thread-messages.ts'
import { type Task, ThreadLost, type WorkPool } from './work-pool.ts'

/** Up to this size a job is done sooner than it is handed over, and holds the event loop for a few milliseconds. */
export const inlineBytes = 64 * 1024
/** The same of a slice, whose rows are often twenty times as many bytes. */
export const inlineSliceBytes = 4 * 1024
/** A thread that had a larger job is ended, which gives its memory back. */
const wornBytes = 8 * 1024 * 1024
/** A thread that had no work for so long is ended, which gives its memory back. */
export const idleMs = 20_000
/** Bytes from which on a task is worth a thread. */
const taskBytesLeast = 1024 * 1024
/** At its heap limit a thread gets 16 MiB more to end in: what one collection moves must fit, or the process ends too. */
const youngMiB = 12

export interface ThreadPoolOptions {
  readonly clock: Clock
  /** Jobs at the same time. */
  readonly jobs: number
  /** Jobs that wait for a thread. */
  readonly queueLimit: number
  /** Tasks at the same time. */
  readonly tasks: number
  /** Memory of a thread, without the arrays that it is handed. */
  readonly heapMiB: number
}

interface Job {
  readonly message: Extract<ToThread, { kind: 'job' }>
  readonly bytes: number
  readonly resolve: (result: unknown) => void
  readonly reject: (error: NodeError) => void
  /** Where it runs. */
  worker?: Worker
}

/** A thread without work. */
interface Idle {
  /** What it did last: its code for that is compiled. */
  readonly last: string
  /** Aborts when it has work again, or is gone. */
  readonly over: AbortController
}

/** What a thread is used for, and the callers of its answers. */
interface Use {
  readonly kind: 'job' | 'task'
  /** Which job or task. */
  readonly what: string
  readonly waiting: { readonly resolve: (answer: FromThread) => void; readonly reject: (error: ThreadLost) => void }[]
}

export class ThreadPool implements WorkPool {
  readonly #options: ThreadPoolOptions
  readonly #idle = new Map<Worker, Idle>()
  readonly #busy = new Map<Worker, Use>()
  readonly #queue: Job[] = []
  #isClosed = false

  constructor(options: ThreadPoolOptions) {
    this.#options = options
  }

  /** How many it has. */
  get threads(): number {
    return this.#busy.size + this.#idle.size
  }

  async run<K extends JobKind>(
    kind: K,
    pieces: readonly Uint8Array[],
    { settings, signal }: { readonly settings: JobSettings<K>; readonly signal?: AbortSignal },
  ): Promise<JobResult<K>> {
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
    if (bytes <= (kind === 'slice' || kind === 'rowLeaves' || kind === 'offers' ? inlineSliceBytes : inlineBytes))
      return runJob(kind, pieces, settings)
    if (this.#isClosed) throw draining()
    if (signal?.aborted) throw cancelled()
    if (this.#queue.length >= this.#options.queueLimit)
      throw new NodeError('Saturated', 'Too many large requests wait to be read.', { retryAfterSeconds: 1 })
    const result = await new Promise<unknown>((resolve, reject) => {
      const job: Job = { message: { kind: 'job', job: kind, pieces, settings }, bytes, resolve, reject }
      signal?.addEventListener('abort', () => this.#cancel(job), { once: true })
      this.#queue.push(job)
      this.#next()
    })
    return received(kind, result) as JobResult<K> // the thread ran this very job
  }

  begin<K extends TaskKind>(
    kind: K,
    settings: Tasks[K]['settings'],
    { bytes, most }: { readonly bytes: number; readonly most: number },
  ): Task<K>[] {
    if (this.#isClosed || bytes < taskBytesLeast) return []
    const { tasks } = this.#options
    const count = Math.min(most, Math.max(1, tasks - 1), tasks - this.#count('task'))
    return Array.from({ length: count }, () => this.#begin<K>({ task: kind, settings } as Beginning)) // of one kind
  }

  /** Ends all threads, with what they do. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const job of this.#queue.splice(0)) job.reject(draining())
    const workers = [...this.#busy.keys(), ...this.#idle.keys()]
    for (const worker of this.#idle.keys()) this.#stir(worker)
    await Promise.all(workers.map((worker) => worker.terminate()))
  }

  #begin<K extends TaskKind>(beginning: Beginning): Task<K> {
    const worker = this.#take('task', beginning.task)
    worker.postMessage({ kind: 'begin', beginning } satisfies ToThread)
    return {
      say: async (message, over) => {
        const answer = await this.#ask(worker, { kind: 'say', message }, over)
        if (answer.kind === 'failed') throw nodeErrorOf(answer)
        if (answer.kind === 'broken') throw new AssertionFailed(`a thread broke: ${answer.reason}`)
        return answer.answer as Tasks[K]['from'] // it answers what was begun
      },
      end: () => this.#release(worker),
    }
  }

  #next(): void {
    if (this.#queue.length === 0 || this.#count('job') >= this.#options.jobs) return
    const job = this.#queue.shift()
    if (job !== undefined) void this.#work(job)
  }

  async #work(job: Job): Promise<void> {
    const worker = this.#take('job', job.message.job)
    job.worker = worker
    // A job that is waited for keeps the process alive.
    worker.ref()
    try {
      const over = new Handover()
      const pieces = job.message.pieces.map((piece) => over.take(piece))
      const answer = await this.#ask(worker, { ...job.message, pieces }, over)
      if (answer.kind === 'answer') job.resolve(answer.answer)
      else job.reject(answer.kind === 'broken' ? broken(answer.reason) : nodeErrorOf(answer))
    } catch (lost) {
      job.reject(this.#isClosed ? draining() : isOutOfMemory(lost) ? tooMuch() : broken(lost))
    }
    this.#release(worker, job.bytes > wornBytes)
    this.#next()
  }

  #cancel(job: Job): void {
    const at = this.#queue.indexOf(job)
    if (at >= 0) this.#queue.splice(at, 1)
    job.reject(cancelled())
    if (job.worker !== undefined && this.#busy.has(job.worker)) void job.worker.terminate()
  }

  #count(kind: Use['kind']): number {
    let count = 0
    for (const use of this.#busy.values()) if (use.kind === kind) count++
    return count
  }

  #take(kind: Use['kind'], what: string): Worker {
    const idle = [...this.#idle]
    const [worker] = idle.findLast(([, { last }]) => last === what) ?? idle.at(-1) ?? [this.#start()]
    this.#stir(worker)
    this.#busy.set(worker, { kind, what, waiting: [] })
    return worker
  }

  /** What a thread still says is nobody's. */
  #release(worker: Worker, isWorn = false): void {
    const use = this.#busy.get(worker)
    if (use === undefined) return
    this.#busy.delete(worker)
    worker.unref()
    if (isWorn || this.#isClosed || use.waiting.length > 0) void worker.terminate()
    else this.#rest(worker, use.what)
  }

  #rest(worker: Worker, last: string): void {
    const over = new AbortController()
    this.#idle.set(worker, { last, over })
    void this.#options.clock.sleep(idleMs, over.signal).then(() => {
      if (over.signal.aborted) return
      this.#idle.delete(worker)
      void worker.terminate()
    })
  }

  #stir(worker: Worker): void {
    this.#idle.get(worker)?.over.abort('it has work, or is gone')
    this.#idle.delete(worker)
  }

  #ask(worker: Worker, message: ToThread, over?: Handover): Promise<FromThread> {
    return new Promise((resolve, reject) => {
      const use = this.#busy.get(worker)
      if (use === undefined) return reject(new ThreadLost('the thread of the task has ended'))
      use.waiting.push({ resolve, reject })
      worker.postMessage(message, over?.buffers)
    })
  }

  #start(): Worker {
    // As TypeScript in a checkout, as JavaScript in the published package.
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const worker = new Worker(new URL(`./thread.${extension}`, import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMiB, maxYoungGenerationSizeMb: youngMiB },
      execArgv: [],
      env: {},
    })
    worker.unref()
    worker.on('message', (message: FromThread) => this.#busy.get(worker)?.waiting.shift()?.resolve(message))
    worker.on('error', (error) => this.#lose(worker, error))
    worker.on('exit', () => this.#lose(worker, 'it ended'))
    return worker
  }

  #lose(worker: Worker, cause: unknown): void {
    this.#stir(worker)
    const waiting = this.#busy.get(worker)?.waiting ?? []
    this.#busy.delete(worker)
    for (const { reject } of waiting) reject(new ThreadLost(`a thread was lost: ${String(cause)}`, { cause }))
  }
}

function isOutOfMemory(lost: unknown): boolean {
  const cause = lost instanceof ThreadLost ? lost.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

function draining(): NodeError {
  return new NodeError('Draining', 'The node is shutting down.', { retryAfterSeconds: 5 })
}

function cancelled(): NodeError {
  return new NodeError('QueryTimeout', 'The request was cancelled.')
}

function tooMuch(): NodeError {
  return new NodeError('BodyTooLarge', 'Reading the body takes more memory than one request may use.', {
    hint: 'Send less at once; a saved answer can be sent without its output.',
  })
}

function broken(cause: unknown): NodeError {
  return new NodeError('Internal', 'The node failed to read the body.', { cause })
}

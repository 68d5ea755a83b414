// The work pool on threads: started when they are needed, each with a heap limit of its own, so that a job which takes too
// much memory, or breaks, ends its thread and nothing else. Small jobs run at once, in the caller's turn.

import type { Worker } from 'node:worker_threads'
import { NodeError } from '../model/errors.ts'
import {
  type FromThread,
  type JobKind,
  type JobResult,
  type JobSettings,
  received,
  runJob,
  type ToThread,
  type WorkPool,
} from './jobs.ts'
import { nodeErrorOf, startThread } from './threads.ts'

/** Up to this size a job is done sooner than it is handed over, and holds the event loop for a few milliseconds. */
export const inlineBytes = 64 * 1024
/** A thread that had a larger job is ended, which gives its memory back. */
const wornBytes = 8 * 1024 * 1024

export interface ThreadPoolOptions {
  /** Jobs at the same time. */
  readonly threads: number
  /** Jobs that wait for a thread. */
  readonly queueLimit: number
  /** Memory of a thread, without the bytes that it is handed. */
  readonly heapMiB: number
}

interface Job {
  readonly message: ToThread
  readonly bytes: number
  readonly resolve: (result: unknown) => void
  readonly reject: (error: NodeError) => void
}

export class ThreadPool implements WorkPool {
  readonly #options: ThreadPoolOptions
  readonly #idle: Worker[] = []
  readonly #queue: Job[] = []
  /** Threads with the job of each. */
  readonly #busy = new Map<Worker, Job>()
  #isClosed = false

  constructor(options: ThreadPoolOptions) {
    this.#options = options
  }

  async run<K extends JobKind>(
    kind: K,
    pieces: readonly Uint8Array[],
    { settings, signal }: { readonly settings: JobSettings<K>; readonly signal?: AbortSignal },
  ): Promise<JobResult<K>> {
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
    if (bytes <= inlineBytes) return runJob(kind, pieces, settings)
    if (this.#isClosed) throw draining()
    if (signal?.aborted) throw cancelled()
    if (this.#queue.length >= this.#options.queueLimit) throw saturated()
    const result = await new Promise<unknown>((resolve, reject) => {
      const job: Job = { message: { kind, pieces, settings }, bytes, resolve, reject }
      signal?.addEventListener('abort', () => this.#cancel(job), { once: true })
      this.#queue.push(job)
      this.#next()
    })
    return received(kind, result) as JobResult<K> // the thread ran this very job
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const job of this.#queue.splice(0)) job.reject(draining())
    const busy = [...this.#busy.keys()]
    for (const worker of busy) this.#settle(worker, (job) => job.reject(draining()))
    await Promise.all([...busy, ...this.#idle.splice(0)].map((worker) => worker.terminate()))
  }

  #next(): void {
    if (this.#queue.length === 0 || this.#busy.size >= this.#options.threads) return
    const worker = this.#idle.pop() ?? this.#start()
    const job = this.#queue.shift()
    if (job === undefined) return
    this.#busy.set(worker, job)
    worker.postMessage(job.message, buffersOf(job.message.pieces))
  }

  #start(): Worker {
    const worker = startThread('thread', this.#options.heapMiB)
    worker.on('message', (message: FromThread) => this.#receive(worker, message))
    worker.on('error', (error: Error & { readonly code?: string }) => {
      this.#settle(worker, (job) => job.reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch() : broken(error)))
    })
    worker.on('exit', () => {
      const at = this.#idle.indexOf(worker)
      if (at >= 0) this.#idle.splice(at, 1)
      this.#settle(worker, (job) => job.reject(broken('the thread ended')))
      this.#next()
    })
    return worker
  }

  #receive(worker: Worker, message: FromThread): void {
    const isWorn = (this.#busy.get(worker)?.bytes ?? 0) > wornBytes
    this.#settle(worker, (job) => {
      if (message.kind === 'done') job.resolve(message.result)
      else if (message.kind === 'broken') job.reject(broken(message.reason))
      else job.reject(nodeErrorOf(message))
    })
    if (isWorn || this.#isClosed) void worker.terminate()
    else this.#idle.push(worker)
    this.#next()
  }

  #cancel(job: Job): void {
    const at = this.#queue.indexOf(job)
    if (at >= 0) this.#queue.splice(at, 1)
    for (const [worker, under] of this.#busy) if (under === job) void worker.terminate()
    job.reject(cancelled())
  }

  /** A thread has one job at most, and it ends once. */
  #settle(worker: Worker, tell: (job: Job) => void): void {
    const job = this.#busy.get(worker)
    if (job === undefined) return
    this.#busy.delete(worker)
    tell(job)
  }
}

/** Arrays that own their memory hand it over; the others are copied. */
function buffersOf(pieces: readonly Uint8Array[]): ArrayBuffer[] {
  const buffers = pieces.map(({ buffer, length }) => (buffer.byteLength === length ? buffer : undefined))
  return [...new Set(buffers)].filter((buffer) => buffer instanceof ArrayBuffer)
}

function draining(): NodeError {
  return new NodeError('Draining', 'The node is shutting down.', { retryAfterSeconds: 5 })
}

function saturated(): NodeError {
  return new NodeError('Saturated', 'Too many large requests wait to be read.', { retryAfterSeconds: 1 })
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

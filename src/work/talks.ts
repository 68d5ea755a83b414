// Conversations with threads: a thread that is begun keeps state between the messages that it is sent, and belongs to one
// caller until he ends it. Nobody waits for a thread: who finds none free does the work himself. The port is `TalkThreads`;
// its adapter is below, whose threads run talk-thread.ts.

import { Worker } from 'node:worker_threads'
import { AssertionFailed } from '../lib/assert.ts'
import { copyBytes } from '../lib/bytes.ts'
import type { Field } from '../model/schema.ts'
import type { FromSliceColumns, ToSliceColumns } from './slice-columns.ts'

/** A conversation about the columns of one slice. */
export interface Talk {
  /**
   * The answer to `message`, whose arrays are gone from the caller's hands afterwards. Messages are answered in order.
   * Throws AssertionFailed when the work breaks, or its thread: it can be done again, elsewhere.
   */
  say(message: ToSliceColumns): Promise<FromSliceColumns>
  /** Gives the thread back. To be called once; answers that are still due are never given. */
  end(): void
}

export interface TalkThreads {
  /** Conversations about a slice of `fields` made of so many logged bytes: one a column at most, or none. */
  begin(fields: readonly Field[], payloadBytes: number): Talk[]
}

export type ToTalkThread =
  | { readonly kind: 'begin'; readonly fields: readonly Field[] }
  | { readonly kind: 'say'; readonly message: ToSliceColumns }

export type FromTalkThread =
  | { readonly kind: 'said'; readonly message: FromSliceColumns }
  | { readonly kind: 'broken'; readonly reason: string }

export interface ThreadsOptions {
  readonly threads: number
  /** Memory of a thread, without the arrays that it is handed. */
  readonly heapMiB: number
}

interface Waiting {
  readonly resolve: (message: FromSliceColumns) => void
  readonly reject: (error: AssertionFailed) => void
}

/** Logged bytes from which on a slice is worth the threads: one starts in a tenth of a second. */
const sharedBytesLeast = 1024 * 1024

/** Threads that are started when they are needed, and stay for the next conversation. */
export class WorkerThreads implements TalkThreads {
  readonly #options: ThreadsOptions
  readonly #idle: Worker[] = []
  /** Threads with the callers who wait for their answers. */
  readonly #busy = new Map<Worker, Waiting[]>()
  #isClosed = false

  constructor(options: ThreadsOptions) {
    this.#options = options
  }

  begin(fields: readonly Field[], payloadBytes: number): Talk[] {
    if (this.#isClosed || payloadBytes < sharedBytesLeast) return []
    const free = Math.min(fields.length, this.#options.threads - this.#busy.size)
    return Array.from({ length: free }, () => this.#begin(fields))
  }

  /** Ends all threads, with conversations that go on. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#busy.keys(), ...this.#idle.splice(0)].map((worker) => worker.terminate()))
  }

  #begin(fields: readonly Field[]): Talk {
    const worker = this.#idle.pop() ?? this.#start()
    this.#busy.set(worker, [])
    this.#send(worker, { kind: 'begin', fields })
    return {
      say: (message) =>
        new Promise((resolve, reject) => {
          const waiting = this.#busy.get(worker)
          if (waiting === undefined) return reject(new AssertionFailed('the thread of the conversation has ended'))
          waiting.push({ resolve, reject })
          this.#send(worker, { kind: 'say', message })
        }),
      end: () => {
        const waiting = this.#busy.get(worker)
        this.#busy.delete(worker)
        // What it still says is nobody's.
        if (waiting?.length === 0 && !this.#isClosed) this.#idle.push(worker)
        else void worker.terminate()
      },
    }
  }

  #send(worker: Worker, message: ToTalkThread): void {
    const { value, buffers } = handedOver(message)
    worker.postMessage(value, buffers)
  }

  #start(): Worker {
    // The entry lies beside this file: as TypeScript in a checkout, as JavaScript in the published package.
    const entry = new URL(import.meta.url.endsWith('.ts') ? './talk-thread.ts' : './talk-thread.js', import.meta.url)
    const worker = new Worker(entry, {
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMiB },
      execArgv: [],
      env: {},
    })
    // A thread that waits for work keeps no process alive.
    worker.unref()
    worker.on('message', (message: FromTalkThread) => {
      const first = this.#busy.get(worker)?.shift()
      if (message.kind === 'said') first?.resolve(message.message)
      else first?.reject(new AssertionFailed(`a thread broke: ${message.reason}`))
    })
    worker.on('error', (error) => this.#lose(worker, String(error)))
    worker.on('exit', () => this.#lose(worker, 'it ended'))
    return worker
  }

  #lose(worker: Worker, reason: string): void {
    const at = this.#idle.indexOf(worker)
    if (at >= 0) this.#idle.splice(at, 1)
    const waiting = this.#busy.get(worker) ?? []
    this.#busy.delete(worker)
    for (const { reject } of waiting) reject(new AssertionFailed(`a thread was lost: ${reason}`))
  }
}

/**
 * A message of plain values, maps and arrays of bytes, with the buffers to transfer: arrays that are all of their buffer
 * move to the other thread, the others are copied first, so that nothing moves of which someone else has a part.
 */
export function handedOver<T>(message: T): { readonly value: T; readonly buffers: ArrayBuffer[] } {
  const buffers = new Set<ArrayBuffer>()
  const own = (value: unknown): unknown => {
    if (value instanceof Uint8Array || value instanceof Int32Array) {
      const isWhole = value.byteLength === value.buffer.byteLength && value.buffer instanceof ArrayBuffer
      const array = isWhole ? value : value instanceof Int32Array ? value.slice() : copyBytes(value)
      // Arrays of no bytes are often one for all.
      if (array.byteLength > 0 && array.buffer instanceof ArrayBuffer) buffers.add(array.buffer)
      return array
    }
    if (value instanceof Map) return new Map(Array.from(value, ([key, one]) => [key, own(one)]))
    if (Array.isArray(value)) return value.map(own)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, own(one)]))
  }
  // `as`: the same shape.
  return { value: own(message) as T, buffers: [...buffers] }
}

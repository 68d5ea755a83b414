// Conversations with threads: a thread that is begun keeps state between the messages that it is sent, and belongs to one
// caller until he ends it. Nobody waits for a thread: who finds none free does the work himself. The port is `TalkThreads`;
// its adapter is below, whose threads run talk-thread.ts.

import type { Worker } from 'node:worker_threads'
import { AssertionFailed } from '../lib/assert.ts'
import { copyBytes } from '../lib/bytes.ts'
import type { Beginning, TalkKind, Talks } from './talk-work.ts'
import { nodeErrorOf, startThread, type ToldError } from './threads.ts'

export interface Talk<K extends TalkKind> {
  /**
   * The answer to `message`, whose arrays are gone from the caller's hands afterwards. Messages are answered in order.
   * Throws the NodeErrors of the work, AssertionFailed when it breaks, ThreadLost when its thread does: what is lost can
   * be done again, elsewhere.
   */
  say(message: Talks[K]['to']): Promise<Talks[K]['from']>
  /** Gives the thread back. To be called once; answers that are still due are never given. */
  end(): void
}

/** A thread ended in the midst of a conversation. */
export class ThreadLost extends AssertionFailed {}

export interface TalkThreads {
  /** Conversations about so many bytes, at most `most`: as many as there are threads free, none for few bytes. */
  begin<K extends TalkKind>(
    kind: K,
    settings: Talks[K]['settings'],
    about: { readonly bytes: number; readonly most: number },
  ): Talk<K>[]
}

export type ToTalkThread =
  | { readonly kind: 'begin'; readonly beginning: Beginning }
  | { readonly kind: 'say'; readonly message: Talks[TalkKind]['to'] }

export type FromTalkThread = { readonly kind: 'said'; readonly message: Talks[TalkKind]['from'] } | ToldError

export interface ThreadsOptions {
  readonly threads: number
  /** Memory of a thread, without the arrays that it is handed. */
  readonly heapMiB: number
}

interface Waiting {
  readonly resolve: (message: Talks[TalkKind]['from']) => void
  readonly reject: (error: Error) => void
}

/** Bytes from which on work is worth a thread: one starts in a tenth of a second. */
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

  begin<K extends TalkKind>(
    kind: K,
    settings: Talks[K]['settings'],
    { bytes, most }: { readonly bytes: number; readonly most: number },
  ): Talk<K>[] {
    if (this.#isClosed || bytes < sharedBytesLeast) return []
    const free = Math.min(most, this.#options.threads - this.#busy.size)
    return Array.from({ length: free }, () => this.#begin<K>({ talk: kind, settings } as Beginning)) // of one kind
  }

  /** Ends all threads, with conversations that go on. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#busy.keys(), ...this.#idle.splice(0)].map((worker) => worker.terminate()))
  }

  #begin<K extends TalkKind>(beginning: Beginning): Talk<K> {
    const worker = this.#idle.pop() ?? this.#start()
    this.#busy.set(worker, [])
    this.#send(worker, { kind: 'begin', beginning })
    return {
      say: (message) =>
        new Promise((resolve, reject) => {
          const waiting = this.#busy.get(worker)
          if (waiting === undefined) return reject(new ThreadLost('the thread of the conversation has ended'))
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
    const worker = startThread('talk-thread', this.#options.heapMiB)
    // A thread that waits for work keeps no process alive.
    worker.unref()
    worker.on('message', (message: FromTalkThread) => {
      const first = this.#busy.get(worker)?.shift()
      if (message.kind === 'said') first?.resolve(message.message)
      else if (message.kind === 'failed') first?.reject(nodeErrorOf(message))
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
    for (const { reject } of waiting) reject(new ThreadLost(`a thread was lost: ${reason}`))
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

// The parent's end of one engine process: sends it one job, waits at most so long, and kills it when it overstays.

import { type ChildProcess, fork } from 'node:child_process'
import { must } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import { NodeError } from '../model/errors.ts'
import {
  type Analysis,
  type AnswerRoom,
  type ChildSettings,
  type EngineAnswer,
  type FromChild,
  type PlainError,
  SentLists,
  type ToChild,
} from './engine-job.ts'
import { outOfMemory } from './sql-errors.ts'

/** Time that an interrupted query has to end by itself. */
const interruptGraceMs = 250
const startMs = 30_000

/** What a job ends with. */
export type Outcome = { kind: 'analysis'; analysis: Analysis } | { kind: 'answer'; answer: EngineAnswer }

export interface JobLimits {
  readonly queryMs: number
  readonly signal: AbortSignal | undefined
  readonly room?: AnswerRoom
}

interface Pending {
  readonly room: AnswerRoom | undefined
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: NodeError) => void
}

interface Incoming {
  readonly data: Uint8Array
  filled: number
  readonly head: Extract<FromChild, { kind: 'answer' }>
}

export class ChildHandle {
  readonly #process: ChildProcess
  readonly #clock: Clock
  readonly #settings: ChildSettings
  readonly #lists = new SentLists()
  readonly #exited: Promise<void>
  /** Ids of the datasets that its memory may show. */
  readonly read = new Set<string>()
  /** True once the engine stood. */
  started = false
  #pending: Pending | undefined
  #incoming: Incoming | undefined
  #nextId = 1
  #usable = true
  /** Why the process is about to end, when it is not a fault. */
  #ending: NodeError | undefined
  #onReady: ((error?: NodeError) => void) | undefined

  constructor(settings: ChildSettings, clock: Clock) {
    this.#settings = settings
    this.#clock = clock
    this.#process = startProcess()
    this.#exited = new Promise((resolve) => {
      this.#process.on('exit', (code, signal) => {
        this.#ended(`it ended with ${signal ?? code}`)
        resolve()
      })
      this.#process.on('error', (error) => {
        this.#ended(error.message)
        // What never began does not exit.
        if (this.#process.pid === undefined) resolve()
      })
    })
    // Only our own child.ts writes to this channel.
    this.#process.on('message', (message) => this.#receive(message as FromChild))
  }

  /** False once the process is dead, dying, broken or worn. */
  get usable(): boolean {
    return this.#usable
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Resolves when the process is gone. */
  get exited(): Promise<void> {
    return this.#exited
  }

  /** Hands over the settings and waits until the engine stands. Throws NodeError `Internal`. */
  async ready(): Promise<void> {
    const timer = new AbortController()
    const started = new Promise<void>((resolve, reject) => {
      this.#onReady = (error) => (error === undefined ? resolve() : reject(error))
    })
    void this.#clock.sleep(startMs, timer.signal).then(() => {
      if (!timer.signal.aborted) this.kill(new NodeError('Internal', 'The query engine did not start.'))
    })
    this.#send({ kind: 'settings', settings: this.#settings })
    try {
      await started
      this.started = true
    } finally {
      timer.abort()
    }
  }

  /** Runs one job. Throws NodeError; afterwards `usable` says whether the process can take another. */
  async perform(job: (id: number, lists: SentLists) => ToChild, limits: JobLimits): Promise<Outcome> {
    const id = this.#nextId++
    const done = new AbortController()
    const outcome = new Promise<Outcome>((resolve, reject) => {
      this.#pending = { resolve, reject, room: limits.room }
    })
    void this.#clock.sleep(limits.queryMs, done.signal).then(() => {
      if (!done.signal.aborted) this.kill(timedOut(limits.queryMs))
    })
    const onAbort = (): void => void this.#cancel(done.signal)
    limits.signal?.addEventListener('abort', onAbort, { once: true })
    if (limits.signal?.aborted) onAbort()
    this.#send(job(id, this.#lists))
    try {
      return await outcome
    } finally {
      done.abort()
      limits.signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Ends the process now; a job under way fails with `reason`. */
  kill(reason: NodeError): void {
    this.#usable = false
    this.#ending ??= reason
    this.#process.kill('SIGKILL')
  }

  /** Asks the engine to stop and kills the process if it does not. */
  async #cancel(done: AbortSignal): Promise<void> {
    this.#send({ kind: 'interrupt' })
    await this.#clock.sleep(interruptGraceMs, done)
    if (!done.aborted) this.kill(cancelled())
  }

  #send(message: ToChild): void {
    if (this.#process.connected) this.#process.send(message)
    else this.#ended('it is gone')
  }

  #receive(message: FromChild): void {
    switch (message.kind) {
      case 'ready':
        return this.#onReady?.()
      case 'unusable':
        return this.kill(new NodeError('Internal', 'The query engine did not start.', { cause: message.reason }))
      case 'overgrown':
        return this.kill(outOfMemory(this.#settings.memoryBytes))
      case 'worn':
        this.#usable = false
        return
      case 'analysis':
        return this.#settle((pending) => pending.resolve({ kind: 'analysis', analysis: message.analysis }))
      case 'answer':
        return this.#begin(message)
      case 'piece':
        return this.#takePiece(message.bytes)
      case 'failed':
        return this.#fail(message.error)
    }
  }

  /** Takes an answer in if there is room for it. */
  #begin(head: Incoming['head']): void {
    const hasRest = head.first.length < head.dataBytes
    try {
      this.#pending?.room?.take(head.dataBytes)
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      if (hasRest) this.#send({ kind: 'rest', id: head.id, wanted: false })
      return this.#settle((pending) => pending.reject(error))
    }
    if (hasRest) this.#send({ kind: 'rest', id: head.id, wanted: true })
    this.#incoming = { data: new Uint8Array(head.dataBytes), filled: 0, head }
    this.#takePiece(head.first)
  }

  #takePiece(bytes: Uint8Array): void {
    const incoming = must(this.#incoming, 'pieces follow their answer')
    incoming.data.set(bytes, incoming.filled)
    incoming.filled += bytes.length
    this.#finishWhenWhole(incoming)
  }

  #finishWhenWhole(incoming: Incoming): void {
    if (incoming.filled < incoming.data.length) return
    this.#incoming = undefined
    const { rows, truncated, stability, schema } = incoming.head
    const answer = { data: incoming.data, rows, truncated, stability, ...(schema !== undefined && { schema }) }
    this.#settle((pending) => pending.resolve({ kind: 'answer', answer }))
  }

  #fail(error: PlainError): void {
    if (error.broken) this.#usable = false
    const details = error.reason === undefined ? error.details : { ...error.details, cause: error.reason }
    this.#settle((pending) => pending.reject(new NodeError(error.kind, error.message, details)))
  }

  #ended(why: string): void {
    this.#usable = false
    const error =
      this.#ending ?? new NodeError('Internal', 'The query engine failed.', { cause: `the process died: ${why}` })
    this.#onReady?.(error)
    this.#settle((pending) => pending.reject(error))
  }

  #settle(tell: (pending: Pending) => void): void {
    const pending = this.#pending
    this.#pending = undefined
    if (pending !== undefined) tell(pending)
  }
}

function startProcess(): ChildProcess {
  // The entry lies beside this file: as TypeScript in a checkout, as JavaScript in the published package.
  const entry = new URL(import.meta.url.endsWith('.ts') ? './child.ts' : './child.js', import.meta.url)
  return fork(entry, [], {
    execArgv: [],
    env: { TZ: 'UTC' },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}

function timedOut(queryMs: number): NodeError {
  return new NodeError('QueryTimeout', `The query took longer than ${queryMs} ms.`, {
    hint: 'Filter or aggregate more.',
    limit: { name: 'queryMs', value: queryMs, unit: 'ms' },
  })
}

/** What a query ends with when nobody waits for it any more. */
export function cancelled(): NodeError {
  return new NodeError('QueryTimeout', 'The query was cancelled.')
}

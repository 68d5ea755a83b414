// The parent's end of one engine process: sends it one job, waits at most so long, and kills it when it overstays.

import { type ChildProcess, fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { defined } from '../../../libraries/base/collections.ts'
import { must } from '../../../libraries/base/assert.ts'
import type { Clock } from '../../../libraries/base/clock.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { cancelled, over } from './cancelled.ts'
import { SentLists } from './file-lists.ts'
import {
  type AnswerRoom,
  type ChildSettings,
  type EngineAnswer,
  engineFlag,
  type FromChild,
  type PlainError,
  type StreamEnd,
  type StreamStart,
  streamWindowBytes,
  type ToChild,
} from '../messages.ts'
import type { Analysis, Judgement } from '../../../libraries/sql/statement.ts'
import { endedForMemory, outOfMemory } from '../../../libraries/sql/sql-errors.ts'

/** Time that an interrupted query has to end by itself. */
const interruptGraceMs = 250
/** For a process to stand, as a rule. */
export const startMs = 30_000

/** What a call of the process ends with. */
export type Outcome =
  | { readonly kind: 'ready' }
  | { readonly kind: 'analysis'; readonly analysis: Analysis }
  | { readonly kind: 'judged'; readonly judgement: Judgement }
  | { readonly kind: 'answer'; readonly answer: EngineAnswer }
  | { readonly kind: 'streamed'; readonly end: StreamEnd }

/** Takes a streamed answer as it comes. */
export interface StreamReader {
  begin(start: StreamStart): void
  /** Resolves when the bytes are out of its hands. */
  more(bytes: Uint8Array): Promise<void>
}

/** How long a job may take. */
export interface TimeLimit {
  readonly name: 'queryMs' | 'exportMs'
  readonly value: number
}

interface CallLimits {
  readonly mostMs: number
  /** What the call ends with when it takes longer. */
  readonly late: () => NodeError
  readonly signal?: AbortSignal | undefined
  readonly room?: AnswerRoom | undefined
  readonly reader?: StreamReader | undefined
}

interface Pending {
  readonly room: AnswerRoom | undefined
  readonly reader: StreamReader | undefined
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
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>
  /** Ids of the datasets that its memory may show. */
  readonly read = new Set<string>()
  /** When it was last given back, or stood. */
  unusedSinceMs = 0
  /** It takes jobs while it is `ready`; `spent`: dead, dying, broken or worn. */
  #state: 'starting' | 'ready' | 'spent' = 'starting'
  #pending: Pending | undefined
  #incoming: Incoming | undefined
  /** Why the process is about to end, when it is not a fault. */
  #ending: NodeError | undefined

  /** Starts a process with the engine in a folder, as long as its files are in this state. */
  constructor(settings: ChildSettings, engine: { readonly folder: string; readonly state: string }, clock: Clock) {
    this.#process = startProcess(engine)
    endsFirst(this.#process.pid)
    this.#settings = settings
    this.#clock = clock
    this.exited = new Promise((resolve) => {
      this.#process.on('exit', (code, signal) => {
        this.#ended(`it ended with ${signal ?? code}`, signal)
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

  get usable(): boolean {
    return this.#state === 'ready'
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Hands over the settings and waits until the engine stands, or so long. Throws NodeError `Internal`. */
  async ready(mostMs = startMs): Promise<void> {
    const late = (): NodeError => notStarted(`it took longer than ${mostMs} ms`)
    await this.#call({ kind: 'settings', settings: this.#settings }, { mostMs, late })
    if (this.#state === 'starting') this.#state = 'ready'
  }

  /** Runs one job. Throws NodeError; afterwards `usable` says whether the process can take another. */
  async perform(
    job: (lists: SentLists) => ToChild,
    { within, ...limits }: Omit<CallLimits, 'mostMs' | 'late'> & { readonly within: TimeLimit },
  ): Promise<Outcome> {
    const late = (): NodeError =>
      new NodeError('QueryTimeout', `The query took longer than ${within.value} ms.`, {
        hint: 'Filter or aggregate more.',
        limit: { ...within, unit: 'ms' },
      })
    return await this.#call(job(this.#lists), { mostMs: within.value, late, ...limits })
  }

  async #call(message: ToChild, { mostMs, late, signal, room, reader }: CallLimits): Promise<Outcome> {
    const done = new AbortController()
    const outcome = new Promise<Outcome>((resolve, reject) => {
      this.#pending = { resolve, reject, room, reader }
    })
    void this.#clock.sleep(mostMs, done.signal).then(() => {
      if (!done.signal.aborted) this.kill(late())
    })
    const onAbort = (): void => void this.#interrupt(done.signal)
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted) onAbort()
    this.#send(message)
    try {
      return await outcome
    } finally {
      done.abort(over)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Ends the process now; a job in flight fails with `reason`. */
  kill(reason: NodeError): void {
    this.#state = 'spent'
    this.#ending ??= reason
    this.#process.kill('SIGKILL')
  }

  /** Asks the engine to stop and kills the process if it does not. */
  async #interrupt(done: AbortSignal): Promise<void> {
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
      case 'analysis':
      case 'judged':
        return this.#finish((pending) => pending.resolve(message))
      case 'unusable':
        return this.kill(notStarted(message.reason))
      case 'overgrown':
        return this.kill(outOfMemory(this.#settings.memoryBytes))
      case 'worn':
        this.#state = 'spent'
        // With a job, it ends when it is given back.
        if (this.#pending === undefined) this.#process.kill('SIGKILL')
        return
      case 'answer':
        return this.#begin(message)
      case 'piece':
        return this.#takePiece(message.bytes)
      case 'begun':
        return this.#beginStream(message.start)
      case 'more':
        return void this.#takeMore(message.bytes)
      case 'ended':
        return this.#finish((pending) => pending.resolve({ kind: 'streamed', end: message.end }))
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
      if (hasRest) this.#send({ kind: 'rest', wanted: false })
      return this.#finish((pending) => pending.reject(error))
    }
    if (hasRest) this.#send({ kind: 'rest', wanted: true })
    this.#incoming = { data: new Uint8Array(head.dataBytes), filled: 0, head }
    this.#takePiece(head.first)
  }

  #takePiece(bytes: Uint8Array): void {
    const incoming = must(this.#incoming, 'pieces follow their answer')
    const { data, head } = incoming
    data.set(bytes, incoming.filled)
    incoming.filled += bytes.length
    if (incoming.filled < data.length) return
    this.#incoming = undefined
    const { rows, truncated, stability, schema } = head
    const answer = { data, rows, truncated, stability, ...(schema !== undefined && { schema }) }
    this.#finish((pending) => pending.resolve({ kind: 'answer', answer }))
  }

  /** Takes a streamed answer in if there is room for what is under way of it. */
  #beginStream(start: StreamStart): void {
    const { end, first } = start
    try {
      this.#pending?.room?.take(end === undefined ? streamWindowBytes : first.length)
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      return end === undefined ? this.kill(error) : this.#finish((pending) => pending.reject(error))
    }
    this.#pending?.reader?.begin(start)
    if (end !== undefined) this.#finish((pending) => pending.resolve({ kind: 'streamed', end }))
    else this.#send({ kind: 'taken', bytes: first.length })
  }

  async #takeMore(bytes: Uint8Array): Promise<void> {
    await this.#pending?.reader?.more(bytes)
    if (this.#state !== 'spent') this.#send({ kind: 'taken', bytes: bytes.length })
  }

  #fail({ kind, message, details, reason, broken }: PlainError): void {
    if (broken) this.#state = 'spent'
    const error = new NodeError(kind, message, reason === undefined ? details : { ...details, cause: reason })
    this.#finish((pending) => pending.reject(error))
  }

  #ended(why: string, signal?: NodeJS.Signals | null): void {
    this.#state = 'spent'
    const cause = `the process died: ${why}`
    // Nobody here has killed it: the machine had no memory left.
    const fault =
      signal === 'SIGKILL' ? endedForMemory(cause) : new NodeError('Internal', 'The query engine failed.', { cause })
    this.#finish((pending) => pending.reject(this.#ending ?? fault))
  }

  #finish(tell: (pending: Pending) => void): void {
    const pending = this.#pending
    this.#pending = undefined
    if (pending !== undefined) tell(pending)
  }
}

function startProcess({ folder, state }: { readonly folder: string; readonly state: string }): ChildProcess {
  // The entry lies beside this file: as TypeScript in a checkout, as JavaScript in the published package.
  const entry = new URL(import.meta.url.endsWith('.ts') ? './child.ts' : './child.js', import.meta.url)
  // Where this process keeps its compiled code, the child finds its own: it is ready in a third of the time.
  const compiled = getCompileCacheDir()
  return fork(entry, [`${engineFlag}${state}=${folder}`], {
    // Results of the engine are given back when the collector finds them (child.ts).
    execArgv: ['--expose-gc'],
    env: { TZ: 'UTC', ...defined({ NODE_COMPILE_CACHE: compiled }) },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}

/** Linux ends this process before any other where memory runs out: a query is lost, and not the node. */
function endsFirst(pid: number | undefined): void {
  if (process.platform !== 'linux' || pid === undefined) return
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000')
  } catch {
    // It has ended already, or nobody may say so here: then the memory that each holds decides.
  }
}

function notStarted(cause?: string): NodeError {
  return new NodeError('Internal', 'The query engine did not start.', cause === undefined ? {} : { cause })
}

// Entry of an engine process: takes one message at a time from its parent, answers, watches its own memory, and dies
// with its parent. Started by child-handle.ts, never imported.

import { flushCompileCache } from 'node:module'
import { concatBytes } from '../../../libraries/base/bytes.ts'
import { nextTurn, systemClock } from '../../../libraries/base/clock.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { collect } from '../duckdb/groups.ts'
import { openSession } from '../duckdb/open.ts'
import type { DuckDbSession, SessionAnswer } from '../duckdb/session.ts'
import type { ChildSettings, FromChild, PlainError, PlainStreamJob, ToChild } from '../messages.ts'
import { over } from './cancelled.ts'
import { Outbox } from './outbox.ts'
import { breaksEngine, reasonOf } from '../../../libraries/sql/sql-errors.ts'

/** Bytes of an answer that travel in one message. Larger messages leave garbage in the parent, several times their size. */
const pieceBytes = 128 * 1024
const watchEveryMs = 25
/** After so long without work a process gives back what has come to it, where that is worth the work. */
const restMs = 2_000
const worthBytes = 8 * 1024 * 1024

let session: DuckDbSession | undefined
/** Jobs under way: the next may come before the last has been seen to its end. */
let jobs = 0
/** Told whether the rest of an answer is wanted. */
let onRest: ((wanted: boolean) => void) | undefined
/** The streamed answer that is under way. */
let outbox: Outbox | undefined
/** Memory above which a process is not used again, and above which it ends. */
let wornBytes = Number.POSITIVE_INFINITY
let killBytes = Number.POSITIVE_INFINITY
let isWatched = false
/** Memory at the last rest, when it was collected last, and what may come to that before it is collected within a job. */
let restBytes = 0
let collectedBytes = 0
let keptMost = Number.POSITIVE_INFINITY
/** Aborts the wait for rest. */
let work = new AbortController()
/** Resolves when no memory is being given back. */
let rested = Promise.resolve()

process.on('message', (message) => {
  // Only the parent's ChildHandle writes to this channel.
  void receive(message as ToChild)
})
process.on('disconnect', die)
// Signals of a terminal or a supervisor reach the whole group; the parent decides when a child ends.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)

async function receive(message: ToChild): Promise<void> {
  if (message.kind === 'settings') return await start(message.settings)
  if (message.kind === 'interrupt') return interrupt()
  if (message.kind === 'taken') return outbox?.taken(message.bytes)
  if (message.kind === 'rest') return onRest?.(message.wanted)
  jobs++
  work.abort(over)
  void watchMemory()
  try {
    await rested
    await answer(message)
  } catch (error) {
    await giveBack()
    await send({ kind: 'failed', error: plainError(error) })
  }
  jobs--
  if (jobs === 0) await rest()
}

async function start(settings: ChildSettings): Promise<void> {
  try {
    session = await openSession(settings)
  } catch (error) {
    await send({ kind: 'unusable', reason: reasonOf(error) })
    return
  }
  killBytes = settings.killBytes
  wornBytes = killBytes / 2
  restBytes = collectedBytes = process.memoryUsage.rss()
  keptMost = settings.memoryBytes / 8
  await send({ kind: 'ready' })
  // A process like this one is killed in the end, before it would keep its compiled code for the next.
  flushCompileCache()
}

async function answer(message: Extract<ToChild, { kind: 'analyze' | 'judge' | 'run' | 'stream' }>): Promise<void> {
  if (session === undefined) throw new NodeError('Internal', 'The query engine has not started.')
  if (message.kind === 'stream') return await sendStream(session, message.job)
  if (message.kind === 'run') return await sendAnswer(await session.run(message.job))
  if (message.kind === 'judge') return await send({ kind: 'judged', judgement: await session.judge(message.of) })
  await send({ kind: 'analysis', analysis: await session.analyze(message.sql, message.speaks) })
}

async function sendAnswer({ rows, truncated, stability, schema, bytes, pieces }: SessionAnswer): Promise<void> {
  await giveBack()
  const all = packed(pieces)
  const first = all.next().value ?? new Uint8Array()
  const rest = new Promise<boolean>((resolve) => (onRest = resolve))
  await send({ kind: 'answer', rows, truncated, stability, schema, dataBytes: bytes, first })
  if (first.length === bytes || !(await rest)) return
  for (const piece of all) await send({ kind: 'piece', bytes: piece })
}

async function sendStream(from: DuckDbSession, job: PlainStreamJob): Promise<void> {
  try {
    const end = await from.stream(job, (stability) => (outbox = new Outbox(send, { clock: systemClock, stability })))
    await giveBack()
    await outbox?.end(end)
  } finally {
    outbox = undefined
  }
}

/**
 * Gives back the memory of a large result before its job ends: it belongs to the engine, which counts it against the next
 * statement until the collector has found that nobody holds it. A process that keeps too much all the same is used no more.
 */
async function giveBack(): Promise<void> {
  if (process.memoryUsage.rss() - collectedBytes > keptMost) {
    await collectAll()
    collectedBytes = process.memoryUsage.rss()
  }
  if (process.memoryUsage.rss() > wornBytes) await send({ kind: 'worn' })
}

async function collectAll(): Promise<void> {
  collect()
  // What it finds is given back on later turns.
  for (let turn = 0; turn < 3; turn++) await nextTurn()
}

/** Once there is no work, gives back what nobody holds, and what the allocators of the engine keep; or the whole process. */
async function rest(): Promise<void> {
  work = new AbortController()
  const { signal } = work
  await systemClock.sleep(restMs, signal)
  if (signal.aborted) return
  if (session?.isStale === true) return await send({ kind: 'worn' })
  if (process.memoryUsage.rss() - restBytes < worthBytes) return
  rested = collectAll().then(async () => await session?.giveBack())
  await rested
  restBytes = collectedBytes = process.memoryUsage.rss()
}

function interrupt(): void {
  outbox?.stop()
  session?.interrupt()
}

/** The same bytes in pieces of at most `pieceBytes`, small ones joined. */
function* packed(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  for (const piece of pieces) {
    if (waitingBytes + piece.length > pieceBytes) {
      yield concatBytes(waiting)
      waiting = []
      waitingBytes = 0
    }
    const large = piece.length > pieceBytes
    for (let at = 0; large && at < piece.length; at += pieceBytes) yield piece.subarray(at, at + pieceBytes)
    if (large) continue
    waiting.push(piece)
    waitingBytes += piece.length
  }
  yield concatBytes(waiting)
}

function plainError(error: unknown): PlainError {
  const broken = breaksEngine(error)
  if (!(error instanceof NodeError)) {
    return { kind: 'Internal', message: 'The query engine failed.', details: {}, reason: reasonOf(error), broken }
  }
  const { cause, ...details } = error.details
  return {
    kind: error.kind,
    message: error.message,
    details,
    broken,
    ...(cause !== undefined && { reason: reasonOf(cause) }),
  }
}

/** The engine counts its own buffers only; values in flight and results are seen here. A process at rest sleeps. */
async function watchMemory(): Promise<void> {
  if (isWatched) return
  isWatched = true
  while (jobs > 0) {
    await systemClock.sleep(watchEveryMs)
    if (jobs === 0 || process.memoryUsage.rss() <= killBytes) continue
    process.send?.({ kind: 'overgrown' } satisfies FromChild)
    // Nothing else ends a process whose worker threads are inside the engine.
    await systemClock.sleep(watchEveryMs)
    die()
  }
  isWatched = false
}

async function send(message: FromChild): Promise<void> {
  await new Promise<void>((resolve) => {
    if (process.send === undefined) resolve()
    else process.send(message, () => resolve())
  })
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

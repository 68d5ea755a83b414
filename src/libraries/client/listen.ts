// Blocks as the JavaScript client hears of them: one stream that is opened again wherever it breaks, at the place where it
// broke, so that each block comes once and in order.

import { parseJson, type PlainJson, toPlain } from '../base/json/json.ts'
import { systemClock } from '../base/clock.ts'
import { EventReader, type ServerSentEvent } from '../base/server-sent-events.ts'
import { type Exchange, pause, pauseMs, problemOf, ProofstreamError, retries, unreachable } from './exchange.ts'

/** A row: its columns by name. Whole numbers beyond ±(2^53-1) are bigints. */
export type Row = Readonly<Record<string, PlainJson>>

/** First and last offset of rows. */
export interface Offsets {
  readonly start: number
  readonly end: number
}

/** A block that was committed. */
export interface BlockEvent {
  /** Where the listener is after it: `lastEventId` of a later call. */
  readonly id: string
  /** `account/dataset`. */
  readonly alias: string
  /** Its hash. */
  readonly block: string
  readonly sequence: number
  /** Null where it holds no rows. */
  readonly offsets: Offsets | null
  /** RFC 3339. */
  readonly systemTime: string
  /** Where they were asked for: 1,000 at most. */
  readonly rows?: readonly Row[]
  /** Rows of the block that are not among `rows`: `tail` with `at` gives them. */
  readonly truncated?: Offsets
}

export interface ListenOptions {
  /** With the rows of each block. */
  readonly rows?: boolean
  /** `id` of the last event that was heard; absent: from now on. */
  readonly lastEventId?: string
  /** Ends the stream: the loop over it is left without an error. */
  readonly signal?: AbortSignal
}

/** A node sends something every 15 s. */
const silenceMs = 45_000

/** The blocks of datasets. Throws ProofstreamError where they may not be read (any more), or a node refuses the stream. */
export async function* listen(
  exchange: Exchange,
  datasets: readonly string[],
  { rows = false, lastEventId, signal }: ListenOptions,
): AsyncGenerator<BlockEvent> {
  const isOver = (): boolean => signal?.aborted === true
  let id = lastEventId
  let state: 'new' | 'heard' = 'new'
  for (let tried = 0; !isOver(); tried++) {
    let fault: ProofstreamError | undefined
    try {
      for await (const event of eventsOnce(exchange, { datasets, rows, id, signal })) {
        id = event.id
        state = 'heard'
        tried = 0
        if (event.event === 'end') fault = endOf(event.data)
        else if (event.data !== '') yield blockOf(event)
      }
    } catch (error) {
      if (isOver()) return
      if (!(error instanceof ProofstreamError)) throw error
      fault = error
    }
    if (fault?.isRetryable === false || (fault !== undefined && state === 'new' && tried >= retries)) throw fault
    await pause(pauseMs(tried, fault), signal).catch(() => {})
  }
}

interface Place {
  readonly datasets: readonly string[]
  readonly rows: boolean
  readonly id: string | undefined
  readonly signal: AbortSignal | undefined
}

/** The events of one connection, until it ends, breaks, or is silent for too long. */
async function* eventsOnce(exchange: Exchange, { datasets, rows, id, signal }: Place): AsyncGenerator<ServerSentEvent> {
  const connection = new AbortController()
  const cut = (): void => connection.abort()
  signal?.addEventListener('abort', cut, { once: true })
  try {
    const answer = await inTime(cut, () =>
      exchange.once('/events', {
        query: { dataset: datasets, rows: String(rows) },
        headers: { accept: 'text/event-stream', ...(id !== undefined && { 'last-event-id': id }) },
        signal: connection.signal,
      }),
    )
    const reader = new EventReader()
    const decoder = new TextDecoder()
    const body = answer.body?.getReader()
    for (;;) {
      const { done = true, value } = (await inTime(cut, async () => await body?.read())) ?? {}
      yield* reader.read(decoder.decode(value, { stream: !done }))
      if (done) return
    }
  } finally {
    signal?.removeEventListener('abort', cut)
    // A listener that stops closes the connection.
    cut()
  }
}

/** What `work` gives, which is cut where it is silent for too long. Throws ProofstreamError where the connection broke. */
async function inTime<T>(cut: () => void, work: () => Promise<T>): Promise<T> {
  const came = new AbortController()
  void systemClock.sleep(silenceMs, came.signal).then(() => {
    if (!came.signal.aborted) cut()
  })
  try {
    return await work()
  } catch (cause) {
    throw cause instanceof ProofstreamError ? cause : unreachable('The stream', cause)
  } finally {
    came.abort()
  }
}

function endOf(data: string): ProofstreamError {
  const problem = problemOf(data)
  return new ProofstreamError(Number(problem['status'] ?? 500), problem)
}

function blockOf({ id, data }: ServerSentEvent): BlockEvent {
  // The members are those of docs/spec/http.md §12.
  const block = toPlain(parseJson(data, { maxDepth: 256 }), { largeIntegers: 'bigint' }) as unknown as BlockEvent
  return { ...block, id }
}

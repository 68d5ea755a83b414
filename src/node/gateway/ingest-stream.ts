// A body without end on its way in: records are cut into batches by age and rows (stream-cutter.ts), each batch goes the way
// of any other, and its receipt goes out as soon as it is durable. A batch is parsed while the one before it is appended, and
// reading stops where another waits, or there is no room for what is gathered; receipts that nobody takes give way to later
// ones. So a stream holds four batches and one line, whichever side is slow.

import type { Readable } from 'node:stream'
import { defined } from '../../libraries/base/collections.ts'
import type { Dialect } from '../../libraries/formats/dialect/dialect.ts'
import type { EndlessFormat } from '../../libraries/formats/format.ts'
import { joinedWarnings } from '../../libraries/base/warnings.ts'
import { must } from '../../libraries/base/assert.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Limits } from '../../libraries/base/limits.ts'
import { NodeError, type RecordError } from '../../libraries/base/errors.ts'
import type { Gathering } from './admission.ts'
import { isTooWide } from './body-cost.ts'
import { type ContentEncoding, bodyChunks } from './read-body.ts'
import type { Receipt } from './receipts.ts'
import type { LineBatch } from '../../libraries/formats/line-batch.ts'
import { decidingMs, StreamCutter } from '../../libraries/formats/stream-cutter.ts'
import { StreamRoom } from './stream-room.ts'
import type { RefusedRecords } from './undecided-batches.ts'

/** Called when a batch has been read, so that the next one may be; resolves when it may be appended, rejects where it must not. */
export type Turn = () => Promise<void>

/** How often it is looked whether the sender may still send. */
const rightsEveryMs = 5_000
/** A batch that finds no room is tried again after so long: the sender is held back by TCP meanwhile. */
const roomEveryMs = 500

/** What a batch of a stream is told as. */
export interface StreamReceipt extends Receipt {
  /** First and last record, by number. */
  readonly numbers: { readonly first: number; readonly last: number }
  readonly producer?: { readonly id: string; readonly epoch: number }
  /** Of this batch, and of those that it stands for. */
  readonly warnings?: readonly string[]
}

export type StreamLine =
  | {
      readonly kind: 'receipt'
      readonly receipt: StreamReceipt /** Earlier ones that it stands for. */
      readonly collapsed: number
    }
  /** `last`: number of the last durable record, undefined where there is none. */
  | { readonly kind: 'end'; readonly last: number | undefined; readonly error?: unknown }

export interface StreamSource {
  readonly body: Readable
  readonly contentEncoding: ContentEncoding | undefined
  readonly format: EndlessFormat
  readonly dialect?: Dialect | undefined
  /** Number of the first record. */
  readonly first: number
  /** The first records decide the types of columns. */
  readonly decides: boolean
  /** Throws when the sender may not send any more. */
  readonly rights: () => Promise<void>
}

export interface StreamDeps {
  readonly clock: Clock
  readonly limits: Limits
  /** A batch is cut when its first record is as old as this, or it has so many rows. */
  readonly ageMs: number
  readonly rows: number
  /** The node is shutting down. */
  readonly draining: AbortSignal
  /** Counts what is gathered of the sender's records. */
  readonly gather: () => Gathering
  readonly batches: {
    /**
     * Appends a batch after `turn`, which rejects where it must not, or its beginning: `numbers` of the receipt say how much.
     * Durable when it resolves.
     */
    place(batch: LineBatch, turn: Turn): Promise<StreamReceipt>
    /** A batch as it is placed, with blank lines that come before it. */
    whole(batch: LineBatch): LineBatch
    /** What was told as durable and the log refused all the same; with `waits` it is waited for what is not decided yet. */
    refused(waits: boolean): Promise<RefusedRecords | undefined>
  }
}

export class IngestStream {
  readonly #deps: StreamDeps
  readonly #source: StreamSource
  readonly #cutter: StreamCutter
  readonly #room: StreamRoom
  #body: 'coming' | 'over' | 'cut' = 'coming'
  #bodyError: unknown
  /** When the first record of the open batch came, and the last bytes, by the monotonic clock. */
  #openedMs: number | undefined
  #ageMs: number
  #heardMs: number
  #rightsMs: number
  #last: number | undefined
  /** The last batch that is being placed, the one before it, and when the last one has been read. */
  #placing: Promise<void> = Promise.resolve()
  #beforeIt: Promise<void> = Promise.resolve()
  #reading: Promise<void> = Promise.resolve()
  #hasFailed = false
  /** The line that is next to be taken. */
  #line: StreamLine | undefined
  #end: StreamLine | undefined
  readonly #bodyNews: Bell
  readonly #roomNews: Bell
  readonly #lineNews: Bell

  constructor(deps: StreamDeps, source: StreamSource) {
    this.#deps = deps
    this.#source = source
    this.#cutter = new StreamCutter({
      first: source.first,
      mostRows: deps.rows,
      recordBytes: deps.limits.recordBytes,
      ends: (header) => source.format.ends(header, source.dialect),
      hasHeader: source.format.hasHeader === true,
    })
    this.#room = this.room()
    this.#ageMs = source.decides ? Math.max(deps.ageMs, decidingMs) : deps.ageMs
    this.#heardMs = deps.clock.monotonicMs()
    this.#rightsMs = this.#heardMs + rightsEveryMs
    this.#bodyNews = new Bell(deps.clock)
    this.#roomNews = new Bell(deps.clock)
    this.#lineNews = new Bell(deps.clock)
  }

  /** Room for what is gathered of this stream elsewhere. */
  room(): StreamRoom {
    return new StreamRoom(this.#deps.clock, this.#deps.gather())
  }

  /** Reads and places until the end, which it never throws: the last line tells it. */
  async run(): Promise<void> {
    void this.#read()
    const onDrain = (): void => this.#bodyNews.ring()
    this.#deps.draining.addEventListener('abort', onDrain, { once: true })
    let error: unknown
    try {
      await this.#placeAll()
    } catch (cause) {
      error = cause
      // Another batch may be under way: its turn never comes.
      await this.#placing.catch(() => {})
    }
    this.#deps.draining.removeEventListener('abort', onDrain)
    const refused = await this.#deps.batches.refused(error === undefined).catch((fault: unknown) => {
      return { error: error ?? fault, from: undefined }
    })
    error = refused?.error ?? error
    this.#end = { kind: 'end', last: this.#lastBefore(refused?.from), ...defined({ error }) }
    this.#cutter.discard()
    this.#room.leave()
    this.#roomNews.ring()
    this.#lineNews.ring()
  }

  /** What there is to tell, as fast as it is taken; ends with the line of the end. */
  async *lines(): AsyncGenerator<StreamLine> {
    for (;;) {
      const line = this.#line ?? this.#end
      this.#line = undefined
      if (line === undefined) await this.#lineNews.wait()
      else yield line
      if (line?.kind === 'end') return
    }
  }

  async #read(): Promise<void> {
    const { body, contentEncoding } = this.#source
    const { clock, limits } = this.#deps
    const endless = { ...limits, bodyBytes: Number.POSITIVE_INFINITY, inflatedBytes: Number.POSITIVE_INFINITY }
    try {
      for await (const chunk of bodyChunks(body, contentEncoding, endless)) {
        if (this.#end !== undefined) return
        this.#heardMs = clock.monotonicMs()
        this.#cutter.push(chunk)
        const opens = this.#openedMs === undefined && this.#cutter.isOpen
        if (opens) this.#openedMs = this.#heardMs
        if (opens || this.#cutter.isFull) this.#bodyNews.ring()
        while (this.#cutter.isFull && this.#end === undefined) await this.#roomNews.wait()
        if (this.#room.note(this.#cutter.unfinishedBytes, this.#cutter.isSwallowing)) this.#bodyNews.ring()
        await this.#awaitRoom()
        this.#heardMs = clock.monotonicMs()
      }
      this.#cutter.end()
      this.#body = 'over'
    } catch (error) {
      this.#bodyError = error
      this.#body = 'cut'
    }
    this.#bodyNews.ring()
  }

  /** Reads no further while there is no room for what was gathered; records that are whole go on their way meanwhile. */
  async #awaitRoom(): Promise<void> {
    while (this.#end === undefined && !this.#room.hold(this.#cutter.heldBytes)) {
      if (this.#cutter.isOpen) this.#openedMs = Number.NEGATIVE_INFINITY
      this.#bodyNews.ring()
      await this.#roomNews.wait(roomEveryMs)
    }
  }

  async #placeAll(): Promise<void> {
    const { clock, limits, draining } = this.#deps
    for (;;) {
      const nowMs = clock.monotonicMs()
      const idleMs = this.#heardMs + limits.streamIdleMs
      const { lateMs } = this.#room
      const isOver = this.#body !== 'coming' || draining.aborted || nowMs >= Math.min(idleMs, lateMs)
      const dueMs = (this.#openedMs ?? Number.POSITIVE_INFINITY) + this.#ageMs
      // Behind a quote that is not closed nothing is a record: its reader refuses it, by its place.
      const isQuoted = nowMs >= lateMs && this.#cutter.isSwallowing
      if (isQuoted && this.#room.lateError.kind === 'RequestTimeout') this.#cutter.end()
      const batch = this.#cutter.take(isOver || nowMs >= dueMs)
      if (batch !== undefined) {
        this.#openedMs = this.#cutter.isOpen ? nowMs : undefined
        this.#room.hold(this.#cutter.heldBytes)
        this.#room.restart(this.#cutter.unfinishedBytes, this.#cutter.isSwallowing)
        this.#roomNews.ring()
        await this.#begin(batch)
        this.#ageMs = this.#deps.ageMs
        continue
      }
      if (this.#hasFailed || isOver) break
      await this.#bodyNews.wait(Math.min(dueMs, idleMs, lateMs) - nowMs)
    }
    await this.#placing
    if (this.#bodyError !== undefined) throw this.#bodyError
    if (this.#body !== 'coming') return
    if (draining.aborted) throw drainingNow()
    throw clock.monotonicMs() >= this.#room.lateMs ? this.#room.lateError : idle(limits.streamIdleMs)
  }

  /** Begins to place a batch; resolves when the one before has been read, and the one before that has its place. */
  async #begin(batch: LineBatch): Promise<void> {
    const before = this.#placing
    await Promise.all([this.#beforeIt, this.#reading])
    this.#beforeIt = before
    this.#reading = new Promise((resolve) => {
      const turn = (): Promise<void> => {
        resolve()
        return before
      }
      this.#placing = this.#place(batch, turn).finally(resolve)
    })
    this.#placing.catch(() => {
      this.#hasFailed = true
      this.#bodyNews.ring()
    })
  }

  /** Places a batch; of one with a record that does not fit, the records before it. */
  async #place(batch: LineBatch, turn: Turn): Promise<void> {
    try {
      await this.#placeWhole(batch, turn)
    } catch (error) {
      const whole = this.#deps.batches.whole(batch)
      const misfit = misfitOf(error, whole)
      if (misfit === undefined) throw error
      const { before } = whole.split(misfit.number)
      if (before !== undefined) await this.#placeWhole(before, turn)
      throw misfit.error
    }
  }

  async #placeWhole(batch: LineBatch, turn: Turn): Promise<void> {
    const { clock, batches, draining } = this.#deps
    if (clock.monotonicMs() >= this.#rightsMs) {
      await this.#source.rights()
      this.#rightsMs = clock.monotonicMs() + rightsEveryMs
    }
    for (let rest: LineBatch | undefined = batch; rest !== undefined;) {
      try {
        const receipt = await batches.place(rest, turn)
        this.#tell(receipt)
        rest = rest.split(receipt.numbers.last + 1).rest
      } catch (error) {
        if (rest !== undefined && isTooWide(error) && rest.rows > 1) {
          const halves = rest.split(must(rest.numberOf(Math.ceil(rest.rows / 2)), 'it has such a row'))
          if (halves.before !== undefined) await this.#placeWhole(halves.before, turn)
          rest = halves.rest
          continue
        }
        const isFull = error instanceof NodeError && (error.kind === 'Saturated' || error.kind === 'QuotaExceeded')
        if (!isFull || draining.aborted || this.#body === 'cut') throw error
        await clock.sleep(roomEveryMs, draining)
      }
    }
  }

  /** Number of the last durable record, where those from `refused` on were told and are none. */
  #lastBefore(refused: number | undefined): number | undefined {
    if (refused === undefined || this.#last === undefined || this.#last < refused) return this.#last
    return refused > this.#source.first ? refused - 1 : undefined
  }

  #tell(receipt: StreamReceipt): void {
    this.#last = receipt.numbers.last
    const untold = this.#line?.kind === 'receipt' ? this.#line : undefined
    const warnings = joinedWarnings(untold?.receipt.warnings, receipt.warnings)
    this.#line = {
      kind: 'receipt',
      receipt: warnings === undefined ? receipt : { ...receipt, warnings },
      collapsed: untold === undefined ? 0 : untold.collapsed + 1,
    }
    this.#lineNews.ring()
  }
}

/** Wakes the waiting caller. */
class Bell {
  readonly #clock: Clock
  #wake: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  ring(): void {
    this.#wake()
    this.#wake = () => {}
  }

  /** Resolves when it is rung from now on, or after `ms`. */
  wait(ms = Number.POSITIVE_INFINITY): Promise<void> {
    if (ms === Number.POSITIVE_INFINITY) return new Promise((resolve) => (this.#wake = resolve))
    const rung = new AbortController()
    this.#wake = () => rung.abort('rung')
    return this.#clock.sleep(ms, rung.signal)
  }
}

/** The first record of a batch that does not fit, as an error that names it by its number. */
function misfitOf(
  error: unknown,
  batch: LineBatch,
): { readonly number: number; readonly error: NodeError } | undefined {
  if (!(error instanceof NodeError) || error.kind !== 'RecordsDoNotFit') return undefined
  let first: RecordError | undefined
  for (const one of error.details.errors ?? []) {
    if (one.line !== undefined && one.line < (first?.line ?? Number.POSITIVE_INFINITY)) first = one
  }
  // What is judged of typed rows has no lines, and comes in their order.
  first ??= error.details.errors?.[0]
  const number = first && (first.line === undefined ? batch.numberOf(first.record ?? -1) : batch.numberAt(first.line))
  if (first === undefined || number === undefined) return undefined
  const { line: _line, byteOffset: _offset, ...rest } = first
  return {
    number,
    error: new NodeError('RecordsDoNotFit', `Record ${number} does not fit: ${first.message}`, {
      ...error.details,
      errors: [{ ...rest, record: number }],
      errorsTotal: 1,
    }),
  }
}

function idle(ms: number): NodeError {
  return new NodeError('RequestTimeout', `Nothing came for ${ms} ms.`, {
    limit: { name: 'streamIdleMs', value: ms, unit: 'ms' },
    hint: 'Connect again when there are records; a blank line keeps a stream open that has no producer.',
  })
}

function drainingNow(): NodeError {
  return new NodeError('Draining', 'The node is shutting down.', {
    hint: 'Connect again in a moment, and continue after the last number that you have read.',
    retryAfterSeconds: 1,
  })
}

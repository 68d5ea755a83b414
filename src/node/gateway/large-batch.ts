// A large batch on its way to the log: one Arrow stream, cut into parts that are appended while it comes, and ended by the
// last part, which says what the batch is, or by an abort (docs/spec/protocol.md §1, §10).

import { defined } from '../../libraries/base/collections.ts'
import { copyBytes, freeBytes } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { AbortHeader, BatchEntry, Part, RowsHeader } from '../log/messages.gen.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import type { DataSchema } from '../../libraries/model/schema.ts'

/** Payload bytes of one message or part at most: with its header it stays below 512 KiB, which buffers of clients double. */
export const partBytes = 508 * 1024
/** Rows up to this size are held until all are read: most of what is refused leaves no trace in the log. */
export const heldBytes = 4 * 1024 * 1024
/**
 * Parts of one large batch in flight to the log: while one is made durable the next lies ready. More would only
 * keep other callers of the partition waiting.
 */
const partsInFlight = 2
/** Builders give up an attempt whose next part is 15 minutes late; a gateway does so long before. */
const lateMs = 5 * 60_000

/** Where a batch is in the log. */
export interface Published {
  /** Position of the message that holds the batch. */
  readonly position: number
  /** Index in that message's batches. */
  readonly index: number
  /** The accept time that the message carries; the latest of the parts. */
  readonly acceptedMs: number
}

/** What each message says of its writer. */
export interface Identity {
  readonly writer: string
  readonly n: number
  readonly at: string
}

/** Whose rows they are, as each message of them says. */
export interface RowsOwner {
  readonly dataset: DatasetId
  readonly partition: number
  readonly schemaSequence: number
  /** The trace of the request. */
  readonly traceparent?: string | undefined
}

/** Appends a message of the partition's writer; messages are numbered in the order of the calls. */
export type SendMessage = (
  headerOf: (identity: Identity) => RowsHeader | AbortHeader,
  payload: readonly Uint8Array[],
) => Promise<number>

export class LargeBatch {
  readonly #owner: RowsOwner
  readonly #send: SendMessage
  readonly #clock: Clock
  /** Bytes of the next part. */
  #pieces: Uint8Array[] = []
  #bytes = 0
  #attempt: Part['attempt'] | undefined
  #parts = 0
  readonly #inFlight: Promise<number>[] = []
  /** When the last part was begun. */
  #sentMs = 0
  #acceptedMs = Number.NEGATIVE_INFINITY
  #state: 'coming' | 'ended' | 'given up' = 'coming'

  constructor(owner: RowsOwner, deps: { readonly send: SendMessage; readonly clock: Clock }) {
    this.#owner = owner
    this.#send = deps.send
    this.#clock = deps.clock
  }

  /**
   * Takes the next bytes of the stream, which are gone from the caller's hands; resolves when there is room for more.
   * Throws NodeError `RequestTimeout` for bytes that come 5 minutes after those before, and what `EventLog.append` throws.
   */
  async append(bytes: Uint8Array): Promise<void> {
    // What fits into one part lies in one: a reader joins nothing.
    const isCut = this.#bytes + bytes.length > partBytes && bytes.length <= partBytes
    if (isCut) await this.#sendPart(this.#take(), {})
    this.#pieces.push(bytes)
    this.#bytes += bytes.length
    // The last part is kept back: only the end says what the batch is.
    while (this.#bytes > partBytes) await this.#sendPart(this.#take(), {})
    const rest = this.#pieces.pop() ?? bytes
    this.#pieces.push(rest === bytes ? rest : copyBytes(rest))
    if (rest !== bytes) freeBytes(bytes)
  }

  /**
   * Sends the last part. Durable when it resolves, with the place of that part. Throws as `append`; NodeError
   * `OutcomeUnknown` when the last part took so long that builders may have given up.
   */
  async end(batch: BatchEntry, schema: DataSchema | undefined): Promise<Published> {
    try {
      const last = { batches: [batch], ...defined({ schema }) }
      await this.#sendPart(this.#take(), last)
      let position = 0
      for (const appending of this.#inFlight) position = await appending
      this.#state = 'ended'
      if (this.#clock.monotonicMs() - this.#sentMs > lateMs) throw unknownOutcome()
      return { position, index: 0, acceptedMs: this.#acceptedMs }
    } catch (error) {
      await this.discard()
      throw error
    }
  }

  /** Ends the attempt, if it has begun and not come to its end: nothing of it is stored. Idempotent. */
  async discard(): Promise<void> {
    if (this.#state !== 'coming') return
    this.#state = 'given up'
    this.#pieces = []
    await Promise.allSettled(this.#inFlight)
    const attempt = this.#attempt
    if (attempt === undefined) return
    try {
      await this.#send((identity) => ({ kind: 'abort', ...identity, dataset: this.#owner.dataset, attempt }), [])
    } catch {
      // The log that refused a part may refuse the abort too; the builder ends such an attempt after 15 minutes.
    }
  }

  /** The bytes of one part, in pieces. */
  #take(): Uint8Array[] {
    const part: Uint8Array[] = []
    let missing = partBytes
    for (let piece = this.#pieces.shift(); piece !== undefined; piece = this.#pieces.shift()) {
      const isCut = piece.length > missing
      part.push(isCut ? piece.subarray(0, missing) : piece)
      if (isCut) this.#pieces.unshift(piece.subarray(missing))
      missing -= Math.min(missing, piece.length)
      if (missing === 0) break
    }
    this.#bytes -= partBytes - missing
    return part
  }

  async #sendPart(payload: readonly Uint8Array[], last: Pick<RowsHeader, 'batches' | 'schema'>): Promise<void> {
    if (this.#inFlight.length === partsInFlight) await this.#inFlight.shift()
    const nowMs = this.#clock.monotonicMs()
    if (this.#parts > 0 && nowMs - this.#sentMs > lateMs) throw tooLate()
    this.#sentMs = nowMs
    const number = ++this.#parts
    const { dataset, schemaSequence, traceparent } = this.#owner
    const appending = this.#send((identity) => {
      this.#attempt ??= { writer: identity.writer, n: identity.n }
      this.#acceptedMs = Math.max(this.#acceptedMs, Date.parse(identity.at))
      const part = { attempt: this.#attempt, number, ...(last.batches === undefined ? {} : { count: number }) }
      const trace = traceparent === undefined ? {} : { traceparent }
      return { kind: 'rows', ...identity, ...trace, dataset, schemaSequence, part, ...last }
    }, payload)
    // The message is a copy.
    for (const piece of payload) freeBytes(piece)
    // Its failure is met when its turn to be waited for comes.
    appending.catch(() => {})
    this.#inFlight.push(appending)
  }
}

function tooLate(): NodeError {
  const message = 'The next rows came more than 5 minutes after those before; nothing was stored.'
  return new NodeError('RequestTimeout', message, { hint: 'Send them in smaller batches.' })
}

function unknownOutcome(): NodeError {
  const message = 'Writing the end of this batch took more than 5 minutes; whether it is stored is not known.'
  return new NodeError('OutcomeUnknown', message, { hint: 'Repeat the request with the same Idempotency-Key.' })
}

// Has the published heads of a ledger stamped by a time-stamp authority, one in each interval where there is a new one. The keeper
// does not wait for it, and an authority that fails stops nothing: it is asked again at longer and longer intervals.

import { type Clock, timeText } from '../../libraries/base/clock.ts'
import { defined } from '../../libraries/base/collections.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { parseNote } from '../../libraries/ledger/note.ts'
import type { VerifierKey } from '../../libraries/ledger/verifier-key.ts'
import { ledgerObjectKey, ledgerStampKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { ownHead } from './ask-witness.ts'
import type { TsaOptions } from './options.ts'
import { newestStamps, noteStamps } from './stamps.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import { randomBytes } from '../../libraries/base/ids/native-crypto.ts'
import { type Answered, exchange } from './exchange.ts'

const firstRetryMs = 10_000
const longestRetryMs = 600_000

export interface TimeStamperDeps {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly logger: Logger
  readonly ledger: number
  /** That of the ledger's heads. */
  readonly key: VerifierKey
  readonly tsa: TsaOptions
}

export class TimeStamper {
  readonly #deps: TimeStamperDeps
  readonly #stop = new AbortController()
  /** By the monotonic clock: no request before. */
  #dueMs = 0
  /** In a row. */
  #failures = 0
  #reason: string | undefined
  #stamped = 0
  #failed = 0

  constructor(deps: TimeStamperDeps) {
    this.#deps = deps
  }

  get intervalMs(): number {
    return this.#deps.tsa.intervalMs
  }

  /** Heads that were stamped. */
  get stamped(): number {
    return this.#stamped
  }

  /** Requests that brought no time stamp. */
  get failed(): number {
    return this.#failed
  }

  /** What `/readyz` says of it. */
  get told(): object {
    return defined({ state: this.#reason === undefined ? 'running' : 'failing', reason: this.#reason })
  }

  /** Has the head that is published stamped, if one is due. One call after the other. */
  async tick(): Promise<void> {
    const { store, clock, ledger, key, tsa } = this.#deps
    if (this.#stop.signal.aborted || clock.monotonicMs() < this.#dueMs) return
    const last = (await newestStamps(store, ledger)).at(-1)
    // That of another keeper, or of the process before this one.
    const sinceMs = last === undefined ? Number.POSITIVE_INFINITY : clock.nowMs() - Date.parse(last.at)
    if (sinceMs >= 0 && sinceMs < tsa.intervalMs) {
      this.#dueMs = clock.monotonicMs() + tsa.intervalMs - sinceMs
      return
    }
    const bytes = await store.get(ledgerObjectKey(ledger, 'checkpoint'))
    const shown = bytes && ownHead(bytes, key)
    if (shown === undefined || shown.head.size <= (last?.size ?? 0)) return
    const { text } = parseNote(shown.note)
    // Where the store fails after that, no request follows at once.
    this.#dueMs = clock.monotonicMs() + firstRetryMs
    const stamping = await askAuthority(tsa, text, this.#stop.signal)
    if (this.#stop.signal.aborted) return
    this.#take(await this.#store(stamping, { size: shown.head.size, text, note: shown.note }))
  }

  /** No request is made any more; the one that is under way breaks off. */
  close(): void {
    this.#stop.abort()
  }

  #take(stamping: Stamping): void {
    const { clock, logger, tsa } = this.#deps
    const nowMs = clock.monotonicMs()
    if (stamping.kind === 'stamped') {
      this.#stamped++
      this.#failures = 0
      this.#reason = undefined
      this.#dueMs = nowMs + tsa.intervalMs
      return
    }
    const { reason, retryMs = 0 } = stamping
    if (reason !== this.#reason) logger.warn({ reason }, 'A head of the ledger got no time stamp; it is tried again')
    this.#failed++
    this.#reason = reason
    this.#dueMs = nowMs + Math.min(Math.max(firstRetryMs * 2 ** this.#failures, retryMs), longestRetryMs)
    this.#failures++
  }

  /** The head first, so that no time stamp is without it. */
  async #store(
    stamping: Stamping,
    { size, text, note }: { readonly size: number; readonly text: string; readonly note: Uint8Array },
  ): Promise<Stamping> {
    if (stamping.kind === 'failed') return stamping
    const { store, ledger, logger } = this.#deps
    const headKey = ledgerStampKey(ledger, size, 'head')
    const there = (await store.put(headKey, note)) === 'stored' ? note : await store.get(headKey)
    if (there === undefined || parseNote(there).text !== text) {
      return { kind: 'failed', reason: `the store has another head of the size ${size} beside its time stamps` }
    }
    await store.put(ledgerStampKey(ledger, size, 'tsr'), stamping.response)
    await noteStamps({ store, ledger })
    logger.info({ size, at: timeText(stamping.atMs) }, 'A head of the ledger has a time stamp')
    return stamping
  }
}

const answerMsMost = 10_000
const nonceBytes = 16

/** `reason` is for operators, and has nothing of the address in it. `retryMs`: how long the authority wants to be left alone. */
export type Stamping =
  | { readonly kind: 'stamped'; readonly atMs: number; readonly response: Uint8Array }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryMs?: number }

/** Asks once. An answer that breaks a rule is a failure as none is. */
export async function askAuthority(
  { url, authorization }: Pick<TsaOptions, 'url' | 'authorization'>,
  text: string,
  signal: AbortSignal,
): Promise<Stamping> {
  const { openTimestamp, timestampRequest } = await import('../../libraries/ledger/timestamp-token.ts')
  const nonce = randomBytes(nonceBytes)
  const headers = { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' }
  let answer: Answered
  try {
    answer = await exchange(url, {
      signal,
      mostMs: answerMsMost,
      method: 'POST',
      headers: authorization === undefined ? headers : { ...headers, authorization },
      body: timestampRequest(text, nonce),
    })
  } catch {
    return { kind: 'failed', reason: 'it gave no answer in time' }
  }
  const { status, bytes, retryAfter: retryMs } = answer
  // Some say that they have created it.
  if (status !== 200 && status !== 201) return { kind: 'failed', reason: `it answered ${status}`, retryMs }
  if (bytes === undefined) return { kind: 'failed', reason: 'its answer is too long, or broke off' }
  try {
    return { kind: 'stamped', atMs: openTimestamp(bytes, text, nonce).atMs, response: bytes }
  } catch (error) {
    if (error instanceof DecodeError) return { kind: 'failed', reason: error.message }
    throw error
  }
}

// Time stamps of a ledger's heads: had from an authority, one in each interval where there is a new head, and found in the store.
// The keeper does not wait for it, and an authority that fails stops nothing: it is asked again at longer and longer intervals.

import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import { type Clock, timeText } from '../../libraries/base/clock.ts'
import { defined } from '../../libraries/base/collections.ts'
import { decoded, DecodeError } from '../../libraries/base/errors.ts'
import { randomBytes } from '../../libraries/base/ids/native-crypto.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { parseNote } from '../../libraries/ledger/note.ts'
import type { HeadTimestamp } from '../../libraries/ledger/proof-document.ts'
import type { VerifierKey } from '../../libraries/ledger/verifier-key.ts'
import { ledgerObjectKey, ledgerStampKey, ledgerStampsKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { ownHead } from './asked-witness.ts'
import { type Answered, boundedFetch } from '../../libraries/base/bounded-fetch.ts'
import { type LedgerTree, storedTiles, withTiles } from './stored-ledger.ts'
import type { TsaOptions } from './options.ts'
import { mostStamps, type StampRecord, stampsCodec } from './records.ts'

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
    await noteStamps(store, ledger)
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
    answer = await boundedFetch(url, {
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
  if (typeof bytes === 'string') return { kind: 'failed', reason: 'its answer is too long, or broke off' }
  try {
    return { kind: 'stamped', atMs: openTimestamp(bytes, text, nonce).atMs, response: bytes }
  } catch (error) {
    if (error instanceof DecodeError) return { kind: 'failed', reason: error.message }
    throw error
  }
}

/** The newest, smallest size first; none where the record is damaged, which the next time stamp writes anew. */
export async function newestStamps({ get }: Pick<ObjectStore, 'get'>, ledger: number): Promise<readonly StampRecord[]> {
  const bytes = await get(ledgerStampsKey(ledger))
  return bytes === undefined ? [] : (decoded(() => stampsCodec.decode(bytes)) ?? [])
}

/** Writes that record anew, from what is stored. */
export async function noteStamps(store: ObjectStore, ledger: number): Promise<void> {
  const known = new Map((await newestStamps(store, ledger)).map((stamp) => [stamp.size, stamp]))
  const stamps: StampRecord[] = []
  for (const size of (await stampedSizes(store, ledger)).slice(-mostStamps)) {
    const stamp = known.get(size) ?? (await readStamp(store, ledger, size))
    if (stamp !== undefined) stamps.push(stamp)
  }
  await store.replace(ledgerStampsKey(ledger), stampsCodec.encode(stamps))
}

/** Sizes of all heads with a time stamp, smallest first. */
async function stampedSizes(store: ObjectStore, ledger: number): Promise<readonly number[]> {
  const names = await store.list(ledgerObjectKey(ledger, 'timestamps'))
  const sizes = names.flatMap((name) => /^([1-9]\d{0,15})\.tsr$/.exec(name)?.[1] ?? [])
  return sizes.map(Number).sort((a, b) => a - b)
}

async function readStamp(store: ObjectStore, ledger: number, size: number): Promise<StampRecord | undefined> {
  const [head, response] = await Promise.all([
    store.get(ledgerStampKey(ledger, size, 'head')),
    store.get(ledgerStampKey(ledger, size, 'tsr')),
  ])
  if (head === undefined || response === undefined) return undefined
  const { openTimestamp } = await import('../../libraries/ledger/timestamp-token.ts')
  return decoded(() => ({ size, at: timeText(openTimestamp(response, parseNote(head).text).atMs) }))
}

/**
 * The first stamped head that holds an entry, with the proof that it does; undefined where no stamped head has the entry with this
 * index yet. Throws DecodeError where what is stored is damaged.
 */
export async function stampedAt(tree: LedgerTree, index: number): Promise<HeadTimestamp | undefined> {
  const { store, ledger } = tree
  const size = await firstSizeBeyond(tree, index)
  if (size === undefined) return undefined
  const head = await store.get(ledgerStampKey(ledger, size, 'head'))
  const token = await store.get(ledgerStampKey(ledger, size, 'tsr'))
  if (head === undefined || token === undefined) return undefined
  return await withTiles(async () => {
    const newest = (await tree.heads()).reduce((most, one) => Math.max(most, one.size), 0)
    // The published head may for a moment be an older one.
    if (newest < size) return undefined
    const hashes = await storedTiles(store, ledger).inclusion(index, size, newest)
    return { size, head: decodeUtf8(head), hashes, token }
  })
}

/** All sizes are listed only for entries that are older than those that are noted. */
async function firstSizeBeyond(tree: LedgerTree, index: number): Promise<number | undefined> {
  const noted = (await newestStamps(tree.store, tree.ledger)).map(({ size }) => size)
  if ((noted.at(-1) ?? 0) <= index) return undefined
  const isNoted = noted.length < mostStamps || (noted[0] ?? 0) <= index
  return (isNoted ? noted : await stampedSizes(tree.store, tree.ledger)).find((size) => size > index)
}

// The node that is followed, over HTTP: its datasets, their heads, blocks, slices and checkpoints by hash. An object is
// what its hash says or is fetched again; a body that breaks off goes on where it broke.

import { Exchange, pause, pauseMs, problemOf, ProofstreamError, unreachable } from '../client/exchange.ts'
import type { Layout, Visibility } from '../chain/records.ts'
import { datasetIdPattern, hashPattern, hashText } from '../ids/identifiers.ts'
import { createSha3256 } from '../ids/native-crypto.ts'
import { concatBytes, decodeUtf8 } from '../lib/bytes.ts'
import type { Clock } from '../lib/clock.ts'
import type { DatasetId, Hash } from '../model/events.ts'
import { isName } from '../model/names.ts'
import type { Rate } from './bounds.ts'

/** An answer that brings nothing for so long is given up. */
const silenceMs = 30_000
const lookMs = 1_000
const listPageBytes = 16 * 1024 * 1024
const blocksPageBytes = 256 * 1024 * 1024
const blocksOfPage = 500
/** Tries of one object that bring nothing new. */
const triesMost = 5

/** A dataset as the origin tells of it. */
export interface Listed {
  readonly id: DatasetId
  readonly alias: string
  readonly visibility: Visibility
  readonly layout?: Layout
  readonly head: Hash
}

/** What the origin says of a dataset that its list does not name. */
export type Standing = { readonly kind: 'there'; readonly listed: Listed } | Gone

export type Gone = { readonly kind: 'hidden' } | { readonly kind: 'deleted'; readonly at: string }

export interface OriginPlace {
  readonly url: string
  readonly token: string | undefined
}

export type ObjectFolder = 'blocks' | 'data' | 'checkpoints'

interface Asked {
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  /** Beside what is silence for all. */
  readonly waitMs?: number
}

/** Takes the body of an answer. */
interface Taker {
  /** Called with the answer before its body. */
  readonly begin?: (answer: Response) => void
  readonly take: (piece: Uint8Array) => void
}

export class Origin {
  readonly url: string
  readonly #exchange: Exchange
  readonly #clock: Clock
  readonly #rate: Rate
  readonly #stop: AbortSignal
  readonly #reads = new Set<Reading>()
  #isWatched = false
  /** Of bodies, since the start. */
  bytes = 0
  /** False for a node that has no list of datasets: their names are all that is known of them. */
  hasList = true

  constructor(place: OriginPlace, deps: { readonly clock: Clock; readonly rate: Rate; readonly stop: AbortSignal }) {
    this.url = place.url
    this.#exchange = new Exchange(place.url, place.token === undefined ? {} : { token: place.token })
    this.#clock = deps.clock
    this.#rate = deps.rate
    this.#stop = deps.stop
    this.#stop.addEventListener('abort', () => {
      for (const { cut } of this.#reads) cut.abort(this.#stop.reason)
    })
  }

  /** Every dataset that it shows; undefined where it has no list. Throws ProofstreamError. */
  async list(): Promise<readonly Listed[] | undefined> {
    const found: Listed[] = []
    for (let after: string | undefined; ; ) {
      const answer = await this.#json('/datasets', { query: { limit: '1000', after } }, listPageBytes).catch(without404)
      this.hasList = answer !== undefined
      if (answer === undefined) return undefined
      const { datasets, next } = answer
      if (!Array.isArray(datasets)) throw odd('/datasets', 'holds no list')
      found.push(...datasets.map(listedOf))
      if (typeof next !== 'string') return found
      after = next
    }
  }

  /** How it stands with one dataset. Throws ProofstreamError where the origin cannot say. */
  async standing(id: DatasetId): Promise<Standing> {
    try {
      return { kind: 'there', listed: listedOf(await this.#json(`/datasets/${id}`, {}, listPageBytes)) }
    } catch (error) {
      return goneOf(error)
    }
  }

  /** The head of the dataset; undefined where it is still `held` after `waitSeconds`. Throws ProofstreamError. */
  async head(alias: string, held?: { readonly hash: Hash; readonly waitSeconds: number }): Promise<Hash | undefined> {
    const path = `/${alias}/refs/head`
    const asked =
      held === undefined
        ? {}
        : {
            query: { wait: String(held.waitSeconds) },
            headers: { 'if-none-match': `"${held.hash}"` },
            waitMs: held.waitSeconds * 1000,
          }
    const { bytes, status } = await this.#whole(path, asked, 1_000)
    if (status === 304) return undefined
    const hash = decodeUtf8(bytes).trim()
    if (!hashPattern.test(hash)) throw odd(path, 'is no hash')
    return hash === held?.hash ? undefined : hash
  }

  /**
   * Hashes of blocks before block `before` of sequence `sequence`, newest first: at most one page. They are hints. Undefined
   * where the origin has no such list. Throws ProofstreamError.
   */
  async hashesBefore(alias: string, before: Hash, sequence: number): Promise<readonly Hash[] | undefined> {
    const path = `/${alias}/blocks`
    const query = { limit: String(Math.min(blocksOfPage, sequence)), before }
    const answer = await this.#json(path, { query }, blocksPageBytes).catch(without404)
    if (answer === undefined) return undefined
    const { blocks } = answer
    if (!Array.isArray(blocks) || blocks.length === 0) throw odd(path, 'holds no blocks')
    return blocks.map((block: unknown, index) => {
      const { hash, sequence: at } = membersOf(block)
      if (typeof hash === 'string' && hashPattern.test(hash) && at === sequence - 1 - index) return hash
      throw odd(path, 'does not hold the blocks before the one that was named')
    })
  }

  /**
   * An object that hashes to its name, of at most `most` bytes. Throws ProofstreamError: what a node refuses, and `Damaged` where it was not what its hash says however often it was fetched.
   */
  async object(alias: string, folder: ObjectFolder, hash: Hash, most: number): Promise<Uint8Array> {
    const path = `/${alias}/${folder}/${hash}`
    let pieces: Uint8Array[] = []
    let have = 0
    let digest = createSha3256()
    const restart = (): void => {
      pieces = []
      have = 0
      digest = createSha3256()
    }
    for (let tried = 1; ; tried++) {
      const had = have
      let fault: ProofstreamError
      try {
        const begin = (answer: Response): void => {
          if (!isPartFrom(answer, have)) restart()
        }
        const take = (piece: Uint8Array): void => {
          if (have + piece.length > most) throw odd(path, `has more than ${most} bytes`)
          digest.update(piece)
          pieces.push(piece)
          have += piece.length
        }
        await this.#read(path, { headers: have === 0 ? {} : { range: `bytes=${have}-` } }, { begin, take })
        if (hashText(digest.digest()) === hash) return concatBytes(pieces)
        fault = damaged(path)
        restart()
      } catch (error) {
        if (!(error instanceof ProofstreamError)) throw error
        fault = error
        if (error.status === 416) restart()
        else if (!error.isRetryable) throw error
        else if (have > had) tried = 0
      }
      if (tried >= triesMost) throw fault
      await pause(pauseMs(tried, fault), this.#stop)
    }
  }

  async #json(path: string, asked: Asked, most: number): Promise<Readonly<Record<string, unknown>>> {
    const { bytes } = await this.#whole(path, { ...asked, headers: { accept: 'application/json' } }, most)
    return problemOf(decodeUtf8(bytes))
  }

  async #whole(
    path: string,
    asked: Asked,
    most: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly status: number }> {
    const pieces: Uint8Array[] = []
    let have = 0
    const take = (piece: Uint8Array): void => {
      have += piece.length
      if (have > most) throw odd(path, `has more than ${most} bytes`)
      pieces.push(piece)
    }
    const { status } = await this.#read(path, asked, { take })
    return { bytes: concatBytes(pieces), status }
  }

  /** Hands the body of one answer over, piece by piece. Throws ProofstreamError. */
  async #read(path: string, { query = {}, headers = {}, waitMs = 0 }: Asked, taker: Taker): Promise<Response> {
    const cut = new AbortController()
    const read: Reading = { cut, untilMs: this.#clock.monotonicMs() + silenceMs + waitMs }
    if (this.#stop.aborted) cut.abort(this.#stop.reason)
    this.#reads.add(read)
    if (!this.#isWatched) void this.#watch()
    try {
      const answer = await this.#exchange.once(path, {
        query,
        headers: { 'accept-encoding': 'identity', ...headers },
        signal: cut.signal,
      })
      taker.begin?.(answer)
      for await (const piece of piecesOf(answer, this.url, cut.signal)) {
        this.bytes += piece.length
        read.untilMs = Number.POSITIVE_INFINITY
        await this.#rate.take(piece.length, this.#stop)
        read.untilMs = this.#clock.monotonicMs() + silenceMs
        taker.take(piece)
      }
      return answer
    } finally {
      this.#reads.delete(read)
    }
  }

  /** Gives up what has been silent for too long, as long as there is anything to wait for. */
  async #watch(): Promise<void> {
    this.#isWatched = true
    while (this.#reads.size > 0 && !this.#stop.aborted) {
      await this.#clock.sleep(lookMs, this.#stop)
      const nowMs = this.#clock.monotonicMs()
      for (const { cut, untilMs } of this.#reads) {
        if (untilMs <= nowMs) cut.abort(unreachable(this.url, 'it has sent nothing for too long'))
      }
    }
    this.#isWatched = false
  }
}

/** A body that is being read. */
interface Reading {
  readonly cut: AbortController
  /** When it has been silent for too long, by the monotonic clock. */
  untilMs: number
}

/** Pieces of the body. Throws ProofstreamError where it breaks off. */
async function* piecesOf(answer: Response, url: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = answer.body?.getReader()
  if (reader === undefined) return
  try {
    for (;;) {
      const piece = await reader.read().catch((cause: unknown) => {
        signal.throwIfAborted()
        throw unreachable(url, cause)
      })
      if (piece.done) return
      yield piece.value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function isPartFrom(answer: Response, start: number): boolean {
  return answer.status === 206 && answer.headers.get('content-range')?.startsWith(`bytes ${start}-`) === true
}

function listedOf(value: unknown): Listed {
  const { id, alias, visibility, head, layout } = membersOf(value)
  const parts = typeof alias === 'string' ? alias.split('/') : []
  const isWhole = typeof id === 'string' && datasetIdPattern.test(id) && typeof head === 'string'
  if (!isWhole || typeof alias !== 'string' || parts.length !== 2 || !parts.every(isName) || !hashPattern.test(head)) {
    throw odd('/datasets', 'names no dataset with its id, alias and head')
  }
  const { sortBy } = membersOf(layout)
  const isSorted = Array.isArray(sortBy) && sortBy.length > 0 && sortBy.every((column) => typeof column === 'string')
  // What does not say that anyone may read it is private.
  const seenBy = visibility === 'public' ? 'public' : 'private'
  return { id, alias, visibility: seenBy, head, ...(isSorted ? { layout: { sortBy } } : {}) }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** Hidden or deleted, as a refusal says. Throws any other error as it is. */
export function goneOf(error: unknown): Gone {
  if (!(error instanceof ProofstreamError)) throw error
  const { status, problem } = error
  const { deleted_at: at } = problem
  if (status === 410) return { kind: 'deleted', at: typeof at === 'string' ? at : '' }
  if (isRefusal(error)) return { kind: 'hidden' }
  throw error
}

/** The origin does not show what was asked for to this replica. */
export function isRefusal(error: unknown): error is ProofstreamError {
  return error instanceof ProofstreamError && [401, 403, 404, 410].includes(error.status)
}

function without404(error: unknown): undefined {
  if (error instanceof ProofstreamError && error.status === 404) return undefined
  throw error
}

/** An answer that no node gives. */
function odd(path: string, fault: string): ProofstreamError {
  return new ProofstreamError(0, { error: { kind: 'Malformed' }, message: `The answer to ${path} ${fault}.` })
}

function damaged(path: string): ProofstreamError {
  const message = `${path} came with other bytes than its hash says, however often it was fetched.`
  return new ProofstreamError(0, { error: { kind: 'Damaged' }, message, retryable: true })
}

// The node that is followed, over HTTP: its datasets, their heads, blocks, slices and checkpoints by hash. An object is
// what its hash says or is fetched again; a body that breaks off goes on where it broke.

import { Exchange, pause, pauseMs, ProofstreamError, unreachable } from '../../libraries/client/exchange.ts'
import { isEntered, type NameRecord } from '../../libraries/odf/chain/records.ts'
import type { FollowOptions } from './options.ts'
import {
  type DatasetId,
  type Hash,
  datasetIdPattern,
  hashPattern,
  hashText,
} from '../../libraries/base/ids/identifiers.ts'
import { createSha3256 } from '../../libraries/base/ids/native-crypto.ts'
import { boundedJson, boundedPieces, BodyTooLong } from '../../libraries/base/bounded-body.ts'
import { concatBytes, decodeUtf8 } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import { isName } from '../../libraries/model/names.ts'

/** An answer that brings nothing for so long is given up. */
const silenceMs = 30_000
/** Nor is one waited for that brings less than this, on average, once it has been waited for as long. */
const slowestBytesPerSecond = 1024
const slowestAfterMs = 60_000
const lookMs = 1_000
const listPageBytes = 16 * 1024 * 1024
const secretsBytes = 1024 * 1024
const blocksPageBytes = 64 * 1024 * 1024
const blocksOfPage = 500
/** Values of one page, and datasets of a list. */
const pageValues = 2_000_000
const datasetsMost = 200_000
/** Tries of one object that bring nothing new. */
const triesMost = 5

/** A dataset as the origin tells of it. */
export interface Listed extends Pick<NameRecord, 'id' | 'alias' | 'visibility' | 'ledger' | 'proofs'> {
  readonly head: Hash
}

export type Gone = { readonly kind: 'hidden' } | { readonly kind: 'deleted'; readonly at: string }

export type ObjectFolder = 'blocks' | 'data' | 'checkpoints'

interface Asked {
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  /** Beside what is silence for all. */
  readonly waitMs?: number
}

export class Origin {
  readonly url: string
  readonly #exchange: Exchange
  readonly #clock: Clock
  readonly #stop: AbortSignal
  /** Bodies that are being read, and when each has been silent for too long, by the monotonic clock. */
  readonly #reads = new Map<AbortController, number>()
  #isWatched = false
  /** Of bodies, since the start. */
  bytes = 0
  /** False for a node that has no list of datasets: their names are all that is known of them. */
  hasList = true

  constructor(
    { url, token }: Pick<FollowOptions, 'url' | 'token'>,
    deps: { readonly clock: Clock; readonly stop: AbortSignal },
  ) {
    this.url = url
    this.#exchange = new Exchange(url, token === undefined ? {} : { token })
    this.#clock = deps.clock
    this.#stop = deps.stop
    this.#stop.addEventListener('abort', () => {
      for (const cut of this.#reads.keys()) cut.abort(this.#stop.reason)
    })
  }

  /** Every dataset that it shows; undefined where it has no list. Throws ProofstreamError. */
  async list(): Promise<readonly Listed[] | undefined> {
    const found: Listed[] = []
    for (let after: string | undefined; ;) {
      const answer = await this.#json('/datasets', { query: { limit: '1000', after } }, listPageBytes).catch(without404)
      this.hasList = answer !== undefined
      if (answer === undefined) return undefined
      const { datasets, next } = answer
      if (!Array.isArray(datasets)) throw odd('/datasets', 'holds no list')
      found.push(...datasets.map(listedOf))
      if (typeof next !== 'string') return found
      if (datasets.length === 0 || next === after || found.length > datasetsMost) throw odd('/datasets', 'has no end')
      after = next
    }
  }

  /** What it says of one dataset. Throws ProofstreamError where the origin cannot say. */
  async standing(id: DatasetId): Promise<Listed | Gone> {
    try {
      return listedOf(await this.#json(`/datasets/${id}`, {}, listPageBytes))
    } catch (error) {
      return goneOf(error)
    }
  }

  /** What it tells of the entries of a dataset in its ledger; undefined where that is nothing. Throws ProofstreamError. */
  async secrets(alias: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const asked = { query: { include: 'ledger' } }
    const { output } = await this.#json(`/${alias}/metadata`, asked, secretsBytes)
    const { ledger } = membersOf(output)
    return ledger === undefined ? undefined : membersOf(ledger)
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
    if (!hashPattern.test(hash)) throw odd(path, 'is not a hash')
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
        const headers = have === 0 ? {} : { range: `bytes=${have}-` }
        for await (const piece of this.#read(path, { headers }, (answer) => isPartFrom(answer, have) || restart())) {
          if (have + piece.length > most) throw odd(path, `has more than ${most} bytes`)
          digest.update(piece)
          pieces.push(piece)
          have += piece.length
        }
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
    try {
      return membersOf(boundedJson(decodeUtf8(bytes), pageValues))
    } catch (error) {
      if (error instanceof BodyTooLong) throw odd(path, error.message)
      throw odd(path, 'is not JSON')
    }
  }

  async #whole(
    path: string,
    asked: Asked,
    most: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly status: number }> {
    const pieces: Uint8Array[] = []
    let status = 0
    try {
      const read = this.#read(path, asked, (answer) => (status = answer.status))
      for await (const piece of boundedPieces(read, most)) pieces.push(piece)
    } catch (error) {
      throw error instanceof BodyTooLong ? odd(path, error.message) : error
    }
    return { bytes: concatBytes(pieces), status }
  }

  /** The body of one answer, piece by piece; `begin` has the answer before it. Throws ProofstreamError, also where it breaks off. */
  async *#read(
    path: string,
    { query = {}, headers = {}, waitMs = 0 }: Asked,
    begin: (answer: Response) => unknown,
  ): AsyncGenerator<Uint8Array> {
    const cut = new AbortController()
    const { signal } = cut
    const expect = (ms: number): unknown => this.#reads.set(cut, this.#clock.monotonicMs() + ms)
    if (this.#stop.aborted) cut.abort(this.#stop.reason)
    expect(silenceMs + waitMs)
    if (!this.#isWatched) void this.#watch()
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
    let [bytes, waitedMs] = [0, 0]
    try {
      const asIs = { 'accept-encoding': 'identity', ...headers }
      const answer = await this.#exchange.once(path, { query, headers: asIs, signal })
      begin(answer)
      reader = answer.body?.getReader()
      while (reader !== undefined) {
        const sinceMs = this.#clock.monotonicMs()
        const piece = await reader.read().catch((cause: unknown) => {
          signal.throwIfAborted()
          throw unreachable(this.url, cause)
        })
        if (piece.done) return
        bytes += piece.value.length
        waitedMs += this.#clock.monotonicMs() - sinceMs
        if (waitedMs > slowestAfterMs && (bytes * 1000) / waitedMs < slowestBytesPerSecond) {
          throw unreachable(this.url, 'it sends too slowly')
        }
        this.bytes += piece.value.length
        expect(silenceMs)
        yield piece.value
      }
    } finally {
      this.#reads.delete(cut)
      await reader?.cancel().catch(() => {})
    }
  }

  /** Gives up what has been silent for too long, as long as there is anything to wait for. */
  async #watch(): Promise<void> {
    this.#isWatched = true
    while (this.#reads.size > 0 && !this.#stop.aborted) {
      await this.#clock.sleep(lookMs, this.#stop)
      const nowMs = this.#clock.monotonicMs()
      for (const [cut, untilMs] of this.#reads) {
        if (untilMs <= nowMs) cut.abort(unreachable(this.url, 'it has sent nothing for too long'))
      }
    }
    this.#isWatched = false
  }
}

function isPartFrom(answer: Response, start: number): boolean {
  return answer.status === 206 && answer.headers.get('content-range')?.startsWith(`bytes ${start}-`) === true
}

function listedOf(value: unknown): Listed {
  const { id, alias, visibility, head, ledger, proofs } = membersOf(value)
  const parts = typeof alias === 'string' ? alias.split('/') : []
  const isWhole = typeof id === 'string' && datasetIdPattern.test(id) && typeof head === 'string'
  if (!isWhole || typeof alias !== 'string' || parts.length !== 2 || !parts.every(isName) || !hashPattern.test(head)) {
    throw odd('/datasets', 'names no dataset with its id, alias and head')
  }
  // What does not say that anyone may read it is private.
  const seenBy = visibility === 'public' ? 'public' : 'private'
  return {
    id,
    alias,
    visibility: seenBy,
    head,
    // What follows from the visibility is not said again.
    ...(typeof ledger === 'boolean' && ledger !== isEntered({ visibility: seenBy }) && { ledger }),
    ...(proofs === 'rows' && { proofs }),
  }
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

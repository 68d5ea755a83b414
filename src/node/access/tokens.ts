// The tokens of the installation: records under `tokens/` in the store, so that every process honours the same ones.
// Each process keeps them in memory and rereads at most every few seconds, when they are used.

import { defined } from '../../libraries/base/collections.ts'
import { type Clock, timeText } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { DecodeError, NodeError } from '../../libraries/base/errors.ts'
import { scramRecordOf } from '../../libraries/pgwire/scram-record.ts'
import { isSegment, tokenKey, tokensPrefix } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { Principal } from './scopes.ts'
import {
  checkTokenRequest,
  decodeTokenRecord,
  encodeTokenRecord,
  isTokenText,
  makeTokenText,
  tokenHash,
  type TokenRecord,
  type TokenRequest,
} from './token.ts'

/** Revocations elsewhere are honoured within 5 s: a second is kept for the reading itself. */
const rereadAfterMs = 4_000
/** A token that is not known may have been made elsewhere just now; guessing must not become a storm of reads. */
const rereadForUnknownAfterMs = 1_000
/** The id of a token is so much of its hash: two processes that record the same text put the same key. */
const idChars = 16

export interface TokenRegistryOptions {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly logger: Logger
  /** The node's setting, carried into each principal. */
  readonly anonymousRead: boolean
}

/** A record without what is secret: what may be shown. */
export type ShownToken = Omit<TokenRecord, 'hash' | 'scram'>

export class TokenRegistry {
  private readonly options: TokenRegistryOptions
  private byId = new Map<string, TokenRecord>()
  private byHash = new Map<string, TokenRecord>()
  /** Principals of texts seen since the last reading, so that checksum and hash are computed once. */
  private principals = new Map<string, { readonly principal: Principal; readonly expiresMs: number }>()
  /** Monotonic time at which the last reading began. */
  private readAtMs = Number.NEGATIVE_INFINITY
  private reading: Promise<void> | undefined
  /** Counts changes made here, so that a reading that began before one does not undo it. */
  private changes = 0

  constructor(options: TokenRegistryOptions) {
    this.options = options
  }

  /**
   * Makes a token, of a text that is shown this once or of one that the caller keeps; of one text one token is made, whichever
   * process is first. Durable when it resolves. Throws NodeError `InvalidRequest`.
   */
  async create(
    request: TokenRequest,
    token = makeTokenText(),
  ): Promise<{ readonly record: ShownToken; readonly token: string }> {
    const nowMs = this.options.clock.nowMs()
    const checked = checkTokenRequest(request, nowMs)
    const hash = tokenHash(token)
    const made: TokenRecord = {
      id: hash.slice(0, idChars),
      ...checked,
      createdAt: timeText(nowMs),
      lastFour: token.slice(-4),
      hash,
      scram: scramRecordOf(token),
    }
    const outcome = await this.options.store.put(tokenKey(made.id), encodeTokenRecord(made))
    const record = outcome === 'stored' ? made : await this.readRecord(made.id)
    if (record?.hash !== hash) {
      throw new NodeError('Internal', 'The record of this token is damaged.', {
        hint: `Move tokens/${made.id} out of the store.`,
      })
    }
    this.changes++
    this.remember(record)
    return { record: shown(record), token }
  }

  /** True when the store has a token of this text, expired or not. */
  async knows(text: string): Promise<boolean> {
    await this.read()
    return this.byHash.has(tokenHash(text))
  }

  /** All tokens as the store has them now, expired ones included, oldest first. */
  async list(): Promise<readonly ShownToken[]> {
    await this.read()
    return [...this.byId.values()].sort(byAge).map(shown)
  }

  /** Ends a token for good. Durable when it resolves. Throws NodeError `TokenNotFound`. */
  async revoke(id: string): Promise<void> {
    const key = isSegment(id) ? tokenKey(id) : undefined
    if (key === undefined || (await this.options.store.size(key)) === undefined) {
      throw new NodeError('TokenNotFound', 'There is no token with this id.')
    }
    await this.options.store.delete(key)
    this.changes++
    this.forget(id)
  }

  /**
   * The holder of this token. Throws NodeError `Unauthenticated` when it is unknown, expired or revoked. A token that was
   * revoked by another process is refused within 5 s; when the store cannot be read, no one is let in.
   */
  async authenticate(text: string): Promise<Principal> {
    // What programs in Python send that were given none.
    if (text === 'None')
      throw unauthenticated("The token is the word None: give one, or to PyIceberg auth={'type': 'noop'}.")
    if (!isTokenText(text)) throw unauthenticated('The token is mistyped or cut short: its checksum is wrong.')
    const hash = tokenHash(text)
    await this.readIfOlderThan(rereadAfterMs)
    if (!this.byHash.has(hash)) await this.readIfOlderThan(rereadForUnknownAfterMs)
    const record = this.byHash.get(hash)
    if (record === undefined) throw unauthenticated('The token is unknown or revoked.')
    const principal = this.principalOf(record)
    const expiresMs = record.expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(record.expiresAt)
    this.principals.set(text, { principal, expiresMs })
    return principal
  }

  /** The holder of the token with this id, and what its record keeps for SCRAM. Throws as `authenticate`. */
  async holder(id: string): Promise<{ readonly principal: Principal; readonly scram: TokenRecord['scram'] }> {
    await this.readIfOlderThan(rereadAfterMs)
    if (!this.byId.has(id)) await this.readIfOlderThan(rereadForUnknownAfterMs)
    const record = this.byId.get(id)
    if (record === undefined) throw unauthenticated('The token is unknown or revoked.')
    return { principal: this.principalOf(record), scram: record.scram }
  }

  private principalOf({ id, scopes, datasets, expiresAt }: TokenRecord): Principal {
    if (expiresAt !== undefined && Date.parse(expiresAt) <= this.options.clock.nowMs()) {
      throw unauthenticated('The token has expired.')
    }
    const { anonymousRead } = this.options
    return { tokenId: id, scopes: new Set(scopes), ...defined({ datasets }), anonymousRead }
  }

  /** The holder of this token, if that has been found out since the last reading and no new one is due. */
  known(text: string): Principal | undefined {
    const { clock } = this.options
    if (clock.monotonicMs() - this.readAtMs >= rereadAfterMs) return undefined
    const held = this.principals.get(text)
    return held !== undefined && held.expiresMs > clock.nowMs() ? held.principal : undefined
  }

  private async readIfOlderThan(ageMs: number): Promise<void> {
    if (this.options.clock.monotonicMs() - this.readAtMs >= ageMs) await this.read()
  }

  /** Rereads the store; calls made meanwhile share the reading. */
  private read(): Promise<void> {
    this.reading ??= this.readStore().finally(() => {
      this.reading = undefined
    })
    return this.reading
  }

  private async readStore(): Promise<void> {
    for (;;) {
      const startedAtMs = this.options.clock.monotonicMs()
      const changesBefore = this.changes
      const records = await this.readRecords()
      if (this.changes !== changesBefore) continue
      this.byId = new Map()
      this.byHash = new Map()
      this.principals = new Map()
      for (const record of records) this.remember(record)
      this.readAtMs = startedAtMs
      return
    }
  }

  /** Records never change, so only those that are not known yet are fetched. */
  private async readRecords(): Promise<readonly TokenRecord[]> {
    const ids = (await this.options.store.list(tokensPrefix)).filter(isSegment)
    const records = await Promise.all(ids.map(async (id) => this.byId.get(id) ?? this.readRecord(id)))
    return records.filter((record) => record !== undefined)
  }

  private async readRecord(id: string): Promise<TokenRecord | undefined> {
    const bytes = await this.options.store.get(tokenKey(id))
    if (bytes === undefined) return undefined
    try {
      const record = decodeTokenRecord(bytes)
      if (record.id === id) return record
      this.options.logger.warn({ id }, 'a token record is stored under another id: the token is not honoured')
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      this.options.logger.warn({ id, reason: error.message }, 'a token record is damaged: the token is not honoured')
    }
    return undefined
  }

  private remember(record: TokenRecord): void {
    this.byId.set(record.id, record)
    this.byHash.set(record.hash, record)
  }

  private forget(id: string): void {
    const record = this.byId.get(id)
    if (record === undefined) return
    this.byId.delete(id)
    this.byHash.delete(record.hash)
    this.principals.clear()
  }
}

function shown(record: TokenRecord): ShownToken {
  const { hash: _hash, scram: _scram, ...rest } = record
  return rest
}

function byAge(a: TokenRecord, b: TokenRecord): number {
  return a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.id < b.id ? -1 : 1
}

function unauthenticated(message: string): NodeError {
  return new NodeError('Unauthenticated', message, { hint: 'Ask the operator of this node for a valid token.' })
}

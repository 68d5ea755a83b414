// What is under a prefix of a bucket, and requests that are repeated while their answers may be different next time: a
// bounded number of times, at growing intervals that no two processes share.

import { Readable } from 'node:stream'
import type { S3 } from '@aws-sdk/client-s3'
import { createSha2, randomBytes } from '../../libraries/base/ids/native-crypto.ts'
import { BodyTooLong, boundedPieces } from '../../libraries/base/bounded-body.ts'
import { concatBytes, toHex } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { Body } from './body.ts'
import type { Dialect } from './client.ts'
import { faultOf, Refused, Unanswered, unreadable } from './faults.ts'
import type { Credentials } from './google.ts'

export const attemptsMost = 6
const firstPauseMs = 100
const longestPauseMs = 3_000

const objectBytesMost = 2 * 1024 * 1024 * 1024
/** Names of a listing, and pages of one that bring none. */
const namesMost = 10_000_000
const emptyPagesMost = 100

/** Refusals of which it is certain that nothing was done, and that are gone when the clock or the keys are right. */
const skewCodes: ReadonlySet<string | undefined> = new Set(['RequestTimeTooSkewed', 'RequestExpired'])
const staleCodes: ReadonlySet<string | undefined> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidAccessKeyId',
  'InvalidToken',
  'TokenRefreshRequired',
])
/** Keys that did not help are not asked for again at once. */
const renewEveryMs = 10_000

/** How what lies under a key compares with what should. */
export type Found = 'same' | 'other' | 'missing'

type Sink = (piece: Uint8Array) => void

export interface BucketPlace {
  readonly bucket: string
  /** Begins every key in the bucket; empty for all of it. */
  readonly prefix: string
  readonly dialect: Dialect
}

export class Bucket {
  readonly s3: S3
  readonly #place: BucketPlace
  readonly #prefix: string
  readonly clock: Clock
  #renewing: Promise<Credentials> | undefined
  #renewedMs = Number.NEGATIVE_INFINITY

  constructor(s3: S3, place: BucketPlace, clock: Clock) {
    this.s3 = s3
    this.#place = place
    this.#prefix = place.prefix === '' ? '' : `${place.prefix}/`
    this.clock = clock
  }

  get dialect(): Dialect {
    return this.#place.dialect
  }

  /** Names an object to the SDK. */
  at(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#place.bucket, Key: this.#prefix + key }
  }

  /**
   * Sends the request of `run` once, and again where the store has certainly not done it: for its date, or for keys that
   * have been replaced since. Throws `Unanswered`, `Refused`, and NodeErrors `StoreUnavailable` for an answer that cannot be
   * read and where there are no keys.
   */
  async send<T>(what: string, run: (s3: S3) => Promise<T>): Promise<T> {
    const told = (error: unknown): never => {
      throw faultOf(what, error)
    }
    const used = await this.#keys()
    try {
      return await run(this.s3)
    } catch (error) {
      const fault = faultOf(what, error)
      const { code, status } = fault instanceof Refused ? fault : { code: undefined, status: 0 }
      // Answers to HEAD have no code.
      const isStale = staleCodes.has(code) || (code === undefined && status === 403)
      if (!skewCodes.has(code) && !(isStale && (await this.#areNew(used)))) throw fault
      return run(this.s3).catch(told)
    }
  }

  /** The first answer that would not be another one later. Throws as `send`. */
  async ask<T>(what: string, run: (s3: S3) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.send(what, run)
      } catch (error) {
        // Another time it would be as long. Whether something was done it does not say: `send` has it as no answer.
        if (error instanceof Unanswered && error.cause instanceof BodyTooLong) {
          throw unreadable(`${what}: ${error.cause.message}`, error.cause)
        }
        const mayPass = error instanceof Unanswered || (error instanceof Refused && error.mayPass)
        if (!mayPass || attempt === attemptsMost) throw error
      }
      await this.pause(attempt)
    }
  }

  /** Waits before the next attempt. */
  async pause(attempt: number): Promise<void> {
    const ms = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1))
    const [chance = 0] = randomBytes(1)
    await this.clock.sleep(ms * (0.5 + chance / 256))
  }

  /** Puts `body` once, if nothing is there or whatever is there. Throws as `send`. */
  async put(key: string, body: Body, condition: 'absent' | 'none'): Promise<void> {
    const IfNoneMatch = condition === 'absent' ? '*' : undefined
    await this.send(`PUT ${key}`, (s3) => s3.putObject({ ...this.at(key), ...streamed(body), IfNoneMatch }))
  }

  /** Puts `body`, whatever is there. Throws as `ask`. */
  async replace(key: string, body: Body): Promise<void> {
    await this.ask(`PUT ${key}`, (s3) => s3.putObject({ ...this.at(key), ...streamed(body) }))
  }

  /** Throws as `ask`. */
  async delete(key: string): Promise<void> {
    await this.ask(`DELETE ${key}`, (s3) => s3.deleteObject(this.at(key))).catch((error: unknown) => {
      if (!(error instanceof Refused) || error.status !== 404) throw error
    })
  }

  /** Length and time of an object, or undefined. Throws as `ask`. */
  async head(key: string): Promise<{ readonly sizeBytes: number; readonly modifiedMs: number } | undefined> {
    const found = await this.ask(`HEAD ${key}`, (s3) => s3.headObject(this.at(key))).catch((error: unknown) => {
      if (error instanceof Refused && error.status === 404) return undefined
      throw error
    })
    if (found === undefined) return undefined
    const [sizeBytes, modifiedMs] = [found.ContentLength ?? Number.NaN, Number(found.LastModified)]
    if (Number.isSafeInteger(sizeBytes) && Number.isSafeInteger(modifiedMs)) return { sizeBytes, modifiedMs }
    throw unreadable(`${key} has no length or no date`)
  }

  /** The bytes of an object, or undefined. Throws as `ask`. */
  async get(key: string): Promise<Uint8Array | undefined> {
    return (await this.part(key))?.bytes
  }

  /** The bytes [start, end) of an object, or all, and whether they are a part; undefined where there is none. Throws as `ask`. */
  async part(
    key: string,
    range?: { readonly start: number; readonly end: number; readonly mostBytes?: number },
  ): Promise<{ readonly bytes: Uint8Array; readonly isPart: boolean } | undefined> {
    let pieces: Uint8Array[] = []
    const sinkOf = (): Sink => {
      pieces = []
      return (piece) => pieces.push(piece)
    }
    const status = await this.#read(key, sinkOf, range)
    return status === undefined ? undefined : { bytes: concatBytes(pieces), isPart: status === 206 }
  }

  /** Compares the object under `key` with `body`, by what is read of it now. Throws as `ask`. */
  async compare(key: string, { sizeBytes, sha256 }: Body): Promise<Found> {
    let [digest, readBytes] = [createSha2('sha256'), 0]
    const sinkOf = (): Sink => {
      ;[digest, readBytes] = [createSha2('sha256'), 0]
      return (piece) => {
        digest.update(piece)
        readBytes += piece.length
      }
    }
    if ((await this.#read(key, sinkOf)) === undefined) return 'missing'
    return readBytes === sizeBytes && toHex(digest.digest()) === sha256 ? 'same' : 'other'
  }

  /** Names directly under a prefix of keys, in any order, objects and sub-prefixes alike. Throws as `ask`. */
  async names(prefix: string): Promise<ReadonlySet<string>> {
    const { Bucket, Key: Prefix } = this.at(`${prefix}/`)
    const names = new Set<string>()
    let token: string | undefined
    let emptyPages = 0
    do {
      const asked = { Bucket, Prefix, Delimiter: '/', ContinuationToken: token }
      const page = await this.ask(`a listing of ${prefix}`, (s3) => s3.listObjectsV2(asked))
      const keys = [...(page.Contents ?? []).map(({ Key }) => Key), ...(page.CommonPrefixes ?? []).map((c) => c.Prefix)]
      const next = page.IsTruncated === true ? page.NextContinuationToken : undefined
      const isWhole = next !== undefined || page.IsTruncated === false
      const before = names.size
      for (const key of keys) {
        if (key?.startsWith(Prefix) !== true || !isWhole) throw unreadable('it is no listing')
        names.add(key.slice(Prefix.length).replace(/\/$/, ''))
      }
      if (!isWhole) throw unreadable('it is no listing')
      if (names.size === before) emptyPages++
      if (names.size > namesMost || emptyPages > emptyPagesMost) throw unreadable('a listing has no end')
      // A token that does not move would be asked for without end.
      token = next === token ? undefined : next
    } while (token !== undefined)
    return names
  }

  /** The status of the answer whose body a sink took, or undefined where there is no object. */
  async #read(
    key: string,
    sinkOf: () => Sink,
    range?: { readonly start: number; readonly end: number; readonly mostBytes?: number },
  ): Promise<number | undefined> {
    const Range = range === undefined ? undefined : `bytes=${range.start}-${range.end - 1}`
    try {
      return await this.ask(`GET ${key}`, async (s3) => {
        const { Body: stream, $metadata } = await s3.getObject({ ...this.at(key), Range })
        const take = sinkOf()
        const pieces = stream as Readable // of a handler of Node
        for await (const piece of boundedPieces(pieces, range?.mostBytes ?? objectBytesMost)) take(piece)
        return $metadata.httpStatusCode
      })
    } catch (error) {
      if (error instanceof Refused && error.isNoObject) return undefined
      throw error
    }
  }

  /** Throws NodeError `StoreUnavailable`. */
  async #keys(options?: { readonly forceRefresh: true }): Promise<Credentials> {
    return this.s3.config.credentials(options).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new NodeError('StoreUnavailable', `There are no credentials for the store: ${reason.replace(/\.$/, '')}.`, {
        hint: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give the machine or container a role.',
        cause,
      })
    })
  }

  /** Looks for keys again after the store refused `used`; true when there are others now. Callers share one look. */
  async #areNew(used: Credentials): Promise<boolean> {
    if (this.clock.monotonicMs() >= this.#renewedMs + renewEveryMs) {
      this.#renewedMs = this.clock.monotonicMs()
      this.#renewing = this.#keys({ forceRefresh: true })
    }
    return (await this.#renewing)?.secretAccessKey !== used.secretAccessKey
  }
}

/** What the SDK is given of a body: a stream that says what it hashes to. */
export function streamed(body: Body): { readonly Body: Readable; readonly ContentLength: number } {
  const stream = Object.assign(Readable.from(body.pieces(), { objectMode: false }), { sha256: body.sha256 })
  return { Body: stream, ContentLength: body.sizeBytes }
}

// What is under a prefix of a bucket, and requests that are repeated while their answers may be different next time: a
// bounded number of times, at growing intervals that no two processes share.

import { createSha2, randomBytes } from '../../ids/native-crypto.ts'
import { decodeUtf8, toHex } from '../../lib/bytes.ts'
import type { Clock } from '../../lib/clock.ts'
import { DecodeError, NodeError } from '../../model/errors.ts'
import type { Body } from './body.ts'
import type { S3Client, S3Request } from './client.ts'
import { errorCodeOf, faultOf, mayPass, type S3Answer, Unanswered } from './faults.ts'
import { childText, parseXml, type XmlElement } from './xml.ts'

export const attemptsMost = 6
const firstPauseMs = 100
const longestPauseMs = 3_000

/** Names of a listing, and pages of one that bring none. */
const namesMost = 10_000_000
const emptyPagesMost = 100

/** How what lies under a key compares with what should. */
export type Found = 'same' | 'other' | 'missing'

export class Bucket {
  readonly client: S3Client
  readonly #prefix: string
  readonly clock: Clock

  /** `prefix` begins every key in the bucket; empty for all of it. */
  constructor(client: S3Client, prefix: string, clock: Clock) {
    this.client = client
    this.#prefix = prefix === '' ? '' : `${prefix}/`
    this.clock = clock
  }

  /** Sends a request once. Throws as the client. */
  send(request: S3Request): Promise<S3Answer> {
    const { key } = request
    return this.client.send(key === undefined ? request : { ...request, key: this.#prefix + key })
  }

  /** The first answer that would not be another one later, if it is a success, 404 for the key, or 416. Throws NodeErrors `StoreUnavailable`, `StorageFull`. */
  async ask(request: S3Request): Promise<S3Answer> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.send(request).catch((error: unknown) => {
        if (error instanceof Unanswered) return error
        throw error
      })
      if (answer instanceof Unanswered) {
        if (attempt === attemptsMost) throw answer
      } else {
        if (answer.status < 300 || answer.status === 416 || isNoObject(request, answer)) return answer
        if (attempt === attemptsMost || !mayPass(answer)) throw faultOf(nameOf(request), answer)
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

  /** Compares the object under `key` with `body`, by what is read of it now. Throws as `ask`. */
  async compare(key: string, { sizeBytes, sha256 }: Body): Promise<Found> {
    let [digest, readBytes] = [createSha2('sha256'), 0]
    const sinkOf = () => {
      ;[digest, readBytes] = [createSha2('sha256'), 0]
      return (piece: Uint8Array): void => {
        digest.update(piece)
        readBytes += piece.length
      }
    }
    const { status } = await this.ask({ method: 'GET', key, sinkOf })
    if (status === 404) return 'missing'
    return readBytes === sizeBytes && toHex(digest.digest()) === sha256 ? 'same' : 'other'
  }

  /** Names directly under a prefix of keys, in any order, objects and sub-prefixes alike. Throws as `ask`. */
  async names(prefix: string): Promise<ReadonlySet<string>> {
    const full = `${this.#prefix}${prefix}/`
    const names = new Set<string>()
    let token: string | undefined
    let emptyPages = 0
    do {
      const { body } = await this.ask({
        method: 'GET',
        query: [
          ['list-type', '2'],
          ['prefix', full],
          ['delimiter', '/'],
          ...(token === undefined ? [] : ([['continuation-token', token]] as const)),
        ],
      })
      const page = readPage(body, full)
      const before = names.size
      for (const name of page.names) names.add(name)
      if (names.size === before) emptyPages++
      if (names.size > namesMost || emptyPages > emptyPagesMost) throw unreadable('a listing has no end')
      // A token that does not move would be asked for without end.
      token = page.next === token ? undefined : page.next
    } while (token !== undefined)
    return names
  }
}

/** True for the answer that a key has no object. Without the code it could be that there is no bucket. */
function isNoObject({ method, key }: S3Request, answer: S3Answer): boolean {
  if (answer.status !== 404 || key === undefined) return false
  return method === 'HEAD' || method === 'DELETE' || errorCodeOf(answer) === 'NoSuchKey'
}

/** How errors name a request. */
export function nameOf({ method, key }: S3Request): string {
  return key === undefined ? `${method} of the bucket` : `${method} ${key}`
}

/** One page of a listing (https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html). */
function readPage(
  body: Uint8Array,
  full: string,
): { readonly names: readonly string[]; readonly next: string | undefined } {
  const page = parsed(body)
  const keys = page.children.flatMap((child) => {
    if (child.name === 'Contents') return childText(child, 'Key') ?? []
    return child.name === 'CommonPrefixes' ? (childText(child, 'Prefix') ?? []) : []
  })
  const isWhole = page.name === 'ListBucketResult' && keys.every((key) => key.startsWith(full))
  const next = childText(page, 'IsTruncated') === 'true' ? childText(page, 'NextContinuationToken') : undefined
  if (!isWhole || (next === undefined && childText(page, 'IsTruncated') !== 'false'))
    throw unreadable('it is no listing')
  return { names: keys.map((key) => key.slice(full.length).replace(/\/$/, '')), next }
}

/** The root of an answer in XML. Throws NodeError `StoreUnavailable`. */
export function parsed(body: Uint8Array): XmlElement {
  try {
    return parseXml(decodeUtf8(body))
  } catch (error) {
    if (error instanceof DecodeError || error instanceof TypeError) throw unreadable(error.message, error)
    throw error
  }
}

function unreadable(reason: string, cause?: unknown): NodeError {
  return new NodeError('StoreUnavailable', `An answer of the store cannot be read: ${reason}.`, {
    hint: 'Check that --s3-endpoint names a store with the interface of S3.',
    cause,
  })
}

// The digests that a request says its body has, as sent, and whether it has them: a body that was damaged on its way differs from
// one that was wrong from the start. Source: RFC 9530 §2, a dictionary of byte sequences of RFC 8941 §3.2, §3.3.5.

import type { Readable } from 'node:stream'
import { createSha2, type IncrementalHash } from '../../libraries/base/ids/native-crypto.ts'
import { equalBytes } from '../../libraries/base/bytes.ts'
import type { Limits } from '../../libraries/base/limits.ts'
import type { ErrorKind } from '../../libraries/base/error-table.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { readRest } from './read-body.ts'

const algorithms = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const
type Algorithm = keyof typeof algorithms
const digestBytes = { 'sha-256': 32, 'sha-512': 64 } as const

/** What a body should have. */
export interface ContentDigest {
  readonly algorithm: Algorithm
  readonly digest: Uint8Array
}

const member = /^[a-z*][\w.*-]*=:[A-Za-z0-9+/]*={0,2}:(?:;[^,]*)?$/

/**
 * The digests of a header by algorithms that we know; others are left out. Throws NodeError `InvalidParameter` unless it is
 * a list like `sha-256=:<base64>:`.
 */
export function readContentDigest(header: string | undefined): readonly ContentDigest[] {
  if (header === undefined) return []
  const found = new Map<Algorithm, Uint8Array>()
  for (const part of header.split(',')) {
    const text = part.trim()
    const equals = text.indexOf('=')
    const name = text.slice(0, equals)
    if (!member.test(text)) throw malformed(`'${text.slice(0, 100)}' is not a digest.`)
    if (!isKnown(name)) continue
    const digest = Buffer.from(text.slice(equals + 2, text.lastIndexOf(':')), 'base64')
    if (digest.length !== digestBytes[name])
      throw malformed(`A ${name} has ${digestBytes[name]} bytes, not ${digest.length}.`)
    found.set(name, digest)
  }
  return [...found].map(([algorithm, digest]) => ({ algorithm, digest }))
}

function isKnown(name: string): name is Algorithm {
  return Object.hasOwn(algorithms, name)
}

function malformed(what: string): NodeError {
  return new NodeError('InvalidParameter', `The header Content-Digest is malformed: ${what}`, {
    hint: 'Write sha-256=:<base64>:, of the body as it is sent: printf "sha-256=:%s:" "$(openssl dgst -sha256 -binary FILE | base64 -w0)".',
  })
}

/** Holds the bytes of one body against its digests. */
export class DigestCheck {
  readonly #parts: readonly { readonly wanted: ContentDigest; readonly hash: IncrementalHash }[]

  #isJudged = false

  constructor(digests: readonly ContentDigest[]) {
    this.#parts = digests.map((wanted) => ({ wanted, hash: createSha2(algorithms[wanted.algorithm]) }))
  }

  /** True while there is something to be judged. */
  get isAsked(): boolean {
    return this.#parts.length > 0 && !this.#isJudged
  }

  /** The next bytes as sent. */
  update(bytes: Uint8Array): void {
    for (const { hash } of this.#parts) hash.update(bytes)
  }

  /** The end of the body. Throws NodeError `DigestMismatch`. */
  demandEqual(): void {
    if (!this.isAsked) return
    this.#isJudged = true
    for (const { wanted, hash } of this.#parts) {
      const found = hash.digest()
      if (equalBytes(found, wanted.digest)) continue
      const text = Buffer.from(found).toString('base64')
      throw new NodeError(
        'DigestMismatch',
        `The body has the ${wanted.algorithm} :${text}:, not that of Content-Digest.`,
        {
          hint: 'It was changed on its way, or the digest is of other bytes: it is that of the body as sent, compressed where it is. Nothing was stored: send it again.',
        },
      )
    }
  }
}

/** What a damaged body may be refused for. */
const damages: readonly ErrorKind[] = ['MalformedBody', 'RecordsDoNotFit', 'InvalidColumnName', 'UnsupportedCrs']

/**
 * Reads a body on that was refused before its end. Throws NodeError `DigestMismatch` where what was read is not what was
 * sent, which then is why.
 */
export async function demandUndamaged(
  { stream, limits }: { readonly stream: Readable; readonly limits: Limits },
  digest: DigestCheck,
  error: unknown,
): Promise<void> {
  const isOfBody = error instanceof NodeError && damages.includes(error.kind)
  if (!isOfBody || !digest.isAsked) return
  if (!stream.readableEnded) {
    if (stream.destroyed) return
    await readRest(stream, limits, digest)
  }
  digest.demandEqual()
}

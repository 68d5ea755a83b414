// An access token: its text, the header that carries it, the record that is stored of it, and the rules for a new one.
// The text is `pst_`, 32 random base62 characters (190 bits) and 6 characters of checksum, which tells a mistyped or cut
// token from an unknown one without asking the store; it is no secret. The store keeps only a hash of the text.

import { randomBytes, sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { canonicalBytes } from '../../libraries/base/json/canonical.ts'
import { fromPlain, parseJson } from '../../libraries/base/json/json.ts'
import { checked, list, object, oneOf, optional, readShape, text } from '../../libraries/base/json/shape.ts'
import { decodeUtf8, toHex, utf8 } from '../../libraries/base/bytes.ts'
import { timeText } from '../../libraries/base/clock.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { type ScramRecord, scramRecord } from '../../libraries/pgwire/scram-record.ts'
import { parseRfc3339Ms } from '../../libraries/model/instant.ts'
import { isPattern, type Scope, scopes } from './scopes.ts'

/** `tokens/<id>` in the store. Times are RFC 3339 UTC with milliseconds. */
export interface TokenRecord {
  readonly id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Patterns; absent: every dataset. */
  readonly datasets?: readonly string[]
  readonly expiresAt?: string
  readonly createdAt: string
  /** Last four characters of the token, to tell tokens apart in a list. */
  readonly lastFour: string
  /** SHA-256 of the token's text, hex. */
  readonly hash: string
  /** By what a client proves that it has the token, without sending it; older tokens have none. In base64. */
  readonly scram?: ScramRecord
}

/** What is asked for when a token is made. */
export interface TokenRequest {
  readonly name: string
  readonly scopes: readonly string[]
  readonly datasets?: readonly string[]
  /** RFC 3339, any offset, in the future. */
  readonly expiresAt?: string
}

const nameCharsMost = 100
const patternsMost = 100
const prefix = 'pst_'
const randomChars = 32
const checksumChars = 6
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A fresh token. */
export function makeTokenText(): string {
  let body = ''
  while (body.length < randomChars) {
    for (const byte of randomBytes(randomChars)) {
      // 248 = 4 × 62: higher bytes would make the first letters likelier.
      if (byte < 248 && body.length < randomChars) body += alphabet[byte % 62] ?? ''
    }
  }
  const unchecked = prefix + body
  return unchecked + checksum(unchecked)
}

/** True for a text that this or another node made: right form, right checksum. */
export function isTokenText(token: string): boolean {
  if (!/^pst_[0-9A-Za-z]{38}$/.test(token)) return false
  const end = token.length - checksumChars
  return checksum(token.slice(0, end)) === token.slice(end)
}

/** What the store keeps instead of the token: SHA-256 as hex. 190 random bits need no salt and no slow hash. */
export function tokenHash(token: string): string {
  return toHex(sha256(utf8(token)))
}

/** The first 32 bits (big-endian) of the SHA-256 of what stands before it, in base62, most significant first. */
function checksum(before: string): string {
  const digest = sha256(utf8(before))
  let rest = new DataView(digest.buffer, digest.byteOffset).getUint32(0)
  let out = ''
  for (let i = 0; i < checksumChars; i++) {
    out = (alphabet[rest % 62] ?? '') + out
    rest = Math.floor(rest / 62)
  }
  return out
}

/** The characters of a bearer token (RFC 6750, b64token); no token of ours is longer. */
const tokenPattern = /^[A-Za-z0-9._~+/-]{1,512}=*$/
const form = /^ *([a-z]+) +(\S+) *$/i

/**
 * The token of `Authorization`: `Bearer <token>`, `Token <token>`, or `Basic` with the token as password and any user name,
 * for clients that know only credentials in URLs. Undefined without the header. The scheme in any case, spaces tolerated.
 * Throws NodeError `BadAuthorization` for another scheme, no token, or more than one.
 */
export function tokenOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const [, scheme = '', credentials = ''] = form.exec(header) ?? []
  const token = tokenIn(scheme.toLowerCase(), credentials)
  if (token !== undefined && tokenPattern.test(token)) return token
  throw new NodeError('BadAuthorization', 'The Authorization header is not of the form Bearer <token>.', {
    hint: 'Send Authorization: Bearer pst_…, or leave the header out. Basic takes the token as password.',
  })
}

function tokenIn(scheme: string, credentials: string): string | undefined {
  if (scheme === 'bearer' || scheme === 'token') return credentials
  return scheme === 'basic' ? passwordOf(credentials) : undefined
}

/** What stands behind the first colon (RFC 7617); undefined for what is no base64 of such a text. */
function passwordOf(credentials: string): string | undefined {
  if (!/^[A-Za-z0-9+/]{1,2048}={0,2}$/.test(credentials)) return undefined
  try {
    const pair = decodeUtf8(Buffer.from(credentials, 'base64'))
    const colon = pair.indexOf(':')
    return colon < 0 ? undefined : pair.slice(colon + 1)
  } catch {
    return undefined
  }
}

/** The part of a record that the request decides, normalised. Throws NodeError `InvalidRequest`. */
export function checkTokenRequest(
  request: TokenRequest,
  nowMs: number,
): Pick<TokenRecord, 'name' | 'scopes' | 'datasets' | 'expiresAt'> {
  const name = request.name.trim()
  if (name === '' || name.length > nameCharsMost || /\p{Cc}/u.test(name)) {
    throw invalid(`name: is not 1 to ${nameCharsMost} characters without control characters.`)
  }
  const asked = new Set(request.scopes)
  const unknown = request.scopes.find((scope) => !scopes.some((known) => known === scope))
  if (unknown !== undefined)
    throw invalid(`scopes: ${JSON.stringify(unknown.slice(0, 40))} is not one of ${scopes.join(', ')}.`)
  if (asked.size === 0) throw invalid('scopes: is empty.')
  return {
    name,
    scopes: scopes.filter((scope) => asked.has(scope)),
    ...(request.datasets === undefined ? {} : { datasets: checkPatterns(request.datasets) }),
    ...(request.expiresAt === undefined ? {} : { expiresAt: checkExpiry(request.expiresAt, nowMs) }),
  }
}

function checkPatterns(patterns: readonly string[]): readonly string[] {
  if (patterns.length === 0 || patterns.length > patternsMost)
    throw invalid(`datasets: has not 1 to ${patternsMost} patterns.`)
  const bad = patterns.find((pattern) => !isPattern(pattern))
  if (bad !== undefined) {
    throw invalid(
      `datasets: ${JSON.stringify(bad.slice(0, 100))} is not a pattern such as acme/weather, acme/* or */*.`,
    )
  }
  return patterns
}

function checkExpiry(expiresAt: string, nowMs: number): string {
  const ms = parseRfc3339Ms(expiresAt)
  if (ms === undefined) throw invalid('expiresAt: is not an RFC 3339 time such as 2030-01-31T12:00:00Z.')
  if (ms <= nowMs) throw invalid('expiresAt: is not in the future.')
  return timeText(ms)
}

function invalid(message: string): NodeError {
  return new NodeError('InvalidRequest', message)
}

/** Canonical JSON of the record. */
export function encodeTokenRecord(record: TokenRecord): Uint8Array {
  return canonicalBytes(fromPlain(record))
}

const time = checked(text(), (value) => (parseRfc3339Ms(value) === undefined ? 'is not an RFC 3339 time' : undefined))
const pattern = checked(text(), (value) => (isPattern(value) ? undefined : 'is not a pattern'))
const tokenRecord = object({
  id: text(),
  name: text(),
  scopes: list(oneOf(...scopes), { least: 1 }),
  createdAt: time,
  lastFour: text(),
  hash: text(/^[0-9a-f]{64}$/),
  datasets: optional(list(pattern, { least: 1 })),
  expiresAt: optional(time),
  scram: optional(scramRecord),
})

/** Reads a stored record. Throws DecodeError when it is not one: a damaged record lets no one in. */
export function decodeTokenRecord(bytes: Uint8Array): TokenRecord {
  return readShape('token record', tokenRecord, parseJson(bytes))
}

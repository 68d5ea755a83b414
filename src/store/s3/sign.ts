// Signatures of requests to a bucket: AWS Signature Version 4 in the `Authorization` header
// (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html), and the same under Google's names
// (https://cloud.google.com/storage/docs/authentication/signatures). Pure: the time and the secrets are handed in.

import { createHmac } from 'node:crypto'
import { sha256Hex } from '../../ids/native-crypto.ts'
import { utf8 } from '../../lib/bytes.ts'

/** Whose names a store knows: `x-amz-…` and `AWS4`, or `x-goog-…` and `GOOG4`. One request never has both. */
export type Dialect = 'aws' | 'gcs'

export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

export interface UnsignedRequest {
  readonly method: string
  /** Percent-encoded. */
  readonly path: string
  /** Not encoded, in any order. */
  readonly query: readonly (readonly [name: string, value: string])[]
  /** Names in lower case, with `host`; all are signed. */
  readonly headers: Readonly<Record<string, string>>
  /** SHA-256 of the body in lower-case hexadecimal digits. */
  readonly bodySha256: string
}

export interface Signing {
  readonly dialect: Dialect
  readonly credentials: Credentials
  readonly region: string
  /** Milliseconds since 1970, as the store's clock has it. */
  readonly timeMs: number
}

const terms = {
  aws: { scheme: 'AWS4', header: 'x-amz-', service: 's3' },
  gcs: { scheme: 'GOOG4', header: 'x-goog-', service: 'storage' },
} as const

/** The headers of `request` with those that date it, name its body's hash and sign it. */
export function signedHeaders(
  request: UnsignedRequest,
  { dialect, credentials, region, timeMs }: Signing,
): Readonly<Record<string, string>> {
  const { scheme, header, service } = terms[dialect]
  const time = new Date(timeMs).toISOString().replace(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  const { accessKeyId, secretAccessKey, sessionToken } = credentials
  const headers: Record<string, string> = {
    ...request.headers,
    [`${header}content-sha256`]: request.bodySha256,
    [`${header}date`]: time,
    ...(sessionToken === undefined ? {} : { [`${header}security-token`]: sessionToken }),
  }
  const names = Object.keys(headers).sort()
  const canonical = [
    request.method,
    request.path,
    queryText(request.query),
    ...names.map((name) => `${name}:${headers[name]?.trim().replace(/ +/g, ' ')}`),
    '',
    names.join(';'),
    request.bodySha256,
  ].join('\n')
  const suffix = `${scheme.toLowerCase()}_request`
  const scope = `${day}/${region}/${service}/${suffix}`
  const algorithm = `${scheme}-HMAC-SHA256`
  const text = [algorithm, time, scope, sha256Hex(utf8(canonical))].join('\n')
  const key = [day, region, service, suffix].reduce<string | Uint8Array>(hmac, scheme + secretAccessKey)
  const signature = createHmac('sha256', key).update(text).digest('hex')
  const authorization = `${algorithm} Credential=${accessKeyId}/${scope},SignedHeaders=${names.join(';')},Signature=${signature}`
  return { ...headers, authorization }
}

function hmac(key: string | Uint8Array, text: string): Uint8Array {
  return createHmac('sha256', key).update(text).digest()
}

/** A query as it is signed and sent: encoded, sorted by name, without `?`. */
export function queryText(query: UnsignedRequest['query']): string {
  return query
    .map(([name, value]) => [encodeText(name), encodeText(value)] as const)
    .sort(([a, x], [b, y]) => (a < b || (a === b && x < y) ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

/** A path as it is signed and sent; its slashes stay. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeText).join('/')
}

/** Everything but letters, digits, `-`, `.`, `_` and `~` as `%XX` of its UTF-8 bytes. */
function encodeText(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

// Signatures for a bucket of Google: those of AWS's Version 4 under Google's names, because one request may not carry both
// families of headers, and Google keeps the condition that nothing is there under a name of its own alone
// (https://cloud.google.com/storage/docs/authentication/signatures). Takes the place of the SDK's signer.

import { createHmac } from 'node:crypto'
import type { S3ClientConfig } from '@aws-sdk/client-s3'
import { sha256Hex } from '../../libraries/base/ids/native-crypto.ts'
import { utf8 } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'

/** The caller. */
export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  readonly expiration?: Date
}

/** What a family of signatures calls its parts. */
export interface SignatureNames {
  readonly scheme: string
  /** Begins the names of headers. */
  readonly header: string
  readonly service: string
  readonly end: string
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
  readonly names: SignatureNames
  readonly credentials: Credentials
  readonly region: string
  /** Milliseconds since 1970, as the store's clock has it. */
  readonly timeMs: number
}

type Signer = Extract<NonNullable<S3ClientConfig['signer']>, { sign: unknown }>

export const googleNames: SignatureNames = {
  scheme: 'GOOG4',
  header: 'x-goog-',
  service: 'storage',
  end: 'goog4_request',
}

/** What the SDK says of itself, and of a request in Amazon's names. */
const foreign = /^(?:x-amz-|amz-sdk-|user-agent$|if-none-match$)/

/** Signs what the SDK would send to Amazon so that Google takes it. */
export function googleSigner(keys: () => Promise<Credentials>, region: string, clock: Clock): Signer {
  return {
    async sign(request, { signingDate } = {}) {
      const { method, path, query = {}, body } = request
      const given = new Map(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]))
      const headers = Object.fromEntries([...given].filter(([name]) => !foreign.test(name)))
      if (given.get('if-none-match') === '*') headers['x-goog-if-generation-match'] = '0'
      const isText = typeof body === 'string'
      const bodySha256 = given.get('x-amz-content-sha256') ?? sha256Hex(isText ? utf8(body) : new Uint8Array(0))
      const { 'x-id': _, ...asked } = query
      const pairs = Object.entries(asked).map(([name, value]) => [name, String(value ?? '')] as const)
      const credentials = await keys()
      const signing = { names: googleNames, credentials, region, timeMs: Number(signingDate ?? clock.nowMs()) }
      request.headers = { ...signedHeaders({ method, path, query: pairs, headers, bodySha256 }, signing) }
      request.query = asked
      return request
    },
  }
}

/** The headers of `request` with those that date it, name its body's hash and sign it. */
export function signedHeaders(
  request: UnsignedRequest,
  { names: { scheme, header, service, end }, credentials, region, timeMs }: Signing,
): Readonly<Record<string, string>> {
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
  const scope = `${day}/${region}/${service}/${end}`
  const algorithm = `${scheme}-HMAC-SHA256`
  const text = [algorithm, time, scope, sha256Hex(utf8(canonical))].join('\n')
  const key = [day, region, service, end].reduce<string | Uint8Array>(hmac, scheme + secretAccessKey)
  const signature = createHmac('sha256', key).update(text).digest('hex')
  const authorization = `${algorithm} Credential=${accessKeyId}/${scope},SignedHeaders=${names.join(';')},Signature=${signature}`
  return { ...headers, authorization }
}

function hmac(key: string | Uint8Array, text: string): Uint8Array {
  return createHmac('sha256', key).update(text).digest()
}

/** A query as it is signed: encoded, sorted by name, without `?`. */
function queryText(query: UnsignedRequest['query']): string {
  return query
    .map(([name, value]) => [encodeText(name), encodeText(value)] as const)
    .sort(([a, x], [b, y]) => (a < b || (a === b && x < y) ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

/** Everything but letters, digits, `-`, `.`, `_` and `~` as `%XX` of its UTF-8 bytes. */
function encodeText(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

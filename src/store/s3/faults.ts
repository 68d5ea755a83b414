// What a store says when it does not do what was asked: which of its answers may be different next time, and what a person
// is told of those that will not.

import { decodeUtf8 } from '../../lib/bytes.ts'
import { type ErrorKind } from '../../model/error-table.ts'
import { DecodeError, NodeError } from '../../model/errors.ts'
import { childText, parseXml } from './xml.ts'

export interface S3Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Uint8Array
}

/** No answer, or not all of it: what was asked may have been done. */
export class Unanswered extends NodeError {
  constructor(what: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    super('StoreUnavailable', `The store did not answer ${what}: ${reason}.`, {
      hint: 'Check that the bucket can be reached from here: address, network, certificates.',
      retryAfterSeconds: 5,
      cause,
    })
  }
}

/** `Code` of an error answer in XML, or undefined where there is none, as in answers to HEAD. */
export function errorCodeOf({ body }: S3Answer): string | undefined {
  return body.length === 0 ? undefined : errorMember(body, 'Code')
}

function errorMember(body: Uint8Array, name: string): string | undefined {
  try {
    const root = parseXml(decodeUtf8(body))
    return root.name === 'Error' ? childText(root, name) : undefined
  } catch (error) {
    // A proxy's page, for example.
    if (error instanceof DecodeError || error instanceof TypeError) return undefined
    throw error
  }
}

/** Codes that stand for "not now" under statuses that do not say so. */
const passing: ReadonlySet<string> = new Set(['RequestTimeout', 'SlowDown', 'InternalError', 'BadDigest'])
const mangled: ReadonlySet<string> = new Set(['XAmzContentSHA256Mismatch', 'IncompleteBody'])

/** True when the same request may succeed later. */
export function mayPass(answer: S3Answer): boolean {
  const { status } = answer
  if (status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 507)) return true
  const code = errorCodeOf(answer)
  return code !== undefined && (passing.has(code) || mangled.has(code))
}

/** The error for an answer that `what` (such as `PUT key`) did not deserve. */
export function faultOf(what: string, answer: S3Answer): NodeError {
  const { status, body } = answer
  const code = errorCodeOf(answer)
  const said = code === undefined ? `status ${status}` : `${code}: ${errorMember(body, 'Message') ?? ''}`.trimEnd()
  const [kind, hint] = adviceOn(answer, code)
  const retry = kind === 'StoreUnavailable' ? { retryAfterSeconds: 5 } : {}
  return new NodeError(kind, `The store refused ${what}: ${said.replace(/\.$/, '')}.`, { hint, ...retry })
}

const credentialsHint =
  'Check the access key, its secret and its rights: reading, writing, deleting and listing under the prefix.'
const endpointHint = 'Check --s3-endpoint and --s3-path-style.'

function adviceOn({ status, headers, body }: S3Answer, code: string | undefined): readonly [ErrorKind, string] {
  const region = headers['x-amz-bucket-region'] ?? errorMember(body, 'Region')
  if (typeof region === 'string' && (status === 301 || status === 307 || status === 400)) {
    return ['StoreUnavailable', `The bucket is in another region: --s3-region ${region}`]
  }
  if (status === 507 || code === 'QuotaExceeded' || code === 'XMinioStorageFull') {
    return ['StorageFull', 'Make room in the bucket, or raise its quota.']
  }
  if (status === 501 || code === 'NotImplemented') {
    return ['StoreUnavailable', 'The store cannot do this. A bucket for Proofstream has conditional writes.']
  }
  switch (code) {
    case 'NoSuchBucket':
      return ['StoreUnavailable', 'Make the bucket, or name another one with --store.']
    case 'AuthorizationHeaderMalformed':
      return ['StoreUnavailable', 'Name the region of the bucket with --s3-region.']
    case 'RequestTimeTooSkewed':
      return ['StoreUnavailable', 'Set the clock of this machine.']
    default:
      return ['StoreUnavailable', status === 401 || status === 403 ? credentialsHint : endpointHint]
  }
}

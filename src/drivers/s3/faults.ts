// What a store says when it does not do what was asked: which of its answers may be different next time, and what to say
// of those that will not.

import type { ErrorKind } from '../../libraries/base/error-table.ts'
import { NodeError } from '../../libraries/base/errors.ts'

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

/** An answer that is no success. */
export class Refused extends NodeError {
  readonly status: number
  /** `Code` of an error in XML, or undefined where there is none, as in answers to HEAD. */
  readonly code: string | undefined

  constructor(what: string, status: number, said: Said) {
    const [kind, hint] = adviceOn(status, said)
    const words = said.code === undefined ? `status ${status}` : `${said.code}: ${said.message ?? ''}`
    super(kind, `The store refused ${what}: ${words.replace(/[:\s.]*$/, '')}.`, {
      hint,
      ...(kind === 'StoreUnavailable' ? { retryAfterSeconds: 5 } : {}),
      cause: said.cause,
    })
    this.status = status
    this.code = said.code
  }

  /** The same request may succeed later. */
  get mayPass(): boolean {
    const { status, code = '' } = this
    return status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 507) || passing.has(code)
  }

  /** There is no object. Answers to HEAD and DELETE have no code; another 404 could be that there is no bucket. */
  get isNoObject(): boolean {
    return this.status === 404 && this.code === 'NoSuchKey'
  }
}

interface Said {
  readonly code?: string | undefined
  readonly message?: string | undefined
  readonly region?: string | undefined
  readonly cause?: unknown
}

/** Codes that stand for "not now" under statuses that do not say so. */
const passing: ReadonlySet<string> = new Set([
  'RequestTimeout',
  'SlowDown',
  'InternalError',
  'BadDigest',
  'XAmzContentSHA256Mismatch',
  'IncompleteBody',
])

/** Members of the errors of the SDK, whose types say less; what a store has put there may be anything. */
interface SdkError {
  readonly message?: unknown
  readonly Code?: unknown
  readonly Region?: unknown
  readonly $metadata?: { readonly httpStatusCode?: unknown }
  readonly $response?: { readonly statusCode?: unknown; readonly headers?: Readonly<Record<string, unknown>> }
}

const wordsMost = 500
const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== 'UnknownError' ? value.slice(0, wordsMost) : undefined

/** What `error`, thrown while `what` (such as `PUT key`) was sent, means of the store. */
export function faultOf(what: string, error: unknown): NodeError {
  if (error instanceof NodeError) return error
  const { message, Code, Region, $metadata, $response }: SdkError = error instanceof Error ? error : {}
  const status = Number($metadata?.httpStatusCode ?? $response?.statusCode)
  if (Number.isNaN(status)) return new Unanswered(what, error)
  // The SDK adds lines on how to find the bug.
  if (status < 300) return unreadable(textIn(message)?.replace(/\.?\n.*/s, '') ?? '', error)
  const region = textIn($response?.headers?.['x-amz-bucket-region'] ?? Region)
  return new Refused(what, status, { code: textIn(Code), message: textIn(message), region, cause: error })
}

export function unreadable(reason: string, cause?: unknown): NodeError {
  return new NodeError('StoreUnavailable', `An answer of the store cannot be read: ${reason.slice(0, wordsMost)}.`, {
    hint: 'Check that the endpoint of --store is a store with the interface of S3.',
    cause,
  })
}

const credentialsHint =
  'Check the access key, its secret and its rights: reading, writing, deleting and listing under the prefix.'
const endpointHint = 'Check endpoint and path-style of --store.'

function adviceOn(status: number, { code, region }: Said): readonly [ErrorKind, string] {
  if (region !== undefined && (status === 301 || status === 307 || status === 400)) {
    return ['StoreUnavailable', `The bucket is in another region: name it in --store with region=${region}`]
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
      return ['StoreUnavailable', 'Name the region of the bucket in --store: s3://bucket/prefix?region=…']
    case 'RequestTimeTooSkewed':
      return ['StoreUnavailable', 'Set the clock of this machine.']
    default:
      return ['StoreUnavailable', status === 401 || status === 403 ? credentialsHint : endpointHint]
  }
}

// The one error body of the node: RFC 9457 problem details with the members that clients of deployed nodes know.

import { type ErrorKind, errorTable, isRetryable, kindSlug } from '../model/error-table.ts'
import { HaltError, NodeError } from '../model/errors.ts'

/** A body ready to be sent. */
export interface Problem {
  readonly status: number
  readonly mediaType: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

const maxErrors = 100

/** The problem of `error`; anything else but damage of a dataset becomes `Internal` without a word of its text. */
export function problemOf(error: unknown, requestId: string): Problem {
  const known = error instanceof NodeError ? error : (damage(error) ?? internal(error))
  const { kind, message, details } = known
  const row = errorTable[kind]
  const retryAfter = details.retryAfterSeconds ?? (row.status === 429 || row.status === 503 ? 1 : undefined)
  return {
    status: row.status,
    mediaType: isVerifyKind(kind) ? 'application/json; charset=utf-8' : 'application/problem+json; charset=utf-8',
    headers: {
      'cache-control': 'no-store',
      ...(retryAfter === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfter)) }),
    },
    body: {
      type: `/errors/${kindSlug(kind)}`,
      title: row.title,
      status: row.status,
      detail: message,
      instance: `urn:uuid:${requestId}`,
      ok: false,
      error: { kind, message, ...details.extra },
      message,
      ...(details.hint === undefined ? {} : { hint: details.hint }),
      ...(details.position === undefined ? {} : { position: details.position }),
      ...(details.candidates === undefined ? {} : { candidates: details.candidates }),
      ...(details.errors === undefined
        ? {}
        : { errors: details.errors.slice(0, maxErrors), errorsTotal: details.errorsTotal ?? details.errors.length }),
      ...(details.limit === undefined ? {} : { limit: details.limit }),
      retryable: isRetryable(kind),
    },
  }
}

/** Kinds of a failed `/verify` go out as plain JSON. */
function isVerifyKind(kind: ErrorKind): boolean {
  return /^(?:InvalidRequest|VerificationFailed|VerificationInconclusive)::/.test(kind)
}

/** What is damaged of a dataset that the caller may read is told to him; nothing of it is served. */
function damage(error: unknown): NodeError | undefined {
  if (!(error instanceof HaltError) || error.reason !== 'ChainBroken') return undefined
  return new NodeError('Internal', `What is stored of the dataset is damaged: ${error.what}.`, {
    hint: 'An operator runs `proofstream fsck`, which lists all that is damaged. Other datasets are not concerned.',
    extra: { reason: error.reason },
    cause: error,
  })
}

function internal(cause: unknown): NodeError {
  return new NodeError('Internal', 'The node failed to handle this request; the log of the node says why.', {
    hint: 'Report it with the request id if it happens again.',
    cause,
  })
}

// Errors as part of the product. `NodeError` is what a caller gets to see: a kind of the closed table in
// `error-table.ts`, where, what was expected, what to do next. `DecodeError` says why bytes are not what they claim.
// `HaltError` stops a dataset or the process and names the reason.

import type { ErrorKind } from './error-table.ts'

/** Place in a text: `offset` 0-based UTF-8 bytes; `line`, `column` 1-based, column in code points. */
export interface TextPosition {
  readonly offset: number
  readonly line: number
  readonly column: number
}

export type RecordErrorKind =
  | 'MalformedRecord'
  | 'MissingRequired'
  | 'UnknownField'
  | 'DuplicateField'
  | 'WrongType'
  | 'OutOfRange'
  | 'BadTimestamp'
  | 'BadDate'
  | 'InvalidUtf8'
  | 'ReservedColumn'
  | 'TooManyFields'
  | 'TooFewFields'
  | 'UnclosedQuote'
  | 'InvalidGeometry'
  | 'TooDeep'
  | 'RecordTooLarge'

/** One fault in an ingest body (docs/spec/http.md §6, Record errors). */
export interface RecordError {
  /** 0-based; absent for a fault in a CSV header. */
  readonly record?: number
  /** 1-based line, text formats only. */
  readonly line?: number
  /** 0-based offset in the inflated body where the faulty value (or record) begins. */
  readonly byteOffset?: number
  readonly column?: string
  /** RFC 6901 JSON pointer inside the record. */
  readonly pointer?: string
  readonly kind: RecordErrorKind
  readonly message: string
  /** At most 80 characters, control characters escaped. */
  readonly excerpt?: string
}

/** Members of a problem body beside kind and message. */
export interface ErrorDetails {
  readonly hint?: string
  readonly position?: TextPosition
  readonly candidates?: readonly string[]
  /** Candidates that are more than words: parameters with why, each of which settles it. */
  readonly ways?: readonly object[]
  /** Dialects that were tried on the body. */
  readonly offers?: readonly object[]
  /** At most 100. */
  readonly errors?: readonly RecordError[]
  readonly errorsTotal?: number
  readonly limit?: { readonly name: string; readonly value: number; readonly unit: string }
  /** More members of the body, in snake_case for `/verify` kinds. */
  readonly extra?: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds?: number
  /** Of the body that is refused, where all of it was read. */
  readonly bodyHash?: string
  /** The refusal as a document, where it was asked for. */
  readonly refusal?: object
  /** The dataset `from` has the name `to` now: routes that have `from` in their path answer 308. */
  readonly moved?: { readonly from: string; readonly to: string }
  readonly cause?: unknown
}

/** An error that a client of the node is told about. `message` is a sentence for a hurried reader. */
export class NodeError extends Error {
  override readonly name: string = 'NodeError'
  readonly kind: ErrorKind
  readonly details: ErrorDetails

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.kind = kind
    this.details = details
  }
}

/** Bytes or text are not what they claim to be: `what` (`"ODF block"`), why, and where. */
export class DecodeError extends Error {
  override readonly name: string = 'DecodeError'
  readonly what: string
  /** 0-based byte offset of the fault, where known. */
  readonly offset: number | undefined

  constructor(what: string, reason: string, offset?: number) {
    super(`${what}: ${reason}${offset === undefined ? '' : ` (at byte ${offset})`}`)
    this.what = what
    this.offset = offset
  }
}

export type HaltReason =
  | 'LogTruncated'
  | 'LogRegressed'
  | 'LogReplaced'
  | 'LogDamaged'
  | 'NewerLog'
  | 'ChainRegressed'
  | 'LedgerRegressed'
  | 'ChainBroken'
  | 'PoisonBlock'

/** Stops a dataset, a partition or the process; nothing is guessed or reset. */
export class HaltError extends Error {
  override readonly name: string = 'HaltError'
  readonly reason: HaltReason
  /** What happened; `message` has the reason before it. */
  readonly what: string

  constructor(reason: HaltReason, what: string, cause?: unknown) {
    super(`${reason}: ${what}`, cause === undefined ? undefined : { cause })
    this.reason = reason
    this.what = what
  }
}

/** What `read` returns; undefined where it throws a DecodeError. */
export function decoded<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

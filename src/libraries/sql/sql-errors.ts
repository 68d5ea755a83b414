// Errors of the engine as the caller may see them: kind, place in the text as sent, candidates. Whatever could tell of
// files, settings or other callers is left out and goes to the operator's log instead. Pure.

import { parseJson, toPlain } from '../base/json/json.ts'
import { defined, ownValue } from '../base/collections.ts'
import type { ErrorKind } from '../base/error-table.ts'
import { type ErrorDetails, NodeError, decoded } from '../base/errors.ts'
import { tooDeepJson } from './printable.ts'
import type { QuotedSql } from './offset-word.ts'
import { positionOfByte, positionOfCodePoint } from './sql-text.ts'

/** An error as the engine reports it (setting errors_as_json). */
export interface EngineMessage {
  readonly type: string
  readonly message: string
  readonly subtype: string
  readonly position: number | undefined
  readonly candidates: readonly string[]
}

/** Reads the JSON of an engine's error; text without JSON keeps its `… Error:` prefix as type. */
export function parseEngineMessage(raw: string): EngineMessage {
  const brace = raw.indexOf('{"exception_type"')
  const fields = brace < 0 ? undefined : errorFields(raw.slice(brace))
  if (fields === undefined) {
    const prefix = /^([A-Za-z ]+) Error: ?/.exec(raw)
    return {
      type: prefix?.[1] ?? 'Unknown',
      message: prefix === null ? raw : raw.slice(prefix[0].length),
      subtype: '',
      position: undefined,
      candidates: [],
    }
  }
  const position = Number(fields.get('position') ?? Number.NaN)
  return {
    type: fields.get('exception_type') ?? 'Unknown',
    message: fields.get('exception_message') ?? '',
    subtype: fields.get('error_subtype') ?? '',
    position: Number.isSafeInteger(position) ? position : undefined,
    candidates: splitCandidates(fields.get('candidates') ?? ''),
  }
}

function errorFields(json: string): Map<string, string> | undefined {
  return decoded(() => {
    const value = toPlain(parseJson(json))
    return new Map(
      Object.entries(value ?? {}).map(([name, member]) => [name, typeof member === 'string' ? member : '']),
    )
  })
}

/** Candidates come joined by commas; those of functions hold commas of their own. */
function splitCandidates(joined: string): string[] {
  if (joined === '') return []
  return joined.includes('(') ? joined.split(/,(?=[^(),]*\()/) : joined.split(',')
}

/** Kinds by the type of the engine's exception; any other type is of a value, but for those that are no caller's fault. */
const kindOfType: Readonly<Record<string, ErrorKind>> = {
  Parser: 'SqlSyntax',
  Syntax: 'SqlSyntax',
  Binder: 'SqlSyntax',
  Catalog: 'SqlUnknownName',
  'Not implemented': 'QueryNotAllowed',
  'Not Implemented': 'QueryNotAllowed',
}

/** The engine's own faults, and those of disk, network and settings. */
const ownFaults = new Set(['INTERNAL', 'FATAL', 'INTERRUPT', 'IO', 'Permission', 'HTTP', 'Network', 'Connection'])

/** Errors that name a column, table or function that is not there. */
const unknownNameSubtypes = new Set(['COLUMN_NOT_FOUND', 'MISSING_ENTRY', 'TABLE_NOT_FOUND', 'FUNCTION_NOT_FOUND'])

export interface ErrorPlace {
  /** The statement that the position belongs to; undefined: positions mean nothing. */
  readonly sql: QuotedSql | undefined
  readonly memoryBytes: number
  /** A message that names one of these directories is not for the caller (unless a cast echoes a value). */
  readonly dataRoots: readonly string[]
}

/** The caller's error for an engine's message; `Internal` with the raw text as cause for what is no caller's fault. */
export function errorOfEngine(raw: string, place: ErrorPlace): NodeError {
  const found = parseEngineMessage(raw)
  if (found.type === 'Out of Memory' || /^(std::bad_alloc|Allocation failure)/.test(found.message)) {
    return outOfMemory(place.memoryBytes)
  }
  if (found.message.startsWith('Max expression depth')) return tooDeep()
  if (found.message.includes(tooDeepJson)) {
    return new NodeError('SqlValue', `A function was given ${tooDeepJson}.`, {
      hint: "Take the part that matters out first: x -> '$.a.b'.",
    })
  }
  const session = /^Could not convert string '(\w+) is not for queries'/.exec(found.message)
  if (session !== null) return new NodeError('QueryNotAllowed', `Queries may not use ${session[1]}.`)
  const namesFile = found.type !== 'Conversion' && place.dataRoots.some((root) => raw.includes(root))
  const kind = namesFile ? undefined : kindOf(found)
  if (kind === undefined) return new NodeError('Internal', 'The query engine failed.', { cause: raw })
  // Names of tables and functions come from the engine's own catalogue and are left out.
  const candidates = found.type === 'Catalog' ? [] : found.candidates.slice(0, 10)
  const hint = found.message.endsWith('argument can not contain NULL values') ? nullsHint : undefined
  const details = {
    ...positionDetail(found, place.sql),
    ...(candidates.length > 0 && { candidates }),
    ...defined({ hint }),
  }
  return new NodeError(kind, sentence(found.message), details)
}

/** Functions over vectors look at the items of all lists that lie in memory. */
const nullsHint =
  'Rows that are left out by WHERE count too. Write a value for nulls: list_transform(l, lambda x: coalesce(x, 0)).'

function kindOf(found: EngineMessage): ErrorKind | undefined {
  if (unknownNameSubtypes.has(found.subtype)) return 'SqlUnknownName'
  if (found.type === 'Binder' && /^Referenced (table|column)|does not have a column named/.test(found.message)) {
    return 'SqlUnknownName'
  }
  if (found.subtype === 'NO_MATCHING_FUNCTION') return 'SqlValue'
  if (found.type === 'INTERNAL' && found.message.startsWith('Information loss on integer cast')) return 'SqlValue'
  return ownValue(kindOfType, found.type) ?? (ownFaults.has(found.type) ? undefined : 'SqlValue')
}

function positionDetail(found: EngineMessage, sql: QuotedSql | undefined): ErrorDetails {
  if (sql === undefined || found.position === undefined) return {}
  const inCodePoints = found.subtype === 'SYNTAX_ERROR'
  return { position: inCodePoints ? positionOfCodePoint(sql, found.position) : positionOfByte(sql, found.position) }
}

/** First lines that speak of the statement, without the engine's list of candidates and its excerpt. */
function sentence(message: string): string {
  const end = message.search(/\n\s*(Candidate|Did you mean|LINE \d|Possible solutions|\*)/)
  const text = (end < 0 ? message : message.slice(0, end)).trim()
  return text.length > 500 ? `${text.slice(0, 499)}…` : text
}

/** The refusal of a statement nested deeper than the engine's parser goes. */
export function tooDeep(): NodeError {
  return new NodeError('QueryNotAllowed', 'The statement nests deeper than 1,000 levels.', {
    hint: 'Split it with WITH.',
  })
}

/** The refusal of a query that outgrew its memory. */
export function outOfMemory(memoryBytes: number): NodeError {
  return new NodeError('ResultTooLarge', 'The query needs more memory than a query may use.', {
    hint: 'Filter or aggregate more, or select fewer columns.',
    limit: { name: 'queryMemoryBytes', value: memoryBytes, unit: 'bytes' },
  })
}

/** What a query ends with whose process the system has ended. */
export function endedForMemory(cause: string): NodeError {
  return new NodeError('Saturated', 'The machine had too little memory left for the query.', {
    hint: 'Send it again when less runs beside it, ask for less at once, or give the node more memory.',
    retryAfterSeconds: 1,
    cause,
  })
}

/** True when the engine may be in any state after this error. */
export function breaksEngine(error: unknown): boolean {
  if (!(error instanceof NodeError)) return true
  if (error.kind !== 'Internal') return false
  const { cause } = error.details
  return typeof cause !== 'string' || /^(?:INTERNAL|FATAL|Unknown)$/.test(parseEngineMessage(cause).type)
}

/** Text of what went wrong, for the operator's log. */
export function reasonOf(cause: unknown): string {
  if (cause instanceof Error) return cause.stack ?? cause.message
  return typeof cause === 'string' ? cause : 'unknown'
}

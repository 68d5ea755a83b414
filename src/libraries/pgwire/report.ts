// Errors of the node as PostgreSQL reports them: SQLSTATE, message, hint, position in characters (PostgreSQL documentation,
// appendix A; docs/errors.md has the table).

import type { ErrorKind } from '../base/error-table.ts'
import { NodeError } from '../base/errors.ts'
import { utf8 } from '../base/bytes.ts'
import type { ReportFields } from './backend.ts'

/** A fault that PostgreSQL has a state for, and the table of error kinds none. */
export class PostgresFault extends Error {
  readonly state: string
  readonly hint: string | undefined

  constructor(state: string, message: string, hint?: string) {
    super(message)
    this.state = state
    this.hint = hint
  }
}

/** What a caller may meet. Others are faults of the node. */
export const sqlStates = {
  SqlSyntax: '42601',
  SqlUnknownName: '42703',
  SqlValue: '22000',
  QueryNotAllowed: '0A000',
  NotReproducible: '0A000',
  DuplicateColumn: '42701',
  DatasetNotFound: '42P01',
  DatasetDeleted: '42P01',
  BlockNotFound: '42P01',
  InvalidParameter: '22023',
  InvalidRequest: '22023',
  InvalidName: '42602',
  BodyTooLarge: '54000',
  ResultTooLarge: '54000',
  Unauthenticated: '28P01',
  BadAuthorization: '28P01',
  Forbidden: '42501',
  QueryTimeout: '57014',
  Saturated: '53000',
  QuotaExceeded: '53400',
  Draining: '57P01',
  StoreUnavailable: '58030',
  CopyBehind: '58030',
  EngineUnavailable: '58000',
} as const satisfies Partial<Record<ErrorKind, string>>

/** What an error says. `sql` is the text in which it has a position, and `before` stands in front of that. A fault of the node says no more. */
export function reportOf(error: unknown, sql = '', before = ''): ReportFields {
  if (error instanceof PostgresFault) return { ...severity('ERROR'), C: error.state, M: error.message, H: error.hint }
  if (!(error instanceof NodeError)) return { ...severity('ERROR'), C: 'XX000', M: 'The node failed.' }
  const { hint, position, candidates = [] } = error.details
  const meant = candidates.length > 0 ? `Did you mean ${candidates.slice(0, 5).join(', ')}?` : undefined
  return {
    ...severity('ERROR'),
    C: stateOf(error),
    M: error.message,
    // A client that only reads makes no datasets.
    H:
      hint?.replace(
        'Create it with PUT, or by posting records with ?create=true.',
        'It is not there, or you may not read it.',
      ) ?? meant,
    P:
      position === undefined
        ? undefined
        : String(Array.from(before).length + charactersBefore(sql, position.offset) + 1),
  }
}

export function severity(word: 'ERROR' | 'FATAL' | 'NOTICE' | 'WARNING'): ReportFields {
  return { S: word, V: word }
}

function stateOf({ kind, message }: NodeError): string {
  if (kind === 'SqlUnknownName' && /\bfunction\b/i.test(message)) return '42883'
  if (kind === 'SqlValue' && /division by zero/i.test(message)) return '22012'
  if (kind === 'SqlValue' && /out of range|overflow/i.test(message)) return '22003'
  if (kind === 'SqlValue' && /could not convert|conversion|invalid input/i.test(message)) return '22P02'
  return kind in sqlStates ? sqlStates[kind as keyof typeof sqlStates] : 'XX000' // the line has looked
}

/** How many characters stand before a byte of the text as UTF-8. */
function charactersBefore(sql: string, byteOffset: number): number {
  let count = 0
  let bytes = 0
  for (const character of sql) {
    if (bytes >= byteOffset) return count
    bytes += utf8(character).length
    count++
  }
  return count
}

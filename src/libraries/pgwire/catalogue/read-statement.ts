// A statement as it comes, parsed and gated; one about the catalogue of PostgreSQL in words of the engine.

import type { JsonObject } from '../../base/json/value.ts'
import { mayAsk, withPlainWords } from './plain-words.ts'
import { postgresListings, rewritten } from './rewriting.ts'
import { type GateResult, gateStatement } from '../../sql/gate.ts'
import { type QuotedSql, quoteOffsetWord } from '../../sql/offset-word.ts'
import type { Rewriter } from '../../sql/rewriter.ts'
import { checkStatementKind, positionOfByte } from '../../sql/sql-text.ts'
import type { Analysis, ListingNames } from '../../sql/statement.ts'

/** A statement that the gate let through. */
export interface ReadStatement {
  readonly sql: QuotedSql
  /** Its top node in the serialised tree. */
  readonly node: JsonObject
  readonly gate: GateResult
}

/** Reads a statement. Throws as `Rewriter.parse` and `gateStatement`. */
export async function readStatement(
  rewriter: Rewriter,
  text: string,
  speaks: Analysis['speaks'],
): Promise<ReadStatement> {
  checkStatementKind(text)
  if (speaks !== undefined && mayAsk(text)) {
    const { sql, node } = await parsed(rewriter, withPlainWords(text))
    const asking = rewritten(node)
    if (asking !== undefined) return gated({ sql, node: asking }, postgresListings)
  }
  return gated(await parsed(rewriter, text))
}

type Parsed = Pick<ReadStatement, 'sql' | 'node'>

async function parsed(rewriter: Rewriter, text: string): Promise<Parsed> {
  const sql = quoteOffsetWord(text)
  return { sql, node: await rewriter.parse(sql) }
}

function gated({ sql, node }: Parsed, names?: ListingNames): ReadStatement {
  return { sql, node, gate: gateStatement(node, (offset) => positionOfByte(sql, offset), names) }
}

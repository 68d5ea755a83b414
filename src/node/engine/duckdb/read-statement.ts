// A statement as it comes, parsed and gated; one about the catalogue of PostgreSQL in words of the engine.

import type { JsonObject } from '../../../libraries/base/json/value.ts'
import { askingCatalogue, postgresListings } from '../../../libraries/pgwire/catalogue/rewriting.ts'
import { type GateResult, gateStatement } from '../../../libraries/sql/gate.ts'
import { type QuotedSql, quoteOffsetWord } from '../../../libraries/sql/offset-word.ts'
import type { Rewriter } from '../../../libraries/sql/rewriter.ts'
import { checkStatementKind, positionOfByte } from '../../../libraries/sql/sql-text.ts'
import type { Analysis } from '../../../libraries/sql/statement.ts'

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
  const parse = async (sql: QuotedSql): Promise<JsonObject> => await rewriter.parse(sql)
  const asking = speaks === undefined ? undefined : await askingCatalogue(text, parse)
  const sql = asking?.sql ?? quoteOffsetWord(text)
  const node = asking?.node ?? (await parse(sql))
  const gate = gateStatement(node, (offset) => positionOfByte(sql, offset), asking && postgresListings)
  return { sql, node, gate }
}

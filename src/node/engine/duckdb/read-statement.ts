// A statement as it comes, parsed and gated; one about the catalogue of PostgreSQL in words of the engine.

import { assert } from '../../../libraries/base/assert.ts'
import type { JsonObject } from '../../../libraries/base/json/value.ts'
import { askingCatalogue, postgresListings } from '../../../libraries/pgwire/catalogue/rewriting.ts'
import { foldAscii } from '../../../libraries/model/names.ts'
import { checkReproducible } from '../../../libraries/sql/demands.ts'
import type { HeldTable } from '../process/file-lists.ts'
import { type GateResult, gateStatement, notAllowed } from '../../../libraries/sql/gate.ts'
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

/** Throws NodeError `QueryNotAllowed` for a name that only looks like a column, `NotReproducible`. */
export function checkJob(
  statement: ReadStatement,
  job: { readonly tables: readonly Pick<HeldTable, 'parts' | 'schema'>[]; readonly reproducible: boolean },
): void {
  const given = new Set(job.tables.map((table) => JSON.stringify(table.parts)))
  for (const table of statement.gate.tables) {
    assert(given.has(JSON.stringify(table.parts)), `a table is given for each name of the statement`)
  }
  if (job.reproducible) checkReproducible(statement.sql, statement.gate)
  for (const name of statement.gate.sessionNames) {
    const isColumn = job.tables.some((table) =>
      table.schema?.fields.some((field) => foldAscii(field.name) === name.construct),
    )
    if (!isColumn && !statement.gate.aliases.has(name.construct)) throw notAllowed(name)
  }
}

/** False for what another moment answers otherwise, or another catalogue. */
export function isLasting({ volatile, catalogue }: GateResult): boolean {
  return (volatile ?? catalogue) === undefined
}

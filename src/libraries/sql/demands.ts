// What is demanded of a statement that is to be proven, exported or answered in a keyed layout, beyond what the gate lets
// through, and how each refusal says what helps. Pure.

import { assert } from '../base/assert.ts'
import { NodeError } from '../base/errors.ts'
import type { JsonObject } from '../base/json/value.ts'
import { foldAscii } from '../model/names.ts'
import type { DataSchema } from '../model/schema.ts'
import { type GateResult, notAllowed, notProvable, sampleConstruct } from './gate.ts'
import { keepsOffsetOrder } from './rewriter.ts'
import type { QuotedSql } from './offset-word.ts'
import { sampleClause } from './sql-text.ts'

/** Throws NodeError `NotReproducible` for what another run, or another machine, would answer differently. */
export function checkReproducible(sql: QuotedSql, { volatile, machineDependent, catalogue }: GateResult): void {
  if (catalogue !== undefined) throw notProvable(catalogue)
  const found = volatile ?? machineDependent
  if (found === undefined) return
  // The tree has no place for USING SAMPLE.
  const position = found.position ?? (found.construct === sampleConstruct ? sampleClause(sql.original) : undefined)
  const [why, hint] =
    found === volatile
      ? [`${found.construct} gives another answer each time`, 'Write a fixed value instead, or ask without a proof.']
      : [
          `The last digits of ${found.construct} depend on the machine`,
          'Compute it from the proven answer, or ask without a proof; a square can be written x * x.',
        ]
  throw new NodeError('NotReproducible', `${why}, so there can be no proof.`, { hint, ...(position && { position }) })
}

/** Throws NodeError `QueryNotAllowed` for what does more than filter and project one dataset. */
export function demandOffsetOrder(node: JsonObject): void {
  if (keepsOffsetOrder(node)) return
  throw notAllowed(
    { construct: 'subqueries, windows or aggregates in the condition of an export' },
    'A condition is over the columns of one row; GET /query runs any SELECT and answers files too.',
  )
}

/** The refusal of a proof of what may be another answer on the same blocks. */
export function raced(): NodeError {
  const why = 'The parts of a UNION come in either order, and the answer depends on it, so there can be no proof.'
  return new NodeError('NotReproducible', why, {
    hint: 'Order by offset what depends on order, sum decimals in place of floats, or ask without a proof.',
  })
}

/** Two output columns of exactly one name have no place in a keyed layout. Throws NodeError `DuplicateColumn`. */
export function checkDuplicates(names: readonly string[]): void {
  const repeated = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
  if (repeated.length === 0) return
  throw new NodeError('DuplicateColumn', `Two output columns are named '${repeated[0]?.slice(0, 200)}'.`, {
    candidates: repeated.slice(0, 100),
    hint: 'Name them with AS, leave one out with EXCLUDE, or ask for JsonAoa.',
  })
}

/** Throws NodeError `QueryNotAllowed` for a name that only looks like a column, `NotReproducible`. */
export function checkJob(
  statement: { readonly sql: QuotedSql; readonly gate: GateResult },
  job: {
    readonly tables: readonly { readonly parts: readonly string[]; readonly schema: DataSchema | undefined }[]
    readonly reproducible: boolean
  },
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

// Keeps two faults of the engine away from answers. Of ORDER BY … LIMIT it tells its scans which rows come too late to be among the
// first, and does so below what those rows have a part in: another LIMIT or a DISTINCT ON, which then choose other rows; an outer
// join, whose other side then lacks partners. And it takes the rows around a correlated subquery out of its joins, where
// these compare with anything but `=` too. Statements with one of these are planned without that. Pure.

import type { JsonObject } from '../../libraries/base/json/value.ts'
import { hasDistinctOn, hasLimit } from './selects.ts'
import { holds, text } from './tree.ts'

/**
 * Footers are read for what may be left out, never for an answer: of other writers' floats they give NaN as the greatest. What
 * a join pushes down reaches below a LIMIT where several threads are at work: rows are missing then. Without it, what is
 * fetched late after ORDER BY … LIMIT is looked for in whole files.
 */
// mutant: footers answer
const alwaysLeftOut = 'statistics_propagation,join_filter_pushdown,late_materialization'

/** Optimisers that the engine does without for the statement with this top node. */
export function optimizersLeftOut(top: JsonObject): string {
  // mutant: rows that came too late
  const first = choosesRows(top) ? ',top_n' : ''
  // mutant: rows around a subquery are left out
  return `${alwaysLeftOut}${first}${comparesAround(top) ? ',deliminator' : ''}`
}

/** True where a subquery, or a part of FROM, may compare with the row around it by anything but `=`. */
function comparesAround(top: JsonObject): boolean {
  const other = /^(?:COMPARE_(?!EQUAL|IN$)|OPERATOR_NOT$)/
  return (
    holds(top, (one) => text(one, 'class') === 'SUBQUERY' || /^(?:SUBQUERY|TABLE_FUNCTION)$/.test(text(one, 'type'))) &&
    holds(top, (one) => other.test(text(one, 'type')) || other.test(text(one, 'comparison_type')))
  )
}

/** True where telling the scans which rows come too late could change the answer: all rows are sorted then. */
export function choosesRows(top: JsonObject): boolean {
  return holds(top, (node) => (node !== top && hasLimit(node)) || hasDistinctOn(node)) || ordersOuterJoin(top)
}

/** NULLs of an outer join that come first are those that lack a partner. */
function ordersOuterJoin(top: JsonObject): boolean {
  const isOuter = (one: JsonObject): boolean => /^(?:LEFT|RIGHT|FULL|OUTER)$/.test(text(one, 'join_type'))
  return holds(top, isOuter) && holds(top, (one) => text(one, 'null_order') === 'NULLS FIRST')
}

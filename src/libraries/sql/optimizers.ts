// Keeps faults of the engine's optimizers away from answers. Of ORDER BY … LIMIT it tells its scans which rows come too late to be
// among the first, and does so below what those rows have a part in: another LIMIT or a DISTINCT ON, which then choose other rows;
// an outer join, whose other side then lacks partners. It takes the rows around a correlated subquery out of its joins, where
// these compare with anything but `=` too. And it compares other values than those that are written, where a constant is held
// against date_trunc, TRY_CAST or a cast to text. Statements with one of these are planned without that. Pure.

import type { JsonObject } from '../base/json/value.ts'
import { foldAscii } from '../model/names.ts'
import { isAsof } from './faults.ts'
import { hasDistinctOn, hasLimit } from './selects.ts'
import { child, functionName, holds, holdsHere, list, text } from './tree.ts'

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
  const around = comparesAround(top) ? ',deliminator' : ''
  // mutant: other values are compared
  const compared = comparesChanged(top) ? ',expression_rewriter' : ''
  // It forgets columns that only another condition of an ASOF JOIN names: the engine then ends with an error of its own.
  return `${alwaysLeftOut}${first}${around}${compared}${holds(top, isAsof) ? ',column_lifetime' : ''}`
}

/** True where a comparison may have such an operand, or a name that the statement gives to one. */
function comparesChanged(top: JsonObject): boolean {
  if (!holds(top, isChanged)) return false
  const names = new Set<string>()
  holds(top, (one) => {
    const alias = one.has('class') ? text(one, 'alias') : ''
    if (alias !== '' && holdsHere(one, isChanged)) names.add(foldAscii(alias))
    return false
  })
  const isNamed = (one: JsonObject): boolean =>
    list(one, 'column_names').some((name) => typeof name === 'string' && names.has(foldAscii(name)))
  const isHeld = (one: JsonObject): boolean =>
    text(one, 'type').startsWith('COMPARE_') || /^(?:!?~~$|regexp_(?:full_)?match)/.test(functionName(one))
  return holds(top, (one) => isHeld(one) && holdsHere(one, (inner) => isChanged(inner) || isNamed(inner)))
}

/** An expression that the engine takes for another one where a constant is held against it. */
function isChanged(one: JsonObject): boolean {
  const isText = /^(?:VARCHAR|UNBOUND)$/.test(text(child(one, 'cast_type'), 'id'))
  return isText || one.get('try_cast') === true || /^date_?trunc$/.test(functionName(one))
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

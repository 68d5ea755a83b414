// Parts of a tree, as the rewriting of statements about the catalogue makes them. Pure.

import { NodeError } from '../../base/errors.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../../base/json/value.ts'
import { selectOf } from '../../sql/rewriter.ts'
import { listingSchema } from '../../sql/statement.ts'
import { child, functionName, list, nodeOf, nowhere, text } from '../../sql/tree.ts'

export function ownCall(name: string, operands: readonly JsonValue[], at: JsonObject): JsonObject {
  return plainCall(name, operands, at).set('schema', listingSchema)
}

export function plainCall(name: string, operands: readonly JsonValue[], at: JsonObject): JsonObject {
  return nodeOf({
    ...expression('FUNCTION', 'FUNCTION', at),
    function_name: name,
    schema: '',
    children: [...operands],
    filter: null,
    order_bys: nodeOf({ type: 'ORDER_MODIFIER', orders: [] }),
    distinct: false,
    is_operator: false,
    export_state: false,
    catalog: '',
  })
}

/** What all expressions have: alias and place are those of the one before. */
export function expression(kind: string, type: string, at: JsonObject): Record<string, JsonValue> {
  return {
    class: kind,
    type,
    alias: text(at, 'alias'),
    query_location: at.get('query_location') ?? new JsonNumber(nowhere),
  }
}

export function textOf(value: string): JsonObject {
  const type = nodeOf({ id: 'VARCHAR', type_info: null })
  const constant = nodeOf({ type, is_null: false, value })
  return nodeOf({ ...expression('CONSTANT', 'VALUE_CONSTANT', new Map()), value: constant })
}

export function refused(construct: string): NodeError {
  return new NodeError('QueryNotAllowed', `Statements about the catalogue may not use ${construct}.`, {})
}

/** The type of lists of a plain type. */
export function listOf(item: 'BIGINT' | 'VARCHAR'): JsonObject {
  const child_type = nodeOf({ id: item, type_info: null })
  const info = { type: 'LIST_TYPE_INFO', alias: '', extension_info: null, child_type }
  return nodeOf({ id: 'LIST', type_info: nodeOf(info) })
}

export function castTo(type: JsonObject, operand: JsonValue): JsonObject {
  return nodeOf({ ...expression('CAST', 'OPERATOR_CAST', new Map()), child: operand, cast_type: type, try_cast: false })
}

/** Functions of a FROM clause that the engine has there. */
const rowMakers = new Set(['json_each', 'json_tree', 'range', 'repeat', 'repeat_row'])

/**
 * A function in a FROM clause as a subquery with one column of its name: there its operands may be subqueries, any
 * function may stand, and `generate_series(1, 3) AS s` has a column `s`.
 */
export function selectedRows(table: JsonObject): JsonObject {
  const call = child(table, 'function')
  const name = functionName(call)
  const isPlain = text(table, 'with_ordinality') === 'WITHOUT_ORDINALITY' && table.get('sample') === null
  if (call === undefined || rowMakers.has(name) || !isPlain) return table
  const columns = list(table, 'column_name_alias')
  const alias = text(table, 'alias') || name
  const column = name === 'generate_series' ? plainCall('unnest', [call], new Map()) : call
  return nodeOf({
    type: 'SUBQUERY',
    alias,
    sample: null,
    query_location: table.get('query_location') ?? new JsonNumber(nowhere),
    subquery: nodeOf({ node: selectOf(column), named_param_map: [] }),
    column_name_alias: columns.length > 0 ? columns : [alias],
  })
}

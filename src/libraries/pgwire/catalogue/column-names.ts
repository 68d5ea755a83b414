// The names that PostgreSQL gives columns of an answer that a statement does not name. Pure.

import type { JsonObject } from '../../base/json/value.ts'
import { foldAscii } from '../../model/names.ts'
import { child, functionName, list, objects, text } from '../../sql/tree.ts'

/** As FigureColname of PostgreSQL; undefined where it has no name for a column. */
export function columnName(node: JsonObject): string | undefined {
  const last = list(node, 'column_names').at(-1)
  if (typeof last === 'string') return last
  switch (text(node, 'class')) {
    case 'CAST':
      return operandName(node) ?? typeName(child(node, 'cast_type'))
    case 'COLLATE':
      return operandName(node)
    case 'FUNCTION':
    case 'WINDOW':
      return functionColumn(node)
    case 'CASE':
      return nameOf(child(node, 'else_expr')) ?? 'case'
    case 'SUBQUERY':
      return subqueryName(node)
    case 'OPERATOR':
      return operatorName(node)
    default:
      return undefined
  }
}

function nameOf(node: JsonObject | undefined): string | undefined {
  return node && columnName(node)
}

function operandName(node: JsonObject): string | undefined {
  return nameOf(child(node, 'child'))
}

/** Operators are read as functions. */
function functionColumn(node: JsonObject): string | undefined {
  const name = functionName(node)
  return node.get('is_operator') === true || name === 'regexp_full_match' ? undefined : name
}

function subqueryName(node: JsonObject): string | undefined {
  const type = text(node, 'subquery_type')
  if (type === 'EXISTS') return 'exists'
  const [first] = objects(child(child(node, 'subquery'), 'node'), 'select_list')
  return type === 'SCALAR' && first ? text(first, 'alias') || columnName(first) : undefined
}

function operatorName(node: JsonObject): string | undefined {
  const [first, second] = objects(node, 'children')
  if (text(node, 'type') === 'OPERATOR_COALESCE') return 'coalesce'
  if (text(node, 'type') === 'ARRAY_CONSTRUCTOR') return 'array'
  if (text(node, 'type') === 'STRUCT_EXTRACT') return text(child(second, 'value'), 'value') || undefined
  return text(node, 'type') === 'ARRAY_EXTRACT' && first ? columnName(first) : undefined
}

const typeNames: Readonly<Record<string, string>> = {
  BIGINT: 'int8',
  BOOLEAN: 'bool',
  DOUBLE: 'float8',
  FLOAT: 'float4',
  INTEGER: 'int4',
  SMALLINT: 'int2',
  VARCHAR: 'text',
}

function typeName(type: JsonObject | undefined): string | undefined {
  return typeWord(type) || typeNames[text(type, 'id')]
}

/** The name of a type that is not the engine's own. */
export function typeWord(type: JsonObject | undefined): string {
  return text(type, 'id') === 'UNBOUND' ? foldAscii(text(child(type, 'type_info'), 'name')) : ''
}

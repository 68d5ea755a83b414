// The names that PostgreSQL gives columns of an answer that a statement does not name. Pure.

import type { JsonObject } from '../../base/json/value.ts'
import { foldAscii } from '../../model/names.ts'
import { child, functionName, isClass, list, location, objects, text } from '../../sql/tree.ts'

/** As FigureColname of PostgreSQL; undefined where it has no name for a column. */
export function columnName(node: JsonObject): string | undefined {
  const strong = strongName(node)
  if (strong !== undefined) return strong
  if (text(node, 'class') === 'CASE') return 'case'
  return isClass(node, 'CAST') && !isTruthValue(node) ? typeName(child(node, 'cast_type')) : undefined
}

/** A name that stands through casts: of a column, of a function. */
function strongName(node: JsonObject | undefined): string | undefined {
  const last = list(node, 'column_names').at(-1)
  if (typeof last === 'string' || node === undefined) return typeof last === 'string' ? last : undefined
  switch (text(node, 'class')) {
    case 'CAST':
    case 'COLLATE':
      return strongName(child(node, 'child'))
    case 'FUNCTION':
    case 'WINDOW':
      return functionColumn(node)
    case 'CASE':
      return strongName(child(node, 'else_expr'))
    case 'SUBQUERY':
      return subqueryName(node)
    case 'OPERATOR':
      return operatorName(node)
    default:
      return undefined
  }
}

/** Operators are read as functions. */
function functionColumn(node: JsonObject): string | undefined {
  const name = functionName(node)
  if (name === 'count_star') return 'count'
  return node.get('is_operator') === true || name === 'regexp_full_match' ? undefined : name
}

/** `true` is read as a cast of its first letter. */
function isTruthValue(cast: JsonObject): boolean {
  return text(child(cast, 'cast_type'), 'id') === 'BOOLEAN' && location(cast) === undefined
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
  return text(node, 'type') === 'ARRAY_EXTRACT' ? strongName(first) : undefined
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

// The grammar of the serialised tree that the gate lets through: per kind of node the members it may have, and what each
// may hold. What is not here is refused: a new engine version, or a flag unknown today, cannot add a way out.
// Every line was judged by hand; tree-grammar.test.ts changes each part of real trees and expects a refusal.

import { JsonNumber, type JsonValue } from '../base/json/value.ts'
import { list } from './tree.ts'

/** What a member may hold. */
export type Rule =
  /** Any text (a name, an alias) or number (a place, an index). */
  | { readonly is: 'text' | 'number' }
  /** One of these values and nothing else; `[]` stands for an empty list. */
  | { readonly is: 'one'; readonly of: readonly unknown[]; readonly construct?: string }
  /** The plain value of a constant: text, number, boolean, or the halves of a large integer. */
  | { readonly is: 'constant' }
  /** A node of a family or shape. */
  | { readonly is: 'node'; readonly of: string; readonly orNull: boolean }
  | { readonly is: 'list'; readonly of: Rule }

type Shape = ReadonlyMap<string, Rule>

/** Rules that are not lists, nodes or words. */
const plainRules = new Map<string, Rule>([
  ['text', { is: 'text' }],
  ['number', { is: 'number' }],
  ['constant', { is: 'constant' }],
  ['flag', { is: 'one', of: [true, false] }],
  ['false', { is: 'one', of: [false] }],
  ['null', { is: 'one', of: [null] }],
  ['[]', { is: 'one', of: ['[]'] }],
  // The raw state of an aggregate is memory of the process: pointers, and what other callers' queries left there.
  // mutant: raw states of aggregates pass the gate
  ['no raw state', { is: 'one', of: [false], construct: 'EXPORT_STATE' }],
  ['no time travel', { is: 'one', of: [null], construct: 'AT (time travel)' }],
  ['no name', { is: 'one', of: [''] }],
  ['no enum', { is: 'one', of: [''], construct: 'PIVOT over an enum' }],
])

/**
 * A rule as it is written below: one of `plainRules`, `[rule]` for a list, words in upper case with `|` between them for one
 * of them, else the name of a family or shape, with `?` where null may stand in its place.
 */
function ruleOf(written: string): Rule {
  const plain = plainRules.get(written)
  if (plain !== undefined) return plain
  if (written.startsWith('[')) return { is: 'list', of: ruleOf(written.slice(1, -1)) }
  if (/^[A-Z]/.test(written)) return { is: 'one', of: written.split('|') }
  return { is: 'node', of: written.replace('?', ''), orNull: written.endsWith('?') }
}

/** Members with their rules: `name: rule, name: rule`. */
function shapeOf(written: string): Shape {
  const members = written.trim().replaceAll(/\|\s+/g, '|').split(/,\s*/)
  return new Map(members.map((member) => [member.replace(/:.*/, ''), ruleOf(member.replace(/^\w+: /, ''))]))
}

/** Members whose text tells the kinds of a family apart. */
export const families: ReadonlyMap<string, string> = new Map([
  ['expression', 'class'],
  ['query', 'type'],
  ['table', 'type'],
  ['modifier', 'type'],
  ['type info', 'type'],
])

/** All kinds of a family, each with the members that they have in common and its own. */
function family(name: string, common: string, kinds: Readonly<Record<string, string>>): [string, Shape][] {
  return Object.entries(kinds).map(([kind, own]) => [
    `${name} ${kind}`,
    shapeOf([`${families.get(name)}: ${kind}`, common, own].filter((part) => part !== '').join(', ')),
  ])
}

const comparisons =
  'COMPARE_EQUAL|COMPARE_NOTEQUAL|COMPARE_LESSTHAN|COMPARE_GREATERTHAN|COMPARE_LESSTHANOREQUALTO|' +
  'COMPARE_GREATERTHANOREQUALTO|COMPARE_DISTINCT_FROM|COMPARE_NOT_DISTINCT_FROM'
const bounds =
  'UNBOUNDED_PRECEDING|UNBOUNDED_FOLLOWING|CURRENT_ROW_RANGE|CURRENT_ROW_ROWS|CURRENT_ROW_GROUPS|' +
  'EXPR_PRECEDING_ROWS|EXPR_FOLLOWING_ROWS|EXPR_PRECEDING_RANGE|EXPR_FOLLOWING_RANGE|EXPR_PRECEDING_GROUPS|' +
  'EXPR_FOLLOWING_GROUPS'
// The engine also writes `t.column.upper()` so: what stands before the name is no licence, the name decides.
const call = `
  type: FUNCTION, catalog: text, schema: text, function_name: text, children: [expression], filter: expression?,
  order_bys: modifier ORDER_MODIFIER, distinct: flag, is_operator: flag, export_state: no raw state`

/** Shapes by name; those of a family are `<family> <kind>`. */
export const shapes: ReadonlyMap<string, Shape> = new Map([
  ...family('query', 'modifiers: [modifier], cte_map: cte map', {
    SELECT_NODE: `
      select_list: [expression], from_table: table, where_clause: expression?, group_expressions: [expression],
      group_sets: [[number]], aggregate_handling: STANDARD_HANDLING|FORCE_AGGREGATES, having: expression?,
      sample: sample?, qualify: expression?`,
    SET_OPERATION_NODE: 'setop_type: UNION|UNION_BY_NAME|EXCEPT|INTERSECT, setop_all: flag, left: query, right: query',
    RECURSIVE_CTE_NODE: `
      cte_name: text, union_all: flag, left: query, right: query, aliases: [text], key_targets: [expression]`,
  }),
  ...family('modifier', '', {
    LIMIT_MODIFIER: 'limit: expression?, offset: expression?',
    LIMIT_PERCENT_MODIFIER: 'limit: expression?, offset: expression?',
    ORDER_MODIFIER: 'orders: [order]',
    DISTINCT_MODIFIER: 'distinct_on_targets: [expression]',
  }),
  ...family('table', 'alias: text, sample: sample?, query_location: number', {
    BASE_TABLE: `
      schema_name: text, table_name: text, column_name_alias: [text], catalog_name: text, at_clause: no time travel`,
    JOIN: `
      left: table, right: table, condition: expression?, join_type: INNER|LEFT|RIGHT|FULL|SEMI|ANTI,
      ref_type: REGULAR|NATURAL|CROSS|POSITIONAL|ASOF, using_columns: [text], delim_flipped: false,
      duplicate_eliminated_columns: []`,
    SUBQUERY: 'subquery: statement, column_name_alias: [text]',
    TABLE_FUNCTION: `
      function: table call, column_name_alias: [text], with_ordinality: WITHOUT_ORDINALITY|WITH_ORDINALITY`,
    EMPTY: '',
    EXPRESSION_LIST: 'expected_names: [], expected_types: [], values: [[expression]]',
    // DESCRIBE and SUMMARIZE of a query; other forms name what the engine holds.
    SHOW_REF:
      'show_type: DESCRIBE|SUMMARY, query: query, table_name: no name, catalog_name: no name, schema_name: no name',
    PIVOT: `
      source: table, aggregates: [expression], unpivot_names: [text], pivots: [pivot], groups: [text],
      column_name_alias: [text], include_nulls: flag`,
  }),
  ...family('expression', 'alias: text, query_location: number', {
    BETWEEN: 'type: COMPARE_BETWEEN, input: expression, lower: expression, upper: expression',
    CASE: 'type: CASE_EXPR, case_checks: [case check], else_expr: expression',
    CAST: 'type: OPERATOR_CAST, child: expression, cast_type: type, try_cast: flag',
    COLLATE: 'type: COLLATE, child: expression, collation: text',
    COLUMN_REF: 'type: COLUMN_REF, column_names: [text]',
    COMPARISON: `type: ${comparisons}, left: expression, right: expression`,
    CONJUNCTION: 'type: CONJUNCTION_AND|CONJUNCTION_OR, children: [expression]',
    CONSTANT: 'type: VALUE_CONSTANT, value: value',
    DEFAULT: 'type: VALUE_DEFAULT',
    FUNCTION: call,
    LAMBDA: 'type: LAMBDA, lhs: expression, expr: expression',
    OPERATOR: `
      type: ARRAY_CONSTRUCTOR|ARRAY_EXTRACT|ARRAY_SLICE|STRUCT_EXTRACT|COMPARE_IN|COMPARE_NOT_IN|GROUPING_FUNCTION|
        OPERATOR_COALESCE|OPERATOR_IS_NOT_NULL|OPERATOR_IS_NULL|OPERATOR_NOT|OPERATOR_TRY|OPERATOR_UNPACK,
      children: [expression]`,
    // A constant that the request gives: it stands where expressions do, never for a name.
    PARAMETER: 'type: VALUE_PARAMETER, identifier: text',
    POSITIONAL_REFERENCE: 'type: POSITIONAL_REFERENCE, index: number',
    STAR: `
      type: STAR, relation_name: text, exclude_list: [text], replace_list: [replacement], columns: flag,
      expr: expression?, qualified_exclude_list: [column path], rename_list: [renaming]`,
    SUBQUERY: `
      type: SUBQUERY, subquery_type: SCALAR|EXISTS|NOT_EXISTS|ANY, subquery: statement, child: expression?,
      comparison_type: INVALID|${comparisons}`,
    WINDOW: `
      type: WINDOW_AGGREGATE|WINDOW_ROW_NUMBER|WINDOW_RANK|WINDOW_RANK_DENSE|WINDOW_PERCENT_RANK|WINDOW_CUME_DIST|
        WINDOW_NTILE|WINDOW_LAG|WINDOW_LEAD|WINDOW_FIRST_VALUE|WINDOW_LAST_VALUE|WINDOW_NTH_VALUE|WINDOW_FILL,
      catalog: text, schema: text, function_name: text, children: [expression], partitions: [expression],
      orders: [order], start: ${bounds}, end: ${bounds}, start_expr: expression?, end_expr: expression?,
      offset_expr: expression?, default_expr: expression?, ignore_nulls: flag, filter_expr: expression?,
      exclude_clause: NO_OTHER|CURRENT_ROW|GROUP|TIES, distinct: flag, arg_orders: [order]`,
  }),
  ...family('type info', 'alias: text, extension_info: null', {
    DECIMAL_TYPE_INFO: 'width: number, scale: number',
    LIST_TYPE_INFO: 'child_type: type',
    ARRAY_TYPE_INFO: 'child_type: type, size: number',
    STRUCT_TYPE_INFO: 'child_types: [struct field]',
    GENERIC_TYPE_INFO: '',
    // A name that the engine's catalogue resolves; the catalogue has no types but its own (tree-grammar.test.ts).
    UNBOUND_TYPE_INFO: 'name: text, catalog: text, schema: text, user_type_modifiers: [value]',
  }),
  ...Object.entries({
    statement: 'node: query, named_param_map: []',
    'cte map': 'map: [cte entry]',
    'cte entry': 'key: text, value: cte',
    cte: 'aliases: [text], query: statement, materialized: CTE_MATERIALIZE_DEFAULT, key_targets: [expression]',
    order: `
      type: ORDER_DEFAULT|ASCENDING|DESCENDING, null_order: ORDER_DEFAULT|NULLS FIRST|NULLS LAST,
      expression: expression`,
    pivot: 'pivot_expressions: [expression], unpivot_names: [text], entries: [pivot entry], pivot_enum: no enum',
    'pivot entry': 'values: [value], star_expr: expression?, alias: text',
    sample: 'sample_size: value, is_percentage: flag, method: System|Bernoulli|Reservoir, seed: number',
    'case check': 'when_expr: expression, then_expr: expression',
    'table call': `class: FUNCTION, alias: text, query_location: number, ${call}`,
    replacement: 'key: text, value: expression',
    renaming: 'key: column path, value: text',
    'column path': 'catalog: text, schema: text, table: text, column: text',
    'struct field': 'first: text, second: type',
    value: 'type: value type, is_null: flag, value: constant',
    // The types that the parser gives to literals; an empty LIST is the missing bound of a slice.
    'value type': `
      id: BIGINT|BOOLEAN|DECIMAL|DOUBLE|HUGEINT|INTEGER|LIST|NULL|UHUGEINT|VARCHAR, type_info: type info?`,
    // Types that the engine has for itself (POINTER, LAMBDA, TYPE, states of aggregates …) are not among them, nor is
    // VARIANT: deep JSON cast to it overflows the engine's stack.
    type: `
      id: ARRAY|BIGINT|BIGNUM|BIT|BLOB|BOOLEAN|DATE|DECIMAL|DOUBLE|FLOAT|HUGEINT|INTEGER|INTERVAL|LIST|MAP|NULL|
        SMALLINT|STRUCT|TIME|TIMESTAMP|TIMESTAMP_MS|TIMESTAMP_NS|TIMESTAMP_S|TIME_NS|TINYINT|UBIGINT|UHUGEINT|
        UINTEGER|UNBOUND|UNION|USMALLINT|UTINYINT|UUID|VARCHAR|TIME WITH TIME ZONE|TIMESTAMP WITH TIME ZONE,
      type_info: type info?`,
  }).map(([name, written]): [string, Shape] => [name, shapeOf(written)]),
])

/** True when a value without nodes in it is what the rule permits. */
export function permits(rule: Rule, value: JsonValue): boolean {
  if (rule.is === 'text') return typeof value === 'string'
  if (rule.is === 'number') return value instanceof JsonNumber
  if (rule.is === 'one') return rule.of.includes(Array.isArray(value) && value.length === 0 ? '[]' : value)
  return isConstant(value)
}

/** Text, number or boolean; the halves of a large integer; an empty list. */
function isConstant(value: JsonValue): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value instanceof JsonNumber) return true
  if (!(value instanceof Map)) return false
  const names = [...value.keys()].join()
  if (names === 'children') return list(value, 'children').length === 0 && Array.isArray(value.get('children'))
  return names === 'upper,lower' && [...value.values()].every((half) => half instanceof JsonNumber)
}

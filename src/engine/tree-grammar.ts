// The grammar of the serialised tree that the gate lets through, as data: per kind of node the members it may have, and
// what each may hold. What is not here is refused: a new engine version, or a flag that nobody thought of, cannot add
// a way out. Every line was judged by hand; tree-grammar.test.ts changes each part of real trees and expects a refusal.

import { JsonNumber, type JsonObject, type JsonValue } from '../model/json.ts'

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

export type Shape = ReadonlyMap<string, Rule>

const name: Rule = { is: 'text' }
const number: Rule = { is: 'number' }
const flag: Rule = { is: 'one', of: [true, false] }
const off: Rule = { is: 'one', of: [false] }
const nothing: Rule = { is: 'one', of: [null] }
const emptyList: Rule = { is: 'one', of: ['[]'] }
const one = (words: string): Rule => ({ is: 'one', of: words.split(' ') })
const node = (of: string): Rule => ({ is: 'node', of, orNull: false })
const maybe = (of: string): Rule => ({ is: 'node', of, orNull: true })
const listOf = (of: Rule): Rule => ({ is: 'list', of })
const names = listOf(name)

/** Members whose text tells the kinds of a family apart. */
export const families: ReadonlyMap<string, string> = new Map([
  ['expression', 'class'],
  ['query', 'type'],
  ['table', 'type'],
  ['modifier', 'type'],
  ['type info', 'type'],
])

const comparisons =
  'COMPARE_EQUAL COMPARE_NOTEQUAL COMPARE_LESSTHAN COMPARE_GREATERTHAN COMPARE_LESSTHANOREQUALTO ' +
  'COMPARE_GREATERTHANOREQUALTO COMPARE_DISTINCT_FROM COMPARE_NOT_DISTINCT_FROM'

/** An expression: its class, the types within it, its own members. */
function expression(kind: string, types: string, members: Record<string, Rule>): [string, Shape] {
  const common = { class: one(kind), type: one(types), alias: name, query_location: number }
  return [`expression ${kind}`, shape({ ...common, ...members })]
}

function table(type: string, members: Record<string, Rule>): [string, Shape] {
  const common = { type: one(type), alias: name, sample: maybe('sample'), query_location: number }
  return [`table ${type}`, shape({ ...common, ...members })]
}

function query(type: string, members: Record<string, Rule>): [string, Shape] {
  const common = { type: one(type), modifiers: listOf(node('modifier')), cte_map: node('cte map') }
  return [`query ${type}`, shape({ ...common, ...members })]
}

function modifier(type: string, members: Record<string, Rule>): [string, Shape] {
  return [`modifier ${type}`, shape({ type: one(type), ...members })]
}

function typeInfo(type: string, members: Record<string, Rule>): [string, Shape] {
  return [`type info ${type}`, shape({ type: one(type), alias: name, extension_info: nothing, ...members })]
}

function shape(members: Record<string, Rule>): Shape {
  return new Map(Object.entries(members))
}

const expressions = listOf(node('expression'))
const limits = { limit: maybe('expression'), offset: maybe('expression') }
const columnPath = { catalog: name, schema: name, table: name, column: name }
const boundaries =
  'UNBOUNDED_PRECEDING UNBOUNDED_FOLLOWING CURRENT_ROW_RANGE CURRENT_ROW_ROWS CURRENT_ROW_GROUPS ' +
  'EXPR_PRECEDING_ROWS EXPR_FOLLOWING_ROWS EXPR_PRECEDING_RANGE EXPR_FOLLOWING_RANGE EXPR_PRECEDING_GROUPS ' +
  'EXPR_FOLLOWING_GROUPS'

const call = expression('FUNCTION', 'FUNCTION', {
  // The engine also writes `t.column.upper()` so: what stands before the name is no licence, the name decides.
  catalog: name,
  schema: name,
  function_name: name,
  children: expressions,
  filter: maybe('expression'),
  order_bys: node('modifier ORDER_MODIFIER'),
  distinct: flag,
  is_operator: flag,
  // The raw state of an aggregate is memory of the process: pointers, and what other callers' queries left there.
  // mutant: raw states of aggregates pass the gate
  export_state: { is: 'one', of: [false], construct: 'EXPORT_STATE' },
})

/** Shapes by name; those of a family are `<family> <kind>`. */
export const shapes: ReadonlyMap<string, Shape> = new Map([
  ['statement', shape({ node: node('query'), named_param_map: emptyList })],

  query('SELECT_NODE', {
    select_list: expressions,
    from_table: node('table'),
    where_clause: maybe('expression'),
    group_expressions: expressions,
    group_sets: listOf(listOf(number)),
    aggregate_handling: one('STANDARD_HANDLING FORCE_AGGREGATES'),
    having: maybe('expression'),
    sample: maybe('sample'),
    qualify: maybe('expression'),
  }),
  query('SET_OPERATION_NODE', {
    setop_type: one('UNION UNION_BY_NAME EXCEPT INTERSECT'),
    setop_all: flag,
    left: node('query'),
    right: node('query'),
  }),
  query('RECURSIVE_CTE_NODE', {
    cte_name: name,
    union_all: flag,
    left: node('query'),
    right: node('query'),
    aliases: names,
    key_targets: expressions,
  }),
  ['cte map', shape({ map: listOf(node('cte entry')) })],
  ['cte entry', shape({ key: name, value: node('cte') })],
  [
    'cte',
    shape({
      aliases: names,
      query: node('statement'),
      materialized: one('CTE_MATERIALIZE_DEFAULT'),
      key_targets: expressions,
    }),
  ],

  modifier('LIMIT_MODIFIER', limits),
  modifier('LIMIT_PERCENT_MODIFIER', limits),
  modifier('ORDER_MODIFIER', { orders: listOf(node('order')) }),
  modifier('DISTINCT_MODIFIER', { distinct_on_targets: expressions }),
  [
    'order',
    shape({
      type: one('ORDER_DEFAULT ASCENDING DESCENDING'),
      null_order: { is: 'one', of: ['ORDER_DEFAULT', 'NULLS FIRST', 'NULLS LAST'] },
      expression: node('expression'),
    }),
  ],

  table('BASE_TABLE', {
    schema_name: name,
    table_name: name,
    column_name_alias: names,
    catalog_name: name,
    at_clause: { is: 'one', of: [null], construct: 'AT (time travel)' },
  }),
  table('JOIN', {
    left: node('table'),
    right: node('table'),
    condition: maybe('expression'),
    join_type: one('INNER LEFT RIGHT FULL SEMI ANTI'),
    ref_type: one('REGULAR NATURAL CROSS POSITIONAL ASOF'),
    using_columns: names,
    delim_flipped: off,
    duplicate_eliminated_columns: emptyList,
  }),
  table('SUBQUERY', { subquery: node('statement'), column_name_alias: names }),
  table('TABLE_FUNCTION', {
    function: node('table call'),
    column_name_alias: names,
    with_ordinality: one('WITHOUT_ORDINALITY WITH_ORDINALITY'),
  }),
  table('EMPTY', {}),
  table('EXPRESSION_LIST', { expected_names: emptyList, expected_types: emptyList, values: listOf(expressions) }),
  table('PIVOT', {
    source: node('table'),
    aggregates: expressions,
    unpivot_names: names,
    pivots: listOf(node('pivot')),
    groups: names,
    column_name_alias: names,
    include_nulls: flag,
  }),
  [
    'pivot',
    shape({
      pivot_expressions: expressions,
      unpivot_names: names,
      entries: listOf(node('pivot entry')),
      pivot_enum: { is: 'one', of: [''], construct: 'PIVOT over an enum' },
    }),
  ],
  ['pivot entry', shape({ values: listOf(node('value')), star_expr: maybe('expression'), alias: name })],
  [
    'sample',
    shape({
      sample_size: node('value'),
      is_percentage: flag,
      method: one('System Bernoulli Reservoir'),
      seed: number,
    }),
  ],

  expression('BETWEEN', 'COMPARE_BETWEEN', {
    input: node('expression'),
    lower: node('expression'),
    upper: node('expression'),
  }),
  expression('CASE', 'CASE_EXPR', { case_checks: listOf(node('case check')), else_expr: node('expression') }),
  ['case check', shape({ when_expr: node('expression'), then_expr: node('expression') })],
  expression('CAST', 'OPERATOR_CAST', { child: node('expression'), cast_type: node('type'), try_cast: flag }),
  expression('COLLATE', 'COLLATE', { child: node('expression'), collation: name }),
  expression('COLUMN_REF', 'COLUMN_REF', { column_names: names }),
  expression('COMPARISON', comparisons, { left: node('expression'), right: node('expression') }),
  expression('CONJUNCTION', 'CONJUNCTION_AND CONJUNCTION_OR', { children: expressions }),
  expression('CONSTANT', 'VALUE_CONSTANT', { value: node('value') }),
  expression('DEFAULT', 'VALUE_DEFAULT', {}),
  call,
  ['table call', call[1]],
  expression('LAMBDA', 'LAMBDA', { lhs: node('expression'), expr: node('expression') }),
  expression(
    'OPERATOR',
    'ARRAY_CONSTRUCTOR ARRAY_EXTRACT ARRAY_SLICE STRUCT_EXTRACT COMPARE_IN COMPARE_NOT_IN GROUPING_FUNCTION ' +
      'OPERATOR_COALESCE OPERATOR_IS_NOT_NULL OPERATOR_IS_NULL OPERATOR_NOT OPERATOR_TRY OPERATOR_UNPACK',
    { children: expressions },
  ),
  expression('POSITIONAL_REFERENCE', 'POSITIONAL_REFERENCE', { index: number }),
  expression('STAR', 'STAR', {
    relation_name: name,
    exclude_list: names,
    replace_list: listOf(node('replacement')),
    columns: flag,
    expr: maybe('expression'),
    qualified_exclude_list: listOf(node('column path')),
    rename_list: listOf(node('renaming')),
  }),
  ['replacement', shape({ key: name, value: node('expression') })],
  ['renaming', shape({ key: node('column path'), value: name })],
  ['column path', shape(columnPath)],
  expression('SUBQUERY', 'SUBQUERY', {
    subquery_type: one('SCALAR EXISTS NOT_EXISTS ANY'),
    subquery: node('statement'),
    child: maybe('expression'),
    comparison_type: one(`INVALID ${comparisons}`),
  }),
  expression(
    'WINDOW',
    'WINDOW_AGGREGATE WINDOW_ROW_NUMBER WINDOW_RANK WINDOW_RANK_DENSE WINDOW_PERCENT_RANK WINDOW_CUME_DIST ' +
      'WINDOW_NTILE WINDOW_LAG WINDOW_LEAD WINDOW_FIRST_VALUE WINDOW_LAST_VALUE WINDOW_NTH_VALUE WINDOW_FILL',
    {
      catalog: name,
      schema: name,
      function_name: name,
      children: expressions,
      partitions: expressions,
      orders: listOf(node('order')),
      start: one(boundaries),
      end: one(boundaries),
      start_expr: maybe('expression'),
      end_expr: maybe('expression'),
      offset_expr: maybe('expression'),
      default_expr: maybe('expression'),
      ignore_nulls: flag,
      filter_expr: maybe('expression'),
      exclude_clause: one('NO_OTHER CURRENT_ROW GROUP TIES'),
      distinct: flag,
      arg_orders: listOf(node('order')),
    },
  ),

  ['value', shape({ type: node('value type'), is_null: flag, value: { is: 'constant' } })],
  // The types that the parser gives to literals; an empty LIST is the missing bound of a slice.
  [
    'value type',
    shape({
      id: one('BIGINT BOOLEAN DECIMAL DOUBLE HUGEINT INTEGER LIST NULL UHUGEINT VARCHAR'),
      type_info: maybe('type info'),
    }),
  ],
  [
    'type',
    shape({
      // Types that the engine has for itself (POINTER, LAMBDA, TYPE, states of aggregates …) are not among them, nor is
      // VARIANT: deep JSON cast to it overflows the engine's stack.
      id: {
        is: 'one',
        of: [
          ...(
            'ARRAY BIGINT BIGNUM BIT BLOB BOOLEAN DATE DECIMAL DOUBLE FLOAT HUGEINT INTEGER INTERVAL LIST MAP NULL ' +
            'SMALLINT STRUCT TIME TIMESTAMP TIMESTAMP_MS TIMESTAMP_NS TIMESTAMP_S TIME_NS TINYINT UBIGINT UHUGEINT ' +
            'UINTEGER UNBOUND UNION USMALLINT UTINYINT UUID VARCHAR'
          ).split(' '),
          'TIME WITH TIME ZONE',
          'TIMESTAMP WITH TIME ZONE',
        ],
      },
      type_info: maybe('type info'),
    }),
  ],
  typeInfo('DECIMAL_TYPE_INFO', { width: number, scale: number }),
  typeInfo('LIST_TYPE_INFO', { child_type: node('type') }),
  typeInfo('ARRAY_TYPE_INFO', { child_type: node('type'), size: number }),
  typeInfo('STRUCT_TYPE_INFO', { child_types: listOf(node('struct field')) }),
  ['struct field', shape({ first: name, second: node('type') })],
  typeInfo('GENERIC_TYPE_INFO', {}),
  // A name that the engine's catalogue resolves; the catalogue has no types but its own (tree-grammar.test.ts).
  typeInfo('UNBOUND_TYPE_INFO', { name, catalog: name, schema: name, user_type_modifiers: listOf(node('value')) }),
])

/** What the engine writes for "no place". */
export const nowhere = '18446744073709551615'

/** The object at `name`, or undefined. */
export function child(node: JsonObject, name: string): JsonObject | undefined {
  const value = node.get(name)
  return value instanceof Map ? value : undefined
}

/** The list at `name`; empty when it is none. */
export function list(node: JsonObject, name: string): JsonValue[] {
  const value = node.get(name)
  return Array.isArray(value) ? value : []
}

/** The text at `name`; empty when it is none. */
export function text(node: JsonObject, name: string): string {
  const value = node.get(name)
  return typeof value === 'string' ? value : ''
}

/** True when `name` holds anything but null. */
export function present(node: JsonObject, name: string): boolean {
  const value = node.get(name)
  return value !== undefined && value !== null
}

/** Byte offset of the node in the statement; undefined where the engine gives none (it then writes 2^64-1). */
export function location(node: JsonObject): number | undefined {
  const value = node.get('query_location')
  if (!(value instanceof JsonNumber)) return undefined
  const offset = Number(value.token)
  return Number.isSafeInteger(offset) ? offset : undefined
}

// From a statement's text to its tree and back: what the engine parses and prints is read, rewritten and checked here, and
// given one order of its rows, so that its answer can be signed and made again (docs/decisions/answers.md#total-order). Talks to
// the engine only by its functions json_serialize_sql and json_deserialize_sql; never builds SQL text from a statement.

import { defined } from '../base/collections.ts'
import { jsonText, parseJson } from '../base/json/json.ts'
import { JsonError } from '../base/json/parser.ts'
import { assert, must } from '../base/assert.ts'
import { NodeError, type TextPosition } from '../base/errors.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../base/json/value.ts'
import type { Parameter } from '../model/parameters.ts'
import { aggregateFunctions, allowedMacros, rowSetMacros, scalarFunctions } from './functions.ts'
import { type GateResult, gateStatement, notAllowed } from './gate.ts'
import { listingSchema } from './statement.ts'
import { firstDifference, jsonCheckStatement, type Printable, printable } from './printable.ts'
import { isGrouped } from './selects.ts'
import { parseEngineMessage, tooDeep } from './sql-errors.ts'
import type { QuotedSql } from './offset-word.ts'
import {
  checkStatementKind,
  numberTooLarge,
  positionOfByte,
  positionOfCodePoint,
  unquotedNameHint,
} from './sql-text.ts'
import {
  child,
  functionName,
  holds,
  isClass,
  isWholeStar,
  list,
  location,
  nodeOf,
  nowhere,
  objects,
  present,
  text,
} from './tree.ts'

const serialize = 'SELECT json_serialize_sql($1::VARCHAR)'
const keptFrames = 64

/** One text out of a trusted statement with one text parameter. */
type AskEngine = (sql: string, parameter: string) => Promise<string>

export class Rewriter {
  readonly #ask: AskEngine
  #jsonCheck: JsonObject | undefined
  /** Frames by their text, serialised: the tree of each use is changed. */
  readonly #frames = new Map<string, string>()

  constructor(ask: AskEngine) {
    this.#ask = ask
  }

  /** The top node of the one statement in a text. Throws NodeError `SqlSyntax`, `SqlValue`, `QueryNotAllowed`. */
  async parse(sql: QuotedSql): Promise<JsonObject> {
    const tree = await this.#serialised(sql.text)
    if (tree.get('error') === true) throw parseFailure(tree, sql)
    const [statement, ...others] = list(tree, 'statements')
    if (others.length > 0) throw notAllowed({ construct: 'more than one statement' })
    const node = statement instanceof Map ? child(statement, 'node') : undefined
    if (node === undefined) throw new NodeError('SqlSyntax', 'The statement is empty.')
    return node
  }

  /** The tree in a form that survives printing, with constants for its parameters, under the engine's own names. */
  async printable(node: JsonObject, original: QuotedSql, parameters: readonly Parameter[] = []): Promise<Printable> {
    const written = printable(node, (this.#jsonCheck ??= await this.#column(jsonCheckStatement)), parameters)
    if ((written.checksJson || written.hasParameters) && written.unnamed !== undefined) {
      const position = placeOf(written.unnamed, original)
      const beside = written.checksJson ? 'a function that walks JSON' : 'a parameter'
      throw notAllowed({ construct: `* or COLUMNS() with ${beside}`, ...(position && { position }) })
    }
    if (written.renamed.length === 0) return written
    const texts = written.renamed.map(({ original }) => jsonText(statementOf(selectOf(original))))
    const print =
      "SELECT to_json(list(json_deserialize_sql(value ->> '$') ORDER BY id))::VARCHAR FROM json_each($1::VARCHAR)"
    const printed = parseJson(await this.#ask(print, jsonText(texts)))
    assert(Array.isArray(printed) && printed.length === texts.length, 'each column is printed')
    for (const [index, column] of written.renamed.entries()) {
      const select = printed[index]
      assert(typeof select === 'string' && select.startsWith('SELECT '), 'a column prints as a SELECT')
      column.written.set('alias', select.slice('SELECT '.length))
    }
    return written
  }

  /** The statement inside the window of `skip` and one row more than `limit`; all rows where there is none. */
  async framed(
    node: JsonObject,
    { skip, limit }: { readonly skip: number; readonly limit: number | undefined },
  ): Promise<JsonObject> {
    if (limit === undefined && skip === 0) return node
    const most = limit === undefined ? '' : ` LIMIT ${limit + 1}`
    const sql = `SELECT * FROM (SELECT 1) AS answer${most} OFFSET ${skip}`
    const json = this.#frames.get(sql) ?? (await this.#ask(serialize, sql))
    if (this.#frames.size >= keptFrames) this.#frames.clear()
    this.#frames.set(sql, json)
    const top = topNode(treeOf(json))
    const from = child(top, 'from_table')
    must(from && child(from, 'subquery'), 'the frame selects from a subquery').set('node', node)
    return top
  }

  /**
   * The text of a rewritten tree. It is what was meant: its own tree is the one that was printed, passes the gate by
   * itself, and names no other datasets than the caller's statement. Throws NodeError `QueryNotAllowed`.
   */
  async print(meant: JsonObject, original: QuotedSql, gate: GateResult): Promise<string> {
    const sql = await this.#ask('SELECT json_deserialize_sql($1::VARCHAR)', jsonText(statementOf(meant)))
    checkStatementKind(sql)
    const node = await this.parse({ original: sql, text: sql, inserted: [] })
    const lost = firstDifference(meant, node)
    if (lost !== undefined) throw unfaithful(text(lost, 'class') || text(lost, 'type'), placeOf(lost, original))
    const allowed = new Set(gate.tables.map((table) => JSON.stringify(table.parts)))
    const { tables, parameters } = gateStatement(node, undefined, { ...gate.names, schema: listingSchema })
    const same = tables.every((table) => allowed.has(JSON.stringify(table.parts)))
    assert(same && parameters.length === 0, 'the rewritten statement names the datasets of the original')
    return sql
  }

  async #column(sql: string): Promise<JsonObject> {
    const [column] = list(topNode(await this.#serialised(sql)), 'select_list')
    assert(column instanceof Map, 'a statement of ours has one column')
    return column
  }

  async #serialised(sql: string): Promise<JsonObject> {
    return treeOf(await this.#ask(serialize, sql))
  }
}

/** What the engine serialised; a number without a JSON form is the caller's. */
function treeOf(json: string): JsonObject {
  let tree: JsonValue
  try {
    tree = parseJson(json, { maxDepth: 10_000 })
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw error.fault === 'depth' ? tooDeep() : numberTooLarge()
  }
  assert(tree instanceof Map, 'a serialised statement is an object')
  return tree
}

/** The refusal of what the engine would print, or bind, as something else. */
export function unfaithful(what: string, position?: TextPosition): NodeError {
  return notAllowed(
    { construct: `${what} in a form that does not survive rewriting`, ...(position && { position }) },
    "Write its constants as CAST of their text, such as CAST('1e3' AS DOUBLE).",
  )
}

function placeOf(node: JsonObject, sql: QuotedSql): TextPosition | undefined {
  const offset = location(node)
  return offset === undefined ? undefined : positionOfByte(sql, offset)
}

function topNode(tree: JsonObject): JsonObject {
  const [statement] = list(tree, 'statements')
  return must(statement instanceof Map ? child(statement, 'node') : undefined, 'a statement of ours parses')
}

/** What json_deserialize_sql takes. */
function statementOf(node: JsonObject): JsonObject {
  return nodeOf({ error: false, statements: [nodeOf({ node, named_param_map: [] })] })
}

/** `SELECT` with one column. */
export function selectOf(column: JsonValue): JsonObject {
  return nodeOf({
    type: 'SELECT_NODE',
    modifiers: [],
    cte_map: nodeOf({ map: [] }),
    select_list: [column],
    from_table: nodeOf({ type: 'EMPTY', alias: '', sample: null }),
    where_clause: null,
    group_expressions: [],
    group_sets: [],
    aggregate_handling: 'STANDARD_HANDLING',
    having: null,
    sample: null,
    qualify: null,
  })
}

function parseFailure(tree: JsonObject, sql: QuotedSql): NodeError {
  if (text(tree, 'error_type') !== 'parser') {
    return notAllowed(
      { construct: 'this kind of statement' },
      'A query is one SELECT, and PIVOT needs a list of its values: ON x IN (…).',
    )
  }
  const offset = Number(text(tree, 'position') || Number.NaN)
  const position = Number.isSafeInteger(offset) ? { position: positionOfCodePoint(sql, offset) } : {}
  const { message } = parseEngineMessage(text(tree, 'error_message'))
  if (message.startsWith('Max expression depth')) return tooDeep()
  const hint = unquotedNameHint(sql.original)
  return new NodeError('SqlSyntax', `${message.slice(0, 300)}.`, {
    ...position,
    ...defined({ hint }),
  })
}

/**
 * The node with a total order over its `columns` output columns. A scan that only filters and projects one dataset
 * keeps the order of offsets; a node without ORDER BY gets ORDER BY ALL; one with ORDER BY gets all output columns as
 * tie-breakers, and behind them `lastTie`. Returns a new node; the given one stays as it is.
 */
export function withTotalOrder(node: JsonObject, columns: number, lastTie: JsonObject | undefined): JsonObject {
  if (keepsOffsetOrder(node)) return node
  const modifiers = objects(node, 'modifiers')
  const order = modifiers.find((modifier) => text(modifier, 'type') === 'ORDER_MODIFIER')
  const outputs = Array.from({ length: columns }, (_, index) => outputColumn(index + 1))
  const last = lastTie === undefined ? [] : [ascending(lastTie)]
  if (order === undefined) {
    // ORDER BY works on all rows, so it stands before LIMIT.
    const limit = modifiers.findIndex((modifier) => text(modifier, 'type').startsWith('LIMIT'))
    const all = lastTie === undefined ? [everyColumn()] : outputs
    const ordered = modifiers.toSpliced(
      limit < 0 ? modifiers.length : limit,
      0,
      orderBy([...all.map(ascending), ...last]),
    )
    return new Map(node).set('modifiers', ordered)
  }
  const entries = list(order, 'orders')
  const whole = entries.find(isOrderByAll)
  if (whole !== undefined && lastTie === undefined) return node
  // ORDER BY ALL stands alone.
  const ties =
    whole instanceof Map ? outputs.map((one) => new Map(whole).set('expression', one)) : outputs.map(ascending)
  const before = whole === undefined ? entries : []
  const ordered = modifiers.map((modifier) => (modifier === order ? orderBy([...before, ...ties, ...last]) : modifier))
  return new Map(node).set('modifiers', ordered)
}

/** One SELECT over one dataset whose rows come out as they lie in the slices: scalar expressions, WHERE, LIMIT. */
export function keepsOffsetOrder(node: JsonObject): boolean {
  if (text(node, 'type') !== 'SELECT_NODE' || text(child(node, 'from_table'), 'type') !== 'BASE_TABLE') return false
  if (list(child(node, 'cte_map'), 'map').length > 0) return false
  if (isGrouped(node) || present(node, 'qualify') || present(node, 'sample')) return false
  const onlyLimits = objects(node, 'modifiers').every((modifier) => text(modifier, 'type') === 'LIMIT_MODIFIER')
  return onlyLimits && !holds(node, looksBeyondItsRow)
}

/** True for an expression whose value depends on more than its own row. */
function looksBeyondItsRow(node: JsonObject): boolean {
  if (isClass(node, 'WINDOW') || isClass(node, 'SUBQUERY')) return true
  if (!isClass(node, 'FUNCTION')) return false
  const name = functionName(node)
  const isScalar = scalarFunctions.has(name) || (allowedMacros.has(name) && !rowSetMacros.has(name))
  return !isScalar || aggregateFunctions.has(name)
}

function isOrderByAll(entry: JsonValue): boolean {
  const star = entry instanceof Map ? child(entry, 'expression') : undefined
  if (!isClass(star, 'STAR') || !isWholeStar(star)) return false
  return text(star, 'relation_name') === '' && star.get('columns') === true
}

function ascending(expression: JsonObject): JsonObject {
  return nodeOf({ type: 'ORDER_DEFAULT', null_order: 'ORDER_DEFAULT', expression })
}

function orderBy(orders: readonly JsonValue[]): JsonObject {
  return nodeOf({ type: 'ORDER_MODIFIER', orders: [...orders] })
}

function everyColumn(): JsonObject {
  return nodeOf({
    class: 'STAR',
    type: 'STAR',
    alias: '',
    query_location: new JsonNumber(nowhere),
    relation_name: '',
    exclude_list: [],
    replace_list: [],
    columns: true,
    expr: null,
    qualified_exclude_list: [],
    rename_list: [],
  })
}

function outputColumn(position: number): JsonObject {
  return nodeOf({
    class: 'POSITIONAL_REFERENCE',
    type: 'POSITIONAL_REFERENCE',
    alias: '',
    query_location: new JsonNumber(nowhere),
    index: new JsonNumber(String(position)),
  })
}

// From a statement's text to its tree and back: what the engine parses and prints is read, rewritten and checked here.
// Used by the session; talks to the engine only by its functions json_serialize_sql and json_deserialize_sql.

import { jsonText, parseJson } from '../json/json.ts'
import { JsonError } from '../json/parser.ts'
import { assert, must } from '../lib/assert.ts'
import { NodeError, type TextPosition } from '../model/errors.ts'
import type { JsonObject, JsonValue } from '../model/json.ts'
import { type GateResult, gateStatement, notAllowed } from './gate.ts'
import { jsonCheckStatement } from './json-guard.ts'
import { unquotedNameHint } from './name-hint.ts'
import { positionOfByte, positionOfCodePoint, type QuotedSql } from './offset-word.ts'
import { firstDifference, type Printable, printable } from './printable.ts'
import { parseEngineMessage, tooDeep } from './sql-errors.ts'
import { checkStatementKind, numberTooLarge } from './statement-kind.ts'
import { child, list, location, text } from './tree.ts'

/** One text out of a trusted statement with one text parameter. */
type AskEngine = (sql: string, parameter: string) => Promise<string>

export class Rewriter {
  readonly #ask: AskEngine
  #jsonCheck: JsonObject | undefined

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

  /** The tree in a form that survives printing, its columns under the names that the engine gives them. */
  async printable(node: JsonObject, original: QuotedSql): Promise<Printable> {
    const written = printable(node, (this.#jsonCheck ??= await this.#column(jsonCheckStatement)))
    if (written.checksJson && written.unnamed !== undefined) {
      const position = placeOf(written.unnamed, original)
      throw notAllowed({ construct: '* or COLUMNS() with a function that walks JSON', ...(position && { position }) })
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

  /** The statement inside the window of `skip` and one row more than `limit`. */
  async framed(node: JsonObject, window: { readonly skip: number; readonly limit: number }): Promise<JsonObject> {
    const sql = `SELECT * FROM (SELECT 1) AS answer LIMIT ${window.limit + 1} OFFSET ${window.skip}`
    const top = topNode(await this.#serialised(sql))
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
    const same = gateStatement(node).tables.every((table) => allowed.has(JSON.stringify(table.parts)))
    assert(same, 'the rewritten statement names the datasets of the original')
    return sql
  }

  async #column(sql: string): Promise<JsonObject> {
    const [column] = list(topNode(await this.#serialised(sql)), 'select_list')
    assert(column instanceof Map, 'a statement of ours has one column')
    return column
  }

  /** What the engine serialised; a number without a JSON form is the caller's. */
  async #serialised(sql: string): Promise<JsonObject> {
    const json = await this.#ask('SELECT json_serialize_sql($1::VARCHAR)', sql)
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
  const statement = new Map<string, JsonValue>([
    ['node', node],
    ['named_param_map', []],
  ])
  return new Map<string, JsonValue>([
    ['error', false],
    ['statements', [statement]],
  ])
}

/** `SELECT` with one column. */
function selectOf(column: JsonObject): JsonObject {
  return new Map<string, JsonValue>(
    Object.entries({
      type: 'SELECT_NODE',
      modifiers: [],
      cte_map: new Map([['map', []]]),
      select_list: [column],
      from_table: new Map<string, JsonValue>(Object.entries({ type: 'EMPTY', alias: '', sample: null })),
      where_clause: null,
      group_expressions: [],
      group_sets: [],
      aggregate_handling: 'STANDARD_HANDLING',
      having: null,
      sample: null,
      qualify: null,
    }),
  )
}

function parseFailure(tree: JsonObject, sql: QuotedSql): NodeError {
  if (text(tree, 'error_type') !== 'parser') {
    return notAllowed(
      { construct: 'this kind of statement' },
      'A query is one SELECT; PIVOT needs its values listed: ON x IN (…).',
    )
  }
  const offset = Number(text(tree, 'position') || Number.NaN)
  const position = Number.isSafeInteger(offset) ? { position: positionOfCodePoint(sql, offset) } : {}
  const { message } = parseEngineMessage(text(tree, 'error_message'))
  if (message.startsWith('Max expression depth')) return tooDeep()
  const hint = unquotedNameHint(sql.original)
  return new NodeError('SqlSyntax', `${message.slice(0, 300)}.`, {
    ...position,
    ...(hint === undefined ? {} : { hint }),
  })
}

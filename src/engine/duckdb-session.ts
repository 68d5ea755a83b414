// One locked instance of DuckDB in a child process: gate, views, preparation of the caller's own text, the rewritten
// statement, its run, its rendering. One query at a time.

import { type DuckDBConnection, DuckDBInstance, version as duckdbVersion } from '@duckdb/node-api'
import { jsonText, parseJson } from '../codec/json.ts'
import { assert, must } from '../lib/assert.ts'
import { NodeError, type TextPosition } from '../model/errors.ts'
import type { JsonObject, JsonValue } from '../model/json.ts'
import type { OutputSchema } from '../model/output-schema.ts'
import { type Rendered, renderResult } from './duckdb-render.ts'
import { keepByteOrderMarks } from './duckdb-text.ts'
import { outputSchemaOf } from './duckdb-types.ts'
import { Views } from './duckdb-views.ts'
import { HeldLists, type HeldTable } from './file-lists.ts'
import { type GateResult, gateStatement, notAllowed, sampleConstruct } from './gate.ts'
import { engineVersion } from './identity.ts'
import { asciiLower } from './lexer.ts'
import type { ChildSettings, PlainJob } from './messages.ts'
import { withTotalOrder } from './normalize.ts'
import { unquotedNameHint } from './name-hint.ts'
import { positionOfByte, positionOfCodePoint, quoteOffsetWord, type QuotedSql } from './offset-word.ts'
import { firstDifference, printable, type Renamed } from './printable.ts'
import { errorOfEngine, parseEngineMessage, tooDeep } from './sql-errors.ts'
import { checkStatementKind, sampleClause } from './statement-kind.ts'
import { child, list, location, text } from './tree.ts'

/** A statement that the gate let through. */
interface Statement {
  readonly sql: QuotedSql
  /** Its top node in the serialised tree. */
  readonly node: JsonObject
  readonly gate: GateResult
}

/** What preparing and rewriting a statement over given views gave. */
interface Plan {
  /** Output names of the caller's own text. */
  readonly names: readonly string[]
  readonly types: readonly string[]
  /** The rewritten statement. */
  readonly sql: string
}

export interface SessionAnswer extends Rendered {
  readonly schema: OutputSchema | undefined
}

/** Statements and plans remembered. */
const kept = 256

export class DuckDbSession {
  readonly #connection: DuckDBConnection
  readonly #settings: ChildSettings
  readonly #views: Views
  readonly #lists = new HeldLists()
  readonly #statements = new Map<string, Statement>()
  readonly #plans = new Map<string, Plan>()

  constructor(connection: DuckDBConnection, settings: ChildSettings) {
    this.#connection = connection
    this.#settings = settings
    this.#views = new Views(connection)
  }

  /** Parses and gates a statement. Throws NodeError. */
  async analyze(sql: string): Promise<GateResult> {
    return (await this.#statement(sql)).gate
  }

  /** Runs a job to its end. Throws NodeError. */
  async run(job: PlainJob): Promise<SessionAnswer> {
    const tables = this.#lists.take(job)
    const statement = await this.#statement(job.analysis.sql)
    checkJob(statement, job)
    const plan = await this.#plan(statement, job, tables)
    const options = { names: plan.names, resultBytes: this.#settings.resultBytes, ...job }
    const result = await this.#guard(undefined, async () => await this.#connection.run(plan.sql))
    const changed = result.columnTypes().find((type, index) => String(type) !== plan.types[index])
    if (changed !== undefined) throw unfaithful(`a column of type ${String(changed)}`)
    const schema = job.wantSchema ? outputSchemaOf(plan.names, result.columnTypes()) : undefined
    return { ...(await renderResult(result, options)), schema }
  }

  /** Ends the query under way with an error; it may take a while or never happen. */
  interrupt(): void {
    this.#connection.interrupt()
  }

  async #statement(sql: string): Promise<Statement> {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    checkStatementKind(sql)
    const quoted = quoteOffsetWord(sql)
    const node = await this.#parse(quoted)
    const statement = { sql: quoted, node, gate: gateStatement(node, (offset) => positionOfByte(quoted, offset)) }
    remember(this.#statements, sql, statement)
    return statement
  }

  /** The top node of the one statement in a text. */
  async #parse(sql: QuotedSql): Promise<JsonObject> {
    const tree = parseTree(await this.#scalar('SELECT json_serialize_sql($1::VARCHAR)', sql.text))
    if (tree.get('error') === true) throw parseFailure(tree, sql)
    const [statement, ...others] = list(tree, 'statements')
    if (others.length > 0) throw notAllowed({ construct: 'more than one statement' })
    const node = statement instanceof Map ? child(statement, 'node') : undefined
    if (node === undefined) throw new NodeError('SqlSyntax', 'The statement is empty.')
    return node
  }

  async #plan(statement: Statement, job: PlainJob, tables: readonly HeldTable[]): Promise<Plan> {
    const views = await this.#guard(undefined, async () => await this.#views.ensure(tables))
    const key = [job.reproducible, job.skip, job.limit, job.analysis.sql, views].join('\n')
    const known = this.#plans.get(key)
    const plan = known ?? (await this.#makePlan(statement, job))
    if (known === undefined) remember(this.#plans, key, plan)
    if (job.dataFormat !== 'JsonAoa') checkDuplicates(plan.names)
    return plan
  }

  /** Prepares the caller's own text (names, syntax and name errors come from there), then rewrites its tree. */
  async #makePlan(statement: Statement, job: PlainJob): Promise<Plan> {
    const prepared = await this.#guard(statement.sql, async () => await this.#connection.prepare(statement.sql.text))
    const columns = Array.from({ length: prepared.columnCount }, (_, index) => index)
    const names = columns.map((index) => prepared.columnName(index))
    const types = columns.map((index) => String(prepared.columnType(index)))
    prepared.destroySync()
    const ordered = job.reproducible ? withTotalOrder(statement.node, names.length) : statement.node
    const { node, renamed } = printable(ordered)
    await this.#keepNames(renamed)
    const window = `SELECT * FROM (SELECT 1) AS answer LIMIT ${job.limit + 1} OFFSET ${job.skip}`
    const frame = parseTree(await this.#scalar('SELECT json_serialize_sql($1::VARCHAR)', window))
    const whole = putInFrame(frame, node)
    const sql = await this.#scalar('SELECT json_deserialize_sql($1::VARCHAR)', jsonText(frame))
    await this.#checkRewritten(sql, whole, statement)
    return { names, types, sql }
  }

  /** Gives columns whose text has changed the names that the engine would have given them. */
  async #keepNames(renamed: readonly Renamed[]): Promise<void> {
    if (renamed.length === 0) return
    const frame = parseTree(await this.#scalar('SELECT json_serialize_sql($1::VARCHAR)', 'SELECT 1'))
    const texts = renamed.map(({ original }) => jsonText(withColumn(frame, original)))
    const print =
      "SELECT to_json(list(json_deserialize_sql(value ->> '$') ORDER BY id))::VARCHAR FROM json_each($1::VARCHAR)"
    const printed = parseJson(await this.#scalar(print, jsonText(texts)))
    assert(Array.isArray(printed) && printed.length === renamed.length, 'each column is printed')
    for (const [index, { written }] of renamed.entries()) {
      const select = printed[index]
      assert(typeof select === 'string' && select.startsWith('SELECT '), 'a column prints as a SELECT')
      written.set('alias', select.slice('SELECT '.length))
    }
  }

  /** What will run is what was meant: its tree is the one that was printed, and passes the gate by itself. */
  async #checkRewritten(sql: string, meant: JsonObject, statement: Statement): Promise<void> {
    checkStatementKind(sql)
    const node = await this.#parse({ original: sql, text: sql, inserted: [] })
    const lost = firstDifference(meant, node)
    if (lost !== undefined) throw unfaithful(kindOf(lost), placeOf(lost, statement.sql))
    const allowed = new Set(statement.gate.tables.map((table) => JSON.stringify(table.parts)))
    const same = gateStatement(node).tables.every((table) => allowed.has(JSON.stringify(table.parts)))
    assert(same, 'the rewritten statement names the datasets of the original')
  }

  /** One text out of a trusted statement with one text parameter. */
  async #scalar(sql: string, parameter: string): Promise<string> {
    const result = await this.#guard(undefined, async () => await this.#connection.run(sql, [parameter]))
    const rows = await result.getRows()
    const value = rows[0]?.[0]
    assert(typeof value === 'string', 'the engine answers with text')
    return value
  }

  async #guard<T>(sql: QuotedSql | undefined, action: () => Promise<T>): Promise<T> {
    try {
      return await action()
    } catch (error) {
      const raw = error instanceof Error ? error.message : String(error)
      throw errorOfEngine(raw, { sql, memoryBytes: this.#settings.memoryBytes, dataRoots: this.#settings.dataRoots })
    }
  }
}

function parseTree(json: string): JsonObject {
  const tree = parseJson(json, { maxDepth: 10_000 })
  assert(tree instanceof Map, 'a serialised statement is an object')
  return tree
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

function topNode(tree: JsonObject): JsonObject {
  const [statement] = list(tree, 'statements')
  return must(statement instanceof Map ? child(statement, 'node') : undefined, 'the frame is one statement')
}

/** Puts a node where the frame has its inner `SELECT 1`; returns the top node. */
function putInFrame(frame: JsonObject, node: JsonValue): JsonObject {
  const top = topNode(frame)
  const from = child(top, 'from_table')
  must(from === undefined ? undefined : child(from, 'subquery'), 'the frame selects from a subquery').set('node', node)
  return top
}

/** The frame `SELECT 1` with another column. */
function withColumn(frame: JsonObject, column: JsonObject): JsonObject {
  const [statement] = list(frame, 'statements')
  const node = new Map(topNode(frame)).set('select_list', [column])
  return new Map(frame).set('statements', [new Map(statement instanceof Map ? statement : []).set('node', node)])
}

/** The refusal of what the engine would print as something else. */
function unfaithful(what: string, position?: TextPosition): NodeError {
  return notAllowed(
    { construct: `${what} in a form that does not survive rewriting`, ...(position && { position }) },
    "Write its constants as CAST of their text, such as CAST('1e3' AS DOUBLE).",
  )
}

function kindOf(node: JsonObject): string {
  return text(node, 'class') || text(node, 'type') || 'something'
}

function placeOf(node: JsonObject, sql: QuotedSql): TextPosition | undefined {
  const offset = location(node)
  return offset === undefined ? undefined : positionOfByte(sql, offset)
}

function checkJob(statement: Statement, job: PlainJob): void {
  const given = new Set(job.tables.map((table) => JSON.stringify(table.parts)))
  for (const table of statement.gate.tables) {
    assert(given.has(JSON.stringify(table.parts)), `a table is given for each name of the statement`)
  }
  if (job.reproducible) checkReproducible(statement)
  for (const name of statement.gate.sessionNames) {
    const isColumn = job.tables.some((table) =>
      table.schema?.fields.some((field) => asciiLower(field.name) === name.construct),
    )
    if (!isColumn && !statement.gate.aliases.has(name.construct)) throw notAllowed(name)
  }
}

/** Throws NodeError `NotReproducible` for what another run, or another machine, would answer differently. */
function checkReproducible({ sql, gate: { volatile, machineDependent } }: Statement): void {
  if (volatile !== undefined) {
    // The tree has no place for USING SAMPLE.
    const position =
      volatile.position ?? (volatile.construct === sampleConstruct ? sampleClause(sql.original) : undefined)
    throw new NodeError(
      'NotReproducible',
      `${volatile.construct} gives another answer each time, so there can be no proof.`,
      { hint: 'Write a fixed value instead, or ask without a proof.', ...(position && { position }) },
    )
  }
  if (machineDependent === undefined) return
  const { construct, position } = machineDependent
  throw new NodeError(
    'NotReproducible',
    `The last digits of ${construct} depend on the machine, so there can be no proof.`,
    {
      hint: 'Compute it from the proven answer, or ask without a proof; a square can be written x * x.',
      ...(position && { position }),
    },
  )
}

/** Two output columns of exactly one name have no place in a keyed layout. */
function checkDuplicates(names: readonly string[]): void {
  const repeated = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
  if (repeated.length === 0) return
  throw new NodeError('DuplicateColumn', `Two output columns are named '${repeated[0]?.slice(0, 200)}'.`, {
    candidates: repeated.slice(0, 100),
    hint: 'Name them with AS, leave one out with EXCLUDE, or ask for JsonAoa.',
  })
}

function remember<T>(cache: Map<string, T>, key: string, value: T): void {
  if (cache.size >= kept) cache.clear()
  cache.set(key, value)
}

/** Opens an instance, sets it up and locks it. Throws the engine's errors. */
export async function openSession(settings: ChildSettings): Promise<DuckDbSession> {
  assert(duckdbVersion().replace(/^v/, '') === engineVersion, `this build signs for DuckDB ${engineVersion}`)
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: `${Math.floor(settings.memoryBytes / 1024)}KiB`,
    // Spilling would make results depend on the memory limit, and grants a directory to the statements.
    temp_directory: '',
  })
  const connection = await instance.connect()
  const roots = settings.dataRoots.map((root) => `'${root.replaceAll("'", "''")}'`).join(', ')
  for (const sql of [...fixedSettings, `SET allowed_directories = [${roots}]`, ...closingSettings])
    await connection.run(sql)
  keepByteOrderMarks()
  return new DuckDbSession(connection, settings)
}

const fixedSettings = [
  "SET TimeZone = 'UTC'",
  "SET Calendar = 'gregorian'",
  'SET parquet_metadata_cache = true',
  // Slices never change.
  "SET validate_external_file_cache = 'NO_VALIDATION'",
  'SET errors_as_json = true',
  'SET autoinstall_known_extensions = false',
  'SET autoload_known_extensions = false',
  'SET allow_community_extensions = false',
  'SET allow_persistent_secrets = false',
  'SET enable_geoparquet_conversion = false',
]

const closingSettings = ['SET enable_external_access = false', 'SET lock_configuration = true']

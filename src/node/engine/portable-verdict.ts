// The question of a bundle, run again in the page by DuckDB, and its rows compared with those that were signed. There is no
// parser of ours here (the engine of browsers lacks the one that nodes use), so a statement runs as its text has it, in each
// order that its text allows: equal rows speak for the answer. Other rows speak against it only where nothing but the rows
// can decide them; else the page says that it cannot tell.

import { isPresent } from '../../libraries/columnar/arrow/columns.ts'
import { longsOf, numbersOf } from '../../libraries/columnar/arrow/numbers.ts'
import {
  aggregateFunctions,
  allowedMacros,
  allowedTableFunctions,
  clockNames,
  machineDependentFunctions,
  names,
  scalarFunctions,
  sessionNames,
  volatileFunctions,
} from './functions.ts'
import { dialect, engineVersion } from './messages.ts'
import { lexSql, type SqlToken } from '../../libraries/model/sql-lexer.ts'
import { quoteOffsetWord } from './sql-text.ts'
import { canonicalText } from '../../libraries/base/json/canonical.ts'
import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import { DecodeError, NodeError } from '../../libraries/base/errors.ts'
import type { JsonValue } from '../../libraries/base/json/value.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { type Parameter, readParameters } from '../../libraries/model/parameters.ts'
import type { Column, RecordBatch } from '../../libraries/model/schema.ts'
import {
  dateText,
  float32Token,
  float64Token,
  timestampMicrosText,
} from '../../libraries/columnar/outputs/value-text.ts'
import type { OfflineSuccess } from '../../libraries/proof/verify.ts'
import type { BundleRows } from './portable-tables.ts'
import { EngineFailure, type WasmEngine } from './portable-engine.ts'

/** `same`: these rows follow from those blocks. `other`: they do not. `unknown`: it cannot be told here, and why. */
export interface RerunVerdict {
  readonly outcome: 'same' | 'other' | 'unknown'
  readonly why: string
}

/** Rows as canonical JSON of their cells. */
interface Cells {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Runs the question of a proof again over the rows of its bundle. Never throws for what they hold. */
export async function rerun(engine: WasmEngine, rows: BundleRows, verdict: OfflineSuccess): Promise<RerunVerdict> {
  try {
    return await judge(engine, rows, verdict)
  } catch (error) {
    if (!(error instanceof EngineFailure) && !(error instanceof DecodeError) && !(error instanceof NodeError))
      throw error
    return unknown(`The engine of this page cannot run it: ${error.message}.`)
  }
}

function unknown(why: string): RerunVerdict {
  return { outcome: 'unknown', why }
}

async function judge(
  engine: WasmEngine,
  bundle: BundleRows,
  { answer, output }: OfflineSuccess,
): Promise<RerunVerdict> {
  const { query = '', skip, limit = 0 } = answer
  if (answer.dialect !== dialect)
    return unknown(`Its dialect is ${answer.dialect ?? 'not named'}, and this page runs ${dialect}.`)
  const given = answer.parameters === undefined ? [] : readParameters(answer.parameters).values
  const text = quoteOffsetWord(filled(query, given)).text
  const tokens = lexSql(text)
  const fault = faultOf(tokens, text)
  if (fault !== undefined) return unknown(fault)
  const version = await versionOf(engine)
  if (version !== `v${engineVersion}`)
    return unknown(`The engine of this page is DuckDB ${version}, not ${engineVersion}.`)
  const { hasFloats } = await bundle.load(engine, answer.datasets)
  const columns = await columnsOf(engine, text)
  const odd = columns.find(({ type }) => printerOf(type) === undefined)
  if (odd !== undefined) return unknown(`Its column ${odd.name} is of the type ${odd.type}, which is not printed here.`)
  const signed = signedCells(
    output,
    columns.map(({ name }) => name),
  )
  if (signed === undefined) return unknown('The rows are not in the file, or their columns have other names here.')
  const tried = await inEachOrder(engine, { text, tokens, columns, rows: skip + limit + 1 })
  let first = ''
  for (const found of tried) {
    const kept = found.slice(skip, skip + limit)
    const difference = differenceOf(signed, kept) ?? extentDifference(answer.extent, found.length > skip + limit)
    if (difference === undefined) return { outcome: 'same', why: `${kept.length} rows, each as it was signed.` }
    first ||= difference
  }
  const isWhole = skip === 0 && answer.extent === 'whole'
  const hasSame = tried.some((found) => sameRows(found, signed.rows))
  const isFloating = hasFloats || given.some(({ type }) => type === 'DOUBLE')
  if (isWhole && !hasSame && !isFloating && isExact(tokens) && columns.every(({ type }) => !/DOUBLE|FLOAT/.test(type)))
    return { outcome: 'other', why: first }
  return unknown(`The rows differ (${first}). This engine may be the reason, by the order of rows or by last digits.`)
}

/** The statement with constants in the place of its parameters, as a node writes them: node/engine/printable.ts. */
function filled(query: string, given: readonly Parameter[]): string {
  const constants = new Map(given.map((parameter) => [foldAscii(parameter.name), constantOf(parameter)]))
  let [text, at, marks] = ['', 0, 0]
  for (const { kind, start, end, text: name } of lexSql(query)) {
    // The parameters `?` are numbered as they come.
    const constant = kind === 'parameter' ? constants.get(name === '' ? String(++marks) : name) : undefined
    if (constant === undefined) continue
    text += `${query.slice(at, start)}${constant}`
    at = end
  }
  return text + query.slice(at)
}

function constantOf({ type, text }: Parameter): string {
  if (type === 'NULL') return 'NULL'
  const literal = `'${text.replaceAll("'", "''")}'`
  return type === 'VARCHAR' ? literal : `CAST(${literal} AS ${type})`
}

/** The rows of the statement in each order that a node may give it. Throws EngineFailure where its own text does not run. */
async function inEachOrder(
  engine: WasmEngine,
  { text, tokens, columns, rows }: { readonly tokens: readonly SqlToken[] } & Parameters<typeof cellsOf>[1],
): Promise<string[][][]> {
  const [own, ...others] = orders(text, tokens, columns.length)
  const tried = [await cellsOf(engine, { text: own ?? text, columns, rows })]
  for (const other of others) {
    try {
      tried.push(await cellsOf(engine, { text: other, columns, rows }))
    } catch (error) {
      // An order that this text cannot have.
      if (!(error instanceof EngineFailure)) throw error
    }
  }
  return tried
}

function sameRows(a: Cells['rows'], b: Cells['rows']): boolean {
  const sorted = (rows: Cells['rows']): string => JSON.stringify(rows.map((row) => JSON.stringify(row)).sort())
  return a.length === b.length && sorted(a) === sorted(b)
}

const byChance = new Set([...volatileFunctions, ...clockNames, ...sessionNames, 'sample', 'tablesample'])

/** What nodes let a statement call, and the words that stand before a parenthesis otherwise. */
const callable = new Set([
  ...scalarFunctions,
  ...aggregateFunctions,
  ...allowedMacros,
  ...allowedTableFunctions,
  ...names(`
    all and any array as between by case cast char coalesce columns cube dec decimal distinct else escape except exclude
    exists extract filter from group grouping grouping_id having if ifnull ilike in intersect interval is join lateral like
    limit map materialized not numeric offset on or order over partition range recursive rename replace rollup row select
    sets similar some struct then timestamp try try_cast union using values varchar when where with within
  `),
])
const isCatalog = /^"?(?:information_schema|system|temp)"?$|^"?(?:duckdb|pragma|sqlite|pg)_/i

/** Why a text cannot be run as it stands inside another one, would not run alike twice, or reads what is no dataset. */
function faultOf(tokens: readonly SqlToken[], sql: string): string | undefined {
  let depth = 0
  for (const [at, { kind, text, start, end }] of tokens.entries()) {
    if (kind === 'unfair comment' || kind === 'parameter') return 'Its text cannot be run here.'
    if (kind === 'word' && byChance.has(text)) return `'${text}' gives another answer each time, or on each machine.`
    if (machineDependentFunctions.has(text)) return `The last digits of '${text}' depend on the machine.`
    if (kind === 'word' || kind === 'name') {
      const isCall = tokens[at + 1]?.text === '('
      const word = sql.slice(start, end)
      if (isCatalog.test(word) || (isCall && !callable.has(text))) return `'${word}' is not run here.`
    }
    if (kind !== 'symbol') continue
    if (text === ';') return 'It is more than one statement.'
    depth += text === '(' ? 1 : text === ')' ? -1 : 0
    if (depth < 0) return 'Its parentheses do not match.'
  }
  return depth === 0 ? undefined : 'Its parentheses do not match.'
}

/** The statement in the orders of rows that a node may give it: docs/decisions/answers.md#total-order. */
function orders(text: string, tokens: readonly SqlToken[], columns: number): string[] {
  let depth = 0
  let [order, end] = [-1, text.length]
  for (const [at, token] of tokens.entries()) {
    if (token.kind === 'symbol') depth += /[([{]/.test(token.text) ? 1 : /[)\]}]/.test(token.text) ? -1 : 0
    if (token.kind !== 'word' || depth !== 0) continue
    if (token.text === 'order' && tokens[at + 1]?.text === 'by') order = token.start
    if (/^(?:limit|offset|fetch)$/.test(token.text) && end === text.length) end = token.start
  }
  const ties = Array.from({ length: columns }, (_, at) => at + 1).join(', ')
  const more = order < 0 ? 'ORDER BY ALL' : `, ${ties}`
  return [text, `${text.slice(0, end)}\n${more}\n${text.slice(end)}`]
}

interface ResultColumn {
  readonly name: string
  readonly type: string
}

async function versionOf(engine: WasmEngine): Promise<string> {
  const [batch] = await engine.query('SELECT version()')
  const [column] = batch?.columns ?? []
  return column === undefined ? '' : textAt(column, 0)
}

async function columnsOf(engine: WasmEngine, text: string): Promise<ResultColumn[]> {
  const described = await engine.query(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM (${text}\n))`)
  return described.flatMap((batch) => {
    const [name, type] = batch.columns.map((column) => (row: number) => textAt(column, row))
    return Array.from({ length: batch.rows }, (_, row) => ({ name: name?.(row) ?? '', type: type?.(row) ?? '' }))
  })
}

/** How values of a type are asked for, and the JSON token of what comes. */
interface Printer {
  readonly sql: (column: string) => string
  readonly token: (text: string) => string
}

const bare: Printer = { sql: (column) => `${column}::VARCHAR`, token: (text) => text }
const asText: Printer = { sql: (column) => `${column}::VARCHAR`, token: (text) => canonicalText(text) }
const raw: Printer = { sql: (column) => column, token: (text) => text }
const stamp = (zone: string): Printer => ({
  sql: (column) => `CASE WHEN isfinite(${column}) THEN epoch_us(${column}) END::VARCHAR`,
  token: (text) => `"${timestampMicrosText(BigInt(text))}${zone}"`,
})
const printers: ReadonlyMap<string, Printer> = new Map([
  ...'BOOLEAN TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER UBIGINT HUGEINT UHUGEINT'
    .split(' ')
    .map((type) => [type, bare] as const),
  ['DOUBLE', raw],
  ['FLOAT', raw],
  ['VARCHAR', asText],
  ['TIMESTAMP', stamp('')],
  ['TIMESTAMP WITH TIME ZONE', stamp('Z')],
  [
    'DATE',
    {
      sql: (column) => `CASE WHEN isfinite(${column}) THEN date_diff('day', DATE '1970-01-01', ${column}) END::VARCHAR`,
      token: (text) => `"${dateText(Number(text))}"`,
    },
  ],
])

function printerOf(type: string): Printer | undefined {
  return type.startsWith('DECIMAL(') && !type.endsWith(']') ? asText : printers.get(type)
}

/** The rows of a statement as tokens. */
async function cellsOf(
  engine: WasmEngine,
  { text, columns, rows }: { readonly text: string; readonly columns: readonly ResultColumn[]; readonly rows: number },
): Promise<string[][]> {
  const printed = columns.map(({ type }, at) => printerOf(type)?.sql(`r.c${at}`) ?? 'NULL')
  const aliases = columns.map((_, at) => `c${at}`)
  const batches = await engine.query(
    `SELECT ${printed.join(', ')} FROM (${text}\n) AS r(${aliases.join(', ')}) LIMIT ${rows}`,
  )
  return batches.flatMap((batch) =>
    Array.from({ length: batch.rows }, (_, row) => columns.map(({ type }, at) => tokenAt(batch, { at, row, type }))),
  )
}

function tokenAt(
  { columns }: RecordBatch,
  { at, row, type }: { readonly at: number; readonly row: number; readonly type: string },
): string {
  const column = columns[at]
  if (column === undefined || !isPresent(column, row)) return 'null'
  if (type !== 'DOUBLE' && type !== 'FLOAT') return printerOf(type)?.token(textAt(column, row)) ?? 'null'
  const value = Number(numbersOf(column)?.[row])
  if (!Number.isFinite(value)) return 'null'
  return type === 'DOUBLE' ? float64Token(value) : float32Token(value)
}

function textAt(column: Column, row: number): string {
  const { offsets, values } = column
  return offsets === undefined
    ? String(longsOf(column)[row])
    : decodeUtf8(values.subarray(offsets[row], offsets[row + 1]))
}

/** The signed rows by the columns that came here; undefined where there are none, or others. */
function signedCells(output: JsonValue | undefined, columns: readonly string[]): Cells | undefined {
  const data = output instanceof Map ? output.get('data') : undefined
  const schema = output instanceof Map ? output.get('schema') : undefined
  const fields = schema instanceof Map ? schema.get('fields') : undefined
  const named = Array.isArray(fields)
    ? fields.map((field) => (field instanceof Map ? field.get('name') : undefined))
    : columns
  if (named.length !== columns.length || named.some((name, at) => name !== columns[at])) return undefined
  const cells = (values: readonly (JsonValue | undefined)[]): string[] | undefined =>
    values.length === columns.length && values.every((value) => value !== undefined)
      ? values.map((value) => canonicalText(value ?? null))
      : undefined
  const rowOf = (row: JsonValue): string[] | undefined => {
    if (Array.isArray(row)) return cells(row)
    return row instanceof Map && row.size === columns.length ? cells(columns.map((name) => row.get(name))) : undefined
  }
  if (Array.isArray(data)) {
    const rows = data.map(rowOf)
    return rows.every((row) => row !== undefined) ? { columns, rows: rows.flatMap((row) => [row]) } : undefined
  }
  if (!(data instanceof Map) || (data.size !== columns.length && data.size !== 0)) return undefined
  const lists = columns.map((name) => data.get(name) ?? [])
  const length = Array.isArray(lists[0]) ? lists[0].length : 0
  const rows = Array.from({ length }, (_, row) =>
    cells(lists.map((list) => (Array.isArray(list) ? list[row] : undefined))),
  )
  return rows.every((row) => row !== undefined) ? { columns, rows: rows.flatMap((row) => [row]) } : undefined
}

function differenceOf({ columns, rows }: Cells, found: readonly (readonly string[])[]): string | undefined {
  for (const [row, cells] of rows.entries()) {
    const at = cells.findIndex((cell, column) => cell !== found[row]?.[column])
    if (at < 0) continue
    const other = found[row]?.[at] ?? 'no row'
    return `row ${row + 1}, ${columns[at]}: signed ${cells[at]?.slice(0, 200)}, here ${other.slice(0, 200)}`
  }
  return found.length === rows.length ? undefined : `${rows.length} rows were signed, here are ${found.length}`
}

function extentDifference(extent: string, isCut: boolean): string | undefined {
  if (extent === 'unknown' || (extent === 'cut') === isCut) return undefined
  return isCut ? 'more rows came than the answer says' : 'the answer says that more rows exist'
}

/** Functions and words that stand before a parenthesis in statements whose rows alone decide the answer. */
const exactCalls = names(`
  count sum min max abs length lower upper coalesce nullif cast in values and or not on using by from where as with select
  when then else having exists is between join ,
`)
const orderWords = names('limit fetch over qualify pivot unpivot recursive positional asof lateral first last')

/** Whether nothing but the rows can decide the answer: by a short list, so that no other statement is ever accused. */
function isExact(tokens: readonly SqlToken[]): boolean {
  return tokens.every(({ kind, text }, at) => {
    if (kind === 'symbol' && /^[[{]/.test(text)) return false
    if (kind !== 'word') return kind !== 'name' || tokens[at + 1]?.text !== '('
    return !orderWords.has(text) && (tokens[at + 1]?.text !== '(' || exactCalls.has(text))
  })
}

// The question of a proof, run again by the portable engine, and its output compared with the one that was signed, in a page.
// There is no parser of ours here (the engine lacks the one that nodes use), so a statement runs as
// its text has it, in each order that its text allows: the same output speaks for the answer. Other rows speak against it only
// where nothing but the rows can decide them; else nothing can be said here.

import { lexSql, type SqlToken } from '../../sql/lexer.ts'
import { canonicalBytes, canonicalText } from '../../base/json/canonical.ts'
import { parseJson } from '../../base/json/json.ts'
import type { JsonValue } from '../../base/json/value.ts'
import { hashText } from '../../base/ids/identifiers.ts'
import { createSha3256 } from '../../base/ids/native-crypto.ts'
import { DecodeError, NodeError } from '../../base/errors.ts'
import { foldAscii } from '../../model/names.ts'
import type { Parameter } from '../../model/parameters.ts'
import type { Decompress } from '../../columnar/parquet/read-slice.ts'
import { schemaBytes } from '../../odf/schema-formats.ts'
import type { ReadProof } from '../read-proof.ts'
import { EngineFailure, type PortableEngine } from './engine.ts'
import { cellsOf, columnsOf, outputTypeOf, type ResultColumn, type Rows, runningVersion } from './rows.ts'
import { faultOf, isExact } from './statements.ts'
import { type LoadedColumns, loadTables, type PortableTable } from './tables.ts'
import { quoteOffsetWord } from '../../sql/offset-word.ts'

/** `same`: this output follows from those blocks. `other`: it does not. `unknown`: it cannot be told here, and why. */
export type PortableVerdict =
  | { readonly outcome: 'same'; readonly why: string; readonly rows: number; readonly isCut: boolean }
  | { readonly outcome: 'other' | 'unknown'; readonly why: string }

/** What is judged: a proof whose hashes and signature are good, over the datasets that it names. */
export interface PortableCase {
  /** Of the engine that runs. */
  readonly version: string
  /** That of answers signed with it. */
  readonly dialect: string
  readonly proof: ReadProof
  /** That of the saved answer, where it came with its rows. */
  readonly output: JsonValue | undefined
  readonly tables: readonly PortableTable[]
  /** Zstandard, for pages of slices. */
  readonly decompress: Decompress
}

/** As deep as saved answers of deployed nodes nest. */
const maxDepth = 128

/** Runs the question of a proof again over the rows of its blocks. Never throws for what they hold. */
export async function rerun(engine: PortableEngine, of: PortableCase): Promise<PortableVerdict> {
  try {
    return await judge(engine, of)
  } catch (error) {
    if (!(error instanceof EngineFailure) && !(error instanceof DecodeError) && !(error instanceof NodeError))
      throw error
    // What follows is advice to the operator of the engine.
    const [first = ''] = error.message.split('\n')
    return unknown(`This engine cannot run it: ${first.replace(/[.:]$/, '')}.`)
  }
}

function unknown(why: string): PortableVerdict {
  return { outcome: 'unknown', why }
}

async function judge(
  engine: PortableEngine,
  { version, dialect, proof, output, tables, decompress }: PortableCase,
): Promise<PortableVerdict> {
  const { query, queryDialect, skip, limit, parameters } = proof.request
  if (queryDialect !== dialect) return unknown(`Its dialect is ${queryDialect}, and this engine runs ${dialect}.`)
  const given = parameters?.values ?? []
  const text = quoteOffsetWord(filled(query, given)).text
  const tokens = lexSql(text)
  const fault = faultOf(tokens, text)
  if (fault !== undefined) return unknown(fault)
  const running = await runningVersion(engine)
  if (running !== `v${version}`) return unknown(`This engine is DuckDB ${running}, not ${version}.`)
  const loaded = await loadTables(engine, tables, decompress)
  const columns = await columnsOf(engine, text)
  const odd = columns.find(({ type }) => outputTypeOf(type) === undefined)
  if (odd !== undefined) return unknown(`Its column ${odd.name} is of the type ${odd.type}, which is not printed here.`)
  const tried = await inEachOrder(engine, { text, tokens, columns, rows: skip + limit + 1 })
  for (const found of tried) {
    const kept = found.slice(skip, skip + limit)
    const isCut = found.length > skip + limit
    if (outputHashOf(proof, columns, { kept, isCut }) === proof.outputHash)
      return { outcome: 'same', why: `${kept.length} rows, each as it was signed.`, rows: kept.length, isCut }
  }
  return otherwise(proof.request, output, { columns, tried, text, tokens, loaded })
}

interface Tried {
  readonly columns: readonly ResultColumn[]
  readonly tried: readonly Rows[]
  readonly text: string
  readonly tokens: readonly SqlToken[]
  readonly loaded: LoadedColumns
}

/** What another output says. */
function otherwise(
  { skip, limit, parameters }: ReadProof['request'],
  output: JsonValue | undefined,
  { columns, tried, text, tokens, loaded }: Tried,
): PortableVerdict {
  if (output === undefined) return unknown('The output differs, and its rows are not in the file to be compared.')
  const names = columns.map(({ name }) => name)
  const signed = signedRows(output, names)
  if (signed === undefined) return unknown('The rows are not in the file, or their columns have other names here.')
  const isWhole = skip === 0 && output instanceof Map && !output.has('truncated')
  const found = tried[0] ?? []
  const difference = differenceOf(signed, found.slice(skip, skip + limit), names) ?? 'what stands beside them'
  const hasSame = tried.some((rows) => sameRows(rows, signed))
  const hasFloats =
    loaded.haveFloats ||
    (parameters?.values ?? []).some(({ type }) => type === 'DOUBLE') ||
    columns.some(({ type }) => /DOUBLE|FLOAT/.test(type))
  if (isWhole && !hasSame && !hasFloats && isExact(tokens, text, loaded.times))
    return { outcome: 'other', why: difference }
  return unknown(
    `The rows differ (${difference}). This engine may be the reason, by the order of rows or by last digits.`,
  )
}

/** The hash of the output as a node spells and signs it. */
function outputHashOf(
  { request, schemaFormatText }: ReadProof,
  columns: readonly ResultColumn[],
  { kept, isCut }: { readonly kept: Rows; readonly isCut: boolean },
): string {
  const members = new Map<string, JsonValue>([
    ['data', dataOf(request.dataFormat, columns, kept)],
    ['dataFormat', request.dataFormatText],
  ])
  if (request.include.includes('Schema')) {
    const fields = columns.map(({ name, type }) => ({
      name,
      type: { kind: 'Option', inner: outputTypeOf(type) ?? { kind: 'String' } } as const,
    }))
    members.set('schema', parseJson(schemaBytes({ fields }, request.schemaFormat), { maxDepth }))
  }
  if (schemaFormatText !== undefined) members.set('schemaFormat', schemaFormatText)
  if (isCut) members.set('truncated', true)
  const digest = createSha3256()
  digest.update(canonicalBytes(members))
  return hashText(digest.digest())
}

function dataOf(dataFormat: string, columns: readonly ResultColumn[], rows: Rows): JsonValue {
  if (dataFormat === 'JsonAoa') return rows.map((row) => [...row])
  const named = (values: (at: number) => JsonValue): JsonValue =>
    new Map(columns.map(({ name }, at) => [name, values(at)]))
  if (dataFormat === 'JsonAos') return rows.map((row) => named((at) => row[at] ?? null))
  return rows.length === 0 ? new Map() : named((at) => rows.map((row) => row[at] ?? null))
}

/** The statement with constants in the place of its parameters, as a node writes them: libraries/sql/printable.ts. */
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
  engine: PortableEngine,
  { text, tokens, columns, rows }: { readonly tokens: readonly SqlToken[] } & Parameters<typeof cellsOf>[1],
): Promise<Rows[]> {
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

function sameRows(a: Rows, b: Rows): boolean {
  const sorted = (rows: Rows): string => JSON.stringify(rows.map((row) => canonicalText([...row])).sort())
  return a.length === b.length && sorted(a) === sorted(b)
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

/** The signed rows by the columns that came here; undefined where there are none, or others. */
function signedRows(output: JsonValue, columns: readonly string[]): Rows | undefined {
  const data = output instanceof Map ? output.get('data') : undefined
  const rowOf = (row: JsonValue | undefined): readonly JsonValue[] | undefined => {
    const values = row instanceof Map ? columns.map((name) => row.get(name)) : row
    if (!Array.isArray(values) || values.length !== columns.length) return undefined
    return values.every((value) => value !== undefined) ? values : undefined
  }
  const rows = Array.isArray(data) ? data.map(rowOf) : rowsOfLists(data, columns)
  return rows?.every((row) => row !== undefined) ? rows : undefined
}

/** The rows of an object of lists, one for each column. */
function rowsOfLists(data: JsonValue | undefined, columns: readonly string[]): JsonValue[][] | undefined {
  if (!(data instanceof Map) || (data.size !== columns.length && data.size !== 0)) return undefined
  const lists = columns.map((name) => data.get(name) ?? []).filter((list) => Array.isArray(list))
  const length = lists[0]?.length ?? 0
  if (lists.length !== columns.length || lists.some((list) => list.length !== length)) return undefined
  return Array.from({ length }, (_, row) => lists.map((list) => list[row] ?? null))
}

function differenceOf(signed: Rows, found: Rows, columns: readonly string[]): string | undefined {
  for (const [row, cells] of signed.entries()) {
    const texts = cells.map((cell, at) => [canonicalText(cell), textOf(found[row]?.[at])] as const)
    const at = texts.findIndex(([cell, other]) => cell !== other)
    const [cell = '', other = ''] = texts[at] ?? []
    if (at >= 0) return `row ${row + 1}, ${columns[at]}: signed ${cell.slice(0, 200)}, here ${other.slice(0, 200)}`
  }
  return found.length === signed.length ? undefined : `${signed.length} rows were signed, here are ${found.length}`
}

function textOf(cell: JsonValue | undefined): string {
  return cell === undefined ? 'no row' : canonicalText(cell)
}

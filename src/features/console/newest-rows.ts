// What a page shows of the newest rows of a dataset: the rows as texts, figures of their columns, means of numbers over
// event time. Each costs about the same whatever the dataset holds: few rows or a window of them, cells that are cut, two
// seconds at most; what was found at a block is kept while there is room.

import type { Span } from './charts/spans.ts'
import type { DatasetView } from '../../node/catalog/dataset-chain.ts'
import { jsonText, parseJson } from '../../libraries/base/json/json.ts'
import type { CoordinateColumns } from '../../libraries/geo/coordinate-columns.ts'
import { concatBytes } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { JsonValue } from '../../libraries/base/json/value.ts'
import { type DataType, type Field, innerType } from '../../libraries/model/schema.ts'
import { sqlName } from '../../libraries/sql/types.ts'
import type { QueryAnswer } from '../../node/answers/kept-answers.ts'
import { askingOf, type Caller } from '../../node/answers/pin.ts'
import { answerTag, type ReplicaDeps } from '../../node/answers/query.ts'
import { tailTable, tailWindow } from '../../node/answers/tail.ts'

/** Rows and stored bytes that figures are found over. */
const windowRows = 1_000_000
const windowBytes = 64 * 1024 * 1024
/** Different values are counted one by one in so many cells, and estimated in more. */
const exactCells = 10_000_000
/** What any of it may take. */
export const mostMs = 2_000
/** Characters of the least and the greatest value. */
const boundChars = 60
/** Spans of event time that numbers are averaged over. */
export const chartSpans = 120

export interface Glance {
  readonly deps: ReplicaDeps
  readonly view: DatasetView
  readonly caller: Caller
}

/**
 * Cells of the last `limit` rows, newest first; undefined where a value is null. A longer text ends in `…` after
 * `cellChars` characters. Throws as a tail does; NodeError `QueryTimeout` where it takes too long.
 */
export async function newestRows(
  glance: Glance,
  {
    fields,
    limit,
    cellChars,
  }: { readonly fields: readonly Field[]; readonly limit: number; readonly cellChars: number },
): Promise<(string | undefined)[][]> {
  const columns = fields.map(({ name, type }) => `${cutText(sqlName(name), type, cellChars)} AS ${sqlName(name)}`)
  const offset = sqlName(glance.view.vocabulary.offsetColumn)
  const statement = `SELECT ${columns.join(', ')} FROM "tail" ORDER BY ${offset} DESC`
  const rows = await rowsOf(glance, statement, { window: limit })
  return rows.map((row) => row.map((cell) => cellText(cell, cellChars)))
}

/** What a column holds within the window. */
export interface ColumnFigures {
  readonly nulls: number
  /** How many different values; undefined where values are not compared. */
  readonly distinct: number | undefined
  readonly least: string | undefined
  readonly greatest: string | undefined
}

/** Figures of each of `fields` over the newest rows, and over how many. `isExact`: as `distinct` is. Throws as `newestRows`. */
export async function columnFigures(
  glance: Glance,
  fields: readonly Field[],
): Promise<{ readonly rows: number; readonly isExact: boolean; readonly columns: readonly ColumnFigures[] }> {
  const window = windowOf(glance.view)
  if (window < glance.view.rows || window * fields.length > exactCells)
    return await figuresWith(glance, fields, 'approx_count_distinct(')
  try {
    return await figuresWith(glance, fields, 'count(DISTINCT ')
  } catch (error) {
    if (!(error instanceof NodeError && error.kind === 'QueryTimeout')) throw error
    return await figuresWith(glance, fields, 'approx_count_distinct(')
  }
}

async function figuresWith(
  glance: Glance,
  fields: readonly Field[],
  counted: 'count(DISTINCT ' | 'approx_count_distinct(',
): ReturnType<typeof columnFigures> {
  const parts = fields.map(({ name, type }, at) => {
    const column = sqlName(name)
    const isText = innerType(type).kind === 'String'
    const bound = (of: string): string => (isText ? `left(${of}(${column}), ${boundChars + 1})` : `${of}(${column})`)
    const compared = isText || shortTypes.test(innerType(type).kind)
    const rest = compared ? [`${counted}${column})`, bound('min'), bound('max')] : ['NULL', 'NULL', 'NULL']
    return [`count(${column})`, ...rest].map((part, i) => `${part} AS "${at}.${i}"`).join(', ')
  })
  const [row = []] = await rowsOf(glance, `SELECT count(*) AS "rows", ${parts.join(', ')} FROM "tail"`)
  const rows = numberOf(row[0])
  const columns = fields.map((_, at) => {
    const [count, distinct, least, greatest] = row.slice(1 + at * 4, 5 + at * 4)
    return {
      nulls: rows - numberOf(count),
      // An estimate: never more than there are values.
      distinct: distinct === null ? undefined : Math.min(numberOf(count), numberOf(distinct)),
      least: cellText(least ?? null, boundChars),
      greatest: cellText(greatest ?? null, boundChars),
    }
  })
  return { rows, isExact: counted === 'count(DISTINCT ', columns }
}

/** Numbers over event time: first and last time in milliseconds since 1970, spans by column, in order. */
export interface Chart {
  readonly fromMs: number
  readonly toMs: number
  readonly columns: readonly (readonly Span[])[]
}

/**
 * The chart of columns of numbers, apart for each value of the column `series`, if one is given; undefined where all rows
 * have one time. Throws as `newestRows`.
 */
export async function chartOf(
  glance: Glance,
  time: string,
  { fields, series }: { readonly fields: readonly string[]; readonly series: string | undefined },
): Promise<Chart | undefined> {
  const names = fields.map(sqlName)
  const values = names.map((name, at) => `CAST(${name} AS DOUBLE) AS "c${at}"`)
  const figures = (at: number): string =>
    ['count', 'avg', 'min', 'max'].map((of) => `${of}("c${at}") AS "${of}${at}"`).join(', ')
  const rows = await rowsOf(
    glance,
    `WITH w AS (SELECT epoch_us(${sqlName(time)}) AS t, ${series === undefined ? 'NULL' : cutText(sqlName(series), { kind: 'String' }, boundChars)} AS k, ${values.join(', ')} FROM "tail"),
      r AS (SELECT min(t) AS a, max(t) AS b FROM w)
      SELECT CAST((t - a) * ${chartSpans} // (b - a + 1) AS INTEGER) AS s, min(a) AS f, max(b) AS u, k, ${names.map((_, at) => figures(at)).join(', ')}
      FROM w, r WHERE t IS NOT NULL GROUP BY s, k ORDER BY s, k`,
  )
  const [first] = rows
  if (first === undefined || new Set(rows.map(([span]) => numberOf(span))).size < 2) return undefined
  const spansOf = (at: number): Span[] =>
    rows.flatMap((row) => {
      const [count = 0, mean, least, greatest] = row.slice(4 + at * 4, 8 + at * 4).map(numberOf)
      if (mean === undefined || least === undefined || greatest === undefined) return []
      const isShown = [mean, least, greatest].every(Number.isFinite)
      const name = cellText(row[3] ?? null, boundChars)
      return isShown ? [{ span: numberOf(row[0]), series: name, rows: count, mean, least, greatest }] : []
    })
  return {
    fromMs: numberOf(first[1]) / 1000,
    toMs: numberOf(first[2]) / 1000,
    columns: fields.map((_, at) => spansOf(at)),
  }
}

/** Texts of geometries: of few rows, none too long, not too many characters together. */
const drawnRows = 3_000
const drawnChars = 400_000

/** GeoJSON texts of the newest rows with their offsets, newest first. Throws as `newestRows`. */
export async function newestGeometries(
  glance: Glance,
  column: string,
): Promise<{ readonly row: string; readonly text: string }[]> {
  const [geometry, offset] = [sqlName(column), sqlName(glance.view.vocabulary.offsetColumn)]
  const rows = await rowsOf(
    glance,
    `SELECT g, o FROM (SELECT ${geometry} AS g, ${offset} AS o,
      sum(length(${geometry})) OVER (ORDER BY ${offset} DESC ROWS UNBOUNDED PRECEDING) AS c
      FROM "tail" WHERE length(${geometry}) <= ${drawnChars / 4}) WHERE c <= ${drawnChars} ORDER BY o DESC`,
    { window: drawnRows },
  )
  return rows.flatMap(([text, row = null]) => (typeof text === 'string' ? [{ row: jsonText(row), text }] : []))
}

/** Places of the newest rows, newest first; not a number where a coordinate is null. Throws as `newestRows`. */
export async function newestCoordinates(
  glance: Glance,
  { longitude, latitude }: CoordinateColumns,
): Promise<{ readonly row: string; readonly longitude: number; readonly latitude: number }[]> {
  const columns = [longitude, latitude].map((name) => `CAST(${sqlName(name)} AS DOUBLE)`)
  const offset = sqlName(glance.view.vocabulary.offsetColumn)
  const statement = `SELECT ${offset} AS o, ${columns.join(' AS x, ')} AS y FROM "tail" ORDER BY o DESC`
  const rows = await rowsOf(glance, statement, { window: drawnRows })
  return rows.map(([row = null, x, y]) => ({ row: jsonText(row), longitude: numberOf(x), latitude: numberOf(y) }))
}

/** Rows of an own statement over the table `tail`: the newest `window` rows, or fewer where those are large. */
async function rowsOf(
  { deps, view, caller }: Glance,
  statement: string,
  { window = windowRows }: { readonly window?: number } = {},
): Promise<JsonValue[][]> {
  if (view.rows === 0) return []
  const rowsRead = tailWindow(view, { skip: 0, limit: Math.min(window, windowOf(view)) })
  const job = {
    reproducible: false,
    dataFormat: 'JsonAoa',
    wantSchema: false,
    keyOrder: 'column' as const,
    ascii: false,
    skip: 0,
    limit: Math.max(drawnRows, chartSpans),
  }
  const find = async (by: Caller): Promise<QueryAnswer> => {
    const tables = [await tailTable(deps.files, view, rowsRead)]
    const asking = askingOf(deps.catalog, { ...by, signal: AbortSignal.any([by.signal, AbortSignal.timeout(mostMs)]) })
    const { data } = await deps.objects.reading([view], () => deps.engine.runOwn(statement, { ...job, tables }, asking))
    return { body: [data], mediaType: 'application/json', truncated: false, stability: 'pinned' }
  }
  const key = answerTag(deps.engine.dialect, { glance: statement, at: view.block.hash, window })
  const { body } = await deps.answers.of(key, caller, find)
  const rows = parseJson(concatBytes(body))
  return Array.isArray(rows) ? rows.filter((row) => Array.isArray(row)) : []
}

/** How many of the newest rows figures are found over: few, in few slices, at least those of one. */
function windowOf({ rows, slices }: DatasetView): number {
  let [bytes, from] = [0, rows]
  for (let number = slices.length - 1; number >= 0 && rows - from < windowRows; number--) {
    const slice = slices.at(number)
    bytes += slice?.sizeBytes ?? 0
    if (bytes > windowBytes && from < rows) break
    from = slice?.start ?? 0
  }
  return Math.min(rows - from, windowRows)
}

/** Types whose texts are short whatever their values are. */
const shortTypes = /^(?:Bool|Date|Time|Timestamp|Duration|Decimal|U?Int\d+|Float\d+)$/

/** One character more than is shown, so that a text that was cut is known. */
export function cutText(name: string, type: DataType, cellChars: number): string {
  const { kind } = innerType(type)
  if (shortTypes.test(kind)) return name
  return `left(${kind === 'String' ? name : `CAST(${name} AS VARCHAR)`}, ${cellChars + 1})`
}

/** Undefined for null; a text that was cut ends in `…`. */
export function cellText(cell: JsonValue, cellChars: number): string | undefined {
  if (cell === null) return undefined
  if (typeof cell !== 'string') return jsonText(cell)
  const characters = Array.from(cell)
  return characters.length > cellChars ? `${characters.slice(0, cellChars).join('')}…` : cell
}

/** Not a number where the cell is none. */
function numberOf(cell: JsonValue | undefined): number {
  return cell === undefined || cell === null ? Number.NaN : Number(cellText(cell, boundChars))
}

// The rows that a dataset's page was asked for, how many there are, and the values that its columns have, found for the
// caller by queries as anybody can ask them, at one block. Each takes two seconds at most, and what is not found is said.

import { asParameter, type AskedRows, asText, orderText, parametersOf, whereText } from '../asked-rows.ts'
import { shownCellChars, type ShownColumn } from '../dataset-page.ts'
import { countText, csvForExcel } from '../format.ts'
import { cellText, cutText, type Glance, mostMs } from '../newest-rows.ts'
import type { Facet, ShownFile, ShownRows } from '../rows-part.ts'
import { jsonText, parseJson } from '../../../libraries/base/json/json.ts'
import { concatBytes } from '../../../libraries/base/bytes.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import type { JsonValue } from '../../../libraries/base/json/value.ts'
import { textParameters } from '../../../libraries/model/parameters.ts'
import type { Field } from '../../../libraries/model/schema.ts'
import type { FileFacts } from '../../../libraries/columnar/outputs/file-format.ts'
import { sqlName } from '../../../libraries/sql/types.ts'
import { openQuery } from '../../../node/answers/query.ts'
import type { DatasetView } from '../../../node/catalog/dataset-chain.ts'
import { items, longestAddressChars, member, plainText } from './query.ts'

/** Rows of a page. */
export const pageRows = 25
/** Columns with so few different values have them listed, so many columns at most, the most frequent values of each. */
const [fewValues, mostFacets, shownValues] = [100, 8, 8]
/** Values are counted in so many rows, the newest of more. */
export const countedRows = 1_000_000
/** A longer value has no link. */
export const linkedValueChars = 500

/** Rows that are asked for of a dataset, by a caller. */
export interface Asking extends Glance {
  readonly asked: AskedRows
}

/** The rows that are asked for, or why there are none to show. `fields`: their columns. */
export async function rowsAsked(asking: Asking, fields: readonly Field[]): Promise<ShownRows> {
  const { view } = asking
  const asked = withoutSkip(asking)
  const list = fields.map(({ name, type }) => cutText(sqlName(name), type, shownCellChars))
  const order = orderText(asked, view.vocabulary.offsetColumn)
  const sql = `SELECT ${list.join(', ')}${from({ ...asking, asked })}${order} LIMIT ${pageRows} OFFSET ${asked.skip}`
  try {
    const rows = await find(asking, sql, pageRows)
    const cells = rows.map((row) => row.map((cell) => cellText(cell, shownCellChars)))
    return { columns: fields.map(({ name }) => name), rows: cells }
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    return { reason: error.kind === 'QueryTimeout' ? tooSlow(view) : `The rows cannot be shown: ${error.message}` }
  }
}

/** All rows, newest first: a row is at each offset, so those before the page are left out by it. */
function withoutSkip({ view, asked }: Asking): AskedRows {
  if (asked.filters.length > 0 || asked.order !== undefined) return asked
  return { ...asked, skip: 0, until: Math.max(0, (asked.until ?? view.rows) - asked.skip) }
}

function tooSlow({ rows }: DatasetView): string {
  return `Finding these among ${countText(rows)} rows takes more than ${mostMs / 1000} seconds, and a page waits no longer. Filter by offset or time first, ask in SQL, or download them: those have more time.`
}

/** How many rows there are on all pages; undefined where they are not counted in time. */
export async function countAsked(asking: Asking): Promise<number | undefined> {
  const { view, asked } = asking
  if (asked.filters.length === 0) return Math.min(view.rows, asked.until ?? view.rows)
  const counted = await unlessFaulty(find(asking, `SELECT count(*) AS "rows"${from(asking)}`, 1))
  return counted && numberOf(counted[0]?.[0])
}

/** Values of the columns that have few, counted in the rows that pass the filters; none where that takes too long. */
export async function facetsOf(asking: Asking, columns: readonly ShownColumn[]): Promise<Facet[]> {
  const { schema, rows, vocabulary } = asking.view
  const few = new Set(columns.filter(hasFewValues).map(({ name }) => name))
  const fields = (schema?.fields ?? []).filter(({ name }) => few.has(name)).slice(0, mostFacets)
  if (fields.length === 0) return []
  const since = rows - countedRows
  const source = from(asking, since > 0 ? [`${sqlName(vocabulary.offsetColumn)} >= ${since}`] : [])
  const parts = fields.map(({ name }, at) => {
    const value = `left(CAST(${sqlName(name)} AS VARCHAR), ${linkedValueChars + 1})`
    return `(SELECT ${at} AS c, ${value} AS v, count(*) AS n, count(*) OVER () AS d${source} GROUP BY v ORDER BY n DESC, v LIMIT ${shownValues})`
  })
  const sql = `SELECT c, v, n, d FROM (${parts.join(' UNION ALL ')}) ORDER BY c, n DESC, v`
  const found = (await unlessFaulty(find(asking, sql, fields.length * shownValues))) ?? []
  return fields.flatMap((column, at): Facet[] => {
    const own = found.filter(([c]) => numberOf(c) === at)
    const values = own.map(([, value = null, count]) => {
      return { value: value === null ? undefined : plainText(value), rows: numberOf(count) }
    })
    return values.length === 0 ? [] : [{ column, values, distinct: numberOf(own[0]?.[3]) }]
  })
}

function hasFewValues({ type, isSystem, figures }: ShownColumn): boolean {
  const { nulls, distinct = 0 } = figures ?? { nulls: 0 }
  const counted = /^(?:String|Bool|Date|U?Int\d+|Decimal.*)$/.test(type) && !isSystem
  return counted && distinct <= fewValues && distinct + Math.min(nulls, 1) > 1
}

/** ` FROM …` with the conditions. */
function from({ view, asked }: Asking, more: readonly string[] = []): string {
  const until = asked.until === undefined ? [] : [`${sqlName(view.vocabulary.offsetColumn)} < ${asked.until}`]
  return ` FROM ${sqlName(view.alias)}${whereText(asked, asParameter, [...until, ...more])}`
}

/** Rows of a statement with the values of the filters. Throws as `openQuery` and its `answer`. */
async function find({ deps, caller, view, asked }: Asking, query: string, limit: number): Promise<JsonValue[][]> {
  const values = parametersOf(asked)
  const request = {
    query,
    queryDialect: 'SqlDuckDb',
    datasets: [{ id: view.id, alias: view.alias, blockHash: view.block.hash }],
    ...(values.size > 0 && { parameters: textParameters(values) }),
    skip: 0,
    limit,
    dataFormat: 'JsonAoa',
    dataFormatText: 'JsonAoa',
    schemaFormat: 'ArrowJson',
    include: [],
    includeAbsent: false,
  } as const
  const signal = AbortSignal.any([caller.signal, AbortSignal.timeout(mostMs)])
  const { body } = await (await openQuery(deps, request, { ...caller, signal })).answer()
  const rows = items(member(member(parseJson(concatBytes(body)), 'output'), 'data'))
  return rows.map((row) => [...items(row)])
}

function numberOf(value: JsonValue = null): number {
  return Number(jsonText(value))
}

/** The rows themselves say why they are not there. */
async function unlessFaulty<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (error instanceof NodeError) return undefined
    throw error
  }
}

/** The statement of the rows on all pages, as a person reads it. */
export function statementOf({ alias, vocabulary }: DatasetView, asked: AskedRows): string {
  return `select * from ${sqlName(alias)}${whereText(asked, asText)}${orderText(asked, vocabulary.offsetColumn)}`
}

/** Files in the order in which they are offered, by the names of their formats. */
const offered = [
  { name: 'CSV', format: 'Csv', query: 'format=Csv' },
  { name: 'CSV for Excel (;)', format: 'Csv', query: csvForExcel },
  { name: 'Excel', format: 'Xlsx', query: 'format=Xlsx' },
  { name: 'Parquet', format: 'Parquet', query: 'format=Parquet' },
  { name: 'GeoJSON', format: 'GeoJson', query: 'format=GeoJson' },
] as const

/**
 * The rows on all pages as files. `rows`: how many; none is offered of a format that cannot hold them, or whose address is too
 * long.
 */
export function filesAsked(
  view: DatasetView,
  asked: AskedRows,
  {
    known,
    hasPlaces,
    rows,
  }: { readonly known: readonly FileFacts[]; readonly hasPlaces: boolean; readonly rows: number },
): ShownFile[] {
  const { alias, schema, vocabulary } = view
  const isAll = asked.filters.length === 0 && asked.order === undefined
  const order =
    asked.order === undefined
      ? ` ORDER BY ${sqlName(vocabulary.offsetColumn)}`
      : orderText(asked, vocabulary.offsetColumn)
  const values = [...parametersOf(asked)].map(([name, value]) => `&param.${name}=${encodeURIComponent(value)}`).join('')
  return offered.flatMap(({ name, format, query }): ShownFile[] => {
    const facts = known.find((one) => one.name === format)
    if (facts === undefined || rows > (facts.mostRows ?? Number.POSITIVE_INFINITY)) return []
    if (format === 'GeoJson' && !hasPlaces) return []
    const { hasSystemColumns, extension } = facts
    const hidden = new Set<string>([
      vocabulary.offsetColumn,
      vocabulary.operationTypeColumn,
      vocabulary.systemTimeColumn,
    ])
    const own = (schema?.fields ?? []).filter((field) => !hidden.has(field.name)).map((field) => sqlName(field.name))
    const sql = `SELECT ${hasSystemColumns ? '*' : own.join(', ')} FROM ${sqlName(alias)}${whereText(asked, asParameter)}${order}`
    const path = isAll ? `/${alias}/export?${query}` : `/query?query=${encodeURIComponent(sql)}${values}&${query}`
    if (path.length > longestAddressChars) return []
    return [{ name, path, file: `${alias.split('/')[1] ?? ''}${isAll ? '' : '-filtered'}.${extension}` }]
  })
}

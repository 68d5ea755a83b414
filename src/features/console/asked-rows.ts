// Which rows of a dataset its page shows: filters, an order, a place, as they stand in the address; and the statements that
// find them. Names of columns are those of the schema, values are parameters. Pure.

import { NodeError } from '../../libraries/base/errors.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { type Field, innerType } from '../../libraries/model/schema.ts'
import { sqlName, sqlText, sqlTypeOf } from '../../libraries/sql/types.ts'

/** Comparisons by their name in addresses. `takes`: a value. */
export const comparisons = {
  eq: { text: '=', takes: true },
  ne: { text: '≠', takes: true },
  lt: { text: '<', takes: true },
  le: { text: '≤', takes: true },
  gt: { text: '>', takes: true },
  ge: { text: '≥', takes: true },
  has: { text: 'contains', takes: true },
  begins: { text: 'begins with', takes: true },
  null: { text: 'is null', takes: false },
  given: { text: 'is not null', takes: false },
} as const

export type Comparison = keyof typeof comparisons

export interface Filter {
  readonly column: Field
  readonly is: Comparison
  /** Empty where the comparison takes none. */
  readonly value: string
}

export interface AskedRows {
  readonly filters: readonly Filter[]
  /** The newest rows first where there is none. */
  readonly order: { readonly column: Field; readonly isDescending: boolean } | undefined
  /** Rows before those of this page. */
  readonly skip: number
  /** Only rows with lower offsets, so that pages stay as they are while rows come; undefined: all. */
  readonly until: number | undefined
}

/** The parameters of a dataset's page, as its route validated them. */
export interface RowsQuery {
  readonly column?: string | string[]
  readonly is?: string | string[]
  readonly value?: string | string[]
  readonly sort?: string
  readonly order?: string
  readonly skip?: string
  readonly until?: string
}

/** Throws NodeError `InvalidParameter`: for a column that is not there, and filters of which a part is left out. */
export function askedRows(query: RowsQuery, fields: readonly Field[]): AskedRows {
  const [columns, are, values] = [query.column, query.is, query.value].map((given) => [given ?? []].flat())
  if (columns?.length !== are?.length || columns?.length !== values?.length) {
    throw new NodeError('InvalidParameter', 'column, is and value do not stand together.', {
      hint: 'Each filter is one of each, in this order; value is empty where none is needed.',
    })
  }
  const filters = (columns ?? []).flatMap((name, at): Filter[] => {
    // The fields of a form that were left as they are.
    if (name === '') return []
    const is = (are?.[at] ?? 'eq') as Comparison // the route knows these words alone
    return [{ column: fieldOf(fields, 'column', name), is, value: comparisons[is].takes ? (values?.[at] ?? '') : '' }]
  })
  const sorted = query.sort === undefined ? undefined : fieldOf(fields, 'sort', query.sort)
  return {
    filters,
    order: sorted && { column: sorted, isDescending: query.order === 'desc' },
    skip: Number(query.skip ?? 0),
    until: query.until === undefined ? undefined : Number(query.until),
  }
}

function fieldOf(fields: readonly Field[], parameter: string, name: string): Field {
  const field = fields.find((one) => foldAscii(one.name) === foldAscii(name))
  if (field !== undefined) return field
  const message = `${parameter} is '${name.slice(0, 200)}', which is no column of the dataset.`
  throw new NodeError('InvalidParameter', message, { candidates: fields.slice(0, 100).map((one) => one.name) })
}

/** The address of a page with these rows. */
export function addressOfRows(alias: string, { filters, order, skip, until }: AskedRows): string {
  const query = new URLSearchParams()
  for (const { column, is, value } of filters) {
    query.append('column', column.name)
    query.append('is', is)
    query.append('value', value)
  }
  if (order !== undefined) {
    query.append('sort', order.column.name)
    query.append('order', order.isDescending ? 'desc' : 'asc')
  }
  if (skip > 0) query.append('skip', String(skip))
  if (until !== undefined) query.append('until', String(until))
  return `/${alias}${query.size === 0 ? '' : `?${query.toString()}`}#rows`
}

/** Other rows, from the first page on. */
export function changed(asked: AskedRows, change: Partial<Pick<AskedRows, 'filters' | 'order'>>): AskedRows {
  return { ...asked, ...change, skip: 0, until: undefined }
}

/** Types whose values have an order of their own; others are compared as text. */
export function isCompared({ type }: Field): boolean {
  return sqlTypeOf(type) !== undefined && innerType(type).kind !== 'Binary'
}

/** How a value is written: as a parameter of a statement that runs, as text in one that a person reads. */
export type Written = (value: string, at: number) => string

export const asParameter: Written = (_value, at) => `$v${at}`
export const asText: Written = (value) => sqlText(value)

/** Values of the parameters that `asParameter` writes. */
export function parametersOf({ filters }: Pick<AskedRows, 'filters'>): Map<string, string> {
  return new Map(filters.flatMap(({ is, value }, at) => (comparisons[is].takes ? [[`v${at}`, value] as const] : [])))
}

/** `WHERE …`, or nothing. `more`: conditions beside those of the filters. */
export function whereText(asked: Pick<AskedRows, 'filters'>, written: Written, more: readonly string[] = []): string {
  const conditions = [...asked.filters.map((filter, at) => condition(filter, written(filter.value, at))), ...more]
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
}

function condition({ column, is, value: given }: Filter, value: string): string {
  const name = sqlName(column.name)
  const type = isCompared(column) ? sqlTypeOf(column.type) : undefined
  const own = type === undefined ? `CAST(${name} AS VARCHAR)` : name
  const text = type === 'VARCHAR' ? name : `CAST(${name} AS VARCHAR)`
  const typed = type === undefined || type === 'VARCHAR' ? value : `CAST(${value} AS ${type})`
  switch (is) {
    case 'null':
      return `${name} IS NULL`
    case 'given':
      return `${name} IS NOT NULL`
    case 'has':
      return `contains(lower(${text}), lower(${value}))`
    case 'begins':
      return `starts_with(lower(${text}), lower(${value}))`
    case 'ne':
      return `${own} IS DISTINCT FROM ${typed}`
    default:
      // A day is all of its moments.
      return isDay(column, given) ? ofDay(is, name, value) : `${own} ${signs[is]} ${typed}`
  }
}

const signs = { eq: '=', lt: '<', le: '<=', gt: '>', ge: '>=' } as const

/** `2026-03-01` where a time is compared. */
function isDay({ type }: Field, value: string): boolean {
  return innerType(type).kind === 'Timestamp' && /^\d{4}-\d\d-\d\d$/.test(value)
}

function ofDay(is: keyof typeof signs, name: string, value: string): string {
  const [begin, end] = [`CAST(${value} AS TIMESTAMPTZ)`, `(CAST(${value} AS TIMESTAMPTZ) + INTERVAL 1 DAY)`]
  if (is === 'eq') return `(${name} >= ${begin} AND ${name} < ${end})`
  return is === 'lt' || is === 'ge' ? `${name} ${signs[is]} ${begin}` : `${name} ${is === 'le' ? '<' : '>='} ${end}`
}

/** `ORDER BY …`; rows of one value in the order in which they came. */
export function orderText({ order }: AskedRows, offsetColumn: string): string {
  const offset = sqlName(offsetColumn)
  if (order === undefined) return ` ORDER BY ${offset} DESC`
  const name = sqlName(order.column.name)
  const own = isCompared(order.column) ? name : `CAST(${name} AS VARCHAR)`
  return ` ORDER BY ${own} ${order.isDescending ? 'DESC' : 'ASC'} NULLS LAST, ${offset}`
}

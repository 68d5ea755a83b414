// What a statement asks of the rows of a dataset, as intervals of the columns by which files and row groups are chosen: the
// offset and the event time. Only of statements whose comparisons cannot fail on a row that is left out. Pure; view-files.ts
// chooses by it.

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { Given, Narrowing } from '../engine/messages.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import type { Parameter } from '../../libraries/model/parameters.ts'
import { type DataType, innerType } from '../../libraries/model/schema.ts'

/** What a statement asks of the rows of one dataset. */
export interface WantedRows {
  readonly narrowing: Narrowing
  readonly parameters: readonly Parameter[]
  /** Rows of its answer that are left out at the start, and those that are taken; all where there is no limit. */
  readonly skip: number
  readonly limit: number | undefined
}

/** What rows must be like, closed at both ends, and how many are needed. */
export interface Terms {
  readonly offsets: Interval
  readonly times: Interval
  readonly rows: number
}

export type Interval = readonly [least: number, most: number]

const everything: Interval = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]

/** Undefined where a comparison might fail, or nothing is known. */
export function termsOf(
  { schema, vocabulary }: DatasetView,
  { narrowing, parameters, skip, limit }: WantedRows,
): Terms | undefined {
  const valueOf = (given: Given): Given | undefined => (given.kind === 'parameter' ? givenBy(parameters, given) : given)
  const types = new Map(schema?.fields.map(({ name, type }) => [foldAscii(name), innerType(type)]))
  const isSafe = narrowing.compared.every(({ column, value }) => cannotFail(types.get(column), valueOf(value)))
  if (!isSafe) return undefined
  const intervals = { offsets: everything, times: everything }
  for (const { column, is, value } of narrowing.conditions) {
    const given = valueOf(value)
    const name = columnKind(vocabulary, column)
    const bounds = name === undefined || given === undefined ? undefined : valueBounds(name, given)
    if (name === undefined || bounds === undefined) continue
    intervals[name] = narrower(intervals[name], is, bounds)
  }
  const rows =
    countOf(narrowing.first?.skip, valueOf, 0) +
    Math.min(
      countOf(narrowing.first?.limit, valueOf, Number.POSITIVE_INFINITY),
      // One more tells whether rows were left out.
      limit === undefined ? Number.POSITIVE_INFINITY : skip + limit + 1,
    )
  return { ...intervals, rows }
}

export function columnKind(
  vocabulary: DatasetView['vocabulary'],
  column: string | undefined,
): 'offsets' | 'times' | undefined {
  if (column === undefined || column === foldAscii(vocabulary.offsetColumn)) return 'offsets'
  return column === foldAscii(vocabulary.eventTimeColumn) ? 'times' : undefined
}

function givenBy(parameters: readonly Parameter[], { text }: Given): Given | undefined {
  const parameter = parameters.find(({ name }) => foldAscii(name) === text)
  if (parameter === undefined || parameter.type === 'NULL') return undefined
  const kind = parameterKinds[parameter.type]
  return { kind, text: parameter.text }
}

const parameterKinds = {
  BIGINT: 'number',
  HUGEINT: 'number',
  DOUBLE: 'number',
  VARCHAR: 'text',
  BOOLEAN: 'boolean',
} as const

/** NaN for what is no number of rows, which then are all needed. */
function countOf(given: Given | undefined, valueOf: (given: Given) => Given | undefined, absent: number): number {
  if (given === undefined) return absent
  const value = valueOf(given)
  return value?.kind === 'number' && /^\d+$/.test(value.text) ? Number(value.text) : Number.NaN
}

const numberKinds = /^(?:U?Int(?:8|16|32|64)|Float(?:16|32|64))$/

/** True where no value of the column can fail to be held against the constant. */
function cannotFail(type: DataType | undefined, value: Given | undefined): boolean {
  if (type === undefined || value === undefined) return false
  const isTime = type.kind === 'Timestamp' && type.unit !== 'Nanosecond' && type.unit !== 'Second'
  switch (value.kind) {
    case 'number':
      return numberKinds.test(type.kind)
    case 'boolean':
      return type.kind === 'Bool'
    case 'text':
      if (type.kind === 'String') return true
      return timeBounds(value.text) !== undefined && (isTime || (type.kind === 'Date' && isDay(value.text)))
    case 'day':
      return isDay(value.text) && (isTime || type.kind === 'Date')
    case 'time':
      return isTime && timeBounds(value.text) !== undefined
    case 'parameter':
      return false
  }
}

/** The least and the greatest number that a constant may stand for, in the unit of the column. */
function valueBounds(name: 'offsets' | 'times', { kind, text }: Given): Interval | undefined {
  if (name === 'times') return kind === 'number' ? undefined : timeBounds(text)
  return kind === 'number' && /^-?\d+$/.test(text) ? [Number(text), Number(text)] : undefined
}

function narrower([least, most]: Interval, is: string, [low, high]: Interval): Interval {
  return [is.startsWith('<') ? least : Math.max(least, low), is.startsWith('>') ? most : Math.min(most, high)]
}

function isDay(text: string): boolean {
  return text.length === 10 && timeBounds(text) !== undefined
}

const timePattern = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(?:Z|\+00(?::00)?)?)?$/

/** Milliseconds since 1970 of a time in UTC, whole ones around it where it is finer; undefined for other texts. */
function timeBounds(text: string): Interval | undefined {
  const [, day, time = '00:00:00', fraction = ''] = timePattern.exec(text) ?? []
  const ms = Date.parse(`${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`)
  if (!(ms >= Date.parse('0001-01-01T00:00:00Z')) || new Date(ms).toISOString().slice(0, 19) !== `${day}T${time}`)
    return undefined
  return [ms, fraction.length > 3 ? ms + 1 : ms]
}

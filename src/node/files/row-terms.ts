// What a statement asks of the rows of a dataset, as intervals of the columns by which files and row groups are chosen: the
// offset and the event time. Only of statements whose comparisons cannot fail on a row that is left out. Pure; choose-files.ts
// chooses by it.

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { Given, Narrowing } from '../../libraries/sql/statement.ts'
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
  /** Only these last rows are looked at, for as many as are enough. */
  readonly newest?: number
}

/** What rows must be like, closed at both ends, and how many are needed. */
export interface Terms {
  readonly offsets: Interval
  readonly times: Interval
  readonly rows: number
  /** What is asked are these offsets and times, and nothing else. */
  readonly areBounds: boolean
  /** No row outside `offsets` is needed, and each within is there. */
  readonly isWindow: boolean
}

export type Interval = readonly [least: number, most: number]

export const everything: Interval = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]

/** Undefined where a comparison might fail, or nothing is known. */
export function termsOf(
  { schema, vocabulary, rows: all }: DatasetView,
  { narrowing, parameters, skip, limit, newest }: WantedRows,
): Terms | undefined {
  const valueOf = (given: Given): Given | undefined => givenIn(parameters, given)
  const types = new Map(schema?.fields.map(({ name, type }) => [foldAscii(name), innerType(type)]))
  const isSafe = narrowing.compared.every(({ column, value }) => cannotFail(types.get(column), valueOf(value)))
  if (!isSafe) return undefined
  const intervals = {
    offsets: newest === undefined ? everything : narrower(everything, '>', [all - newest, 0]),
    times: everything,
  }
  const { first, conditions, areAll } = narrowing
  let areBounds = areAll
  for (const { column, is, value } of conditions) {
    const given = valueOf(value)
    const name = columnKind(vocabulary, column)
    const bounds = name === undefined || given === undefined ? undefined : valueBounds(name, given)
    if (name === undefined || bounds === undefined) areBounds = false
    else intervals[name] = narrower(intervals[name], is, bounds)
  }
  const rows = countOf(first?.skip, valueOf, 0) + rowsOfAnswer({ narrowing, parameters, skip, limit })
  const isOfOffsets = ({ column }: { column: string | undefined }) => columnKind(vocabulary, column) === 'offsets'
  const isRange = first !== undefined && [first, ...conditions].every(isOfOffsets)
  const isWindow = areBounds && isRange && newest === undefined && rows < all
  // mutant: a window of offsets ends before the last row that is needed
  if (isWindow) intervals.offsets = windowOf(intervals.offsets, { rows, all, descending: first?.descending })
  return { ...intervals, rows, areBounds, isWindow }
}

/** The first rows between two offsets, from either end. One more: an end is closed here that `<` and `>` leave open. */
function windowOf(
  [from, to]: Interval,
  { rows, all, descending = false }: { rows: number; all: number; descending: boolean | undefined },
): Interval {
  const [least, most] = [Math.min(Math.max(from, 0), all), Math.max(Math.min(to, all - 1), -1)]
  return descending ? [Math.max(least, most - rows), most] : [least, Math.min(most, least + rows)]
}

/** Rows of the answer that tell all of it, as its LIMIT and the caller's say; Infinity where all do. */
function rowsOfAnswer({ narrowing, parameters, skip, limit }: WantedRows): number {
  return Math.min(
    countOf(narrowing.first?.limit, (given) => givenIn(parameters, given), Number.POSITIVE_INFINITY),
    // One more tells whether rows were left out.
    limit === undefined ? Number.POSITIVE_INFINITY : skip + limit + 1,
  )
}

/**
 * So many rows of an answer, behind those that are skipped, are all of it, where rows that meet conditions are wanted from the
 * newest on; undefined for other statements, or where every row may be one.
 */
export function enoughNewest(view: DatasetView, wanted: WantedRows): number | undefined {
  const { first, conditions, areAll } = wanted.narrowing
  const isOfAll = conditions.length === 0 && areAll
  if (first?.descending !== true || isOfAll || columnKind(view.vocabulary, first.column) !== 'offsets') return undefined
  if (termsOf(view, wanted)?.isWindow === true) return undefined
  const enough = rowsOfAnswer(wanted) - wanted.skip
  return enough > 0 && enough < Number.POSITIVE_INFINITY ? enough : undefined
}

export function columnKind(
  vocabulary: DatasetView['vocabulary'],
  column: string | undefined,
): 'offsets' | 'times' | undefined {
  if (column === undefined || column === foldAscii(vocabulary.offsetColumn)) return 'offsets'
  return column === foldAscii(vocabulary.eventTimeColumn) ? 'times' : undefined
}

function givenIn(parameters: readonly Parameter[], given: Given): Given | undefined {
  const { kind: form, text } = given
  if (form !== 'parameter') return given
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

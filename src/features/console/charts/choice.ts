// Which charts an answer has: what can be drawn of its columns, what is drawn unasked, what a reader chose instead. A line needs
// an order that the answer has: times, or numbers that only rise or only fall. Names become bars, pairs of numbers dots. Pure.

import { coordinateColumns } from '../../../libraries/geo/coordinate-columns.ts'
import { defaultVocabulary } from '../../../libraries/model/schema.ts'
import { type AnswerColumn, isName, isTime, numberOf, type Rows } from './cells.ts'

export const chartKinds = ['line', 'bars', 'dots'] as const
export type ChartKind = (typeof chartKinds)[number]

/** What is drawn: places in the list of columns. */
export interface Choice {
  readonly kind: ChartKind
  readonly x: number
  readonly ys: readonly number[]
}

export const mostCharts = 4

/** What a dataset has beside what was sent. */
const { offsetColumn, operationTypeColumn, systemTimeColumn } = defaultVocabulary
const ownColumns = new Set([offsetColumn, operationTypeColumn, systemTimeColumn])

/** Places of columns by what they are, without those of the node and without coordinates, which are on the map. */
interface Sorted {
  readonly times: readonly number[]
  readonly numbers: readonly number[]
  readonly names: readonly number[]
}

function sorted(columns: readonly AnswerColumn[]): Sorted {
  const { longitude, latitude } = coordinateColumns(columns) ?? {}
  const placesOf = (isOne: (column: AnswerColumn) => boolean): number[] =>
    columns.flatMap((column, at) => {
      const { name } = column
      return isOne(column) && !ownColumns.has(name) && name !== longitude && name !== latitude ? [at] : []
    })
  return { times: placesOf(isTime), numbers: placesOf(({ isNumber }) => isNumber), names: placesOf(isName) }
}

/** What is drawn where nobody chose; undefined where nothing makes a picture. */
export function automaticChoice(columns: readonly AnswerColumn[], rows: Rows): Choice | undefined {
  const { times, numbers, names } = sorted(columns)
  const choice = (kind: ChartKind, x: number | undefined, of = numbers): Choice | undefined => {
    const ys = of.filter((at) => at !== x).slice(0, mostCharts)
    return x === undefined || ys.length === 0 ? undefined : { kind, x, ys }
  }
  const can = (kind: ChartKind, among: readonly number[]): number | undefined =>
    among.find((x) => canBe(kind, x, { columns, rows }))
  return (
    choice('line', can('line', times)) ??
    (names.length === 1 ? choice('bars', can('bars', names)) : undefined) ??
    choice('line', can('line', numbers)) ??
    (numbers.length === 2 && can('dots', numbers) === numbers[0] ? choice('dots', numbers[0]) : undefined)
  )
}

export interface Axes {
  readonly x: number
  /** The numbers that can stand over it. */
  readonly ys: readonly number[]
}

/** The columns that a chart of this kind can be drawn over; none where the answer has no such chart. */
export function axesOf(kind: ChartKind, columns: readonly AnswerColumn[], rows: Rows): readonly Axes[] {
  const { times, numbers, names } = sorted(columns)
  const among = kind === 'bars' ? [...names, ...times, ...numbers] : [...times, ...numbers]
  return among
    .map((x) => ({ x, ys: numbers.filter((y) => y !== x) }))
    .filter(({ x, ys }) => ys.length > 0 && canBe(kind, x, { columns, rows }))
}

function canBe(
  kind: ChartKind,
  x: number,
  { columns, rows }: { readonly columns: readonly AnswerColumn[]; readonly rows: Rows },
): boolean {
  const column = columns[x]
  if (column === undefined || rows.length < 2) return false
  if (kind === 'bars') return new Set(rows.map((row) => row[x])).size === rows.length
  const places = rows.map((row) => numberOf(row[x], column))
  if (kind === 'line' && !isTime(column)) return isOrdered(places)
  return new Set(places.filter((place) => Number.isFinite(place))).size > 1
}

/** True where each number is more than the one before it, or each is less. */
function isOrdered(numbers: readonly number[]): boolean {
  const steps = numbers.slice(1).map((number, at) => number - (numbers[at] ?? Number.NaN))
  return steps.every((step) => step > 0) || steps.every((step) => step < 0)
}

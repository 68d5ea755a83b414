// The rows of an answer as what stands in a chart: lines over times or ordered numbers, one for each series; dots; bars. Rows of
// one place become their mean, with the least and the greatest, and say so. Pure.

import { type AnswerColumn, edgeText, isName, isTime, numberOf, type Rows, timeText, valueText } from './cells.ts'
import type { Choice } from './choice.ts'

export interface Point {
  /** From 0, the left edge, to 1. */
  readonly at: number
  readonly mean: number
  readonly least: number
  readonly greatest: number
  /** Where it stands, and what it is, as it is read. */
  readonly xText: string
  readonly yText: string
}

export interface Series {
  /** Undefined for the only one. */
  readonly name: string | undefined
  readonly points: readonly Point[]
}

/** Numbers over a place: what one picture shows. */
export interface Plot {
  readonly kind: 'line' | 'dots'
  /** Names of the columns. */
  readonly x: string
  readonly y: string
  /** What stands at the edges. */
  readonly from: string
  readonly to: string
  readonly series: readonly Series[]
}

export interface Bar {
  /** Undefined for null. */
  readonly label: string | undefined
  readonly value: number
  readonly text: string
  /** The cell as it is. */
  readonly exact: string
}

export interface Bars {
  readonly kind: 'bars'
  readonly x: string
  readonly y: string
  readonly bars: readonly Bar[]
  /** Rows that are not drawn. */
  readonly left: number
}

export type Chart = Plot | Bars

export const mostBars = 30
export const mostSeries = 6
/** Of more places a line shows the means of spans. */
const mostPoints = 300
const spans = 200
/** A longer text is cut where it is only pointed at. */
const mostTextChars = 60

/** A picture for each column that was chosen; none of a column without values. */
export function chartsOf(columns: readonly AnswerColumn[], rows: Rows, { kind, x, ys }: Choice): Chart[] {
  const over = columns[x]
  if (over === undefined) return []
  const split = kind === 'line' ? seriesColumn(columns, rows, x) : undefined
  return ys.flatMap((y): Chart[] => {
    const of = columns[y]
    if (of === undefined) return []
    if (kind === 'bars') return barsOf(rows, { x, y, over, of })
    return plotOf(rows, { kind, x, y, over, of, split })
  })
}

interface Axes {
  readonly x: number
  readonly y: number
  readonly over: AnswerColumn
  readonly of: AnswerColumn
}

function barsOf(rows: Rows, { x, y, over, of }: Axes): Bars[] {
  const bars = rows.slice(0, mostBars).map((row) => {
    const [cell, value] = [row[y] ?? 'null', numberOf(row[y], of)]
    return { label: row[x], value, text: Number.isFinite(value) ? valueText(value) : cell, exact: cell }
  })
  if (!bars.some(({ value }) => Number.isFinite(value))) return []
  return [{ kind: 'bars', x: over.name, y: of.name, bars, left: rows.length - bars.length }]
}

interface Placed {
  /** Of its series. */
  readonly name: string | undefined
  readonly place: number
  readonly value: number
  readonly xText: string
  readonly yText: string
}

function plotOf(
  rows: Rows,
  { kind, x, y, over, of, split }: Axes & { readonly kind: Plot['kind']; readonly split: number | undefined },
): Plot[] {
  const placed = rows.flatMap((row): Placed[] => {
    const [place, value] = [numberOf(row[x], over), numberOf(row[y], of)]
    if (!Number.isFinite(place) || !Number.isFinite(value)) return []
    const name = split === undefined ? undefined : row[split]
    return [{ name, place, value, xText: shortText(row[x], over), yText: shortText(row[y], of) }]
  })
  const [from, to] = extent(placed.map(({ place }) => place))
  if (!(from < to)) return []
  const partOf = (place: number): number => (place - from) / (to - from)
  const series = [...Map.groupBy(placed, ({ name }) => name)].map(([name, own]) => ({
    name,
    points: kind === 'dots' ? own.map((one) => pointOf([one], partOf)) : joined(own, partOf),
  }))
  return [{ kind, x: over.name, y: of.name, from: edgeText(from, over), to: edgeText(to, over), series }]
}

/** In order, those of one place as one; of more places than a picture shows, those of a span. */
function joined(placed: readonly Placed[], partOf: (place: number) => number): Point[] {
  const ordered = [...placed].sort((a, b) => a.place - b.place)
  const byPlace = Map.groupBy(ordered, ({ place }) => place)
  const groups =
    byPlace.size <= mostPoints ? byPlace : Map.groupBy(ordered, ({ place }) => Math.floor(partOf(place) * spans))
  return [...groups.values()].map((group) => pointOf(group, partOf))
}

function pointOf(group: readonly Placed[], partOf: (place: number) => number): Point {
  const values = group.map(({ value }) => value)
  const mean = values.reduce((sum, value) => sum + value / values.length, 0)
  const [least, greatest] = extent(values)
  const { place = 0, xText = '', yText = '' } = group[0] ?? {}
  return {
    at: partOf(place),
    mean,
    least,
    greatest,
    xText: group.some((one) => one.place !== place) ? `from ${xText}` : xText,
    yText: group.length === 1 ? yText : meanText({ mean, least, greatest }),
  }
}

export function extent(values: readonly number[]): [least: number, greatest: number] {
  return [Math.min(...values), Math.max(...values)]
}

export function meanText({ mean, least, greatest }: Pick<Point, 'mean' | 'least' | 'greatest'>): string {
  if (least === greatest) return valueText(mean)
  return `mean ${valueText(mean)}, ${valueText(least)} to ${valueText(greatest)}`
}

/** The cell itself, or the minute of a time that is on it. */
function shortText(cell = '', column: AnswerColumn): string {
  if (isTime(column) && /:00(?:\.0+)?Z?$/.test(cell)) return timeText(numberOf(cell, column))
  return cell.length > mostTextChars ? `${cell.slice(0, mostTextChars)}…` : cell
}

/**
 * The column of names that tells rows of one time apart, or, where no time repeats, the only one whose names take turns: a
 * line that joined them would go where nothing was measured. Undefined where there is none, or more names than are drawn.
 */
function seriesColumn(columns: readonly AnswerColumn[], rows: Rows, x: number): number | undefined {
  const over = columns[x]
  if (over === undefined) return undefined
  const placed = rows
    .map((row) => ({ row, place: numberOf(row[x], over) }))
    .filter(({ place }) => Number.isFinite(place))
    .sort((a, b) => a.place - b.place)
  const names = columns.flatMap((column, at) => (at !== x && isName(column) ? [at] : []))
  const few = names.filter((at) => {
    const values = new Set(placed.map(({ row }) => row[at]))
    return values.size > 1 && values.size <= mostSeries && !values.has(undefined)
  })
  const repeatsWith = (at?: number): number =>
    placed.length - new Set(placed.map(({ row, place }) => `${place} ${at === undefined ? '' : row[at]}`)).size
  const repeats = repeatsWith()
  // A record that came twice is no reason to join all lines.
  if (repeats > 0) return few.find((at) => repeatsWith(at) * 10 <= repeats)
  const turns = (at: number): number =>
    placed.filter(({ row }, i) => i > 0 && row[at] !== placed[i - 1]?.row[at]).length
  return names.length === 1 ? few.find((at) => placed.length >= 6 && turns(at) * 2 >= placed.length) : undefined
}

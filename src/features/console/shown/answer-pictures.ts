// Rows as pictures: geometries as a map, the first time or number over which others stand as charts. Each is drawn from what
// the page shows anyway; rows that make no picture have none.

import { type ChartPoint, type ShownChart, type ShownMap, timeText, valueText } from '../pictures.ts'
import { draw, pictureWidth } from '../../../libraries/geo/drawing.ts'
import { type Geometry, geometryOf } from '../../../libraries/geo/geometry.ts'
import { nextTurn } from '../../../libraries/base/clock.ts'
import { JsonNumber, type JsonValue } from '../../../libraries/base/json/value.ts'
import { defaultVocabulary } from '../../../libraries/model/schema.ts'
import { land } from '../files.ts'

/** Geometries of so many characters are read in a few milliseconds. */
const charsAtOnce = 50_000
export const mostCharts = 4
/** A picture of 600 pixels shows no more. */
const chartSpans = 200

/** Features as a picture; undefined where there are none. Throws NodeError `SqlValue` for a text that is no geometry. */
export async function pictureOf(
  features: readonly { readonly row: number | string; readonly text: string }[],
): Promise<ShownMap | undefined> {
  const geometries: Geometry[] = []
  let chars = 0
  for (const { text } of features) {
    geometries.push(geometryOf(text))
    chars += text.length
    if (chars > charsAtOnce) {
      chars = 0
      await nextTurn()
    }
  }
  const drawing = draw(geometries, land)
  return drawing && { ...drawing, width: pictureWidth, rows: features.map(({ row }) => row) }
}

interface AnswerColumn {
  readonly name: string
  /** `Timestamp(ms)`, `Float64`. */
  readonly type: string
  readonly isNumber: boolean
}

type Rows = readonly (readonly JsonValue[])[]

/** What a dataset has beside what was sent. */
const { offsetColumn, operationTypeColumn, systemTimeColumn } = defaultVocabulary
const ownColumns = new Set([offsetColumn, operationTypeColumn, systemTimeColumn])

/** Numbers over the first column of times, or else over the first one of numbers; undefined without either. */
export function chartOfRows(columns: readonly AnswerColumn[], rows: Rows): ShownChart | undefined {
  const shown = columns.flatMap(({ name, type, isNumber }, at) =>
    ownColumns.has(name) ? [] : [{ name, isNumber, isTime: /^(?:Timestamp|Date)/.test(type), at }],
  )
  const over = shown.find(({ isTime }) => isTime) ?? shown.find(({ isNumber }) => isNumber)
  const numbers = shown.filter((column) => column.isNumber && column !== over).slice(0, mostCharts)
  if (over === undefined || numbers.length === 0) return undefined
  const places = rows.map((row) => numberOf(row[over.at], over.isTime))
  const finite = places.filter((place) => Number.isFinite(place))
  const [from, to] = [Math.min(...finite), Math.max(...finite)]
  if (!(from < to)) return undefined
  const spanOf = (row: number): number => Math.floor((((places[row] ?? Number.NaN) - from) / (to - from)) * chartSpans)
  const text = over.isTime ? timeText : valueText
  return {
    from: text(from),
    to: text(to),
    columns: numbers.map(({ name, at }) => ({ name, points: pointsOf(rows, at, spanOf) })),
  }
}

function pointsOf(rows: Rows, column: number, spanOf: (row: number) => number): ChartPoint[] {
  const spans = new Map<number, number[]>()
  for (const [row, cells] of rows.entries()) {
    const [span, value] = [spanOf(row), numberOf(cells[column], false)]
    if (!Number.isFinite(value) || !Number.isFinite(span)) continue
    spans.set(span, [...(spans.get(span) ?? []), value])
  }
  return [...spans]
    .sort(([a], [b]) => a - b)
    .map(([span, values]) => ({
      at: span / chartSpans,
      mean: values.reduce((sum, value) => sum + value / values.length, 0),
      least: Math.min(...values),
      greatest: Math.max(...values),
    }))
}

/** Of a time milliseconds since 1970; not a number where the cell is neither. */
function numberOf(cell: JsonValue | undefined, isTime: boolean): number {
  if (isTime && typeof cell === 'string') return Date.parse(/T.*(?:Z|[+-]\d\d:\d\d)$/.test(cell) ? cell : utc(cell))
  if (cell instanceof JsonNumber) return Number(cell.token)
  // Decimals are texts.
  return typeof cell === 'string' && /^-?\d+(?:\.\d+)?$/.test(cell) ? Number(cell) : Number.NaN
}

/** Times without a zone are drawn as if in UTC: all of a column are moved alike. */
function utc(text: string): string {
  return text.includes('T') ? `${text}Z` : text
}

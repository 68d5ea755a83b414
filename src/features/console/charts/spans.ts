// The charts of a dataset's page: which columns are drawn, and spans of event time, as the engine gave them, as lines: one for each
// series where several stand in most spans, or else one of all rows. Pure.

import { coordinateColumns } from '../../../libraries/geo/coordinate-columns.ts'
import { timeText } from './cells.ts'
import { mostCharts } from './choice.ts'
import { meanText, mostSeries, type Plot, type Point } from './points.ts'

/** What is known of a column that may be drawn. */
export interface KnownColumn {
  readonly name: string
  readonly type: string
  readonly isNumber: boolean
  /** Filled by the node. */
  readonly isSystem: boolean
  /** Undefined where figures took too long. */
  readonly figures:
    | {
        readonly nulls: number
        readonly distinct: number | undefined
        readonly least: string | undefined
        readonly greatest: string | undefined
      }
    | undefined
}

/** In fewer rows a column that counts up may be a measurement. */
const fewestIds = 10

/** Names of numbers that say something over time: those that vary and are neither ids nor coordinates. */
export function drawnColumns(columns: readonly KnownColumn[], rows: number | undefined): string[] {
  const { longitude, latitude } = coordinateColumns(columns) ?? {}
  return columns
    .filter(({ name, isNumber, isSystem }) => isNumber && !isSystem && name !== longitude && name !== latitude)
    .filter((column) => rows === undefined || (varies(column) && !isId(column, rows)))
    .map(({ name }) => name)
    .slice(0, mostCharts)
}

function varies({ figures }: KnownColumn): boolean {
  return figures === undefined || figures.least !== figures.greatest
}

/** True where each row has another whole number, and none between them is left out. About so: `distinct` is an estimate. */
function isId({ figures }: KnownColumn, rows: number): boolean {
  const { nulls, distinct = 0, least, greatest } = figures ?? {}
  if (nulls !== 0 || rows < fewestIds || distinct * 10 < rows * 7) return false
  return Number.isInteger(Number(least)) && Number(greatest) - Number(least) + 1 === rows
}

/** The one column of texts that may name series; undefined without one, or with several. */
export function namingColumn(columns: readonly KnownColumn[]): string | undefined {
  const found = columns.filter(({ type, isSystem, figures }) => {
    const { nulls, distinct = 0 } = figures ?? {}
    return type === 'String' && !isSystem && nulls === 0 && distinct > 1 && distinct <= mostSeries
  })
  return found.length === 1 ? found[0]?.name : undefined
}

/** What one series has of a column within a span of event time. */
export interface Span {
  /** 0 up to below the number of spans. */
  readonly span: number
  readonly series: string | undefined
  readonly rows: number
  readonly mean: number
  readonly least: number
  readonly greatest: number
}

export interface Spans {
  readonly x: string
  readonly y: string
  /** First and last time in milliseconds since 1970. */
  readonly fromMs: number
  readonly toMs: number
  /** How many there may be. */
  readonly count: number
  readonly spans: readonly Span[]
}

export function plotOfSpans(of: Spans): Plot {
  const { x, y, fromMs, toMs, spans } = of
  const byName = Map.groupBy(spans, ({ series }) => series)
  const bySpan = Map.groupBy(spans, ({ span }) => span)
  const shared = [...bySpan.values()].filter(({ length }) => length > 1).length
  const isSplit = byName.size > 1 && byName.size <= mostSeries && shared * 2 >= bySpan.size
  const whole = [...bySpan.values()].map(together)
  const series = isSplit
    ? [...byName].map(([name, own]) => ({ name, points: own.map((span) => pointOf(span, of)) }))
    : [{ name: undefined, points: whole.map((span) => pointOf(span, of)) }]
  return { kind: 'line', x, y, from: timeText(fromMs), to: timeText(toMs), series }
}

/** All series of a span as one. */
function together(spans: readonly Span[]): Span {
  const rows = spans.reduce((sum, span) => sum + span.rows, 0)
  return {
    span: spans[0]?.span ?? 0,
    series: undefined,
    rows,
    mean: spans.reduce((sum, { mean, rows: own }) => sum + (mean * own) / rows, 0),
    least: Math.min(...spans.map(({ least }) => least)),
    greatest: Math.max(...spans.map(({ greatest }) => greatest)),
  }
}

const shortMs = 2 * 3_600_000

function pointOf(
  { span, mean, least, greatest }: Span,
  { fromMs, toMs, count }: Pick<Spans, 'fromMs' | 'toMs' | 'count'>,
): Point {
  const begins = fromMs + ((toMs - fromMs) * span) / count
  const seconds = toMs - fromMs < shortMs ? `:${String(new Date(begins).getUTCSeconds()).padStart(2, '0')}` : ''
  const xText = `from ${timeText(begins)}${seconds}`
  return { at: span / (count - 1), mean, least, greatest, xText, yText: meanText({ mean, least, greatest }) }
}

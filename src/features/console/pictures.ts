// Pictures that the server draws: numbers over time or another number as charts, for each column its mean in a line, least
// and greatest in a band behind it; features as a map over the outlines of land; rows per hour as bars. The words beside each
// say what it shows. With the island `map` a map is moved, looked at closer, and its features lead to their rows.

import type { Shape } from '../../libraries/geo/drawing.ts'
import { countText } from './format.ts'
import { type Html, html } from '../../libraries/base/html.ts'

export interface ChartPoint {
  /** From 0, the left edge, to 1. */
  readonly at: number
  readonly mean: number
  readonly least: number
  readonly greatest: number
}

export interface ShownChart {
  /** What stands at the edges. */
  readonly from: string
  readonly to: string
  readonly columns: readonly { readonly name: string; readonly points: readonly ChartPoint[] }[]
}

const chartPx = { width: 600, height: 110 }

export function charts({ columns, from, to }: ShownChart): Html {
  const shown = columns.filter(({ points }) => points.length > 1)
  return html`<div class="charts">
${shown.map(({ name, points }) => figure(name, points, { from, to }))}
</div>`
}

function figure(name: string, points: readonly ChartPoint[], { from, to }: Pick<ShownChart, 'from' | 'to'>): Html {
  const least = Math.min(...points.map((point) => point.least))
  const greatest = Math.max(...points.map((point) => point.greatest))
  const x = (part: number): string => (part * chartPx.width).toFixed(1)
  const y = (value: number): string => {
    const part = greatest === least ? 0.5 : (value - least) / (greatest - least)
    return (chartPx.height - 4 - part * (chartPx.height - 8)).toFixed(1)
  }
  const line = points.map(({ at, mean }, i) => `${i === 0 ? 'M' : 'L'}${x(at)} ${y(mean)}`).join('')
  const over = points.map((point) => `${x(point.at)} ${y(point.greatest)}`)
  const under = points.map((point) => `${x(point.at)} ${y(point.least)}`).reverse()
  const words = `${name} from ${from} to ${to}: least ${valueText(least)}, greatest ${valueText(greatest)}`
  return html`<figure>
<figcaption>${name}</figcaption>
<div class="plot"><span class="scale"><span>${valueText(greatest)}</span><span>${valueText(least)}</span></span>
<svg viewBox="0 0 ${chartPx.width} ${chartPx.height}" preserveAspectRatio="none" role="img" aria-label="${words}">
<path class="band" d="M${[...over, ...under].join('L')}Z"/><path class="line" d="${line}"/></svg></div>
<div class="axis"><time>${from}</time><time>${to}</time></div>
</figure>`
}

/** Four digits: for reading off, the rows have the rest. */
export function valueText(value: number): string {
  const size = Math.abs(value)
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) return value.toExponential(2)
  return value.toLocaleString('en-US', { maximumSignificantDigits: 5 })
}

/** `2026-03-01 10:00`, UTC; empty where it is no time of the calendar. */
export function timeText(ms: number): string {
  const time = new Date(ms)
  return Number.isNaN(time.getTime()) ? '' : time.toISOString().slice(0, 16).replace('T', ' ')
}

export interface ShownMap {
  readonly width: number
  readonly height: number
  /** West, south, east, north, in degrees. */
  readonly bounds: readonly [number, number, number, number]
  /** Data of an SVG path. */
  readonly land: string
  readonly areas: readonly Shape[]
  readonly lines: readonly Shape[]
  readonly points: readonly Shape[]
  /** Of each feature the row that it is of. */
  readonly rows: readonly (number | string)[]
}

/** `rowsAt`: what an address of a row begins with, where rows have one. */
export function map(shown: ShownMap, rowsAt?: string): Html {
  const { width, height, land, areas, lines, points, rows } = shown
  const [west, south, east, north] = shown.bounds
  const where = `${degrees(west, 'W', 'E')} to ${degrees(east, 'W', 'E')}, ${degrees(south, 'S', 'N')} to ${degrees(north, 'S', 'N')}`
  const words = `${countText(rows.length)} ${rows.length === 1 ? 'feature' : 'features'}, ${where}`
  const drawn = (kind: string, shapes: readonly Shape[]): Html =>
    html`<g class="${kind}">${shapes.map(({ feature, path }) => html`<path data-row="${rows[feature]}" d="${path}"/>`)}</g>`
  // One element for thousands of dots; their rows in the order in which they stand in it.
  const dotRows = points.flatMap(({ feature, path }) => Array.from(path.matchAll(/M/g), () => rows[feature]))
  const dots = html`<path class="points" data-dots="${dotRows.join(' ')}" d="${points.map(({ path }) => path).join('')}"/>`
  return html`<figure class="map">
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${words}"${rowsAt === undefined ? undefined : html` data-rows="${rowsAt}"`}><path class="land" d="${land}"/>
${drawn('areas', areas)}${drawn('lines', lines)}${dots}</svg>
<p class="hint">${words}.</p>
</figure>`
}

function degrees(value: number, below: string, above: string): string {
  return `${Math.abs(value).toFixed(2)}° ${value < 0 ? below : above}`
}

export const pulseHours = 48

const pulsePx = { height: 28, step: 3 }

/** `perHour`: rows of each hour, oldest first, up to now. */
export function pulse(perHour: readonly number[]): Html {
  const most = Math.max(1, ...perHour)
  const bars = perHour.map((rows, hour) => {
    const height = rows === 0 ? 1 : 2 + Math.round(((pulsePx.height - 2) * rows) / most)
    const quiet = rows === 0 ? html` class="quiet"` : undefined
    return html`<rect x="${hour * pulsePx.step}" y="${pulsePx.height - height}" width="2" height="${height}"${quiet}/>`
  })
  const width = perHour.length * pulsePx.step - 1
  return html`<svg class="pulse" viewBox="0 0 ${width} ${pulsePx.height}" preserveAspectRatio="none" role="img" aria-label="${pulseText(perHour)}">${bars}</svg>`
}

/** What the bars show, in words. */
export function pulseText(perHour: readonly number[]): string {
  const sum = perHour.reduce((total, rows) => total + rows, 0)
  if (sum === 0) return `no rows in the last ${perHour.length} hours`
  return `${countText(sum)} rows in the last ${perHour.length} hours, at most ${countText(Math.max(...perHour))} in one`
}

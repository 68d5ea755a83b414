// Pictures that the server draws: charts (`charts/`) as HTML; features as a map over the outlines of land; rows per hour as bars.
// The words beside each say what it shows. With the island `map` a map is moved, looked at closer, and its features lead to
// their rows; with the island `chart` values are read off, and other charts chosen.

import { chartMarks } from './charts/draw.ts'
import type { Mark } from './charts/marks.ts'
import type { Chart } from './charts/points.ts'
import type { Shape } from '../../libraries/geo/drawing.ts'
import { countText } from './format.ts'
import { type Html, html } from '../../libraries/base/html.ts'

/** What charts are made of, as HTML. */
export function markup({ name, attributes, children }: Mark): Html {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined)
  const written = given.map(([key, value]) => html` ${key}="${value}"`)
  return html`<${name}${written}>${children.map((child) => (typeof child === 'string' ? html`${child}` : markup(child)))}</${name}>`
}

export function charts(shown: readonly Chart[]): Html | undefined {
  return shown.length === 0 ? undefined : markup(chartMarks(shown))
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
  /** Rows whose coordinates are absent, or are no place on Earth. */
  readonly left: number
}

/** `rowsAt`: what an address of a row begins with, where rows have one. */
export function map(shown: ShownMap, rowsAt?: string): Html {
  const { width, height, land, areas, lines, points, rows, left } = shown
  const [west, south, east, north] = shown.bounds
  const where = `${degrees(west, 'W', 'E')} to ${degrees(east, 'W', 'E')}, ${degrees(south, 'S', 'N')} to ${degrees(north, 'S', 'N')}`
  const words = `${countText(rows.length)} ${rows.length === 1 ? 'feature' : 'features'}, ${where}`
  const lacking = `${countText(left)} ${left === 1 ? 'row has' : 'rows have'} no place on Earth in these columns.`
  const drawn = (kind: string, shapes: readonly Shape[]): Html =>
    html`<g class="${kind}">${shapes.map(({ feature, path }) => html`<path data-row="${rows[feature]}" d="${path}"/>`)}</g>`
  // One element for thousands of dots; their rows in the order in which they stand in it.
  const dotRows = points.flatMap(({ feature, path }) => Array.from(path.matchAll(/M/g), () => rows[feature]))
  const dots = html`<path class="points" data-dots="${dotRows.join(' ')}" d="${points.map(({ path }) => path).join('')}"/>`
  return html`<figure class="map">
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${words}"${rowsAt === undefined ? undefined : html` data-rows="${rowsAt}"`}><path class="land" d="${land}"/>
${drawn('areas', areas)}${drawn('lines', lines)}${dots}</svg>
<p class="hint">${words}.${left === 0 ? undefined : ` ${lacking}`}</p>
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

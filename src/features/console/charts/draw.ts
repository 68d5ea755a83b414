// Charts as elements: lines with the band from least to greatest behind them, dots, bars; and the same in words for readers who do not
// see them. Texts stand beside the picture, which is stretched. What pointing at a point says is in `data-points`.

import { unitOf, valueText } from './cells.ts'
import { type Mark, mark } from './marks.ts'
import { type Bar, type Bars, type Chart, extent, type Plot, type Point, type Series } from './points.ts'

const chartPx = { width: 600, height: 110 }
const marginPx = 4

export function chartMarks(charts: readonly Chart[]): Mark {
  const figures = charts.map((chart) => (chart.kind === 'bars' ? barsFigure(chart) : plotFigure(chart)))
  return mark('div', { class: 'charts' }, ...figures)
}

function plotFigure(plot: Plot): Mark {
  const { kind, x, y, from, to, series } = plot
  const points = series.flatMap((one) => one.points)
  const isMean = points.some(({ least, greatest }) => least !== greatest)
  const scale = extent(points.flatMap((point) => [point.least, point.greatest]))
  const svg = mark(
    'svg',
    {
      class: kind === 'dots' ? 'tall' : undefined,
      viewBox: `0 0 ${chartPx.width} ${chartPx.height}`,
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': wordsOf(plot, scale),
      'data-x': x,
      'data-y': y,
      'data-unit': unitOf(y),
    },
    ...zeroLine(scale),
    ...series.flatMap((one, at) => seriesMarks(one, { kind, at, scale })),
  )
  const named = series.flatMap(({ name }, at) => (name === undefined ? [] : [legendItem(name, at)]))
  return mark(
    'figure',
    { class: 'chart' },
    caption(y, `over ${x}${isMean ? '; the mean, in a band from least to greatest' : ''}`),
    ...(named.length === 0 ? [] : [mark('ul', { class: 'legend' }, ...named)]),
    mark(
      'div',
      { class: 'plot' },
      mark('div', { class: 'scale' }, mark('span', {}, valueText(scale[1])), mark('span', {}, valueText(scale[0]))),
      mark('div', { class: 'area' }, svg),
      mark('div', { class: 'axis' }, mark('span', {}, from), mark('span', {}, to)),
    ),
  )
}

function caption(y: string, rest: string): Mark {
  const unit = unitOf(y)
  return mark('figcaption', {}, `${y} `, mark('small', {}, unit === undefined ? rest : `in ${unit}, ${rest}`))
}

/** What the picture shows, in words. */
function wordsOf({ kind, x, y, from, to, series }: Plot, [least, greatest]: readonly [number, number]): string {
  const range = `from ${from} to ${to}: least ${valueText(least)}, greatest ${valueText(greatest)}`
  if (kind === 'dots') return `${series[0]?.points.length ?? 0} dots, ${y} over ${x} ${range}`
  const names = series.flatMap(({ name }) => (name === undefined ? [] : [name]))
  return `${y} ${range}${names.length === 0 ? '' : `; a line each for ${names.join(', ')}`}`
}

type Scale = readonly [least: number, greatest: number]

/** The place of zero, where values stand on both sides of it. */
function zeroLine(scale: Scale): Mark[] {
  if (!(scale[0] < 0 && scale[1] > 0)) return []
  return [mark('path', { class: 'zero', d: `M0 ${yOf(0, scale)}H${chartPx.width}` })]
}

function seriesMarks(
  { name, points }: Series,
  { kind, at, scale }: { readonly kind: Plot['kind']; readonly at: number; readonly scale: Scale },
): Mark[] {
  const place = (point: Point, value: number): string => `${(point.at * chartPx.width).toFixed(1)} ${yOf(value, scale)}`
  const means = points.map((point) => place(point, point.mean))
  const over = points.map((point) => place(point, point.greatest))
  const under = points.map((point) => place(point, point.least)).reverse()
  const d = kind === 'dots' ? means.map((mean) => `M${mean}h0`).join('') : `M${means.join('L')}`
  const texts = points.map(({ xText, yText }) => [xText, yText])
  const drawn = mark('path', {
    class: `${kind} series-${at}`,
    // A point alone is a line of no length, which its round ends show.
    d: means.length === 1 && kind === 'line' ? `${d}h0` : d,
    'data-series': name,
    'data-points': JSON.stringify(texts),
  })
  const isBand = kind === 'line' && points.some(({ least, greatest }) => least !== greatest)
  return isBand
    ? [mark('path', { class: `band series-${at}`, d: `M${[...over, ...under].join('L')}Z` }), drawn]
    : [drawn]
}

function yOf(value: number, [least, greatest]: Scale): string {
  const part = greatest === least ? 0.5 : (value - least) / (greatest - least)
  return (chartPx.height - marginPx - part * (chartPx.height - 2 * marginPx)).toFixed(1)
}

function legendItem(name: string, at: number): Mark {
  const line = mark('path', { class: `line series-${at}`, d: 'M0 3H28' })
  return mark('li', {}, mark('svg', { class: 'key', viewBox: '0 0 28 6', 'aria-hidden': 'true' }, line), name)
}

function barsFigure({ x, y, bars, left }: Bars): Mark {
  const values = bars.flatMap(({ value }) => (Number.isFinite(value) ? [value] : []))
  const [least, greatest] = extent([0, ...values])
  const unit = unitOf(y)
  const words = bars.map(({ label, text }) => `${label ?? 'null'} ${text}`).join(', ')
  const scale = { least, width: greatest - least || 1 }
  const rest =
    left === 0 ? [] : [mark('p', { class: 'hint' }, `The first ${bars.length} rows; ${left} more are below.`)]
  return mark(
    'figure',
    { class: 'chart' },
    caption(y, `for each ${x}`),
    mark(
      'div',
      {
        class: 'bars',
        role: 'img',
        'aria-label': `${y} for each ${x}: ${words}${left === 0 ? '' : `; ${left} more rows`}`,
      },
      ...bars.flatMap((bar) => barMarks(bar, unit, scale)),
    ),
    ...rest,
  )
}

function barMarks(
  { label, value, text, exact }: Bar,
  unit: string | undefined,
  { least, width }: { readonly least: number; readonly width: number },
): Mark[] {
  const shown = label === undefined ? 'null' : label === '' ? '(empty)' : label
  const [from, to] = [Math.min(0, value), Math.max(0, value)].map((edge) => (100 * (edge - least)) / width)
  const rect =
    from === undefined || to === undefined || Number.isNaN(to)
      ? []
      : [mark('rect', { x: from.toFixed(2), width: (to - from).toFixed(2), height: 1 })]
  const zero = mark('path', { class: 'zero', d: `M${((100 * -least) / width).toFixed(2)} 0v1` })
  return [
    mark('span', { class: label === undefined ? 'null' : undefined, title: shown }, shown),
    mark('svg', { viewBox: '0 0 100 1', preserveAspectRatio: 'none' }, ...rect, ...(least < 0 ? [zero] : [])),
    mark('span', { class: 'number', title: exact }, unit === undefined ? text : `${text} ${unit}`),
  ]
}

// Charts in a browser: values are read off them, and of an answer another chart can be chosen. What was chosen stands in the
// address behind `#`, by names, so that it holds when the statement runs again. Charts that come later are found by themselves.

import { type Answer, answerOf } from '../browser/answer-table.ts'
import { elementOf } from '../browser/marks.ts'
import { addReading } from '../browser/reading.ts'
import { automaticChoice, axesOf, type ChartKind, chartKinds, type Choice, mostCharts } from '../charts/choice.ts'
import { chartMarks } from '../charts/draw.ts'
import { chartsOf } from '../charts/points.ts'

export function start(main: HTMLElement): void {
  const findCharts = (): void => {
    const place = main.querySelector<HTMLElement>('[data-charts]:not([data-charts=read])')
    if (place !== null) addChoice(place)
    for (const area of main.querySelectorAll<HTMLElement>('.area')) {
      const svg = area.querySelector('svg')
      if (svg !== null && area.childElementCount === 1) addReading(area, svg)
    }
  }
  new MutationObserver(findCharts).observe(main, { childList: true, subtree: true })
  findCharts()
}

const kindTexts = { automatic: 'automatic', line: 'line', bars: 'bars', dots: 'dots', map: 'map', none: 'none' }
type Kind = keyof typeof kindTexts

/** The fields of the choice, before the charts of an answer that has any. */
function addChoice(place: HTMLElement): void {
  place.dataset['charts'] = 'read'
  const table = place.parentElement?.querySelector<HTMLTableElement>('table.rows')
  if (!table) return
  const answer = answerOf(table)
  const map = place.parentElement?.querySelector<HTMLElement>('figure.map') ?? undefined
  const drawable = chartKinds.filter((kind) => axesOf(kind, answer.columns, answer.rows).length > 0)
  if (drawable.length === 0 && map === undefined) return
  const kinds: Kind[] = ['automatic', ...drawable, ...(map === undefined ? [] : (['map'] as const)), 'none']
  const fields = { kind: fieldOf('Chart', 'chart'), x: fieldOf('x', 'x'), y: fieldOf('y', 'y') }
  const box = document.createElement('p')
  box.className = 'choose'
  box.append(...Object.values(fields).map(({ label }) => label))
  fill(fields.kind.select, kinds, wanted('chart'))
  const draw = (): void => {
    const kind = fields.kind.select.value as Kind // one of its options
    const choice = choiceOf(kind, answer, fields)
    const charts = choice === undefined ? [] : chartsOf(answer.columns, answer.rows, choice)
    place.replaceChildren(...(charts.length === 0 ? [] : [elementOf(chartMarks(charts))]))
    if (map !== undefined) map.hidden = kind !== 'automatic' && kind !== 'map'
  }
  box.addEventListener('change', () => {
    draw()
    keep(fields)
  })
  place.before(box)
  if (wanted('chart') === '') choiceOf('automatic', answer, fields)
  else draw()
}

interface Field {
  readonly label: HTMLLabelElement
  readonly select: HTMLSelectElement
}

type Fields = Readonly<Record<'kind' | 'x' | 'y', Field>>

function fieldOf(text: string, name: string): Field {
  const label = document.createElement('label')
  const select = document.createElement('select')
  select.name = name
  label.append(`${text} `, select)
  return { label, select }
}

/** What is drawn; the fields of axes are there where they count, with what this kind can have. */
function choiceOf(kind: Kind, { columns, rows }: Answer, { x, y }: Fields): Choice | undefined {
  const isChart = kind === 'line' || kind === 'bars' || kind === 'dots'
  for (const { label } of [x, y]) label.hidden = !isChart
  if (!isChart) return kind === 'automatic' ? automaticChoice(columns, rows) : undefined
  return chosen(kind, { columns, rows }, { x, y })
}

const allNumbers = 'all'

function chosen(kind: ChartKind, { columns, rows }: Answer, { x, y }: Pick<Fields, 'x' | 'y'>): Choice | undefined {
  const axes = axesOf(kind, columns, rows)
  const nameOf = (at: number): string => columns[at]?.name ?? ''
  fill(
    x.select,
    axes.map((axis) => nameOf(axis.x)),
    x.select.value || wanted('x'),
  )
  const axis = axes[x.select.selectedIndex]
  if (axis === undefined) return undefined
  const names = axis.ys.map(nameOf)
  fill(y.select, names.length > 1 ? [allNumbers, ...names] : names, y.select.value || wanted('y'))
  const at = y.select.selectedIndex - (names.length > 1 ? 1 : 0)
  return { kind, x: axis.x, ys: at < 0 ? axis.ys.slice(0, mostCharts) : axis.ys.slice(at, at + 1) }
}

/** Puts these options into a field, and keeps what it had, or was asked for, where that is one of them. */
function fill(select: HTMLSelectElement, options: readonly string[], value: string): void {
  select.replaceChildren(...options.map((text) => new Option(text, text)))
  select.selectedIndex = Math.max(0, options.indexOf(value))
}

/** What the address says behind `#`. */
function wanted(name: 'chart' | 'x' | 'y'): string {
  return new URLSearchParams(location.hash.slice(1)).get(name) ?? ''
}

function keep({ kind, x, y }: Fields): void {
  const { value } = kind.select
  const axes = x.label.hidden ? {} : { x: x.select.value, y: y.select.value }
  const hash = value === 'automatic' ? '' : `#${new URLSearchParams({ chart: value, ...axes })}`
  history.replaceState(null, '', location.pathname + location.search + hash)
}

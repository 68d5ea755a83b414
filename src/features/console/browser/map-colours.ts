// A map in the colours of the values of a column, which people choose from a field; a legend says what each colour means.

import { classesOf } from '../charts/classes.ts'
import { mark } from '../charts/marks.ts'
import { element } from './element.ts'
import { isScalar, type MapValues } from './map-values.ts'
import { elementOf } from './marks.ts'

/** A dot of the picture, in its own units. */
export interface Dot {
  readonly x: number
  readonly y: number
  readonly row: string
}

/** The colour of what has no class. */
const rest = { name: 'rest', text: 'other or no value' }
const none = 'one colour'

/** The column that was chosen; it holds for maps that come later, too. */
let chosen = none

/** The field, which is still to be put somewhere. */
export function addColours(svg: SVGSVGElement, dots: readonly Dot[], values: MapValues): HTMLElement {
  const select = document.createElement('select')
  select.name = 'colour'
  const names = [none, ...values.columns.filter(isScalar).map(({ name }) => name)]
  select.append(...names.map((name) => new Option(name, name)))
  select.selectedIndex = Math.max(0, names.indexOf(chosen))
  const legend = element('ul', 'legend')
  svg.after(legend)
  const paint = async (): Promise<void> => {
    await values.load()
    svg.querySelector('.values')?.remove()
    const at = select.selectedIndex === 0 ? -1 : values.columns.findIndex(({ name }) => name === select.value)
    svg.classList.toggle('coloured', at >= 0)
    legend.replaceChildren(...(at < 0 ? [] : paintBy(at, { svg, dots, values })))
  }
  select.addEventListener('change', () => {
    chosen = select.value
    void paint()
  })
  if (select.selectedIndex > 0) void paint()
  return element('label', '', 'Colour by ', select)
}

/** Paints the map by the column at this place; the entries of the legend. */
function paintBy(
  at: number,
  { svg, dots, values }: { readonly svg: SVGSVGElement; readonly dots: readonly Dot[]; readonly values: MapValues },
): readonly HTMLElement[] {
  const column = values.columns[at]
  if (column === undefined || values.cells.size === 0) return [element('li', '', 'The values cannot be read now.')]
  const shapes = [...svg.querySelectorAll<SVGPathElement>('[data-row]')]
  const rows = [...dots.map(({ row }) => row), ...shapes.map((shape) => shape.dataset['row'] ?? '')]
  const classes = classesOf(
    rows.map((row) => values.cells.get(row)?.[at]),
    column,
  ).map((one) => one ?? rest)
  // Dots of one colour are one element.
  const paths = new Map<string, string>()
  for (const [index, { x, y }] of dots.entries()) {
    const { name } = classes[index] ?? rest
    paths.set(name, `${paths.get(name) ?? ''}M${x} ${y}h0`)
  }
  const drawn = [...paths].map(([name, d]) => mark('path', { class: `points ${name}`, d }))
  svg.querySelector('.points')?.after(elementOf(mark('g', { class: 'values' }, ...drawn)))
  for (const [index, shape] of shapes.entries())
    shape.setAttribute('class', (classes[dots.length + index] ?? rest).name)
  const told = [...new Set(classes)].sort((a, b) => (a.name < b.name ? -1 : 1))
  // `rest` comes before `step-0`, and is told last.
  return [...told.filter((one) => one !== rest), ...told.filter((one) => one === rest)].map(({ name, text }) =>
    element('li', '', element('span', `swatch ${name}`), text || '(empty)'),
  )
}

// Maps that the server drew, in a browser: looked at closer with buttons or the wheel, moved by dragging or arrows; the values of
// a feature are read off by pointer, those of dots by buttons too; a feature leads to its row. Maps that come later (a new
// answer, newer features) are found by themselves.

import { addColours, type Dot } from '../browser/map-colours.ts'
import { type MapValues, mapValues } from '../browser/map-values.ts'
import { defined } from '../../../libraries/base/collections.ts'

const mostZoom = 32
const zoomStep = 1.6
/** A pointer that went further meant to move the map. */
const clickPx = 4
/** A dot is meant by a pointer so near to it. */
const nearPx = 8

export function start(main: HTMLElement): void {
  const findMaps = (): void => {
    for (const svg of main.querySelectorAll<SVGSVGElement>('.map > svg:first-child')) addControls(svg)
  }
  new MutationObserver(findMaps).observe(main, { childList: true, subtree: true })
  findMaps()
}

function addControls(svg: SVGSVGElement): void {
  const { width, height } = svg.viewBox.baseVal
  const whole = { x: 0, y: 0, zoom: 1 }
  let view = whole
  const look = (x: number, y: number, zoom: number): void => {
    const within = (value: number, size: number): number => Math.max(0, Math.min(size - size / zoom, value))
    view = { x: within(x, width), y: within(y, height), zoom }
    svg.setAttribute('viewBox', `${view.x} ${view.y} ${width / zoom} ${height / zoom}`)
    // A map that somebody looks at closely is not replaced.
    svg.classList.toggle('moved', zoom > 1)
  }
  /** The place at these parts of the picture stays where it is. */
  const zoomBy = (factor: number, partX = 0.5, partY = 0.5): void => {
    const zoom = Math.max(1, Math.min(mostZoom, view.zoom * factor))
    const [gainX, gainY] = [width / view.zoom - width / zoom, height / view.zoom - height / zoom]
    look(view.x + gainX * partX, view.y + gainY * partY, zoom)
  }
  /** By parts of what is seen. */
  const move = (partX: number, partY: number): void =>
    look(view.x + (partX * width) / view.zoom, view.y + (partY * height) / view.zoom, view.zoom)

  const note = document.createElement('output')
  const mark = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  mark.classList.add('picked')
  svg.append(mark)
  const dots = dotsOf(svg)
  const shapes = [...svg.querySelectorAll<SVGElement>('[data-row]')].map(({ dataset }) => dataset['row'] ?? '')
  const values = mapValues(svg, [...dots.map(({ row }) => row), ...shapes])
  const read = (dot: Dot | undefined, row = dot?.row): void => {
    mark.setAttribute('d', dot === undefined ? '' : `M${dot.x} ${dot.y}h0`)
    note.textContent = featureText(values, row)
  }
  let at = -1
  const step = (by: number): void => {
    at = at < 0 && by < 0 ? dots.length - 1 : (at + by + dots.length) % dots.length
    read(dots[at])
  }
  const steps = dots.length === 0 ? undefined : step
  const box = controls({ zoomBy, move, showAll: () => look(whole.x, whole.y, whole.zoom), ...defined({ step: steps }) })
  box.append(addColours(svg, dots, values), note)
  svg.before(box)
  for (const type of ['focusin', 'pointerenter']) box.addEventListener(type, () => void values.load())
  svg.addEventListener('pointerenter', () => void values.load())
  svg.addEventListener('pointerleave', () => read(undefined))
  svg.addEventListener(
    'wheel',
    (event) => {
      // A wheel alone scrolls the page, as everywhere.
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      const box = svg.getBoundingClientRect()
      const [partX, partY] = [(event.clientX - box.x) / box.width, (event.clientY - box.y) / box.height]
      zoomBy(event.deltaY < 0 ? zoomStep : 1 / zoomStep, partX, partY)
    },
    { passive: false },
  )
  let wayPx = 0
  svg.addEventListener('pointerdown', () => (wayPx = 0))
  svg.addEventListener('pointermove', (event) => {
    const { buttons, movementX, movementY } = event
    if (buttons !== 1) return read(dotAt(svg, dots, event), rowAt(svg, dots, event))
    const box = svg.getBoundingClientRect()
    wayPx += Math.abs(movementX) + Math.abs(movementY)
    move(-movementX / box.width, -movementY / box.height)
  })
  svg.addEventListener('click', (event) => {
    if (wayPx > clickPx) return
    const row = rowAt(svg, dots, event)
    const { rows } = svg.dataset
    if (row !== undefined && rows !== undefined) location.assign(rows + row)
  })
}

/** The row of what the pointer is on. */
function rowAt(svg: SVGSVGElement, dots: readonly Dot[], event: MouseEvent): string | undefined {
  const { target } = event
  return dotAt(svg, dots, event)?.row ?? (target instanceof SVGElement ? target.dataset['row'] : undefined)
}

/** So many values of a feature are told at a glance. */
const saidCells = 6

/** The first values of a feature, once they are there. */
function featureText({ columns, cells }: MapValues, row: string | undefined): string {
  const values = cells.get(row ?? '')
  if (values === undefined) return row === undefined ? '' : `offset ${row}`
  return columns
    .slice(0, saidCells)
    .map(({ name }, at) => `${name} ${values[at] ?? 'null'}`)
    .join(' · ')
}

function dotsOf(svg: SVGSVGElement): readonly Dot[] {
  const path = svg.querySelector<SVGPathElement>('.points')
  const rows = path?.dataset['dots']?.split(' ') ?? []
  const places = [...(path?.getAttribute('d') ?? '').matchAll(/M([\d.-]+) ([\d.-]+)/g)]
  return places.map(([, x, y], at) => ({ x: Number(x), y: Number(y), row: rows[at] ?? '' }))
}

/** The dot that is nearest to the pointer, if one is near. */
function dotAt(svg: SVGSVGElement, dots: readonly Dot[], { clientX, clientY }: MouseEvent): Dot | undefined {
  const toScreen = svg.getScreenCTM()
  if (toScreen === null) return undefined
  const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(toScreen.inverse())
  let [nearest, leastPx]: [Dot | undefined, number] = [undefined, nearPx]
  for (const dot of dots) {
    const awayPx = Math.hypot(dot.x - x, dot.y - y) * toScreen.a
    if (awayPx < leastPx) [nearest, leastPx] = [dot, awayPx]
  }
  return nearest
}

interface Moves {
  readonly zoomBy: (factor: number) => void
  readonly move: (partX: number, partY: number) => void
  readonly showAll: () => void
  /** To the next dot, or the one before it; undefined where there are none. */
  readonly step?: (by: number) => void
}

const arrows: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-0.25, 0],
  ArrowRight: [0.25, 0],
  ArrowUp: [0, -0.25],
  ArrowDown: [0, 0.25],
}

/** Buttons; while one of them has the focus, arrows move the map. */
function controls({ zoomBy, move, showAll, step }: Moves): HTMLElement {
  const box = document.createElement('div')
  box.className = 'zoom'
  box.role = 'group'
  box.ariaLabel = 'Look at the map; arrows move it'
  const buttons = [
    ['+', 'Closer', () => zoomBy(zoomStep)],
    ['−', 'Zoom out', () => zoomBy(1 / zoomStep)],
    ['All', 'All of the map', showAll],
    ...(step === undefined
      ? []
      : ([
          ['‹', 'The feature before', () => step(-1)],
          ['›', 'The next feature', () => step(1)],
        ] as const)),
  ] as const
  for (const [text, label, act] of buttons) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = text
    button.ariaLabel = label
    button.addEventListener('click', act)
    box.append(button)
  }
  box.addEventListener('keydown', (event) => {
    const way = arrows[event.key]
    if (way === undefined) return
    event.preventDefault()
    move(...way)
  })
  return box
}

// Maps that the server drew, in a browser: looked at closer with buttons or the wheel, moved by dragging or arrows; a
// feature leads to its row. Maps that come later (a new answer, newer features) are found by themselves.

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

  const box = controls({ zoomBy, move, showAll: () => look(whole.x, whole.y, whole.zoom) })
  const note = document.createElement('output')
  const say = (text: string): void => {
    note.textContent = text
  }
  box.append(note)
  svg.before(box)
  svg.addEventListener('pointerleave', () => say(''))
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
    if (buttons !== 1) return say(featureText(svg, rowAt(svg, event)))
    const box = svg.getBoundingClientRect()
    wayPx += Math.abs(movementX) + Math.abs(movementY)
    move(-movementX / box.width, -movementY / box.height)
  })
  svg.addEventListener('click', (event) => {
    if (wayPx > clickPx) return
    const row = rowAt(svg, event)
    const { rows } = svg.dataset
    if (row !== undefined && rows !== undefined) location.assign(rows + row)
  })
}

/** The row of what the pointer is on. */
function rowAt(svg: SVGSVGElement, event: MouseEvent): string | undefined {
  const { target } = event
  return dotAt(svg, event) ?? (target instanceof SVGElement ? target.dataset['row'] : undefined)
}

/** So many values of a feature are told at a glance. */
const saidCells = 5

/** What the page shows of a feature: the first cells of its row, where it has it. */
function featureText(svg: SVGSVGElement, row: string | undefined): string {
  if (row === undefined) return ''
  const found = document.querySelector<HTMLTableRowElement>(`#row-${row}`)
  const heads = found?.closest('table')?.tHead?.rows[0]?.cells
  if (!found || !heads || svg.dataset['rows'] !== '#row-') return `offset ${row}`
  const said = [...found.cells].slice(0, saidCells)
  return said.map((cell, at) => `${heads[at]?.firstChild?.textContent} ${cell.textContent}`).join(' · ')
}

/** The row of the dot that is nearest to the pointer, if one is near. */
function dotAt(svg: SVGSVGElement, { clientX, clientY }: MouseEvent): string | undefined {
  const dots = svg.querySelector<SVGPathElement>('.points')
  const toScreen = svg.getScreenCTM()
  if (dots === null || toScreen === null) return undefined
  const rows = dots.dataset['dots']?.split(' ')
  let [nearest, leastPx] = [-1, nearPx]
  for (const [at, [, x, y]] of [...(dots.getAttribute('d') ?? '').matchAll(/M([\d.-]+) ([\d.-]+)/g)].entries()) {
    const place = new DOMPoint(Number(x), Number(y)).matrixTransform(toScreen)
    const awayPx = Math.hypot(place.x - clientX, place.y - clientY)
    if (awayPx < leastPx) [nearest, leastPx] = [at, awayPx]
  }
  return rows?.[nearest]
}

interface Moves {
  readonly zoomBy: (factor: number) => void
  readonly move: (partX: number, partY: number) => void
  readonly showAll: () => void
}

const arrows: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-0.25, 0],
  ArrowRight: [0.25, 0],
  ArrowUp: [0, -0.25],
  ArrowDown: [0, 0.25],
}

/** Buttons; while one of them has the focus, arrows move the map. */
function controls({ zoomBy, move, showAll }: Moves): HTMLElement {
  const box = document.createElement('div')
  box.className = 'zoom'
  box.role = 'group'
  box.ariaLabel = 'Look at the map; arrows move it'
  const buttons = [
    ['+', 'Closer', () => zoomBy(zoomStep)],
    ['−', 'Zoom out', () => zoomBy(1 / zoomStep)],
    ['All', 'All of the map', showAll],
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

// Values read off a chart: the pointer, or arrows while the picture has the focus, go to the nearest point, and a note over the
// picture says what it is. The note takes no room of its own, so nothing moves.

/** A point of the picture, in its own units. */
interface Spot {
  readonly x: number
  readonly y: number
  readonly series: string | undefined
  readonly texts: readonly [x: string, y: string]
}

/** Lets people read values off the chart that is in `area`. */
export function addReading(area: HTMLElement, svg: SVGSVGElement): void {
  const spots = spotsOf(svg)
  if (spots.length === 0) return
  const note = document.createElement('output')
  note.className = 'note-over'
  const ring = document.createElement('span')
  ring.className = 'ring'
  area.append(ring, note)
  svg.tabIndex = 0
  const show = (spot: Spot | undefined): void => {
    area.classList.toggle('read', spot !== undefined)
    if (spot !== undefined) showSpot(spot, { svg, note, ring })
  }
  svg.addEventListener('pointermove', (event) => show(nearest(spots, svg, event)))
  svg.addEventListener('pointerdown', (event) => show(nearest(spots, svg, event)))
  svg.addEventListener('pointerleave', () => show(undefined))
  svg.addEventListener('blur', () => show(undefined))
  svg.addEventListener('keydown', (event) => {
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: -1,
      ArrowRight: 1,
      Home: -spots.length,
      End: spots.length,
    }
    const step = event.key === 'Escape' ? 0 : steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    const at = Number(svg.dataset['at'] ?? (step > 0 ? -1 : spots.length))
    const next = Math.max(0, Math.min(spots.length - 1, at + step))
    svg.dataset['at'] = String(next)
    show(step === 0 ? undefined : spots[next])
  })
}

/** From left to right; points of one place by their series. */
function spotsOf(svg: SVGSVGElement): readonly Spot[] {
  const spots = [...svg.querySelectorAll<SVGPathElement>('[data-points]')].flatMap((path) => {
    const texts = JSON.parse(path.dataset['points'] ?? '[]') as [string, string][] // as the chart was drawn
    const places = [...(path.getAttribute('d') ?? '').matchAll(/[ML]([\d.-]+) ([\d.-]+)/g)]
    return texts.map((text, at) => {
      const [, x, y] = places[at] ?? []
      return { x: Number(x), y: Number(y), series: path.dataset['series'], texts: text }
    })
  })
  return spots.sort((a, b) => a.x - b.x)
}

/** On a line what stands beside the pointer counts, and then its height. */
function nearest(spots: readonly Spot[], svg: SVGSVGElement, { clientX, clientY }: MouseEvent): Spot | undefined {
  const box = svg.getBoundingClientRect()
  const { width, height } = svg.viewBox.baseVal
  const sideways = svg.querySelector('.dots') === null ? 10 : 1
  const awayPx = ({ x, y }: Spot): number =>
    Math.hypot(sideways * (box.x + (x / width) * box.width - clientX), box.y + (y / height) * box.height - clientY)
  return spots.reduce<Spot | undefined>(
    (best, spot) => (best === undefined || awayPx(spot) < awayPx(best) ? spot : best),
    undefined,
  )
}

interface Shown {
  readonly svg: SVGSVGElement
  readonly note: HTMLElement
  readonly ring: HTMLElement
}

function showSpot({ x, y, series, texts }: Spot, { svg, note, ring }: Shown): void {
  const { width, height } = svg.viewBox.baseVal
  const [left, top] = [(100 * x) / width, (100 * y) / height]
  const { x: over, y: of, unit } = svg.dataset
  const value = unit === undefined ? texts[1] : `${texts[1]} ${unit}`
  note.textContent = [...(series === undefined ? [] : [series]), `${over} ${texts[0]}`, `${of} ${value}`].join(' · ')
  // Beside the point, on the side that has more room, and never over it.
  note.classList.toggle('at-right', left < 50)
  note.classList.toggle('below', top < 50)
  ring.style.left = `${left}%`
  ring.style.top = `${top}%`
}

// Geometries as paths of a picture: plate carrée, true to scale in its middle, fitted into a box with the land behind it.
// Details below half a pixel are dropped, and dots closer than a tenth, so that a picture costs what it shows. Pure.

import { type Bounds, boundsOf, type Geometry, outlinesOf } from './geometry.ts'

export const pictureWidth = 960
const heights = { least: 260, most: 540 }
const paddingPart = 0.06
/** Smaller boxes are widened to it: a point alone needs a neighbourhood. */
const leastDegrees = 0.02
/** The outlines of land are too coarse for smaller boxes. */
const landDegrees = 8
const halfPixel = 0.5
const kinds = ['area', 'line', 'point'] as const

export type Ring = readonly (readonly number[])[]

/** What is drawn of one geometry. */
export interface Shape {
  /** Its place in the list. */
  readonly feature: number
  /** Data of an SVG path. */
  readonly path: string
}

/** `points` are lines of no length, to be drawn with round caps. */
export interface Drawing {
  readonly height: number
  /** Of the geometries, without the margin. */
  readonly bounds: Bounds
  readonly land: string
  readonly areas: readonly Shape[]
  readonly lines: readonly Shape[]
  readonly points: readonly Shape[]
}

/** The picture of geometries before outlines of land; undefined where none has a position. */
export function draw(geometries: readonly Geometry[], land: readonly Ring[]): Drawing | undefined {
  const bounds = geometries.reduce<Bounds | undefined>((all, geometry) => joined(all, boundsOf(geometry)), undefined)
  if (bounds === undefined) return undefined
  const { height, project, isWide } = fitted(bounds)
  const shapes: Record<(typeof kinds)[number], Shape[]> = { area: [], line: [], point: [] }
  const drawn = new Set<string>()
  for (const [feature, geometry] of geometries.entries()) {
    const paths = { area: '', line: '', point: '' }
    for (const { kind, positions } of outlinesOf(geometry)) {
      const path = kind === 'point' ? undefined : pathOf(positions, project, kind === 'area')
      if (path !== undefined) paths[kind] += path
      else for (const position of positions.slice(0, 1)) paths.point += dotOf(project(position), drawn)
    }
    for (const kind of kinds) if (paths[kind] !== '') shapes[kind].push({ feature, path: paths[kind] })
  }
  const shifts = bounds[2] > 180 ? [0, 360] : [0]
  const behind = isWide ? shifts.flatMap((shift) => land.map((ring) => landPath(ring, shift, { project, height }))) : []
  return { height, bounds, land: behind.join(''), areas: shapes.area, lines: shapes.line, points: shapes.point }
}

function joined(a: Bounds | undefined, b: Bounds | undefined): Bounds | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])]
}

type Project = (position: readonly number[]) => readonly [x: number, y: number]

function fitted([west, south, east, north]: Bounds): { height: number; project: Project; isWide: boolean } {
  const [middleX, middleY] = [(west + east) / 2, (south + north) / 2]
  const narrowing = Math.max(0.05, Math.cos((middleY * Math.PI) / 180))
  const spanX = Math.max(leastDegrees, (east - west) * narrowing) * (1 + 2 * paddingPart)
  const spanY = Math.max(leastDegrees, north - south) * (1 + 2 * paddingPart)
  const scale = Math.min(pictureWidth / spanX, heights.most / spanY)
  const height = Math.round(Math.max(heights.least, spanY * scale))
  return {
    height,
    isWide: pictureWidth / scale >= landDegrees,
    project: ([x = 0, y = 0]) => [
      pictureWidth / 2 + (x - middleX) * narrowing * scale,
      height / 2 - (y - middleY) * scale,
    ],
  }
}

/** The path of a line or ring; undefined where nothing is left of it but a dot. */
function pathOf(positions: Ring, project: Project, isClosed: boolean): string | undefined {
  let [text, count, lastX, lastY] = ['', 0, Number.NaN, Number.NaN]
  for (const position of positions) {
    const [x, y] = project(position)
    if (Math.abs(x - lastX) < halfPixel && Math.abs(y - lastY) < halfPixel) continue
    text += `${count === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`
    ;[lastX, lastY] = [x, y]
    count++
  }
  if (count < (isClosed ? 3 : 2)) return undefined
  return isClosed ? `${text}Z` : text
}

/** Empty where none of it is in the picture. */
function landPath(ring: Ring, shift: number, { project, height }: { project: Project; height: number }): string {
  const shifted: Project = ([x = 0, y = 0]) => project([x + shift, y])
  const places = ring.map(shifted)
  const isBeyond =
    places.every(([x]) => x < 0) ||
    places.every(([x]) => x > pictureWidth) ||
    places.every(([, y]) => y < 0) ||
    places.every(([, y]) => y > height)
  return isBeyond ? '' : (pathOf(ring, shifted, true) ?? '')
}

/** A dot, unless there is one at this place. */
function dotOf([x, y]: readonly [number, number], drawn: Set<string>): string {
  const at = `M${x.toFixed(1)} ${y.toFixed(1)}h0`
  if (drawn.has(at)) return ''
  drawn.add(at)
  return at
}

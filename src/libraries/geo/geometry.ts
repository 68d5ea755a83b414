// Geometries as GeoJSON text, for the functions that statements ask of them: bounds, well-known text, whether one meets a
// box. Pure and exact: only comparisons of the coordinates and the sign of a determinant, which robust-predicates gets
// right. Sources: RFC 7946; OGC 06-103r4, Simple Features (well-known text).

import { orient2d } from 'robust-predicates'
import { defined } from '../base/collections.ts'
import { NodeError } from '../base/errors.ts'
import { collection, shapes } from './rules.ts'

/** west, south, east, north in the units of the coordinates. */
export type Bounds = readonly [west: number, south: number, east: number, north: number]

type Position = readonly number[]
type Nested = Position | readonly Nested[]

/** Collections in collections; deeper ones are no geometry of the contract. */
const mostDepth = 16

/** A simple geometry, or one of a collection. */
interface Part {
  readonly type: string
  readonly coordinates: Nested
}

export interface Geometry {
  readonly type: string
  /** Itself, or what the collection holds; collections in it are flattened. */
  readonly parts: readonly Part[]
}

/** The geometry of a GeoJSON text. Throws NodeError `SqlValue` for any other text. */
export function geometryOf(text: string): Geometry {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw noGeometry(text, cause)
  }
  const parts: Part[] = []
  if (!collect(value, parts, 0)) throw noGeometry(text)
  return { type: String(Object(value)['type']), parts }
}

function noGeometry(text: string, cause?: unknown): NodeError {
  return new NodeError('SqlValue', `This text is not a GeoJSON geometry: ${text.slice(0, 60)}`, {
    hint: 'The functions st_… and bbox take the column geometry, or GeoJSON text like it.',
    ...defined({ cause }),
  })
}

function collect(value: unknown, parts: Part[], depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > mostDepth) return false
  const { type, coordinates, geometries } = Object(value)
  if (type === collection) {
    return Array.isArray(geometries) && geometries.every((one: unknown) => collect(one, parts, depth + 1))
  }
  const levels = typeof type === 'string' ? shapes.get(type)?.depth : undefined
  if (levels === undefined || !arePositions(coordinates, levels, type === 'Point')) return false
  parts.push({ type, coordinates })
  return true
}

/** Whether `value` is positions under so many levels of arrays; a Point may be empty. */
function arePositions(value: unknown, levels: number, mayBeEmpty: boolean): value is Nested {
  if (!Array.isArray(value)) return false
  if (levels > 0) return value.every((item) => arePositions(item, levels - 1, false))
  return (mayBeEmpty && value.length === 0) || (value.length >= 2 && value.every((item) => typeof item === 'number'))
}

/** The positions of a part, in order. */
function* positionsOf(coordinates: Nested): Generator<Position> {
  if (isPosition(coordinates)) {
    if (coordinates.length > 0) yield coordinates
  } else for (const item of coordinates) yield* positionsOf(item)
}

function isPosition(coordinates: Nested): coordinates is Position {
  return typeof coordinates[0] === 'number'
}

/** The smallest box around all positions; undefined where there are none. */
export function boundsOf({ parts }: Geometry): Bounds | undefined {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { coordinates } of parts) {
    for (const [x = 0, y = 0] of positionsOf(coordinates)) {
      if (x < west) west = x
      if (x > east) east = x
      if (y < south) south = y
      if (y > north) north = y
    }
  }
  return west <= east ? [west, south, east, north] : undefined
}

/** A point, a line, or a ring of an area. */
export interface Outline {
  readonly kind: 'point' | 'line' | 'area'
  readonly positions: readonly Position[]
}

export function outlinesOf({ parts }: Geometry): Outline[] {
  return parts.flatMap(({ type, coordinates }): Outline[] => {
    if (type.endsWith('Point'))
      return [...positionsOf(coordinates)].map((position) => ({ kind: 'point', positions: [position] }))
    const kind = type.endsWith('LineString') ? 'line' : 'area'
    return rowsIn(coordinates).map((positions) => ({ kind, positions }))
  })
}

/** Arrays of positions, however deep they lie. */
function rowsIn(coordinates: Nested): Position[][] {
  if (isPosition(coordinates)) return []
  const positions = coordinates.filter(isPosition)
  return positions.length > 0 ? [positions] : coordinates.flatMap(rowsIn)
}

/** The one position of a Point; undefined for other geometries and for an empty one. */
export function pointOf({ type, parts }: Geometry): Position | undefined {
  const coordinates = parts[0]?.coordinates
  return type === 'Point' && coordinates !== undefined && isPosition(coordinates) ? coordinates : undefined
}

/** Whether some point of the geometry lies in the box or on its edge. West greater than east: the box crosses the antimeridian. */
export function intersectsBox(geometry: Geometry, [west, south, east, north]: Bounds): boolean {
  if (west > east) {
    return (
      intersectsBox(geometry, [west, south, Math.max(west, 180), north]) ||
      intersectsBox(geometry, [Math.min(east, -180), south, east, north])
    )
  }
  return geometry.parts.some(({ type, coordinates }) => partIntersects(type, coordinates, [west, south, east, north]))
}

function partIntersects(type: string, coordinates: Nested, box: Bounds): boolean {
  if (isPosition(coordinates)) return isInside(coordinates, box)
  switch (type) {
    case 'LineString':
      return lineMeets(positions(coordinates), box)
    case 'Polygon':
      return polygonMeets(
        coordinates.map((ring) => positions(ring)),
        box,
      )
    default:
      return coordinates.some((item) => partIntersects(type.replace(/^Multi/, ''), item as Nested, box)) // isPosition told
  }
}

/** The positions of an array of positions. */
function positions(line: Nested | number): readonly Position[] {
  return Array.isArray(line) ? line.filter((item): item is Position => Array.isArray(item)) : []
}

function isInside([x = 0, y = 0]: Position, [west, south, east, north]: Bounds): boolean {
  return x >= west && x <= east && y >= south && y <= north
}

function lineMeets(line: readonly Position[], box: Bounds): boolean {
  if (line.some((position) => isInside(position, box))) return true
  for (let i = 1; i < line.length; i++) if (segmentMeets(line[i - 1] ?? [], line[i] ?? [], box)) return true
  return false
}

/** Whether the segment between two positions outside of the box crosses it. */
function segmentMeets(
  [ax = 0, ay = 0]: Position,
  [bx = 0, by = 0]: Position,
  [west, south, east, north]: Bounds,
): boolean {
  if (Math.max(ax, bx) < west || Math.min(ax, bx) > east) return false
  if (Math.max(ay, by) < south || Math.min(ay, by) > north) return false
  // The line through both leaves all four corners on one side, or it does not.
  const sides = [
    orient2d(ax, ay, bx, by, west, south),
    orient2d(ax, ay, bx, by, west, north),
    orient2d(ax, ay, bx, by, east, south),
    orient2d(ax, ay, bx, by, east, north),
  ]
  return !(sides.every((side) => side > 0) || sides.every((side) => side < 0))
}

function polygonMeets(rings: readonly (readonly Position[])[], box: Bounds): boolean {
  if (rings.some((ring) => lineMeets(ring, box))) return true
  // No edge meets the box: all of it lies inside or all outside.
  const [outer, ...holes] = rings
  if (outer === undefined || !surrounds(outer, box[0], box[1])) return false
  return !holes.some((hole) => surrounds(hole, box[0], box[1]))
}

/** Whether a point that is on no edge lies within the ring: its ray to the east crosses an odd number of edges. */
function surrounds(ring: readonly Position[], x: number, y: number): boolean {
  let inside = false
  for (let i = 1; i < ring.length; i++) {
    const [ax = 0, ay = 0] = ring[i - 1] ?? []
    const [bx = 0, by = 0] = ring[i] ?? []
    if (ay > y === by > y) continue
    const side = orient2d(ax, ay, bx, by, x, y)
    if (by > ay ? side < 0 : side > 0) inside = !inside
  }
  return inside
}

/** Well-known text; heights as `Z`. Numbers as JavaScript prints them. */
export function wktOf(geometry: Geometry): string {
  const texts = geometry.parts.map(partText)
  if (geometry.type !== collection) return texts.join('')
  return texts.length === 0 ? 'GEOMETRYCOLLECTION EMPTY' : `GEOMETRYCOLLECTION (${texts.join(', ')})`
}

function partText({ type, coordinates }: Part): string {
  let hasHeight = false
  for (const position of positionsOf(coordinates)) hasHeight ||= position.length > 2
  const name = `${type.toUpperCase()}${hasHeight ? ' Z' : ''}`
  const isEmpty = coordinates.length === 0
  const body = isPosition(coordinates)
    ? `(${positionText(coordinates, hasHeight)})`
    : nestedText(coordinates, hasHeight)
  return `${name} ${isEmpty ? 'EMPTY' : body}`
}

function nestedText(items: readonly Nested[] | Position, hasHeight: boolean): string {
  if (items.length === 0) return 'EMPTY'
  const texts = items.map((item) => {
    if (typeof item === 'number') return String(item)
    return isPosition(item) ? positionText(item, hasHeight) : nestedText(item, hasHeight)
  })
  return `(${texts.join(', ')})`
}

function positionText([x = 0, y = 0, z = 0]: Position, hasHeight: boolean): string {
  return hasHeight ? `${x} ${y} ${z}` : `${x} ${y}`
}

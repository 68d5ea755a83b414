// Which rings of a polygon are holes, and of which outer ring. In a .shp outer rings run clockwise and holes against it,
// in any order. A ring that runs as a hole and lies in no outer ring is an outer ring of its own, as with GDAL.
// Source: https://www.esri.com/content/dam/esrisites/sitecore-archive/Files/Pdfs/library/whitepapers/pdfs/shapefile.pdf, Polygon

import { firstIndex } from '../../libraries/base/collections.ts'

/** Coordinates of the vertices of a record: x, y, x, y, …. */
export type Coordinates = Float64Array

/** One ring: vertices [start, end) of the record, the last one equal to the first. */
export interface Ring {
  readonly start: number
  readonly end: number
  /** Twice the area; positive where it runs counterclockwise. */
  readonly area: number
  readonly minX: number
  readonly minY: number
  readonly maxX: number
  readonly maxY: number
}

/** A polygon: its outer ring, then its holes. */
export type RingGroup = readonly [Ring, ...Ring[]]

/** The ring of vertices [start, end). */
export function ringOf(xy: Coordinates, start: number, end: number): Ring {
  const originX = xy[2 * start] ?? 0
  const originY = xy[2 * start + 1] ?? 0
  let [minX, minY, maxX, maxY] = [originX, originY, originX, originY]
  let area = 0
  let [lastX, lastY] = [0, 0]
  for (let i = start + 1; i < end; i++) {
    const x = xy[2 * i] ?? 0
    const y = xy[2 * i + 1] ?? 0
    if (x < minX) minX = x
    else if (x > maxX) maxX = x
    if (y < minY) minY = y
    else if (y > maxY) maxY = y
    // Near the first vertex no digits are lost.
    const [nextX, nextY] = [x - originX, y - originY]
    area += lastX * nextY - nextX * lastY
    lastX = nextX
    lastY = nextY
  }
  return { start, end, area, minX, minY, maxX, maxY }
}

/** Edges and holes held against one another before others have their turn. */
const stepsPerTurn = 200_000
/** What a ring costs beside its edges: one that may be a hole, and one that may hold others. */
const candidateSteps = 100
const outerSteps = 20
const ringsPerTurn = 20_000

/** A ring that may be a hole, with a point inside of it. */
interface Candidate {
  readonly ring: Ring
  readonly x: number
  readonly y: number
  /** The smallest outer ring around it so far. */
  owner: Ring | undefined
  /** Whether a ray from the point to the right has crossed the ring at hand an odd number of times. */
  isInside: boolean
}

/** Groups, and how many rings ran as holes and lay in no outer ring. */
interface Grouping {
  readonly groups: RingGroup[]
  readonly strays: number
}

/** 1 where outer rings run clockwise, as they should; -1 where all rings of a record run the wrong way. */
type Turn = 1 | -1

/**
 * The polygons that rings make, in the order of their outer rings, holes in theirs. Where a hole lies in no outer ring and
 * all would fit if every ring ran the other way, they are taken so. Yields where other work may be done; returns
 * undefined when it would take more than `mostSteps`.
 */
export function* groupRings(
  xy: Coordinates,
  rings: readonly Ring[],
  mostSteps: number,
): Generator<void, RingGroup[] | undefined> {
  const right = yield* group(xy, rings, 1, mostSteps)
  if (right === undefined || right.strays === 0 || rings.length === 1) return right?.groups
  const turned = yield* group(xy, rings, -1, mostSteps)
  return turned?.strays === 0 ? turned.groups : right.groups
}

function* group(
  xy: Coordinates,
  rings: readonly Ring[],
  turn: Turn,
  mostSteps: number,
): Generator<void, Grouping | undefined> {
  const outers = rings.filter(({ area }) => area * turn < 0)
  const candidates: Candidate[] = []
  let looked = 0
  for (const ring of rings) {
    if (ring.area * turn < 0) continue
    candidates.push(candidateOf(xy, ring))
    looked += candidateSteps + ring.end - ring.start
    if (looked < stepsPerTurn) continue
    looked = 0
    yield
  }
  if (candidates.length > 0 && outers.length > 0) {
    const byY = candidates.toSorted((a, b) => a.y - b.y)
    let steps = 0
    let total = 0
    for (const outer of outers) {
      steps += outerSteps
      for (const work of holdAgainst(xy, outer, byY)) {
        steps += work
        total += work
        if (total > mostSteps) return undefined
        if (steps < stepsPerTurn) continue
        steps = 0
        yield
      }
    }
  }
  return yield* grouping(rings, candidates)
}

function* grouping(rings: readonly Ring[], candidates: readonly Candidate[]): Generator<void, Grouping> {
  const holes = new Map<Ring, Ring[]>()
  const owned = new Set<Ring>()
  for (const { ring, owner } of candidates) {
    if (owner === undefined) continue
    owned.add(ring)
    const own = holes.get(owner)
    if (own === undefined) holes.set(owner, [ring])
    else own.push(ring)
  }
  if (candidates.length > ringsPerTurn) yield
  const groups: RingGroup[] = []
  for (const [index, ring] of rings.entries()) {
    if (!owned.has(ring)) groups.push([ring, ...(holes.get(ring) ?? [])])
    if (index % ringsPerTurn === ringsPerTurn - 1) yield
  }
  return { groups, strays: candidates.length - owned.size }
}

/** Makes `outer` the owner of the candidates in it that have no smaller one; tells the steps that it took, piece by piece. */
function* holdAgainst(xy: Coordinates, outer: Ring, byY: readonly Candidate[]): Generator<number> {
  const from = firstAtOrAbove(byY, outer.minY)
  const to = firstAtOrAbove(byY, outer.maxY)
  const edges = outer.end - outer.start
  if (from === to) return
  let steps = 0
  for (let i = outer.start + 1; i < outer.end; i++) {
    steps += 1 + crossEdge(xy, i, byY, from, to)
    if (steps < stepsPerTurn && i < outer.end - 1) continue
    yield steps
    steps = 0
  }
  for (let i = from; i < to; i++) {
    const candidate = byY[i]
    if (candidate === undefined || !candidate.isInside) continue
    candidate.isInside = false
    const { ring, owner } = candidate
    if (!holds(outer, ring) || (owner !== undefined && Math.abs(owner.area) <= Math.abs(outer.area))) continue
    candidate.owner = outer
  }
  yield to - from + edges
}

/** Whether the box and the area of `outer` have room for `ring`. */
function holds(outer: Ring, ring: Ring): boolean {
  return (
    Math.abs(outer.area) > Math.abs(ring.area) &&
    outer.minX <= ring.minX &&
    outer.maxX >= ring.maxX &&
    outer.minY <= ring.minY &&
    outer.maxY >= ring.maxY
  )
}

/** Notes which of the candidates [from, to) have the edge that ends at vertex `end` to their right: how many were looked at. */
function crossEdge(xy: Coordinates, end: number, byY: readonly Candidate[], from: number, to: number): number {
  const [ax, ay] = [xy[2 * end - 2] ?? 0, xy[2 * end - 1] ?? 0]
  const [bx, by] = [xy[2 * end] ?? 0, xy[2 * end + 1] ?? 0]
  const lowY = Math.min(ay, by)
  const highY = Math.max(ay, by)
  let at = firstAtOrAbove(byY, lowY, from, to)
  const first = at
  for (; at < to; at++) {
    const candidate = byY[at]
    if (candidate === undefined || candidate.y >= highY) break
    if (candidate.x < ax + ((candidate.y - ay) / (by - ay)) * (bx - ax)) candidate.isInside = !candidate.isInside
  }
  return at - first
}

function firstAtOrAbove(byY: readonly Candidate[], y: number, from = 0, to = byY.length): number {
  return firstIndex(from, to, (at) => (byY[at]?.y ?? 0) >= y)
}

function candidateOf(xy: Coordinates, ring: Ring): Candidate {
  return { ring, ...innerPoint(xy, ring), owner: undefined, isInside: false }
}

/** A point inside of a ring: amid the widest part of it at a height just above its lowest vertex; its first vertex where it has no inside. */
function innerPoint(xy: Coordinates, { start, end, minY, maxY }: Ring): { readonly x: number; readonly y: number } {
  let nextY = maxY
  for (let i = start; i < end; i++) {
    const y = xy[2 * i + 1] ?? 0
    if (y > minY && y < nextY) nextY = y
  }
  const y = (minY + nextY) / 2
  const crossings: number[] = []
  for (let i = start + 1; i < end; i++) {
    const [ax, ay] = [xy[2 * i - 2] ?? 0, xy[2 * i - 1] ?? 0]
    const [bx, by] = [xy[2 * i] ?? 0, xy[2 * i + 1] ?? 0]
    if (ay < y !== by < y) crossings.push(ax + ((y - ay) / (by - ay)) * (bx - ax))
  }
  crossings.sort((a, b) => a - b)
  let [widest, x] = [0, xy[2 * start] ?? 0]
  for (let i = 1; i < crossings.length; i += 2) {
    const [left, right] = [crossings[i - 1] ?? 0, crossings[i] ?? 0]
    if (right - left <= widest) continue
    widest = right - left
    x = (left + right) / 2
  }
  return widest > 0 && y > minY ? { x, y } : { x: xy[2 * start] ?? 0, y: xy[2 * start + 1] ?? 0 }
}

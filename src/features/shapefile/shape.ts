// One record of a .shp taken apart and judged: its parts, and where its coordinates lie. What is right of a GeoJSON
// geometry is right here: finite degrees, lines of two positions, closed rings of four. Source: as shp.ts; RFC 7946 §3.1.

import { maxLatitude, maxLongitude, toleranceDegrees } from '../../libraries/geo/rules.ts'
import type { RecordFault } from './faults.ts'
import { groupRings, type Ring, type RingGroup, ringOf } from './rings.ts'
import type { ShapeType } from './shp.ts'

/** Measures below this mean that there is none. */
const noMeasure = -1e38
/** Positions looked at before others have their turn. */
const positionsPerTurn = 100_000
/** What grouping the rings of one record may take: a second or so. */
const mostRingSteps = 200_000_000

/** Why a record is no geometry. */
export interface ShapeFault extends RecordFault {
  /** True when a coordinate is beyond what degrees can be. */
  readonly outOfRange?: boolean
}

/** A record as the parts of a geometry. */
export interface Shape {
  readonly kind: 'point' | 'multipoint' | 'polyline' | 'polygon'
  readonly positions: number
  /** x, y, x, y, …: valid, like `z` and `m`, until the next shape is read. */
  readonly xy: Float64Array
  readonly z: Float64Array | undefined
  /** NaN where a position has none; undefined where none has one. */
  readonly m: Float64Array | undefined
  /** Where each line begins and, last, where all end, in positions. */
  readonly lines: Int32Array
  readonly polygons: readonly RingGroup[]
}

/** Where the coordinates of one record after the other are kept. */
export class ShapeBuffers {
  readonly xy: DoubleBuffer = new DoubleBuffer()
  readonly z: DoubleBuffer = new DoubleBuffer()
  readonly m: DoubleBuffer = new DoubleBuffer()
}

class DoubleBuffer {
  #values = new Float64Array(256)

  /** The `count` doubles at `at`, at the beginning of an array that may be longer. */
  read(view: DataView, at: number, count: number): Float64Array {
    if (this.#values.length < count) this.#values = new Float64Array(2 * count)
    const values = this.#values
    for (let i = 0; i < count; i++) values[i] = view.getFloat64(at + 8 * i, true)
    return values
  }
}

/** Where the parts of a record lie in it. */
interface Layout {
  readonly points: number
  readonly lines: Int32Array
  readonly pointsAt: number
  readonly zAt: number | undefined
  readonly mAt: number | undefined
}

const invalid = (message: string): ShapeFault => ({ kind: 'InvalidGeometry', message })

export function isFault(result: object): result is ShapeFault {
  return 'message' in result
}

/** Takes the content `bytes[start, end)` apart: undefined for a shape without a place. Yields where other work may be done. */
export function* readShape(
  type: ShapeType,
  bytes: Uint8Array,
  { start, end, buffers }: { readonly start: number; readonly end: number; readonly buffers: ShapeBuffers },
): Generator<void, Shape | ShapeFault | undefined> {
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, end - start)
  const code = view.getInt32(0, true)
  if (code === 0) return undefined
  if (code !== type.code || type.kind === 'null') {
    return invalid(`The shape is of type ${code}, and those of the file are of type ${type.code}.`)
  }
  const layout = layoutOf(type, view)
  if (isFault(layout)) return layout
  const { points, lines, pointsAt, zAt, mAt } = layout
  if (points === 0) return undefined
  const isLong = points > positionsPerTurn
  const xy = buffers.xy.read(view, pointsAt, 2 * points)
  const z = zAt === undefined ? undefined : buffers.z.read(view, zAt, points)
  const m = mAt === undefined ? undefined : measures(buffers.m.read(view, mAt, points), points)
  if (isLong) yield
  const fault = judgePositions(xy, points) ?? judgeHeights(z, points) ?? judgeMeasures(m, points)
  if (fault !== undefined) return fault
  if (isLong) yield
  const shape = { positions: points, xy, z, m, lines, polygons: [] }
  switch (type.kind) {
    case 'point':
    case 'multipoint':
      return { ...shape, kind: type.kind }
    case 'polyline':
      return judgeLines(lines) ?? { ...shape, kind: 'polyline' }
    case 'polygon': {
      const rings = yield* ringsOf(xy, lines)
      if (isFault(rings)) return rings
      const polygons = yield* groupRings(xy, rings, mostRingSteps)
      return polygons === undefined ? tooTangled(rings.length) : { ...shape, kind: 'polygon', polygons }
    }
  }
}

/** Finds the parts of a record. It may be longer: GDAL has written lines with measures that have heights behind them. */
function layoutOf({ kind, dimensions }: ShapeType, view: DataView): Layout | ShapeFault {
  const size = view.byteLength
  let points = 1
  let lines = new Int32Array(0)
  let pointsAt = 4
  if (kind !== 'point') {
    pointsAt = kind === 'multipoint' ? 40 : 44
    if (size < pointsAt) return invalid(`The shape has ${size} bytes, too few for its type.`)
    points = view.getInt32(pointsAt - 4, true)
    const parts = kind === 'multipoint' ? 0 : view.getInt32(36, true)
    if (points < 0 || parts < 0 || parts > points || pointsAt + 4 * parts + 16 * points > size) {
      return invalid(`The shape says that it has ${parts} parts and ${points} positions, and has ${size} bytes.`)
    }
    if (kind !== 'multipoint') {
      const found = linesOf(view, parts, points)
      if (isFault(found)) return found
      lines = found
      pointsAt += 4 * parts
    }
  }
  // The least and the greatest value stand before those of each position, except in single points.
  const rangeBytes = kind === 'point' ? 0 : 16
  let end = pointsAt + 16 * points
  let zAt: number | undefined
  let mAt: number | undefined
  if (dimensions === 'xyz') {
    zAt = end + rangeBytes
    end = zAt + 8 * points
  }
  if (end > size) return invalid(`The shape has ${size} bytes, and its positions take ${end}.`)
  // Where there may be measures, they may also be left out.
  if (dimensions !== 'xy' && size >= end + rangeBytes + 8 * points) mAt = end + rangeBytes
  return { points, lines, pointsAt, zAt, mAt }
}

/** Where each part begins, and where the last one ends. */
function linesOf(view: DataView, parts: number, points: number): Int32Array<ArrayBuffer> | ShapeFault {
  const lines = new Int32Array(parts + 1)
  lines[parts] = points
  if (parts === 0 && points > 0) return invalid('The shape has positions and no parts.')
  for (let part = 0; part < parts; part++) {
    const first = view.getInt32(44 + 4 * part, true)
    const isNext = part === 0 ? first === 0 : first > (lines[part - 1] ?? 0)
    if (!isNext || first >= points)
      return invalid(`Part ${part} of the shape begins at position ${first}, which does not fit.`)
    lines[part] = first
  }
  return lines
}

/** Puts NaN for those that mean that there is none; undefined where none means anything. */
function measures(values: Float64Array, count: number): Float64Array | undefined {
  let measured = 0
  for (let i = 0; i < count; i++) {
    const value = values[i] ?? 0
    if (value >= noMeasure) measured += 1
    else values[i] = Number.NaN
  }
  return measured === 0 ? undefined : values
}

function judgePositions(xy: Float64Array, count: number): ShapeFault | undefined {
  for (let i = 0; i < 2 * count; i += 2) {
    const x = xy[i] ?? 0
    const y = xy[i + 1] ?? 0
    const isPlace = Math.abs(x) <= maxLongitude + toleranceDegrees && Math.abs(y) <= maxLatitude + toleranceDegrees
    if (!isPlace) return badPosition(i / 2, x, y)
  }
  return undefined
}

function judgeHeights(z: Float64Array | undefined, count: number): ShapeFault | undefined {
  for (let i = 0; z !== undefined && i < count; i++) {
    if (!Number.isFinite(z[i])) return invalid(`The height of position ${i} is ${z[i]}, no number.`)
  }
  return undefined
}

function badPosition(position: number, x: number, y: number): ShapeFault {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return invalid(`Position ${position} is ${x}, ${y}: no place.`)
  const isLongitude = Math.abs(x) > maxLongitude
  const [what, value, most] = isLongitude ? ['longitude', x, maxLongitude] : ['latitude', y, maxLatitude]
  const message = `Position ${position} has the ${what} ${value}, which is beyond ±${most} degrees.`
  return { ...invalid(message), outOfRange: true }
}

function judgeMeasures(m: Float64Array | undefined, count: number): ShapeFault | undefined {
  const at = m?.indexOf(Number.POSITIVE_INFINITY) ?? -1
  return at < 0 || at >= count ? undefined : invalid(`The measure of position ${at} is infinite.`)
}

function judgeLines(lines: Int32Array): ShapeFault | undefined {
  for (let line = 0; line + 1 < lines.length; line++) {
    const positions = (lines[line + 1] ?? 0) - (lines[line] ?? 0)
    if (positions < 2) return invalid(`Part ${line} is a line with one position; a line has two or more.`)
  }
  return undefined
}

function* ringsOf(xy: Float64Array, lines: Int32Array): Generator<void, Ring[] | ShapeFault> {
  const rings: Ring[] = []
  let turnAt = 0
  for (let part = 0; part + 1 < lines.length; part++) {
    const start = lines[part] ?? 0
    const end = lines[part + 1] ?? 0
    if (end - start < 4)
      return invalid(`Part ${part} is a ring with too few positions (${end - start}); a ring has four or more.`)
    if (xy[2 * start] !== xy[2 * end - 2] || xy[2 * start + 1] !== xy[2 * end - 1]) {
      return invalid(`Part ${part} is a ring that does not end where it begins.`)
    }
    rings.push(ringOf(xy, start, end))
    if (end - turnAt < positionsPerTurn) continue
    turnAt = end
    yield
  }
  return rings
}

function tooTangled(rings: number): ShapeFault {
  return {
    ...invalid(`Which of its ${rings} rings are holes of which takes too long to find.`),
    hint: 'Split the shape into several: ogr2ogr -explodecollections out.shp in.shp.',
  }
}

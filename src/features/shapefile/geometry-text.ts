// Writes a shape as the text of a GeoJSON geometry, and its measures as arrays of the same form. Outer rings run
// counterclockwise and holes clockwise (RFC 7946 §3.1.6): a ring that does not is written from its end.

import { utf8 } from '../../libraries/base/bytes.ts'
import type { JsonText } from '../../libraries/base/json/json-text.ts'
import type { RingGroup } from './rings.ts'
import type { Shape } from './shape.ts'

const open = 0x5b
const close = 0x5d
const comma = 0x2c

const heads = {
  point: utf8('{"type":"Point","coordinates":'),
  multipoint: utf8('{"type":"MultiPoint","coordinates":'),
  line: utf8('{"type":"LineString","coordinates":'),
  lines: utf8('{"type":"MultiLineString","coordinates":'),
  polygon: utf8('{"type":"Polygon","coordinates":'),
  polygons: utf8('{"type":"MultiPolygon","coordinates":'),
}

/** Adds the geometry. Yields where other work may be done. */
export function* writeGeometry(out: JsonText, shape: Shape): Generator<void> {
  out.raw(heads[headOf(shape)])
  yield* writeParts(out, shape, (position) => writePosition(out, shape, position))
  out.byte(0x7d)
}

/** Adds the measures: a number or null for each position, in arrays like those of the coordinates. */
export function* writeMeasures(out: JsonText, shape: Shape, m: Float64Array): Generator<void> {
  yield* writeParts(out, shape, (position) => {
    const value = m[position] ?? Number.NaN
    if (Number.isNaN(value)) out.ascii('null')
    else out.number(value)
  })
}

function headOf({ kind, lines, polygons }: Shape): keyof typeof heads {
  switch (kind) {
    case 'polyline':
      return lines.length > 2 ? 'lines' : 'line'
    case 'polygon':
      return polygons.length > 1 ? 'polygons' : 'polygon'
    default:
      return kind
  }
}

type WriteOne = (position: number) => void

function* writeParts(out: JsonText, shape: Shape, write: WriteOne): Generator<void> {
  const { kind, positions, lines, polygons } = shape
  switch (kind) {
    case 'point':
      write(0)
      return
    case 'multipoint':
      yield* writeRun(out, { start: 0, end: positions, isReversed: false }, write)
      return
    case 'polyline':
      if (lines.length > 2) out.byte(open)
      for (let line = 0; line + 1 < lines.length; line++) {
        if (line > 0) out.byte(comma)
        yield* writeRun(out, { start: lines[line] ?? 0, end: lines[line + 1] ?? 0, isReversed: false }, write)
      }
      if (lines.length > 2) out.byte(close)
      return
    case 'polygon':
      if (polygons.length > 1) out.byte(open)
      for (const [index, rings] of polygons.entries()) {
        if (index > 0) out.byte(comma)
        yield* writeRings(out, rings, write)
      }
      if (polygons.length > 1) out.byte(close)
  }
}

function* writeRings(out: JsonText, rings: RingGroup, write: WriteOne): Generator<void> {
  out.byte(open)
  for (const [index, { start, end, area }] of rings.entries()) {
    if (index > 0) out.byte(comma)
    yield* writeRun(out, { start, end, isReversed: index === 0 ? area < 0 : area > 0 }, write)
  }
  out.byte(close)
}

/** Positions [start, end), from the last one on where `isReversed`. */
interface Run {
  readonly start: number
  readonly end: number
  readonly isReversed: boolean
}

function* writeRun(out: JsonText, { start, end, isReversed }: Run, write: WriteOne): Generator<void> {
  out.byte(open)
  for (let i = start; i < end; i++) {
    if (i > start) out.byte(comma)
    write(isReversed ? end - 1 - (i - start) : i)
    if (out.isLong) yield
  }
  out.byte(close)
}

function writePosition(out: JsonText, { xy, z }: Shape, position: number): void {
  out.byte(open)
  out.number(xy[2 * position] ?? 0)
  out.byte(comma)
  out.number(xy[2 * position + 1] ?? 0)
  if (z !== undefined) {
    out.byte(comma)
    out.number(z[position] ?? 0)
  }
  out.byte(close)
}

// Judges the geometry of a feature by RFC 7946 in one pass over its bytes, building nothing: known types, positions,
// ranges, rings. Whether what it refuses is JSON at all, `JsonChecker` says.

import { parseJson } from '../../json/json.ts'
import { NodeError, type RecordErrorKind } from '../../model/errors.ts'
import type { JsonValue } from '../../model/json.ts'
import type { JsonChecker } from '../json/checker.ts'
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  openBrace,
  openBracket,
  pointerSegment,
  quote,
  scanString,
  Scratch,
  skipSpace,
  StringScan,
  stringText,
  unescapeString,
} from '../json/text.ts'
import { doubleOf, magnitudeOf, NumberScan, scanNumber, tokenText } from '../number-scan.ts'
import { FixedText, type WordView } from './fixed-text.ts'
import { pointText } from './texts.ts'

/** Degrees by which a coordinate may be out of range, because it was rounded. */
const toleranceDegrees = 1e-6

/** How deep the positions lie in `coordinates`, and what a row of them is. */
interface Shape {
  readonly depth: number
  readonly row: 'points' | 'line' | 'ring'
}

const point: Shape = { depth: 0, row: 'points' }
const shapes: ReadonlyMap<string, Shape> = new Map([
  ['Point', point],
  ['MultiPoint', { depth: 1, row: 'points' }],
  ['LineString', { depth: 1, row: 'line' }],
  ['MultiLineString', { depth: 2, row: 'line' }],
  ['Polygon', { depth: 2, row: 'ring' }],
  ['MultiPolygon', { depth: 3, row: 'ring' }],
])
const collection = 'GeometryCollection'

/** The members of the geometry being read, while it is not known what they have to be. */
interface Parts {
  type: string | undefined
  /** Where the value of `coordinates` or `geometries` lies; -1 while not met. */
  coordinates: number
  geometries: number
  /** True when it has been judged. */
  judged: boolean
  /** Names of the other members. */
  others: Set<string> | undefined
}

/** After -1 the fault's members say what is wrong and where; where the text is no JSON they say nothing of use. */
export class GeometryChecker {
  kind: RecordErrorKind = 'InvalidGeometry'
  message = ''
  at = 0
  end = 0
  /** Pointer below the geometry. */
  pointer = ''
  /** True when a coordinate is out of range. */
  outOfRange = false
  private bytes: Uint8Array = new Uint8Array(0)
  private limit = 0
  private readonly checker: JsonChecker
  private readonly maxDepth: number
  private readonly words: WordView
  private readonly string = new StringScan()
  private readonly number = new NumberScan()
  private readonly other = new NumberScan()
  private readonly scratch = new Scratch()

  /** `words` looks at the bytes that are checked. */
  constructor(checker: JsonChecker, maxDepth: number, words: WordView) {
    this.words = words
    this.checker = checker
    this.maxDepth = maxDepth
  }

  /**
   * Index after the geometry whose brace opens at `at`, on nesting level `level`; -1 after a fault.
   * Throws NodeError `UnsupportedCrs`.
   */
  check(bytes: Uint8Array, at: number, end: number, level: number): number {
    this.bytes = bytes
    this.limit = end
    this.pointer = ''
    this.outOfRange = false
    const after = level < this.maxDepth ? plainPoint(this.words.view, bytes, at, end) : -1
    return after < 0 ? this.geometry(at, level) : after
  }

  /** The same for the value of `bbox` at `at`. */
  checkBox(bytes: Uint8Array, at: number, end: number, level: number): number {
    this.bytes = bytes
    this.limit = end
    this.pointer = ''
    this.outOfRange = false
    return this.box(at, level)
  }

  private fault(message: string, at: number, end = at + 24): -1 {
    this.kind = 'InvalidGeometry'
    this.message = message
    this.at = at
    this.end = Math.min(end, this.limit)
    return -1
  }

  private notJson(at: number): -1 {
    return this.fault('The geometry cannot be read here.', at)
  }

  private byteAt(at: number): number {
    return at < this.limit ? (this.bytes[at] ?? 0) : 0
  }

  private geometry(open: number, level: number): number {
    const { bytes, limit } = this
    if (this.byteAt(open) !== openBrace) return this.fault('A geometry is an object.', open)
    if (level > this.maxDepth) return this.notJson(open)
    const parts: Parts = { type: undefined, coordinates: -1, geometries: -1, judged: false, others: undefined }
    let at = skipSpace(bytes, open + 1, limit)
    if (this.byteAt(at) === closeBrace) return this.complete(parts, open, at + 1, level)
    while (true) {
      const name = this.name(at)
      if (name === undefined) return this.notJson(at)
      at = skipSpace(bytes, this.string.end + 1, limit)
      if (this.byteAt(at) !== colon) return this.notJson(at)
      at = this.member(parts, name, skipSpace(bytes, at + 1, limit), level + 1)
      if (at < 0) return this.below(name)
      at = skipSpace(bytes, at, limit)
      const next = this.byteAt(at)
      if (next === closeBrace) return this.complete(parts, open, at + 1, level)
      if (next !== comma) return this.notJson(at)
      at = skipSpace(bytes, at + 1, limit)
    }
  }

  private below(name: string): -1 {
    this.pointer = pointerSegment(name) + this.pointer
    return -1
  }

  /** The member name whose quote opens at `at`; known names cost no string. */
  private name(at: number): string | undefined {
    const { bytes, limit, string } = this
    if (this.byteAt(at) !== quote || scanString(string, bytes, at, limit) < 0) return undefined
    const { start, end, escaped } = string
    const length = end - start
    if (!escaped) {
      if (length === 4 && isText(bytes, start, 'type')) return 'type'
      if (length === 11 && isText(bytes, start, 'coordinates')) return 'coordinates'
    } else if (unescapeString(this.scratch, bytes, start, end) !== undefined) return undefined
    return stringText(this.scratch, bytes, start, end)
  }

  /** Reads the value of a member, of level `level`: index after it, or -1. */
  private member(parts: Parts, name: string, at: number, level: number): number {
    switch (name) {
      case 'type':
        return parts.type === undefined ? this.type(parts, at) : this.notJson(at)
      case 'coordinates': {
        if (parts.coordinates >= 0) return this.notJson(at)
        parts.coordinates = at
        const shape = parts.type === undefined ? undefined : shapes.get(parts.type)
        if (shape === undefined) return this.checker.check(this.bytes, at, this.limit, level)
        parts.judged = true
        return this.coordinates(shape, at, level)
      }
      default:
        return this.otherMember(parts, name, at, level)
    }
  }

  private otherMember(parts: Parts, name: string, at: number, level: number): number {
    parts.others ??= new Set()
    if (parts.others.has(name)) return this.notJson(at)
    parts.others.add(name)
    if (name === 'bbox') return this.box(at, level)
    if (name === 'geometries') {
      parts.geometries = at
      parts.judged = parts.type === collection
      if (parts.judged) return this.geometries(at, level)
    }
    const after = this.checker.check(this.bytes, at, this.limit, level)
    if (name === 'crs' && after >= 0) requireWgs84Text(this.bytes, at, after, 'A geometry')
    return after
  }

  private type(parts: Parts, at: number): number {
    const { bytes, limit, string } = this
    const after = this.byteAt(at) === quote ? scanString(string, bytes, at, limit) : -1
    if (after < 0) return this.fault('The type of a geometry is a text.', at)
    if (string.end - string.start === 5 && isText(bytes, string.start, 'Point')) parts.type = 'Point'
    else {
      if (unescapeString(this.scratch, bytes, string.start, string.end) !== undefined) return this.notJson(at)
      parts.type = stringText(this.scratch, bytes, string.start, string.end)
    }
    if (shapes.has(parts.type) || parts.type === collection) return after
    const known = [...shapes.keys(), collection].join(', ')
    return this.fault(`'${parts.type.slice(0, 40)}' is no type of geometry (${known}).`, at, after)
  }

  /** The geometry `[open, after)` has been read: judges what came before its type. */
  private complete(parts: Parts, open: number, after: number, level: number): number {
    const { type } = parts
    if (type === undefined) return this.fault("The geometry has no member 'type'.", open, after)
    if (parts.judged) return after
    const shape = shapes.get(type)
    const name = shape === undefined ? 'geometries' : 'coordinates'
    const at = parts[name]
    if (at < 0) return this.fault(`A ${type} has a member '${name}'.`, open, after)
    const end = shape === undefined ? this.geometries(at, level + 1) : this.coordinates(shape, at, level + 1)
    return end < 0 ? this.below(name) : after
  }

  private geometries(open: number, level: number): number {
    const { bytes, limit } = this
    if (this.byteAt(open) !== openBracket)
      return this.fault('The geometries of a GeometryCollection are an array.', open)
    if (level > this.maxDepth) return this.notJson(open)
    let at = skipSpace(bytes, open + 1, limit)
    if (this.byteAt(at) === closeBracket) return at + 1
    for (let index = 0; ; index++) {
      at = this.geometry(at, level + 1)
      if (at < 0) return this.below(String(index))
      at = skipSpace(bytes, at, limit)
      const next = this.byteAt(at)
      if (next === closeBracket) return at + 1
      if (next !== comma) return this.notJson(at)
      at = skipSpace(bytes, at + 1, limit)
    }
  }

  private coordinates(shape: Shape, at: number, level: number): number {
    if (this.byteAt(at) !== openBracket) return this.fault('Coordinates are an array.', at)
    const first = skipSpace(this.bytes, at + 1, this.limit)
    // An empty array is an empty geometry. Source: RFC 7946 §3.1.
    if (this.byteAt(first) === closeBracket && level <= this.maxDepth) return first + 1
    return shape.depth === 0 ? this.position(at, level) : this.rows(shape, shape.depth, at, level)
  }

  /** An array of `depth` levels above positions. */
  private rows(shape: Shape, depth: number, open: number, level: number): number {
    const { bytes, limit } = this
    if (this.byteAt(open) !== openBracket) return this.fault('An array of positions should be here.', open)
    if (level > this.maxDepth) return this.notJson(open)
    let at = skipSpace(bytes, open + 1, limit)
    const first = at
    let last = at
    let count = 0
    if (this.byteAt(at) !== closeBracket) {
      for (; ; count++) {
        last = at
        at = depth === 1 ? this.position(at, level + 1) : this.rows(shape, depth - 1, at, level + 1)
        if (at < 0) return this.below(String(count))
        at = skipSpace(bytes, at, limit)
        const next = this.byteAt(at)
        if (next === closeBracket) break
        if (next !== comma) return this.notJson(at)
        at = skipSpace(bytes, at + 1, limit)
      }
      count += 1
    }
    if (depth === 1) {
      if (shape.row === 'line' && count === 1) return this.fault('A line has two or more positions.', open, at + 1)
      if (shape.row === 'ring' && count < 4) {
        return this.fault(`A ring of a polygon has four or more positions; this one has ${count}.`, open, at + 1)
      }
      if (shape.row === 'ring' && !this.samePosition(first, last)) {
        return this.fault('A ring of a polygon ends where it begins; this one does not.', last, at)
      }
    }
    return at + 1
  }

  /** `[longitude, latitude, …]`: index after it, or -1. */
  private position(open: number, level: number): number {
    const { bytes, limit, number } = this
    if (this.byteAt(open) !== openBracket) return this.fault('A position is an array of numbers.', open)
    if (level > this.maxDepth) return this.notJson(open)
    let at = skipSpace(bytes, open + 1, limit)
    for (let axis = 0; ; axis++) {
      if (at >= limit || !scanNumber(number, bytes, at, limit, false)) {
        return this.fault('A position has two or more numbers.', open)
      }
      if (!this.inRange(axis)) return this.below(String(axis))
      at = skipSpace(bytes, number.end, limit)
      const next = at < limit ? bytes[at] : 0
      if (next === comma) at = skipSpace(bytes, at + 1, limit)
      else if (next !== closeBracket) return this.notJson(at)
      else if (axis === 0) return this.fault('A position has two or more numbers.', open, at + 1)
      else return at + 1
    }
  }

  /** Judges the number just scanned. */
  private inRange(axis: number): boolean {
    const { number } = this
    const magnitude = magnitudeOf(number)
    const max = axis === 0 ? maxLongitude : axis === 1 ? maxLatitude : Number.MAX_VALUE
    if (magnitude <= (axis < 2 ? max + toleranceDegrees : max)) return true
    const token = tokenText(number, this.bytes).slice(0, 40)
    if (axis > 1) this.fault(`${token} is beyond any number.`, number.start, number.end)
    else {
      const what = axis === 0 ? 'longitude' : 'latitude'
      const message = `The ${what} ${token} is beyond ±${max} degrees; reproject to EPSG:4326 ([longitude, latitude] in degrees).`
      this.fault(message, number.start, number.end)
      this.outOfRange = true
    }
    return false
  }

  /** Whether the positions that open at `a` and `b`, both well-formed, are the same numbers. */
  private samePosition(a: number, b: number): boolean {
    const { bytes, limit, number, other } = this
    let i = skipSpace(bytes, a + 1, limit)
    let j = skipSpace(bytes, b + 1, limit)
    while (true) {
      if (!scanNumber(number, bytes, i, limit, false) || !scanNumber(other, bytes, j, limit, false)) return false
      if (doubleOf(number, bytes) !== doubleOf(other, bytes)) return false
      i = skipSpace(bytes, number.end, limit)
      j = skipSpace(bytes, other.end, limit)
      if (bytes[i] !== bytes[j]) return false
      if (bytes[i] !== comma) return true
      i = skipSpace(bytes, i + 1, limit)
      j = skipSpace(bytes, j + 1, limit)
    }
  }

  /** A bounding box: null, or an array of as many numbers below as above, four at least. */
  private box(at: number, level: number): number {
    const { bytes, limit, number } = this
    const after = this.checker.check(bytes, at, limit, level)
    if (after < 0 || this.byteAt(at) === 0x6e) return after
    let count = 0
    let next = at
    do {
      next = skipSpace(bytes, next + 1, limit)
      if (!scanNumber(number, bytes, next, limit, false)) count = Number.NaN
      count += 1
      next = skipSpace(bytes, number.end, limit)
    } while (count > 0 && this.byteAt(next) === comma)
    const isBox = this.byteAt(at) === openBracket && count >= 4 && count % 2 === 0
    return isBox ? after : this.fault('A bbox is an array of four numbers, or six with heights.', at, after)
  }
}

function isText(bytes: Uint8Array, start: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false
  return true
}

/** What to do about coordinates that are no degrees. */
export const reprojectHint =
  'Positions are [longitude, latitude] in degrees of WGS 84: reproject to EPSG:4326 before sending, for example with ' +
  'ogr2ogr -t_srs EPSG:4326, or to_crs(4326) in GeoPandas.'

const longitudeLatitude =
  /^(?:urn:(?:x-)?ogc:def:crs:(?:OGC:[\d.]*:CRS84|EPSG:[\d.]*:4326)|(?:OGC:)?CRS84|EPSG:4326|https?:\/\/www\.opengis\.net\/def\/crs\/(?:OGC\/[\d.]+\/CRS84|EPSG\/[\d.]+\/4326))$/i

/** Judges the value of a member `crs`; `owner` has it: 'The FeatureCollection'. Throws NodeError `UnsupportedCrs`. */
export function requireWgs84(crs: JsonValue, owner: string): void {
  const name = nameOf(crs)
  if (name !== undefined && longitudeLatitude.test(name)) return
  const shown =
    name === undefined ? 'a coordinate system without a name' : `the coordinate system '${name.slice(0, 100)}'`
  throw new NodeError(
    'UnsupportedCrs',
    `${owner} has ${shown}; only CRS84 and EPSG:4326 are read. Nothing was stored.`,
    {
      hint: reprojectHint,
    },
  )
}

/** The same for JSON text that is known to be well-formed: `bytes[at, end)`. */
export function requireWgs84Text(bytes: Uint8Array, at: number, end: number, owner: string): void {
  requireWgs84(parseJson(bytes.subarray(at, end)), owner)
}

/** The name in `{"type": "name", "properties": {"name": …}}`. Source: GeoJSON 2008 §3. */
function nameOf(crs: JsonValue): string | undefined {
  if (!(crs instanceof Map) || crs.get('type') !== 'name') return undefined
  const properties = crs.get('properties')
  const name = properties instanceof Map ? properties.get('name') : undefined
  return typeof name === 'string' ? name : undefined
}

/** Degrees. */
export const maxLongitude = 360
export const maxLatitude = 90

const minus = 0x2d
const dot = 0x2e
const zero = 0x30

const typeText = new FixedText('"type"')
const kindText = new FixedText('"Point"')
const coordinatesText = new FixedText('"coordinates"')
const height = new NumberScan()

/** Index after the point that opens at `open`, which ends before `end`; -1 for what is no point, or not plainly one. */
export function plainPoint(view: DataView, bytes: Uint8Array, open: number, end: number): number {
  if (pointText.standsAt(view, open, end)) return compactCoordinates(bytes, open + pointText.length, end)
  const at = spacedHead(view, bytes, open, end)
  return at < 0 ? -1 : spacedCoordinates(bytes, at, end)
}

/** Index after `8.5,47.25]}` at `from`, or -1. */
function compactCoordinates(bytes: Uint8Array, from: number, end: number): number {
  let at = plainDegrees(bytes, from, end, maxLongitude)
  if (at < 0 || bytes[at] !== comma) return -1
  at = plainDegrees(bytes, at + 1, end, maxLatitude)
  if (at >= 0 && bytes[at] === comma) at = plainHeight(bytes, at + 1, end)
  return at >= 0 && at + 2 <= end && bytes[at] === closeBracket && bytes[at + 1] === closeBrace ? at + 2 : -1
}

/** The same with white space anywhere. */
function spacedCoordinates(bytes: Uint8Array, from: number, end: number): number {
  let at = plainDegrees(bytes, from, end, maxLongitude)
  if (at >= 0) at = afterByte(bytes, at, end, comma)
  if (at >= 0) at = plainDegrees(bytes, at, end, maxLatitude)
  if (at < 0) return -1
  const next = afterByte(bytes, at, end, comma)
  if (next >= 0) at = plainHeight(bytes, next, end)
  if (at >= 0) at = afterByte(bytes, at, end, closeBracket)
  return at >= 0 && at < end && bytes[at] === closeBrace ? at + 1 : -1
}

function plainHeight(bytes: Uint8Array, at: number, end: number): number {
  return scanNumber(height, bytes, at, end, false) && magnitudeOf(height) <= Number.MAX_VALUE ? height.end : -1
}

/** Index after the bracket that opens the coordinates, where white space stands between type and coordinates; else -1. */
function spacedHead(view: DataView, bytes: Uint8Array, open: number, end: number): number {
  let at = afterByte(bytes, open, end, openBrace)
  if (at < 0 || !typeText.standsAt(view, at, end)) return -1
  at = afterByte(bytes, at + typeText.length, end, colon)
  if (at < 0 || !kindText.standsAt(view, at, end)) return -1
  at = afterByte(bytes, at + kindText.length, end, comma)
  if (at < 0 || !coordinatesText.standsAt(view, at, end)) return -1
  at = afterByte(bytes, at + coordinatesText.length, end, colon)
  return at < 0 ? -1 : afterByte(bytes, at, end, openBracket)
}

/** Index of what follows `byte`, white space around it passed over; -1 when another byte stands there. */
function afterByte(bytes: Uint8Array, from: number, end: number, byte: number): number {
  const at = skipSpace(bytes, from, end)
  return at < end && bytes[at] === byte ? skipSpace(bytes, at + 1, end) : -1
}

/** Index after the number at `from` if its whole degrees are less than `max` and it has no exponent, else -1. */
function plainDegrees(bytes: Uint8Array, from: number, end: number, max: number): number {
  let at = from
  if (at < end && bytes[at] === minus) at += 1
  const first = at
  let degrees = 0
  for (; at < end; at++) {
    const digit = (bytes[at] ?? 0) - zero
    if (digit < 0 || digit > 9) break
    degrees = degrees * 10 + digit
  }
  if (at === first || (at > first + 1 && bytes[first] === zero) || degrees >= max || at >= end) return -1
  if (bytes[at] !== dot) return at
  const point = at + 1
  for (at = point; at < end; at++) {
    const digit = (bytes[at] ?? 0) - zero
    if (digit < 0 || digit > 9) break
  }
  return at > point && at < end ? at : -1
}

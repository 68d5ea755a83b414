// Judges the geometry of a feature by RFC 7946 in one pass over its bytes, building nothing: known types, positions,
// ranges, rings. Whether what it refuses is JSON at all, `JsonScanner.check` says.

import {
  beyondText,
  collection,
  countFault,
  geometryTypes,
  maxLatitude,
  maxLongitude,
  openRing,
  type Shape,
  shapes,
  toleranceDegrees,
} from '../../geo/rules.ts'
import { utf8 } from '../../base/bytes.ts'
import type { RecordErrorKind } from '../../base/errors.ts'
import type { JsonScanner } from '../json/scanner.ts'
import {
  closeBrace,
  closeBracket,
  comma,
  isText,
  openBrace,
  openBracket,
  pointerSegment,
  quote,
  skipSpace,
  stringText,
} from '../json/text.ts'
import { doubleOf, magnitudeOf, NumberScan, scanNumber, tokenText } from '../number-scan.ts'
import { requireWgs84Text } from './rules.ts'

const minus = 0x2d
const dot = 0x2e
const zero = 0x30

const usualNames = ['type', 'coordinates', 'Point'].map((name) => [name, utf8(name)] as const)

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
  readonly kind: RecordErrorKind = 'InvalidGeometry'
  message = ''
  at = 0
  end = 0
  /** Pointer below the geometry. */
  pointer = ''
  /** True when a coordinate is out of range. */
  outOfRange = false
  private bytes: Uint8Array = new Uint8Array(0)
  private limit = 0
  private readonly scanner: JsonScanner
  private readonly number = new NumberScan()
  private readonly other = new NumberScan()

  constructor(scanner: JsonScanner) {
    this.scanner = scanner
  }

  /**
   * Index after the geometry whose brace opens at `at`, on nesting level `level`; -1 after a fault.
   * Throws NodeError `UnsupportedCrs`.
   */
  check(bytes: Uint8Array, at: number, end: number, level: number): number {
    this.begin(bytes, at, end)
    return this.geometry(at, level)
  }

  /** Index after the point on nesting level `level` whose coordinates open at `at` and end it; else -1. */
  point(bytes: Uint8Array, at: number, end: number, level: number): number {
    this.bytes = bytes
    this.limit = end
    const after = this.position(at, level + 1)
    return after >= 0 && this.byteAt(after) === closeBrace ? after + 1 : -1
  }

  /** As `check`, for the value of `bbox` at `at`. */
  checkBox(bytes: Uint8Array, at: number, end: number, level: number): number {
    this.begin(bytes, at, end)
    return this.box(at, level)
  }

  private begin(bytes: Uint8Array, at: number, end: number): void {
    this.bytes = bytes
    this.limit = end
    this.pointer = ''
    this.outOfRange = false
    this.fault('The geometry cannot be read here.', at)
  }

  private fault(message: string, at: number, end = at + 24): -1 {
    this.message = message
    this.at = at
    this.end = Math.min(end, this.limit)
    return -1
  }

  private byteAt(at: number): number {
    return at < this.limit ? (this.bytes[at] ?? 0) : 0
  }

  private geometry(open: number, level: number): number {
    const { bytes, limit, scanner } = this
    if (this.byteAt(open) !== openBrace) return this.fault('A geometry is an object.', open)
    if (level > scanner.maxDepth) return -1
    const parts: Parts = { type: undefined, coordinates: -1, geometries: -1, judged: false, others: undefined }
    let at = scanner.first(bytes, open, limit, closeBrace)
    while (at > 0) {
      const nameEnd = scanner.name(bytes, at, limit)
      if (nameEnd < 0) return -1
      const name = this.name()
      at = scanner.colon(bytes, nameEnd, limit)
      if (at < 0) return -1
      at = this.member(parts, name, at, level + 1)
      if (at < 0) return this.below(name)
      at = scanner.next(bytes, at, limit, closeBrace)
    }
    return at < 0 ? -1 : this.complete(parts, open, scanner.after, level)
  }

  private below(name: string): -1 {
    this.pointer = pointerSegment(name) + this.pointer
    return -1
  }

  /** The text last scanned; the most usual cost no string. */
  private name(): string {
    const { start, end, escaped } = this.scanner.string
    if (!escaped) for (const [name, text] of usualNames) if (isText(this.bytes, start, end, text)) return name
    return stringText(this.scanner.scratch, this.bytes, start, end)
  }

  /** Reads the value of a member, of level `level`: index after it, or -1. */
  private member(parts: Parts, name: string, at: number, level: number): number {
    switch (name) {
      case 'type':
        return parts.type === undefined ? this.type(parts, at) : -1
      case 'coordinates': {
        if (parts.coordinates >= 0) return -1
        parts.coordinates = at
        const shape = parts.type === undefined ? undefined : shapes.get(parts.type)
        if (shape === undefined) return this.scanner.check(this.bytes, at, this.limit, level)
        parts.judged = true
        return this.coordinates(shape, at, level)
      }
      default:
        return this.otherMember(parts, name, at, level)
    }
  }

  private otherMember(parts: Parts, name: string, at: number, level: number): number {
    parts.others ??= new Set()
    if (parts.others.has(name)) return -1
    parts.others.add(name)
    if (name === 'bbox') return this.box(at, level)
    if (name === 'geometries') {
      parts.geometries = at
      parts.judged = parts.type === collection
      if (parts.judged) return this.geometries(at, level)
    }
    const after = this.scanner.check(this.bytes, at, this.limit, level)
    if (name === 'crs' && after >= 0) requireWgs84Text(this.bytes, at, after, 'A geometry')
    return after
  }

  private type(parts: Parts, at: number): number {
    if (this.byteAt(at) !== quote) return this.fault('The type of a geometry is a text.', at)
    const after = this.scanner.text(this.bytes, at, this.limit)
    if (after < 0) return -1
    parts.type = this.name()
    if (shapes.has(parts.type) || parts.type === collection) return after
    return this.fault(
      `'${parts.type.slice(0, 40)}' is not a type of geometry (${geometryTypes.join(', ')}).`,
      at,
      after,
    )
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
    const { bytes, limit, scanner } = this
    if (this.byteAt(open) !== openBracket)
      return this.fault('The geometries of a GeometryCollection are an array.', open)
    if (level > scanner.maxDepth) return -1
    let at = scanner.first(bytes, open, limit, closeBracket)
    for (let index = 0; at > 0; index++) {
      at = this.geometry(at, level + 1)
      if (at < 0) return this.below(String(index))
      at = scanner.next(bytes, at, limit, closeBracket)
    }
    return at < 0 ? -1 : scanner.after
  }

  private coordinates(shape: Shape, at: number, level: number): number {
    if (this.byteAt(at) !== openBracket) return this.fault('Coordinates are an array.', at)
    const first = skipSpace(this.bytes, at + 1, this.limit)
    // An empty array is an empty geometry. Source: RFC 7946 §3.1.
    if (this.byteAt(first) === closeBracket && level <= this.scanner.maxDepth) return first + 1
    return shape.depth === 0 ? this.position(at, level) : this.rows(shape, shape.depth, at, level)
  }

  /** An array of `depth` levels above positions. */
  private rows(shape: Shape, depth: number, open: number, level: number): number {
    const { bytes, limit, scanner } = this
    if (this.byteAt(open) !== openBracket) return this.fault('An array of positions should be here.', open)
    if (level > scanner.maxDepth) return -1
    let at = scanner.first(bytes, open, limit, closeBracket)
    const first = at
    let last = at
    let count = 0
    for (; at > 0; count++) {
      last = at
      at = depth === 1 ? this.position(at, level + 1) : this.rows(shape, depth - 1, at, level + 1)
      if (at < 0) return this.below(String(count))
      at = scanner.next(bytes, at, limit, closeBracket)
    }
    if (at < 0) return -1
    const { after } = scanner
    if (depth === 1) {
      const fault = countFault(shape.row, count)
      if (fault !== undefined) return this.fault(fault, open, after)
      if (shape.row === 'ring' && !this.samePosition(first, last)) return this.fault(openRing, last, after - 1)
    }
    return after
  }

  /** `[longitude, latitude, …]`: index after it, or -1. */
  private position(open: number, level: number): number {
    const { bytes, limit } = this
    if (this.byteAt(open) !== openBracket) return this.fault('A position is an array of numbers.', open)
    if (level > this.scanner.maxDepth) return -1
    let at = plainDegrees(bytes, open + 1, limit, maxLongitude)
    if (at >= 0 && bytes[at] === comma) {
      at = plainDegrees(bytes, bytes[at + 1] === 0x20 ? at + 2 : at + 1, limit, maxLatitude)
      if (at >= 0 && bytes[at] === closeBracket) return at + 1
    }
    return this.anyPosition(open)
  }

  private anyPosition(open: number): number {
    const { bytes, limit, number, scanner } = this
    let at = skipSpace(bytes, open + 1, limit)
    for (let axis = 0; ; axis++) {
      if (at >= limit || !scanNumber(number, bytes, at, limit, false)) {
        return this.fault('A position has two or more numbers.', open)
      }
      if (!this.inRange(axis)) return this.below(String(axis))
      at = scanner.next(bytes, number.end, limit, closeBracket)
      if (at < 0) return -1
      if (at > 0) continue
      const { after } = scanner
      return axis === 0 ? this.fault('A position has two or more numbers.', open, after) : after
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
      this.fault(beyondText(axis, token), number.start, number.end)
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
    const after = this.scanner.check(bytes, at, limit, level)
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

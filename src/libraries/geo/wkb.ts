// Geometries of GeoJSON as well-known binary, and back. Read are ISO WKB and the extended form of PostGIS, in either byte
// order: heights stay; measures and curves have no place in GeoJSON and are refused by name. Written is the ISO form,
// little-endian: a type above 1000 has a third coordinate.
// Sources: OGC 06-103r4 §8.2; https://libgeos.org/specifications/wkb/ (the extended form); ISO 19125-1, as GeoParquet 1.1 asks
// (https://geoparquet.org/releases/v1.1.0/)

import { ByteBuffer } from '../base/byte-buffer.ts'
import { collection, GeometryFault, geometryText, positionText, rowText, shapes } from './rules.ts'

const mostDepth = 16
const wgs84Srid = 4326
/** Flags of the extended form. */
const extended = { z: 0x80000000, m: 0x40000000, srid: 0x20000000 } as const
const otherTypes = [
  'CircularString',
  'CompoundCurve',
  'CurvePolygon',
  'MultiCurve',
  'MultiSurface',
  'Curve',
  'Surface',
  'PolyhedralSurface',
  'TIN',
  'Triangle',
]

/**
 * The GeoJSON text of one geometry, `bytes[start, end)`; an empty Point has no coordinates there. Throws GeometryFault for
 * bytes that are no geometry, for measures and curves, and for positions that are no longitude and latitude.
 */
export function wkbToGeoJson(bytes: Uint8Array, start = 0, end = bytes.length): string {
  const reader = new WkbReader(bytes, start, end)
  const text = reader.geometry(1)
  if (!reader.isAtEnd) throw new GeometryFault('The geometry (WKB) has bytes behind its end.')
  return text
}

class WkbReader {
  private readonly view: DataView
  private at = 0
  private isLittle = true
  private hasZ = false

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset + start, end - start)
  }

  get isAtEnd(): boolean {
    return this.at === this.view.byteLength
  }

  geometry(depth: number): string {
    if (depth > mostDepth) throw new GeometryFault(`The geometry is nested more than ${mostDepth} levels deep.`)
    const type = this.head()
    if (type === collectionCode) {
      const members: string[] = []
      for (let left = this.count(5); left > 0; left--) members.push(this.geometry(depth + 1))
      return `{"type":"${collection}","geometries":[${members.join(',')}]}`
    }
    return geometryText(nameOf(type), this.coordinates(type) ?? '[]')
  }

  private coordinates(type: number): string | undefined {
    switch (type) {
      case 1:
        return this.point()
      case 2:
        return this.row('line')
      case 3:
        return this.rings()
      default:
        return this.parts(type - 3)
    }
  }

  /** Byte order and type of the geometry here; the type is one of GeoJSON. */
  private head(): number {
    this.need(5)
    const order = this.view.getUint8(this.at)
    if (order > 1)
      throw new GeometryFault(`The geometry (WKB) has the byte order ${order}; 0 and 1 are the ones there are.`)
    this.isLittle = order === 1
    const code = this.view.getUint32(this.at + 1, this.isLittle)
    this.at += 5
    const plain = code & 0x0fffffff
    const dimensions = Math.floor(plain / 1000)
    const type = plain % 1000
    const hasM = (code & extended.m) !== 0 || dimensions === 2 || dimensions === 3
    if (dimensions > 3 || nameOf(type) === '') {
      const name = otherTypes[type - 8]
      throw new GeometryFault(
        name === undefined
          ? `The geometry (WKB) has the type number ${code}, which is not known.`
          : `GeoJSON has no ${name}: write it as lines or polygons.`,
      )
    }
    if (hasM) throw new GeometryFault('GeoJSON has no measures (M): write the geometry without them.')
    this.hasZ = (code & extended.z) !== 0 || dimensions === 1
    if ((code & extended.srid) !== 0) this.srid()
    return type
  }

  private srid(): void {
    this.need(4)
    const srid = this.view.getUint32(this.at, this.isLittle)
    this.at += 4
    if (srid !== wgs84Srid && srid !== 0) {
      throw new GeometryFault(`The geometry is in the coordinate system ${srid}; reproject to EPSG:4326.`)
    }
  }

  /** Geometries of `type` behind their number, each with a head of its own. */
  private parts(type: number): string {
    const parts: string[] = []
    for (let left = this.count(5); left > 0; left--) {
      const found = this.head()
      if (found !== type) throw new GeometryFault(`A Multi${nameOf(type)} has a part that is a ${nameOf(found)}.`)
      parts.push(this.coordinates(type) ?? emptyPart())
    }
    return `[${parts.join(',')}]`
  }

  /** The position of a point, or undefined of an empty one, whose numbers are all NaN. */
  private point(): string | undefined {
    this.need(this.hasZ ? 24 : 16)
    const isEmpty =
      Number.isNaN(this.view.getFloat64(this.at, this.isLittle)) &&
      Number.isNaN(this.view.getFloat64(this.at + 8, this.isLittle))
    if (!isEmpty) return this.position()
    this.at += this.hasZ ? 24 : 16
    return undefined
  }

  private position(): string {
    const { view, at, isLittle, hasZ } = this
    this.at += hasZ ? 24 : 16
    const x = view.getFloat64(at, isLittle)
    const y = view.getFloat64(at + 8, isLittle)
    return positionText(x, y, hasZ ? view.getFloat64(at + 16, isLittle) : undefined)
  }

  private row(kind: 'line' | 'ring'): string {
    const positions: string[] = []
    for (let left = this.count(this.hasZ ? 24 : 16); left > 0; left--) positions.push(this.position())
    return rowText(positions, kind)
  }

  private rings(): string {
    const rings: string[] = []
    for (let left = this.count(4); left > 0; left--) rings.push(this.row('ring'))
    return `[${rings.join(',')}]`
  }

  /** A number of things of at least `bytes` each. */
  private count(bytes: number): number {
    this.need(4)
    const count = this.view.getUint32(this.at, this.isLittle)
    this.at += 4
    this.need(count * bytes)
    return count
  }

  private need(bytes: number): void {
    if (bytes > this.view.byteLength - this.at) throw new GeometryFault('The geometry (WKB) ends too early.')
  }
}

function emptyPart(): never {
  throw new GeometryFault('A MultiPoint has a part that is an empty Point, for which GeoJSON has no form.')
}

function nameOf(type: number): string {
  return names.get(type) ?? ''
}

const collectionCode = 7
const names = new Map([...shapes].map(([name, { code }]) => [code, name])).set(collectionCode, collection)
const zOffset = 1000

/** The extent of geometries: least and greatest x, y and z. Empty while the least are above the greatest. */
export class Extent {
  readonly least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  readonly greatest = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]

  add(axis: 0 | 1 | 2, value: number): void {
    if (value < (this.least[axis] ?? 0)) this.least[axis] = value
    if (value > (this.greatest[axis] ?? 0)) this.greatest[axis] = value
  }

  join({ least, greatest }: Extent): void {
    for (const axis of [0, 1, 2] as const) {
      const [low = 0, high = 0] = [least[axis], greatest[axis]]
      if (low > high) continue
      this.add(axis, low)
      this.add(axis, high)
    }
  }
}

/** Writes geometries one after the other into one buffer. */
export class WkbWriter {
  readonly #out = new ByteBuffer(64 * 1024)
  #view = new DataView(this.#out.bytes.buffer)

  /** Bytes written. */
  get length(): number {
    return this.#out.at
  }

  /**
   * Writes the geometry; its type as GeoParquet names it (`Point`, `Polygon Z`), or undefined where the value is no
   * geometry of GeoJSON: what was written of it then is taken back.
   */
  write(geometry: unknown, extent: Extent): string | undefined {
    const start = this.#out.at
    const hasZ = holdsZ(geometry)
    const type = this.#geometry(geometry, hasZ, extent)
    if (type === undefined) this.#out.at = start
    return type === undefined || !hasZ ? type : `${type} Z`
  }

  /** The bytes written; the writer starts anew. */
  take(): Uint8Array {
    return this.#out.take()
  }

  #geometry(geometry: unknown, hasZ: boolean, extent: Extent): string | undefined {
    if (typeof geometry !== 'object' || geometry === null || !('type' in geometry)) return undefined
    const name = String(geometry.type)
    const shape = shapes.get(name)
    if (shape === undefined && name !== collection) return undefined
    this.#head(shape?.code ?? collectionCode, hasZ)
    if (shape !== undefined) {
      const coordinates: unknown = 'coordinates' in geometry ? geometry.coordinates : undefined
      const { code, depth } = shape
      // An empty Point, as GeoParquet and PostGIS have it.
      if (depth === 0 && Array.isArray(coordinates) && coordinates.length === 0) {
        for (let axis = 0; axis < (hasZ ? 3 : 2); axis++) this.#f64(Number.NaN)
        return name
      }
      return this.#nested(coordinates, { depth, member: code > 3 ? code - 3 : undefined, hasZ }, extent)
        ? name
        : undefined
    }
    const members: unknown = 'geometries' in geometry ? geometry.geometries : undefined
    if (!Array.isArray(members)) return undefined
    this.#u32(members.length)
    return members.every((member) => this.#geometry(member, hasZ, extent) !== undefined) ? name : undefined
  }

  #nested(
    coordinates: unknown,
    { depth, member, hasZ }: { readonly depth: number; readonly member: number | undefined; readonly hasZ: boolean },
    extent: Extent,
  ): boolean {
    if (!Array.isArray(coordinates)) return false
    if (depth === 0) return this.#position(coordinates, hasZ, extent)
    this.#u32(coordinates.length)
    return coordinates.every((part: unknown) => {
      if (member !== undefined) this.#head(member, hasZ)
      return this.#nested(part, { depth: depth - 1, member: undefined, hasZ }, extent)
    })
  }

  #position([x, y, z]: readonly unknown[], hasZ: boolean, extent: Extent): boolean {
    if (typeof x !== 'number' || typeof y !== 'number') return false
    this.#f64(x)
    this.#f64(y)
    extent.add(0, x)
    extent.add(1, y)
    if (!hasZ) return true
    if (typeof z === 'number') extent.add(2, z)
    this.#f64(typeof z === 'number' ? z : Number.NaN)
    return true
  }

  #head(code: number, hasZ: boolean): void {
    this.#out.byte(1)
    this.#u32(hasZ ? zOffset + code : code)
  }

  #u32(value: number): void {
    this.#room(4).setUint32(this.#out.at, value, true)
    this.#out.at += 4
  }

  #f64(value: number): void {
    this.#room(8).setFloat64(this.#out.at, value, true)
    this.#out.at += 8
  }

  /** The buffer with room for so many bytes more. */
  #room(count: number): DataView {
    this.#out.reserve(count)
    const { buffer } = this.#out.bytes
    if (this.#view.buffer !== buffer) this.#view = new DataView(buffer)
    return this.#view
  }
}

/** True when any position has three numbers or more. */
function holdsZ(value: unknown): boolean {
  if (Array.isArray(value)) {
    if (typeof value[0] === 'number') return typeof value[2] === 'number'
    return value.some(holdsZ)
  }
  if (typeof value !== 'object' || value === null) return false
  if ('coordinates' in value) return holdsZ(value.coordinates)
  return 'geometries' in value && holdsZ(value.geometries)
}

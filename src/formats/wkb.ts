// Well-known binary becomes the text of a GeoJSON geometry: ISO WKB, and the extended form of PostGIS, in either byte
// order. Heights stay; measures and curves have no place in GeoJSON and are refused by name.
// Sources: OGC 06-103r4 §8.2; https://libgeos.org/specifications/wkb/ (the extended form)

import { GeometryFault, geometryText, geometryTypes, positionText, rowText } from './geometry-text.ts'

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
 * The GeoJSON text of one geometry, `bytes[start, end)`; undefined for an empty Point, which GeoJSON has no form for.
 * Throws GeometryFault for bytes that are no geometry, for measures and curves, and for positions that are no longitude
 * and latitude.
 */
export function wkbToGeoJson(bytes: Uint8Array, start = 0, end = bytes.length): string | undefined {
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

  geometry(depth: number): string | undefined {
    if (depth > mostDepth) throw new GeometryFault(`The geometry is nested more than ${mostDepth} levels deep.`)
    const type = this.head()
    const name = geometryTypes[type] ?? ''
    switch (type) {
      case 1: {
        const position = this.point()
        return position === undefined ? undefined : geometryText(name, position)
      }
      case 2:
        return geometryText(name, this.row(false))
      case 3:
        return geometryText(name, this.rings())
      case 4:
        return geometryText(
          name,
          this.parts(1, () => this.point() ?? emptyPart()),
        )
      case 5:
        return geometryText(
          name,
          this.parts(2, () => this.row(false)),
        )
      case 6:
        return geometryText(
          name,
          this.parts(3, () => this.rings()),
        )
      default: {
        const members: string[] = []
        for (let left = this.count(5); left > 0; left--) members.push(this.geometry(depth + 1) ?? emptyPart())
        return `{"type":"GeometryCollection","geometries":[${members.join(',')}]}`
      }
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
    if (dimensions > 3 || geometryTypes[type] === undefined || type === 0) {
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
  private parts(type: number, read: () => string): string {
    const parts: string[] = []
    for (let left = this.count(5); left > 0; left--) {
      const found = this.head()
      if (found !== type)
        throw new GeometryFault(`A Multi${geometryTypes[type]} has a part that is a ${geometryTypes[found]}.`)
      parts.push(read())
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

  private row(isRing: boolean): string {
    const positions: string[] = []
    for (let left = this.count(this.hasZ ? 24 : 16); left > 0; left--) positions.push(this.position())
    return rowText(positions, isRing)
  }

  private rings(): string {
    const rings: string[] = []
    for (let left = this.count(4); left > 0; left--) rings.push(this.row(true))
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
  throw new GeometryFault('The geometry has a part that is an empty Point, for which GeoJSON has no form.')
}

// Geometries of GeoJSON as well-known binary, little-endian, in the ISO form: a type above 1000 has a third coordinate.
// Source: ISO 19125-1, as GeoParquet 1.1 asks (https://geoparquet.org/releases/v1.1.0/)

/** Codes by GeoJSON type; also how deep coordinates nest. */
const types: Readonly<Record<string, readonly [code: number, depth: number]>> = {
  Point: [1, 0],
  LineString: [2, 1],
  Polygon: [3, 2],
  MultiPoint: [4, 1],
  MultiLineString: [5, 2],
  MultiPolygon: [6, 3],
  GeometryCollection: [7, 0],
}
/** What each member of a type with several is by itself. */
const single: Readonly<Record<number, number>> = { 4: 1, 5: 2, 6: 3 }
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

  get isEmpty(): boolean {
    return (this.least[0] ?? 0) > (this.greatest[0] ?? 0)
  }
}

/** Writes geometries one after the other into one buffer. */
export class WkbWriter {
  #bytes = new Uint8Array(64 * 1024)
  #view = new DataView(this.#bytes.buffer)
  /** Bytes written. */
  length = 0

  /**
   * Writes the geometry; its type as GeoParquet names it (`Point`, `Polygon Z`), or undefined where the value is no
   * geometry of GeoJSON: what was written of it then is taken back.
   */
  write(geometry: unknown, extent: Extent): string | undefined {
    const start = this.length
    const hasZ = holdsZ(geometry)
    const type = this.#geometry(geometry, hasZ, extent)
    if (type === undefined) this.length = start
    return type === undefined || !hasZ ? type : `${type} Z`
  }

  /** The bytes written; the writer starts anew. */
  take(): Uint8Array {
    const out = this.#bytes.slice(0, this.length)
    this.length = 0
    return out
  }

  #geometry(geometry: unknown, hasZ: boolean, extent: Extent): string | undefined {
    if (typeof geometry !== 'object' || geometry === null || !('type' in geometry)) return undefined
    const name = String(geometry.type)
    const [code, depth] = Object.hasOwn(types, name) ? (types[name] ?? []) : []
    if (code === undefined || depth === undefined) return undefined
    this.#head(code, hasZ)
    if (code !== types['GeometryCollection']?.[0]) {
      const coordinates: unknown = 'coordinates' in geometry ? geometry.coordinates : undefined
      return this.#nested(coordinates, { depth, member: single[code], hasZ }, extent) ? name : undefined
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
    this.#reserve(5)
    this.#bytes[this.length] = 1
    this.#view.setUint32(this.length + 1, hasZ ? zOffset + code : code, true)
    this.length += 5
  }

  #u32(value: number): void {
    this.#reserve(4)
    this.#view.setUint32(this.length, value, true)
    this.length += 4
  }

  #f64(value: number): void {
    this.#reserve(8)
    this.#view.setFloat64(this.length, value, true)
    this.length += 8
  }

  #reserve(count: number): void {
    if (this.length + count <= this.#bytes.length) return
    const grown = new Uint8Array(2 * this.#bytes.length)
    grown.set(this.#bytes.subarray(0, this.length))
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
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

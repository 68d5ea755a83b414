// Vector tiles of the Web Mercator grid: features in degrees → Mapbox Vector Tile bytes, with as many of their columns as have
// room. Pure; projecting, clipping and the wire format are the libraries'. Source: Mapbox Vector Tile Specification 2.1; OGC
// 17-083r4 (WebMercatorQuad).

import { type GeoJSONVTFeature, geoJSONToTile } from '@maplibre/geojson-vt'
import { PbfWriter } from 'pbf'
import { utf8 } from '../base/bytes.ts'
import type { Bounds } from './geometry.ts'

export interface TileAddress {
  readonly z: number
  readonly x: number
  readonly y: number
}

export interface TileFeature {
  readonly id: number
  /** A GeoJSON geometry. */
  readonly geometry: object
  /** By column its value as text, behind the letter of its kind: `i`nteger, `d`ouble, `b`oolean, `t`ext. */
  readonly properties: readonly (string | undefined)[]
}

/** Deepest zoom. */
export const mostZoom = 24
const extent = 4096
/** Units beyond the edge that are drawn too, so that lines and symbols do not end there. */
const buffer = 64
/** More points than one in each cell of such a grid are not told apart. */
const gridCells = 160
/** What columns but the first may add to a tile. */
export const mostColumnBytes = 1024 * 1024
/** Of a value, about: where the feature names it, and around it where it stands. */
const [tagBytes, valueBytes] = [4, 4]

/** Whether there is such a tile. */
export function isTile({ z, x, y }: TileAddress): boolean {
  return z >= 0 && z <= mostZoom && x >= 0 && y >= 0 && x < 2 ** z && y < 2 ** z
}

/** The box of a tile and its buffer, in degrees. */
export function tileBounds({ z, x, y }: TileAddress): Bounds {
  const size = 2 ** z
  const margin = buffer / extent
  const latitude = (row: number): number => (Math.atan(Math.sinh(Math.PI * (1 - (2 * row) / size))) * 180) / Math.PI
  return [
    Math.max(-180, ((x - margin) / size) * 360 - 180),
    latitude(Math.min(size, y + 1 + margin)),
    Math.min(180, ((x + 1 + margin) / size) * 360 - 180),
    latitude(Math.max(0, y - margin)),
  ]
}

/**
 * The bytes of a tile with one layer, `features`; empty where nothing is left of them. `wrap`: what lies a turn of 360 degrees
 * beside the tile, or on the other side of the antimeridian, is drawn too. `left`: how many of the last columns had no room.
 */
export function encodeTile(
  features: readonly TileFeature[],
  columns: readonly string[],
  { tile: { z, x, y }, wrap }: { readonly tile: TileAddress; readonly wrap: boolean },
): { readonly bytes: Uint8Array; readonly left: number } {
  const collection = {
    type: 'FeatureCollection',
    features: features.map((feature) => ({ type: 'Feature', ...feature })),
  } as Parameters<typeof geoJSONToTile>[0] // geometries were read from GeoJSON
  const drawn = geoJSONToTile(collection, z, x, y, { extent, buffer, clip: true, wrap, updateable: false }).features
  if (drawn.length === 0) return { bytes: new Uint8Array(), left: 0 }
  const kept = columns.slice(0, columnsWithRoom(features, columns.length))
  const out = new PbfWriter()
  out.writeMessage(3, writeLayer, { drawn, columns: kept })
  return { bytes: out.finish(), left: columns.length - kept.length }
}

function columnsWithRoom(features: readonly TileFeature[], count: number): number {
  const known = new Set<string>()
  let room = mostColumnBytes
  for (let at = 1; at < count; at++) {
    for (const { properties } of features) {
      const text = properties[at]
      if (text === undefined) continue
      room -= known.has(text) ? tagBytes : tagBytes + valueBytes + utf8(text).length
      if (room < 0) return at
      known.add(text)
    }
  }
  return count
}

interface Layer {
  readonly drawn: readonly GeoJSONVTFeature[]
  readonly columns: readonly string[]
}

function writeLayer({ drawn, columns }: Layer, out: PbfWriter): void {
  out.writeVarintField(15, 2)
  out.writeStringField(1, 'features')
  out.writeVarintField(5, extent)
  const values = new Map<string, number>()
  for (const feature of drawn) {
    const texts = feature.tags as TileFeature['properties'] // as they were given
    const tags = columns.flatMap((_, at) => (texts[at] === undefined ? [] : [at, placeOf(texts[at], values)]))
    out.writeMessage(2, writeFeature, { feature, tags })
  }
  for (const name of columns) out.writeStringField(3, name)
  for (const value of values.keys()) out.writeMessage(4, writeValue, value)
}

/** The place of a value in the list of the layer, where each stands once. */
function placeOf(value: string, values: Map<string, number>): number {
  const place = values.get(value) ?? values.size
  values.set(value, place)
  return place
}

function writeFeature(
  { feature, tags }: { readonly feature: GeoJSONVTFeature; readonly tags: number[] },
  out: PbfWriter,
): void {
  const { id, type, geometry } = feature
  out.writeVarintField(1, Number(id))
  out.writePackedVarint(2, tags)
  out.writeVarintField(3, type)
  out.writePackedVarint(4, pathOf(type === 1 ? [geometry] : geometry, type))
}

/** All points at once, or a move to the first point of a line or ring and lines to the others; rings are closed. */
function pathOf(lists: readonly (readonly (readonly [number, number])[])[], type: number): number[] {
  const path: number[] = []
  let [lastX, lastY] = [0, 0]
  for (const list of lists) {
    const isClosed = type === 3 && list.length > 1 && list[0]?.join() === list.at(-1)?.join()
    const points = isClosed ? list.slice(0, -1) : list
    path.push((type === 1 ? points.length : 1) * 8 + 1)
    for (const [at, [x, y]] of points.entries()) {
      if (at === 1 && type !== 1) path.push((points.length - 1) * 8 + 2)
      path.push(...[x - lastX, y - lastY].map((by) => (by < 0 ? -2 * by - 1 : 2 * by)))
      ;[lastX, lastY] = [x, y]
    }
    if (type === 3) path.push(8 + 7)
  }
  return path
}

function writeValue(value: string, out: PbfWriter): void {
  const text = value.slice(1)
  if (value.startsWith('t')) return out.writeStringField(1, text)
  if (value.startsWith('d')) return out.writeDoubleField(3, Number(text))
  if (value.startsWith('b')) return out.writeBooleanField(7, text === 'true')
  const isNegative = text.startsWith('-')
  out.writeTag(isNegative ? 6 : 5, 0)
  // The library writes doubles; this is exact.
  let rest = isNegative ? -2n * BigInt(text) - 1n : BigInt(text)
  out.realloc(10)
  for (; rest > 127n; rest >>= 7n) out.buf[out.pos++] = Number(rest & 127n) + 128
  out.buf[out.pos++] = Number(rest)
}

/** Points within `bounds`, by id, at most one for each cell of a grid. */
export class PointGrid {
  readonly #bounds: Bounds
  readonly #taken = new Set<number>()
  readonly points = new Map<number, object>()

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  add(id: number, x: number, y: number): void {
    const [west, south, east, north] = this.#bounds
    const column = Math.floor(((x - west) / (east - west)) * gridCells)
    const row = Math.floor(((y - south) / (north - south)) * gridCells)
    const cell = row * (gridCells + 1) + column
    if (this.#taken.has(cell)) return
    this.#taken.add(cell)
    this.points.set(id, { type: 'Point', coordinates: [x, y] })
  }
}

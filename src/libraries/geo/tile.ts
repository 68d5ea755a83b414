// Vector tiles of the Web Mercator grid: features in degrees → Mapbox Vector Tile bytes. Pure; projecting, clipping and
// encoding are the libraries'. Source: Mapbox Vector Tile Specification 2.1; OGC 17-083r4 (WebMercatorQuad).

import { geoJSONToTile } from '@maplibre/geojson-vt'
import { fromGeojsonVt } from '@maplibre/vt-pbf'
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
  readonly properties: Readonly<Record<string, string | number>>
}

/** Deepest zoom. */
export const mostZoom = 24
const extent = 4096
/** Units beyond the edge that are drawn too, so that lines and symbols do not end there. */
const buffer = 64
/** More points than one in each cell of such a grid are not told apart. */
const gridCells = 160

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
 * beside the tile, or on the other side of the antimeridian, is drawn too.
 */
export function encodeTile(features: readonly TileFeature[], { z, x, y }: TileAddress, wrap: boolean): Uint8Array {
  const collection = {
    type: 'FeatureCollection',
    features: features.map((feature) => ({ type: 'Feature', ...feature })),
  } as Parameters<typeof geoJSONToTile>[0] // geometries were read from GeoJSON
  const tile = geoJSONToTile(collection, z, x, y, { extent, buffer, clip: true, wrap, updateable: false })
  return tile.features.length === 0 ? new Uint8Array() : fromGeojsonVt({ features: tile }, { version: 2, extent })
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

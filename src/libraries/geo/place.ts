// Where rows are: a column of GeoJSON texts, or two columns of numbers that are points. Pure.

import type { CoordinateColumns } from './coordinate-columns.ts'
import { maxLatitude, maxLongitude } from './rules.ts'

/** The columns, by name. */
export type Place = { readonly geometry: string } | CoordinateColumns

/** Names of its columns; of a pair the longitude first. */
export function placeNames(place: Place): readonly [string, string?] {
  return 'geometry' in place ? [place.geometry] : [place.longitude, place.latitude]
}

/** Whether two numbers are longitude and latitude; NaN is neither. */
export function isPoint(x: number, y: number): boolean {
  return Math.abs(x) <= maxLongitude && Math.abs(y) <= maxLatitude
}

/** The geometry that two numbers are, as they are written; `null` for what is no place. */
export function pointText(x: string, y: string): string {
  const isThere = x !== '' && y !== '' && isPoint(Number(x), Number(y))
  return isThere ? `{"type":"Point","coordinates":[${x},${y}]}` : 'null'
}

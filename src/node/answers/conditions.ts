// Where and when rows are, as conditions in SQL over the columns of one dataset, and how names and texts are written in it.

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { Bounds } from '../../libraries/geo/geometry.ts'
import { coordinatesOf } from '../../libraries/columnar/outputs/geojson/features.ts'
import type { Place } from '../../libraries/geo/place.ts'
import { maxLatitude, maxLongitude } from '../../libraries/geo/rules.ts'
import { placesOf } from '../../libraries/geo/turns.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { type Field, innerType } from '../../libraries/model/schema.ts'
import { sqlName, sqlText } from '../../libraries/sql/types.ts'

/** A rectangle in degrees; west is greater than east where it crosses the antimeridian. */
export interface Box {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/** A box of 4 numbers, or of 6 whose heights are left out; undefined for anything else, and for latitudes that are none. */
export function boxOf(numbers: readonly number[]): Box | undefined {
  if (!numbers.every(Number.isFinite)) return undefined
  const [west, south, east, north] = numbers.length === 6 ? [numbers[0], numbers[1], numbers[3], numbers[4]] : numbers
  if (west === undefined || south === undefined || east === undefined || north === undefined) return undefined
  if (numbers.length !== 4 && numbers.length !== 6) return undefined
  return south > north ? undefined : { west, south, east, north }
}

/** Times, inclusive, RFC 3339; absent: open. */
export interface Interval {
  readonly from: string | undefined
  readonly to: string | undefined
}

/** The column of geometries, of that name where one is given, or undefined. */
export function geometryColumn({ schema }: DatasetView, called = 'geometry'): Field | undefined {
  const folded = foldAscii(called)
  return schema?.fields.find(({ name, type }) => foldAscii(name) === folded && innerType(type).kind === 'String')
}

export function boundsOf({ west, south, east, north }: Box): Bounds {
  return [west, south, east, north]
}

/** Where the rows of a dataset are: its geometries, else its one pair of coordinates; undefined without either. */
export function placeOf(view: DatasetView): Place | undefined {
  const geometry = geometryColumn(view)
  if (geometry !== undefined) return { geometry: geometry.name }
  return coordinatesOf(view.schema?.fields ?? [])
}

/** The condition that a row's place meets a box, whichever way its longitudes are counted; numbers out of range never do. */
export function meets(place: Place, box: Box): string {
  const double = (number: number): string => `CAST(${number} AS DOUBLE)`
  const conditions = placesOf(boundsOf(box)).map((bounds) => {
    if ('geometry' in place) return `st_intersects(${sqlName(place.geometry)}, ${bounds.map(double).join(', ')})`
    const [west, south, east, north] = bounds
    const between = (name: string, least: number, most: number, end: number): string =>
      `${sqlName(name)} BETWEEN ${double(Math.max(least, -end))} AND ${double(Math.min(most, end))}`
    const { longitude, latitude } = place
    return `(${between(longitude, west, east, maxLongitude)} AND ${between(latitude, south, north, maxLatitude)})`
  })
  return `(${conditions.join(' OR ')})`
}

/** As `meets`, and null where a row has no place, so that its denial holds for rows with places alone. */
export function meetsIfThere(place: Place, box: Box): string {
  if ('geometry' in place) return meets(place, box)
  const anywhere = { west: -maxLongitude, south: -maxLatitude, east: maxLongitude, north: maxLatitude }
  return `(CASE WHEN ${meets(place, anywhere)} THEN ${meets(place, box)} END)`
}

/** The conditions that an event was in an interval. */
export function timeConditions({ vocabulary }: DatasetView, time: Interval | undefined): string[] {
  const eventTime = sqlName(vocabulary.eventTimeColumn)
  const conditions: string[] = []
  if (time?.from !== undefined) conditions.push(`${eventTime} >= CAST(${sqlText(time.from)} AS TIMESTAMPTZ)`)
  if (time?.to !== undefined) conditions.push(`${eventTime} <= CAST(${sqlText(time.to)} AS TIMESTAMPTZ)`)
  return conditions
}

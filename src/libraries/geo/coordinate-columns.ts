// Which two columns of numbers are longitude and latitude, by their names alone: `lat` and `lon`, `pickup_latitude` and
// `pickup_longitude`. Where more than one pair could be meant there is none, since nothing is guessed. Pure.

import { featureColumns } from './feature-columns.ts'

export interface CoordinateColumns {
  readonly longitude: string
  readonly latitude: string
}

const couples = [
  { latitude: 'latitude', longitude: 'longitude', mayEnd: true },
  { latitude: 'lat', longitude: 'lon', mayEnd: true },
  { latitude: 'lat', longitude: 'lng', mayEnd: true },
  // `week_long` may be anything.
  { latitude: 'lat', longitude: 'long', mayEnd: false },
]

/** The one pair of coordinates; undefined without one, with several, and beside a column of geometries. */
export function coordinateColumns(
  columns: readonly { readonly name: string; readonly isNumber: boolean }[],
): CoordinateColumns | undefined {
  const folded = columns.map(({ name, isNumber }) => ({
    name,
    isNumber,
    at: name.replace(/[A-Z]/g, (sign) => sign.toLowerCase()),
  }))
  if (folded.some(({ at, isNumber }) => at === featureColumns.geometry && !isNumber)) return undefined
  const numbers = folded.filter(({ isNumber }) => isNumber)
  const pairs = numbers.flatMap(({ name: latitude, at }) =>
    longitudesOf(at).flatMap((wanted) =>
      numbers.filter((other) => other.at === wanted).map(({ name: longitude }) => ({ longitude, latitude })),
    ),
  )
  return pairs.length === 1 ? pairs[0] : undefined
}

/** Names of the longitude that belongs to a latitude of this name; none where it is none. */
function longitudesOf(name: string): readonly string[] {
  return couples.flatMap(({ latitude, longitude, mayEnd }) => {
    if (name !== latitude && !(mayEnd && name.endsWith(`_${latitude}`))) return []
    return [name.slice(0, -latitude.length) + longitude]
  })
}

// Coordinates are found by the names of their columns, and never where two pairs could be meant.

import { describe, expect, test } from 'vitest'
import { coordinateColumns } from '../../../src/libraries/geo/coordinate-columns.ts'

/** Names of numbers; of a text after `'`. */
const found = (names: string): string => {
  const columns = names.split(' ').map((name) => ({ name: name.replace("'", ''), isNumber: !name.startsWith("'") }))
  const pair = coordinateColumns(columns)
  return pair === undefined ? 'none' : `${pair.longitude} ${pair.latitude}`
}

describe('the pair of coordinates among columns', () => {
  test.each([
    ["'iata 'name latitude longitude", 'longitude latitude'],
    ['lon lat', 'lon lat'],
    ['lat lng count', 'lng lat'],
    ['lat long', 'long lat'],
    ['Latitude LONGITUDE', 'LONGITUDE Latitude'],
    ['pickup_latitude pickup_longitude', 'pickup_longitude pickup_latitude'],
    ['start_lat start_lng end_lat', 'start_lng start_lat'],
    ['home_lat home_lon', 'home_lon home_lat'],
  ])('of %s is %s', (names, pair) => {
    expect(found(names)).toBe(pair)
  })

  test.each([
    ['no pair', 'latitude altitude'],
    ['spellings that do not belong together', 'latitude lon'],
    ['different prefixes', 'start_lat end_lon'],
    ['a word that only ends so', 'flat flon'],
    ['a prefixed long, which is no longitude', 'week_lat week_long'],
    ['texts', "'latitude longitude"],
    ['two pairs', 'start_lat start_lon end_lat end_lon'],
    ['two longitudes', 'lat lon lng'],
    ['two spellings of a pair', 'lat lon latitude longitude'],
    ['names twice', 'lat lon lon'],
    ['geometries beside them', "lat lon 'Geometry"],
  ])('is none for %s', (_, names) => {
    expect(found(names)).toBe('none')
  })
})

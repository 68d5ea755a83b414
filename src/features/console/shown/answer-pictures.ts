// Rows as a map: geometries, or points of a pair of coordinates. It is drawn from what the page shows anyway; rows that make no
// picture have none.

import type { AnswerColumn, Rows } from '../charts/cells.ts'
import { numberOf } from '../charts/cells.ts'
import type { ShownMap } from '../pictures.ts'
import { coordinateColumns } from '../../../libraries/geo/coordinate-columns.ts'
import { draw, pictureWidth } from '../../../libraries/geo/drawing.ts'
import { type Geometry, geometryOf } from '../../../libraries/geo/geometry.ts'
import { geometryText, positionText } from '../../../libraries/geo/rules.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { nextTurn } from '../../../libraries/base/clock.ts'
import { land } from '../files.ts'

/** Geometries of so many characters are read in a few milliseconds. */
const charsAtOnce = 50_000

/** A row with the GeoJSON text of where it is. */
interface Feature {
  readonly row: number | string
  readonly text: string
}

/**
 * Features as a picture; undefined where there are none, or some text is no geometry. `left`: how many rows are not among
 * them, for want of a place.
 */
export async function pictureOf(features: readonly Feature[], left = 0): Promise<ShownMap | undefined> {
  const geometries: Geometry[] = []
  let chars = 0
  try {
    for (const { text } of features) {
      geometries.push(geometryOf(text))
      chars += text.length
      if (chars > charsAtOnce) {
        chars = 0
        await nextTurn()
      }
    }
  } catch (error) {
    if (error instanceof NodeError && error.kind === 'SqlValue') return undefined
    throw error
  }
  const drawing = draw(geometries, land)
  return drawing && { ...drawing, width: pictureWidth, rows: features.map(({ row }) => row), left }
}

/** A point for each row that has a place on Earth; `longitude` and `latitude`: not a number where there is none. */
export async function pictureOfPoints(
  rows: readonly { readonly row: number | string; readonly longitude: number; readonly latitude: number }[],
): Promise<ShownMap | undefined> {
  // Also false for what is not a number.
  const placed = rows.filter(({ longitude, latitude }) => Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90)
  const features = placed.map(({ row, longitude, latitude }) => {
    return { row, text: geometryText('Point', positionText(longitude, latitude, undefined)) }
  })
  return await pictureOf(features, rows.length - features.length)
}

/** Of an answer the geometries of its column `geometry`, or else the points of its pair of coordinates. */
export async function mapOfAnswer(columns: readonly AnswerColumn[], rows: Rows): Promise<ShownMap | undefined> {
  const pair = coordinateColumns(columns)
  if (pair !== undefined) {
    const cellOf = (name: string): ((row: Rows[number]) => number) => {
      const at = columns.findIndex((column) => column.name === name)
      const column = columns[at]
      return (row) => (column === undefined ? Number.NaN : numberOf(row[at], column))
    }
    const [longitudeOf, latitudeOf] = [cellOf(pair.longitude), cellOf(pair.latitude)]
    return await pictureOfPoints(
      rows.map((cells, row) => ({ row, longitude: longitudeOf(cells), latitude: latitudeOf(cells) })),
    )
  }
  const at = columns.findIndex(({ name }) => name === 'geometry')
  const features = rows.flatMap((cells, row) => {
    const text = cells[at]
    return text === undefined ? [] : [{ row, text }]
  })
  return await pictureOf(features)
}

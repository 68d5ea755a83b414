// Functions of ours in the engine, over geometries as GeoJSON text: st_x, st_y, st_xmin … st_ymax, st_astext,
// st_intersects and bbox with a box. They are the same on every machine, so statements that call them can be signed.

import * as duckdb from '@duckdb/node-api'
import { NodeError } from '../../libraries/base/errors.ts'
import {
  type Bounds,
  boundsOf,
  type Geometry,
  geometryOf,
  intersectsBox,
  pointOf,
  wktOf,
} from '../../libraries/geo/geometry.ts'

/** Value of a row: of the geometry, and of the numbers that follow it. */
type Compute = (geometry: Geometry, numbers: readonly number[]) => duckdb.DuckDBValue

/** Positions of the numbers of a box. */
const boxNumbers = 4

function register(
  connection: duckdb.DuckDBConnection,
  name: string,
  {
    returns,
    numbers,
    compute,
  }: { readonly returns: duckdb.DuckDBType; readonly numbers: number; readonly compute: Compute },
): void {
  const mainFunction: duckdb.DuckDBScalarMainFunction = (info, input, output) => {
    const vectors = Array.from({ length: numbers + 1 }, (_, index) => input.getColumnVector(index))
    try {
      for (let row = 0; row < input.rowCount; row++) {
        const values = vectors.map((vector) => vector.getItem(row))
        output.setItem(row, values.includes(null) ? null : valueOf(values, compute))
      }
      output.flush()
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      info.setError(error.message)
    }
  }
  const parameterTypes = [duckdb.VARCHAR, ...Array.from({ length: numbers }, () => duckdb.DOUBLE)]
  connection.registerScalarFunction(
    duckdb.DuckDBScalarFunction.create({ name, mainFunction, returnType: returns, parameterTypes }),
  )
}

function valueOf([text, ...numbers]: readonly duckdb.DuckDBValue[], compute: Compute): duckdb.DuckDBValue {
  return compute(geometryOf(String(text)), numbers.map(Number))
}

const bound =
  (index: 0 | 1 | 2 | 3): Compute =>
  (geometry) =>
    boundsOf(geometry)?.[index] ?? null

const meets: Compute = (geometry, [west = 0, south = 0, east = 0, north = 0]) => {
  const box: Bounds = [west, south, east, north]
  return intersectsBox(geometry, box)
}

/** Adds the functions to an instance, before it is locked. */
export function registerSpatialFunctions(connection: duckdb.DuckDBConnection): void {
  const double = { returns: duckdb.DOUBLE, numbers: 0 }
  register(connection, 'st_x', { ...double, compute: (geometry) => pointOf(geometry)?.[0] ?? null })
  register(connection, 'st_y', { ...double, compute: (geometry) => pointOf(geometry)?.[1] ?? null })
  register(connection, 'st_xmin', { ...double, compute: bound(0) })
  register(connection, 'st_ymin', { ...double, compute: bound(1) })
  register(connection, 'st_xmax', { ...double, compute: bound(2) })
  register(connection, 'st_ymax', { ...double, compute: bound(3) })
  register(connection, 'st_astext', { returns: duckdb.VARCHAR, numbers: 0, compute: wktOf })
  for (const name of ['st_intersects', 'bbox']) {
    register(connection, name, { returns: duckdb.BOOLEAN, numbers: boxNumbers, compute: meets })
  }
}

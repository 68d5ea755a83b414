// Functions of ours in the engine, over geometries as GeoJSON text: st_x, st_y, st_xmin … st_ymax, st_astext,
// st_geometrytype, st_intersects and bbox with a box; st_point makes one of two numbers. They are the same on every machine, so statements that call them can be signed.

import type * as duckdb from '@duckdb/node-api'
import { NodeError } from '../../../libraries/base/errors.ts'
import {
  type Bounds,
  boundsOf,
  type Geometry,
  geometryOf,
  intersectsBox,
  pointOf,
  wktOf,
} from '../../../libraries/geo/geometry.ts'
import { GeometryFault, geometryText, positionText } from '../../../libraries/geo/rules.ts'
import { binding } from './binding.ts'

/** Value of a row: of the geometry, where the function takes one, and of the numbers. */
type Compute = (geometry: Geometry, numbers: readonly number[]) => duckdb.DuckDBValue
type ComputeOfNumbers = (numbers: readonly number[]) => duckdb.DuckDBValue

/** Positions of the numbers of a box. */
const boxNumbers = 4

function register(
  connection: duckdb.DuckDBConnection,
  name: string,
  {
    returns,
    numbers,
    ...by
  }: { readonly returns: duckdb.DuckDBType; readonly numbers: number } & (
    | { readonly compute: Compute }
    | { readonly make: ComputeOfNumbers }
  ),
): void {
  const doubles = Array.from({ length: numbers }, () => binding.DOUBLE)
  const parameterTypes = 'make' in by ? doubles : [binding.VARCHAR, ...doubles]
  const valueOf = (values: readonly duckdb.DuckDBValue[]): duckdb.DuckDBValue =>
    'make' in by ? by.make(values.map(Number)) : by.compute(geometryOf(String(values[0])), values.slice(1).map(Number))
  const mainFunction: duckdb.DuckDBScalarMainFunction = (info, input, output) => {
    const vectors = parameterTypes.map((_, index) => input.getColumnVector(index))
    try {
      for (let row = 0; row < input.rowCount; row++) {
        const values = vectors.map((vector) => vector.getItem(row))
        output.setItem(row, values.includes(null) ? null : valueOf(values))
      }
      output.flush()
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      info.setError(error.message)
    }
  }
  connection.registerScalarFunction(
    binding.DuckDBScalarFunction.create({ name, mainFunction, returnType: returns, parameterTypes }),
  )
}

const bound =
  (index: 0 | 1 | 2 | 3): Compute =>
  (geometry) =>
    boundsOf(geometry)?.[index] ?? null

const point: ComputeOfNumbers = ([x = 0, y = 0]) => {
  try {
    return geometryText('Point', positionText(x, y, undefined))
  } catch (cause) {
    if (!(cause instanceof GeometryFault)) throw cause
    throw new NodeError('SqlValue', `st_point: ${cause.message}`, { cause })
  }
}

const meets: Compute = (geometry, [west = 0, south = 0, east = 0, north = 0]) => {
  const box: Bounds = [west, south, east, north]
  return intersectsBox(geometry, box)
}

/** Adds the functions to an instance, before it is locked. */
export function registerSpatialFunctions(connection: duckdb.DuckDBConnection): void {
  const double = { returns: binding.DOUBLE, numbers: 0 }
  register(connection, 'st_x', { ...double, compute: (geometry) => pointOf(geometry)?.[0] ?? null })
  register(connection, 'st_y', { ...double, compute: (geometry) => pointOf(geometry)?.[1] ?? null })
  register(connection, 'st_xmin', { ...double, compute: bound(0) })
  register(connection, 'st_ymin', { ...double, compute: bound(1) })
  register(connection, 'st_xmax', { ...double, compute: bound(2) })
  register(connection, 'st_ymax', { ...double, compute: bound(3) })
  register(connection, 'st_astext', { returns: binding.VARCHAR, numbers: 0, compute: wktOf })
  register(connection, 'st_geometrytype', { returns: binding.VARCHAR, numbers: 0, compute: ({ type }) => type })
  register(connection, 'st_point', { returns: binding.VARCHAR, numbers: 2, make: point })
  for (const name of ['st_intersects', 'bbox']) {
    register(connection, name, { returns: binding.BOOLEAN, numbers: boxNumbers, compute: meets })
  }
}

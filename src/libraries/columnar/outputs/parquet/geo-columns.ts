// The geometry column of a file as GeoParquet has it: well-known binary, beside a column with the bounds of each row, which
// readers skip row groups by, and metadata that says so. Coordinates are WGS 84, as in GeoJSON.
// Source: https://geoparquet.org/releases/v1.1.0/

import { setBit } from '../../arrow/buffers.ts'
import { isPresent, makeColumn } from '../../arrow/columns.ts'
import { decodeUtf8 } from '../../../base/bytes.ts'
import { NodeError } from '../../../base/errors.ts'
import type { Column, DataType } from '../../../model/schema.ts'
import { jsonOf } from '../../../geo/feature-columns.ts'
import { Extent, WkbWriter } from '../../../geo/wkb.ts'

/** Members of the column of bounds, in order. */
export const boundNames = ['xmin', 'ymin', 'xmax', 'ymax'] as const
const double: DataType = { kind: 'Float64' }

/** Turns the GeoJSON text of a column into geometries, batch by batch. */
export class GeometryColumn {
  readonly #wkb = new WkbWriter()
  readonly #all = new Extent()
  readonly #types = new Set<string>()
  #hasZ = false

  /** The geometries, and the four columns of their bounds. Throws NodeError `SqlValue` for a text that is none. */
  convert(column: Column): { readonly geometry: Column; readonly bounds: readonly Column[] } {
    const { name, rows } = column
    const offsets = new Int32Array(rows + 1)
    const validity = new Uint8Array((rows + 7) >> 3)
    const bounds = boundNames.map(() => new Float64Array(rows))
    let missing = 0
    for (let row = 0; row < rows; row++) {
      const extent = new Extent()
      const isGeometry = isPresent(column, row) && this.#add(column, row, extent)
      if (isGeometry) setBit(validity, row)
      else missing++
      // Readers demand bounds of every geometry: those of an empty one, from ∞ to -∞, meet no box, and hide no other row.
      const values = [extent.least[0], extent.least[1], extent.greatest[0], extent.greatest[1]]
      for (const [at, bound] of bounds.entries()) bound[row] = isGeometry ? (values[at] ?? 0) : 0
      offsets[row + 1] = this.#wkb.length
    }
    const of = (values: Uint8Array, facts: Pick<Column, 'name' | 'type'>): Column =>
      makeColumn({
        ...facts,
        nullable: true,
        rows,
        nullCount: missing,
        validity: missing === 0 ? undefined : validity,
        values,
        offsets: facts.type.kind === 'Binary' ? offsets : undefined,
      })
    return {
      geometry: of(this.#wkb.take(), { name, type: { kind: 'Binary' } }),
      bounds: bounds.map((values, at) =>
        of(new Uint8Array(values.buffer), { name: boundNames[at] ?? '', type: double }),
      ),
    }
  }

  /** The value of the key `geo` of the file. */
  metadata(name: string, boundsName: string): string {
    const covering = Object.fromEntries(boundNames.map((bound) => [bound, [boundsName, bound]]))
    const axes = this.#hasZ ? ([0, 1, 2] as const) : ([0, 1] as const)
    const box = [...axes.map((axis) => this.#all.least[axis]), ...axes.map((axis) => this.#all.greatest[axis])]
    const facts = {
      encoding: 'WKB',
      geometry_types: [...this.#types].sort(),
      ...(box.every((value) => Number.isFinite(value)) && { bbox: box }),
      covering: { bbox: covering },
    }
    return JSON.stringify({ version: '1.1.0', primary_column: name, columns: { [name]: facts } })
  }

  /** Writes the geometry of a row; false where its text is `null`. */
  #add({ name, values, offsets }: Column, row: number, extent: Extent): boolean {
    const text = decodeUtf8(values.subarray(offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0))
    const geometry = jsonOf(text)
    if (geometry === null) return false
    const type = this.#wkb.write(geometry, extent)
    if (type === undefined) throw noGeometry(name, text)
    this.#types.add(type)
    this.#hasZ ||= type.endsWith(' Z')
    this.#all.join(extent)
    return true
  }
}

/** Whether a column may hold geometry: its first value does. A column without values may. */
export function beginsWithGeometry(column: Column): boolean {
  for (let row = 0; row < column.rows; row++) {
    if (!isPresent(column, row)) continue
    const { values, offsets } = column
    const geometry = jsonOf(decodeUtf8(values.subarray(offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0)))
    return geometry === null || new WkbWriter().write(geometry, new Extent()) !== undefined
  }
  return true
}

function noGeometry(column: string, text: string): NodeError {
  return new NodeError(
    'SqlValue',
    `A value of the column '${column}' is not a geometry of GeoJSON: ${JSON.stringify(text.slice(0, 80))}.`,
    { hint: 'Leave such rows out, or give the column another name than geometry.' },
  )
}

// Rows under the schema of their block: event-time and user columns in its order; a column that the rows lack is null.
// Of such columns there is one for all pieces of a length, since a wide dataset may have thousands of them.

import { batchBytes, sliceBatch } from '../arrow/columns.ts'
import { nullColumn } from '../arrow/null-column.ts'
import { assert, must } from '../../base/assert.ts'
import { type Column, type Field, innerType, isOptional, type RecordBatch } from '../../model/schema.ts'

export const pieceRows = 8192
export const pieceBytes = 1024 * 1024

export class AlignedRows {
  readonly #fields: readonly Field[]
  /** By place, as long as pieces have the same length. */
  #nulls: Column[] = []
  #nullRows = 0

  /** Under `fields`, those that the builder adds left out. */
  constructor(fields: readonly Field[]) {
    this.#fields = fields
  }

  /** The rows of `batch`, a few thousand or about 1 MiB at a time. */
  *pieces(batch: RecordBatch): Generator<RecordBatch> {
    const perRow = batchBytes(this.#align(batch)) / Math.max(1, batch.rows)
    const rows = Math.max(1, Math.min(pieceRows, Math.floor(pieceBytes / Math.max(1, perRow))))
    for (let at = 0; at < batch.rows; at += rows) {
      yield this.#align(sliceBatch(batch, at, Math.min(at + rows, batch.rows)))
    }
  }

  #align({ rows, columns: brought }: RecordBatch): RecordBatch {
    const byName = new Map(brought.map((column) => [column.name, column]))
    const columns = this.#fields.map((field, place): Column => {
      const column = byName.get(field.name)
      if (column === undefined) return this.#nullColumn(place, rows)
      const nullable = isOptional(field.type)
      assert(nullable || column.nullCount === 0, `the required column ${field.name} has no nulls`)
      return { ...column, type: innerType(field.type), nullable }
    })
    return { rows, columns }
  }

  #nullColumn(place: number, rows: number): Column {
    if (rows !== this.#nullRows) {
      this.#nulls = []
      this.#nullRows = rows
    }
    return (this.#nulls[place] ??= nullColumn(must(this.#fields[place], 'a field'), rows))
  }
}

// Hashes and encodes the columns of a slice, with a turn of the event loop after what takes its time.

import { must } from '../../base/assert.ts'
import { nextTurn } from '../../base/clock.ts'
import { type Field, innerType } from '../../model/schema.ts'
import { fixedWidth, freeColumn } from '../arrow/columns.ts'
import { ColumnHash } from '../arrow/logical-hash.ts'
import { joinedPieces } from '../arrow/null-column.ts'
import { parquetLeaf } from './file-schema.ts'
import {
  type ColumnChunk,
  encodeColumn,
  type PiecedRows,
  rowGroupBytes,
  rowGroupRows,
  wideColumns,
} from './write-slice.ts'

/** The columns of one slice. */
export interface ColumnWork {
  /** Rows in order, before their row group. */
  see(rows: PiecedRows): void
  /** A chunk for each column. */
  encode(group: PiecedRows): Promise<ColumnChunk[]>
  /** The hash of each column over all rows. */
  digests(): Promise<Uint8Array[]>
  /** To be called once, however it went. */
  end(): void
}

/** Rows of more bytes end row groups by them. */
export const groupedRowBytes = rowGroupBytes / rowGroupRows

/** Whether rows of nothing but nulls would: columns that no row brings are not logged, but built. */
export function isWide(fields: readonly Field[]): boolean {
  return fields.reduce((sum, { type }) => sum + (fixedWidth(innerType(type)) ?? 4), 0) > groupedRowBytes
}

/** Columns after which other work has its turn: a slice may have thousands. */
const columnsPerTurn = 16

export class OwnColumns implements ColumnWork {
  readonly #fields: readonly Field[]
  readonly #compress: (bytes: Uint8Array) => Uint8Array
  readonly #hashes: readonly ColumnHash[]

  constructor(fields: readonly Field[], compress: (bytes: Uint8Array) => Uint8Array) {
    this.#fields = fields
    this.#compress = compress
    this.#hashes = fields.map((field) => new ColumnHash(field, fields.length))
  }

  see({ columns }: PiecedRows): void {
    for (const [place, hash] of this.#hashes.entries()) {
      for (const piece of must(columns[place], 'a column')) hash.update(piece)
    }
  }

  async encode({ columns }: PiecedRows): Promise<ColumnChunk[]> {
    const chunks: ColumnChunk[] = []
    for (const field of this.#fields) {
      if (chunks.length % columnsPerTurn === columnsPerTurn - 1) await nextTurn()
      const pieces = columns.shift() ?? []
      const column = joinedPieces(pieces)
      const steps = encodeColumn(parquetLeaf(field), column, this.#compress)
      let step = steps.next()
      for (; step.done !== true; step = steps.next()) await nextTurn()
      chunks.push(step.value)
      // Pages that are not compressed may be views of the column.
      const isShared = step.value.parts.some(({ buffer }) => buffer === column.values.buffer)
      if (isShared || pieces.length < 2) continue
      freeColumn(column)
      if (this.#fields.length >= wideColumns) for (const piece of pieces) freeColumn(piece)
    }
    return chunks
  }

  async digests(): Promise<Uint8Array[]> {
    const digests: Uint8Array[] = []
    for (const hash of this.#hashes) {
      if (digests.length % columnsPerTurn === columnsPerTurn - 1) await nextTurn()
      digests.push(hash.digest())
    }
    return digests
  }

  end(): void {
    // Holds nothing.
  }
}

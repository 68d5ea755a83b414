// The levels in front of a page's values: which are there, and where lists begin. RLE runs, each with its length.
// Source: Apache Parquet, the page on encodings.

import { concatBytes } from '../../base/bytes.ts'
import type { ParquetLeaf } from './file-schema.ts'
import type { LeafValues } from './leaf.ts'
import { bitmapRun, bitWidth, packedRun, repeatedRun } from './write-values.ts'

/** Repetition and definition levels, each with its length in front; nothing for a required column. */
export function levelBytes(leaf: ParquetLeaf, values: LeafValues): Uint8Array {
  if (values.levels !== undefined) {
    const { definition, repetition } = values.levels
    const runs = [
      packedRun(repetition, bitWidth(leaf.maxRepetition)),
      packedRun(definition, bitWidth(leaf.maxDefinition)),
    ]
    return concatBytes(runs.flatMap(withLength))
  }
  if (leaf.maxDefinition === 0) return new Uint8Array(0)
  return concatBytes(withLength(presenceRun(values)))
}

function presenceRun({ rows, nullCount, validity }: LeafValues): Uint8Array {
  if (validity === undefined || nullCount === 0) return repeatedRun(rows, 1, 1)
  return nullCount === rows ? repeatedRun(rows, 0, 1) : bitmapRun(validity, rows)
}

function withLength(run: Uint8Array): Uint8Array[] {
  const length = new Uint8Array(4)
  new DataView(length.buffer).setUint32(0, run.length, true)
  return [length, run]
}

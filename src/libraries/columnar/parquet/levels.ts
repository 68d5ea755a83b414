// Levels become lists and nulls, one level of nesting after the other. Source: Apache Parquet, "Nested Encoding"; the Dremel
// paper.

import { setBit } from '../arrow/buffers.ts'
import { damaged } from './refusals.ts'

/** Levels of the entries of one leaf. `repetition` may be empty where no list is around. */
export interface Levels {
  readonly definition: Uint8Array
  readonly repetition: Uint8Array
}

/** A level of nesting, below `depth` lists: from which definition levels on its values are there, and its items. */
export interface Nesting {
  readonly depth: number
  readonly presentAt: number
  readonly itemAt: number
}

/** Which rows have a value. */
export interface Presence {
  readonly rows: number
  readonly nullCount: number
  /** Undefined where all have one. */
  readonly validity: Uint8Array | undefined
}

/** Lists: where the items of each begin, and the entries that are items or stand in them. */
export interface Lists extends Presence {
  readonly offsets: Int32Array
  readonly items: Levels
}

/** The rows at a level that is no list. */
export function presence({ definition, repetition }: Levels, depth: number, presentAt: number): Presence {
  const validity = new Uint8Array((definition.length + 7) >> 3)
  let [rows, nullCount] = [0, 0]
  for (let entry = 0; entry < definition.length; entry++) {
    if ((repetition[entry] ?? 0) > depth) continue
    if ((definition[entry] ?? 0) >= presentAt) setBit(validity, rows)
    else nullCount++
    rows++
  }
  return { rows, nullCount, validity: nullCount === 0 ? undefined : validity.subarray(0, (rows + 7) >> 3) }
}

/** The rows at a level of lists: the entries that do not continue a list. Throws ParquetFault. */
export function lists({ definition, repetition }: Levels, { depth, presentAt, itemAt }: Nesting): Lists {
  const entries = definition.length
  const offsets = new Int32Array(entries + 1)
  const validity = new Uint8Array((entries + 7) >> 3)
  const inner = { definition: new Uint8Array(entries), repetition: new Uint8Array(entries) }
  let [rows, nullCount, items, kept] = [0, 0, 0, 0]
  for (let entry = 0; entry < entries; entry++) {
    const level = definition[entry] ?? 0
    const continues = (repetition[entry] ?? 0) > depth
    if (continues && (level < itemAt || entry === 0 || (definition[entry - 1] ?? 0) < itemAt)) {
      return damaged('continues a list that has not begun')
    }
    if (!continues) {
      offsets[rows] = items
      if (level >= presentAt) setBit(validity, rows)
      else nullCount++
      rows++
    }
    if (level < itemAt) continue
    if ((repetition[entry] ?? 0) <= depth + 1) items++
    inner.definition[kept] = level
    inner.repetition[kept++] = repetition[entry] ?? 0
  }
  offsets[rows] = items
  return {
    rows,
    nullCount,
    validity: nullCount === 0 ? undefined : validity.subarray(0, (rows + 7) >> 3),
    offsets: offsets.subarray(0, rows + 1),
    items: { definition: inner.definition.subarray(0, kept), repetition: inner.repetition.subarray(0, kept) },
  }
}

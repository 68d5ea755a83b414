// The chunks of a result, and the rows of a chunk in groups. What a row holds is copied out of the engine's memory when it is
// read, so a chunk of large values is read a few rows at a time: the copies stay small whatever the values are.

import type * as duckdb from '@duckdb/node-api'
import { setBits } from '../../../libraries/columnar/arrow/buffers.ts'
import { must } from '../../../libraries/base/assert.ts'
import { binding } from './binding.ts'
import { itemsOf, memberOf, unionParts } from './cells.ts'
import { textEntryBytes } from './text.ts'
import { isSet, presenceOf, rawOf } from './vectors.ts'

const Id = binding.DuckDBTypeId
/** Of the values of a group, unless one row has more. */
const groupBytes = 16 * 1024 * 1024
/** A chunk has room for 2,048 rows, and each file begins another. The collector frees them: after so many, and those of a result. */
const chunksHeld = 64
const chunksLeft = 8

/** Rows [from, to) of a chunk; the bitmap `within` has them alone, and is absent where they begin with the first. */
export interface RowGroup {
  readonly from: number
  readonly to: number
  readonly within: Uint8Array | undefined
}

/** The chunks of a result; `isAhead`: the engine works on the next one while one is read. */
export async function* chunksOf(
  result: Pick<duckdb.DuckDBResult, 'fetchChunk'>,
  isAhead: boolean,
): AsyncGenerator<duckdb.DuckDBDataChunk> {
  let coming = result.fetchChunk()
  let count = 0
  try {
    for (;;) {
      const chunk = await coming
      if (chunk === null || chunk.rowCount === 0) return
      if (isAhead) coming = result.fetchChunk()
      yield chunk
      if (!isAhead) coming = result.fetchChunk()
      if (++count % chunksHeld === 0) collect('minor')
    }
  } finally {
    // A chunk that is still being made must not meet the next statement. How it ends was told, or is of no interest.
    await coming.catch(() => undefined)
    if (count >= chunksLeft) collect('minor')
  }
}

/** Bytes that the first `rows` rows of a chunk take at least, however they are written. Nothing is copied. */
export function rowSizes(
  chunk: duckdb.DuckDBDataChunk,
  types: readonly duckdb.DuckDBType[],
  rows: number,
): Float64Array {
  const sizes = new Float64Array(rows)
  for (const [at, type] of types.entries()) if (isLong(type)) addSizes(sizes, type, chunk.getColumnVector(at))
  return sizes
}

/** Rows of these sizes. What was copied of a group is collected before the next. */
export function* rowGroups(sizes: Float64Array): Generator<RowGroup> {
  const rows = sizes.length
  let from = 0
  let bytes = 0
  for (const [row, size] of sizes.entries()) {
    if (bytes + size > groupBytes && row > from) {
      yield groupOf(from, row)
      collect()
      from = row
      bytes = 0
    }
    bytes += size
  }
  if (from < rows) yield groupOf(from, rows)
}

/** The collector of this process at once, where its parent exposes it: it counts large buffers and results too little. */
export function collect(type: 'major' | 'minor' = 'major'): void {
  globalThis.gc?.({ type })
}

function groupOf(from: number, to: number): RowGroup {
  if (from === 0) return { from, to, within: undefined }
  const within = new Uint8Array((to + 7) >> 3)
  setBits(within, from, to - from)
  return { from, to, within }
}

/** Its values may be of any length. */
function isLong({ typeId }: duckdb.DuckDBType): boolean {
  return isText(typeId) || [Id.LIST, Id.ARRAY, Id.STRUCT, Id.MAP, Id.UNION].includes(typeId)
}

function isText(typeId: duckdb.DuckDBTypeId): boolean {
  return [Id.VARCHAR, Id.BLOB, Id.BIT, Id.BIGNUM].includes(typeId)
}

/** Adds to the size of each row the bytes of its texts, and one for each item of a list. */
function addSizes(sizes: Float64Array, type: duckdb.DuckDBType, vector: duckdb.DuckDBVector, outer?: Uint8Array): void {
  const raw = rawOf(vector)
  const rows = sizes.length
  if (type.typeId === Id.STRUCT) {
    const { validity } = presenceOf(raw, rows, outer)
    for (const [at, member] of type.entryTypes.entries())
      addSizes(sizes, member, memberOf(raw.entryVectors, at), validity)
  } else if (type.typeId === Id.UNION) {
    const { vectors, used } = unionParts(type, vector, rows, outer)
    for (const [at, member] of type.memberTypes.entries()) addSizes(sizes, member, memberOf(vectors, at + 1), used[at])
  } else if (type.typeId === Id.LIST || type.typeId === Id.ARRAY || type.typeId === Id.MAP) {
    const items = itemsOf(type, type.typeId === Id.MAP ? must(raw.listVector, 'a list') : vector, rows, outer)
    const each = new Float64Array(items.end).fill(1)
    if (type.typeId !== Id.MAP) addSizes(each, type.valueType, items.vector, items.used)
    const parts = type.typeId === Id.MAP ? [type.keyType, type.valueType] : []
    for (const [at, part] of parts.entries())
      addSizes(each, part, memberOf(rawOf(items.vector).entryVectors, at), items.used)
    for (let row = 0; row < rows; row++) {
      const start = items.starts[row] ?? 0
      const end = start + (items.lengths[row] ?? 0)
      for (let at = start; at < end; at++) sizes[row] = (sizes[row] ?? 0) + (each[at] ?? 0)
    }
  } else if (isText(type.typeId)) {
    const presence = presenceOf(raw, rows, outer)
    const view = must(raw.dataView, 'text vectors have a view')
    for (let row = 0; row < rows; row++)
      if (isSet(presence, row)) sizes[row] = (sizes[row] ?? 0) + view.getUint32(row * textEntryBytes, true)
  }
}

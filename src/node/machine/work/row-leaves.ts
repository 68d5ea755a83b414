// The root over the rows of a slice. A leaf is a row: each as the JSON object that `/tail` prints, in canonical form, with its salt
// before it. For the job `rowLeaves`.

import { must } from '../../../libraries/base/assert.ts'
import { ByteBuffer } from '../../../libraries/base/byte-buffer.ts'
import { concatBytes } from '../../../libraries/base/bytes.ts'
import { nextTurn } from '../../../libraries/base/clock.ts'
import { DecodeError } from '../../../libraries/base/errors.ts'
import { canonicalText } from '../../../libraries/base/json/canonical.ts'
import { parseJson } from '../../../libraries/base/json/json.ts'
import { sliceBatch } from '../../../libraries/columnar/arrow/columns.ts'
import { cellWriter, jsonStyle } from '../../../libraries/columnar/outputs/cells.ts'
import type { FileColumn } from '../../../libraries/columnar/outputs/file-format.ts'
import { ndJson } from '../../../libraries/columnar/outputs/ndjson/format.ts'
import { openSlice } from '../../../libraries/columnar/parquet/read-slice.ts'
import { recordLeaf, type RecordPlace, rowSalt } from '../../../libraries/ledger/roots.ts'
import { fullTileWidth } from '../../../libraries/ledger/tiles.ts'
import {
  type Column,
  type DataType,
  type Field,
  innerType,
  isStorable,
  type RecordBatch,
} from '../../../libraries/model/schema.ts'
import { inflatePage } from './zstd-page.ts'
import { placeIn, tileStart, type UpperTree, upperTree } from './record-tree.ts'

export interface RowLeavesOf {
  /** Of the block. */
  readonly secret: Uint8Array
  /** Offset of the first row. */
  readonly start: number
  /** Offset of the row whose record is wanted. */
  readonly wanted?: number
  /** The tree over all rows, where it is known: then only the tile of the row that is wanted is read and hashed. */
  readonly tree?: UpperTree
}

export interface RowLeaves {
  readonly tree: UpperTree
  /** The row that is wanted: its leaf, its place, and its record as canonical JSON. */
  readonly shown?: { readonly leaf: Uint8Array; readonly place: RecordPlace; readonly record: string }
}

const rowsAtOnce = 512
const lineEnd = 10
const text: DataType = { kind: 'String' }

/** The tree over all rows, and the row that is wanted. Throws DecodeError for a slice that cannot be read. */
export async function rowLeaves(bytes: Uint8Array, of: RowLeavesOf): Promise<RowLeaves> {
  const { secret, start, wanted, tree: known } = of
  const index = wanted === undefined ? -1 : wanted - start
  const [first, last] = known === undefined ? [0, Infinity] : [tileStart(index), tileStart(index) + fullTileWidth]
  const { fields, batches } = openSlice(bytes, {
    decompress: inflatePage,
    isRead: (from, to) => from < last && first < to,
  })
  const writer = ndJson.begin(
    fields.map(fileColumn),
    { escapeFormulas: false, geometry: undefined },
    { compress: same },
  )
  const hashes: Uint8Array[] = []
  let record: string | undefined
  let row = 0
  for await (const batch of batches) {
    const end = Math.min(batch.rows, last - row)
    for (let from = Math.max(0, first - row); from < end; from += rowsAtOnce) {
      const part = printable(sliceBatch(batch, from, Math.min(from + rowsAtOnce, end)))
      for (const line of linesOf(concatBytes([...writer.rows(part)]))) {
        const at = first + hashes.length
        const value = parseJson(line)
        hashes.push(recordLeaf(rowSalt(secret, start + at), value))
        if (at === index) record = canonicalText(value)
      }
      await nextTurn()
    }
    row += batch.rows
  }
  const tree = known ?? (await upperTree(hashes))
  if (record === undefined) return { tree }
  const tile = hashes.slice(tileStart(index) - first, tileStart(index) - first + fullTileWidth)
  const leaf = must(tile[index % fullTileWidth], 'the row is in its tile')
  return { tree, shown: { leaf, place: placeIn(tree, index, tile), record } }
}

function fileColumn({ name, type }: Pick<Field, 'name' | 'type'>): FileColumn {
  if (!isStorable(type)) throw new DecodeError('slice', `column ${name} has values that slices of this node never have`)
  const inner = innerType(type)
  return inner.kind === 'List' ? { name, type: text, means: 'json' } : { name, type: inner, means: 'value' }
}

/** With lists as JSON text. */
function printable({ rows, columns }: RecordBatch): RecordBatch {
  return {
    rows,
    columns: columns.map((column) => (column.child === undefined ? column : listTexts(column, column.child))),
  }
}

function listTexts(column: Column, items: Column): Column {
  const out = new ByteBuffer(rowsAtOnce)
  const write = cellWriter(items, fileColumn(items), out, jsonStyle)
  const offsets = new Int32Array(column.rows + 1)
  for (let row = 0; row < column.rows; row++) {
    const [start, end] = [column.offsets?.[row] ?? 0, column.offsets?.[row + 1] ?? 0]
    out.ascii('[')
    for (let item = start; item < end; item++) {
      if (item > start) out.ascii(',')
      write(item)
    }
    out.ascii(']')
    offsets[row + 1] = out.at
  }
  const { child: _, ...rest } = column
  return { ...rest, type: text, values: out.take(), offsets }
}

function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(lineEnd, at)
    yield bytes.subarray(at, end)
    at = end + 1
  }
}

function same(bytes: Uint8Array): Uint8Array {
  return bytes
}

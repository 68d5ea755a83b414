// The root over the rows of a slice. A leaf is a row: each as the JSON object that `/tail` prints, in canonical form, with its salt
// before it. For the job `rowLeaves`.

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
import {
  type Column,
  type DataType,
  type Field,
  innerType,
  isStorable,
  type RecordBatch,
} from '../../../libraries/model/schema.ts'
import { inflatePage } from './inflate-page.ts'
import { recordTree } from './record-tree.ts'

export interface RowLeavesOf {
  /** Of the block. */
  readonly secret: Uint8Array
  /** Offset of the first row. */
  readonly start: number
  /** Offset of the row whose record is wanted. */
  readonly wanted?: number
}

export interface RowLeaves {
  readonly root: Uint8Array
  /** The row that is wanted: its place, and its record as canonical JSON. */
  readonly shown?: { readonly place: RecordPlace; readonly record: string }
}

const rowsAtOnce = 512
const lineEnd = 10
const text: DataType = { kind: 'String' }

/** The root over all rows, and the row that is wanted. Throws DecodeError for a slice that cannot be read. */
export async function rowLeaves(bytes: Uint8Array, { secret, start, wanted }: RowLeavesOf): Promise<RowLeaves> {
  const { fields, batches } = openSlice(bytes, { decompress: inflatePage })
  const writer = ndJson.begin(
    fields.map(fileColumn),
    { escapeFormulas: false, geometry: undefined },
    { compress: same },
  )
  const hashes: Uint8Array[] = []
  let record: string | undefined
  for await (const batch of batches) {
    for (let from = 0; from < batch.rows; from += rowsAtOnce) {
      const part = printable(sliceBatch(batch, from, Math.min(from + rowsAtOnce, batch.rows)))
      for (const line of linesOf(concatBytes([...writer.rows(part)]))) {
        const offset = start + hashes.length
        const row = parseJson(line)
        hashes.push(recordLeaf(rowSalt(secret, offset), row))
        if (offset === wanted) record = canonicalText(row)
      }
      await nextTurn()
    }
  }
  const { root, placeOf } = await recordTree(hashes)
  return {
    root,
    ...(wanted !== undefined && record !== undefined && { shown: { place: placeOf(wanted - start), record } }),
  }
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

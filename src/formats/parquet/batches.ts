// Batches of a file that is open: row group after row group, all columns side by side. A batch has as many rows as fit
// into a few MiB, so that neither wide rows nor dictionaries of long texts take more memory.

import { fixedWidth } from '../../arrow/columns.ts'
import { must } from '../../lib/assert.ts'
import { nextTurn } from '../../lib/clock.ts'
import type { Limits } from '../../lib/limits.ts'
import { type Column, type Field, innerType, type RecordBatch } from '../../model/schema.ts'
import { ChunkPages, type PageSource } from '../../parquet/chunk-pages.ts'
import type { Footer, RowGroup } from '../../parquet/footer.ts'
import { damaged } from '../../parquet/refusals.ts'
import { fillTexts, PendingTexts } from './bytes-column.ts'
import { located } from './faults.ts'
import type { FileColumn } from './file-columns.ts'
import { fewerValues, readFixedColumn } from './fixed-column.ts'
import { LeafCursor } from './leaf-cursor.ts'

const mostRows = 16_384
/** Values of a batch, in bytes; a row may have more. */
const mostBatchBytes = 4 * 1024 * 1024

/** A file whose footer was judged. */
export interface OpenFile {
  readonly footer: Footer
  readonly columns: readonly FileColumn[]
  readonly source: PageSource
  readonly limits: Pick<Limits, 'recordBytes'>
}

/** The rows of `file`, with the columns at `places`. Throws NodeError. */
export async function* readBatches(file: OpenFile, places: readonly number[]): AsyncGenerator<RecordBatch> {
  let firstRow = 0
  for (let index = 0; index < file.footer.rowGroups; index++) {
    const group = file.footer.rowGroup(index)
    const columns = places.map((place) => openColumn(file, group, must(file.columns[place], 'a column of the file')))
    const reading = { columns, rowGroup: index, end: firstRow + group.rows }
    try {
      while (firstRow < reading.end) {
        const batch = await readBatch(reading, firstRow)
        firstRow += batch.rows
        yield batch
        await nextTurn()
      }
      for (const column of columns) await checkEnd(column, index)
    } finally {
      for (const column of columns) column.cursor.pages.close()
    }
  }
}

/** A column of a row group that is being read. `pending` where its values have no fixed width. */
interface OpenColumn {
  readonly field: Field
  readonly cursor: LeafCursor
  readonly pending: PendingTexts | undefined
}

interface Reading {
  readonly columns: readonly OpenColumn[]
  readonly rowGroup: number
  /** The row behind the last of the row group. */
  readonly end: number
}

function openColumn({ columns, source }: OpenFile, group: RowGroup, column: FileColumn): OpenColumn {
  const leaf = must(column.leaves[0], 'a leaf')
  void columns
  const chunk = must(group.chunks[leaf.index], 'a chunk')
  const { reading } = leaf.leafType
  const isTexts = reading === 'bytes' || reading === 'uuid'
  return {
    field: column.field,
    cursor: new LeafCursor(leaf, new ChunkPages(source, chunk, leaf)),
    pending: isTexts ? new PendingTexts() : undefined,
  }
}

async function readBatch({ columns, rowGroup, end }: Reading, firstRow: number): Promise<RecordBatch> {
  let texts = 0
  let rowBytes = 0
  for (const { field, pending } of columns) {
    if (pending !== undefined) texts++
    else rowBytes += fixedWidth(innerType(field.type)) ?? 1
  }
  const fitting = Math.max(1, Math.floor(mostBatchBytes / Math.max(1, rowBytes)))
  let rows = Math.min(mostRows, end - firstRow, fitting)
  const bytes = mostBatchBytes / Math.max(1, texts)
  for (const { pending, cursor } of columns) {
    if (pending === undefined) continue
    await at(cursor, rowGroup, async () => {
      if (!(await fillTexts(pending, cursor, { rows, bytes }))) damaged(fewerValues)
    })
    rows = Math.min(rows, pending.rows)
  }
  const out: Column[] = []
  for (const { field, pending, cursor } of columns) {
    await at(cursor, rowGroup, async () => {
      out.push(pending?.cut(field, rows, firstRow) ?? (await readFixedColumn(cursor, field, rows, firstRow)))
    })
  }
  return { rows, columns: out }
}

/** A chunk must not have more than its rows. */
async function checkEnd({ cursor, pending }: OpenColumn, rowGroup: number): Promise<void> {
  await at(cursor, rowGroup, async () => {
    if ((pending?.rows ?? 0) > 0 || (await cursor.more())) damaged('has more values than rows')
  })
}

async function at(cursor: LeafCursor, rowGroup: number, read: () => Promise<void>): Promise<void> {
  try {
    await read()
  } catch (error) {
    throw located(error, { column: cursor.leaf.path, rowGroup, page: cursor.pages.page })
  }
}

// Batches of a file that is open: row group after row group, all columns side by side. A batch has as many rows as fit
// into a few MiB, so that neither wide rows nor dictionaries of long texts take more memory. Where the pages of all columns
// are too much to be open together, some are let go and read again, and more rows are read at once.

import { batchBytes, concatColumns, fixedWidth, sliceBatch, sliceColumn } from '../arrow/columns.ts'
import { must } from '../../base/assert.ts'
import { nextTurn } from '../../base/clock.ts'
import type { Limits } from '../../base/limits.ts'
import { type Column, type Field, innerType, type RecordBatch } from '../../model/schema.ts'
import { ChunkPages } from '../parquet/chunk-pages.ts'
import type { Footer, RowGroup } from '../parquet/footer.ts'
import { damaged, UnfitValue } from '../parquet/refusals.ts'
import { fillTexts, PendingTexts } from '../parquet/bytes-column.ts'
import { located, valueFault } from './faults.ts'
import type { FileColumn } from '../parquet/file-columns.ts'
import { fewerValues, readFixedColumn } from '../parquet/fixed-column.ts'
import type { CellCount } from '../file-limits.ts'
import type { GeoColumns } from './geo-columns.ts'
import { LeafCursor } from '../parquet/leaf-cursor.ts'
import { NestedColumn } from './nested-column.ts'
import type { CountedPages } from '../parquet/chunk-pages.ts'

const mostRows = 16_384
/** Values of a batch, in bytes; a row may have more. */
const mostBatchBytes = 4 * 1024 * 1024
/** The same of rows that are read at once where pages were let go, since these are read again for the next rows. */
const mostBandRows = 8 * mostRows
const mostBandBytes = 64 * 1024 * 1024
/** Bytes of columns after which other work has its turn. */
const turnBytes = 512 * 1024

/** A file whose footer was judged. */
export interface OpenFile {
  readonly footer: Footer
  readonly columns: readonly FileColumn[]
  readonly geo: GeoColumns
  readonly source: CountedPages
  readonly limits: Pick<Limits, 'recordBytes'>
  readonly cells: CellCount
}

/** The rows of `file`, with the columns at `places`. Throws NodeError. */
export async function* readBatches(file: OpenFile, places: readonly number[]): AsyncGenerator<RecordBatch> {
  let firstRow = 0
  for (let index = 0; index < file.footer.rowGroups; index++) {
    const group = file.footer.rowGroup(index)
    const columns = places.map((place) => openColumn(file, group, must(file.columns[place], 'a column of the file')))
    const reading = { columns, rowGroup: index, end: firstRow + group.rows, source: file.source }
    try {
      while (firstRow < reading.end) {
        const band = await readBand(reading, firstRow)
        firstRow += band.rows
        file.cells.takeBatch(band)
        for (const batch of inBatches(band)) {
          yield batch
          await nextTurn()
          file.source.demandCaller()
        }
      }
      for (const column of columns) await checkEnd(column, index)
    } finally {
      for (const column of columns) for (const { pages } of column.cursors) pages.close()
    }
  }
}

/**
 * A column of a row group that is being read. What was read ahead: `pending` where values have no fixed width, `ahead` of
 * columns whose pages are let go.
 */
type OpenColumn = { readonly field: Field; readonly cursors: readonly LeafCursor[] } & (
  | { readonly kind: 'fixed'; readonly cursor: LeafCursor; ahead: Column | undefined }
  | { readonly kind: 'texts'; readonly cursor: LeafCursor; readonly pending: PendingTexts }
  | { readonly kind: 'nested'; readonly nested: NestedColumn; readonly pending: PendingTexts }
)

interface Reading {
  readonly columns: readonly OpenColumn[]
  readonly rowGroup: number
  /** The row behind the last of the row group. */
  readonly end: number
  readonly source: CountedPages
}

function openColumn({ source, geo, limits }: OpenFile, group: RowGroup, column: FileColumn): OpenColumn {
  const { field, node, isFlat, leaves } = column
  const cursors = leaves.map((leaf) => {
    return new LeafCursor(leaf, new ChunkPages(source, must(group.chunks[leaf.index], 'a chunk'), leaf))
  })
  const form = geo.forms.get(field.name)
  if (!isFlat || form !== undefined) {
    const nested = new NestedColumn({ node, cursors, form, recordBytes: limits.recordBytes })
    return { field, cursors, kind: 'nested', nested, pending: new PendingTexts() }
  }
  const cursor = must(cursors[0], 'a leaf')
  const { reading } = cursor.leaf.leafType
  if (reading === 'bytes' || reading === 'uuid') {
    return { field, cursors, kind: 'texts', cursor, pending: new PendingTexts() }
  }
  return { field, cursors, kind: 'fixed', cursor, ahead: undefined }
}

/** A band as batches, none of which is much more than what a batch may have. */
function* inBatches(band: RecordBatch): Generator<RecordBatch> {
  if (band.rows <= 1 || (band.rows <= mostRows && batchBytes(band) <= 2 * mostBatchBytes)) yield band
  else {
    const half = band.rows >> 1
    yield* inBatches(sliceBatch(band, 0, half))
    yield* inBatches(sliceBatch(band, half, band.rows))
  }
}

/** The next rows: as many as a batch has, or more where the pages of all columns are more than may be open. */
async function readBand({ columns, rowGroup, end, source }: Reading, firstRow: number): Promise<RecordBatch> {
  const isBand = columns.some(({ cursors }) => cursors.some(({ isLetGo }) => isLetGo))
  const most = isBand ? { rows: mostBandRows, bytes: mostBandBytes } : { rows: mostRows, bytes: mostBatchBytes }
  let texts = 0
  let rowBytes = 0
  for (const { field, kind } of columns) {
    if (kind === 'fixed') rowBytes += fixedWidth(innerType(field.type)) ?? 1
    else texts++
  }
  const fitting = Math.max(1, Math.floor(most.bytes / Math.max(1, rowBytes)))
  let rows = Math.min(most.rows, end - firstRow, fitting)
  const share = mostBandBytes / columns.length
  const bytes = isBand ? Math.min(mostBatchBytes, share) : mostBatchBytes / Math.max(1, texts)
  // Texts first: they decide how many rows there are.
  for (const column of columns) {
    if (column.kind === 'fixed') continue
    source.demandCaller()
    await fill(column, { rows, bytes }, { rowGroup, firstRow })
    if (source.isCrowded()) for (const cursor of column.cursors) cursor.letGo()
    rows = Math.min(rows, column.pending.rows)
  }
  const out: Column[] = []
  let turn = 0
  for (const column of columns) {
    const done = await cut(column, rows, { rowGroup, firstRow, share, left: end - firstRow })
    if (source.isCrowded()) for (const cursor of column.cursors) cursor.letGo()
    out.push(done)
    turn += done.values.length + rows
    if (turn < turnBytes) continue
    turn = 0
    await nextTurn()
  }
  return { rows, columns: out }
}

interface BatchPlace {
  readonly rowGroup: number
  readonly firstRow: number
}

async function fill(
  column: Exclude<OpenColumn, { kind: 'fixed' }>,
  ahead: { readonly rows: number; readonly bytes: number },
  place: BatchPlace,
): Promise<void> {
  const { pending, cursors } = column
  // A page that is read again shall give more than the rows of this band.
  const isAhead = pending.rows >= ahead.rows || pending.sink.used >= ahead.bytes / 2
  if (pending.rows > 0 && isAhead && cursors.some(({ isLetGo }) => isLetGo)) return
  try {
    for (const cursor of cursors) await cursor.resume(nextTurn)
    if (column.kind === 'nested') await column.nested.fill(pending, ahead, place)
    else if (!(await fillTexts(pending, column.cursor, ahead))) damaged(fewerValues)
  } catch (error) {
    throw placed(error, column, place)
  }
}

interface CutPlace extends BatchPlace {
  /** Bytes that may be read ahead. */
  readonly share: number
  /** Rows of the row group from the first row on. */
  readonly left: number
}

async function cut(column: OpenColumn, rows: number, place: CutPlace): Promise<Column> {
  const before = column.kind === 'fixed' ? (column.ahead?.rows ?? 0) : 0
  try {
    if (column.kind === 'fixed') return await cutFixed(column, rows, place)
    return column.pending.cut(column.field, rows)
  } catch (error) {
    if (!(error instanceof UnfitValue)) throw placed(error, column, place)
    const { name } = column.field
    throw valueFault(error.kind, place.firstRow + before + error.row, name, `Column '${name}' ${error.reason}.`)
  }
}

/** The next rows; of a column whose page is let go, its share is read ahead. */
async function cutFixed(
  column: Extract<OpenColumn, { kind: 'fixed' }>,
  rows: number,
  { share, left }: CutPlace,
): Promise<Column> {
  const { cursor, field, ahead } = column
  if (ahead === undefined && !cursor.isLetGo) return readFixedColumn(cursor, field, rows)
  const before = ahead?.rows ?? 0
  let held = ahead
  if (before < rows) {
    await cursor.resume(nextTurn)
    const fitting = Math.floor(share / (fixedWidth(innerType(field.type)) ?? 1))
    const more = await readFixedColumn(cursor, field, Math.min(left, Math.max(rows, fitting)) - before)
    held = ahead === undefined ? more : concatColumns([ahead, more])
  }
  const all = must(held, 'rows that were read')
  column.ahead = all.rows > rows ? sliceColumn(all, rows, all.rows) : undefined
  return sliceColumn(all, 0, rows)
}

/** A chunk must not have more than its rows. */
async function checkEnd(column: OpenColumn, rowGroup: number): Promise<void> {
  try {
    const isEmpty = column.kind === 'fixed' || column.pending.rows === 0
    if (!isEmpty || (column.kind === 'nested' && column.nested.hasMore)) damaged(moreValues)
    for (const cursor of column.cursors) {
      await cursor.resume(nextTurn)
      if (await cursor.more()) damaged(moreValues)
      cursor.pages.close()
    }
  } catch (error) {
    throw placed(error, column, { rowGroup })
  }
}

const moreValues = 'has more values than rows'

function placed(error: unknown, column: OpenColumn, { rowGroup }: { readonly rowGroup: number }): unknown {
  if (column.kind === 'nested') return located(error, { column: column.field.name, rowGroup })
  return located(error, { column: column.cursor.leaf.path, rowGroup, page: column.cursor.pages.page })
}

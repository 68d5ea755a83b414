// A column whose values are made into text one by one: structs, lists, maps, geometries.

import { nextTurn } from '../../lib/clock.ts'
import { NodeError } from '../../model/errors.ts'
import { damaged } from '../../parquet/refusals.ts'
import { GeometryFault } from '../geometry-text.ts'
import { type Assembler, TooLong } from './assembler.ts'
import type { Ahead, PendingTexts } from '../../parquet/bytes-column.ts'
import type { LeafEntries } from './entries.ts'
import { located, type Place, valueFault } from './faults.ts'

/** Rows that are put together before other work has its turn. */
const turnRows = 256

/** A nested column of a row group. */
export interface NestedColumn {
  readonly name: string
  readonly entries: readonly LeafEntries[]
  readonly assembler: Assembler
  readonly recordBytes: number
}

/** Puts rows together until `ahead` is reached, one at least; `firstRow` is the first row pending, in the file. Throws NodeError. */
export async function fillNested(
  pending: PendingTexts,
  column: NestedColumn,
  ahead: Ahead,
  place: { readonly rowGroup: number; readonly firstRow: number },
): Promise<void> {
  const { entries, assembler } = column
  while (pending.rows < ahead.rows && (pending.rows === 0 || pending.sink.used < ahead.bytes)) {
    const ready = await readRows(column, { rowGroup: place.rowGroup }, place.firstRow + pending.rows)
    assembler.look()
    const rows = Math.min(ready, ahead.rows - pending.rows, turnRows)
    let done = 0
    for (; done < rows && (done === 0 || pending.sink.used < ahead.bytes); done++) {
      pending.append(rowText(column, place.firstRow + pending.rows))
    }
    for (const leaf of entries) leaf.dropRows(done)
    await nextTurn()
  }
}

/** Reads until every leaf has a whole row; how many whole rows all have. */
async function readRows({ name, entries, recordBytes }: NestedColumn, place: Place, row: number): Promise<number> {
  let ready = Number.POSITIVE_INFINITY
  for (const leaf of entries) {
    const { path } = leaf.cursor.leaf
    try {
      // An entry is at least two characters of text.
      if (leaf.rows === 0) await leaf.fill(recordBytes / 2, recordBytes)
      if (leaf.rows === 0 && leaf.isEnded) damaged('has fewer values in its pages than in its footer')
    } catch (error) {
      throw located(error, { ...place, column: path, page: leaf.cursor.pages.page })
    }
    if (leaf.rows === 0) throw tooLong(name, row, recordBytes)
    ready = Math.min(ready, leaf.rows)
  }
  return ready
}

function rowText({ name, assembler, recordBytes }: NestedColumn, row: number): string | undefined {
  try {
    return assembler.next(recordBytes)
  } catch (error) {
    if (error instanceof TooLong) throw tooLong(name, row, recordBytes)
    if (error instanceof GeometryFault)
      throw valueFault('InvalidGeometry', row, name, `Column '${name}': ${error.message}`)
    throw error
  }
}

function tooLong(column: string, record: number, recordBytes: number): NodeError {
  const message = `Column '${column}': this value is longer than a record may be, which is ${recordBytes} bytes.`
  return valueFault('RecordTooLarge', record, column, message)
}

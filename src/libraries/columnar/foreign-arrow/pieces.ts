// The values of a record batch as columns, in pieces: few rows or few bytes each, however much a dictionary, views or runs
// make of little.

import { isText, setBit } from '../arrow/buffers.ts'
import { createColumnBuilder } from '../arrow/column-builder.ts'
import { makeColumn, sliceColumn } from '../arrow/columns.ts'
import { must } from '../../base/assert.ts'
import { nextTurn } from '../../base/clock.ts'
import { type Column, type Field, innerType, type RecordBatch } from '../../model/schema.ts'
import { NodeError, type RecordErrorKind } from '../../base/errors.ts'
import { GeometryFault } from '../../geo/rules.ts'
import { JsonText, TooLong } from '../../base/json/json-text.ts'
import { at, damaged } from './faults.ts'
import { type ArrowValues, notText } from './values.ts'

const pieceRows = 16_384
const pieceBytes = 4 * 1024 * 1024
const firstTextBytes = 256

/** A column of a record batch. */
export interface BatchColumn {
  readonly field: Field
  readonly values: ArrowValues
  /** Whether its values become JSON text. */
  readonly isNested: boolean
}

interface PieceOptions {
  /** Rows of the batch. */
  readonly rows: number
  /** Number of the batch, for errors. */
  readonly batch: number
  /** Number of its first row in the body. */
  readonly firstRecord: number
  /** Most bytes of one value as JSON text. */
  readonly recordBytes: number
}

/** The rows in order. Throws NodeError `MalformedBody`, `RecordsDoNotFit` for a text that is too long or a geometry that is none. */
export async function* pieces(columns: readonly BatchColumn[], options: PieceOptions): AsyncGenerator<RecordBatch> {
  const { rows, batch } = options
  const order = [...columns.keys()].sort((a, b) => Number(columns[b]?.isNested) - Number(columns[a]?.isNested))
  for (let start = 0; start < rows;) {
    let end = await pieceEnd(columns, start, options)
    const made = new Map<number, Column>()
    // Nested values first: how long their text is decides how many rows there are.
    for (const index of order) {
      const { field, values, isNested } = must(columns[index], 'a column')
      const column = await at({ column: field.name, batch }, () =>
        isNested ? jsonColumn(field, values, { start, end }, options) : flatColumn(field, values, start, end),
      )
      made.set(index, column)
      end = start + column.rows
      await nextTurn()
    }
    const count = end - start
    yield { rows: count, columns: columns.map((_, i) => sliceColumn(must(made.get(i), 'a column'), 0, count)) }
    start = end
  }
}

/** Where a piece that begins at `start` ends, as far as can be told before texts of nested values are written. */
async function pieceEnd(
  columns: readonly BatchColumn[],
  start: number,
  { rows, batch }: PieceOptions,
): Promise<number> {
  let end = Math.min(rows, start + pieceRows)
  for (let isFound = false; !isFound && end - start > 1;) {
    let bytes = 0
    for (const { field, values } of columns) {
      const until = end
      bytes += await at({ column: field.name, batch }, () => values.bytesIn(start, until))
    }
    isFound = bytes <= pieceBytes
    if (!isFound) end = start + Math.max(1, (end - start) >> 1)
  }
  return end
}

/** Rows [start, end) as a column of the field's type. */
function flatColumn(field: Field, values: ArrowValues, start: number, end: number): Column {
  const type = innerType(field.type)
  const rows = end - start
  const common = { name: field.name, type, nullable: true, rows }
  if (type.kind === 'Null') {
    const validity = new Uint8Array((rows + 7) >> 3)
    return makeColumn({ ...common, nullCount: rows, validity, values: new Uint8Array(0) })
  }
  const shared = values.share(start, end)
  if (shared !== undefined) {
    const column = makeColumn({ ...common, ...shared })
    if (isSound(column)) return column
    // What lies under a null may be anything.
    if (shared.nullCount === 0) return damaged(notText)
  }
  const builder = createColumnBuilder(field, rows)
  for (let row = start; row < end; row++) {
    if (values.isPresent(row)) values.append(row, builder)
    else builder.appendNull()
  }
  const column = builder.finish()
  return isSound(column) ? column : damaged(notText)
}

function isSound({ type, values, offsets }: Column): boolean {
  return type.kind !== 'String' || offsets === undefined || isText(values, offsets)
}

/** Rows [start, end) as JSON text, or fewer: until the texts are a piece. */
async function jsonColumn(
  { name }: Field,
  values: ArrowValues,
  { start, end }: { readonly start: number; readonly end: number },
  { firstRecord, recordBytes }: PieceOptions,
): Promise<Column> {
  const text = new JsonText(firstTextBytes, recordBytes)
  const offsets = new Int32Array(end - start + 1)
  const validity = new Uint8Array((end - start + 7) >> 3)
  let [rows, nullCount] = [0, 0]
  while (start + rows < end && (rows === 0 || text.at < pieceBytes)) {
    const before = text.at
    if (values.isPresent(start + rows)) {
      writeValue(values, start + rows, text, { column: name, record: firstRecord + start + rows })
    }
    if (text.at === before) nullCount += 1
    else setBit(validity, rows)
    offsets[++rows] = text.at
    if (text.isLong) await nextTurn()
  }
  return makeColumn({
    name,
    type: { kind: 'String' },
    nullable: true,
    rows,
    nullCount,
    validity: nullCount === 0 ? undefined : validity.subarray(0, (rows + 7) >> 3),
    values: text.bytes.subarray(0, text.at),
    offsets: offsets.subarray(0, rows + 1),
  })
}

interface RecordPlace {
  readonly column: string
  readonly record: number
}

function writeValue(values: ArrowValues, row: number, text: JsonText, place: RecordPlace): void {
  text.begin()
  try {
    values.writeJson(row, text)
  } catch (error) {
    if (error instanceof GeometryFault) throw valueFault('InvalidGeometry', place, error.message)
    if (error instanceof TooLong) throw valueFault('RecordTooLarge', place, error.message)
    throw error
  }
}

function valueFault(kind: RecordErrorKind, { column, record }: RecordPlace, reason: string): NodeError {
  const message = `Column '${column}': ${reason}`
  return new NodeError('RecordsDoNotFit', `Record ${record}: ${message} Nothing was stored.`, {
    errors: [{ record, column, kind, message }],
    errorsTotal: 1,
  })
}

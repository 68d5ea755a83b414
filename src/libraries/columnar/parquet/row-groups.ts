// Rows of a slice on their way into row groups: small batches are gathered, system columns added, and the columns of a
// group are hashed and encoded while the rows of the next one are read.

import { batchBytes, concatBatches, constantColumn, int64RangeColumn } from '../arrow/columns.ts'
import { must } from '../../base/assert.ts'
import { nextTurn } from '../../base/clock.ts'
import type { Column, Field, RecordBatch } from '../../model/schema.ts'
import { type ColumnChunk, type PiecedRows, RowGroupCut, rowGroupRows, wideColumns } from './write-slice.ts'
import { pieceBytes, pieceRows } from './aligned-rows.ts'
import type { ColumnWork } from './own-columns.ts'

const pieceBatches = 1024
/** So many batches are joined once, with their row group; more, or any of many columns, cost more than their rows. */
const keptPiecesMost = 16
const dayMs = 86_400_000
const earliestMs = Date.parse('0000-01-01T00:00:00Z')
const latestMs = Date.parse('9999-12-31T23:59:59.999Z')

/** A row group, with a chunk for each column. */
export interface EncodedGroup {
  readonly rows: number
  readonly chunks: readonly ColumnChunk[]
}

/** What is to say of all rows. */
export interface GroupedRows {
  readonly rows: number
  /** The hash of each column. */
  readonly digests: readonly Uint8Array[]
  /** Latest event time, milliseconds since 1970 UTC; undefined when none lies in the years 0000 to 9999. */
  readonly latestEventMs: number | undefined
}

/** All rows in row groups, but for their system columns. */
export interface EncodedRows extends GroupedRows {
  readonly groups: readonly EncodedGroup[]
}

export interface RowGroupsDeps {
  readonly columns: ColumnWork
  /** The system columns of `rows` rows that come behind `before` others; absent where they are added later. */
  readonly systemOf?: (before: number, rows: number) => readonly Column[]
  /** Takes the next group. */
  readonly take: (group: EncodedGroup) => Promise<void>
}

export class RowGroups {
  readonly #deps: RowGroupsDeps
  readonly #cut: RowGroupCut
  /** The row group that is being encoded, while the rows of the next are read. */
  #underWay: { readonly rows: number; readonly chunks: Promise<ColumnChunk[]> } | undefined
  #waiting: RecordBatch[] = []
  #waitingRows = 0
  #waitingBytes = 0
  #rows = 0
  #latestEventMs: number | undefined

  constructor(deps: RowGroupsDeps) {
    this.#deps = deps
    this.#cut = new RowGroupCut(deps.systemOf === undefined ? systemRowBytes : 0)
  }

  /** Lets the event loop turn after whatever takes its time; undefined where nothing is to be awaited. */
  add(batch: RecordBatch): Promise<void> | undefined {
    this.#waiting.push(batch)
    this.#waitingRows += batch.rows
    this.#waitingBytes += batchBytes(batch)
    const isFull =
      this.#waitingRows >= pieceRows || this.#waitingBytes >= pieceBytes || this.#waiting.length >= pieceBatches
    return isFull ? this.#flush() : undefined
  }

  async finish(): Promise<GroupedRows> {
    await this.#flush()
    for (const group of this.#cut.rest()) await this.#encode(group)
    await this.#settle()
    return { rows: this.#rows, digests: await this.#deps.columns.digests(), latestEventMs: this.#latestEventMs }
  }

  /** Gives threads back. To be called once, however it went. */
  end(): void {
    this.#deps.columns.end()
  }

  async #flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    // So many bytes took their time to be decoded.
    if (this.#waitingBytes >= pieceBytes) await nextTurn()
    const isWide = must(this.#waiting[0], 'a batch').columns.length >= wideColumns
    const isMany = this.#waiting.length > (isWide ? 1 : keptPiecesMost)
    const batches = isMany ? [concatBatches(this.#waiting)] : this.#waiting
    const rows = this.#waitingRows
    this.#waiting = []
    this.#waitingRows = 0
    this.#waitingBytes = 0
    const system = this.#deps.systemOf?.(this.#rows, rows) ?? []
    const others = must(batches[0], 'a batch').columns
    const full: PiecedRows = {
      rows,
      columns: [
        ...system.map((column) => [column]),
        ...others.map((_, i) => batches.map(({ columns }) => must(columns[i], 'a column'))),
      ],
    }
    this.#deps.columns.see(full)
    this.#rows += rows
    for (const { columns } of batches) {
      const latest = latestTime(must(columns[0], 'an event-time column'))
      if (latest !== undefined) this.#latestEventMs = Math.max(latest, this.#latestEventMs ?? latest)
    }
    await nextTurn()
    for (const group of this.#cut.add(full)) await this.#encode(group)
  }

  async #encode(group: PiecedRows): Promise<void> {
    await this.#settle()
    const chunks = this.#deps.columns.encode(group)
    // Its failure is met when it is waited for.
    chunks.catch(() => {})
    this.#underWay = { rows: group.rows, chunks }
    // A group that its bytes have ended is large: it is not held beside the next one.
    if (group.rows < rowGroupRows) await this.#settle()
  }

  async #settle(): Promise<void> {
    if (this.#underWay === undefined) return
    const { rows, chunks } = this.#underWay
    this.#underWay = undefined
    await this.#deps.take({ rows, chunks: await chunks })
  }
}

/** Row groups that were encoded without their system columns, which are added here. */
export class CompletedGroups {
  readonly #deps: Required<RowGroupsDeps>
  readonly #encoded: EncodedRows

  /** `deps.columns` is the work on system columns. */
  constructor(encoded: EncodedRows, deps: Required<RowGroupsDeps>) {
    this.#encoded = encoded
    this.#deps = deps
  }

  async finish(): Promise<GroupedRows> {
    const { columns, systemOf, take } = this.#deps
    const { groups, rows, digests, latestEventMs } = this.#encoded
    let before = 0
    for (const { rows: count, chunks } of groups) {
      const system = { rows: count, columns: systemOf(before, count).map((column) => [column]) }
      columns.see(system)
      await take({ rows: count, chunks: [...(await columns.encode(system)), ...chunks] })
      before += count
    }
    return { rows, digests: [...(await columns.digests()), ...digests], latestEventMs }
  }

  /** Gives threads back. To be called once, however it went. */
  end(): void {
    this.#deps.columns.end()
  }
}

/** What a row takes in the columns that follow. */
const systemRowBytes = 20

/** The system columns of `rows` rows: their offsets from `firstOffset` on, and what a block says of all of them. */
export function systemColumns(
  fields: readonly Field[],
  { firstOffset, timeMs, rows }: { readonly firstOffset: number; readonly timeMs: number; readonly rows: number },
): Column[] {
  const [offset, operation, systemTime] = fields
  return [
    int64RangeColumn(must(offset, 'an offset column').name, firstOffset, rows),
    constantColumn(must(operation, 'an operation column'), 0, rows),
    constantColumn(must(systemTime, 'a system-time column'), timeMs, rows),
  ]
}

/** The latest value of a Timestamp (ms) or Date column within the years that metadata can name. */
function latestTime(column: Column): number | undefined {
  const view = new DataView(column.values.buffer, column.values.byteOffset, column.values.byteLength)
  const isDate = column.type.kind === 'Date'
  let latest: number | undefined
  for (let row = 0; row < column.rows; row++) {
    const value = isDate
      ? view.getInt32(4 * row, true) * dayMs
      : view.getInt32(8 * row + 4, true) * 2 ** 32 + view.getUint32(8 * row, true)
    if (value >= earliestMs && value <= latestMs && (latest === undefined || value > latest)) latest = value
  }
  return latest
}

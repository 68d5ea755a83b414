// The rows of the columns that a reader fills: a builder for each column that comes, batches cut by rows and bytes, and what is
// warned of in the row that is open.

import { type ColumnBuilder, createColumnBuilder, freeBuilt } from '../columnar/arrow/column-builder.ts'
import { nullColumn } from '../columnar/arrow/null-column.ts'
import { must } from '../base/assert.ts'
import { Warnings } from '../base/warnings.ts'
import type { Column, Field, RecordBatch } from '../model/schema.ts'
import { type CellBound, demandCells, demandHeld } from './cell-bound.ts'
import type { TablePlan } from './column-plan.ts'

/** Most bodies are small: buffers of so few rows are cheap to make. */
const firstRows = 4
const batchRows = 16_384
const batchInputBytes = 1024 * 1024
/** Rows times the columns that have come in them: 256 rows of 2,000 columns. */
const batchCells = 512 * 1024

/**
 * The columns of one body. A column costs nothing in rows that it does not come in: they are made nulls when its next value
 * comes, or at the end. After a fault the columns may be out of step: the body is lost, only judging goes on.
 */
export class ColumnRows {
  readonly plan: TablePlan
  readonly warnings = new Warnings()
  /** Those of the row that is open. */
  private rowWarnings: string[] = []
  private doneRows = 0
  /** Of the columns that have come, by their place in the plan. */
  private readonly builders: ColumnBuilder[] = []
  private batches: RecordBatch[] = []
  private rows = 0
  /** Columns that have come in these rows. */
  private met = 0
  private inputBytes = 0
  private failed = false
  /** Bytes of the body so far. */
  sentBytes = 0
  private readonly bound: CellBound | undefined
  /** Those of the batches that are complete. */
  private heldCells = 0
  /** Columns with a value so far, by their place in the plan. */
  private readonly brought = new Set<number>()

  constructor(plan: TablePlan, bound: CellBound | undefined) {
    this.plan = plan
    this.bound = bound
  }

  /** The builder of the column at `index`, for its value in the row that is open. */
  builder(index: number): ColumnBuilder {
    const builder = (this.builders[index] ??= createColumnBuilder(this.field(index), firstRows))
    if (builder.rows === 0) this.met += 1
    if (builder.rows < this.rows && !this.failed) builder.appendNulls(this.rows)
    return builder
  }

  private field(index: number): Field {
    return must(this.plan.columns[index], 'a column').field
  }

  /** Ends a row that came from `inputBytes` bytes of input. */
  endRow(inputBytes: number): void {
    if (this.rowWarnings.length > 0) this.tellRow()
    this.rows += 1
    this.doneRows += 1
    this.inputBytes += inputBytes
    const isFull = this.rows >= batchRows || this.inputBytes >= batchInputBytes || this.rows * this.met >= batchCells
    if (isFull) this.cut()
  }

  /** Rows, and bytes of input, that make the batch full; of at most 32 columns. */
  get roomRows(): number {
    return batchRows - this.rows
  }

  get roomBytes(): number {
    return batchInputBytes - this.inputBytes
  }

  /** Bytes of the texts of the column at `index`. */
  textEnd(index: number): number {
    return this.builders[index]?.textBytes ?? 0
  }

  /** The same of so many of the rows that `endRows` will end; `first`: of the first of them, from 0. */
  warnOfRows(about: string, count: number, first: number): void {
    this.warnings.add(about, this.doneRows + first, count)
  }

  /** Ends rows that came from so many bytes: no more than there is room for, but for the bytes of the last. */
  endRows(rows: number, inputBytes: number): void {
    this.rows += rows - 1
    this.doneRows += rows - 1
    this.endRow(inputBytes)
  }

  /** Drops the values since the last row ended. */
  undoRow(): void {
    this.rowWarnings.length = 0
    for (const builder of this.builders) builder?.rollback(Math.min(this.rows, builder.rows))
  }

  /** Notes of the row that is open what is changed or doubted of it; as `Warnings.add`. */
  warn(about: string): void {
    this.rowWarnings.push(about)
  }

  /** What was noted of the row that is open, for a reader that keeps its own warnings. */
  takeRowWarnings(): readonly string[] {
    const taken = this.rowWarnings
    if (taken.length > 0) this.rowWarnings = []
    return taken
  }

  private tellRow(): void {
    for (const about of this.rowWarnings) this.warnings.add(about, this.doneRows)
    this.rowWarnings.length = 0
  }

  /** From now on values are judged but not kept. */
  fail(): void {
    if (this.failed) return
    this.failed = true
    this.free()
    this.cut()
  }

  private free(): void {
    for (const { columns } of this.batches) freeBuilt(columns)
    this.batches = []
  }

  /** The batches that are complete; they are given once. */
  take(): readonly RecordBatch[] {
    const { batches } = this
    this.batches = []
    this.heldCells = 0
    return batches
  }

  /** The batches not taken before, with the last rows. */
  finish(): readonly RecordBatch[] {
    if (this.rows > 0) this.cut()
    return this.take()
  }

  private cut(): void {
    const { rows } = this
    if (this.failed) this.builders.length = 0
    else this.batches.push({ rows, columns: this.plan.columns.map((_, index) => this.column(index)) })
    try {
      if (this.bound !== undefined) this.demandCells(this.bound)
    } catch (error) {
      this.free()
      throw error
    }
    this.rows = 0
    this.inputBytes = 0
    this.met = 0
  }

  /** Throws NodeError `BodyTooLarge` for more cells than the bytes so far may have, or than may be held. */
  private demandCells(bound: CellBound): void {
    this.heldCells += this.rows * this.met
    demandHeld(this.heldCells, bound)
    for (const [index, { nullCount, rows }] of this.batches.at(-1)?.columns.entries() ?? [])
      if (nullCount < rows) this.brought.add(index)
    demandCells(this.doneRows * this.brought.size, this.sentBytes, bound)
  }

  /** The rows of a column; event times that are missing are filled in later. */
  private column(index: number): Column {
    const hasCome = (this.builders[index]?.rows ?? 0) > 0
    return hasCome || index === 0 ? this.builder(index).finish() : nullColumn(this.field(index), this.rows)
  }
}

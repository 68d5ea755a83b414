// The records of a sheet as typed columns. A fault names its record and its cell.

import { must } from '../../libraries/base/assert.ts'
import type { RecordError, RecordErrorKind } from '../../libraries/base/errors.ts'
import type { RecordBatch } from '../../libraries/model/schema.ts'
import { type ColumnPlan, type TablePlan, tablePlan, valueCode } from '../../libraries/formats/column-plan.ts'
import { headerColumns, ignoredCell, unknownCellMessage } from '../../libraries/formats/csv/header.ts'
import { changesValues, ColumnSpelling, demandColumns } from '../../libraries/formats/dialect/spelling.ts'
import { excerptOf, FaultLog } from '../../libraries/formats/fault-log.ts'
import type { ReaderOptions } from '../../libraries/formats/format.ts'
import { trimStart } from '../../libraries/formats/inference.ts'
import { NumberScan, scanNumber } from '../../libraries/formats/number-scan.ts'
import { TypedColumns } from '../../libraries/formats/typed-columns.ts'
import { cellName } from './faults.ts'
import { type Header, textOf } from './header.ts'
import type { Cell } from './sheet.ts'
import { Table } from './table.ts'

/** So many faults are counted; a few bytes can stand for millions. */
const mostFaults = 1_000_000

export class SheetRows extends Table {
  readonly columns: TypedColumns
  readonly #options: ReaderOptions
  readonly #sheet: string
  readonly #plan: TablePlan
  readonly #faults = new FaultLog()
  readonly #scan = new NumberScan()
  #records = 0
  /** Bytes of the values of the row that is open. */
  #rowBytes = 0
  #names: readonly string[] = []
  /** Column of each cell from the first that counts. */
  #layout: readonly number[] = []
  /** By cell, where the dialect changes what cells are. */
  #spellings: readonly ColumnSpelling[] | undefined
  /** By required column, one more than the record that had it last. */
  readonly #brought = new Map<number, number>()

  constructor(options: ReaderOptions, sheet: string) {
    const plan = tablePlan(options)
    const [, ...own] = plan.columns
    const columns = own.map(({ name }) => name)
    const takesText = own.some(({ code }) => code === valueCode.string)
    const isName = (folded: string): boolean => plan.byName.has(folded)
    super(options, { sheet, columns, takesText, hasColumns: own.length > 0, isName })
    this.#options = options
    this.#sheet = sheet
    this.#plan = plan
    this.columns = new TypedColumns(plan, options)
  }

  /** The last batches. Throws NodeError `RecordsDoNotFit` with at most 100 faults and their total. */
  finish(): readonly RecordBatch[] {
    this.#demandNoFault()
    return this.columns.finish()
  }

  protected begin({ kind, names }: Header, row: number): void {
    const { dialect } = this.#options
    const plan = this.#plan
    if (kind === 'present') {
      this.#names = names.map(({ name }) => name)
      this.#layout = headerColumns(names, plan, this.#options, (cell, fault) =>
        this.#fault({ column: this.first + cell, row }, fault),
      )
      this.#demandNoFault()
    } else {
      this.#layout = plan.positions
      this.#names = plan.positions.map((index) => this.#column(index).name)
    }
    if (dialect === undefined || !changesValues(dialect)) return
    demandColumns(dialect, [...this.#names, ...plan.columns.map(({ name }) => name)])
    this.#spellings = this.#names.map((name) => new ColumnSpelling(dialect, name))
  }

  protected value(cell: Cell, row: number): void {
    const place = cell.column - this.first
    const index = this.#layout[place]
    if (index === ignoredCell) return
    if (index === undefined || index < 0) return this.#outside(cell, row, place)
    const { recordBytes } = this.#options
    const isOver = this.#rowBytes > recordBytes
    this.#rowBytes += cell.end - cell.start
    if (this.#rowBytes > recordBytes) {
      const message = `The record has more than ${recordBytes} bytes.`
      return isOver ? undefined : this.#valueFault(cell, row, 'RecordTooLarge', message)
    }
    const column = this.#column(index)
    const kind = this.#put(column, index, cell, this.#spellings?.[place])
    if (column.required) this.#brought.set(index, this.#records + 1)
    if (kind !== undefined) this.#valueFault(cell, row, kind, this.columns.reason, column.name)
  }

  protected endRecord(row: number): void {
    for (const index of this.#plan.required) {
      if (this.#brought.get(index) === this.#records + 1) continue
      const column = this.#column(index)
      const kind = this.columns.missing(column)
      const at = { column: this.first + Math.max(0, this.#layout.indexOf(index)), row }
      this.#fault(at, { record: this.#records, kind, message: this.columns.reason, column: column.name })
    }
    this.#records += 1
    this.columns.endRow(this.#rowBytes)
    this.#rowBytes = 0
  }

  #column(index: number): ColumnPlan {
    return must(this.#plan.columns[index], 'a column')
  }

  #put(
    column: ColumnPlan,
    index: number,
    cell: Cell,
    spelling: ColumnSpelling | undefined,
  ): RecordErrorKind | undefined {
    const { columns } = this
    const { kind, bytes, start, end } = cell
    const builder = columns.builder(index)
    if (spelling?.isNull(bytes, start, end) === true) return columns.putNull(column, builder)
    const { code } = column
    switch (kind) {
      case 'number':
        scanNumber(this.#scan, bytes, start, end, true)
        return columns.putNumber(column, builder, this.#scan, bytes)
      case 'bool':
        if (code === valueCode.string) break
        return columns.putBool(column, builder, end - start === 'true'.length)
      case 'text': {
        if (code === valueCode.string) break
        if (trimStart(bytes, start, end) === end) return columns.putNull(column, builder)
        const isTime = code === valueCode.date || code === valueCode.timestamp || code === valueCode.time
        if (!isTime || spelling?.dateFormat === undefined) break
        return spelling.date(bytes, start, end)
          ? columns.putText(column, builder, spelling.bytes, spelling.start, spelling.end)
          : columns.wrongDate(column, spelling.dateFormat)
      }
      case 'time':
        break
      case 'error':
      case 'fault': {
        const [fault, reason] = unreadable(cell)
        columns.reason = reason
        return fault
      }
    }
    return columns.putText(column, builder, bytes, start, end)
  }

  /** A cell that belongs to no column. */
  #outside(cell: Cell, row: number, place: number): void {
    if (this.#spellings?.[place]?.isNull(cell.bytes, cell.start, cell.end) === true) return
    const name = this.#names[place]
    if (cell.kind === 'error' || cell.kind === 'fault') return this.#valueFault(cell, row, ...unreadable(cell), name)
    if (name !== undefined)
      return this.#valueFault(cell, row, 'UnknownField', unknownCellMessage(name, this.#options), name)
    const message = 'The cell stands beside the table, under no name of the header.'
    this.#valueFault(cell, row, 'TooManyFields', message)
  }

  #valueFault(cell: Cell, row: number, kind: RecordErrorKind, message: string, column?: string): void {
    const excerpt = excerptOf(cell.bytes, cell.start, cell.end)
    const fault = { record: this.#records, kind, message, ...(cell.kind === 'fault' ? {} : { excerpt }) }
    this.#fault({ column: cell.column, row }, column === undefined ? fault : { ...fault, column })
  }

  #fault(at: { readonly column: number; readonly row: number }, fault: RecordError): void {
    this.columns.fail()
    this.#faults.addBare({ ...fault, message: `${cellName(this.#sheet, at.column, at.row)}: ${fault.message}` })
    if (this.#faults.total > mostFaults) throw this.#faults.toError(false, { isWhole: false })
  }

  #demandNoFault(): void {
    if (this.#faults.total > 0) throw this.#faults.toError(this.#options.valueless !== undefined)
  }
}

/** Why a cell has no value. */
function unreadable(cell: Cell): readonly [kind: RecordErrorKind, reason: string] {
  const text = textOf(cell)
  if (cell.kind === 'fault') return ['MalformedRecord', `The cell cannot be read: ${text}.`]
  return ['WrongType', `The cell holds the error ${text}; nulls=${encodeURIComponent(text)} reads it as no value.`]
}

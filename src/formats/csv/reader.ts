// Reader of CSV bodies: cells by position or by the names in the header, into the columns.

import { must } from '../../lib/assert.ts'
import type { NodeError, RecordErrorKind } from '../../model/errors.ts'
import { foldAscii } from '../../model/names.ts'
import type { RecordBatch } from '../../model/record-batch.ts'
import { type ColumnPlan, reservedName, type TablePlan, tablePlan, valueCode } from '../column-plan.ts'
import { type Fault, FaultLog, unknownFieldMessage } from '../fault-log.ts'
import type { CsvHeader, ParsedBody, ReaderOptions, RecordReader } from '../format.ts'
import { booleanOf, trimEnd, trimStart } from '../inference.ts'
import { NumberScan, scanNumber } from '../number-scan.ts'
import { firstInvalidUtf8, RecordFeed, type RecordSink } from '../record-feed.ts'
import { TypedColumns } from '../typed-columns.ts'
import { cellTexts, CsvCells, CsvFramer, isBlankLine, namesColumns, splitFaults } from './cells.ts'

/** A cell that belongs to no column and may hold anything. */
const ignoredCell = -1
/** A cell that belongs to no column and must be empty. */
const valuelessCell = -2

export class CsvReader implements RecordReader, RecordSink {
  private readonly options: ReaderOptions
  private readonly plan: TablePlan
  private readonly faults = new FaultLog()
  private readonly columns: TypedColumns
  private readonly framer = new CsvFramer()
  private readonly feed: RecordFeed
  private readonly cells = new CsvCells()
  private readonly number = new NumberScan()
  private header: CsvHeader | undefined
  /** Column of each cell; settled by the first record. */
  private layout: readonly number[] | undefined = undefined
  /** The first record's cells as text. */
  private names: readonly string[] = []
  /** Columns that no cell stands for. */
  private missing: readonly number[] = []
  private records = 0
  private sawNul = false

  constructor(options: ReaderOptions) {
    this.options = options
    this.header = options.csvHeader
    this.plan = tablePlan(options)
    this.columns = new TypedColumns(this.plan, options)
    this.feed = new RecordFeed(this.framer, this, options.recordBytes)
    if (options.csvHeader === 'absent') this.lay(this.plan.positions)
  }

  get fits(): boolean {
    return this.faults.total === 0
  }

  push(chunk: Uint8Array): void {
    if (!this.sawNul && chunk.includes(0)) this.sawNul = true
    this.feed.push(chunk)
  }

  take(): readonly RecordBatch[] {
    return this.columns.take()
  }

  finish(): ParsedBody {
    this.feed.finish()
    if (this.faults.total > 0) throw this.error()
    const batches = this.columns.finish()
    return { records: this.records, batches, ...(this.header === undefined ? {} : { csvHeader: this.header }) }
  }

  record(bytes: Uint8Array, start: number, end: number, last: boolean): void {
    if (isBlankLine(bytes, start, end)) return
    const readable = this.split(bytes, start, end, last)
    if (this.layout === undefined) {
      // Without its first record nothing after it has a meaning.
      if (!readable) throw this.error()
      if (this.settle(bytes, end)) return
    }
    if (readable) this.convert(bytes, start, end)
    this.records += 1
    this.columns.endRow(end - start)
  }

  oversized(length: number, last: boolean): void {
    const { place } = this.feed
    const record = this.records
    this.columns.fail()
    if (last && this.framer.inQuotes) {
      const { quoteLine, quoteDistance } = this.framer
      const byteOffset = place.offset + quoteDistance
      this.faults.addBare({ record, line: quoteLine, byteOffset, kind: 'UnclosedQuote', message: unclosedMessage })
    } else {
      const message = `The record has ${length} bytes; at most ${this.options.recordBytes} are allowed.`
      this.faults.addBare({ record, line: place.line, byteOffset: place.offset, kind: 'RecordTooLarge', message })
    }
    this.records += 1
    if (this.layout === undefined) throw this.error()
  }

  broken(): never {
    throw this.error()
  }

  private error(): NodeError {
    return this.faults.toError(this.options.valueless !== undefined)
  }

  /** Finds the cells of a record; false, with a fault, when they cannot be told apart. */
  private split(bytes: Uint8Array, start: number, end: number, last: boolean): boolean {
    if (last && this.framer.inQuotes) {
      const at = start + this.framer.quoteDistance
      return this.fault({ kind: 'UnclosedQuote', message: unclosedMessage, bytes, at, end })
    }
    if (this.feed.utf8.dirty) {
      const at = firstInvalidUtf8(bytes, start, end)
      const message = 'These bytes are not UTF-8.'
      if (at >= 0) return this.fault({ kind: 'InvalidUtf8', message, bytes, at, end: Math.min(at + 4, end) })
    }
    if (this.sawNul) {
      const found = bytes.subarray(start, end).indexOf(0)
      const at = start + found
      const message = 'A NUL byte is no text.'
      if (found >= 0) return this.fault({ kind: 'MalformedRecord', message, bytes, at, end: at + 1 })
    }
    const fault = this.cells.split(bytes, start, end)
    if (fault === undefined) return true
    const kind = fault === 'too-many' ? 'TooManyFields' : 'MalformedRecord'
    return this.fault({ kind, message: splitFaults[fault], bytes, at: this.cells.faultAt, end })
  }

  /** Decides from the first record what the cells stand for; true when it is a header. */
  private settle(bytes: Uint8Array, end: number): boolean {
    const { plan } = this
    const texts = cellTexts(this.cells)
    this.header ??= namesColumns(texts, (folded) => plan.byName.has(folded)) ? 'present' : 'absent'
    this.names = texts
    this.lay(this.header === 'present' ? this.headerLayout(bytes, end, texts) : plan.positions)
    return this.header === 'present'
  }

  private lay(layout: readonly number[]): void {
    const met = new Set(layout)
    this.layout = layout
    this.missing = this.plan.columns.map((_, column) => column).filter((column) => !met.has(column))
  }

  /** The column that each cell of the header names. Throws NodeError when one names none. */
  private headerLayout(bytes: Uint8Array, end: number, texts: readonly string[]): number[] {
    const { plan, cells, options } = this
    const valueless = new Set(options.valueless?.map(foldAscii))
    const seen = new Set<string>()
    const layout = texts.map((text, cell) => {
      const folded = foldAscii(text)
      const column = plan.byName.get(folded)
      let kind: RecordErrorKind | undefined
      let message = ''
      if (seen.has(folded)) {
        kind = 'DuplicateField'
        message = `The header names '${text}' twice.`
      } else if (column === reservedName) {
        kind = 'ReservedColumn'
        message = `'${text}' is a system column; the node fills it.`
      } else if (column === undefined && !valueless.has(folded) && options.unknownFields === 'reject') {
        kind = 'UnknownField'
        message = unknownFieldMessage(text, false)
      }
      seen.add(folded)
      const at = must(cells.rawStarts[cell], 'a cell')
      if (kind !== undefined) {
        this.faults.add(
          { kind, message, bytes, at, end: this.rawEnd(cell, end), column: text },
          undefined,
          this.feed.place,
        )
      }
      return column ?? (valueless.has(folded) ? valuelessCell : ignoredCell)
    })
    if (this.faults.total > 0) throw this.error()
    return layout
  }

  private convert(bytes: Uint8Array, start: number, end: number): void {
    const { cells, columns, plan } = this
    const layout = this.layout ?? plan.positions
    const { count } = cells
    if (count !== layout.length) return this.wrongCount(bytes, start, end, layout.length)
    for (let cell = 0; cell < count; cell++) {
      const column = layout[cell] ?? ignoredCell
      if (column < 0) {
        if (column === valuelessCell && cells.ends[cell] !== cells.starts[cell]) this.unknownValue(bytes, end, cell)
        continue
      }
      const columnPlan = plan.columns[column]
      if (columnPlan === undefined) continue
      const fault = this.putCell(columnPlan, column, cell)
      if (fault === undefined) continue
      const at = cells.rawStarts[cell] ?? start
      this.fault({
        kind: fault,
        message: columns.reason,
        bytes,
        at,
        end: this.rawEnd(cell, end),
        column: columnPlan.name,
      })
    }
    for (const column of this.missing) {
      const fault = columns.putNull(must(plan.columns[column], 'a column'), must(columns.builders[column], 'a builder'))
      const name = plan.columns[column]?.name ?? ''
      if (fault !== undefined) this.fault({ kind: fault, message: columns.reason, bytes, at: start, end, column: name })
    }
  }

  private putCell(column: ColumnPlan, index: number, cell: number): RecordErrorKind | undefined {
    const { cells, columns, number } = this
    const builder = must(columns.builders[index], 'a builder')
    const bytes = cells.source(cell)
    const from = cells.starts[cell] ?? 0
    const to = cells.ends[cell] ?? 0
    const { code } = column
    if (code === valueCode.string) {
      if (from === to && cells.quoted[cell] === 0) return columns.putNull(column, builder)
      return columns.putText(column, builder, bytes, from, to)
    }
    const start = trimStart(bytes, from, to)
    const end = trimEnd(bytes, start, to)
    if (start === end) return columns.putNull(column, builder)
    if (code === valueCode.bool) {
      const value = booleanOf(bytes, start, end)
      return value === undefined ? columns.wrongType(column, 'no boolean') : columns.putBool(column, builder, value)
    }
    const numeric = code >= valueCode.small && code <= valueCode.decimal
    const epoch = index === 0 && this.options.eventTimeUnit !== undefined && code === valueCode.timestamp
    if ((numeric || epoch) && scanNumber(number, bytes, start, end, true) && number.end === end) {
      return columns.putNumber(column, builder, number, bytes)
    }
    return numeric ? columns.wrongType(column, 'no number') : columns.putText(column, builder, bytes, start, end)
  }

  private wrongCount(bytes: Uint8Array, start: number, end: number, expected: number): void {
    const { count } = this.cells
    const kind = count > expected ? 'TooManyFields' : 'TooFewFields'
    const at = count > expected ? (this.cells.rawStarts[expected] ?? start) : start
    const guessed = this.header === 'absent' && this.options.csvHeader === undefined
    const than = this.header === 'present' ? `the header names ${expected}` : `the dataset has ${expected} columns`
    const hint = guessed ? ' If the first line is a header, say header=present.' : ''
    this.fault({ kind, message: `The record has ${count} cells; ${than}.${hint}`, bytes, at, end })
  }

  private unknownValue(bytes: Uint8Array, end: number, cell: number): void {
    const at = this.cells.rawStarts[cell] ?? 0
    const column = this.names[cell] ?? ''
    this.fault({
      kind: 'UnknownField',
      message: unknownFieldMessage(column, true),
      bytes,
      at,
      end: this.rawEnd(cell, end),
      column,
    })
  }

  /** Index after the cell in the record. */
  private rawEnd(cell: number, end: number): number {
    const next = this.cells.rawStarts[cell + 1]
    return cell + 1 < this.cells.count && next !== undefined ? next - 1 : end
  }

  private fault(fault: Fault): false {
    this.columns.fail()
    this.faults.add(
      fault,
      this.layout === undefined && this.header === 'present' ? undefined : this.records,
      this.feed.place,
    )
    return false
  }
}

const unclosedMessage = 'The quote that opens this cell is never closed.'

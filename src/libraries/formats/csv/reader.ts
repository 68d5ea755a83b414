// Reads a body of cells into the columns, by position or by the names in its header.

import { must } from '../../base/assert.ts'
import type { RecordErrorKind } from '../../base/errors.ts'
import { backslash, comma, quote as doubleQuote } from '../json/text.ts'
import { BodyReader } from '../body-reader.ts'
import { CompiledLines, point } from '../compiled/lines.ts'
import { patternRecord } from '../compiled/patterns.ts'
import { type ColumnPlan, type TablePlan, tablePlan, valueCode } from '../column-plan.ts'
import { lostSpelling } from '../column-warnings.ts'
import type { Fault } from '../fault-log.ts'
import type { Dialect } from '../dialect/dialect.ts'
import { changesValues, ColumnSpelling, demandColumns } from '../dialect/spelling.ts'
import type { CsvHeader, ParsedBody, ReaderOptions } from '../format.ts'
import { booleanOf, trimEnd, trimStart } from '../inference.ts'
import { isSpeltAsNumber, notFinite, NumberScan, scanNumber } from '../number-scan.ts'
import {
  type CellFormat,
  type CellSigns,
  cellSigns,
  contentEnd,
  CsvCells,
  CsvFramer,
  isBlankLine,
  splitFault,
} from './cells.ts'
import {
  headerColumns,
  headerDoubt,
  type HeaderName,
  headerNames,
  ignoredCell,
  judgeHeader,
  unknownCellMessage,
  valuelessCell,
} from './header.ts'
import { separatorOfLine } from './other-separator.ts'
import { RepeatedHeader } from './repeated-header.ts'

/** A record, and whether its cells could be told apart. */
type SplitRecord = Readonly<{ start: number; end: number; isSplit: boolean }>

/** Bytes of a value. */
type Span = Readonly<{ bytes: Uint8Array; start: number; end: number }>

const escapedMessage = 'A quote inside of a cell is doubled; a backslash before it means nothing here.'
const nulMessage = 'A NUL byte is not text, unless its cell is quoted.'

export class CsvReader extends BodyReader {
  private readonly plan: TablePlan
  private readonly format: CellFormat
  private signs: CellSigns
  /** Of cells that no column has, by place. */
  private readonly unnamed = new Map<number, ColumnSpelling>()
  /** By column, where the dialect changes what cells are. */
  private spellings: readonly ColumnSpelling[] | undefined
  private readonly framer: CsvFramer
  private readonly cells: CsvCells
  private readonly number = new NumberScan()
  private header: CsvHeader | undefined
  /** Column of each cell; settled by the first record. */
  private layout: readonly number[] | undefined = undefined
  /** The first record's cells as text. */
  private names: readonly string[] = []
  /** Columns that no cell stands for. */
  private missing: readonly number[] = []
  private sawNul = false
  private repeated: RepeatedHeader | undefined

  constructor(options: ReaderOptions, format: CellFormat) {
    const signs = cellSigns(format, options.dialect)
    const plan = tablePlan(options)
    const framer = new CsvFramer(signs)
    super(options, framer, plan)
    this.format = format
    this.signs = signs
    this.cells = new CsvCells(signs)
    this.plan = plan
    this.framer = framer
    this.header = options.csvHeader
    if (options.csvHeader === 'absent') this.lay(plan.positions)
  }

  override push(chunk: Uint8Array): void {
    if (!this.sawNul && chunk.includes(0)) this.sawNul = true
    super.push(chunk)
  }

  override finish(): ParsedBody {
    const read = super.finish()
    const { skipped } = this.framer
    const body = skipped === undefined ? read : { ...read, skipped }
    return this.header === undefined ? body : { ...body, csvHeader: this.header }
  }

  many(bytes: Uint8Array, at: number): number {
    if (this.layout === undefined || this.framer.mayPass) return at
    const after = this.readAhead(bytes, at)
    this.framer.passedLines(this.rowsAhead, at)
    return after
  }

  /** It takes no row without a value that is no text, and does not know the header, nor most of what a dialect changes. */
  protected override compiledOf(): CompiledLines | undefined {
    const columns = this.layout
    if (columns === undefined || this.repeated?.namesNoValue === false) return undefined
    const { separator, trim, quote } = this.signs
    const { decimal: sign, dates: _, ...others } = this.options.dialect ?? {}
    const decimal = sign === undefined ? point : comma
    const isOther = trim || quote !== doubleQuote || decimal === separator.byte || changesValues(others)
    if (isOther) return undefined
    const patterns = this.plan.columns.map((column, index) => {
      const pattern = this.spellings?.[index]?.pattern
      return pattern && patternRecord(pattern, separator.byte, column)
    })
    return CompiledLines.ofCells(this.plan, this.options, { separator: separator.byte, decimal, columns, patterns })
  }

  override record(bytes: Uint8Array, start: number, end: number, last: boolean): void {
    if (isBlankLine(bytes, start, end) && !this.holdsOneCell(start, end, last)) return
    if (this.isSeparatorLine(bytes, start, end)) return
    const readable = this.split(bytes, start, end, last)
    if (this.layout === undefined) {
      // Without its first record nothing after it has a meaning.
      if (!readable) throw this.error()
      if (this.settle(bytes, end)) return
    }
    if (readable && !this.isHeaderAgain(bytes, start, end)) this.convert(bytes, start, end)
    this.records += 1
    this.columns.endRow(end - start)
  }

  /** The first line may say what stands between cells, as spreadsheets write it. Throws NodeError where the request says otherwise. */
  private isSeparatorLine(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.feed.place.line !== 1 || this.records > 0) return false
    const separator = separatorOfLine(bytes, start, end, this.options.dialect)
    if (separator === undefined) return false
    this.signs = { ...this.signs, separator }
    this.cells.use(separator)
    this.framer.use(separator)
    return true
  }

  /** Where each record is one cell, and the media type says that this is CSV with or without a header, a line is a record. */
  private holdsOneCell(start: number, end: number, last: boolean): boolean {
    const isSaid = this.options.csvHeader !== undefined
    return isSaid && this.layout?.length === 1 && !(last && start === end)
  }

  override oversized(length: number, last: boolean): void {
    if (last && this.framer.inQuotes) {
      const { quoteLine: line, quoteDistance } = this.framer
      this.addBare('UnclosedQuote', unclosedMessage, { line, offset: this.feed.place.offset + quoteDistance })
      this.records += 1
    } else super.oversized(length, last)
    if (this.layout === undefined) throw this.error()
  }

  /** Finds the cells of a record; false, with a fault, when they cannot be told apart. */
  private split(bytes: Uint8Array, start: number, end: number, last: boolean): boolean {
    const isHeader = this.layout === undefined && this.header === 'present'
    const record = isHeader ? undefined : this.records
    if (last && this.framer.inQuotes) {
      const at = start + this.framer.quoteDistance
      this.fault({ kind: 'UnclosedQuote', message: unclosedMessage, bytes, at, end }, record)
      return false
    }
    if (this.invalidUtf8(bytes, start, end, record)) return false
    const fault = this.cells.split(bytes, start, end)
    const nul = this.sawNul ? this.nulIn(bytes, { start, end, isSplit: fault === undefined }) : -1
    if (nul >= 0) {
      this.fault({ kind: 'MalformedRecord', message: nulMessage, bytes, at: nul, end: nul + 1 }, record)
      return false
    }
    if (fault === undefined) return true
    const kind = fault === 'too-many' ? 'TooManyFields' : 'MalformedRecord'
    const at = this.cells.faultAt
    const isEscaped = fault === 'after-quote' && bytes[at - 2] === backslash
    const message = isEscaped ? escapedMessage : splitFault(fault, this.signs.separator)
    this.fault({ kind, message, bytes, at, end }, record)
    return false
  }

  /** Where a record has a NUL outside of quotes, or anywhere if its cells cannot be told apart; -1: nowhere. */
  private nulIn(bytes: Uint8Array, { start, end, isSplit }: SplitRecord): number {
    if (isSplit) return this.cells.bareNul()
    const found = bytes.subarray(start, end).indexOf(0)
    return found < 0 ? -1 : start + found
  }

  /** Decides from the first record what the cells stand for; true when it is a header. */
  private settle(bytes: Uint8Array, end: number): boolean {
    const { plan } = this
    const isName = (folded: string): boolean => plan.byName.has(folded)
    this.header ??= this.decide(bytes, end, isName)
    if (this.header === 'absent') {
      this.lay(plan.positions)
      return false
    }
    const names = headerNames(this.cells, isName)
    this.names = names.map(({ name }) => name)
    this.repeated = new RepeatedHeader(this.cells)
    this.lay(this.headerLayout(bytes, end, names))
    return true
  }

  private decide(bytes: Uint8Array, end: number, isName: (folded: string) => boolean): CsvHeader {
    const { cells, format, feed } = this
    const [, ...own] = this.plan.columns
    const takesText = own.some(({ code }) => code === valueCode.string)
    const verdict = judgeHeader(cells, { isName, takesText, hasColumns: own.length > 0 })
    if (typeof verdict === 'string') return verdict
    const columns = own.map(({ name }) => name)
    const about = { bytes, end, place: feed.place, mediaType: format.mediaType, columns }
    throw headerDoubt(cells, verdict.doubt, about)
  }

  /** True, with a fault, for the header once more: files were put together. */
  private isHeaderAgain(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.repeated?.isIn(this.cells) !== true) return false
    const message = 'The header is repeated here: send each file as a batch, or remove the line.'
    this.fault({ kind: 'MalformedRecord', message, bytes, at: start, end: contentEnd(bytes, start, end) }, this.records)
    return true
  }

  private lay(layout: readonly number[]): void {
    const met = new Set(layout)
    this.layout = layout
    const { dialect } = this.options
    if (dialect !== undefined && changesValues(dialect)) this.spellings = this.spellingsOf(dialect, layout)
    this.missing = this.plan.columns.map((_, column) => column).filter((column) => !met.has(column))
  }

  /** Of each column, by the name that the file has for it. Throws NodeError `InvalidParameter` for a column that it does not have. */
  private spellingsOf(dialect: Dialect, layout: readonly number[]): readonly ColumnSpelling[] {
    const { columns } = this.plan
    const nameOf = (column: number): string => this.names[layout.indexOf(column)] ?? columns[column]?.name ?? ''
    demandColumns(dialect, [...this.names, ...columns.map(({ name }) => name)])
    return columns.map((_, column) => new ColumnSpelling(dialect, nameOf(column)))
  }

  /** The column that each cell of the header names. Throws NodeError when one names none. */
  private headerLayout(bytes: Uint8Array, end: number, names: readonly HeaderName[]): number[] {
    const layout = headerColumns(names, this.plan, this.options, (cell, fault) =>
      this.fault({ ...fault, ...this.cellAt(bytes, end, cell) }, undefined),
    )
    if (this.faults.total > 0) throw this.error()
    return layout
  }

  private convert(bytes: Uint8Array, start: number, end: number): void {
    const { cells, columns, plan } = this
    const layout = this.layout ?? plan.positions
    const { count } = cells
    if (count !== layout.length) return this.wrongCount(bytes, start, end, layout.length)
    for (let cell = 0; cell < count; cell++) {
      const index = layout[cell] ?? ignoredCell
      if (index < 0) {
        if (index === valuelessCell && !this.isEmpty(cell)) this.unknownValue(bytes, end, cell)
        continue
      }
      const column = plan.columns[index]
      if (column === undefined) continue
      const kind = this.putCell(column, index, cell)
      if (kind === undefined) continue
      const fault = { kind, message: columns.reason, ...this.cellAt(bytes, end, cell), column: column.name }
      this.fault(fault, this.records)
    }
    for (const index of this.missing) {
      const column = must(plan.columns[index], 'a column')
      if (!column.required) continue
      const kind = columns.missing(column)
      this.fault({ kind, message: columns.reason, bytes, at: start, end, column: column.name }, this.records)
    }
  }

  /** Whether a cell that no column has is without a value. */
  private isEmpty(cell: number): boolean {
    const { cells } = this
    const { dialect } = this.options
    const [start = 0, end = 0] = [cells.starts[cell], cells.ends[cell]]
    if (start === end) return true
    if (dialect?.nulls === undefined || cells.quoted[cell] !== 0) return false
    const spelling = this.unnamed.get(cell) ?? new ColumnSpelling(dialect, this.names[cell] ?? '')
    this.unnamed.set(cell, spelling)
    return spelling.isNull(cells.source(cell), start, end)
  }

  private putCell(column: ColumnPlan, index: number, cell: number): RecordErrorKind | undefined {
    const { cells, columns } = this
    const builder = columns.builder(index)
    const bytes = cells.source(cell)
    const from = cells.starts[cell] ?? 0
    const to = cells.ends[cell] ?? 0
    const { code } = column
    const isBare = cells.quoted[cell] === 0
    const spelling = this.spellings?.[index]
    if (isBare && spelling?.isNull(bytes, from, to) === true) return columns.putNull(column, builder)
    if (code === valueCode.string) {
      if (from === to && isBare) return columns.putNull(column, builder)
      return columns.putText(column, builder, bytes, from, to)
    }
    const start = trimStart(bytes, from, to)
    const end = trimEnd(bytes, start, to)
    if (start === end && (code !== valueCode.binary || isBare)) return columns.putNull(column, builder)
    if (spelling !== undefined) return this.putSpelt(spelling, { column, index, bytes, start, end })
    return this.putValue(column, index, { bytes, start, end })
  }

  /** A cell under the dialect. */
  private putSpelt(
    spelling: ColumnSpelling,
    { column, index, bytes, start, end }: Span & { readonly column: ColumnPlan; readonly index: number },
  ): RecordErrorKind | undefined {
    const { columns, options } = this
    const { code } = column
    const isTime = code === valueCode.date || code === valueCode.timestamp || code === valueCode.time
    if (isTime && spelling.dateFormat !== undefined) {
      return spelling.date(bytes, start, end)
        ? columns.putText(column, columns.builder(index), spelling.bytes, spelling.start, spelling.end)
        : columns.wrongDate(column, spelling.dateFormat)
    }
    if (code === valueCode.bool && spelling.hasWords) {
      const value = spelling.bool(bytes, start, end)
      const builder = columns.builder(index)
      return value === undefined ? columns.wrongType(column, 'no boolean') : columns.putBool(column, builder, value)
    }
    const isNumeric = code >= valueCode.small && code <= valueCode.decimal
    const isEpoch = index === 0 && options.eventTimeUnit !== undefined
    if (!isNumeric && !isEpoch) return this.putValue(column, index, { bytes, start, end })
    if (notFinite(bytes, start, end) !== undefined) return this.putValue(column, index, { bytes, start, end })
    if (!spelling.number(bytes, start, end)) return columns.wrongType(column, 'no number')
    return this.putValue(column, index, spelling)
  }

  /** A value in the spelling that all columns take. */
  private putValue(column: ColumnPlan, index: number, { bytes, start, end }: Span): RecordErrorKind | undefined {
    const { columns, number } = this
    const { code } = column
    const builder = columns.builder(index)
    if (code === valueCode.bool) {
      const value = booleanOf(bytes, start, end)
      return value === undefined ? columns.wrongType(column, 'no boolean') : columns.putBool(column, builder, value)
    }
    const numeric = code >= valueCode.small && code <= valueCode.decimal
    const epoch = index === 0 && this.options.eventTimeUnit !== undefined && code === valueCode.timestamp
    if ((numeric || epoch) && scanNumber(number, bytes, start, end, true) && number.end === end) {
      if (numeric && !isSpeltAsNumber(number, bytes)) columns.warn(lostSpelling(column))
      return columns.putNumber(column, builder, number, bytes)
    }
    return columns[numeric ? 'putWord' : 'putText'](column, builder, bytes, start, end)
  }

  private wrongCount(bytes: Uint8Array, start: number, end: number, expected: number): void {
    const { count } = this.cells
    const kind = count > expected ? 'TooManyFields' : 'TooFewFields'
    const at = count > expected ? (this.cells.rawStarts[expected] ?? start) : start
    const guessed = this.header === 'absent' && this.options.csvHeader === undefined
    const than = this.header === 'present' ? `the header names ${expected}` : `the dataset has ${expected} columns`
    const hint = guessed ? ' If the first line is a header, say header=present.' : ''
    const message = `The record has ${count} cells; ${than}.${hint}`
    this.fault({ kind, message, bytes, at, end }, this.records)
  }

  private unknownValue(bytes: Uint8Array, end: number, cell: number): void {
    const column = this.names[cell] ?? ''
    const message = unknownCellMessage(column, this.options)
    this.fault({ kind: 'UnknownField', message, ...this.cellAt(bytes, end, cell), column }, this.records)
  }

  /** Where a cell lies in the record that ends at `end`, its quotes included. */
  private cellAt(bytes: Uint8Array, end: number, cell: number): Pick<Fault, 'bytes' | 'at' | 'end'> {
    const { rawStarts, count } = this.cells
    const next = cell + 1 < count ? must(rawStarts[cell + 1], 'a cell') - 1 : end
    return { bytes, at: must(rawStarts[cell], 'a cell'), end: next }
  }
}

const unclosedMessage = 'The quote that opens this cell is never closed.'

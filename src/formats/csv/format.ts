// CSV and TSV as formats of ingest: cells by position or by the names in the header, into the columns; and inference over it,
// from the header and the classes of the cells of each column in the first records.

import { must } from '../../lib/assert.ts'
import { NodeError, type RecordErrorKind } from '../../model/errors.ts'
import { foldAscii } from '../../model/names.ts'
import { BodyReader } from '../body-reader.ts'
import { type ColumnPlan, inputNames, reservedName, type TablePlan, tablePlan, valueCode } from '../column-plan.ts'
import { excerptOf, type Fault, FaultLog, unknownFieldMessage } from '../fault-log.ts'
import type { CsvHeader, StreamFormat, InferOptions, Inferred, ParsedBody, ReaderOptions } from '../format.ts'
import {
  BodyInferrer,
  booleanOf,
  classOfText,
  lastNumber,
  noteInteger,
  type SampledColumn,
  trimEnd,
  trimStart,
  valueClass,
} from '../inference.ts'
import { NumberScan, scanNumber } from '../number-scan.ts'
import {
  cellTexts,
  commas,
  CsvCells,
  CsvFramer,
  firstNonName,
  isBlankLine,
  namesColumns,
  type Separator,
  splitFault,
  tabs,
} from './cells.ts'
import { cellEnds } from './ends.ts'

/** A record, and whether its cells could be told apart. */
type SplitRecord = Readonly<{ start: number; end: number; isSplit: boolean }>

const nulMessage = 'A NUL byte is no text, unless its cell is quoted.'

/** A format of cells. */
type Dialect = Readonly<{ separator: Separator; mediaType: string }>

class CsvInferrer extends BodyInferrer {
  private readonly options: InferOptions
  private readonly mediaType: string
  private readonly framer: CsvFramer
  private readonly cells: CsvCells
  private header: CsvHeader | undefined
  /** Column of each cell; settled by the first record. */
  private layout: readonly (SampledColumn | undefined)[] | undefined = undefined

  constructor(options: InferOptions, { separator, mediaType }: Dialect) {
    const framer = new CsvFramer(separator)
    super(options, framer)
    this.framer = framer
    this.cells = new CsvCells(separator)
    this.mediaType = mediaType
    this.options = options
    this.header = options.csvHeader
  }

  protected override infer(): Inferred {
    return this.sample.infer(this.header, this.header === 'absent')
  }

  override record(bytes: Uint8Array, start: number, end: number, last: boolean): void {
    if (this.done || isBlankLine(bytes, start, end)) return
    const faulty =
      (last && this.framer.inQuotes) ||
      this.isInvalidUtf8(bytes, start, end) ||
      this.cells.split(bytes, start, end) !== undefined
    if (faulty) return this.oversized()
    if (this.layout === undefined && this.settle(bytes, end)) return
    this.count()
    if (this.cells.count !== this.layout?.length) return
    for (const [cell, column] of this.layout.entries()) if (column !== undefined) this.note(column, cell)
  }

  /** A record that cannot be read: without the first, nothing after it has a meaning. The reader says what is wrong. */
  override oversized(): void {
    super.oversized()
    this.done ||= this.layout === undefined
  }

  /** Decides from the first record what the cells stand for; true when it is a header. */
  private settle(bytes: Uint8Array, end: number): boolean {
    const { cells, sample, options } = this
    const texts = cellTexts(cells)
    if (this.header === undefined) this.header = this.decide(bytes, end, texts)
    if (this.header === 'present') {
      this.layout = texts.map((text) => sample.column(text))
      return true
    }
    const known = (options.known ?? []).length > 0
    this.layout = texts.map((_, cell) => (known ? undefined : sample.column(`column_${cell + 1}`)))
    return false
  }

  private decide(bytes: Uint8Array, end: number, texts: readonly string[]): CsvHeader {
    const { options, cells } = this
    const known = options.known ?? []
    if (known.length > 0) {
      const names = [...known.map((field) => field.name), ...inputNames(options)]
      const folded = new Set(names.map(foldAscii))
      return namesColumns(texts, (name) => folded.has(name)) ? 'present' : 'absent'
    }
    const cell = firstNonName(cells)
    if (cell < 0) return 'present'
    throw this.doubtful(bytes, end, cell)
  }

  /** The refusal of a first record that may be a header or not. */
  private doubtful(bytes: Uint8Array, end: number, cell: number): NodeError {
    const { cells, feed } = this
    const at = cells.rawStarts[cell] ?? 0
    const message = `The first line does not read as a header: '${excerptOf(cells.source(cell), cells.starts[cell] ?? 0, cells.ends[cell] ?? 0)}' is no column name, or a repeated one.`
    const faults = new FaultLog()
    faults.add({ kind: 'MalformedRecord', message, bytes, at, end: Math.min(at + 1, end) }, undefined, feed.place)
    const { details } = faults.toError(false)
    return new NodeError('RecordsDoNotFit', `${message} Nothing was stored.`, {
      ...details,
      hint: `Say header=present or header=absent in the media type: ${this.mediaType}; header=absent.`,
    })
  }

  private note(column: SampledColumn, cell: number): void {
    const { cells } = this
    const start = cells.starts[cell] ?? 0
    const end = cells.ends[cell] ?? 0
    if (start === end) {
      if (cells.quoted[cell] !== 0) column.emptyText = true
      return
    }
    const bytes = cells.source(cell)
    const found = classOfText(bytes, start, end)
    column.classes |= found
    if (found === valueClass.integer) noteInteger(column, lastNumber, bytes)
  }
}

/** A cell that belongs to no column and may hold anything. */
const ignoredCell = -1
/** A cell that belongs to no column and must be empty. */
const valuelessCell = -2

class CsvReader extends BodyReader {
  private readonly plan: TablePlan
  private readonly separator: Separator
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

  constructor(options: ReaderOptions, { separator }: Dialect) {
    const plan = tablePlan(options)
    const framer = new CsvFramer(separator)
    super(options, framer, plan)
    this.separator = separator
    this.cells = new CsvCells(separator)
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
    const body = super.finish()
    return this.header === undefined ? body : { ...body, csvHeader: this.header }
  }

  override record(bytes: Uint8Array, start: number, end: number, last: boolean): void {
    if (isBlankLine(bytes, start, end) && !this.holdsOneCell(start, end, last)) return
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
    this.fault({ kind, message: splitFault(fault, this.separator), bytes, at: this.cells.faultAt, end }, record)
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
    const { plan, options } = this
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
      if (kind !== undefined) this.fault({ kind, message, ...this.cellAt(bytes, end, cell), column: text }, undefined)
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
      const index = layout[cell] ?? ignoredCell
      if (index < 0) {
        if (index === valuelessCell && cells.ends[cell] !== cells.starts[cell]) this.unknownValue(bytes, end, cell)
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

  private putCell(column: ColumnPlan, index: number, cell: number): RecordErrorKind | undefined {
    const { cells, columns, number } = this
    const builder = columns.builder(index)
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
    if (start === end && (code !== valueCode.binary || cells.quoted[cell] === 0))
      return columns.putNull(column, builder)
    if (code === valueCode.bool) {
      const value = booleanOf(bytes, start, end)
      return value === undefined ? columns.wrongType(column, 'no boolean') : columns.putBool(column, builder, value)
    }
    const numeric = code >= valueCode.small && code <= valueCode.decimal
    const epoch = index === 0 && this.options.eventTimeUnit !== undefined && code === valueCode.timestamp
    if ((numeric || epoch) && scanNumber(number, bytes, start, end, true) && number.end === end) {
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
    const message = unknownFieldMessage(column, true)
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

export const csv = separatedBy(commas, {
  name: 'csv',
  title: 'CSV',
  mediaTypes: ['text/csv'],
  extensions: ['csv'],
  about: 'RFC 4180',
  example: 'event_time,sensor,celsius\n2026-01-31T12:00:00Z,s1,21.5\n',
})

export const tsv = separatedBy(tabs, {
  name: 'tsv',
  title: 'TSV',
  mediaTypes: ['text/tab-separated-values'],
  extensions: ['tsv', 'tab'],
  about: 'as CSV, with tabs between cells',
  example: 'event_time\tsensor\tcelsius\n2026-01-31T12:00:00Z\ts1\t21.5\n',
})

function separatedBy(
  separator: Separator,
  words: Pick<StreamFormat, 'name' | 'title' | 'mediaTypes' | 'extensions' | 'about' | 'example'>,
): StreamFormat {
  const dialect = { separator, mediaType: words.mediaTypes[0] ?? '' }
  return {
    kind: 'stream',
    module: import.meta.url,
    ...words,
    isLines: true,
    hasHeader: true,
    ends: (header) => cellEnds(separator, header),
    createReader: (options) => new CsvReader(options, dialect),
    createInferrer: (options) => new CsvInferrer(options, dialect),
  }
}

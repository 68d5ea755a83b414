// What the first records of a body of cells tell of its columns: their names, by the header or by place, and the classes of
// their values.

import { foldAscii } from '../../model/names.ts'
import { type Field, innerType } from '../../model/schema.ts'
import { inputNames } from '../column-plan.ts'
import type { Dialect } from '../dialect/dialect.ts'
import { changesValues, ColumnSpelling } from '../dialect/spelling.ts'
import type { CsvHeader, InferOptions, Inferred } from '../format.ts'
import {
  BodyInferrer,
  classOfText,
  lastNumber,
  noteInteger,
  noteValue,
  type SampledColumn,
  valueClass,
} from '../inference.ts'
import { type CellFormat, type CellSigns, cellSigns, CsvCells, CsvFramer, isBlankLine } from './cells.ts'
import { headerDoubt, headerNames, judgeHeader, positionName } from './header.ts'
import { separatorOfLine, SeparatorWatch } from './other-separator.ts'

export class CsvInferrer extends BodyInferrer {
  private readonly format: CellFormat
  private signs: CellSigns
  private readonly dialect: Dialect | undefined
  private readonly known: readonly Field[]
  private readonly isName: (folded: string) => boolean
  private readonly framer: CsvFramer
  private readonly cells: CsvCells
  private header: CsvHeader | undefined
  /** Column of each cell; settled by the first record. */
  private layout: readonly (SampledColumn | undefined)[] | undefined = undefined
  /** Names that stand for empty cells of the header. */
  private unnamed: readonly string[] = []
  private spellings: readonly (ColumnSpelling | undefined)[] | undefined
  /** Where each record is one cell of a new column. */
  private watch: SeparatorWatch | undefined

  constructor(options: InferOptions, format: CellFormat) {
    const signs = cellSigns(format, options.dialect)
    const framer = new CsvFramer(signs)
    super(options, framer)
    this.framer = framer
    this.cells = new CsvCells(signs)
    this.format = format
    this.signs = signs
    this.dialect = options.dialect
    this.known = options.known ?? []
    const names = new Set([...this.known.map(({ name }) => name), ...inputNames(options)].map(foldAscii))
    this.isName = (folded) => names.has(folded)
    this.header = options.csvHeader
  }

  protected override infer(): Inferred {
    this.watch?.demandNone()
    const inferred = this.sample.infer(this.header, this.header === 'absent')
    const named = inferred.added.filter(({ name }) => this.unnamed.includes(name))
    const warnings = named.map(({ name }) => `The header has no name for a column: it is called '${name}'.`)
    return warnings.length === 0 ? inferred : { ...inferred, warnings: [...(inferred.warnings ?? []), ...warnings] }
  }

  override record(bytes: Uint8Array, start: number, end: number, last: boolean): void {
    if (this.done || isBlankLine(bytes, start, end)) return
    if (this.isSeparatorLine(bytes, start, end)) return
    const faulty =
      (last && this.framer.inQuotes) ||
      this.isInvalidUtf8(bytes, start, end) ||
      this.cells.split(bytes, start, end) !== undefined
    if (faulty) return this.oversized()
    if (this.layout === undefined && this.settle(bytes, start, end)) return
    this.count()
    this.watch?.take(bytes, start, end)
    if (this.cells.count !== this.layout?.length) return
    const spellings = (this.spellings ??= this.spellingsOf(this.layout))
    for (const [cell, column] of this.layout.entries()) {
      if (column !== undefined) this.note(column, cell, spellings[cell])
    }
  }

  private isSeparatorLine(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.feed.place.line !== 1 || this.layout !== undefined) return false
    const separator = separatorOfLine(bytes, start, end, this.dialect)
    if (separator === undefined) return false
    this.signs = { ...this.signs, separator }
    this.cells.use(separator)
    this.framer.use(separator)
    return true
  }

  /** A record that cannot be read: without the first, nothing after it has a meaning. The reader says what is wrong. */
  override oversized(): void {
    super.oversized()
    this.done ||= this.layout === undefined
  }

  /** Decides from the first record what the cells stand for; true when it is a header. */
  private settle(bytes: Uint8Array, start: number, end: number): boolean {
    const { cells, sample } = this
    this.header ??= this.decide(bytes, end)
    if (this.header === 'present') {
      const names = headerNames(cells, this.isName)
      this.layout = names.map(({ name }) => sample.column(name))
      this.unnamed = names.filter(({ isEmpty }) => isEmpty).map(({ name }) => name)
      if (this.known.length === 0 && names.length === 1) this.watch = new SeparatorWatch(this.signs, bytes, start, end)
      return true
    }
    const isNew = this.known.length === 0
    this.layout = Array.from({ length: cells.count }, (_, cell) =>
      isNew ? sample.column(positionName(cell)) : undefined,
    )
    return false
  }

  private decide(bytes: Uint8Array, end: number): CsvHeader {
    const { cells, known, isName, feed } = this
    const takesText = known.some(({ type }) => innerType(type).kind === 'String')
    const verdict = judgeHeader(cells, { isName, takesText, hasColumns: known.length > 0 })
    if (typeof verdict === 'string') return verdict
    const columns = known.map(({ name }) => name)
    const { mediaType } = this.format
    throw headerDoubt(cells, verdict.doubt, { bytes, end, place: feed.place, mediaType, columns })
  }

  /** Of each cell, where the dialect changes what cells are. */
  private spellingsOf(layout: readonly (SampledColumn | undefined)[]): readonly (ColumnSpelling | undefined)[] {
    const { dialect } = this
    if (dialect === undefined || !changesValues(dialect)) return []
    return layout.map((column) => column && new ColumnSpelling(dialect, column.name))
  }

  private note(column: SampledColumn, cell: number, spelling: ColumnSpelling | undefined): void {
    const { cells } = this
    const start = cells.starts[cell] ?? 0
    const end = cells.ends[cell] ?? 0
    if (start === end) {
      if (cells.quoted[cell] !== 0) column.emptyText = true
      return
    }
    const bytes = cells.source(cell)
    if (cells.quoted[cell] === 0 && spelling?.isNull(bytes, start, end) === true) return
    const found = spelling?.classOf(bytes, start, end) ?? classOfText(bytes, start, end)
    noteValue(column, found, bytes, start, end)
    if (found === valueClass.integer) noteInteger(column, lastNumber, spelling?.bytes ?? bytes)
  }
}

// CSV as a format of ingest, and inference over it: the header, and the classes of the cells of each column in the first
// records.

import { NodeError } from '../../model/errors.ts'
import { foldAscii } from '../../model/names.ts'
import { systemNames } from '../column-plan.ts'
import { excerptOf, FaultLog } from '../fault-log.ts'
import type { CsvHeader, Format, InferOptions, Inferred } from '../format.ts'
import { BodyInferrer, classOfText, lastNumber, noteInteger, type SampledColumn, valueClass } from '../inference.ts'
import { cellTexts, CsvCells, CsvFramer, firstNonName, isBlankLine, namesColumns } from './cells.ts'
import { CsvReader } from './reader.ts'

class CsvInferrer extends BodyInferrer {
  private readonly options: InferOptions
  private readonly framer: CsvFramer
  private readonly cells = new CsvCells()
  private header: CsvHeader | undefined
  /** Column of each cell; settled by the first record. */
  private layout: readonly (SampledColumn | undefined)[] | undefined = undefined

  constructor(options: InferOptions) {
    const framer = new CsvFramer()
    super(options, framer)
    this.framer = framer
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
      const names = [
        ...known.map((field) => field.name),
        options.vocabulary.eventTimeColumn,
        ...systemNames(options.vocabulary),
      ]
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
      hint: 'Say header=present or header=absent in the media type: text/csv; header=absent.',
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

export const csv: Format = {
  name: 'csv',
  title: 'CSV',
  mediaTypes: ['text/csv'],
  extensions: ['csv'],
  about: 'RFC 4180',
  example: 'event_time,sensor,celsius\n2026-01-31T12:00:00Z,s1,21.5\n',
  isLines: true,
  hasHeader: true,
  createReader: (options) => new CsvReader(options),
  createInferrer: (options) => new CsvInferrer(options),
}

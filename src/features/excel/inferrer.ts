// What the first records of a sheet tell of its columns. What a text is, is text, however it looks, but days and times.

import { foldAscii } from '../../libraries/model/names.ts'
import { innerType } from '../../libraries/model/schema.ts'
import { inputNames } from '../../libraries/formats/column-plan.ts'
import { zoneless } from '../../libraries/formats/columnar.ts'
import { ColumnSpelling } from '../../libraries/formats/dialect/spelling.ts'
import { sampleRecords } from '../../libraries/formats/fault-log.ts'
import type { CsvHeader, InferOptions, Inferred } from '../../libraries/formats/format.ts'
import {
  classOfNumber,
  classOfTimeText,
  noteInteger,
  noteValue,
  Sample,
  type SampledColumn,
  valueClass,
} from '../../libraries/formats/inference.ts'
import { NumberScan, scanNumber } from '../../libraries/formats/number-scan.ts'
import type { Header } from './header.ts'
import type { Cell } from './sheet.ts'
import { Table } from './table.ts'

export class SheetInferrer extends Table {
  readonly #options: InferOptions
  readonly #sample: Sample
  readonly #scan = new NumberScan()
  #header: CsvHeader | undefined
  #columns: readonly (SampledColumn | undefined)[] = []
  #spellings: readonly ColumnSpelling[] | undefined
  #unnamed: readonly string[] = []
  /** Columns of times that have no zone, because workbooks have none. */
  readonly #times = new Set<SampledColumn>()

  constructor(options: InferOptions, sheet: string) {
    const { known = [] } = options
    const columns = known.map(({ name }) => name)
    const names = new Set([...columns, ...inputNames(options)].map(foldAscii))
    const takesText = known.some(({ type }) => innerType(type).kind === 'String')
    const hasColumns = columns.length > 0
    super(options, { sheet, columns, takesText, hasColumns, isName: (folded) => names.has(folded) })
    this.#options = options
    this.#sample = new Sample(options)
  }

  /** True when there is no use in reading on. */
  get isDone(): boolean {
    return this.#sample.records >= sampleRecords
  }

  /** Throws NodeError `RecordsDoNotFit` for a column of times whose zone nobody knows. */
  finish(): Inferred {
    if (this.#options.timeZone === undefined) this.#demandZone()
    const inferred = this.#sample.infer(this.#header ?? 'present', this.#header === 'absent')
    const named = inferred.added.filter(({ name }) => this.#unnamed.includes(name))
    const warnings = named.map(({ name }) => `The header has no name for a column: it is called '${name}'.`)
    return { ...inferred, warnings: [...(inferred.warnings ?? []), ...warnings] }
  }

  protected begin({ kind, names }: Header): void {
    const { dialect, known = [] } = this.#options
    this.#header = kind
    const isNamed = kind === 'present' || known.length === 0
    this.#columns = isNamed ? names.map(({ name }) => this.#sample.column(name)) : []
    this.#unnamed = kind === 'present' ? names.filter(({ isEmpty }) => isEmpty).map(({ name }) => name) : []
    this.#spellings = dialect && names.map(({ name }) => new ColumnSpelling(dialect, name))
  }

  protected value(cell: Cell): void {
    const place = cell.column - this.first
    const column = this.#columns[place]
    if (column === undefined || this.isDone) return
    const found = this.#classOf(cell, column, this.#spellings?.[place])
    if (found !== 0) noteValue(column, found, cell.bytes, cell.start, cell.end)
  }

  protected endRecord(): void {
    if (!this.isDone) this.#sample.records += 1
  }

  #classOf({ kind, bytes, start, end }: Cell, column: SampledColumn, spelling: ColumnSpelling | undefined): number {
    if (spelling?.isNull(bytes, start, end) === true) return 0
    switch (kind) {
      case 'number': {
        scanNumber(this.#scan, bytes, start, end, true)
        const found = classOfNumber(this.#scan)
        if (found === valueClass.integer) noteInteger(column, this.#scan, bytes)
        return found
      }
      case 'bool':
        return valueClass.bool
      case 'time':
        this.#times.add(column)
        return classOfTimeText(bytes, start, end)
      case 'text':
        if (spelling?.dateFormat === undefined) return classOfTimeText(bytes, start, end)
        return spelling.date(bytes, start, end)
          ? classOfTimeText(spelling.bytes, spelling.start, spelling.end)
          : valueClass.text
      default:
        // The reader says what is wrong.
        return 0
    }
  }

  #demandZone(): void {
    const { zonelessTime, time } = valueClass
    const column = [...this.#times].find(({ classes }) => (classes | time) === (zonelessTime | time))
    if (column !== undefined) throw zoneless(column.name)
  }
}

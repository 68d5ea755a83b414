// The table of a sheet: rows that are skipped, then its header, then records. Rows without a value are none.

import type { FormatOptions } from '../../libraries/formats/format.ts'
import { malformed } from './faults.ts'
import { type Header, headerOf, kept, type TableFacts } from './header.ts'
import type { Cell, CellSink } from './sheet.ts'

/** What inference and reading have in common. */
export abstract class Table implements CellSink {
  /** Column of the first cell that counts. */
  protected first = 0
  readonly #facts: TableFacts
  readonly #options: FormatOptions
  #waiting: Cell[] = []
  #waitingBytes = 0
  #isBegun = false
  /** The row judged last, and whether it is skipped. */
  #row = -1
  #isSkippedRow = false

  constructor(options: FormatOptions, facts: TableFacts) {
    this.#options = options
    this.#facts = facts
  }

  cell(cell: Cell, row: number): void {
    if (this.#isSkipped(row)) return
    if (this.#isBegun) return this.value(cell, row)
    this.#waitingBytes += cell.end - cell.start
    if (this.#waitingBytes > this.#options.recordBytes)
      throw malformed(this.#facts.sheet, 'the first row is longer than a record may be.')
    this.#waiting.push(kept(cell))
  }

  endRow(row: number): void {
    if (this.#isSkipped(row)) return
    if (this.#isBegun) return this.endRecord(row)
    const cells = this.#waiting
    const header = headerOf(cells, row, { ...this.#facts, said: this.#options.csvHeader })
    this.#waiting = []
    this.#isBegun = true
    this.first = header.first
    this.begin(header, row)
    if (header.kind === 'present') return
    for (const cell of cells) this.value(cell, row)
    this.endRecord(row)
  }

  /** The header of this row, or what a record without one has for it. */
  protected abstract begin(header: Header, row: number): void
  protected abstract value(cell: Cell, row: number): void
  protected abstract endRecord(row: number): void

  #isSkipped(row: number): boolean {
    if (row === this.#row) return this.#isSkippedRow
    const skipped = this.#options.dialect?.skipped
    this.#row = row
    this.#isSkippedRow = skipped?.some(([first, last]) => row + 1 >= first && row + 1 <= last) === true
    return this.#isSkippedRow
  }
}

// The cells of a sheet in order, from its XML: each as a number, a text, a truth value, a day or time, an error, or as what cannot be
// read. Source: ISO/IEC 29500-1 §18.3

import { Buffer } from 'node:buffer'
import type { NodeError } from '../../libraries/base/errors.ts'
import type { Warnings } from '../../libraries/base/warnings.ts'
import { NumberScan, scanNumber } from '../../libraries/formats/number-scan.ts'
import { cellName, columnLetters, malformed } from './faults.ts'
import type { FormatKind } from './number-format.ts'
import { serialText } from './serial.ts'
import type { SharedStrings } from './strings.ts'
import type { Workbook } from './workbook.ts'
import { type Attributes, isTrue, longestText, unescaped, type XmlHandler, XmlReader } from './xml.ts'

/** `time`: a day, or a time that may have no zone, as text. `fault`: its bytes say why it has no value. */
export type CellKind = 'number' | 'text' | 'bool' | 'time' | 'error' | 'fault'

/** A cell that is not empty: `bytes[start, end)`, until the next one. */
export interface Cell {
  readonly kind: CellKind
  /** 0-based. */
  readonly column: number
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
}

/** Takes the cells of rows that have any, and the end of each such row, 0-based. */
export interface CellSink {
  cell(cell: Cell, row: number): void
  endRow(row: number): void
}

const rowsMost = 1_048_576
const columnsMost = 16_384

export class SheetReader implements XmlHandler {
  readonly #sink: CellSink
  readonly #book: Workbook
  readonly #strings: SharedStrings
  readonly #warnings: Warnings
  readonly #xml: XmlReader
  readonly #scan = new NumberScan()
  #value = ''
  /** Its bytes. */
  #bytes: Buffer = Buffer.allocUnsafeSlow(256)
  #place: 'sheet' | 'rows' | 'row' | 'cell' | 'text' | 'formula' = 'sheet'
  #isPhonetic = false
  #row = -1
  #hasCells = false
  #column = -1
  #type = ''
  #style = ''
  #hasValue = false
  #hasFormula = false

  constructor(
    book: Workbook,
    { strings, warnings, sink }: { strings: SharedStrings; warnings: Warnings; sink: CellSink },
  ) {
    this.#book = book
    this.#strings = strings
    this.#warnings = warnings
    this.#sink = sink
    this.#xml = new XmlReader(book.sheet.entry.name, this)
  }

  /** The next bytes. Throws NodeError `MalformedBody`, and what the sink throws. */
  push(chunk: Uint8Array): void {
    this.#xml.push(chunk)
  }

  finish(): void {
    this.#xml.finish()
  }

  open(name: string, attributes: Attributes): void {
    switch (this.#place) {
      case 'cell':
        this.#openInCell(name)
        break
      case 'row':
        if (name === 'c') this.#openCell(attributes)
        break
      case 'rows':
        if (name === 'row') this.#openRow(attributes)
        break
      case 'sheet':
        this.#openAside(name, attributes)
        break
      default:
    }
  }

  text(text: string): void {
    if (this.#place === 'text') this.#value += text
    if (this.#value.length > longestText) throw this.#malformed('a text is too long')
  }

  close(name: string): void {
    if (name === 'v' || name === 't' || name === 'f') {
      if (this.#place === 'text' || this.#place === 'formula') this.#place = 'cell'
    } else if (name === 'c' && this.#place === 'cell') {
      this.#place = 'row'
      this.#closeCell()
    } else if (name === 'row' && this.#place === 'row') {
      this.#place = 'rows'
      if (this.#hasCells) this.#sink.endRow(this.#row)
    } else if (name === 'rPh') this.#isPhonetic = false
    else if (name === 'sheetData') this.#place = 'sheet'
  }

  #openInCell(name: string): void {
    if (name === 'v' || (name === 't' && !this.#isPhonetic)) {
      this.#place = 'text'
      this.#hasValue = true
    } else if (name === 'f') {
      this.#place = 'formula'
      this.#hasFormula = true
    } else if (name === 'rPh') this.#isPhonetic = true
  }

  /** What stands before and after the rows. */
  #openAside(name: string, attributes: Attributes): void {
    if (name === 'sheetData') this.#place = 'rows'
    else if (name === 'col' && isTrue(attributes['hidden'])) this.#warnings.add('Hidden columns are read like others')
    else if (name === 'mergeCell')
      this.#warnings.add('Of merged cells the first has the value, and the others have none')
  }

  #openRow(attributes: Attributes): void {
    const number = attributes['r']
    const row = number === undefined ? this.#row + 1 : /^[1-9]\d{0,6}$/.test(number) ? Number(number) - 1 : rowsMost
    if (row <= this.#row || row >= rowsMost) throw this.#malformed(`the row ${number ?? row + 1} is out of order`)
    if (isTrue(attributes['hidden'])) this.#warnings.add('Hidden rows are read like others')
    this.#row = row
    this.#column = -1
    this.#hasCells = false
    this.#place = 'row'
  }

  #openCell({ r: reference, s: style = '0', t: type = 'n' }: Attributes): void {
    const column = reference === undefined ? this.#column + 1 : this.#columnOf(reference)
    if (column <= this.#column || column >= columnsMost)
      throw this.#malformed(`the cell ${columnLetters(column)}${this.#row + 1} is out of order`)
    this.#column = column
    this.#type = type
    this.#style = style
    this.#value = ''
    this.#hasValue = false
    this.#hasFormula = false
    this.#place = 'cell'
  }

  /** Of a reference such as `C7`, which has to be of this row. */
  #columnOf(reference: string): number {
    let column = 0
    let at = 0
    for (; at < 3; at++) {
      const letter = reference.charCodeAt(at) - 0x40
      if (!(letter >= 1 && letter <= 26)) break
      column = column * 26 + letter
    }
    if (column > 0 && Number(reference.slice(at)) === this.#row + 1) return column - 1
    throw this.#malformed(`a cell of row ${this.#row + 1} says that it is another`)
  }

  #closeCell(): void {
    const value = this.#value
    const type = this.#type
    if (this.#hasFormula) {
      const isEmpty = !this.#hasValue || (value === '' && type !== 'str')
      if (isEmpty) return this.#tell('fault', 'its formula has no value: open the workbook in its program, and save it')
      this.#warnings.add('Of formulas the values are read that were computed last')
    }
    if (value === '') return
    switch (type) {
      case 'n':
        return this.#number(value)
      case 's':
        return this.#shared(Number(value))
      case 'str':
      case 'inlineStr': {
        const text = unescaped(value)
        return text === undefined ? this.#tell('fault', 'its text has half a character') : this.#tell('text', text)
      }
      case 'b':
        return this.#tell('bool', isTrue(value) ? 'true' : 'false')
      case 'e':
        return this.#tell('error', value)
      case 'd':
        return this.#tell('time', value)
      default:
        throw this.#malformed('a cell has a type that is none')
    }
  }

  #shared(index: number): void {
    const strings = this.#strings
    if (!(Number.isInteger(index) && index >= 0 && index < strings.count))
      throw this.#malformed('a cell has a text that the workbook does not have')
    this.#give('text', strings.bytes, strings.start(index), strings.end(index))
  }

  #number(text: string): void {
    const kind = this.#book.kinds[Number(this.#style)]
    if (kind === undefined) throw this.#malformed('a cell has a style that the workbook does not have')
    const length = this.#write(text)
    const scan = this.#scan
    const isNumber = scanNumber(scan, this.#bytes, 0, length, true) && scan.end === length
    const double = Number(text)
    if (!isNumber || !Number.isFinite(double)) return this.#tell('fault', 'it is no number of a workbook')
    if (kind !== 'number') return this.#serial(double, kind)
    // Programs write 17 digits of doubles, of which fewer tell the same.
    const isShortest = scan.integral || (scan.digits <= 15 && !/e/i.test(text))
    if (isShortest) this.#give('number', this.#bytes, 0, length)
    else this.#tell('number', String(double))
  }

  #serial(double: number, kind: Exclude<FormatKind, 'number'>): void {
    const serial = serialText(double, kind, this.#book.is1904)
    if ('why' in serial) this.#tell('fault', serial.why)
    else this.#tell(serial.text[4] === '-' ? 'time' : 'text', serial.text)
  }

  #tell(kind: CellKind, text: string): void {
    this.#give(kind, this.#bytes, 0, this.#write(text))
  }

  /** Bytes of a text, which are in `#bytes` then. */
  #write(text: string): number {
    const most = 3 * text.length
    if (most > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(2 * most)
    return this.#bytes.write(text)
  }

  #give(kind: CellKind, bytes: Uint8Array, start: number, end: number): void {
    if (start === end) return
    this.#hasCells = true
    this.#sink.cell({ kind, column: this.#column, bytes, start, end }, this.#row)
  }

  #malformed(what: string): NodeError {
    const at = this.#row < 0 ? '' : ` (near ${cellName(this.#book.sheet.name, Math.max(0, this.#column), this.#row)})`
    return malformed(this.#book.sheet.entry.name, `${what}${at}.`)
  }
}

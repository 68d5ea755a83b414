// Notices the header of a body once more among its rows, as it stands there when files were put together: the same names, in any
// case and any order. Rows after it may be of another order, so none of them is taken.

import { foldAscii } from '../../model/names.ts'
import { trimEnd, trimStart } from '../inference.ts'
import { cellTexts, type CsvCells } from './cells.ts'

/** A byte order mark stays before the header of a later file. */
const mark = [0xef, 0xbb, 0xbf] as const

const valueName = /^(?:[-\d]|(?:true|false)$)/i

export class RepeatedHeader {
  readonly #names: readonly string[]
  readonly #folded: string
  /** Lengths of names in bytes, which tell most rows apart without reading them. */
  readonly #lengths: ReadonlySet<number>

  /** `cells`: the header, split last. */
  constructor(cells: CsvCells) {
    this.#names = cellTexts(cells).map(withoutMark)
    this.#folded = foldedSet(this.#names)
    this.#lengths = new Set(this.#names.map((name) => Buffer.byteLength(name.trim())))
  }

  /** Where no name may be a number, a day, a time or a boolean, a row with one is not the header once more. */
  get namesNoValue(): boolean {
    return !this.#names.some((name) => valueName.test(name.trim()))
  }

  /** True where the record split last names the same; a single cell must be spelt the same, for it may be a word. */
  isIn(cells: CsvCells): boolean {
    if (cells.count !== this.#names.length) return false
    for (let cell = cells.count - 1; cell >= 0; cell--) if (!this.#mayBeName(cells, cell)) return false
    const texts = cellTexts(cells).map(withoutMark)
    return texts.length === 1 ? texts[0] === this.#names[0] : foldedSet(texts) === this.#folded
  }

  #mayBeName(cells: CsvCells, cell: number): boolean {
    const bytes = cells.source(cell)
    let start = cells.starts[cell] ?? 0
    if (cell === 0 && mark.every((byte, at) => bytes[start + at] === byte)) start += mark.length
    start = trimStart(bytes, start, cells.ends[cell] ?? 0)
    return this.#lengths.has(trimEnd(bytes, start, cells.ends[cell] ?? 0) - start)
  }
}

function withoutMark(text: string, cell: number): string {
  return cell === 0 && text.startsWith('\ufeff') ? text.slice(1) : text
}

/** The names without regard to case, order and white space around them. */
function foldedSet(names: readonly string[]): string {
  return JSON.stringify(names.map((name) => foldAscii(name.trim())).sort())
}

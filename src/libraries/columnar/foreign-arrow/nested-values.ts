// The values of arrays that have other arrays inside: structs and lists become JSON text, dictionaries and runs hand on to
// the array where a value lies.
// Source: Apache Arrow columnar format, "List Layout" to "Dictionary-encoded Layout" and "Run-End Encoded Layout".

import type { ColumnBuilder } from '../arrow/column-builder.ts'
import { must } from '../../base/assert.ts'
import { utf8 } from '../../base/bytes.ts'
import { firstIndex } from '../../base/collections.ts'
import { stringToken } from '../outputs/value-text.ts'
import type { JsonText } from '../../base/json/json-text.ts'
import { damaged } from './faults.ts'
import { type ArrowValues, type OffsetReader, OwnValues, type SharedRows } from './values.ts'

abstract class JsonValues extends OwnValues {
  append(): never {
    return damaged('has a nested value where a plain one belongs')
  }
}

function writeItem(values: ArrowValues, row: number, out: JsonText): void {
  const before = out.at
  if (values.isPresent(row)) values.writeJson(row, out)
  if (out.at === before) out.ascii('null')
}

export class StructValues extends JsonValues {
  readonly children: readonly ArrowValues[]
  /** What stands before each value: punctuation and name. */
  readonly #starts: readonly Uint8Array[]

  constructor(rows: number, validity: Uint8Array | undefined, children: readonly StructChild[]) {
    super(rows, validity)
    this.children = children.map(({ values }) => values)
    this.#starts = children.map(({ name }, i) => utf8(`${i === 0 ? '{' : ','}${stringToken(name, false)}:`))
  }

  writeJson(row: number, out: JsonText): void {
    for (let i = 0; i < this.children.length; i++) {
      out.raw(must(this.#starts[i], 'a start'))
      writeItem(must(this.children[i], 'a child'), row, out)
    }
    out.ascii(this.children.length === 0 ? '{}' : '}')
  }
}

interface StructChild {
  readonly name: string
  readonly values: ArrowValues
}

/** Lists: where the items of each begin and end is for `ranges` to say. */
export class ListValues extends JsonValues {
  readonly items: ArrowValues
  readonly #ranges: ListRanges

  constructor(rows: number, validity: Uint8Array | undefined, ranges: ListRanges, items: ArrowValues) {
    super(rows, validity)
    this.#ranges = ranges
    this.items = items
  }

  /** Where the items of a row begin. */
  startOf(row: number): number {
    const start = this.#ranges.start(row)
    return start >= 0 ? start : outsideOfItems()
  }

  /** Where they end; not before they begin, and inside of the items. */
  endOf(row: number): number {
    const end = this.#ranges.end(row)
    return end >= this.#ranges.start(row) && end <= this.items.rows ? end : outsideOfItems()
  }

  writeJson(row: number, out: JsonText): void {
    const [start, end] = [this.startOf(row), this.endOf(row)]
    out.ascii('[')
    for (let item = start; item < end; item++) {
      if (item > start) out.ascii(',')
      writeItem(this.items, item, out)
    }
    out.ascii(']')
  }
}

function outsideOfItems(): never {
  return damaged('has a list that lies outside of its items')
}

interface ListRanges {
  start(row: number): number
  end(row: number): number
}

/** Each list ends where the next begins. */
export function offsetRanges(offsets: OffsetReader): ListRanges {
  return { start: (row) => offsets.at(row), end: (row) => offsets.at(row + 1) }
}

/** Lists anywhere, also one over another. */
export function viewRanges(offsets: OffsetReader, sizes: OffsetReader): ListRanges {
  return { start: (row) => offsets.at(row), end: (row) => offsets.at(row) + sizes.at(row) }
}

/** Lists of one length each. */
export function fixedRanges(length: number): ListRanges {
  return { start: (row) => row * length, end: (row) => (row + 1) * length }
}

/** The values of a dictionary: arrays one after the other, the first of the dictionary, the others of what was added. */
export class Dictionary {
  readonly #arrays: ArrowValues[] = []
  /** Where each array begins, and the end. */
  readonly #starts = [0]

  add(values: ArrowValues): void {
    this.#arrays.push(values)
    this.#starts.push(this.rows + values.rows)
  }

  get rows(): number {
    return this.#starts.at(-1) ?? 0
  }

  /** The place among the arrays of the value at `index`, which is one. */
  place(index: number): number {
    return firstIndex(1, this.#arrays.length, (at) => (this.#starts[at] ?? 0) > index) - 1
  }

  array(place: number): ArrowValues {
    return must(this.#arrays[place], 'an array of the dictionary')
  }

  start(place: number): number {
    return this.#starts[place] ?? 0
  }
}

/** What arrays share whose values lie in another array. */
abstract class IndirectValues implements ArrowValues {
  readonly rows: number
  /** Where the value lies that was found last. */
  protected array: ArrowValues | undefined
  protected row = 0

  constructor(rows: number) {
    this.rows = rows
  }

  /** False for a null that no array holds. */
  protected abstract find(row: number): boolean

  isPresent(row: number): boolean {
    return this.find(row) && must(this.array, 'an array').isPresent(this.row)
  }

  bytesAt(row: number): number {
    return this.isPresent(row) ? must(this.array, 'an array').bytesAt(this.row) : 0
  }

  bytesIn(start: number, end: number): number {
    let bytes = 0
    for (let row = start; row < end; row++) bytes += this.bytesAt(row)
    return bytes
  }

  append(row: number, to: ColumnBuilder): void {
    this.find(row)
    must(this.array, 'an array').append(this.row, to)
  }

  writeJson(row: number, out: JsonText): void {
    this.find(row)
    must(this.array, 'an array').writeJson(this.row, out)
  }

  share(): SharedRows | undefined {
    return undefined
  }
}

/** Integers at rows of an array. */
export type IntegerAt = (row: number) => number

export class DictionaryValues extends IndirectValues {
  readonly #indexes: OwnValues
  readonly #indexAt: IntegerAt
  readonly #dictionary: Dictionary
  /** The rows of the dictionary in the array that was found last. */
  #start = 0
  #end = 0

  /** `indexes` says which rows are null, `indexAt` the index of the others. */
  constructor(indexes: OwnValues, indexAt: IntegerAt, dictionary: Dictionary) {
    super(indexes.rows)
    this.#indexes = indexes
    this.#indexAt = indexAt
    this.#dictionary = dictionary
  }

  protected find(row: number): boolean {
    if (!this.#indexes.isPresent(row)) return false
    const index = this.#indexAt(row)
    if (index < this.#start || index >= this.#end) this.#turnTo(index)
    this.row = index - this.#start
    return true
  }

  #turnTo(index: number): void {
    const dictionary = this.#dictionary
    if (!(index >= 0 && index < dictionary.rows)) {
      damaged(`has an index of ${index} in a dictionary of ${dictionary.rows} values`)
    }
    const place = dictionary.place(index)
    this.#start = dictionary.start(place)
    this.#end = dictionary.start(place + 1)
    this.array = dictionary.array(place)
  }
}

export class RunValues extends IndirectValues {
  readonly #endAt: IntegerAt
  readonly #runs: number
  #run = 0

  /** `endAt` says where each of the `runs` ends. */
  constructor(rows: number, runs: number, endAt: IntegerAt, values: ArrowValues) {
    super(rows)
    this.#endAt = endAt
    this.#runs = runs
    this.array = values
  }

  protected find(row: number): boolean {
    if (!this.#isIn(this.#run, row)) this.#run = this.#isIn(this.#run + 1, row) ? this.#run + 1 : this.#search(row)
    this.row = this.#run
    return true
  }

  #isIn(run: number, row: number): boolean {
    return run < this.#runs && row < this.#endAt(run) && row >= (run === 0 ? 0 : this.#endAt(run - 1))
  }

  #search(row: number): number {
    const run = firstIndex(0, this.#runs - 1, (at) => this.#endAt(at) > row)
    return this.#isIn(run, row) ? run : damaged(`has no run for row ${row}`)
  }
}

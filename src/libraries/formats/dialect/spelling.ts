// The cells of one column under a dialect: which are no value, and what numbers, days and times are in the spelling that all columns
// take. What is read stands in `bytes[start, end)`.

import { utf8 } from '../../base/bytes.ts'
import { NodeError } from '../../base/errors.ts'
import { foldAscii } from '../../model/names.ts'
import { classOfText, classOfTimeText, trimEnd, trimStart, valueClass } from '../inference.ts'
import { type DatePattern, DateReader, datePattern } from './date-pattern.ts'
import { type Dialect, ofColumn } from './dialect.ts'
import { NumberSpeller } from './numbers.ts'

const namesMost = 20
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const numberClasses = valueClass.integer | valueClass.number
const textClasses = valueClass.text | valueClass.likelyTime
const timeClasses = valueClass.date | valueClass.time | valueClass.zonelessTime

export class ColumnSpelling {
  bytes: Uint8Array = new Uint8Array(0)
  start = 0
  end = 0
  /** The pattern of its days and times; undefined: as RFC 3339 has them. */
  readonly dateFormat: string | undefined
  readonly pattern: DatePattern | undefined
  readonly #nulls: TextSet
  readonly #trueFalse: readonly string[]
  readonly #numbers: NumberSpeller | undefined
  readonly #dates: DateReader | undefined
  /** The pattern is that of this column alone. */
  readonly #isOwnDate: boolean

  /** Of the column `name` of the file. */
  constructor(dialect: Dialect, name: string) {
    const { decimal, group, trueFalse, pivotYear } = dialect
    const dateFormat = ofColumn(dialect.dates, name)
    const pattern = dateFormat === undefined || dateFormat === 'iso' ? undefined : datePattern(dateFormat, pivotYear)
    this.dateFormat = pattern === undefined ? undefined : dateFormat
    this.pattern = pattern !== undefined && 'fields' in pattern ? pattern : undefined
    this.#dates = this.pattern && new DateReader(this.pattern)
    this.#isOwnDate = pattern !== undefined && Object.hasOwn(dialect.dates?.of ?? {}, foldAscii(name))
    this.#nulls = textSet(ofColumn(dialect.nulls, name) ?? [])
    this.#trueFalse = trueFalse ?? []
    const isPlain = decimal === undefined && group === undefined
    this.#numbers = isPlain ? undefined : new NumberSpeller({ decimal: decimal ?? '.', group })
  }

  /** Whether a bare cell is no value. */
  isNull(bytes: Uint8Array, start: number, end: number): boolean {
    return this.#nulls.get(end - start)?.some((text) => isSame(text, bytes, start)) === true
  }

  /** A number of the dialect; false where it is none for its signs. */
  number(bytes: Uint8Array, start: number, end: number): boolean {
    const numbers = this.#numbers
    if (numbers === undefined) return this.#take(bytes, start, end)
    return numbers.read(bytes, start, end) && this.#take(numbers.bytes, 0, numbers.length)
  }

  /** A day or time of the dialect; false where the pattern does not describe it. */
  date(bytes: Uint8Array, start: number, end: number): boolean {
    const dates = this.#dates
    if (dates === undefined) return this.#take(bytes, start, end)
    return dates.read(bytes, start, end) && this.#take(dates.bytes, dates.start, dates.end)
  }

  /** A word of the dialect for true or false; undefined for another text. */
  bool(bytes: Uint8Array, start: number, end: number): boolean | undefined {
    const text = decoder.decode(bytes.subarray(start, end)).toLowerCase()
    const found = this.#trueFalse.indexOf(text)
    return found < 0 ? undefined : found === 0
  }

  /** The class of a cell that is not empty; of a number its digits stand in `bytes`, as `lastNumber` has them. */
  classOf(bytes: Uint8Array, from: number, to: number): number {
    const start = trimStart(bytes, from, to)
    const end = trimEnd(bytes, start, to)
    // Digits alone are a day where a pattern of their own column says so.
    if (this.#isOwnDate && this.date(bytes, start, end)) return classOfTimeText(this.bytes, this.start, this.end)
    const isNumber = this.number(bytes, start, end)
    const found = isNumber ? classOfText(this.bytes, this.start, this.end) : valueClass.text
    if ((found & numberClasses) !== 0) return found
    if (this.hasWords) {
      if (this.bool(bytes, start, end) !== undefined) return valueClass.bool
      if (found === valueClass.bool) return valueClass.text
    }
    if (this.#dates === undefined)
      return isNumber ? found : classOfText(bytes, start, end) & ~numberClasses || valueClass.text
    if ((found & (timeClasses | textClasses)) === 0) return found
    if (this.date(bytes, start, end)) return classOfTimeText(this.bytes, this.start, this.end)
    return classOfTimeText(bytes, start, end) === valueClass.text ? valueClass.text : valueClass.likelyTime
  }

  /** Whether the words of the dialect stand for `true` and `false`. */
  get hasWords(): boolean {
    return this.#trueFalse.length > 0
  }

  #take(bytes: Uint8Array, start: number, end: number): true {
    this.bytes = bytes
    this.start = start
    this.end = end
    return true
  }
}

/** Texts by their lengths in bytes. */
type TextSet = ReadonlyMap<number, readonly Uint8Array[]>

/** Columns have mostly the same, and may be thousands. */
const textSets = new WeakMap<readonly string[], TextSet>()

function textSet(texts: readonly string[]): TextSet {
  const known = textSets.get(texts)
  if (known !== undefined) return known
  const made = Map.groupBy(texts.map(utf8), ({ length }) => length)
  textSets.set(texts, made)
  return made
}

function isSame(text: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let at = 0; at < text.length; at++) if (bytes[start + at] !== text[at]) return false
  return true
}

/** Throws NodeError `InvalidParameter` where a parameter names a column that is not among `names`. */
export function demandColumns({ nulls, dates, ruled = [] }: Dialect, names: readonly string[]): void {
  const folded = new Set(names.map(foldAscii))
  const given = [
    ...Object.keys(nulls?.of ?? {}).map((name) => ['nulls', name] as const),
    ...Object.keys(dates?.of ?? {}).map((name) => ['dateFormat', name] as const),
  ]
  const unknown = given.find(([of, name]) => !folded.has(name) && !ruled.includes(foldAscii(`${of}.${name}`)))
  if (unknown === undefined) return
  const message = `The parameter ${unknown.join('.')} is for a column that the body does not have.`
  throw new NodeError('InvalidParameter', message, { candidates: names.slice(0, namesMost) })
}

/** Whether a dialect changes what cells are, beside what stands between and around them. */
export function changesValues({ decimal, group, nulls, trueFalse, dates }: Dialect): boolean {
  return [decimal, group, nulls, trueFalse, dates].some((one) => one !== undefined)
}

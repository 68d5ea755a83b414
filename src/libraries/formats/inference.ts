// What the first records of a body look like: the classes of texts and numbers, what they say about each column, and the
// types that follow (docs/spec/http.md §6, Inference).

import { decodeUtf8 } from '../base/bytes.ts'
import { defined } from '../base/collections.ts'
import { tooManyColumns } from '../columnar/file-limits.ts'
import { maxInt64, minInt64 } from '../columnar/arrow/numbers.ts'
import { Warnings } from '../base/warnings.ts'
import { foldAscii } from '../model/names.ts'
import {
  badName,
  columnNameFault,
  type DataType,
  type Field,
  innerType,
  optional,
  timestampMs,
} from '../model/schema.ts'
import { noSuchDay, notADate, readDate, readInstant, TimeScan } from '../base/calendar.ts'
import { eventTimeNameOf, reservedName, systemNames } from './column-plan.ts'
import { sampleRecords } from './fault-log.ts'
import { ofColumn } from './dialect/dialect.ts'
import type { CsvHeader, InferOptions, Inferred, Inferrer, UnreadTimes } from './format.ts'
import {
  doubleOf,
  exactNumber,
  isExactInteger,
  isSpeltAsNumber,
  notFinite,
  NumberScan,
  scaledInteger,
  scanNumber,
} from './number-scan.ts'
import { looksLikeTime } from './likely-time.ts'
import { type Framer, RecordFeed, type RecordSink } from './record-feed.ts'
import { invalidUtf8At } from './utf8-watch.ts'

/** Bits, so that a column's classes are their union. */
export const valueClass = {
  bool: 1,
  /** Written as an integer. */
  integer: 2,
  /** Any other number. */
  number: 4,
  date: 8,
  /** A time with its zone. */
  time: 16,
  /** A time without zone. */
  zonelessTime: 32,
  text: 64,
  /** Integers of 64 bits by the word of their sender. */
  int64: 128,
  uint64: 256,
  /** A word for a float that is no number, in CSV. */
  notFinite: 512,
  /** An object or array of JSON. */
  nested: 1024,
  /** A text that looks like a time, and is none as it is read. */
  likelyTime: 2048,
} as const

const number = new NumberScan()
const time = new TimeScan()

export function isPadding(byte: number): boolean {
  return byte === 0x20 || byte === 0x09
}

/** First index of `bytes[start, end)` that is no space or tab. */
export function trimStart(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && isPadding(bytes[at] ?? 0)) at += 1
  return at
}

/** Index after the last byte of `bytes[start, end)` that is no space or tab. */
export function trimEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = end
  while (at > start && isPadding(bytes[at - 1] ?? 0)) at -= 1
  return at
}

/** True, false, or undefined for text that is no boolean (`true` and `false` in any case). */
export function booleanOf(bytes: Uint8Array, start: number, end: number): boolean | undefined {
  const word = end - start === 4 ? 'true' : end - start === 5 ? 'false' : undefined
  if (word === undefined) return undefined
  for (let i = 0; i < word.length; i++) if (((bytes[start + i] ?? 0) | 0x20) !== word.charCodeAt(i)) return undefined
  return word === 'true'
}

/** The class of a date or time, or text. */
export function classOfTimeText(bytes: Uint8Array, start: number, end: number): number {
  if (end - start === 10) {
    const days = readDate(bytes, start, end)
    return days === notADate || days === noSuchDay ? valueClass.text : valueClass.date
  }
  const fault = readInstant(time, bytes, start, end, false)
  if (fault === undefined) return valueClass.time
  if (fault === 'zone-missing') return valueClass.zonelessTime
  return looksLikeTime(bytes, start, end) ? valueClass.likelyTime : valueClass.text
}

/** The scan of the number that `classOfText` found last. */
export const lastNumber: NumberScan = number

/** The class of a CSV cell that is not empty. Digits that are not spelt as numbers are text: post codes are no numbers. */
export function classOfText(bytes: Uint8Array, from: number, to: number): number {
  const start = trimStart(bytes, from, to)
  const end = trimEnd(bytes, start, to)
  if (start === end) return valueClass.text
  if (scanNumber(number, bytes, start, end, true) && number.end === end) {
    return isSpeltAsNumber(number, bytes) ? classOfNumber(number) : valueClass.text
  }
  if (booleanOf(bytes, start, end) !== undefined) return valueClass.bool
  if (notFinite(bytes, start, end) !== undefined) return valueClass.notFinite
  return classOfTimeText(bytes, start, end)
}

/** The class of a number; -0 is no integer. */
export function classOfNumber(scan: NumberScan): number {
  return scan.integral && !(scan.negative && scan.mantissa === 0) ? valueClass.integer : valueClass.number
}

/** Of a column that is nearly numbers: so many texts that are none are told, of the first ones. */
const toldTexts = 3
const lookedTexts = 200
const textBytes = 40
const lenientDecoder = new TextDecoder('utf-8', { ignoreBOM: true })
/** From so many values on, and up to one in so many, texts are told. */
const fewValues = 10
const fewTexts = 10
/** So many columns without a value are told. */
const toldNames = 10
/** So many texts tell their pattern. */
const toldTimes = 20

/** A column of the sample; `classes` is the union of `valueClass`. */
export interface SampledColumn {
  readonly name: string
  classes: number
  /** How many values it has. */
  values: number
  /** The first texts that look like times. */
  readonly times: string[]
  /** How many values are plain texts, and the first of them. */
  texts: number
  readonly odd: string[]
  /** True when some integer is beyond 64 bits, and when a double would round one. */
  huge: boolean
  inexact: boolean
  /** True when only empty quoted text was met. */
  emptyText: boolean
}

/** Notes a value of the class `found`, whose text is `bytes[start, end)`. */
export function noteValue(column: SampledColumn, found: number, bytes: Uint8Array, start: number, end: number): void {
  column.classes |= found
  column.values += 1
  if ((found & unreadTime) !== 0 && column.times.length < toldTimes)
    column.times.push(decodeUtf8(bytes.subarray(start, end)).trim())
  if (found !== valueClass.text) return
  column.texts += 1
  if (column.odd.length === toldTexts || column.texts > lookedTexts) return
  // The cut may be amid a letter.
  const text = lenientDecoder.decode(bytes.subarray(start, Math.min(end, start + textBytes))).replace(/\ufffd+$/, '…')
  if (!column.odd.includes(text)) column.odd.push(text)
}

/** Notes the size of the integer in `scan`, a token of `bytes`. */
export function noteInteger(column: SampledColumn, scan: NumberScan, bytes: Uint8Array): void {
  if (scan.digits <= 15) return
  const value = scaledInteger(exactNumber(scan, bytes), 0)
  column.huge ||= typeof value !== 'bigint' || value > maxInt64 || value < minInt64
  column.inexact ||= typeof value !== 'bigint' || !isExactInteger(scan, bytes, doubleOf(scan, bytes), false)
}

/** The columns of a sample, in order of first appearance. */
export class Sample {
  readonly columns: SampledColumn[] = []
  records = 0
  private readonly options: InferOptions
  private readonly byName = new Map<string, number>()
  private readonly knownNames: ReadonlySet<string>
  readonly eventTime: SampledColumn
  private readonly eventTimeName: string | undefined
  /** Columns that came before the event time; undefined until it comes. */
  private beforeEventTime: number | undefined
  private eventTimeSpelling: string | undefined = undefined
  private added = 0
  private readonly warnings = new Warnings()

  constructor(options: InferOptions) {
    this.options = options
    const name = eventTimeNameOf(options)
    this.eventTimeName = name === undefined ? undefined : foldAscii(name)
    this.eventTime = newColumn(options.vocabulary.eventTimeColumn)
    this.knownNames = new Set(options.known?.map((field) => foldAscii(field.name)))
    for (const name of systemNames(options)) this.byName.set(foldAscii(name), reservedName)
  }

  /** The column of that name, new or not; undefined for names that inference has nothing to say about. */
  column(name: string): SampledColumn | undefined {
    const folded = foldAscii(name)
    if (folded === this.eventTimeName) {
      this.eventTimeSpelling ??= name
      this.beforeEventTime ??= this.columns.length
      return this.eventTime
    }
    if (this.knownNames.has(folded)) return undefined
    const index = this.byName.get(folded)
    if (index !== undefined) return this.columns[index]
    checkColumnName(name)
    this.added += 1
    const { columns } = this.options
    if (this.added + this.knownNames.size > columns) {
      throw tooManyColumns(columns, 'Put what varies into one column of JSON text, or declare the schema with PUT.')
    }
    const column = newColumn(name)
    this.byName.set(folded, this.columns.length)
    this.columns.push(column)
    return column
  }

  /** A column of integers that no column of numbers would keep as they are. */
  private asText({ name }: SampledColumn): DataType {
    this.warnings.add(`Column '${name}' is text: a number would round its integers`)
    return { kind: 'String' }
  }

  /** The types of all columns. `positional`: columns without value stay, as String, for their place's sake. */
  infer(csvHeader: CsvHeader | undefined, positional: boolean): Inferred {
    const added: Field[] = []
    const valueless: string[] = []
    for (const column of this.columns) {
      const type = this.typeOf(column) ?? (positional ? ({ kind: 'String' } as const) : undefined)
      if (type === undefined) valueless.push(column.name)
      else added.push({ name: column.name, type: optional(type) })
    }
    this.doubt(valueless)
    const known = this.options.known ?? []
    const before = this.columns.slice(0, this.beforeEventTime).filter(({ name }) => !valueless.includes(name))
    const dates = this.eventTime.classes === valueClass.date
    return {
      records: this.records,
      fields: [...known, ...added],
      added,
      eventTimeType: this.options.eventTimeType ?? (dates ? { kind: 'Date' } : timestampMs),
      ...(this.beforeEventTime === undefined ? {} : { eventTimePosition: known.length + before.length }),
      valueless,
      ...defined({ csvHeader, eventTime: this.eventTimeSpelling }),
      ...this.timesIn(added),
      ...(this.warnings.texts.length === 0 ? {} : { warnings: this.warnings.texts }),
    }
  }

  /** Warns of columns that are nearly something else, have no value, or names that look the same. */
  private doubt(valueless: readonly string[]): void {
    for (const { name, classes, values, texts, odd } of this.columns) {
      const others = classes & ~valueClass.text
      const what = (others & ~anyNumber) === 0 ? 'numbers' : (others & ~anyTime) === 0 ? 'times' : undefined
      if (what === undefined || texts === 0 || values < fewValues || texts * fewTexts > values) continue
      const shown = odd.map((text) => `'${text}'`).join(', ')
      this.warnings.add(`Column '${name}' is text: ${values - texts} of ${values} values are ${what}, but not ${shown}`)
    }
    // Later batches may lack it for good.
    for (const name of this.options.known === undefined ? valueless.slice(0, toldNames) : [])
      this.warnings.add(
        `Column '${name}' has no value: it becomes a column with the first batch that brings one (unknownFields=add)`,
      )
    const seen = new Map<string, string>()
    for (const { name } of this.columns) {
      const composed = name.normalize('NFC')
      const other = seen.get(composed)
      if (other !== undefined)
        this.warnings.add(`Two columns are called '${name}': their letters are composed differently`)
      seen.set(composed, name)
    }
  }

  /** What is to be known of new columns of times before one may be the event time. */
  private timesIn(added: readonly Field[]): Pick<Inferred, 'unread' | 'sparse'> {
    const columns = this.columns.filter(({ classes }) => (classes & anyTime) !== 0 && (classes & ~anyTime) === 0)
    const isText = ({ name }: SampledColumn): boolean =>
      added.some((field) => field.name === name && innerType(field.type).kind === 'String')
    const unread = columns.filter((column) => column.times.length > 0 && isText(column))
    const sparse = columns.filter(({ values }) => values < this.records)
    return {
      ...(unread.length > 0 && { unread: unread.map((column) => this.unreadTimes(column)) }),
      ...(sparse.length > 0 && { sparse: sparse.map(({ name }) => name) }),
    }
  }

  private unreadTimes({ name, times }: SampledColumn): UnreadTimes {
    return { name, texts: times, isPatterned: ofColumn(this.options.dialect?.dates, name) !== undefined }
  }

  private typeOf(column: SampledColumn): DataType | undefined {
    const { classes } = column
    if (classes === 0) return column.emptyText ? { kind: 'String' } : undefined
    if (classes === valueClass.bool) return { kind: 'Bool' }
    if (classes === valueClass.date) return { kind: 'Date' }
    const zoned =
      classes === valueClass.time || (this.options.timeZone !== undefined && (classes & ~readableTime) === 0)
    if (zoned) return { kind: 'Timestamp', unit: 'Microsecond', timezone: 'UTC' }
    if ((classes & ~anyNumber) !== 0 || classes === valueClass.notFinite) return { kind: 'String' }
    const { integers } = this.options
    const isExact = integers !== 'float64'
    if (classes === valueClass.int64 && isExact) return { kind: 'Int64' }
    if (classes === valueClass.uint64 && isExact) return { kind: 'UInt64' }
    const isWhole = classes === valueClass.integer
    if (isWhole && integers === 'int64') return { kind: 'Int64' }
    const isTooLong = isExact && column.inexact && (column.huge || !isWhole)
    if (isTooLong) return this.asText(column)
    const isInteger = isWhole && isExact && !column.huge && (integers !== 'numbers' || column.inexact)
    return { kind: isInteger ? 'Int64' : 'Float64' }
  }
}

const anyNumber = valueClass.integer | valueClass.number | valueClass.int64 | valueClass.uint64 | valueClass.notFinite
const readableTime = valueClass.time | valueClass.zonelessTime
const unreadTime = valueClass.zonelessTime | valueClass.likelyTime
const anyTime = readableTime | unreadTime | valueClass.date

function newColumn(name: string): SampledColumn {
  return { name, classes: 0, values: 0, times: [], texts: 0, odd: [], huge: false, inexact: false, emptyText: false }
}

/** Throws NodeError `InvalidColumnName` for a name that no column may have. */
export function checkColumnName(name: string): void {
  const fault = columnNameFault(name)
  if (fault !== undefined) throw badName(name, fault)
}

/** Looks at the first records of a body as the feed finds them. A format's inferrer says what a record teaches. */
export abstract class BodyInferrer implements Inferrer, RecordSink {
  protected readonly sample: Sample
  protected readonly feed: RecordFeed
  /** True when there is no use in reading on. */
  protected done = false

  constructor(options: InferOptions, framer: Framer) {
    this.sample = new Sample(options)
    this.feed = new RecordFeed(framer, this, options)
  }

  push(chunk: Uint8Array): boolean {
    if (!this.done) this.feed.push(chunk)
    return !this.done
  }

  finish(): Inferred {
    if (!this.done) this.feed.finish()
    return this.infer()
  }

  protected infer(): Inferred {
    return this.sample.infer(undefined, false)
  }

  abstract record(bytes: Uint8Array, start: number, end: number, last: boolean): void

  /** Counts a record of the sample. */
  protected count(): void {
    this.sample.records += 1
    this.done = this.sample.records >= sampleRecords
  }

  protected isInvalidUtf8(bytes: Uint8Array, start: number, end: number): boolean {
    return this.feed.utf8.dirty && invalidUtf8At(bytes, start, end) >= 0
  }

  oversized(): void {
    this.sample.records += 1
  }

  broken(): void {
    // The reader says what is wrong.
    this.sample.records += 1
    this.done = true
  }
}

// What the first records of a body look like: the classes of texts and numbers, what they say about each column, and the
// types that follow (docs/spec/http.md §6, Inference).

import { NodeError } from '../model/errors.ts'
import { foldAscii } from '../model/names.ts'
import { badName, columnNameFault, type DataType, type Field, optional, timestampMs } from '../model/schema.ts'
import { noSuchDay, notADate, readDate, readInstant, TimeScan } from './calendar.ts'
import { eventTimeNameOf, reservedName, systemNames } from './column-plan.ts'
import type { CsvHeader, InferOptions, Inferred, Inferrer } from './format.ts'
import { exactNumber, notFinite, NumberScan, scaledInteger, scanNumber } from './number-scan.ts'
import { invalidUtf8At, type Framer, RecordFeed, type RecordSink } from './record-feed.ts'

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
} as const

const number = new NumberScan()
const time = new TimeScan()

function isPadding(byte: number): boolean {
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
  return fault === 'zone-missing' ? valueClass.zonelessTime : valueClass.text
}

/** The scan of the number that `classOfText` found last. */
export const lastNumber: NumberScan = number

/** The class of a CSV cell that is not empty. Digits with a leading zero are text: post codes are no numbers. */
export function classOfText(bytes: Uint8Array, from: number, to: number): number {
  const start = trimStart(bytes, from, to)
  const end = trimEnd(bytes, start, to)
  if (start === end) return valueClass.text
  if (scanNumber(number, bytes, start, end, true) && number.end === end) {
    if (hasLeadingZero(bytes, start, end)) return valueClass.text
    return number.integral ? valueClass.integer : valueClass.number
  }
  if (booleanOf(bytes, start, end) !== undefined) return valueClass.bool
  if (notFinite(bytes, start, end) !== undefined) return valueClass.notFinite
  return classOfTimeText(bytes, start, end)
}

function hasLeadingZero(bytes: Uint8Array, start: number, end: number): boolean {
  const sign = bytes[start] === 0x2b || bytes[start] === 0x2d ? 1 : 0
  const next = bytes[start + sign + 1] ?? 0
  return bytes[start + sign] === 0x30 && start + sign + 1 < end && next >= 0x30 && next <= 0x39
}

/** Records that are looked at. */
export const sampleRecords = 10_000
/** From this many records on, integers in all of them are integers by nature. */
const manyRecords = 1000
/** 2^53, from which on doubles have gaps. */
const exactLimit = 2n ** 53n

/** A column of the sample; `classes` is the union of `valueClass`. */
export interface SampledColumn {
  readonly name: string
  classes: number
  /** True when some integer is beyond ±2^53. */
  wide: boolean
  /** True when only empty quoted text was met. */
  emptyText: boolean
}

/** Notes the size of the integer in `scan`, a token of `bytes`. */
export function noteInteger(column: SampledColumn, scan: NumberScan, bytes: Uint8Array): void {
  if (column.wide || scan.digits <= 15) return
  const value = scaledInteger(exactNumber(scan, bytes), 0)
  column.wide = typeof value !== 'bigint' || value > exactLimit || value < -exactLimit
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
  private added = 0

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

  /** The types of all columns. `positional`: columns without value stay, as String, for their place's sake. */
  infer(csvHeader: CsvHeader | undefined, positional: boolean): Inferred {
    const added: Field[] = []
    const valueless: string[] = []
    for (const column of this.columns) {
      const type =
        this.typeOf(column, csvHeader !== undefined) ?? (positional ? ({ kind: 'String' } as const) : undefined)
      if (type === undefined) valueless.push(column.name)
      else added.push({ name: column.name, type: optional(type) })
    }
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
      ...(csvHeader === undefined ? {} : { csvHeader }),
    }
  }

  private typeOf(column: SampledColumn, csv: boolean): DataType | undefined {
    const { classes } = column
    if (classes === 0) return column.emptyText ? { kind: 'String' } : undefined
    if (classes === valueClass.bool) return { kind: 'Bool' }
    if (classes === valueClass.date) return { kind: 'Date' }
    const zoned = classes === valueClass.time || (this.options.timeZone === 'UTC' && (classes & ~anyTime) === 0)
    if (zoned) return { kind: 'Timestamp', unit: 'Microsecond', timezone: 'UTC' }
    if ((classes & ~anyNumber) !== 0 || classes === valueClass.notFinite) return { kind: 'String' }
    const isExact = this.options.integers !== 'float64'
    if (classes === valueClass.int64 && isExact) return { kind: 'Int64' }
    if (classes === valueClass.uint64 && isExact) return { kind: 'UInt64' }
    if (classes !== valueClass.integer || this.options.integers === 'float64') return { kind: 'Float64' }
    const evidence = csv || this.options.integers === 'int64' || this.records >= manyRecords || column.wide
    return { kind: evidence ? 'Int64' : 'Float64' }
  }
}

/** The refusal of more columns than a dataset can have; `what` says so of a file. */
export function tooManyColumns(
  columns: number,
  hint: string,
  what = `A dataset has at most ${columns} columns.`,
): NodeError {
  const limit = { name: 'columns', value: columns, unit: 'columns' }
  return new NodeError('RecordsDoNotFit', `${what} Nothing was stored.`, { limit, hint })
}

const anyNumber = valueClass.integer | valueClass.number | valueClass.int64 | valueClass.uint64 | valueClass.notFinite
const anyTime = valueClass.time | valueClass.zonelessTime

function newColumn(name: string): SampledColumn {
  return { name, classes: 0, wide: false, emptyText: false }
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
    this.feed = new RecordFeed(framer, this, options.recordBytes)
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

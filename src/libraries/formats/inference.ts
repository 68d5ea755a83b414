// What the first records of a body look like: the classes of texts and numbers, what they say about each column, and the
// types that follow (docs/spec/http.md §6, Inference).

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
import type { CsvHeader, InferOptions, Inferred, Inferrer } from './format.ts'
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
import { isTimeName } from '../model/time-names.ts'
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
  return fault === 'zone-missing' ? valueClass.zonelessTime : valueClass.text
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
  /** True when some integer is beyond 64 bits, and when a double would round one. */
  huge: boolean
  inexact: boolean
  /** True when only empty quoted text was met. */
  emptyText: boolean
}

/** Notes the size of the integer in `scan`, a token of `bytes`. */
export function noteInteger(column: SampledColumn, scan: NumberScan, bytes: Uint8Array): void {
  if (scan.digits <= 15) return
  const value = scaledInteger(exactNumber(scan, bytes), 0)
  column.wide ||= typeof value !== 'bigint' || value > exactLimit || value < -exactLimit
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
      const type =
        this.typeOf(column, csvHeader !== undefined) ?? (positional ? ({ kind: 'String' } as const) : undefined)
      if (type === undefined) valueless.push(column.name)
      else added.push({ name: column.name, type: optional(type) })
    }
    const taken = this.takenTime(added)
    if (taken !== undefined) return this.withTime(taken, { added, valueless, csvHeader })
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
      ...defined({ csvHeader }),
      ...(this.warnings.texts.length === 0 ? {} : { warnings: this.warnings.texts }),
    }
  }

  /** The one column that is called like the time of a record, where it holds times, and nothing else does. */
  private takenTime(added: readonly Field[]): Field | undefined {
    if (this.options.takesEventTime !== true || this.beforeEventTime !== undefined) return undefined
    const [only, ...others] = this.columns.filter(({ name }) => isTimeName(name))
    const field = added.find(({ name }) => name === only?.name)
    const kind = field === undefined ? undefined : innerType(field.type).kind
    return others.length === 0 && (kind === 'Timestamp' || kind === 'Date') ? field : undefined
  }

  private withTime(
    taken: Field,
    { added, valueless, csvHeader }: Pick<Inferred, 'added' | 'valueless'> & { csvHeader: CsvHeader | undefined },
  ): Inferred {
    const { eventTimeColumn } = this.options.vocabulary
    const fields = added.filter((field) => field !== taken)
    const about = `'${taken.name}' is used as the event time and is not a separate column; eventTime=${eventTimeColumn} keeps it one.`
    return {
      records: this.records,
      fields,
      added: fields,
      eventTimeType: innerType(taken.type).kind === 'Date' ? { kind: 'Date' } : timestampMs,
      eventTimePosition: added.indexOf(taken),
      eventTime: taken.name,
      valueless,
      warnings: [...this.warnings.texts, about],
      ...defined({ csvHeader }),
    }
  }

  private typeOf(column: SampledColumn, csv: boolean): DataType | undefined {
    const { classes } = column
    if (classes === 0) return column.emptyText ? { kind: 'String' } : undefined
    if (classes === valueClass.bool) return { kind: 'Bool' }
    if (classes === valueClass.date) return { kind: 'Date' }
    const zoned = classes === valueClass.time || (this.options.timeZone !== undefined && (classes & ~anyTime) === 0)
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
    if (!isWhole || !isExact || column.huge) return { kind: 'Float64' }
    const evidence = csv || this.records >= manyRecords || column.wide
    return { kind: evidence ? 'Int64' : 'Float64' }
  }
}

const anyNumber = valueClass.integer | valueClass.number | valueClass.int64 | valueClass.uint64 | valueClass.notFinite
const anyTime = valueClass.time | valueClass.zonelessTime

function newColumn(name: string): SampledColumn {
  return { name, classes: 0, wide: false, huge: false, inexact: false, emptyText: false }
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

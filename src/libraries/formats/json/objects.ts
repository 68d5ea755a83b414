// What the formats of JSON objects share, GeoJSON too: an inferrer that learns from members, a reader of record after record.

import { BodyReader, type RecordCore } from '../body-reader.ts'
import type { TablePlan } from '../column-plan.ts'
import type { InferOptions, Inferred, ReaderOptions } from '../format.ts'
import {
  BodyInferrer,
  classOfNumber,
  classOfTimeText,
  noteInteger,
  noteValue,
  type SampledColumn,
  valueClass,
} from '../inference.ts'
import { scanNumber } from '../number-scan.ts'
import type { Framer } from '../record-feed.ts'
import { DocumentWatch } from './document.ts'
import type { JsonRecordOptions, JsonRecordReader } from './record.ts'
import { JsonScanner } from './scanner.ts'
import {
  backslash,
  closeBrace,
  holdsLineEnd,
  lineEndAfter,
  openBrace,
  passed,
  quote,
  skipSpace,
  stringText,
  unescapeString,
} from './text.ts'
import { letterN } from './value.ts'

/** Is told a member of an object, whose value is from `at` to `after`. */
export type Visit = (name: string, at: number, after: number) => void

/** The text that makes a whole object no record; undefined for a record, and for what cannot be read. */
function otherKind(scanner: JsonScanner, { only }: Pick<InferOptions, 'only'>, bytes: Uint8Array): string | undefined {
  if (only === undefined) return undefined
  const { length } = bytes
  const open = skipSpace(bytes, 0, length)
  const isWhole =
    bytes[open] === openBrace && skipSpace(bytes, scanner.check(bytes, open, length, 1), length) === length
  const at = isWhole ? scanner.find(bytes, open, length, [only.member]) : -1
  if (at < 0 || bytes[at] !== quote) return undefined
  const text = stringText(scanner.scratch, bytes, at + 1, scanner.check(bytes, at, length, 1) - 1)
  return only.texts.includes(text) ? undefined : text
}

export class ObjectInferrer extends BodyInferrer {
  private readonly scanner: JsonScanner
  private readonly document = new DocumentWatch()
  private readonly isPointed: boolean
  private readonly eventTimePath: readonly string[] | undefined
  private readonly flatten: boolean
  private readonly only: Pick<InferOptions, 'only'>

  constructor(options: InferOptions, framer: Framer) {
    super(options, framer)
    this.flatten = options.flatten === true
    this.only = options
    this.isPointed = options.records !== undefined
    this.eventTimePath = options.eventTime?.kind === 'path' ? options.eventTime.path : undefined
    this.scanner = new JsonScanner(options.jsonDepth)
  }

  override record(bytes: Uint8Array, start: number, end: number): void {
    let at = skipSpace(bytes, start, end)
    while (at < end && !this.done) {
      this.count()
      if (this.isInvalidUtf8(bytes, at, end)) return
      // A faulty record says nothing: the reader of the body will refuse it.
      const after = this.scanner.check(bytes, at, end, 1)
      const next = after < 0 ? end : skipSpace(bytes, after, end)
      if (after < 0 || (next < end && !holdsLineEnd(bytes, after, next))) return
      if (bytes[at] === openBrace && otherKind(this.scanner, this.only, bytes.subarray(at, after)) === undefined) {
        this.learn(bytes, at, after)
        this.learnEventTime(bytes, at, after)
      }
      at = next
    }
  }

  protected override infer(): Inferred {
    const inferred = super.infer()
    return this.isPointed || this.flatten ? inferred : this.document.judge(inferred)
  }

  private learnEventTime(bytes: Uint8Array, at: number, end: number): void {
    if (this.eventTimePath === undefined) return
    const from = this.scanner.find(bytes, at, end, this.eventTimePath)
    if (from >= 0) this.learnValue(this.sample.eventTime, bytes, from, this.scanner.check(bytes, from, end, 1))
  }

  /** The name of the column that a member of this name would have. */
  protected columnName(name: string): string {
    return name
  }

  /** Learns from the object `bytes[at, end)`. */
  protected learn(bytes: Uint8Array, at: number, end: number): void {
    this.document.begin()
    this.visit(bytes, at, end, (name, from, after) => {
      this.document.member(name, bytes, from)
      if (this.document.isFirst && bytes[from] === openBrace)
        this.visit(bytes, from, after, (inner, at) => this.document.inside(name, inner, bytes, at))
      this.value(name, bytes, from, after)
    })
  }

  /** Walks over the members of an object that is known to be well-formed. */
  protected visit(bytes: Uint8Array, open: number, end: number, visit: Visit): void {
    const { scanner } = this
    let at = scanner.first(bytes, open, end, closeBrace)
    while (at > 0) {
      const nameEnd = scanner.name(bytes, at, end)
      const name = stringText(scanner.scratch, bytes, at + 1, nameEnd - 1)
      at = scanner.colon(bytes, nameEnd, end)
      const after = scanner.check(bytes, at, end, 2)
      visit(name, at, after)
      at = scanner.next(bytes, after, end, closeBrace)
    }
  }

  /** Learns from the value `bytes[at, after)` of a member; of an object that is flattened, from those inside. */
  protected value(name: string, bytes: Uint8Array, at: number, after: number): void {
    if (this.flatten && bytes[at] === openBrace) {
      this.visit(bytes, at, after, (inner, from, to) => this.value(`${name}_${inner}`, bytes, from, to))
      return
    }
    const column = this.sample.column(this.columnName(name))
    if (column !== undefined) this.learnValue(column, bytes, at, after)
  }

  private learnValue(column: SampledColumn, bytes: Uint8Array, at: number, after: number): void {
    const { scratch, number } = this.scanner
    const byte = bytes[at] ?? 0
    if (byte === letterN) return
    if (byte === 0x74 || byte === 0x66) column.classes |= valueClass.bool
    else if (byte === quote) {
      const first = bytes[at + 1] ?? 0
      // Dates and times begin with a digit: other texts, which may be long, need no look.
      if (first !== backslash && (first < 0x30 || first > 0x39))
        noteValue(column, valueClass.text, bytes, at + 1, after - 1)
      else {
        unescapeString(scratch, bytes, at + 1, after - 1)
        noteValue(column, classOfTimeText(scratch.bytes, 0, scratch.length), scratch.bytes, 0, scratch.length)
      }
    } else if (!scanNumber(number, bytes, at, after, false)) column.classes |= valueClass.nested
    else {
      noteValue(column, classOfNumber(number), bytes, at, after)
      if (number.integral) noteInteger(column, number, bytes)
    }
  }
}

export abstract class ObjectReader<Objects extends RecordCore = JsonRecordReader> extends BodyReader {
  protected readonly objects: Objects
  private kinds: JsonScanner | undefined = undefined

  constructor(
    options: ReaderOptions,
    framer: Framer,
    plan: TablePlan,
    readerOf: (options: JsonRecordOptions) => Objects,
  ) {
    super(options, framer, plan)
    const { columns, faults, feed } = this
    this.objects = readerOf({ options, columns, faults, place: feed.place })
  }

  override get fits(): boolean {
    return super.fits && !this.objects.metOther
  }

  attempt(bytes: Uint8Array, start: number): number {
    if (this.faults.total > 0 || this.feed.utf8.dirty || this.options.only !== undefined) return -1
    const after = this.tryRecord(bytes, start)
    if (after < 0 || after - start > this.options.recordBytes) {
      this.columns.undoRow()
      this.objects.undo()
      return -1
    }
    this.records += 1
    this.columns.endRow(after - start)
    return after
  }

  /** Reads the record at `start`: index after it, or -1 where it is not known to be one without a fault. */
  protected tryRecord(bytes: Uint8Array, start: number): number {
    return this.objects.attempt(bytes, start, bytes.length, this.records)
  }

  /** `tryRecord` for a line that ends in these bytes and is one record: index of its end, or -1. */
  protected tryLine(bytes: Uint8Array, start: number): number {
    const { lineEnds } = passed
    const after = this.objects.attempt(bytes, start, bytes.length, this.records)
    return after < 0 || passed.lineEnds !== lineEnds ? -1 : lineEndAfter(bytes, after)
  }

  /** Reads the next record: index after it, or -1 when it could not be read to its end. */
  protected readRecord(bytes: Uint8Array, start: number, end: number): number {
    const record = this.records
    this.records += 1
    return this.invalidUtf8(bytes, start, end, record) ? -1 : this.objects.read(bytes, start, end, record)
  }

  /** Reads the one record that `bytes[start, end)` is, and ends its row; false when where it ends is not known. */
  protected readOnly(bytes: Uint8Array, start: number, end: number): boolean {
    const kind = this.options.only && this.otherKindOf(bytes.subarray(start, end))
    if (kind !== undefined) {
      const about = `A message of the type '${kind}' is no row of this preset, and is left out`
      this.columns.warnings.add(about, this.records)
      return true
    }
    const after = this.readRecord(bytes, start, end)
    const rest = after < 0 ? end : skipSpace(bytes, after, end)
    if (rest < end) this.surplus(bytes, rest, end)
    this.columns.endRow(end - start)
    return after >= 0 || !this.objects.broken
  }

  private otherKindOf(bytes: Uint8Array): string | undefined {
    this.kinds ??= new JsonScanner(this.options.jsonDepth)
    return otherKind(this.kinds, this.options, bytes)
  }

  /** A fault of the last record: something follows it. */
  protected surplus(bytes: Uint8Array, at: number, end: number): void {
    const message = 'Nothing may follow the object on its line.'
    this.fault({ kind: 'MalformedRecord', message, bytes, at, end }, this.records - 1)
  }
}

// Line protocol as a format of ingest: a line is a record, its measurement the column `_measurement`, each tag and field
// a column of its name, its timestamp the event time. Types are those that the sender wrote.
// Source: https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/

import { Buffer } from 'node:buffer'
import type { ColumnBuilder } from '../../libraries/columnar/arrow/column-builder.ts'
import { maxInt64, minInt64 } from '../../libraries/columnar/arrow/numbers.ts'
import { must } from '../../libraries/base/assert.ts'
import { copyBytes, utf8 } from '../../libraries/base/bytes.ts'
import type { RecordErrorKind } from '../../libraries/base/errors.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { BodyReader } from '../../libraries/formats/body-reader.ts'
import {
  type ColumnPlan,
  reservedName,
  type TablePlan,
  tablePlan,
  unknownName,
  valueCode,
} from '../../libraries/formats/column-plan.ts'
import { cutTimes } from '../../libraries/formats/column-warnings.ts'
import { CompiledLines } from '../../libraries/formats/compiled/lines.ts'
import { FaultLog, unknownFieldMessage } from '../../libraries/formats/fault-log.ts'
import type {
  EpochUnit,
  InferOptions,
  ParsedBody,
  ReaderOptions,
  StreamFormat,
} from '../../libraries/formats/format.ts'
import { BodyInferrer, type SampledColumn, valueClass } from '../../libraries/formats/inference.ts'
import { Scratch } from '../../libraries/formats/json/text.ts'
import { exactNumber, NumberScan, scaledInteger, scanNumber } from '../../libraries/formats/number-scan.ts'
import { earlySeconds } from '../../libraries/formats/time-rules.ts'
import { LineProtocolFramer } from './framing.ts'
import { isPointless, itemKind, LineScan, noValue } from './scan.ts'
import { lineProtocolFacts } from './facts.ts'

/** No tag or field has a name like it: those that begin with an underscore are the protocol's own. */
const measurementColumn = '_measurement'
const mostKnownKeys = 10_000

/** A key as it stands in lines, and its column: an index in the plan, or a code for none. */
interface Key {
  readonly bytes: Uint8Array
  readonly name: string
  readonly column: number
}

const finerThanMs: Readonly<Record<EpochUnit, number>> = { s: -3, ms: 0, us: 3, ns: 6 }
/** Milliseconds of so many digits are of the years until 2286. */
const plainDigits = 13
const [yes, no] = [utf8('true'), utf8('false')]

class LineProtocolReader extends BodyReader {
  private readonly plan: TablePlan
  private readonly line = new LineScan()
  private readonly scratch = new Scratch()
  private readonly number = new NumberScan()
  /** By their bytes. */
  private readonly keys = new Map<string, Key>()
  /** Those of the line before, by their place in it: most lines have the same. */
  private readonly hints: Key[] = []
  private readonly valueless: ReadonlySet<string> | undefined
  /** Digits of a timestamp after its milliseconds; negative where it has none of those. */
  private readonly finerDigits: number
  /** Lines with a point so far, those that are left out too. */
  private points = 0
  /** Of each column, the point that brought it last, counted from 1. */
  private readonly met: Float64Array
  /** What was left out, where that is asked for. */
  private readonly misfits = new FaultLog()
  /** Whether a value of the line being read did not fit. */
  private isMisfit = false
  private readonly lines: LineProtocolFramer

  constructor(options: ReaderOptions) {
    const plan = tablePlan(options)
    const lines = new LineProtocolFramer()
    super({ ...options, eventTimeUnit: options.eventTimeUnit ?? 'ns' }, lines, plan)
    this.lines = lines
    this.plan = plan
    this.met = new Float64Array(plan.columns.length)
    this.valueless = options.valueless && new Set(options.valueless.map(foldAscii))
    this.finerDigits = finerThanMs[options.eventTimeUnit ?? 'ns']
  }

  override get fits(): boolean {
    return super.fits && this.misfits.total === 0
  }

  override finish(): ParsedBody {
    const body = super.finish()
    const { errors, total } = this.misfits
    return total === 0 ? body : { ...body, misfits: { errors, total } }
  }

  many(bytes: Uint8Array, at: number): number {
    const after = this.readAhead(bytes, at)
    this.points += this.rowsAhead
    this.lines.line += this.rowsAhead
    return after
  }

  protected override compiledOf(): CompiledLines | undefined {
    return CompiledLines.ofPoints(this.plan, this.options, measurementColumn)
  }

  override record(bytes: Uint8Array, start: number, end: number): void {
    if (isPointless(bytes, start, end)) return
    this.points += 1
    if (!this.invalidUtf8(bytes, start, end, this.points - 1)) {
      const malformed = this.line.scan(bytes, start, end)
      if (malformed === undefined) this.readPoint(start, end)
      else {
        const at = this.line.faultAt
        this.fault({ kind: 'MalformedRecord', message: malformed, bytes, at, end }, this.points - 1)
      }
    }
    if (this.isMisfit && this.options.leavesOutMisfits === true) this.columns.undoRow()
    else {
      this.records += 1
      this.columns.endRow(end - start)
    }
    this.isMisfit = false
  }

  /** Puts the line that was scanned into the columns. */
  private readPoint(start: number, end: number): void {
    const { line, plan, columns, met } = this
    for (let item = 0; item < line.count && !this.isLeftOut; item++) this.readItem(item)
    if (line.timeStart < line.timeEnd) this.readTime()
    for (const index of plan.required) {
      if (met[index] === this.points || this.isLeftOut) continue
      const column = must(plan.columns[index], 'a column')
      this.misfit(columns.missing(column), columns.reason, { at: start, end, column: column.name })
    }
  }

  /** True once nothing more has to be judged of a line. */
  private get isLeftOut(): boolean {
    return this.isMisfit && this.options.leavesOutMisfits === true
  }

  private readTime(): void {
    const { line, number, columns } = this
    const { bytes, timeStart: at, timeEnd: end } = line
    const column = must(this.plan.columns[0], 'an event time')
    this.met[0] = this.points
    // Shorter ones have 64 bits whatever their digits are.
    if (end - at >= 19 && !this.hasLongTime(bytes, at, end)) {
      return this.misfit('OutOfRange', 'A timestamp is an integer of 64 bits.', { at, end, column: column.name })
    }
    const ms =
      column.code === valueCode.timestamp && column.perSecond === 1e3 ? this.plainMs(bytes, at, end) : undefined
    if (ms !== undefined) {
      if (ms < 1000 * earlySeconds) columns.warnEarly()
      return this.builderOf(0).appendInt64(ms)
    }
    scanNumber(number, bytes, at, end, true)
    const kind = this.putNumber(column, 0, bytes)
    return kind === undefined ? undefined : this.misfit(kind, columns.reason, { at, end, column: column.name })
  }

  private hasLongTime(bytes: Uint8Array, at: number, end: number): boolean {
    scanNumber(this.number, bytes, at, end, true)
    const value = scaledInteger(exactNumber(this.number, bytes), 0)
    return typeof value === 'bigint' && value >= minInt64 && value <= maxInt64
  }

  /** Milliseconds of a timestamp of our times, without the long numbers that any other takes. */
  private plainMs(bytes: Uint8Array, start: number, end: number): number | undefined {
    const last = end - this.finerDigits
    if (this.finerDigits < 0 || last <= start || last - start > plainDigits) return undefined
    let ms = 0
    for (let at = start; at < last; at++) {
      const digit = (bytes[at] ?? 0) - 0x30
      if (digit < 0) return undefined
      ms = ms * 10 + digit
    }
    for (let at = last; at < end; at++) {
      if (bytes[at] === 0x30) continue
      this.columns.warn(cutTimes(must(this.plan.columns[0], 'an event time')))
      break
    }
    return ms
  }

  private readItem(item: number): void {
    const { line, met } = this
    const { name, column: index } = this.keyOf(item)
    const place = { at: line.valueStarts[item] ?? 0, end: line.valueEnds[item] ?? 0, column: name }
    if (index === reservedName) {
      const message = `'${name}' is a column that the node fills; a tag or field needs another name.`
      return this.misfit('ReservedColumn', message, place)
    }
    if (index < 0) {
      if (this.options.unknownFields === 'ignore') return undefined
      const message = unknownFieldMessage(name, this.valueless)
      return this.misfit('UnknownField', message, place)
    }
    if (met[index] === this.points) {
      return this.misfit('DuplicateField', `The line has '${name}' twice; a tag and a field are one column too.`, place)
    }
    met[index] = this.points
    const kind = this.putValue(item, must(this.plan.columns[index], 'a column'), index)
    if (kind !== undefined) this.misfit(kind, this.columns.reason, place)
    return undefined
  }

  private keyOf(item: number): Key {
    const { line } = this
    const [start, end] = [line.keyStarts[item] ?? 0, line.keyEnds[item] ?? 0]
    const hint = this.hints[item]
    if (hint !== undefined && isSame(hint.bytes, line.bytes, start, end)) return hint
    const text: string = item === 0 ? '' : Buffer.prototype.latin1Slice.call(line.bytes, start, end)
    const key = this.keys.get(text) ?? this.newKey(item, text)
    this.hints[item] = key
    return key
  }

  private newKey(item: number, text: string): Key {
    const { line } = this
    const name = item === 0 ? measurementColumn : line.keyText(item, this.scratch)
    const index = this.plan.byName.get(foldAscii(name)) ?? unknownName
    const bytes = copyBytes(line.bytes, line.keyStarts[item], line.keyEnds[item])
    // The event time is the timestamp alone.
    const key = { bytes, name, column: index === 0 ? reservedName : index }
    if (this.keys.size < mostKnownKeys) this.keys.set(text, key)
    return key
  }

  private putValue(item: number, column: ColumnPlan, index: number): RecordErrorKind | undefined {
    const { line, columns, scratch, number } = this
    const kind = line.kinds[item] ?? 0
    const [start, end] = [line.valueStarts[item] ?? 0, line.valueEnds[item] ?? 0]
    if (kind === itemKind.yes || kind === itemKind.no) return this.putBoolean(column, index, kind === itemKind.yes)
    if (kind >= itemKind.float) {
      const isNumber = scanNumber(number, line.bytes, start, end, true) && number.end === end
      const isDouble = kind === itemKind.float && column.code === valueCode.float
      if (isNumber && isDouble)
        return columns.putFloat(column, this.builderOf(index), { scan: number, bytes: line.bytes }, true)
      if (isNumber) return this.putNumber(column, index, line.bytes)
      columns.reason = noValue
      return 'MalformedRecord'
    }
    if (line.unescapeValue(item, scratch)) {
      return columns.putText(column, this.builderOf(index), scratch.bytes, 0, scratch.length)
    }
    return columns.putText(column, this.builderOf(index), line.bytes, start, end)
  }

  private putBoolean(column: ColumnPlan, index: number, value: boolean): RecordErrorKind | undefined {
    const builder = this.builderOf(index)
    if (column.code !== valueCode.string) return this.columns.putBool(column, builder, value)
    const text = value ? yes : no
    return this.columns.putText(column, builder, text, 0, text.length)
  }

  private putNumber(column: ColumnPlan, index: number, bytes: Uint8Array): RecordErrorKind | undefined {
    return this.columns.putNumber(column, this.builderOf(index), this.number, bytes)
  }

  private builderOf(index: number): ColumnBuilder {
    return this.columns.builder(index)
  }

  /** A line that can be read, and does not fit: left out, or a fault like others. */
  private misfit(
    kind: RecordErrorKind,
    message: string,
    place: { readonly at: number; readonly end: number; readonly column: string },
  ): void {
    this.isMisfit = true
    const fault = { kind, message, bytes: this.line.bytes, ...place }
    const isLeftOut = this.options.leavesOutMisfits === true && kind !== 'MalformedRecord'
    if (isLeftOut) this.misfits.add(fault, this.points - 1, this.feed.place)
    else this.fault(fault, this.points - 1)
  }
}

function isSame(key: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (key.length !== end - start) return false
  for (let i = 0; i < key.length; i++) if (key[i] !== bytes[start + i]) return false
  return true
}

/** What the sender says of a value is its type. */
const classes: readonly number[] = [
  valueClass.text,
  valueClass.text,
  valueClass.text,
  valueClass.number,
  valueClass.int64,
  valueClass.uint64,
  valueClass.bool,
  valueClass.bool,
]

class LineProtocolInferrer extends BodyInferrer {
  private readonly line = new LineScan()
  private readonly scratch = new Scratch()
  private readonly eventTimeName: string

  constructor(options: InferOptions) {
    super(options, new LineProtocolFramer())
    this.eventTimeName = foldAscii(options.vocabulary.eventTimeColumn)
  }

  override record(bytes: Uint8Array, start: number, end: number): void {
    if (this.done || isPointless(bytes, start, end)) return
    if (this.isInvalidUtf8(bytes, start, end) || this.line.scan(bytes, start, end) !== undefined)
      return this.oversized()
    this.count()
    for (let item = 0; item < this.line.count; item++) {
      const column = this.columnOf(item)
      if (column !== undefined) column.classes |= classes[this.line.kinds[item] ?? 0] ?? 0
    }
  }

  private columnOf(item: number): SampledColumn | undefined {
    const name = item === 0 ? measurementColumn : this.line.keyText(item, this.scratch)
    return foldAscii(name) === this.eventTimeName ? undefined : this.sample.column(name)
  }
}

export const lineProtocol: StreamFormat = {
  ...lineProtocolFacts,
  module: import.meta.url,
  createReader: (options) => new LineProtocolReader(options),
  createInferrer: (options) => new LineProtocolInferrer(options),
}

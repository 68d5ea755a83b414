// The columns that a reader fills: numbers and texts of the input become values of the column's type, or a reason why
// not. Exact: integers and decimals never pass through a double, doubles are the nearest ones, finer time digits are
// cut off. Formats decide what a number or a text is; what it means to a column is decided here alone.

import { type ColumnBuilder, createColumnBuilder } from '../arrow/column-builder.ts'
import { nullColumn } from '../arrow/null-column.ts'
import { maxInt64, maxUint64, minInt64 } from '../arrow/numbers.ts'
import { must } from '../lib/assert.ts'
import { bytesOfHex } from '../lib/bytes.ts'
import type { RecordErrorKind } from '../model/errors.ts'
import type { Column, Field, RecordBatch } from '../model/schema.ts'
import {
  endSecond,
  firstSecond,
  noSuchDay,
  notADate,
  readDate,
  readInstant,
  readTimeOfDay,
  type TimeFault,
  TimeScan,
} from './calendar.ts'
import { type ColumnPlan, type TablePlan, valueCode } from './column-plan.ts'
import type { EpochUnit } from './format.ts'
import { Warnings } from '../lib/warnings.ts'
import { isStorableTime, timeReasons, unitNames } from './stored-times.ts'
import {
  doubleOf,
  exactNumber,
  notFinite,
  NumberScan,
  scaledInteger,
  type ScaledResult,
  scanNumber,
} from './number-scan.ts'

/** Most bodies are small: buffers of so few rows are cheap to make. */
const firstRows = 4
const batchRows = 16_384
const batchInputBytes = 1024 * 1024
/** Rows times the columns that have come in them: 256 rows of 2,000 columns. */
const batchCells = 512 * 1024

const epochExponent: Readonly<Record<EpochUnit, number>> = { s: 0, ms: 3, us: 6, ns: 9 }

/** A fault of a value; undefined means that the value is in the column. */
type ValueFault = RecordErrorKind | undefined

export interface TypedColumnsOptions {
  readonly timeZone?: 'UTC'
  readonly eventTimeUnit?: EpochUnit
}

/**
 * The columns of one body. A column costs nothing in rows that it does not come in: they are made nulls when its next value
 * comes, or at the end. After a fault the columns may be out of step: the body is lost, only judging goes on.
 */
export class TypedColumns {
  readonly plan: TablePlan
  /** Why the last value did not fit. */
  reason = ''
  /** Of the columns that have come, by their place in the plan. */
  private readonly builders: ColumnBuilder[] = []
  readonly warnings = new Warnings()
  /** Those of the row that is open. */
  private rowWarnings: string[] = []
  private doneRows = 0
  private batches: RecordBatch[] = []
  private rows = 0
  /** Columns that have come in these rows. */
  private met = 0
  private inputBytes = 0
  private failed = false
  private readonly utc: boolean
  private readonly eventTimeUnit: EpochUnit | undefined
  private readonly time = new TimeScan()
  private readonly decimal = new NumberScan()

  constructor(plan: TablePlan, options: TypedColumnsOptions) {
    this.plan = plan
    this.utc = options.timeZone === 'UTC'
    this.eventTimeUnit = options.eventTimeUnit
  }

  /** The builder of the column at `index`, for its value in the row that is open. */
  builder(index: number): ColumnBuilder {
    const builder = (this.builders[index] ??= createColumnBuilder(this.field(index), firstRows))
    if (builder.rows < this.rows && !this.failed) builder.appendNulls(this.rows)
    else if (builder.rows === 0) this.met += 1
    return builder
  }

  private field(index: number): Field {
    return must(this.plan.columns[index], 'a column').field
  }

  /** Ends a row that came from `inputBytes` bytes of input. */
  endRow(inputBytes: number): void {
    for (const about of this.rowWarnings.length > 0 ? this.takeRowWarnings() : []) {
      this.warnings.add(about, this.doneRows)
    }
    this.rows += 1
    this.doneRows += 1
    this.inputBytes += inputBytes
    const isFull = this.rows >= batchRows || this.inputBytes >= batchInputBytes || this.rows * this.met >= batchCells
    if (isFull) this.cut()
  }

  /** Drops the values since the last row ended. */
  undoRow(): void {
    this.rowWarnings = []
    for (const builder of this.builders) builder?.rollback(Math.min(this.rows, builder.rows))
  }

  /** Notes of the row that is open what is changed or doubted of it; as `Warnings.add`. */
  warn(about: string): void {
    this.rowWarnings.push(about)
  }

  /** Finer digits of a time are cut off. */
  warnCut({ name, perSecond }: ColumnPlan): void {
    this.warn(`Times of '${name}' are kept in ${unitNames.get(perSecond)}; finer digits were cut off`)
  }

  /** What was noted of the row that is open, for who keeps warnings of his own. */
  takeRowWarnings(): readonly string[] {
    const taken = this.rowWarnings
    this.rowWarnings = []
    return taken
  }

  /** From now on values are judged but not kept. */
  fail(): void {
    if (this.failed) return
    this.failed = true
    this.batches = []
    this.cut()
  }

  /** The batches that are complete; they are given once. */
  take(): readonly RecordBatch[] {
    const { batches } = this
    this.batches = []
    return batches
  }

  /** The batches not taken before, with the last rows. */
  finish(): readonly RecordBatch[] {
    if (this.rows > 0) this.cut()
    return this.take()
  }

  private cut(): void {
    const { rows } = this
    if (this.failed) this.builders.length = 0
    else this.batches.push({ rows, columns: this.plan.columns.map((_, index) => this.column(index)) })
    this.rows = 0
    this.inputBytes = 0
    this.met = 0
  }

  /** The rows of a column; event times that are missing are filled in later. */
  private column(index: number): Column {
    const hasCome = (this.builders[index]?.rows ?? 0) > 0
    return hasCome || index === 0 ? this.builder(index).finish() : nullColumn(this.field(index), this.rows)
  }

  /** A null in this row. */
  putNull(column: ColumnPlan, builder: ColumnBuilder): ValueFault {
    if (column.required) return this.missing(column)
    builder.appendNull()
    return undefined
  }

  /** A required column without a value in this row; others are just left alone. */
  missing(column: ColumnPlan): 'MissingRequired' {
    this.reason = `Column '${column.name}' is required and has no value.`
    return 'MissingRequired'
  }

  putBool(column: ColumnPlan, builder: ColumnBuilder, value: boolean): ValueFault {
    if (column.code !== valueCode.bool) return this.wrongType(column, 'a boolean')
    builder.appendBool(value)
    return undefined
  }

  /** The number in `scan`, a token of `bytes`. */
  putNumber(column: ColumnPlan, builder: ColumnBuilder, scan: NumberScan, bytes: Uint8Array): ValueFault {
    switch (column.code) {
      case valueCode.float:
        return this.putFloat(column, builder, doubleOf(scan, bytes))
      case valueCode.small:
      case valueCode.int64:
      case valueCode.uint64:
        return this.putInteger(column, builder, scan, bytes)
      case valueCode.decimal:
        return this.putDecimal(column, builder, scaledInteger(exactNumber(scan, bytes), column.scale))
      case valueCode.string:
        builder.appendBytes(bytes, scan.start, scan.end)
        return undefined
      case valueCode.timestamp:
        return this.putEpoch(column, builder, scan, bytes)
      default:
        return this.wrongType(column, 'a number')
    }
  }

  /** Text `bytes[start, end)`: UTF-8 into a String column, else a time, hexadecimal bytes, or the digits of a decimal. */
  putText(column: ColumnPlan, builder: ColumnBuilder, bytes: Uint8Array, start: number, end: number): ValueFault {
    switch (column.code) {
      case valueCode.string:
        builder.appendBytes(bytes, start, end)
        return undefined
      case valueCode.timestamp: {
        const fault = readInstant(this.time, bytes, start, end, this.utc)
        if (fault === undefined) return this.putInstant(column, builder)
        // Producers write epochs that a double could not hold as text.
        const isEpoch = this.eventTimeUnit !== undefined && column === this.plan.columns[0]
        const isNumber = isEpoch && scanNumber(this.decimal, bytes, start, end, false) && this.decimal.end === end
        return isNumber ? this.putEpoch(column, builder, this.decimal, bytes) : this.badTime(column, fault)
      }
      case valueCode.date:
        return this.putDate(column, builder, bytes, start, end)
      case valueCode.time:
        return this.putTime(column, builder, bytes, start, end)
      case valueCode.binary:
        return this.putHex(column, builder, bytes, start, end)
      case valueCode.decimal: {
        const isNumber = scanNumber(this.decimal, bytes, start, end, false) && this.decimal.end === end
        return isNumber ? this.putNumber(column, builder, this.decimal, bytes) : this.wrongType(column, 'a text')
      }
      default:
        return this.wrongType(column, 'a text')
    }
  }

  /** A cell that is no number in digits: floats have words for those that are none. */
  putWord(column: ColumnPlan, builder: ColumnBuilder, bytes: Uint8Array, start: number, end: number): ValueFault {
    const value = column.code === valueCode.float ? notFinite(bytes, start, end) : undefined
    if (value === undefined) return this.wrongType(column, 'no number')
    builder.appendFloat64(value)
    return undefined
  }

  wrongType(column: ColumnPlan, what: string): 'WrongType' {
    this.reason = `Column '${column.name}' holds ${column.typeText}; this is ${what}.`
    return 'WrongType'
  }

  private outOfRange(column: ColumnPlan): 'OutOfRange' {
    this.reason = `The number is beyond the range of column '${column.name}' (${column.typeText}).`
    return 'OutOfRange'
  }

  private putFloat(column: ColumnPlan, builder: ColumnBuilder, value: number): ValueFault {
    const magnitude = Math.abs(value)
    if (magnitude === Number.POSITIVE_INFINITY || magnitude >= column.max) return this.outOfRange(column)
    builder.appendFloat64(value)
    return undefined
  }

  private putInteger(column: ColumnPlan, builder: ColumnBuilder, scan: NumberScan, bytes: Uint8Array): ValueFault {
    if (scan.integral && scan.digits <= 15) {
      const value = scan.negative ? 0 - scan.mantissa : scan.mantissa
      if (column.code === valueCode.int64) builder.appendInt64(value)
      else if (column.code === valueCode.uint64) {
        if (value < 0) return this.outOfRange(column)
        builder.appendInt64(value)
      } else {
        if (value < column.min || value > column.max) return this.outOfRange(column)
        builder.appendInt32(value)
      }
      return undefined
    }
    const value = scaledInteger(exactNumber(scan, bytes), 0)
    if (value === 'fraction') return this.wrongType(column, 'a number with a fraction')
    if (value === 'range') return this.outOfRange(column)
    if (column.code === valueCode.small) {
      if (value < BigInt(column.min) || value > BigInt(column.max)) return this.outOfRange(column)
      builder.appendInt32(Number(value))
      return undefined
    }
    const [min, max] = column.code === valueCode.int64 ? [minInt64, maxInt64] : [0n, maxUint64]
    if (value < min || value > max) return this.outOfRange(column)
    builder.appendBigInt64(value)
    return undefined
  }

  private putDecimal(column: ColumnPlan, builder: ColumnBuilder, value: ScaledResult): ValueFault {
    if (value === 'fraction') return this.wrongType(column, `a number with more than ${column.scale} decimals`)
    const limit = 10n ** BigInt(column.precision)
    if (value === 'range' || value >= limit || value <= -limit) return this.outOfRange(column)
    builder.appendDecimal(value)
    return undefined
  }

  private putEpoch(column: ColumnPlan, builder: ColumnBuilder, scan: NumberScan, bytes: Uint8Array): ValueFault {
    const isEventTime = column === this.plan.columns[0]
    if (!isEventTime || this.eventTimeUnit === undefined) {
      this.wrongType(column, 'a number')
      if (isEventTime) this.reason += ' Say eventTimeUnit=s, ms, us or ns to send epochs.'
      return 'WrongType'
    }
    const shift = Math.round(Math.log10(column.perSecond)) - epochExponent[this.eventTimeUnit]
    const exact = exactNumber(scan, bytes)
    const value = scaledInteger(exact, shift, true)
    if (exact.exponent + shift < 0) this.warnCut(column)
    if (value === 'fraction' || value === 'range' || !isStorableTime(value, column.perSecond)) {
      this.beyondYears(column)
      this.reason += ` Is it another unit than eventTimeUnit=${this.eventTimeUnit}?`
      return 'OutOfRange'
    }
    builder.appendBigInt64(value)
    return undefined
  }

  private beyondYears(column: ColumnPlan): 'OutOfRange' {
    this.reason = `Column '${column.name}' holds times of the years 0000 to 9999 (UTC); this one is beyond.`
    return 'OutOfRange'
  }

  /** The instant in `time`, in the unit of the column. */
  private putInstant(column: ColumnPlan, builder: ColumnBuilder): ValueFault {
    const { seconds, nanos } = this.time
    const { perSecond } = column
    // A zone can carry a time over the edge.
    if (seconds < firstSecond || seconds >= endSecond) return this.beyondYears(column)
    const fraction = Math.floor(nanos / (1e9 / perSecond))
    if (this.time.isFiner || nanos % (1e9 / perSecond) !== 0) this.warnCut(column)
    if (Math.abs(seconds) < 9e15 / perSecond) {
      builder.appendInt64(seconds * perSecond + fraction)
      return undefined
    }
    const value = BigInt(seconds) * BigInt(perSecond) + BigInt(fraction)
    if (value < minInt64 || value > maxInt64) return this.outOfRange(column)
    builder.appendBigInt64(value)
    return undefined
  }

  private putDate(
    column: ColumnPlan,
    builder: ColumnBuilder,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): ValueFault {
    const days = end - start === 10 ? readDate(bytes, start, end) : notADate
    if (days === notADate || days === noSuchDay) {
      const why = days === noSuchDay ? 'that day does not exist' : 'write it as YYYY-MM-DD'
      this.reason = `Column '${column.name}' holds dates; ${why}.`
      return 'BadDate'
    }
    builder.appendInt32(days)
    return undefined
  }

  private putTime(
    column: ColumnPlan,
    builder: ColumnBuilder,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): ValueFault {
    const { time } = this
    const fault = readTimeOfDay(time, bytes, start, end)
    if (fault !== undefined || time.end !== end) {
      this.reason = `Column '${column.name}' holds times of day; write them as hh:mm:ss, with a fraction if needed.`
      return 'BadTimestamp'
    }
    const nanosPerUnit = 1e9 / column.perSecond
    const value = time.seconds * column.perSecond + Math.floor(time.nanos / nanosPerUnit)
    if (time.isFiner || time.nanos % nanosPerUnit !== 0) this.warnCut(column)
    if (column.perSecond <= 1e3) builder.appendInt32(value)
    else builder.appendInt64(value)
    return undefined
  }

  private putHex(
    column: ColumnPlan,
    builder: ColumnBuilder,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): ValueFault {
    const out = bytesOfHex(bytes, start, end)
    if (out === undefined) return this.wrongType(column, 'not hexadecimal text')
    builder.appendBytes(out, 0, out.length)
    return undefined
  }

  private badTime(column: ColumnPlan, fault: TimeFault): 'BadTimestamp' {
    const epochHint = column === this.plan.columns[0] && fault === 'form' && this.eventTimeUnit === undefined
    const hint = epochHint ? '; for epochs say eventTimeUnit=s, ms, us or ns' : ''
    this.reason = `Column '${column.name}' holds times; ${must(timeReasons[fault ?? 'form'], 'a reason')}${hint}.`
    return 'BadTimestamp'
  }
}

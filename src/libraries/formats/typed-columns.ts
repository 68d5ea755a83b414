// The columns that a reader fills: numbers and texts of the input become values of the column's type, or a reason why
// not. Exact: integers and decimals never pass through a double, doubles are the nearest ones, finer time digits are
// cut off. Formats decide what a number or a text is; what it means to a column is decided here alone.

import type { ColumnBuilder } from '../columnar/arrow/column-builder.ts'
import { maxInt64, maxUint64, minInt64 } from '../columnar/arrow/numbers.ts'
import { must } from '../base/assert.ts'
import { bytesOfHex } from '../base/bytes.ts'
import type { RecordErrorKind } from '../base/errors.ts'
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
} from '../base/calendar.ts'
import type { CellBound } from './cell-bound.ts'
import { type ColumnPlan, missingReason, type TablePlan, valueCode } from './column-plan.ts'
import { fractionReason } from './fault-log.ts'
import type { EpochUnit, FormatOptions } from './format.ts'
import { LocalTimes } from './local-times.ts'
import { earlyEpochs, earlySeconds, epochExponent, isStorableTime, timeReasons } from './time-rules.ts'
import { ColumnRows } from './column-rows.ts'
import { cutTimes, lostSign, roundedIntegers } from './column-warnings.ts'
import {
  doubleOf,
  exactNumber,
  isRounded,
  notFinite,
  NumberScan,
  scaledInteger,
  type ScaledResult,
  scanNumber,
} from './number-scan.ts'

const roundingText =
  'which would round this integer: a column of Int64, Decimal or String keeps it; a number that is none is written with a point or an exponent.'
/** A fault of a value; undefined means that the value is in the column. */
type ValueFault = RecordErrorKind | undefined

export interface TypedColumnsOptions extends Pick<FormatOptions, 'timeZone' | 'ambiguous'> {
  readonly eventTimeUnit?: EpochUnit
  /** `float64`: integers that a float would round are rounded, with a warning; else they are faults. */
  readonly integers?: FormatOptions['integers']
  readonly cells?: CellBound
}

/** The columns of one body, and what values become in them. */
export class TypedColumns extends ColumnRows {
  /** Why the last value did not fit. */
  reason = ''
  private readonly options: TypedColumnsOptions
  /** By column: its times without a zone. */
  private readonly local = new Map<ColumnPlan, LocalTimes | undefined>()
  private readonly eventTimeUnit: EpochUnit | undefined
  private readonly mayRound: boolean
  private readonly time = new TimeScan()
  private readonly decimal = new NumberScan()

  constructor(plan: TablePlan, options: TypedColumnsOptions) {
    super(plan, options.cells)
    this.options = options
    this.eventTimeUnit = options.eventTimeUnit
    this.mayRound = options.integers === 'float64'
  }

  /** A null in this row. */
  putNull(column: ColumnPlan, builder: ColumnBuilder): ValueFault {
    if (column.required) return this.missing(column)
    builder.appendNull()
    return undefined
  }

  /** A required column without a value in this row; others are just left alone. */
  missing(column: ColumnPlan): 'MissingRequired' {
    this.reason = missingReason(column)
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
        return this.putFloat(column, builder, { scan, bytes })
      case valueCode.small:
      case valueCode.int64:
      case valueCode.uint64:
        return this.putInteger(column, builder, scan, bytes)
      case valueCode.decimal:
        if (scan.negative && scan.mantissa === 0) this.warn(lostSign(column))
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
        const fault = readInstant(this.time, bytes, start, end, this.options.timeZone !== undefined)
        if (fault === undefined) return this.isInZone(column) ? this.putInstant(column, builder) : 'BadTimestamp'
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

  /** `isDouble`: the sender says that the token, though it may look like an integer, is a double that was printed. */
  putFloat(
    column: ColumnPlan,
    builder: ColumnBuilder,
    { scan, bytes }: { readonly scan: NumberScan; readonly bytes: Uint8Array },
    isDouble = false,
  ): ValueFault {
    const value = doubleOf(scan, bytes)
    if (Math.abs(value) === Number.POSITIVE_INFINITY || Math.abs(value) >= column.max) return this.outOfRange(column)
    if (isRounded(scan, bytes, { value, isSingle: column.isSingle, isDouble })) {
      if (!this.mayRound) {
        this.reason = `Column '${column.name}' holds ${column.typeText}, ${roundingText}`
        return 'OutOfRange'
      }
      this.warn(roundedIntegers(column))
    }
    builder.appendFloat64(value)
    return undefined
  }

  private putInteger(column: ColumnPlan, builder: ColumnBuilder, scan: NumberScan, bytes: Uint8Array): ValueFault {
    if (scan.integral && scan.digits <= 15) {
      const value = scan.negative ? 0 - scan.mantissa : scan.mantissa
      if (scan.negative && value === 0) this.warn(lostSign(column))
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
    if (value === 'fraction') return this.wrongType(column, fractionReason)
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
    if (exact.exponent + shift < 0) this.warn(cutTimes(column))
    if (value === 'fraction' || value === 'range' || !isStorableTime(value, column.perSecond)) {
      this.beyondYears(column)
      this.reason += ` Is it another unit than eventTimeUnit=${this.eventTimeUnit}?`
      return 'OutOfRange'
    }
    if (value >= 0n && value < BigInt(earlySeconds * column.perSecond)) this.warnEarly()
    builder.appendBigInt64(value)
    return undefined
  }

  /** An epoch in a unit that is too fine lies at the beginning of 1970. */
  warnEarly(): void {
    this.warn(earlyEpochs(this.eventTimeUnit))
  }

  /** Rows whose event time is such an epoch. */
  get earlyRows(): number {
    return this.warnings.countOf(earlyEpochs(this.eventTimeUnit))
  }

  /** Makes the time that was read an instant, where it has no zone; false, with a reason, where it is none. */
  private isInZone(column: ColumnPlan): boolean {
    const { time } = this
    if (time.zoned || this.options.timeZone === 'UTC') return true
    if (!this.local.has(column)) this.local.set(column, LocalTimes.of(this.options))
    const local = this.local.get(column)
    if (local === undefined) return true
    const instant = local.instantOf(time.seconds, time.nanos)
    if (instant !== undefined) time.seconds = instant
    else this.reason = `Column '${column.name}' holds times; ${local.reason}.`
    return instant !== undefined
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
    if (this.time.isFiner || nanos % (1e9 / perSecond) !== 0) this.warn(cutTimes(column))
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
    if (time.isFiner || time.nanos % nanosPerUnit !== 0) this.warn(cutTimes(column))
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

  /** A day or time that the pattern of the dialect does not describe. */
  wrongDate(column: ColumnPlan, pattern: string): 'BadDate' | 'BadTimestamp' {
    const isDay = column.code === valueCode.date
    this.reason = `Column '${column.name}' holds ${isDay ? 'days' : 'times'}; this value does not fit dateFormat=${pattern}.`
    return isDay ? 'BadDate' : 'BadTimestamp'
  }

  private badTime(column: ColumnPlan, fault: TimeFault): 'BadTimestamp' {
    const epochHint = column === this.plan.columns[0] && fault === 'form' && this.eventTimeUnit === undefined
    const hint = epochHint ? '; for epochs say eventTimeUnit=s, ms, us or ns' : ''
    this.reason = `Column '${column.name}' holds times; ${must(timeReasons[fault ?? 'form'], 'a reason')}${hint}.`
    return 'BadTimestamp'
  }
}

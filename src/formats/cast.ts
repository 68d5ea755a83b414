// Casts a column of a file to a column of a dataset, without loss: equal types share their buffers; other numbers, times
// and texts are taken value by value through the rules of typed-columns.ts. What does not fit is noted with its record.

import { createColumnBuilder, type ColumnBuilder } from '../arrow/column-builder.ts'
import { fixedWidth, isPresent, makeColumn } from '../arrow/columns.ts'
import { utf8 } from '../lib/bytes.ts'
import type { RecordErrorKind } from '../model/errors.ts'
import { type Column, type DataType, sameType, type TimeUnit } from '../model/schema.ts'
import {
  dateText,
  decimalText,
  float32Token,
  float64Token,
  timeNanosText,
  timestampNanosText,
} from '../outputs/value-text.ts'
import { type ColumnPlan, type TablePlan, valueCode } from './column-plan.ts'
import type { FaultLog } from './fault-log.ts'
import type { FormatOptions } from './format.ts'
import { NumberScan, scanNumber } from './number-scan.ts'
import { TypedColumns } from './typed-columns.ts'

export interface CastOptions {
  readonly plan: TablePlan
  readonly options: FormatOptions
  readonly faults: FaultLog
}

/** Nanoseconds of a unit. */
const unitNanos: Readonly<Record<TimeUnit, bigint>> = {
  Second: 1_000_000_000n,
  Millisecond: 1_000_000n,
  Microsecond: 1_000n,
  Nanosecond: 1n,
}
const firstSecond = -62_167_219_200n
const endSecond = 253_402_300_800n
const dayNanos = 86_400_000_000_000n

/** Takes the value of a present row into the builder; a fault where it does not fit. */
type TakeValue = (column: Column, row: number, builder: ColumnBuilder) => RecordErrorKind | undefined

const faultLimitRows = 1000

export class ColumnCast {
  readonly #source: DataType
  readonly #target: ColumnPlan
  readonly #faults: FaultLog
  readonly #values: TypedColumns
  readonly #isEventTime: boolean
  readonly #isUtc: boolean
  readonly #number = new NumberScan()
  readonly #take: TakeValue
  /** Why the last value did not fit, where the rules of typed columns did not say it. */
  #reason: string | undefined

  /** From `source`, a type of the file (Timestamp without time zone: of no zone), to a column of the plan. */
  constructor(source: DataType, target: ColumnPlan, { plan, options, faults }: CastOptions) {
    this.#source = source
    this.#target = target
    this.#faults = faults
    this.#values = new TypedColumns(plan, options)
    this.#isEventTime = target === plan.columns[0]
    this.#isUtc = options.timeZone === 'UTC'
    this.#take = this.#takerOf(source)
  }

  /** The column in the dataset's type. Faults are noted, as of the records from `first` on; the column is then of no use. */
  cast(column: Column, first: number): Column {
    const { name, field, required } = this.#target
    if (required && column.nullCount > 0) this.#noteNull(column, first)
    if (!this.#isShared(column)) return this.#castValues(column, first)
    const { rows, nullCount, validity, values, offsets } = column
    const nullable = field.type.kind === 'Option'
    const typed = { name, type: targetType(this.#target), nullable }
    return makeColumn({ ...typed, rows, nullCount, validity, values, offsets, child: undefined })
  }

  /** Whether the buffers are those of the target already. */
  #isShared(column: Column): boolean {
    const target = targetType(this.#target)
    switch (target.kind) {
      case 'Timestamp':
        if (this.#source.kind !== 'Timestamp' || (this.#source.timezone === undefined && !this.#isUtc)) return false
        return unitOf(this.#source) === unitOf(target) && areStorable(column, unitOf(target))
      case 'Date':
        return this.#source.kind === 'Date' && areStorableDays(column)
      default:
        return sameType(this.#source, target)
    }
  }

  #castValues(column: Column, first: number): Column {
    const builder = createColumnBuilder(this.#target.field, Math.max(column.rows, 1))
    let faulty = 0
    for (let row = 0; row < column.rows; row++) {
      if (!isPresent(column, row)) {
        if (builder.nullable) builder.appendNull()
        continue
      }
      this.#reason = undefined
      const kind = this.#take(column, row, builder)
      if (kind === undefined) continue
      const message = this.#reason ?? this.#values.reason
      this.#faults.addBare({ record: first + row, column: this.#target.name, kind, message })
      if (++faulty === faultLimitRows) break
    }
    return builder.finish()
  }

  #noteNull(column: Column, first: number): void {
    for (let row = 0; row < column.rows; row++) {
      if (isPresent(column, row)) continue
      const message = `Column '${this.#target.name}' is required and has no value.`
      this.#faults.addBare({ record: first + row, column: this.#target.name, kind: 'MissingRequired', message })
      return
    }
  }

  #takerOf(source: DataType): TakeValue {
    switch (source.kind) {
      case 'Bool':
        return (column, row, builder) =>
          this.#takeBool(((column.values[row >> 3] ?? 0) >> (row & 7)) % 2 === 1, builder)
      case 'String':
        return (column, row, builder) => this.#takeText(column, row, builder)
      case 'Binary':
        return (column, row, builder) => this.#takeBinary(column, row, builder)
      case 'Float32':
      case 'Float64':
        return (column, row, builder) => this.#takeFloat(floatAt(column, row), source.kind === 'Float32', builder)
      case 'Decimal':
        return (column, row, builder) => this.#takeNumberText(decimalText(int128At(column, row), source.scale), builder)
      case 'Date':
        return (column, row, builder) => this.#takeDate(Number(integerAt(column, row)), builder)
      case 'Time':
        return (column, row, builder) =>
          this.#takeTime(BigInt(integerAt(column, row)) * unitNanos[unitOf(source)], builder)
      case 'Timestamp':
        return (column, row, builder) => this.#takeInstant(BigInt(integerAt(column, row)), source, builder)
      default:
        return (column, row, builder) => this.#takeInteger(integerAt(column, row), builder)
    }
  }

  #takeBool(value: boolean, builder: ColumnBuilder): RecordErrorKind | undefined {
    if (this.#target.code === valueCode.string) return this.#takeString(String(value), builder)
    return this.#values.putBool(this.#target, builder, value)
  }

  #takeText({ values, offsets }: Column, row: number, builder: ColumnBuilder): RecordErrorKind | undefined {
    return this.#values.putText(this.#target, builder, values, offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0)
  }

  #takeBinary({ values, offsets }: Column, row: number, builder: ColumnBuilder): RecordErrorKind | undefined {
    if (this.#target.code !== valueCode.binary) return this.#values.wrongType(this.#target, 'binary')
    builder.appendBytes(values, offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0)
    return undefined
  }

  #takeInteger(value: number | bigint, builder: ColumnBuilder): RecordErrorKind | undefined {
    const { code, min, max } = this.#target
    if (code === valueCode.small && typeof value === 'number' && value >= min && value <= max) {
      builder.appendInt32(value)
      return undefined
    }
    if (code === valueCode.int64 && typeof value === 'number') {
      builder.appendInt64(value)
      return undefined
    }
    if (code === valueCode.float) {
      const double = Number(value)
      const single = builder.type.kind === 'Float32'
      if (BigInt(single ? Math.fround(double) : double) !== BigInt(value)) return this.#inexact(String(value))
      builder.appendFloat64(double)
      return undefined
    }
    return this.#takeNumberText(String(value), builder)
  }

  #takeFloat(value: number, isSingle: boolean, builder: ColumnBuilder): RecordErrorKind | undefined {
    const { code } = this.#target
    if (code === valueCode.float) {
      if (builder.type.kind === 'Float32' && !Object.is(Math.fround(value), value) && !Number.isNaN(value)) {
        return this.#inexact(float64Token(value))
      }
      builder.appendFloat64(value)
      return undefined
    }
    if (!Number.isFinite(value)) return this.#inexact(String(value))
    const token = isSingle ? float32Token(value) : float64Token(value)
    if (code === valueCode.string || code === valueCode.decimal) return this.#takeNumberText(token, builder)
    return this.#takeNumberText(Number.isInteger(value) ? String(BigInt(value)) : token, builder)
  }

  /** A number as the rules of JSON numbers take it: exact. */
  #takeNumberText(token: string, builder: ColumnBuilder): RecordErrorKind | undefined {
    const bytes = utf8(token)
    if (this.#target.code === valueCode.float && this.#source.kind === 'Decimal')
      return this.#takeDecimalFloat(token, builder)
    if (!scanNumber(this.#number, bytes, 0, bytes.length, false)) return this.#inexact(token)
    return this.#values.putNumber(this.#target, builder, this.#number, bytes)
  }

  /** A decimal that a double holds exactly. */
  #takeDecimalFloat(token: string, builder: ColumnBuilder): RecordErrorKind | undefined {
    const [whole = '', fraction = ''] = token.split('.')
    if (!/^0*$/.test(fraction)) return this.#inexact(token)
    return this.#takeInteger(BigInt(whole), builder)
  }

  #takeDate(days: number, builder: ColumnBuilder): RecordErrorKind | undefined {
    const nanos = BigInt(days) * dayNanos
    if (nanos < firstSecond * unitNanos.Second || nanos >= endSecond * unitNanos.Second) return this.#beyondYears()
    if (this.#target.code === valueCode.date) {
      builder.appendInt32(days)
      return undefined
    }
    if (this.#target.code === valueCode.string) return this.#takeString(dateText(days), builder)
    return this.#values.wrongType(this.#target, 'a date')
  }

  #takeTime(nanos: bigint, builder: ColumnBuilder): RecordErrorKind | undefined {
    if (this.#target.code === valueCode.string) return this.#takeString(timeNanosText(nanos), builder)
    if (this.#target.code !== valueCode.time) return this.#values.wrongType(this.#target, 'a time of day')
    const unit = 1_000_000_000n / BigInt(this.#target.perSecond)
    if (nanos < 0n || nanos >= dayNanos) return this.#inexact(`${nanos} ns`)
    if (nanos % unit !== 0n) return this.#inexact(timeNanosText(nanos))
    const value = Number(nanos / unit)
    if (this.#target.perSecond <= 1e3) builder.appendInt32(value)
    else builder.appendInt64(value)
    return undefined
  }

  #takeInstant(value: bigint, source: DataType, builder: ColumnBuilder): RecordErrorKind | undefined {
    if (source.kind === 'Timestamp' && source.timezone === undefined && !this.#isUtc) {
      this.#reason = zonelessReason(this.#target.name)
      return 'BadTimestamp'
    }
    const nanos = value * unitNanos[unitOf(source)]
    if (nanos < firstSecond * unitNanos.Second || nanos >= endSecond * unitNanos.Second) return this.#beyondYears()
    if (this.#target.code === valueCode.string) return this.#takeString(`${timestampNanosText(nanos)}Z`, builder)
    if (this.#target.code !== valueCode.timestamp) return this.#values.wrongType(this.#target, 'a point in time')
    const unit = 1_000_000_000n / BigInt(this.#target.perSecond)
    const rest = ((nanos % unit) + unit) % unit
    // Event times are cut to their unit in every format.
    if (rest !== 0n && !this.#isEventTime) return this.#inexact(timestampNanosText(nanos))
    builder.appendBigInt64((nanos - rest) / unit)
    return undefined
  }

  #takeString(text: string, builder: ColumnBuilder): undefined {
    const bytes = utf8(text)
    builder.appendBytes(bytes, 0, bytes.length)
    return undefined
  }

  #inexact(text: string): 'OutOfRange' {
    const { name, typeText } = this.#target
    this.#reason = `Column '${name}' holds ${typeText}, which cannot hold ${text.slice(0, 60)} without loss.`
    return 'OutOfRange'
  }

  #beyondYears(): 'OutOfRange' {
    this.#reason = `Column '${this.#target.name}': times are of the years 0000 to 9999 (UTC); this one is beyond.`
    return 'OutOfRange'
  }
}

/** Why times of no zone do not fit. */
export function zonelessReason(name: string): string {
  return `Column '${name}' holds times without a time zone; say timeZone=UTC if they are UTC.`
}

function targetType({ field }: ColumnPlan): DataType {
  return field.type.kind === 'Option' ? field.type.inner : field.type
}

function unitOf(type: DataType): TimeUnit {
  return type.kind === 'Timestamp' || type.kind === 'Time' ? (type.unit ?? 'Millisecond') : 'Second'
}

/** Whether all times lie in the years 0000 to 9999. */
function areStorable(column: Column, unit: TimeUnit): boolean {
  const { rows } = column
  const view = viewOf(column)
  const perSecond = unitNanos.Second / unitNanos[unit]
  const [least, end] = [firstSecond * perSecond, endSecond * perSecond]
  if (end > 2n ** 63n) return true
  for (let row = 0; row < rows; row++) {
    const time = view.getBigInt64(8 * row, true)
    if ((time < least || time >= end) && isPresent(column, row)) return false
  }
  return true
}

function areStorableDays(column: Column): boolean {
  const { rows } = column
  const view = viewOf(column)
  for (let row = 0; row < rows; row++) {
    const day = view.getInt32(4 * row, true)
    if ((day < -719_528 || day >= 2_932_897) && isPresent(column, row)) return false
  }
  return true
}

function viewOf({ values }: Column): DataView {
  return new DataView(values.buffer, values.byteOffset, values.byteLength)
}

function floatAt(column: Column, row: number): number {
  return column.type.kind === 'Float32'
    ? viewOf(column).getFloat32(4 * row, true)
    : viewOf(column).getFloat64(8 * row, true)
}

/** The integer of a row: a bigint where the type has 64 bits. */
function integerAt(column: Column, row: number): number | bigint {
  const view = viewOf(column)
  switch (column.type.kind) {
    case 'Int8':
      return view.getInt8(row)
    case 'UInt8':
      return view.getUint8(row)
    case 'Int16':
      return view.getInt16(2 * row, true)
    case 'UInt16':
      return view.getUint16(2 * row, true)
    case 'UInt32':
      return view.getUint32(4 * row, true)
    case 'UInt64':
      return view.getBigUint64(8 * row, true)
    case 'Int64':
    case 'Timestamp':
      return view.getBigInt64(8 * row, true)
    case 'Time':
      return fixedWidth(column.type) === 8 ? view.getBigInt64(8 * row, true) : view.getInt32(4 * row, true)
    default:
      return view.getInt32(4 * row, true)
  }
}

function int128At(column: Column, row: number): bigint {
  const view = viewOf(column)
  return (view.getBigInt64(16 * row + 8, true) << 64n) + view.getBigUint64(16 * row, true)
}

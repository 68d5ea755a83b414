// Casts of single values, exact: what a value of a file becomes in a column of a dataset, or why it does not fit.

import type { ColumnBuilder } from '../columnar/arrow/column-builder.ts'
import { bitAt } from '../columnar/arrow/buffers.ts'
import { int128At, longsOf, maxInt64, maxUint64, minInt64, numbersOf } from '../columnar/arrow/numbers.ts'
import type { RecordErrorKind } from '../base/errors.ts'
import { type Column, type DataType, innerType, type TimeUnit, unitNanos } from '../model/schema.ts'
import {
  dateText,
  decimalText,
  float32Token,
  float64Token,
  timeNanosText,
  timestampMicrosText,
  timestampNanosText,
} from '../columnar/outputs/value-text.ts'
import { endSecond, firstSecond } from '../base/calendar.ts'
import { type ColumnPlan, valueCode } from './column-plan.ts'
import { cutTimes } from './column-warnings.ts'
import { NumberScan, scanNumber } from './number-scan.ts'
import type { TypedColumns } from './typed-columns.ts'

const dayNanos = 86_400_000_000_000n
const maxTextChars = 60

export function unitOf(type: DataType): TimeUnit {
  return (type.kind === 'Timestamp' || type.kind === 'Time' ? type.unit : undefined) ?? 'Millisecond'
}

/** A fault of a value; undefined means that the value is in the column. */
type ValueFault = RecordErrorKind | undefined

interface CastTarget {
  readonly plan: ColumnPlan
  /** The rules for values that are text or epochs. */
  readonly typed: TypedColumns
}

/** Takes the present values of one column of a file into builders of one column of the dataset. */
export class ValueCast {
  /** Why the last value did not fit. */
  reason = ''
  readonly #source: DataType
  readonly #target: CastTarget
  readonly #type: DataType
  readonly #number = new NumberScan()
  readonly #ascii = new Uint8Array(64)

  constructor(source: DataType, target: CastTarget) {
    this.#source = source
    this.#target = target
    this.#type = innerType(target.plan.field.type)
  }

  /** Takes the value of a row that is present. */
  take(column: Column, row: number, to: ColumnBuilder): ValueFault {
    const source = this.#source
    switch (source.kind) {
      case 'Bool':
        return this.#takeBool(bitAt(column.values, row), to)
      case 'String':
        return this.#takeText(column, row, to)
      case 'Binary':
        return this.#takeBytes(column, row, to)
      case 'Float32':
        return this.#takeFloat(numbersOf(column)?.[row] ?? 0, to)
      case 'Float64':
        return this.#takeFloat(numbersOf(column)?.[row] ?? 0, to)
      case 'Decimal':
        return this.#takeNumber(int128At(longsOf(column), row), source.scale, to)
      case 'Date':
        return this.#takeDate(numbersOf(column)?.[row] ?? 0, to)
      case 'Time':
        return this.#takeTime(integerAt(column, row) * unitNanos(source.unit), to)
      case 'Timestamp':
        return this.#takeInstant(integerAt(column, row), to)
      default:
        return this.#takeNumber(integerAt(column, row), 0, to)
    }
  }

  #takeBool(value: boolean, to: ColumnBuilder): ValueFault {
    if (this.#target.plan.code === valueCode.string) return this.#takeAscii(String(value), to)
    return this.#typed(this.#target.typed.putBool(this.#target.plan, to, value))
  }

  #takeText({ values, offsets }: Column, row: number, to: ColumnBuilder): ValueFault {
    const { plan, typed } = this.#target
    const [start, end] = [offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0]
    if (plan.code !== valueCode.decimal) return this.#typed(typed.putText(plan, to, values, start, end))
    const isNumber = scanNumber(this.#number, values, start, end, false) && this.#number.end === end
    return this.#typed(
      isNumber
        ? typed.putNumber(plan, to, this.#number, values)
        : typed.wrongType(plan, 'a text that is no decimal number'),
    )
  }

  #takeBytes({ values, offsets }: Column, row: number, to: ColumnBuilder): ValueFault {
    if (this.#target.plan.code !== valueCode.binary) return this.#wrongType('binary')
    to.appendBytes(values, offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0)
    return undefined
  }

  /** The exact number `unscaled` × 10^-`scale`. */
  #takeNumber(unscaled: bigint, scale: number, to: ColumnBuilder): ValueFault {
    const { plan } = this.#target
    switch (plan.code) {
      case valueCode.small:
      case valueCode.int64:
      case valueCode.uint64:
        return this.#takeInteger(unscaled, scale, to)
      case valueCode.float:
        return this.#takeAsFloat(unscaled, scale, to)
      case valueCode.decimal: {
        const value = rescaled(unscaled, plan.scale - scale)
        const limit = 10n ** BigInt(plan.precision)
        if (value === undefined || value >= limit || value <= -limit) return this.#inexact(decimalText(unscaled, scale))
        to.appendDecimal(value)
        return undefined
      }
      case valueCode.string:
        return this.#takeAscii(decimalText(unscaled, scale), to)
      default:
        return this.#takeToken(decimalText(unscaled, scale), to)
    }
  }

  #takeInteger(unscaled: bigint, scale: number, to: ColumnBuilder): ValueFault {
    const { code, min, max } = this.#target.plan
    const value = rescaled(unscaled, -scale)
    const [least, most] = code === valueCode.uint64 ? [0n, maxUint64] : [minInt64, maxInt64]
    const isInside = value !== undefined && value >= least && value <= most
    if (!isInside || (code === valueCode.small && (value < BigInt(min) || value > BigInt(max)))) {
      return this.#inexact(decimalText(unscaled, scale))
    }
    if (code === valueCode.small) to.appendInt32(Number(value))
    else to.appendBigInt64(value)
    return undefined
  }

  /** A float that gives the number back: the shortest digits that stand for it are those of the number. */
  #takeAsFloat(unscaled: bigint, scale: number, to: ColumnBuilder): ValueFault {
    const text = decimalText(unscaled, scale)
    const isSingle = this.#type.kind === 'Float32'
    const value = isSingle ? Math.fround(Number(text)) : Number(text)
    // An integer has to be the float itself.
    const isExact =
      scale === 0
        ? Number.isFinite(value) && BigInt(value) === unscaled
        : isSameNumber(isSingle ? float32Token(value) : String(value), unscaled, scale)
    if (!isExact) return this.#inexact(text)
    to.appendFloat64(value)
    return undefined
  }

  #takeFloat(value: number, to: ColumnBuilder): ValueFault {
    const { code } = this.#target.plan
    if (code === valueCode.float) {
      if (this.#type.kind === 'Float32' && !Object.is(Math.fround(value), value) && !Number.isNaN(value)) {
        return this.#inexact(float64Token(value))
      }
      to.appendFloat64(value)
      return undefined
    }
    const isNumeric =
      code !== valueCode.bool && code !== valueCode.date && code !== valueCode.time && code !== valueCode.binary
    if (!Number.isFinite(value)) return isNumeric ? this.#inexact(String(value)) : this.#wrongType('a number')
    const token = this.#source.kind === 'Float32' ? float32Token(value) : float64Token(value)
    if (code === valueCode.string) return this.#takeAscii(token, to)
    if (Number.isInteger(value)) return this.#takeNumber(BigInt(value), 0, to)
    return this.#takeToken(token, to)
  }

  /** The token of a number, by the rules of JSON numbers. */
  #takeToken(token: string, to: ColumnBuilder): ValueFault {
    const { plan, typed } = this.#target
    const bytes = this.#bytesOf(token)
    if (!scanNumber(this.#number, bytes, 0, token.length, false)) return this.#inexact(token)
    const fault = typed.putNumber(plan, to, this.#number, bytes)
    const isRounding = fault === 'WrongType' && (plan.code === valueCode.decimal || isInteger(plan))
    return isRounding ? this.#inexact(token) : this.#typed(fault)
  }

  #takeDate(days: number, to: ColumnBuilder): ValueFault {
    if (days * 86_400 < firstSecond || days * 86_400 >= endSecond) return this.#beyondYears()
    const { code } = this.#target.plan
    if (code === valueCode.string) return this.#takeAscii(dateText(days), to)
    if (code !== valueCode.date) return this.#wrongType('a date')
    to.appendInt32(days)
    return undefined
  }

  #takeTime(nanos: bigint, to: ColumnBuilder): ValueFault {
    const { plan } = this.#target
    const isText = plan.code === valueCode.string
    if (!isText && plan.code !== valueCode.time) return this.#wrongType('a time of day')
    if (nanos < 0n || nanos >= dayNanos) return this.#outOfDay()
    if (isText) return this.#takeAscii(timeNanosText(nanos), to)
    const unit = BigInt(1e9 / plan.perSecond)
    if (nanos % unit !== 0n) this.#target.typed.warn(cutTimes(plan))
    if (plan.perSecond <= 1e3) to.appendInt32(Number(nanos / unit))
    else to.appendBigInt64(nanos / unit)
    return undefined
  }

  #takeInstant(value: bigint, to: ColumnBuilder): ValueFault {
    const { plan } = this.#target
    const nanos = value * unitNanos(unitOf(this.#source))
    if (nanos < BigInt(firstSecond) * 1_000_000_000n || nanos >= BigInt(endSecond) * 1_000_000_000n)
      return this.#beyondYears()
    if (plan.code === valueCode.string) return this.#takeAscii(`${instantText(nanos)}Z`, to)
    if (plan.code !== valueCode.timestamp) return this.#wrongType('a point in time')
    const unit = BigInt(1e9 / plan.perSecond)
    const rest = ((nanos % unit) + unit) % unit
    if (rest !== 0n) this.#target.typed.warn(cutTimes(plan))
    const instant = (nanos - rest) / unit
    if (instant < minInt64 || instant > maxInt64) return this.#beyondYears()
    to.appendBigInt64(instant)
    return undefined
  }

  #takeAscii(text: string, to: ColumnBuilder): undefined {
    to.appendBytes(this.#bytesOf(text), 0, text.length)
  }

  /** The bytes of ASCII, good until the next call. */
  #bytesOf(text: string): Uint8Array {
    const bytes = text.length <= this.#ascii.length ? this.#ascii : new Uint8Array(text.length)
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
    return bytes
  }

  /** The fault that the rules of typed columns found. */
  #typed(fault: ValueFault): ValueFault {
    this.reason = this.#target.typed.reason
    return fault
  }

  #wrongType(what: string): ValueFault {
    return this.#typed(this.#target.typed.wrongType(this.#target.plan, what))
  }

  #inexact(text: string): 'OutOfRange' {
    const { name, typeText } = this.#target.plan
    const short = text.length <= maxTextChars ? text : `${text.slice(0, maxTextChars)}…`
    this.reason = `Column '${name}' holds ${typeText}, which cannot hold ${short} without loss.`
    return 'OutOfRange'
  }

  #beyondYears(): 'OutOfRange' {
    this.reason = `Column '${this.#target.plan.name}': times are of the years 0000 to 9999 (UTC); this one is beyond.`
    return 'OutOfRange'
  }

  #outOfDay(): 'OutOfRange' {
    this.reason = `Column '${this.#target.plan.name}': a time of day is before 24:00:00 and not negative.`
    return 'OutOfRange'
  }
}

function isInteger({ code }: ColumnPlan): boolean {
  return code === valueCode.small || code === valueCode.int64 || code === valueCode.uint64
}

/** `value` × 10^`shift`; undefined where that is no integer. */
function rescaled(value: bigint, shift: number): bigint | undefined {
  if (shift === 0) return value
  const factor = 10n ** BigInt(Math.abs(shift))
  if (shift > 0) return value * factor
  return value % factor === 0n ? value / factor : undefined
}

/** Whether a token of a float is the number `unscaled` × 10^-`scale`. */
function isSameNumber(token: string, unscaled: bigint, scale: number): boolean {
  const [digits = '', exponentText = '0'] = token.split('e')
  const [whole = '', fraction = ''] = digits.split('.')
  const shift = Number(exponentText) - fraction.length + scale
  return rescaled(BigInt(whole + fraction), shift) === unscaled
}

function instantText(nanos: bigint): string {
  return nanos % 1000n === 0n ? timestampMicrosText(nanos / 1000n) : timestampNanosText(nanos)
}

/** The integer of a row. */
function integerAt(column: Column, row: number): bigint {
  const numbers = numbersOf(column)
  return numbers === undefined ? (longsOf(column)[row] ?? 0n) : BigInt(numbers[row] ?? 0)
}

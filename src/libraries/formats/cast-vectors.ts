// Casts of numbers and times, a column at a time: through doubles, as long as these hold every value exactly. Where one does not
// (or does not fit the target), nothing is cast here, and cast-values.ts takes the rows one by one and says which.

import { fixedWidth, isPresent } from '../columnar/arrow/columns.ts'
import { numbersOf } from '../columnar/arrow/numbers.ts'
import { type Column, type DataType, unitsPerSecond } from '../model/schema.ts'
import { endSecond, firstSecond } from '../base/calendar.ts'
import { type ColumnPlan, valueCode } from './column-plan.ts'

const exact = Number.MAX_SAFE_INTEGER
/** Digits that come back from a double as they went in. */
const doubleDigits = 15
const singleDigits = 6
/** Powers of ten that are doubles. */
const exactPower = 22

/**
 * The values of `column` as those of the target, rows that are null included; undefined where not every one of them could be
 * cast. `cuts` gets the rows whose times lost digits that are finer than the target's unit.
 */
export function castVector(column: Column, target: ColumnPlan, cuts: number[]): Uint8Array | undefined {
  const { type } = column
  switch (target.code) {
    case valueCode.small:
    case valueCode.int64:
    case valueCode.uint64:
      return isTime(type) ? undefined : integers(wholeNumbers(column), target)
    case valueCode.float:
      return isTime(type) ? undefined : floats(column, target)
    case valueCode.decimal:
      return isTime(type) ? undefined : decimals(column, target)
    case valueCode.timestamp:
      return type.kind === 'Timestamp' ? timestamps(column, target, cuts) : undefined
    default:
      return undefined
  }
}

function isTime({ kind }: DataType): boolean {
  return kind === 'Timestamp' || kind === 'Time' || kind === 'Date'
}

function integers(values: Float64Array | undefined, { code, min, max }: ColumnPlan): Uint8Array | undefined {
  if (values === undefined) return undefined
  if (code !== valueCode.small) return code === valueCode.uint64 && hasBelow(values, 0) ? undefined : longs(values)
  const isOutside = hasBelow(values, min) || values.some((value) => value > max)
  if (isOutside) return undefined
  const isSigned = min < 0
  if (max <= 255) return new Uint8Array((isSigned ? Int8Array : Uint8Array).from(values).buffer)
  if (max <= 65_535) return new Uint8Array((isSigned ? Int16Array : Uint16Array).from(values).buffer)
  return new Uint8Array((isSigned ? Int32Array : Uint32Array).from(values).buffer)
}

function hasBelow(values: Float64Array, least: number): boolean {
  for (const value of values) if (value < least) return true
  return false
}

/** Safe integers as integers of 64 bits. */
function longs(values: Float64Array): Uint8Array {
  const words = new Int32Array(2 * values.length)
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0
    words[2 * i] = value
    words[2 * i + 1] = Math.floor(value / 4294967296)
  }
  return new Uint8Array(words.buffer)
}

function floats(column: Column, target: ColumnPlan): Uint8Array | undefined {
  const { type } = column
  const isSingle =
    target.field.type.kind === 'Option'
      ? target.field.type.inner.kind === 'Float32'
      : target.field.type.kind === 'Float32'
  const values = doublesOf(column)
  if (values === undefined) return undefined
  if (type.kind === 'Decimal') return decimalFloats(values, type.scale, isSingle)
  if (!isSingle) return new Uint8Array(values.buffer)
  const singles = Float32Array.from(values)
  for (let i = 0; i < values.length; i++) if (!Object.is(singles[i], values[i])) return undefined
  return new Uint8Array(singles.buffer)
}

/** Decimals of so few digits that a float gives them back. */
function decimalFloats(values: Float64Array, scale: number, isSingle: boolean): Uint8Array | undefined {
  const most = 10 ** (isSingle ? singleDigits : doubleDigits)
  if (scale > exactPower || hasBelow(values, 1 - most) || values.some((value) => value >= most)) return undefined
  // One division of exact numbers rounds once, to the nearest.
  const divided = values.map((value) => value / 10 ** scale)
  return new Uint8Array(isSingle ? Float32Array.from(divided).buffer : divided.buffer)
}

function decimals(column: Column, { precision, scale }: ColumnPlan): Uint8Array | undefined {
  const { type } = column
  const from = type.kind === 'Decimal' ? type.scale : 0
  const values = type.kind === 'Decimal' ? doublesOf(column) : wholeNumbers(column)
  if (values === undefined || scale < from) return undefined
  const factor = 10 ** (scale - from)
  const most = Math.min(exact, 10 ** precision - 1)
  const words = new Int32Array(4 * values.length)
  for (let i = 0; i < values.length; i++) {
    const value = (values[i] ?? 0) * factor
    if (!(value <= most && value >= -most)) return undefined
    words[4 * i] = value
    const high = Math.floor(value / 4294967296)
    words[4 * i + 1] = high
    words[4 * i + 2] = high >> 31
    words[4 * i + 3] = high >> 31
  }
  return new Uint8Array(words.buffer)
}

function timestamps(column: Column, target: ColumnPlan, cuts: number[]): Uint8Array | undefined {
  const { type } = column
  const from = unitsPerSecond[(type.kind === 'Timestamp' ? type.unit : undefined) ?? 'Millisecond']
  const to = target.perSecond
  const values = to >= from ? doublesOf(column) : quotients(column, from / to, cuts)
  if (values === undefined) return undefined
  const factor = to >= from ? to / from : 1
  const [least, end] = [firstSecond * to, endSecond * to]
  for (let i = 0; i < values.length; i++) {
    const value = (values[i] ?? 0) * factor
    if (!(value >= least && value < end && value <= exact && value >= -exact)) return undefined
    values[i] = value
  }
  return longs(values)
}

/** Integers of 64 bits divided, rounded down; `cuts` gets the rows where a rest is left. */
function quotients(column: Column, divisor: number, cuts: number[]): Float64Array | undefined {
  const { rows, values } = column
  const words = new DataView(values.buffer, values.byteOffset, values.byteLength)
  const out = new Float64Array(rows)
  for (let i = 0; i < rows; i++) {
    const high = words.getInt32(8 * i + 4, true)
    const whole = Math.floor(high / divisor)
    // The rest of the upper word is below the divisor (at most 10^9 · 2^32 < 2^62 only for whole seconds, which no column has).
    const low = (high - whole * divisor) * 4294967296 + words.getUint32(8 * i, true)
    const quotient = Math.floor(low / divisor)
    if (low > exact) return undefined
    if (low !== quotient * divisor && isPresent(column, i)) cuts.push(i)
    out[i] = whole * 4294967296 + quotient
  }
  return out
}

/** The values as doubles, all of them whole; undefined where one is not, or is beyond 2^53. */
function wholeNumbers(column: Column): Float64Array | undefined {
  if (column.type.kind === 'Decimal' && column.type.scale !== 0) return undefined
  const values = doublesOf(column)
  if (values === undefined || !column.type.kind.startsWith('Float')) return values
  for (const value of values) if (!Number.isSafeInteger(value)) return undefined
  return values
}

/** The values (of decimals: unscaled) as doubles of their own; undefined where one is not exact. */
function doublesOf(column: Column): Float64Array | undefined {
  const { type, rows, values } = column
  if (type.kind === 'Date' || type.kind === 'Time') return undefined
  const numbers = numbersOf(column)
  if (numbers !== undefined) return new Float64Array(numbers.subarray(0, rows))
  const width = fixedWidth(type)
  if (width !== 8 && width !== 16) return undefined
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength)
  return longNumbers(view, new Float64Array(rows), { words: width / 4, isSigned: type.kind !== 'UInt64' })
}

interface LongForm {
  readonly words: number
  readonly isSigned: boolean
}

/** Integers of 2 or 4 words, as long as they are safe. */
function longNumbers(view: DataView, out: Float64Array, { words, isSigned }: LongForm): Float64Array | undefined {
  for (let i = 0; i < out.length; i++) {
    const at = 4 * words * i
    const high = isSigned ? view.getInt32(at + 4, true) : view.getUint32(at + 4, true)
    const value = high * 4294967296 + view.getUint32(at, true)
    if (!(value <= exact && value >= -exact)) return undefined
    if (words === 4) {
      const sign = high >> 31
      if (view.getInt32(at + 8, true) !== sign || view.getInt32(at + 12, true) !== sign) return undefined
    }
    out[i] = value
  }
  return out
}

// What becomes of each value of a file in each type of a dataset, counted in exact fractions: the oracle of cast.test.ts; and
// columns of such values, with noise under their nulls.

import * as fc from 'fast-check'
import { createColumnBuilder } from '../../../src/libraries/columnar/arrow/column-builder.ts'
import { fixedWidth, isPresent } from '../../../src/libraries/columnar/arrow/columns.ts'
import type { Column, DataType, TimeUnit } from '../../../src/libraries/model/schema.ts'
import { optionalField } from './reading.ts'

const units: readonly TimeUnit[] = ['Second', 'Millisecond', 'Microsecond', 'Nanosecond']
const nanosOf: Readonly<Record<TimeUnit, bigint>> = {
  Second: 1_000_000_000n,
  Millisecond: 1_000_000n,
  Microsecond: 1000n,
  Nanosecond: 1n,
}
export const utc = (unit: TimeUnit): DataType => ({ kind: 'Timestamp', unit, timezone: 'UTC' })
const time = (unit: TimeUnit): DataType => ({ kind: 'Time', unit })
export const decimal = (precision: number, scale: number): DataType => ({ kind: 'Decimal', precision, scale })
export const plain = (kind: 'Bool' | 'String' | 'Float32' | 'Float64' | 'Date' | 'Null'): DataType => ({ kind })
const binary: DataType = { kind: 'Binary' }
const integerKinds = ['Int8', 'Int16', 'Int32', 'Int64', 'UInt8', 'UInt16', 'UInt32', 'UInt64'] as const
const integers = integerKinds.map((kind): DataType => ({ kind }))

export const sources: readonly DataType[] = [
  ...integers,
  ...['Bool', 'String', 'Float32', 'Float64', 'Date', 'Null'].map((kind) => plain(kind as 'Bool')),
  binary,
  ...units.flatMap((unit) => [utc(unit), time(unit)]),
  decimal(5, 2),
  decimal(18, 0),
  decimal(38, 10),
  decimal(38, 38),
]
/** What the columns of a dataset can be, and times of day, which the plan knows too. */
export const targets: readonly DataType[] = [
  ...integers,
  ...['Bool', 'String', 'Float32', 'Float64', 'Date'].map((kind) => plain(kind as 'Bool')),
  binary,
  utc('Millisecond'),
  utc('Microsecond'),
  time('Millisecond'),
  decimal(5, 2),
  decimal(9, 0),
  decimal(38, 12),
]

export type Value = boolean | bigint | number | string | null

const range = (bits: number, isSigned: boolean): readonly [bigint, bigint] =>
  isSigned ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n] : [0n, 2n ** BigInt(bits) - 1n]

function integerRange(kind: string): readonly [bigint, bigint] {
  return range(Number(kind.replace(/\D/g, '')), !kind.startsWith('U'))
}

const firstDay = -719_528n
const endDay = 2_932_897n
const dayNanos = 86_400_000_000_000n

/** Values as they lie in a column: integers, floats, text, hexadecimal bytes. */
export function arbitraryOf(type: DataType): fc.Arbitrary<Value> {
  switch (type.kind) {
    case 'Bool':
      return fc.boolean()
    case 'String':
      return fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 5 }),
        fc.constantFrom(
          '1',
          '-2.50',
          '1e3',
          '2024-02-29',
          '2024-02-29T12:00:00.123456Z',
          '12:00:00',
          '00ff',
          'true',
          '1x',
        ),
      )
    case 'Binary':
      return fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString('hex'))
    case 'Float32':
      return fc.oneof(
        fc.float(),
        fc.integer({ min: -300, max: 300 }).map((n) => n / 4),
        fc.constantFrom(0, -0, Number.NaN),
      )
    case 'Float64':
      return fc.oneof(
        fc.double(),
        fc.integer().map((n) => n / 100),
        fc.maxSafeInteger(),
        fc.constantFrom(0, -0, 1e15, 2 ** 63, -(2 ** 63), 1e300, Number.POSITIVE_INFINITY),
      )
    case 'Date':
      return around([firstDay, 0n, endDay], range(32, true))
    case 'Time':
      return around([0n, dayNanos / nanosOf[type.unit ?? 'Millisecond']], range((fixedWidth(type) ?? 0) * 8, true))
    case 'Timestamp': {
      const unit = nanosOf[type.unit ?? 'Millisecond']
      const edges = [firstDay * dayNanos, 0n, 1_700_000_000_000_000_000n, endDay * dayNanos].map(
        (nanos) => nanos / unit,
      )
      const rounder = fc.bigInt(-(10n ** 8n), 10n ** 8n).map((n) => n * 1_000_000n)
      return fc.oneof(around(edges, range(64, true)), rounder)
    }
    case 'Decimal': {
      const limit = 10n ** BigInt(type.precision)
      const unit = 10n ** BigInt(type.scale)
      return fc.oneof(
        fc.bigInt(1n - limit, limit - 1n),
        fc.bigInt(-99n, 99n).map((n) => clamp(n * unit, limit)),
        fc.bigInt(-9999n, 9999n).map((n) => clamp(n, limit)),
      )
    }
    case 'Null':
      return fc.constant(null)
    default: {
      const bounds = integerRange(type.kind)
      return around(
        [0n, ...bounds, ...integerKinds.flatMap((kind) => integerRange(kind)), 2n ** 53n, 10n ** 9n],
        bounds,
      )
    }
  }
}

const clamp = (value: bigint, limit: bigint): bigint => (value >= limit || value <= -limit ? 0n : value)

function around(edges: readonly bigint[], [min, max]: readonly [bigint, bigint]): fc.Arbitrary<bigint> {
  const near = fc.tuple(fc.constantFrom(...edges), fc.bigInt(-2n, 2n)).map(([edge, by]) => edge + by)
  const inside = near.map((n) => (n < min ? min : n > max ? max : n))
  return fc.oneof(inside, fc.bigInt(min, max), inside)
}

/** A column of the values; what lies under its nulls is noise. */
export function columnOf(type: DataType, values: readonly Value[]): Column {
  if (type.kind === 'Null') {
    const validity = new Uint8Array((values.length + 7) >> 3)
    const rows = values.length
    return { name: 'x', type, nullable: true, rows, nullCount: rows, validity, values: new Uint8Array(0) }
  }
  const builder = createColumnBuilder(optionalField('x', type), values.length)
  for (const value of values) {
    if (value === null) builder.appendNull()
    else if (typeof value === 'boolean') builder.appendBool(value)
    else if (typeof value === 'number') builder.appendFloat64(value)
    else if (typeof value === 'string') {
      const bytes = Buffer.from(value, type.kind === 'Binary' ? 'hex' : 'utf8')
      builder.appendBytes(bytes, 0, bytes.length)
    } else if (type.kind === 'Decimal') builder.appendDecimal(value)
    else if (fixedWidth(type) === 8) builder.appendBigInt64(value)
    else builder.appendInt32(Number(value))
  }
  const column = builder.finish()
  const width = fixedWidth(type)
  if (width === undefined) return column
  const noisy = Buffer.from(column.values)
  for (let row = 0; row < column.rows; row++) {
    if (!isPresent(column, row)) noisy.fill(0xa5, row * width, (row + 1) * width)
  }
  return { ...column, values: new Uint8Array(noisy) }
}

/** An exact number, `digits` × 10^-`scale`. */
interface Exact {
  readonly digits: bigint
  readonly scale: number
}

function exactOf(text: string): Exact | undefined {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text)
  if (parts === null) return undefined
  const [, sign, whole, fraction = '', exponent = '0'] = parts
  return {
    digits: BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n),
    scale: fraction.length - Number(exponent),
  }
}

/** The number in units of 10^-`scale`, where it is whole in them. */
function inUnits({ digits, scale }: Exact, to: number): bigint | undefined {
  if (to >= scale) return digits * 10n ** BigInt(to - scale)
  const unit = 10n ** BigInt(scale - to)
  return digits % unit === 0n ? digits / unit : undefined
}

function exactText({ digits, scale }: Exact): string {
  if (scale === 0) return String(digits)
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
  return `${digits < 0n ? '-' : ''}${text.slice(0, -scale)}.${text.slice(-scale)}`
}

/** `isCut`: digits finer than the unit of the column are lost, and that is told. */
export type Outcome = { readonly value: Value; readonly isCut?: boolean } | { readonly fault: string }
export const fits = (value: Value): Outcome => ({ value })
/** Rounded towards the past. */
const times = (nanos: bigint, unit: bigint): Outcome => {
  const rest = ((nanos % unit) + unit) % unit
  return { value: (nanos - rest) / unit, isCut: rest !== 0n }
}
const fault = (kind: string): Outcome => ({ fault: kind })

/** What becomes of a present value. */
export function model(value: Exclude<Value, null>, from: DataType, to: DataType): Outcome {
  if (from.kind === 'Bool') {
    return to.kind === 'Bool' ? fits(value) : to.kind === 'String' ? fits(String(value)) : fault('WrongType')
  }
  if (from.kind === 'Binary') return to.kind === 'Binary' ? fits(value) : fault('WrongType')
  if (from.kind === 'String') return textModel(String(value), to)
  if (from.kind === 'Date') {
    if (BigInt(value) < firstDay || BigInt(value) >= endDay) return fault('OutOfRange')
    if (to.kind === 'String') return fits(isoOf(BigInt(value) * dayNanos).slice(0, 10))
    return to.kind === 'Date' ? fits(value) : fault('WrongType')
  }
  if (from.kind === 'Time') return timeModel(BigInt(value) * nanosOf[from.unit ?? 'Millisecond'], to)
  if (from.kind === 'Timestamp') return instantModel(BigInt(value) * nanosOf[from.unit ?? 'Millisecond'], to)
  if (typeof value === 'number') return floatModel(value, from, to)
  return numberModel({ digits: BigInt(value), scale: from.kind === 'Decimal' ? from.scale : 0 }, to)
}

function timeModel(nanos: bigint, to: DataType): Outcome {
  if (to.kind !== 'Time' && to.kind !== 'String') return fault('WrongType')
  if (nanos < 0n || nanos >= dayNanos) return fault('OutOfRange')
  if (to.kind === 'String') return fits(isoOf(nanos).slice(11))
  return times(nanos, 1_000_000n)
}

function instantModel(nanos: bigint, to: DataType): Outcome {
  if (nanos < firstDay * dayNanos || nanos >= endDay * dayNanos) return fault('OutOfRange')
  if (to.kind === 'String') return fits(`${isoOf(nanos)}Z`)
  if (to.kind !== 'Timestamp') return fault('WrongType')
  const unit = nanosOf[to.unit ?? 'Millisecond']
  return times(nanos, unit)
}

/** `2024-02-29T12:00:00`, with 3, 6 or 9 digits where they are not zero. */
function isoOf(nanos: bigint): string {
  const inSecond = ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n
  const ms = Number((nanos - inSecond) / 1_000_000n)
  const digits = String(inSecond)
    .padStart(9, '0')
    .replace(/^000000000$/, '')
    .replace(/^(...)000000$/, '$1')
    .replace(/^(.{6})000$/, '$1')
  return `${new Date(ms).toISOString().slice(0, 19)}${digits === '' ? '' : `.${digits}`}`
}

function floatModel(value: number, from: DataType, to: DataType): Outcome {
  if (to.kind === 'Float64') return fits(value)
  if (to.kind === 'Float32') return Object.is(Math.fround(value), value) ? fits(value) : fault('OutOfRange')
  if (['Bool', 'Date', 'Time', 'Timestamp', 'Binary'].includes(to.kind)) {
    return fault(!Number.isFinite(value) && to.kind === 'Timestamp' ? 'OutOfRange' : 'WrongType')
  }
  if (!Number.isFinite(value)) return fault('OutOfRange')
  if (Object.is(value, -0) && to.kind === 'String') return fits('-0.0')
  const shortest = from.kind === 'Float32' ? shortestSingle(value) : String(value)
  if (to.kind === 'String') return { value: shortest }
  if (Number.isInteger(value)) return numberModel({ digits: BigInt(value), scale: 0 }, to)
  return to.kind === 'Decimal' ? numberModel(exactOf(shortest) ?? { digits: 0n, scale: 0 }, to) : fault('OutOfRange')
}

function shortestSingle(value: number): string {
  if (value === 0) return '0'
  for (let digits = 1; ; digits++) {
    const text = value.toPrecision(digits)
    if (Object.is(Math.fround(Number(text)), value)) return text
  }
}

function numberModel(number: Exact, to: DataType): Outcome {
  switch (to.kind) {
    case 'String':
      return fits(exactText(number))
    case 'Decimal': {
      const value = inUnits(number, to.scale)
      const limit = 10n ** BigInt(to.precision)
      return value !== undefined && value < limit && value > -limit ? fits(value) : fault('OutOfRange')
    }
    case 'Float32':
    case 'Float64': {
      const nearest = to.kind === 'Float32' ? Math.fround(Number(exactText(number))) : Number(exactText(number))
      const back = exactOf(to.kind === 'Float32' ? shortestSingle(nearest) : String(nearest))
      const isWhole = number.scale === 0
      const isSame = isWhole
        ? BigInt(nearest) === number.digits
        : back !== undefined && inUnits(back, 400) === inUnits(number, 400)
      return isSame ? fits(nearest) : fault('OutOfRange')
    }
    case 'Bool':
    case 'Binary':
    case 'Date':
    case 'Time':
    case 'Timestamp':
      return fault('WrongType')
    default: {
      const value = inUnits(number, 0)
      const [min, max] = integerRange(to.kind)
      return value !== undefined && value >= min && value <= max ? fits(value) : fault('OutOfRange')
    }
  }
}

function textModel(text: string, to: DataType): Outcome {
  switch (to.kind) {
    case 'String':
      return fits(text)
    case 'Decimal': {
      const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? exactOf(text) : undefined
      const value = number === undefined ? undefined : inUnits(number, to.scale)
      if (value === undefined) return fault('WrongType')
      return value < 10n ** BigInt(to.precision) && value > -(10n ** BigInt(to.precision))
        ? fits(value)
        : fault('OutOfRange')
    }
    case 'Binary':
      return /^(?:[\da-f]{2})*$/i.test(text) ? fits(text.toLowerCase()) : fault('WrongType')
    case 'Date':
      return text === '2024-02-29' ? fits(19_782n) : fault('BadDate')
    case 'Time':
      return text === '12:00:00' ? fits(43_200_000n) : fault('BadTimestamp')
    case 'Timestamp':
      if (text !== '2024-02-29T12:00:00.123456Z') return fault('BadTimestamp')
      return times(1_709_208_000_123_456_000n, nanosOf[to.unit ?? 'Millisecond'])
    default:
      return fault('WrongType')
  }
}

// The values of arrays of fixed width that lie otherwise than in our columns: half floats, days in milliseconds, decimals.
// Source: Apache Arrow, format/Schema.fbs: FloatingPoint, Date, Decimal; IEEE 754 binary16.

import type { ColumnBuilder } from '../arrow/column-builder.ts'
import { dateText, decimalText, float32Token } from '../outputs/value-text.ts'
import type { JsonText } from '../../base/json/json-text.ts'
import { damaged } from './faults.ts'
import { decimalForm } from './types.ts'
import { OwnValues, type SharedRows } from './values.ts'

/** What values share that are read one by one. */
abstract class ViewedValues extends OwnValues {
  protected readonly view: DataView

  constructor(rows: number, validity: Uint8Array | undefined, values: Uint8Array) {
    super(rows, validity)
    this.view = new DataView(values.buffer, values.byteOffset, values.byteLength)
  }
}

export class HalfValues extends ViewedValues {
  override bytesAt(): number {
    return 4
  }

  append(row: number, to: ColumnBuilder): void {
    to.appendFloat64(this.view.getFloat16(2 * row, true))
  }

  writeJson(row: number, out: JsonText): void {
    out.ascii(float32Token(this.view.getFloat16(2 * row, true)))
  }
}

const dayMs = 86_400_000
const mostDays = 2 ** 31

/** Days since 1970 as milliseconds, which must be whole days. */
export class Date64Values extends ViewedValues {
  override bytesAt(): number {
    return 4
  }

  append(row: number, to: ColumnBuilder): void {
    to.appendInt32(this.#days(row))
  }

  writeJson(row: number, out: JsonText): void {
    out.ascii(`"${dateText(this.#days(row))}"`)
  }

  #days(row: number): number {
    const days = Number(this.view.getBigInt64(8 * row, true)) / dayMs
    if (!Number.isInteger(days)) return damaged(`has a date in row ${row} that is no whole day`)
    return Math.abs(days) < mostDays ? days : damaged(`has a date in row ${row} that is out of range`)
  }
}

interface DecimalParts {
  readonly width: 4 | 8 | 16 | 32
  readonly precision: number
  readonly scale: number
  readonly values: Uint8Array
}

/** Decimals of any width, as integers of 128 bits; those of more digits than they say are refused. */
export class DecimalValues extends ViewedValues {
  readonly #parts: DecimalParts
  readonly #limit: bigint
  /** Below the limit, whatever is rounded on the way to a double. */
  readonly #surelyBelow: number
  readonly #scale: number
  /** What a decimal of negative scale is counted in. */
  readonly #unit: bigint

  constructor(rows: number, validity: Uint8Array | undefined, parts: DecimalParts) {
    super(rows, validity, parts.values)
    this.#parts = parts
    this.#limit = 10n ** BigInt(parts.precision)
    this.#surelyBelow = 10 ** parts.precision * (1 - 1e-9)
    this.#scale = decimalForm(parts).scale
    this.#unit = 10n ** BigInt(Math.max(0, -parts.scale))
  }

  override bytesAt(): number {
    return 16
  }

  append(row: number, to: ColumnBuilder): void {
    to.appendDecimal(this.#unscaled(row))
  }

  writeJson(row: number, out: JsonText): void {
    out.ascii(`"${decimalText(this.#unscaled(row), this.#scale)}"`)
  }

  override share(start: number, end: number): SharedRows | undefined {
    const { width, scale, values } = this.#parts
    if (width !== 16 || scale < 0) return undefined
    for (let row = start; row < end; row++) if (!this.#isSmall(row) && this.isPresent(row)) this.#unscaled(row)
    return this.shared(start, end, values.subarray(16 * start, 16 * end))
  }

  /** Whether the digits are few enough at first sight. */
  #isSmall(row: number): boolean {
    const at = 16 * row
    const low = this.view.getUint32(at, true) + this.view.getUint32(at + 4, true) * 2 ** 32
    const high = this.view.getUint32(at + 8, true) + this.view.getInt32(at + 12, true) * 2 ** 32
    return Math.abs(high * 2 ** 64 + low) < this.#surelyBelow
  }

  #unscaled(row: number): bigint {
    const value = this.#integer(row)
    if (value >= this.#limit || value <= -this.#limit) {
      return damaged(`has a decimal in row ${row} of more digits than its ${this.#parts.precision}`)
    }
    return value * this.#unit
  }

  #integer(row: number): bigint {
    const { width } = this.#parts
    if (width === 4) return BigInt(this.view.getInt32(4 * row, true))
    let value = this.view.getBigInt64(width * (row + 1) - 8, true)
    for (let at = width * (row + 1) - 16; at >= width * row; at -= 8)
      value = (value << 64n) | this.view.getBigUint64(at, true)
    return value
  }
}

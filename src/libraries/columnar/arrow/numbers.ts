// The values of columns of fixed width as numbers.

import { copyBytes } from '../../base/bytes.ts'
import type { Column, DataType } from '../../model/schema.ts'
import { fixedWidth } from './columns.ts'

/** What integers of 64 bits hold. */
export const [minInt64, maxInt64, maxUint64] = [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 64n - 1n] as const

export type Numbers =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array

interface TypedArrayType<T> {
  readonly BYTES_PER_ELEMENT: number
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T
}

const arrays: Readonly<Partial<Record<DataType['kind'], TypedArrayType<Numbers>>>> = {
  Int8: Int8Array,
  UInt8: Uint8Array,
  Int16: Int16Array,
  UInt16: Uint16Array,
  UInt32: Uint32Array,
  Float32: Float32Array,
  Float64: Float64Array,
}

/** `bytes` as numbers; copied where they are not aligned. */
export function typedView<T>(ArrayType: TypedArrayType<T>, bytes: Uint8Array): T {
  const size = ArrayType.BYTES_PER_ELEMENT
  const aligned = bytes.byteOffset % size === 0 ? bytes : copyBytes(bytes)
  return new ArrayType(aligned.buffer, aligned.byteOffset, Math.floor(aligned.length / size))
}

/** The values of a type of at most 32 bits, or of doubles; undefined of other types. */
export function numbersOf({ type, values }: Pick<Column, 'type' | 'values'>): Numbers | undefined {
  const ArrayType = arrays[type.kind] ?? (fixedWidth(type) === 4 ? Int32Array : undefined)
  return ArrayType === undefined ? undefined : typedView<Numbers>(ArrayType, values)
}

/** The values of a type of 64 bits; of decimals, halves of 128 bits, the lower one first. */
export function longsOf({ type, values }: Pick<Column, 'type' | 'values'>): BigInt64Array | BigUint64Array {
  return type.kind === 'UInt64' ? typedView(BigUint64Array, values) : typedView(BigInt64Array, values)
}

/** The double that is nearest to each value of a column of numbers. */
export function doublesOf(column: Pick<Column, 'type' | 'values'>): (row: number) => number {
  const numbers = numbersOf(column)
  if (numbers !== undefined) return (row) => numbers[row] ?? Number.NaN
  const { type } = column
  const longs = longsOf(column)
  if (type.kind !== 'Decimal') return (row) => Number(longs[row] ?? 0n)
  return (row) => Number(`${int128At(longs, row)}e-${type.scale}`)
}

/** The integer of 128 bits at a row. */
export function int128At(longs: BigInt64Array | BigUint64Array, row: number): bigint {
  return (BigInt.asIntN(64, longs[2 * row + 1] ?? 0n) << 64n) | BigInt.asUintN(64, longs[2 * row] ?? 0n)
}

// Values of fixed width (booleans: a byte each) that were read and converted, one after the other, without nulls.

import { fixedWidth } from '../../arrow/columns.ts'
import { type DataType, typeText } from '../../model/schema.ts'
import { damaged } from '../../parquet/refusals.ts'
import { valuesOfNull } from '../../parquet/fixed-column.ts'
import type { LeafCursor } from '../../parquet/leaf-cursor.ts'

export class PackedValues {
  count = 0
  bytes = new Uint8Array(0)
  private readonly width: number
  private readonly type: DataType
  private scratch = new Uint8Array(0)

  constructor(type: DataType) {
    this.type = type
    this.width = fixedWidth(type) ?? 1
  }

  /** Reads the next `count` values of `cursor`, whose column has this type. */
  read(cursor: LeafCursor, count: number): void {
    const { width: physicalWidth, convert, reading } = cursor.leaf.leafType
    if (reading === 'none') damaged(valuesOfNull)
    const at = this.count * this.width
    this.reserve(at + count * this.width)
    if (convert === undefined) cursor.fixed.read(this.bytes, at, count)
    else {
      const needed = count * Math.max(16, physicalWidth)
      if (this.scratch.length < needed) this.scratch = new Uint8Array(needed)
      cursor.fixed.read(this.scratch, 0, count)
      const bad = convert(this.scratch, count, this.bytes, at)
      if (bad >= 0) damaged(`has a value that ${typeText(this.type)} cannot hold`)
    }
    this.count += count
  }

  /** Forgets the first `count`. */
  drop(count: number): void {
    this.bytes.copyWithin(0, count * this.width, this.count * this.width)
    this.count -= count
  }

  private reserve(bytes: number): void {
    if (bytes <= this.bytes.length) return
    const grown = new Uint8Array(2 * bytes)
    grown.set(this.bytes)
    this.bytes = grown
  }
}

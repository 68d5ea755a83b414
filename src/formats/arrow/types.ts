// The fields of an Arrow schema as they lie in record batches, and the type of the column that each becomes.

import type { DataType, Field } from '../../model/schema.ts'

export interface ArrowField {
  readonly name: string
  readonly type: ArrowType
  /** Where the field is encoded by a dictionary: whose values have `type`. */
  readonly dictionary?: DictionaryIndex
}

export interface DictionaryIndex {
  readonly id: number | bigint
  /** An integer. */
  readonly index: DataType
}

/**
 * How the values of a field lie in buffers.
 * `fixed`: as in a column of `column`. `decimal`: integers of `width` bytes, of `scale` digits (below 0: tens, hundreds …).
 * `bytes`: cut by offsets. `views`: 16 bytes a value, which hold or find it. `runs`: values, each with the row at which the
 * next begins.
 */
export type ArrowType =
  | { readonly kind: 'null' }
  | { readonly kind: 'bool' }
  | { readonly kind: 'half' }
  | { readonly kind: 'date64' }
  | { readonly kind: 'fixed'; readonly column: DataType }
  | { readonly kind: 'decimal'; readonly width: 4 | 8 | 16 | 32; readonly precision: number; readonly scale: number }
  | { readonly kind: 'bytes'; readonly isText: boolean; readonly offsetBytes: 4 | 8 }
  | { readonly kind: 'views'; readonly isText: boolean }
  | { readonly kind: 'fixedBytes'; readonly width: number; readonly isUuid: boolean }
  | { readonly kind: 'struct'; readonly fields: readonly ArrowField[] }
  | { readonly kind: 'list'; readonly offsetBytes: 4 | 8; readonly areViews: boolean; readonly item: ArrowField }
  | { readonly kind: 'fixedList'; readonly length: number; readonly item: ArrowField }
  | { readonly kind: 'runs'; readonly ends: ArrowField; readonly values: ArrowField }
  | { readonly kind: 'geometry'; readonly form: GeometryForm | 'wkb'; readonly storage: ArrowType }

/** A geometry of positions: its type in GeoJSON, how many lists are around a position, what the innermost lists are. */
export interface GeometryForm {
  readonly type: string
  readonly lists: number
  readonly row: 'points' | 'line' | 'ring'
}

/** Whether values become JSON text, as those of geometries do. */
export function isNested(type: ArrowType): boolean {
  if (type.kind === 'runs') return isNested(type.values.type)
  return ['struct', 'list', 'fixedList', 'geometry'].includes(type.kind)
}

/** The type of the column that a field becomes. */
export function columnType(type: ArrowType): DataType {
  switch (type.kind) {
    case 'null':
      return { kind: 'Null' }
    case 'bool':
      return { kind: 'Bool' }
    case 'half':
      return { kind: 'Float32' }
    case 'date64':
      return { kind: 'Date' }
    case 'fixed':
      return type.column
    case 'decimal': {
      const { precision, scale } = decimalForm(type)
      return { kind: 'Decimal', precision, scale }
    }
    case 'bytes':
    case 'views':
      return { kind: type.isText ? 'String' : 'Binary' }
    case 'fixedBytes':
      return { kind: type.isUuid ? 'String' : 'Binary' }
    case 'runs':
      return columnType(type.values.type)
    default:
      return { kind: 'String' }
  }
}

/** Precision and scale of a decimal that has a digit before the point at least where it says so: 0 ≤ scale ≤ precision. */
export function decimalForm({ precision, scale }: { precision: number; scale: number }): {
  readonly precision: number
  readonly scale: number
} {
  return scale < 0 ? { precision: precision - scale, scale: 0 } : { precision: Math.max(precision, scale), scale }
}

/** The column that a field becomes. */
export function columnField({ name, type }: ArrowField): Field {
  return { name, type: { kind: 'Option', inner: columnType(type) } }
}

// The fields of an Arrow schema as they lie in record batches, and the type of the column that each becomes.

import type { Shape } from '../../geo/rules.ts'
import type { NodeError } from '../../base/errors.ts'
import type { DataType, Field } from '../../model/schema.ts'
import type { UnsupportedArrow } from './faults.ts'

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
 * next begins. `refused`: values that are not read, whose column can still be passed over.
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
  | { readonly kind: 'refused'; readonly error: Refusal; readonly storage: ArrowType | UnionType }

/** Why values are not read. */
export type Refusal = UnsupportedArrow | NodeError

interface UnionType {
  readonly kind: 'union'
  readonly isDense: boolean
  readonly fields: readonly ArrowField[]
}

/** What lies in buffers. */
export type StoredType = Exclude<ArrowType, { readonly kind: 'geometry' | 'refused' }> | UnionType

/** How values lie, whatever they mean. */
export function storageOf(type: ArrowType | UnionType): StoredType {
  return type.kind === 'geometry' || type.kind === 'refused' ? storageOf(type.storage) : type
}

/** The fields inside of one. */
export function childrenOf(type: ArrowType): readonly ArrowField[] {
  const stored = storageOf(type)
  switch (stored.kind) {
    case 'struct':
    case 'union':
      return stored.fields
    case 'list':
    case 'fixedList':
      return [stored.item]
    case 'runs':
      return [stored.ends, stored.values]
    default:
      return []
  }
}

/** Why a field cannot become a column, where it, or what is inside of it, cannot. */
export function refusalOf(type: ArrowType): Refusal | undefined {
  if (type.kind === 'refused') return type.error
  if (type.kind === 'geometry') return refusalOf(type.storage)
  for (const child of childrenOf(type)) {
    const found = refusalOf(child.type)
    if (found !== undefined) return found
  }
  return undefined
}

/** A geometry of positions: its type in GeoJSON, how many lists are around a position, what the innermost lists are. */
export interface GeometryForm {
  readonly type: string
  readonly lists: number
  readonly row: Shape['row']
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

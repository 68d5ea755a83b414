// The columns of an answer: ODF types, and the tagged unions that expressions can make and ODF has no word for.
// The engine makes it from a result, datasets have one already; odf/schema-formats.ts spells it.

import type { DataSchema, DataType } from './schema.ts'

/** ODF types that hold no other type. */
type PlainType = Exclude<DataType, { readonly kind: 'List' | 'Map' | 'Option' | 'Struct' }>

/** Every DataType is one. */
export type OutputType =
  | PlainType
  | { readonly kind: 'List'; readonly itemType: OutputType; readonly fixedLength?: number }
  | {
      readonly kind: 'Map'
      readonly keyType: OutputType
      readonly valueType: OutputType
      readonly keysSorted?: boolean
    }
  | { readonly kind: 'Option'; readonly inner: OutputType }
  | { readonly kind: 'Struct'; readonly fields: readonly OutputField[] }
  /** Prints as `{"tag","value"}`. */
  | { readonly kind: 'Union'; readonly members: readonly OutputField[] }

export interface OutputField {
  readonly name: string
  readonly type: OutputType
  readonly extra?: Readonly<Record<string, unknown>>
}

/** Every DataSchema is one. */
export interface OutputSchema {
  readonly fields: readonly OutputField[]
  readonly extra?: Readonly<Record<string, unknown>>
}

/** True when ODF can say it: no unions anywhere. */
export function isOdfSchema(schema: OutputSchema): schema is DataSchema {
  return !schema.fields.some((field) => holdsUnion(field.type))
}

/** True when the type is a union or holds one. */
export function holdsUnion(type: OutputType): boolean {
  switch (type.kind) {
    case 'Union':
      return true
    case 'List':
      return holdsUnion(type.itemType)
    case 'Map':
      return holdsUnion(type.keyType) || holdsUnion(type.valueType)
    case 'Option':
      return holdsUnion(type.inner)
    case 'Struct':
      return type.fields.some((field) => holdsUnion(field.type))
    default:
      return false
  }
}

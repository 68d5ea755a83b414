// The columns of a dataset as PostgreSQL programs see them: its types for ours. Pure.

import { must } from '../../base/assert.ts'
import { type DataType, type Field, innerType, isOptional } from '../../model/schema.ts'
import type { CatalogueColumn } from './numbered.ts'
import { pgTypes, typesByOid } from './types.ts'

type Typed = Pick<CatalogueColumn, 'type' | 'modifier'>

const names: Readonly<Partial<Record<DataType['kind'], string>>> = {
  Bool: 'bool',
  Date: 'date',
  Float16: 'float4',
  Float32: 'float4',
  Float64: 'float8',
  Int8: 'int2',
  Int16: 'int2',
  Int32: 'int4',
  Int64: 'int8',
  UInt8: 'int2',
  UInt16: 'int4',
  UInt32: 'int8',
  String: 'text',
  Binary: 'bytea',
  Time: 'time',
  Timestamp: 'timestamptz',
  Duration: 'interval',
  Map: 'json',
  Struct: 'json',
}

/** A field as a column. */
export function columnOf({ name, type }: Field): CatalogueColumn {
  return { name, ...typeOf(innerType(type)), nullable: isOptional(type) }
}

function typeOf(type: DataType): Typed {
  if (type.kind === 'Decimal') return numeric(type.precision, type.scale)
  if (type.kind === 'UInt64') return numeric(20, 0)
  if (type.kind === 'List') {
    const item = typeOf(innerType(type.itemType))
    // PostgreSQL has one type for arrays of any depth.
    const { array } = item.type
    return array === 0 ? item : { ...item, type: must(typesByOid.get(array), 'a type has its array') }
  }
  return named(names[type.kind] ?? 'text')
}

function numeric(precision: number, scale: number): Typed {
  return { ...named('numeric'), modifier: ((precision << 16) | scale) + 4 }
}

function named(name: string): Typed {
  return { type: must(typesByName.get(name), 'each name has a type'), modifier: -1 }
}

const typesByName = new Map(pgTypes.map((type) => [type.name, type]))

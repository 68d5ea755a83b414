// The columns of a dataset as PostgreSQL programs see them, with the types that rows of them have. Pure.

import type { FileColumn } from '../../columnar/outputs/file-format.ts'
import { type DataType, type Field, innerType, isOptional } from '../../model/schema.ts'
import { pgTypeOf } from '../types.ts'
import type { CatalogueColumn } from './numbered.ts'

/** A field as a column. */
export function columnOf({ name, type }: Field): CatalogueColumn {
  const shown = pgTypeOf({ name, ...asAnswered(innerType(type)) })
  return { name, type: shown.type, modifier: shown.modifier, nullable: isOptional(type) }
}

/** What a column of this type is in an answer, as the engine gives it. */
function asAnswered(type: DataType): Omit<FileColumn, 'name'> {
  switch (type.kind) {
    case 'List':
    case 'Map':
    case 'Struct':
      return { type: { kind: 'String' }, means: 'json' }
    case 'Duration':
      return { type: { kind: 'String' }, means: 'value', engineType: 'INTERVAL' }
    case 'Float16':
      return { type: { kind: 'Float32' }, means: 'value' }
    case 'Timestamp':
      return { type: { timezone: 'UTC', ...type }, means: 'value' }
    case 'Null':
      return { type: { kind: 'String' }, means: 'value' }
    default:
      return { type, means: 'value' }
  }
}

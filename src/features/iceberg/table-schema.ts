// The schemas of a dataset as those of an Iceberg table. Our files have no field ids: a name mapping gives them, for every
// column of the files, also those that no Iceberg type stands for; a mapping with gaps makes readers return nulls unsaid.
// Source: https://iceberg.apache.org/spec/ (Schemas, Column Name to Field ID Mapping, Appendix A Parquet and C).

import {
  type DataSchema,
  type DataType,
  type Field,
  innerType,
  isOptional,
  typeText,
  noZone,
} from '../../libraries/model/schema.ts'

/** A type as Iceberg's JSON has it. */
type IcebergType =
  | string
  | { readonly type: 'struct'; readonly fields: readonly IcebergField[] }
  | {
      readonly type: 'list'
      readonly 'element-id': number
      readonly element: IcebergType
      readonly 'element-required': boolean
    }
  | {
      readonly type: 'map'
      readonly 'key-id': number
      readonly key: IcebergType
      readonly 'value-id': number
      readonly value: IcebergType
      readonly 'value-required': boolean
    }

interface IcebergField {
  readonly id: number
  readonly name: string
  readonly required: boolean
  readonly type: IcebergType
}

export interface IcebergSchema {
  readonly type: 'struct'
  readonly 'schema-id': number
  readonly fields: readonly IcebergField[]
}

interface MappedField {
  readonly 'field-id': number
  readonly names: readonly string[]
  readonly fields?: readonly MappedField[]
}

/** The schemas of a table, by their ids, and what holds for all of its files. */
export interface TableSchemas {
  readonly schemas: readonly IcebergSchema[]
  readonly lastColumnId: number
  readonly nameMapping: readonly MappedField[]
  /** Columns of the last schema by name. */
  readonly columns: ReadonlyMap<string, TableColumn>
  /** What is to be known of columns that not every engine reads; empty where all do. */
  readonly notes: readonly string[]
}

/** A column of the dataset, and its number in the table. */
export interface TableColumn {
  readonly id: number
  readonly type: DataType
}

/**
 * `exact`: a type says what it is. `trino`: as Trino's own reader of Parquet can take the same files: it refuses times in
 * milliseconds under types with a zone, and takes unsigned integers of 32 bits for signed ones without a word.
 */
export type SchemaForm = 'exact' | 'trino'

/** Numbers of fields by their paths, in the order in which they first appear. */
type FieldIds = Map<string, number>

/** `history`: every schema that the dataset has had, in order; each is that before with optional columns more. */
export function tableSchemas(history: readonly DataSchema[], form: SchemaForm = 'exact'): TableSchemas {
  const ids: FieldIds = new Map()
  for (const { fields } of history) for (const field of fields) numberField(ids, field, '')
  const schemas = history.map(({ fields }, number) => ({
    type: 'struct' as const,
    'schema-id': number,
    fields: icebergFields({ ids, form }, fields, ''),
  }))
  const last = history.at(-1)?.fields ?? []
  return {
    schemas,
    lastColumnId: ids.size,
    nameMapping: last.map((field) => mappedField(ids, field, '', [field.name])),
    columns: new Map(last.map(({ name, type }) => [name, { id: idAt(ids, pathOf('', name)), type: innerType(type) }])),
    notes: last.flatMap(({ name, type }) => noteOf(type, form).map((note) => `${name} (${typeText(type)}): ${note}`)),
  }
}

/** Names of columns may hold any character but controls. */
function pathOf(above: string, name: string): string {
  return `${above}\u0000${name}`
}

function idAt(ids: FieldIds, path: string): number {
  const id = ids.get(path) ?? ids.size + 1
  ids.set(path, id)
  return id
}

/** What a type holds: fields, the items of a list, the keys and values of a map. */
function innerFields(type: DataType): readonly Field[] {
  const inner = innerType(type)
  if (inner.kind === 'Struct') return inner.fields
  if (inner.kind === 'List') return [{ name: 'element', type: inner.itemType }]
  if (inner.kind !== 'Map') return []
  return [
    { name: 'key', type: inner.keyType },
    { name: 'value', type: inner.valueType },
  ]
}

function numberField(ids: FieldIds, { name, type }: Field, above: string): void {
  const path = pathOf(above, name)
  idAt(ids, path)
  for (const field of innerFields(type)) numberField(ids, field, path)
}

function mappedField(ids: FieldIds, { name, type }: Field, above: string, names: readonly string[]): MappedField {
  const path = pathOf(above, name)
  const isList = innerType(type).kind === 'List'
  // Items of lists have one of two names, by the writer of the file.
  const fields = innerFields(type).map((field) =>
    mappedField(ids, field, path, isList ? ['element', 'item'] : [field.name]),
  )
  return { 'field-id': idAt(ids, path), names, ...(fields.length > 0 && { fields }) }
}

interface SchemaMaking {
  readonly ids: FieldIds
  readonly form: SchemaForm
}

/** The fields that have a type there. */
function icebergFields(making: SchemaMaking, fields: readonly Field[], above: string): IcebergField[] {
  return fields.flatMap((field) => {
    const path = pathOf(above, field.name)
    const type = icebergType(making, field.type, path)
    if (type === undefined) return []
    return [{ id: idAt(making.ids, path), name: field.name, required: !isOptional(field.type), type }]
  })
}

/** Undefined for a type that Iceberg (format version 2) has not. */
function icebergType(making: SchemaMaking, type: DataType, path: string): IcebergType | undefined {
  const inner = innerType(type)
  switch (inner.kind) {
    case 'Struct': {
      const fields = icebergFields(making, inner.fields, path)
      return fields.length === inner.fields.length ? { type: 'struct', fields } : undefined
    }
    case 'List': {
      const [item] = icebergFields(making, innerFields(inner), path)
      return item && { type: 'list', 'element-id': item.id, element: item.type, 'element-required': item.required }
    }
    case 'Map': {
      const [key, value] = icebergFields(making, innerFields(inner), path)
      if (key === undefined || value === undefined) return undefined
      return {
        type: 'map',
        'key-id': key.id,
        key: key.type,
        'value-id': value.id,
        value: value.type,
        'value-required': value.required,
      }
    }
    default:
      return plainType(inner, making.form)
  }
}

function plainType(type: DataType, form: SchemaForm): string | undefined {
  switch (type.kind) {
    case 'Bool':
      return 'boolean'
    case 'Int8':
    case 'Int16':
    case 'Int32':
    case 'UInt8':
    case 'UInt16':
      return 'int'
    case 'Int64':
      return 'long'
    case 'UInt32':
      return form === 'trino' ? undefined : 'long'
    case 'UInt64':
      return form === 'trino' ? undefined : 'decimal(20, 0)'
    case 'Float32':
      return 'float'
    case 'Float64':
      return 'double'
    case 'String':
      return 'string'
    case 'Binary':
      return 'binary'
    case 'Date':
      return 'date'
    case 'Decimal':
      return `decimal(${type.precision}, ${type.scale})`
    case 'Time':
      return isFine(type.unit) ? 'time' : undefined
    case 'Timestamp':
      if (!isFine(type.unit)) return undefined
      if (form === 'trino' && type.unit !== 'Microsecond') return 'timestamp'
      return type.timezone === noZone ? 'timestamp' : 'timestamptz'
    default:
      return undefined
  }
}

/** Times of other units Iceberg has from format version 3 on, or not at all. */
function isFine(unit: string | undefined): boolean {
  return unit === undefined || unit === 'Millisecond' || unit === 'Microsecond'
}

/** What engines make of a type, as they were tried (docs/decisions/iceberg.md). */
function noteOf(type: DataType, form: SchemaForm): string[] {
  const inner = innerType(type)
  const [first] = innerFields(inner)
  if (first !== undefined)
    return innerFields(inner)
      .flatMap((field) => noteOf(field.type, form))
      .slice(0, 1)
  if (plainType(inner, 'exact') === undefined) return ['has no type in Iceberg and is left out']
  if (form === 'trino') return plainType(inner, form) === undefined ? ['not read by Trino and left out'] : []
  if (inner.kind === 'UInt64') return ['read by DuckDB alone']
  if (inner.kind === 'UInt32') return ['not read by Spark; PyIceberg finds no values above 2147483647 by a filter']
  if (inner.kind === 'Time') {
    return inner.unit === 'Microsecond' ? ['not read by Spark'] : ['read by DuckDB alone; PyIceberg refuses the table']
  }
  return inner.kind.startsWith('UInt') ? ['not read by Spark'] : []
}

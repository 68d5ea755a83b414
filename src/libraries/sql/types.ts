// The types of a dataset's columns as statements see them: the engine's names for ours. Pure.

import { type DataType, innerType } from '../model/schema.ts'

const simpleSqlTypes: Readonly<Partial<Record<DataType['kind'], string>>> = {
  Bool: 'BOOLEAN',
  Date: 'DATE',
  Float16: 'FLOAT',
  Float32: 'FLOAT',
  Float64: 'DOUBLE',
  Int8: 'TINYINT',
  Int16: 'SMALLINT',
  Int32: 'INTEGER',
  Int64: 'BIGINT',
  UInt8: 'UTINYINT',
  UInt16: 'USMALLINT',
  UInt32: 'UINTEGER',
  UInt64: 'UBIGINT',
  String: 'VARCHAR',
  Binary: 'BLOB',
  Timestamp: 'TIMESTAMP WITH TIME ZONE',
}

/**
 * The engine's type of a view column as DESCRIBE prints it. Undefined where the slice's own type decides (times,
 * durations, nested values, decimals beyond 38 digits, nanoseconds: no reader of ours makes them).
 */
export function sqlTypeOf(type: DataType): string | undefined {
  const inner = innerType(type)
  if (inner.kind === 'Decimal') {
    return inner.precision <= 38 ? `DECIMAL(${inner.precision},${inner.scale})` : undefined
  }
  if (inner.kind === 'Timestamp' && inner.unit === 'Nanosecond') return undefined
  return simpleSqlTypes[inner.kind]
}

/** The name of a column's type in a listing; types that no reader of ours makes have the name of the schema. */
export function sqlTypeName(type: DataType): string {
  const inner = innerType(type)
  if (inner.kind === 'List') return `${sqlTypeName(inner.itemType)}[]`
  return sqlTypeOf(inner) ?? inner.kind.toUpperCase()
}

/** `name` as an identifier in SQL. */
export function sqlName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** `text` as a literal in SQL. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

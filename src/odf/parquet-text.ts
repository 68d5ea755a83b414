// Schemas as the Parquet schema that ODF software would store them with: `schemaFormat=Parquet` (message text, as
// parquet-rs prints it) and `ParquetJson`. schema-formats.ts calls it.

import { must } from '../lib/assert.ts'
import type { DataSchema, DataType, TimeUnit } from '../model/schema.ts'

type Repetition = 'REQUIRED' | 'OPTIONAL' | 'REPEATED'

interface ParquetNode {
  readonly name: string
  readonly repetition: Repetition
  /** Physical type of a leaf. */
  readonly type?: string
  /** Bytes of a value of type FIXED_LEN_BYTE_ARRAY. */
  readonly length?: number
  /** Annotation, `DECIMAL(10,2)`. */
  readonly logical?: string
  /** Fields of a group. */
  readonly children?: readonly ParquetNode[]
}

/** `message arrow_schema {…}` and a newline. */
export function parquetText(schema: DataSchema): string {
  const lines = schema.fields.flatMap((field) => nodeLines(nodeOf(field.name, field.type), '  '))
  return ['message arrow_schema {', ...lines, '}', ''].join('\n')
}

/** `{name, type: "struct", fields: [{name, repetition, type, logicalType?}, …]}`. */
export function parquetJson(schema: DataSchema): object {
  const fields = schema.fields.map((field) => nodeJson(nodeOf(field.name, field.type)))
  return { name: 'arrow_schema', type: 'struct', fields }
}

function nodeLines(node: ParquetNode, indent: string): string[] {
  const { name, repetition, type, length, logical, children } = node
  const annotation = logical === undefined ? '' : ` (${logical})`
  if (children !== undefined) {
    const inner = children.flatMap((child) => nodeLines(child, `${indent}  `))
    return [`${indent}${repetition} group ${name}${annotation} {`, ...inner, `${indent}}`]
  }
  const size = length === undefined ? '' : ` (${length})`
  return [`${indent}${repetition} ${type}${size} ${name}${annotation};`]
}

/** Annotations of groups are left out, as deployed nodes do. */
function nodeJson(node: ParquetNode): object {
  const { name, repetition, type, length, logical, children } = node
  if (children !== undefined) return { name, type: 'struct', repetition, fields: children.map(nodeJson) }
  const physical = length === undefined ? type : `${type}(${length})`
  return { name, repetition, type: physical, ...(logical === undefined ? {} : { logicalType: logical }) }
}

function nodeOf(name: string, type: DataType): ParquetNode {
  if (type.kind === 'Option') return { ...nodeOf(name, type.inner), repetition: 'OPTIONAL' }
  const repetition = type.kind === 'Null' ? 'OPTIONAL' : 'REQUIRED'
  switch (type.kind) {
    case 'Struct':
      return { name, repetition, children: type.fields.map((field) => nodeOf(field.name, field.type)) }
    case 'List': {
      const list: ParquetNode = { name: 'list', repetition: 'REPEATED', children: [nodeOf('item', type.itemType)] }
      return { name, repetition, logical: 'LIST', children: [list] }
    }
    case 'Map': {
      const children = [nodeOf('key', type.keyType), nodeOf('value', type.valueType)]
      return { name, repetition, logical: 'MAP', children: [{ name: 'entries', repetition: 'REPEATED', children }] }
    }
    default:
      return { name, repetition, ...leafOf(type) }
  }
}

type LeafType = Exclude<DataType, { readonly kind: 'List' | 'Map' | 'Option' | 'Struct' }>
type Leaf = Pick<ParquetNode, 'type' | 'length' | 'logical'>

function leafOf(type: LeafType): Leaf {
  switch (type.kind) {
    case 'Binary':
      return type.fixedLength === undefined ? { type: 'BYTE_ARRAY' } : fixed(type.fixedLength)
    case 'Decimal':
      return { ...decimalLeaf(type.precision), logical: `DECIMAL(${type.precision},${type.scale})` }
    case 'Duration':
      return { type: 'INT64' }
    case 'Time':
      return timeLeaf(type.unit ?? 'Millisecond')
    case 'Timestamp':
      return timestampLeaf(type.unit ?? 'Millisecond')
    default:
      return must(simpleLeaves[type.kind], `a leaf of kind ${type.kind}`)
  }
}

const simpleLeaves: Readonly<Partial<Record<DataType['kind'], Leaf>>> = {
  Bool: { type: 'BOOLEAN' },
  Date: { type: 'INT32', logical: 'DATE' },
  Float16: { ...fixed(2), logical: 'FLOAT16' },
  Float32: { type: 'FLOAT' },
  Float64: { type: 'DOUBLE' },
  Int8: { type: 'INT32', logical: 'INTEGER(8,true)' },
  Int16: { type: 'INT32', logical: 'INTEGER(16,true)' },
  Int32: { type: 'INT32' },
  Int64: { type: 'INT64' },
  UInt8: { type: 'INT32', logical: 'INTEGER(8,false)' },
  UInt16: { type: 'INT32', logical: 'INTEGER(16,false)' },
  UInt32: { type: 'INT32', logical: 'INTEGER(32,false)' },
  UInt64: { type: 'INT64', logical: 'INTEGER(64,false)' },
  Null: { type: 'INT32', logical: 'UNKNOWN' },
  String: { type: 'BYTE_ARRAY', logical: 'STRING' },
}

function fixed(length: number): Leaf {
  return { type: 'FIXED_LEN_BYTE_ARRAY', length }
}

/** Deployed nodes print a decimal of one digit as INT64; measured. */
function decimalLeaf(precision: number): Leaf {
  if (precision > 18) return fixed(Math.ceil((Math.log2(10) * precision + 1) / 8))
  return { type: precision > 1 && precision <= 9 ? 'INT32' : 'INT64' }
}

const unitNames = { Millisecond: 'MILLIS', Microsecond: 'MICROS', Nanosecond: 'NANOS' } as const

/** Parquet has no times in seconds: they are bare integers. */
function timeLeaf(unit: TimeUnit): Leaf {
  if (unit === 'Second') return { type: 'INT32' }
  return { type: unit === 'Millisecond' ? 'INT32' : 'INT64', logical: `TIME(${unitNames[unit]},false)` }
}

function timestampLeaf(unit: TimeUnit): Leaf {
  return unit === 'Second' ? { type: 'INT64' } : { type: 'INT64', logical: `TIMESTAMP(${unitNames[unit]},true)` }
}

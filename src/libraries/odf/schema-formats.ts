// The `schema` member of answers in each of its formats: the JSON and YAML of ODF, the JSON of an Arrow schema, and the
// Parquet schema that ODF software would store the columns with. The one place where /query, /tail and /metadata spell
// schemas; the texts are those of deployed nodes (arrow-rs, parquet-rs, serde_yaml).

import { defined } from '../base/collections.ts'
import { canonicalBytes } from '../base/json/canonical.ts'
import { fromPlain } from '../base/json/json.ts'
import { must } from '../base/assert.ts'
import { NodeError } from '../base/errors.ts'
import { JsonNumber, type JsonValue } from '../base/json/value.ts'
import type { SchemaFormat } from '../model/query.ts'
import {
  type DataSchema,
  type DataType,
  type OutputSchema,
  type OutputType,
  type TimeUnit,
  noZone,
} from '../model/schema.ts'
import { schemaToJson } from './odf-json.ts'

/**
 * Canonical JSON of a schema in a format: an object, or a string for OdfYaml and Parquet. Throws NodeError
 * `QueryNotAllowed` for a union where the format has none (all but ArrowJson).
 */
export function schemaBytes(schema: OutputSchema, format: SchemaFormat): Uint8Array {
  return canonicalBytes(schemaValue(schema, format))
}

function schemaValue(schema: OutputSchema, format: SchemaFormat): JsonValue {
  if (format === 'ArrowJson') return fromPlain(arrowJsonSchema(schema))
  // ODF has one kind of timestamps.
  const said = format === 'OdfJson' || format === 'OdfYaml' ? withoutLocalTimes(schema) : schema
  if (!isOdfSchema(said)) throw withoutUnions(said, format)
  switch (format) {
    case 'OdfJson':
      return schemaToJson(said)
    case 'OdfYaml':
      return yamlText(schemaToJson(said))
    case 'Parquet':
      return parquetText(said)
    case 'ParquetJson':
      return fromPlain(parquetJson(said))
  }
}

/** The schema with times that have no zone said as those of ODF are. */
function withoutLocalTimes({ fields }: OutputSchema): OutputSchema {
  return { fields: fields.map(withoutLocal) }
}

function withoutLocal<T extends { readonly type: OutputType }>(field: T): T {
  return { ...field, type: withoutLocalTime(field.type) }
}

function withoutLocalTime(type: OutputType): OutputType {
  switch (type.kind) {
    case 'Timestamp':
      return type.timezone === noZone ? { kind: type.kind, ...(type.unit && { unit: type.unit }) } : type
    case 'List':
      return { ...type, itemType: withoutLocalTime(type.itemType) }
    case 'Map':
      return { ...type, keyType: withoutLocalTime(type.keyType), valueType: withoutLocalTime(type.valueType) }
    case 'Option':
      return { ...type, inner: withoutLocalTime(type.inner) }
    case 'Struct':
      return { ...type, fields: type.fields.map(withoutLocal) }
    case 'Union':
      return { ...type, members: type.members.map(withoutLocal) }
    default:
      return type
  }
}

/** True when ODF can say it: no unions anywhere. */
function isOdfSchema(schema: OutputSchema): schema is DataSchema {
  return !schema.fields.some((field) => holdsUnion(field.type))
}

/** True when the type is a union or holds one. */
function holdsUnion(type: OutputType): boolean {
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

function withoutUnions(schema: OutputSchema, format: SchemaFormat): NodeError {
  const name = schema.fields.find((field) => holdsUnion(field.type))?.name ?? ''
  return new NodeError(
    'QueryNotAllowed',
    `The column '${name.slice(0, 200)}' holds a union, which ${format} has no word for.`,
    { hint: 'Ask for the schema as ArrowJson, or cast the column.' },
  )
}

/** `{fields: [{data_type, dict_id, dict_is_ordered, metadata, name, nullable}], metadata}`. */
function arrowJsonSchema(schema: OutputSchema): object {
  return { fields: schema.fields.map((field) => arrowJsonField(field.name, field.type)), metadata: {} }
}

function arrowJsonField(name: string, type: OutputType): object {
  return {
    data_type: arrowJsonType(type),
    dict_id: 0,
    dict_is_ordered: false,
    metadata: {},
    name,
    nullable: type.kind === 'Option',
  }
}

function arrowJsonType(type: OutputType): unknown {
  switch (type.kind) {
    case 'Bool':
      return 'Boolean'
    case 'String':
      return 'Utf8'
    case 'Date':
      return 'Date32'
    case 'Binary':
      return type.fixedLength === undefined ? 'Binary' : { FixedSizeBinary: type.fixedLength }
    case 'Decimal':
      return { [type.precision <= 38 ? 'Decimal128' : 'Decimal256']: [type.precision, type.scale] }
    case 'Timestamp':
      return { Timestamp: [type.unit ?? 'Millisecond', type.timezone === noZone ? null : (type.timezone ?? 'UTC')] }
    case 'Time':
      return { [isShort(type.unit) ? 'Time32' : 'Time64']: type.unit ?? 'Millisecond' }
    case 'Duration':
      return { Duration: type.unit ?? 'Millisecond' }
    case 'List':
      return type.fixedLength === undefined
        ? { List: arrowJsonField('item', type.itemType) }
        : { FixedSizeList: [arrowJsonField('item', type.itemType), type.fixedLength] }
    case 'Map':
      return {
        Map: [
          arrowJsonField('entries', {
            kind: 'Struct',
            fields: [
              { name: 'key', type: type.keyType },
              { name: 'value', type: type.valueType },
            ],
          }),
          type.keysSorted ?? false,
        ],
      }
    case 'Struct':
      return { Struct: type.fields.map((field) => arrowJsonField(field.name, field.type)) }
    case 'Union':
      // Each member with its number in the union.
      return {
        Union: [type.members.map((member, number) => [number, arrowJsonField(member.name, member.type)]), 'Sparse'],
      }
    case 'Option':
      return arrowJsonType(type.inner)
    default:
      return type.kind
  }
}

/** Units whose times of day take 32 bits. */
function isShort(unit: TimeUnit = 'Millisecond'): boolean {
  return unit === 'Second' || unit === 'Millisecond'
}

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
function parquetText(schema: DataSchema): string {
  const lines = schema.fields.flatMap((field) => nodeLines(nodeOf(field.name, field.type), '  '))
  return ['message arrow_schema {', ...lines, '}', ''].join('\n')
}

/** `{name, type: "struct", fields: [{name, repetition, type, logicalType?}, …]}`. */
function parquetJson(schema: DataSchema): object {
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
  return { name, repetition, type: physical, ...defined({ logicalType: logical }) }
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
      return timestampLeaf(type.unit ?? 'Millisecond', type.timezone !== noZone)
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

function timestampLeaf(unit: TimeUnit, isInstant: boolean): Leaf {
  return unit === 'Second'
    ? { type: 'INT64' }
    : { type: 'INT64', logical: `TIMESTAMP(${unitNames[unit]},${isInstant})` }
}

/** The value as a YAML document that ends with a newline. */
export function yamlText(value: JsonValue): string {
  return `${blockLines(value).join('\n')}\n`
}

/** Lines of a value that starts in the first column of its block. */
function blockLines(value: JsonValue): string[] {
  if (Array.isArray(value) && value.length > 0) {
    return value.flatMap((item) => blockLines(item).map((line, index) => (index === 0 ? `- ${line}` : `  ${line}`)))
  }
  if (value instanceof Map && value.size > 0) {
    return [...value].flatMap(([name, member]) => memberLines(scalarText(name), member))
  }
  return [flowText(value)]
}

function memberLines(name: string, member: JsonValue): string[] {
  if (Array.isArray(member) && member.length > 0) return [`${name}:`, ...blockLines(member)]
  if (member instanceof Map && member.size > 0) return [`${name}:`, ...blockLines(member).map((line) => `  ${line}`)]
  return [`${name}: ${flowText(member)}`]
}

/** A value on one line: scalars and empty collections. */
function flowText(value: JsonValue): string {
  if (Array.isArray(value)) return '[]'
  if (value instanceof Map) return '{}'
  if (value instanceof JsonNumber) return value.token
  return typeof value === 'string' ? scalarText(value) : String(value)
}

/** Text that a YAML reader (1.1 or 1.2) would take for null, a boolean, a number or a merge key. */
const otherType =
  /^(|~|[-+]?[._]+|null|y|yes|n|no|true|false|on|off|[-+]?\.?\d[\d_.,:xobe+a-f-]*|[-+]?\.(inf|nan)|<<|=)$/i
/** Starts that mean something to YAML, dashes and colons before a space included. */
const indicatorFirst = /^([#,[\]{}&*!|>'"%@`]|[-?:](\s|$)|---|\.\.\.)/
const indicatorInside = /:(\s|$)|\s#/
/** Control characters, byte order marks, line and paragraph separators, halves of surrogate pairs. */
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029\ufeff\ufffe\uffff]/u

/** Plain, else in single quotes, else in double quotes with escapes. */
function scalarText(text: string): string {
  if (unprintable.test(text)) {
    return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, (unit) => {
      return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
    })
  }
  const plain =
    !otherType.test(text) && !indicatorFirst.test(text) && !indicatorInside.test(text) && text.trim() === text
  return plain ? text : `'${text.replaceAll("'", "''")}'`
}

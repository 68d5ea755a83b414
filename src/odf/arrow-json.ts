// Schemas in the JSON of an Arrow schema, as deployed nodes print it (arrow-rs serialisation): `schemaFormat=ArrowJson`.
// schema-formats.ts calls it.

import type { OutputField, OutputSchema, OutputType } from '../model/output-schema.ts'
import type { TimeUnit } from '../model/schema.ts'

type ArrowJsonType = string | { readonly [kind: string]: unknown }

/** `{fields: [{data_type, dict_id, dict_is_ordered, metadata, name, nullable}], metadata}`. */
export function arrowJsonSchema(schema: OutputSchema): object {
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

function arrowJsonType(type: OutputType): ArrowJsonType {
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
      return { Timestamp: [type.unit ?? 'Millisecond', type.timezone ?? 'UTC'] }
    case 'Time':
      return timeType(type.unit ?? 'Millisecond')
    case 'Duration':
      return { Duration: type.unit ?? 'Millisecond' }
    case 'List':
      return type.fixedLength === undefined
        ? { List: arrowJsonField('item', type.itemType) }
        : { FixedSizeList: [arrowJsonField('item', type.itemType), type.fixedLength] }
    case 'Map':
      return mapType(type.keyType, type.valueType, type.keysSorted ?? false)
    case 'Struct':
      return { Struct: type.fields.map((field) => arrowJsonField(field.name, field.type)) }
    case 'Union':
      return unionType(type.members)
    case 'Option':
      return arrowJsonType(type.inner)
    default:
      return type.kind
  }
}

function timeType(unit: TimeUnit): ArrowJsonType {
  return { [unit === 'Second' || unit === 'Millisecond' ? 'Time32' : 'Time64']: unit }
}

function mapType(key: OutputType, value: OutputType, keysSorted: boolean): ArrowJsonType {
  const fields = [
    { name: 'key', type: key },
    { name: 'value', type: value },
  ]
  return { Map: [arrowJsonField('entries', { kind: 'Struct', fields }), keysSorted] }
}

/** Each member with its number in the union. */
function unionType(members: readonly OutputField[]): ArrowJsonType {
  return { Union: [members.map((member, number) => [number, arrowJsonField(member.name, member.type)]), 'Sparse'] }
}

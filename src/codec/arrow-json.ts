// ODF schemas in the JSON of an Arrow schema, as deployed nodes print it (arrow-rs serialisation): `schemaFormat=ArrowJson`.

import type { DataSchema, DataType, TimeUnit } from '../model/schema.ts'

type ArrowJsonType = string | { readonly [kind: string]: unknown }

/** `{fields: [{data_type, dict_id, dict_is_ordered, metadata, name, nullable}], metadata}`, keys sorted. */
export function arrowJsonSchema(schema: DataSchema): object {
  return { fields: schema.fields.map((field) => arrowJsonField(field.name, field.type)), metadata: {} }
}

function arrowJsonField(name: string, type: DataType): object {
  const nullable = type.kind === 'Option'
  return { data_type: arrowJsonType(nullable ? type.inner : type), dict_id: 0, dict_is_ordered: false, metadata: {}, name, nullable }
}

function arrowJsonType(type: DataType): ArrowJsonType {
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
    case 'Option':
      return arrowJsonType(type.inner)
    default:
      return type.kind
  }
}

function timeType(unit: TimeUnit): ArrowJsonType {
  return { [unit === 'Second' || unit === 'Millisecond' ? 'Time32' : 'Time64']: unit }
}

function mapType(key: DataType, value: DataType, keysSorted: boolean): ArrowJsonType {
  const entries = { kind: 'Struct', fields: [{ name: 'key', type: key }, { name: 'value', type: value }] } as const
  return { Map: [arrowJsonField('entries', entries), keysSorted] }
}

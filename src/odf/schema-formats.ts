// The `schema` member of answers in each of its formats: the one place where /query, /tail and /metadata spell schemas.

import { canonicalBytes } from '../json/canonical.ts'
import { fromPlain } from '../json/json.ts'
import { NodeError } from '../model/errors.ts'
import type { JsonValue } from '../model/json.ts'
import { holdsUnion, isOdfSchema, type OutputSchema } from '../model/output-schema.ts'
import type { SchemaFormat } from '../model/query.ts'
import type { DataSchema } from '../model/schema.ts'
import { arrowJsonSchema } from './arrow-json.ts'
import { schemaToJson } from './odf-json.ts'
import { parquetJson, parquetText } from './parquet-text.ts'
import { yamlText } from './yaml.ts'

/**
 * Canonical JSON of a schema in a format: an object, or a string for OdfYaml and Parquet. Throws NodeError
 * `QueryNotAllowed` for a union where the format has none (all but ArrowJson).
 */
export function schemaBytes(schema: OutputSchema, format: SchemaFormat): Uint8Array {
  return canonicalBytes(schemaValue(schema, format))
}

function schemaValue(schema: OutputSchema, format: SchemaFormat): JsonValue {
  if (format === 'ArrowJson') return fromPlain(arrowJsonSchema(schema))
  if (!isOdfSchema(schema)) throw withoutUnions(schema, format)
  return odfSchemaValue(schema, format)
}

function odfSchemaValue(schema: DataSchema, format: Exclude<SchemaFormat, 'ArrowJson'>): JsonValue {
  switch (format) {
    case 'OdfJson':
      return schemaToJson(schema)
    case 'OdfYaml':
      return yamlText(schemaToJson(schema))
    case 'Parquet':
      return parquetText(schema)
    case 'ParquetJson':
      return fromPlain(parquetJson(schema))
  }
}

function withoutUnions(schema: OutputSchema, format: SchemaFormat): NodeError {
  const name = schema.fields.find((field) => holdsUnion(field.type))?.name ?? ''
  return new NodeError(
    'QueryNotAllowed',
    `The column '${name.slice(0, 200)}' holds a union, which ${format} has no word for.`,
    {
      hint: 'Ask for the schema as ArrowJson, or cast the column.',
    },
  )
}

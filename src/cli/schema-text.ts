// Arrow schemas in JSON, as nodes answer them, in words for a person.

import { JsonNumber, type JsonValue } from '../index.ts'
import { memberAt, textAt } from './json-values.ts'

/** `{name: type}` of the fields of a schema, types in short. */
export function columnTypes(fields: readonly JsonValue[]): Map<string, string> {
  return new Map(fields.map((field) => [textAt(field, 'name') ?? '', typeText(field)]))
}

/** `Utf8?`, `Timestamp(Millisecond, UTC)`; the question mark: may be null. */
function typeText(field: JsonValue): string {
  const type = memberAt(field, 'data_type')
  const optional = memberAt(field, 'nullable') === true ? '?' : ''
  if (typeof type === 'string') return type + optional
  const [name, value]: readonly [string, JsonValue] = type instanceof Map ? ([...type][0] ?? ['', null]) : ['', null]
  return `${name}(${(Array.isArray(value) ? value : [value]).map(partText).join(', ')})${optional}`
}

function partText(part: JsonValue): string {
  if (typeof part === 'string') return part
  return part instanceof JsonNumber ? part.token : '…'
}

// Members of a node's answers, whose number tokens are kept; objects for output; Arrow schemas in words for a person.

import { JsonNumber, type JsonObject, type JsonValue } from './value.ts'

/** The member at a path of names, or undefined where there is none. */
export function memberAt(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  let at = value
  for (const name of path) {
    if (!(at instanceof Map)) return undefined
    at = at.get(name)
  }
  return at
}

export function textAt(value: JsonValue | undefined, ...path: readonly string[]): string | undefined {
  const found = memberAt(value, ...path)
  return typeof found === 'string' ? found : undefined
}

export function numberAt(value: JsonValue | undefined, ...path: readonly string[]): number | undefined {
  const found = memberAt(value, ...path)
  return found instanceof JsonNumber ? Number(found.token) : undefined
}

/** The items of an array; none where there is no array. */
export function itemsAt(value: JsonValue | undefined, ...path: readonly string[]): readonly JsonValue[] {
  const found = memberAt(value, ...path)
  return Array.isArray(found) ? found : []
}

/** The texts among the items of an array. */
export function textsAt(value: JsonValue | undefined, ...path: readonly string[]): readonly string[] {
  return itemsAt(value, ...path).filter((item) => typeof item === 'string')
}

/** An object of the members that are present. */
export function objectOf(members: Readonly<Record<string, JsonValue | number | undefined>>): JsonObject {
  const object: JsonObject = new Map()
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) object.set(name, typeof value === 'number' ? new JsonNumber(String(value)) : value)
  }
  return object
}

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

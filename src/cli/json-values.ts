// Reading members of parsed answers whose number tokens are kept.

import { JsonNumber, type JsonObject, type JsonValue } from '../index.ts'

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

/** An object of the members that are present. */
export function objectOf(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const object: JsonObject = new Map()
  for (const [name, value] of Object.entries(members)) if (value !== undefined) object.set(name, value)
  return object
}

export function numberOf(value: number): JsonNumber {
  return new JsonNumber(String(value))
}

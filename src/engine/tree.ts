// Reading the engine's serialised syntax tree (JSON of json_serialize_sql) member by member. Numbers stay tokens: the
// tree holds 2^64-1 and halves of 128-bit constants, which a double would spoil.

import { JsonNumber, type JsonObject, type JsonValue } from '../model/json.ts'

/** What the engine writes for "no place". */
export const nowhere = '18446744073709551615'

/** The object at `name`, or undefined. */
export function child(node: JsonObject, name: string): JsonObject | undefined {
  const value = node.get(name)
  return value instanceof Map ? value : undefined
}

/** The list at `name`; empty when it is none. */
export function list(node: JsonObject, name: string): JsonValue[] {
  const value = node.get(name)
  return Array.isArray(value) ? value : []
}

/** The text at `name`; empty when it is none. */
export function text(node: JsonObject, name: string): string {
  const value = node.get(name)
  return typeof value === 'string' ? value : ''
}

/** True when `name` holds anything but null. */
export function present(node: JsonObject, name: string): boolean {
  const value = node.get(name)
  return value !== undefined && value !== null
}

/** Byte offset of the node in the statement; undefined where the engine gives none (it then writes 2^64-1). */
export function location(node: JsonObject): number | undefined {
  const value = node.get('query_location')
  if (!(value instanceof JsonNumber)) return undefined
  const offset = Number(value.token)
  return Number.isSafeInteger(offset) ? offset : undefined
}

// Reading and building the engine's serialised syntax tree (JSON of json_serialize_sql). Numbers stay tokens: the tree
// holds 2^64-1 and halves of 128-bit constants, which a double would spoil. Pure.

import { JsonNumber, type JsonObject, type JsonValue } from '../base/json/value.ts'
import { foldAscii } from '../model/names.ts'

/** What the engine writes for "no place". */
export const nowhere = '18446744073709551615'

/** The object at `name`, or undefined. */
export function child(node: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = node?.get(name)
  return value instanceof Map ? value : undefined
}

/** The list at `name`; empty when it is none. */
export function list(node: JsonObject | undefined, name: string): JsonValue[] {
  const value = node?.get(name)
  return Array.isArray(value) ? value : []
}

/** The objects of the list at `name`. */
export function objects(node: JsonObject | undefined, name: string): JsonObject[] {
  return list(node, name).filter((item) => item instanceof Map)
}

/** The text at `name`; empty when it is none. */
export function text(node: JsonObject | undefined, name: string): string {
  const value = node?.get(name)
  return typeof value === 'string' ? value : ''
}

/** The name of a called function, in ASCII lower case. */
export function functionName(call: JsonObject | undefined): string {
  return foldAscii(text(call, 'function_name'))
}

/** Parts of the name of a table: catalog, schema, table, those that are there. */
export function tableParts(table: JsonObject): string[] {
  return ['catalog_name', 'schema_name', 'table_name'].map((name) => text(table, name)).filter(Boolean)
}

/** True when `name` holds anything but null. */
export function present(node: JsonObject, name: string): boolean {
  return (node.get(name) ?? null) !== null
}

/** True for an expression of this class. */
export function isClass(value: JsonValue | undefined, name: string): value is JsonObject {
  return value instanceof Map && text(value, 'class') === name
}

/** True for a star that is neither narrowed nor changed. */
export function isWholeStar(star: JsonObject): boolean {
  const lists = ['exclude_list', 'replace_list', 'rename_list', 'qualified_exclude_list']
  return lists.every((name) => list(star, name).length === 0) && !present(star, 'expr')
}

/** True when a node of the tree passes. Nodes that are not entered are looked at, but not what is below them. */
export function holds(
  value: JsonValue,
  passes: (node: JsonObject) => boolean,
  enters: (node: JsonObject) => boolean = () => true,
): boolean {
  if (Array.isArray(value)) return value.some((item) => holds(item, passes, enters))
  if (!(value instanceof Map)) return false
  if (passes(value)) return true
  if (!enters(value)) return false
  for (const member of value.values()) if (holds(member, passes, enters)) return true
  return false
}

/** As `holds`, for an expression itself: subqueries are not entered. */
export function holdsHere(value: JsonValue, passes: (node: JsonObject) => boolean): boolean {
  return holds(value, passes, (node) => text(node, 'class') !== 'SUBQUERY')
}

/** Byte offset of the node in the statement; undefined where the engine gives none (it then writes 2^64-1). */
export function location(node: JsonObject): number | undefined {
  const value = node.get('query_location')
  if (!(value instanceof JsonNumber)) return undefined
  const offset = Number(value.token)
  return Number.isSafeInteger(offset) ? offset : undefined
}

/** A text that is the same for trees that say the same: without the members `ignored`, each node in its `form`. */
export function treeText(
  value: JsonValue,
  ignored: readonly string[],
  form: (node: JsonObject) => JsonObject = (node) => node,
): string {
  if (value instanceof JsonNumber) return value.token
  if (Array.isArray(value)) return `[${value.map((item) => treeText(item, ignored, form)).join(',')}]`
  if (!(value instanceof Map)) return JSON.stringify(value)
  const members: string[] = []
  for (const [name, member] of form(value)) {
    if (!ignored.includes(name)) members.push(`${JSON.stringify(name)}:${treeText(member, ignored, form)}`)
  }
  return `{${members.sort().join(',')}}`
}

/** A node with these members, in this order. */
export function nodeOf(members: Readonly<Record<string, JsonValue>>): JsonObject {
  return new Map(Object.entries(members))
}

/** A column by its name in parts. */
export function columnRef(parts: readonly string[]): JsonObject {
  const place = new JsonNumber(nowhere)
  return nodeOf({ class: 'COLUMN_REF', type: 'COLUMN_REF', alias: '', query_location: place, column_names: [...parts] })
}

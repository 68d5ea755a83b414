// JSON that nests very deep overflows the engine's stack in a few of its functions, and the process dies with all that
// it does for others. Their arguments are wrapped, in the tree that runs, in a check of the nesting. Pure.

import type { JsonObject, JsonValue } from '../model/json.ts'
import { foldAscii } from '../model/names.ts'
import { child, list, text } from './tree.ts'

/** Deeper than any record that a node takes (limits.jsonDepth), and far from the end of any stack. */
export const jsonDepth = 100

/** Functions that walk a JSON text with one call of themselves per level. */
export const recursiveJsonFunctions: ReadonlySet<string> = new Set([
  'json_contains',
  'json_group_structure',
  'json_merge_patch',
  'json_structure',
])

/** Functions that walk the description of a structure, their second argument, in the same way. */
export const structuredJsonFunctions: ReadonlySet<string> = new Set([
  'from_json',
  'from_json_strict',
  'json_transform',
  'json_transform_strict',
])

/** What the failing cast of the check holds; sql-errors.ts makes it the caller's error. */
export const tooDeepJson = `JSON that is malformed or nests deeper than ${jsonDepth} levels`

const placeholder = 'the json'
const string = String.raw`"(?:[^"\\]|\\[\s\S])*"`
const plain = `(?:[^][{}"]|${string}`

/**
 * The check as an expression: a regular expression of so many levels, which the engine matches without a stack. The
 * lambda evaluates the argument once; the functions see what was checked and nothing else, in its own type.
 */
const checkText =
  `list_transform(["${placeholder}"], lambda j: CASE WHEN CAST(CASE WHEN NOT regexp_full_match(CAST(j AS VARCHAR), ` +
  `repeat('${plain}|[[{]', ${jsonDepth}) || '${plain})*' || repeat('[]}])*', ${jsonDepth})) ` +
  `THEN '${tooDeepJson}' ELSE '1' END AS INTEGER) = 1 THEN j END)[1]`

/** A statement whose one column is the check, for the engine to parse. */
export const jsonCheckStatement = `SELECT ${checkText}`

/** The call with its arguments checked; `check` is the parsed column of `jsonCheckStatement`. */
export function withCheckedJson(call: JsonObject, check: JsonObject): JsonObject {
  const children = list(call, 'children').map((argument) => filled(check, argument))
  return new Map(call).set('children', children)
}

export function isRecursiveJson(node: JsonObject): boolean {
  const kind = text(node, 'class')
  return (
    (kind === 'FUNCTION' || kind === 'WINDOW') && recursiveJsonFunctions.has(foldAscii(text(node, 'function_name')))
  )
}

function filled(value: JsonValue, argument: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => filled(item, argument))
  if (!(value instanceof Map)) return value
  if (text(value, 'class') === 'COLUMN_REF' && list(value, 'column_names')[0] === placeholder) return argument
  return new Map([...value].map(([name, member]) => [name, filled(member, argument)]))
}

/** True for a text constant, or a cast of one, whose brackets nest no deeper than a type may. */
export function isPlainStructure(argument: JsonValue | undefined): boolean {
  if (!(argument instanceof Map)) return false
  const constant = text(argument, 'class') === 'CAST' ? child(argument, 'child') : argument
  const value = constant === undefined ? undefined : child(constant, 'value')?.get('value')
  if (constant === undefined || text(constant, 'class') !== 'CONSTANT' || typeof value !== 'string') return false
  let depth = 0
  let deepest = 0
  for (const character of value) {
    if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth)
    else if (character === ']' || character === '}') depth--
  }
  return deepest <= jsonDepth
}

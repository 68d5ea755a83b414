// Extra attributes of ODF metadata: a JSON object inside a string. Written compact with keys sorted at every level, so
// that equal attributes are equal bytes. Number tokens that a double would change stay JsonNumber.
// Source: Open Data Fabric specification, ExtraAttributes.

import { compareCodePoints } from '../json/canonical.ts'
import { fromPlain, jsonText, parseJson } from '../json/json.ts'
import { DecodeError } from '../model/errors.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../model/json.ts'

/** Extra attributes, whatever JSON they are; numbers that JavaScript cannot hold exactly are JsonNumber. */
export type ExtraAttributes = Readonly<Record<string, unknown>>

/** The stored text of `attributes`: compact, keys sorted by code points. Members that are undefined are left out. */
export function extraText(attributes: ExtraAttributes): string {
  return jsonText(extraToJson(attributes))
}

/** `attributes` as a JSON value with its keys in stored order. */
export function extraToJson(attributes: ExtraAttributes): JsonValue {
  return sorted(fromPlain(attributes))
}

/** Reads stored attributes. Throws DecodeError unless `text` is one JSON object without duplicate members. */
export function parseExtra(text: string): ExtraAttributes {
  const value = parseJson(text)
  if (!(value instanceof Map)) throw new DecodeError('extra attributes', 'are not a JSON object')
  return extraFromJson(value)
}

/** Ordinary values for a parsed object. */
export function extraFromJson(value: JsonObject): ExtraAttributes {
  return Object.fromEntries([...value].map(([name, member]) => [name, plain(member)]))
}

function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) {
    const number = Number(value.token)
    return String(number) === value.token ? number : value
  }
  if (Array.isArray(value)) return value.map(plain)
  return value instanceof Map ? extraFromJson(value) : value
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted)
  if (!(value instanceof Map)) return value
  const members = [...value].toSorted(([a], [b]) => compareCodePoints(a, b))
  return new Map(members.map(([name, member]) => [name, sorted(member)]))
}

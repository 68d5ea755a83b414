// Token-preserving JSON: bytes to the value model of libraries/base/json/value.ts and back. Number tokens are never turned into
// doubles, members keep their order. `toPlain` and `fromPlain` go to ordinary values, off the proof paths only.

import { assert } from '../assert.ts'
import { decodeUtf8 } from '../bytes.ts'
import { DecodeError } from '../errors.ts'
import { JsonNumber, type JsonObject, type JsonValue } from './value.ts'
import { firstInvalidUtf8, JsonError, type JsonOptions, parseJsonText, positionAt } from './parser.ts'

/**
 * Parses one JSON text, UTF-8 bytes or a string. Refuses a BOM, invalid UTF-8, lone surrogates (raw or escaped),
 * anything after the value, and duplicate members unless told otherwise. Throws JsonError.
 */
export function parseJson(source: Uint8Array | string, options: JsonOptions = {}): JsonValue {
  if (typeof source !== 'string') return parseJsonText(decodeBytes(source), options)
  const lone = source.search(loneSurrogate)
  if (lone >= 0) throw new JsonError('surrogate', 'holds a lone surrogate', positionAt(source, lone))
  return parseJsonText(source, options)
}

const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

function decodeBytes(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch {
    const offset = firstInvalidUtf8(bytes)
    const before = decodeUtf8(bytes.subarray(0, offset))
    throw new JsonError('utf8', 'is not valid UTF-8', positionAt(before, before.length))
  }
}

/** The value as JSON text without white space: members in their order, tokens verbatim, strings in raw Unicode. */
export function jsonText(value: JsonValue): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (value instanceof JsonNumber) return value.token
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`
  const members: string[] = []
  for (const [name, member] of value) members.push(`${JSON.stringify(name)}:${jsonText(member)}`)
  return `{${members.join(',')}}`
}

/** What `toPlain` makes: ordinary values; bigint only where asked for. */
export type PlainJson = null | boolean | number | bigint | string | PlainJson[] | { [name: string]: PlainJson }

export interface PlainOptions {
  /** An integer token beyond ±(2^53-1): `reject` (default) throws, `bigint` keeps it exact. */
  readonly largeIntegers?: 'reject' | 'bigint'
}

/**
 * Ordinary values: numbers for number tokens, objects for objects (`__proto__` is a member like any other).
 * Tokens with fraction or exponent become the nearest double. Throws DecodeError for a number beyond a double, and
 * for large integers unless told otherwise.
 */
export function toPlain(value: JsonValue, options: PlainOptions = {}): PlainJson {
  if (value instanceof JsonNumber) return plainNumber(value.token, options)
  if (Array.isArray(value)) return value.map((item) => toPlain(item, options))
  if (value instanceof Map) {
    const object: { [name: string]: PlainJson } = {}
    for (const [name, member] of value) setMember(object, name, toPlain(member, options))
    return object
  }
  return value
}

function plainNumber(token: string, options: PlainOptions): number | bigint {
  const number = Number(token)
  if (Number.isSafeInteger(number)) return number === 0 ? 0 : number
  if (/^-?\d+$/.test(token)) {
    if (options.largeIntegers === 'bigint') return BigInt(token)
    throw new DecodeError('JSON', `the integer ${excerpt(token)} is beyond ±(2^53-1)`)
  }
  if (!Number.isFinite(number)) throw new DecodeError('JSON', `the number ${excerpt(token)} is beyond a double`)
  return number
}

function excerpt(token: string): string {
  return token.length <= 40 ? token : `${token.slice(0, 40)}…`
}

function setMember(object: { [name: string]: PlainJson }, name: string, value: PlainJson): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  } else {
    object[name] = value
  }
}

/**
 * The value model of an ordinary value: null, booleans, strings, finite numbers, bigints, arrays, plain objects.
 * JsonNumber and Map pass as they are. Members that are undefined are left out. -0 becomes 0.
 * Anything else is a programmer's error.
 */
export function fromPlain(value: unknown): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    assert(Number.isFinite(value), 'JSON has no NaN and no infinities')
    return new JsonNumber(String(value))
  }
  if (typeof value === 'bigint') return new JsonNumber(String(value))
  if (value instanceof JsonNumber) return value
  if (Array.isArray(value)) return value.map(fromPlain)
  const members: JsonObject = new Map()
  if (value instanceof Map) {
    for (const [name, member] of value) {
      assert(typeof name === 'string', 'names of JSON members are strings')
      members.set(name, fromPlain(member))
    }
    return members
  }
  assert(isPlainObject(value), `a ${typeof value} is not a JSON value`)
  for (const [name, member] of Object.entries(value)) if (member !== undefined) members.set(name, fromPlain(member))
  return members
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

// Values for the parameters of a statement (`$1`, `$name`), as they are sent, signed and bound (docs/spec/http.md §4).
// A value keeps its text: the type follows from the JSON token, no number passes through a double. Pure.

import { similarNames } from '../base/compare.ts'
import { type ErrorDetails, NodeError, type TextPosition } from '../base/errors.ts'
import { JsonNumber, type JsonValue } from '../base/json/value.ts'
import { foldAscii } from './names.ts'

/** A constant of a known type. Plain data: it is copied between threads and processes. */
export interface Parameter {
  /** As given, without `$`; the values of a list are `1`, `2`, … */
  readonly name: string
  /** The engine's type. */
  readonly type: 'BIGINT' | 'HUGEINT' | 'DOUBLE' | 'VARCHAR' | 'BOOLEAN' | 'NULL'
  /** The text, or the JSON token: `9007199254740993`, `1.50`, `true`, `null`. */
  readonly text: string
}

/** What a request gives, in its own form: `["Oslo", 3]` or `{"city": "Oslo"}`. */
export interface Parameters {
  readonly form: 'list' | 'object'
  readonly values: readonly Parameter[]
}

/** A parameter that a statement has. */
export interface ParameterName {
  /** In ASCII lower case, as the engine compares them. */
  readonly name: string
  /** Its first place. */
  readonly position?: TextPosition
}

/** Values of one request. */
export const maxParameters = 1000

const bigintBits = 64
const hugeintBits = 128
/** No integer of 128 bits has more digits; longer tokens are not read as integers at all. */
const mostDigits = 40

/**
 * Parameters as JSON gives them, number tokens kept. Throws NodeError `InvalidParameter` for anything but a list or an
 * object of text, numbers, booleans and null, for names that differ in case alone, and for numbers beyond their type.
 */
export function readParameters(value: JsonValue): Parameters {
  const form = Array.isArray(value) ? 'list' : 'object'
  if (!Array.isArray(value) && !(value instanceof Map)) {
    throw refused(
      'parameters is neither a list nor an object.',
      'Send ["Oslo", 3] for $1, $2 or {"city": "Oslo"} for $city.',
    )
  }
  const members = Array.isArray(value) ? value.map((member, index) => [String(index + 1), member] as const) : [...value]
  if (members.length > maxParameters) throw refused(`parameters has more than ${maxParameters} values.`)
  return distinct({ form, values: members.map(([name, member]) => parameterOf(name, member)) })
}

/**
 * Parameters of a query string, all text: `1`, `2`, … make a list, other names an object. Throws NodeError
 * `InvalidParameter`.
 */
export function textParameters(members: ReadonlyMap<string, string>): Parameters {
  return namedParameters(members)
}

/**
 * Values that an address gives over those that count without it (`defaults`): a text is read as the type that the default of
 * its name has. Undefined where there are none. Throws NodeError `InvalidParameter`.
 */
export function parametersOver(
  defaults: readonly Parameter[],
  given: ReadonlyMap<string, string>,
): Parameters | undefined {
  const members = new Map<string, JsonValue>(
    defaults.map(({ name, type, text }) => [foldAscii(name), valueOf(type, text)]),
  )
  for (const [name, text] of given) {
    const usual = members.get(foldAscii(name))
    members.set(foldAscii(name), textAs(usual, name, text))
  }
  return members.size === 0 ? undefined : namedParameters(members)
}

/** A text as a value of the kind of `usual`. */
function textAs(usual: JsonValue | undefined, name: string, text: string): JsonValue {
  if (usual instanceof JsonNumber) {
    if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return new JsonNumber(text)
    throw refused(`The value of ${shown(name)} is '${text.slice(0, 100)}', which is no number.`)
  }
  if (typeof usual !== 'boolean') return text
  if (text === 'true' || text === 'false') return text === 'true'
  throw refused(`The value of ${shown(name)} is '${text.slice(0, 100)}', which is neither true nor false.`)
}

/** Names `1`, `2`, … make a list, others an object. */
function namedParameters(members: ReadonlyMap<string, JsonValue>): Parameters {
  if (members.size > maxParameters) throw refused(`More than ${maxParameters} values are given.`)
  const isList = [...members.keys()].every((name) => /^[1-9]\d{0,3}$/.test(name) && Number(name) <= members.size)
  const named = [...members].map(([name, value]) => parameterOf(name, value))
  const values = isList ? named.sort((a, b) => Number(a.name) - Number(b.name)) : named
  return distinct({ form: isList ? 'list' : 'object', values })
}

function parameterOf(name: string, value: JsonValue): Parameter {
  if (value === null) return { name, type: 'NULL', text: 'null' }
  if (typeof value === 'boolean') return { name, type: 'BOOLEAN', text: String(value) }
  if (typeof value === 'string') {
    if (!value.includes('\0')) return { name, type: 'VARCHAR', text: value }
    throw refused(`The value of ${shown(name)} holds a NUL character.`)
  }
  if (value instanceof JsonNumber) return { name, type: numberType(name, value.token), text: value.token }
  throw refused(
    `The value of ${shown(name)} is ${Array.isArray(value) ? 'a list' : 'an object'}.`,
    `Values are text, numbers, booleans and null. A list can be sent as JSON text: unnest(from_json(${shown(name)}, '["BIGINT"]')).`,
  )
}

function numberType(name: string, token: string): Parameter['type'] {
  if (!/^-?\d+$/.test(token)) {
    if (Number.isFinite(Number(token))) return 'DOUBLE'
    throw refused(`The value of ${shown(name)} is larger than a double holds.`, 'Send it as text.')
  }
  const integer = token.length <= mostDigits ? BigInt(token) : undefined
  if (integer !== undefined && BigInt.asIntN(bigintBits, integer) === integer) return 'BIGINT'
  if (integer !== undefined && BigInt.asIntN(hugeintBits, integer) === integer) return 'HUGEINT'
  throw refused(
    `The value of ${shown(name)} is an integer of more than 128 bits.`,
    'Send it as text, or with a fraction.',
  )
}

/** The engine does not tell `$city` from `$City`. */
function distinct(parameters: Parameters): Parameters {
  const seen = new Map<string, string>()
  for (const { name } of parameters.values) {
    const other = seen.get(foldAscii(name))
    if (other !== undefined) throw refused(`${shown(other)} and ${shown(name)} are one parameter.`)
    seen.set(foldAscii(name), name)
  }
  return parameters
}

/** The member `parameters` of a signed input: as it was given. */
export function parametersJson({ form, values }: Parameters): JsonValue {
  const members = values.map(({ name, type, text }): [string, JsonValue] => [name, valueOf(type, text)])
  return form === 'list' ? members.map(([, value]) => value) : new Map(members)
}

function valueOf(type: Parameter['type'], text: string): JsonValue {
  if (type === 'NULL') return null
  if (type === 'BOOLEAN') return text === 'true'
  return type === 'VARCHAR' ? text : new JsonNumber(text)
}

/** Throws NodeError `InvalidRequest` unless each parameter of the statement has a value, and each value its parameter. */
export function matchParameters(names: readonly ParameterName[], given: Parameters | undefined): void {
  const wanted = new Map(names.map((one) => [one.name, one]))
  const values = given?.values ?? []
  const held = new Set(values.map(({ name }) => foldAscii(name)))
  const missing = names.find(({ name }) => !held.has(name))
  const surplus = values.filter(({ name }) => !wanted.has(foldAscii(name))).map(({ name }) => name)
  if (missing !== undefined) {
    const place = missing.position === undefined ? {} : { position: missing.position }
    throw unmatched(`The statement has the parameter ${shown(missing.name)}, for which there is no value.`, {
      candidates: surplus.map(shown),
      hint: hintFor(missing.name),
      ...place,
    })
  }
  const [first] = surplus
  if (first === undefined) return
  const close = similarNames(foldAscii(first), [...wanted.keys()])
  throw unmatched(`A value is given for ${shown(first)}, and the statement has no such parameter.`, {
    candidates: (close.length > 0 ? close : [...wanted.keys()]).map(shown),
    hint: 'Each value is used by the statement: take the others out.',
  })
}

function hintFor(name: string): string {
  const example = /^\d+$/.test(name) ? `"parameters": [${name === '1' ? '…' : '…, …'}]` : `"parameters": {"${name}": …}`
  return `Send ${example.slice(0, 200)}, or param.${name.slice(0, 100)}=… in a URL.`
}

function unmatched(message: string, { candidates = [], ...details }: ErrorDetails): NodeError {
  return new NodeError('InvalidRequest', message, {
    ...details,
    ...(candidates.length > 0 && { candidates: candidates.slice(0, 100) }),
  })
}

function shown(name: string): string {
  return `$${name.slice(0, 100)}`
}

function refused(message: string, hint?: string): NodeError {
  return new NodeError('InvalidParameter', message, hint === undefined ? {} : { hint })
}

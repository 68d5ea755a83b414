// The JSON form of ODF metadata (OdfJson): members in camelCase and field order, unions with their `kind` first, hashes
// and DIDs as text, u64 above 2^53-1 as decimal text. Driven by tables.ts. Reading is strict: unknown, missing and
// mistyped members are errors that name the member; a type may also be its short text (`"Decimal(18,4)"`).

import { datasetIdBytes, datasetIdText, multihashBytes, multihashText } from '../base/ids/identifiers.ts'
import { compareCodePoints } from '../base/json/canonical.ts'
import { fromPlain, jsonText, parseJson } from '../base/json/json.ts'
import { assert, must } from '../base/assert.ts'
import { fromHex } from '../base/bytes.ts'
import { DecodeError, NodeError } from '../base/errors.ts'
import type { MetadataEvent } from '../model/events.ts'
import { parseInstant } from '../model/instant.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../base/json/value.ts'
import { type DataSchema, type DataType, type TimeUnit, timeUnits } from '../model/schema.ts'
import { type FieldDefinition, itemsOf, membersOf, tableNamed, unionMember, unions } from './tables.ts'

// A type of this many levels still fits the depth that readers of blocks allow.
const maxTypeDepth = 24

/** `{fields: [{name, type, extra?}], extra?}`. */
export function schemaToJson(schema: DataSchema): JsonObject {
  return tableToJson('DataSchema', schema)
}

/** `{kind, …}`. */
export function eventToJson(event: MetadataEvent): JsonObject {
  return unionToJson('MetadataEvent', event)
}

function tableToJson(name: string, value: unknown, json: JsonObject = new Map()): JsonObject {
  const members = membersOf(name, value)
  for (const field of tableNamed(name).fields) {
    const member = members[field.name]
    if (member !== undefined) json.set(field.name, memberToJson(field, member))
  }
  return json
}

function unionToJson(name: string, value: unknown): JsonObject {
  const member = unionMember(name, membersOf(name, value))
  return tableToJson(member.table, value, new Map([['kind', member.kind]]))
}

function memberToJson(field: FieldDefinition, member: unknown): JsonValue {
  switch (field.kind) {
    case 'table':
      return tableToJson(field.table, member)
    case 'tables':
      return itemsOf(field.name, member).map((item) => tableToJson(field.table, item))
    case 'union':
      return unionToJson(field.union, member)
    case 'wrappedUnions':
      return itemsOf(field.name, member).map((item) => unionToJson(field.union, item))
    case 'extra':
      return extraToJson(membersOf(field.name, member))
    default:
      return Array.isArray(member) ? member.map((item) => scalarToJson(field, item)) : scalarToJson(field, member)
  }
}

function scalarToJson(field: FieldDefinition, value: unknown): JsonValue {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'bigint') {
    return value > BigInt(Number.MAX_SAFE_INTEGER) ? String(value) : new JsonNumber(String(value))
  }
  assert(Number.isSafeInteger(value), `${field.name} is an integer`)
  return new JsonNumber(String(value))
}

/**
 * Reads a schema, `{fields: [{name, type, extra?}], extra?}`; `at` names it in errors. Whether its columns can be stored
 * is `checkColumns`' question. Throws NodeError `InvalidRequest`.
 */
export function schemaFromJson(value: JsonValue, at = 'schema'): DataSchema {
  // The tables that drove the reader describe exactly this type.
  return readTable('DataSchema', value, { at, depth: 0 }) as unknown as DataSchema
}

/**
 * Reads the event of one kind; its `kind` may be left out: `eventFromJson('SetInfo', …, 'info')` reads the body member
 * `info`. Throws NodeError `InvalidRequest`.
 */
export function eventFromJson<Kind extends MetadataEvent['kind']>(
  kind: Kind,
  value: JsonValue,
  at: string,
): Extract<MetadataEvent, { readonly kind: Kind }> {
  const members = object(value, at)
  const given = members.get('kind')
  if (given !== undefined && given !== kind) invalid(`${at}.kind`, `must be ${kind}`)
  const event = readUnion('MetadataEvent', new Map([...members, ['kind', kind]]), { at, depth: 0 })
  // As above.
  return event as unknown as Extract<MetadataEvent, { readonly kind: Kind }>
}

interface Place {
  /** Path of the value, `schema.fields[3].type`. */
  readonly at: string
  /** Types around this one. */
  readonly depth: number
}

type Members = Record<string, unknown>

function readTable(name: string, value: JsonValue, place: Place): Members {
  return readMembers({}, name, { members: object(value, place.at), place })
}

function readUnion(name: string, value: JsonValue, place: Place): object {
  if (name === 'DataType') {
    if (place.depth >= maxTypeDepth) invalid(place.at, `must nest at most ${maxTypeDepth} types`)
    if (typeof value === 'string') return parseTypeText(value, place.at)
  }
  const members = object(value, place.at)
  const kind = members.get('kind')
  const known = must(unions[name], name)
  const member = known.find((entry) => entry.kind === kind)
  if (member === undefined) {
    const kinds = known.map((entry) => entry.kind)
    return invalid(`${place.at}.kind`, `must be one of ${kinds.join(', ')}`)
  }
  const deeper = name === 'DataType' ? { ...place, depth: place.depth + 1 } : place
  return readMembers({ kind: member.kind }, member.table, { members, place: deeper })
}

function readMembers(into: Members, name: string, from: { members: JsonObject; place: Place }): Members {
  const { members, place } = from
  const { fields } = tableNamed(name)
  for (const member of members.keys()) {
    const known = Object.hasOwn(into, member) || fields.some((field) => field.name === member)
    if (!known)
      invalid(
        `${place.at}.${member}`,
        'is not known',
        fields.map((field) => field.name),
      )
  }
  for (const field of fields) {
    const member = members.get(field.name)
    const at = `${place.at}.${field.name}`
    if (member !== undefined) into[field.name] = readMember(field, member, { at, depth: place.depth })
    else if (field.required || hasNoAbsence(field)) invalid(at, 'is missing')
  }
  return into
}

/** Numbers and enums whose bytes cannot tell 0 from absence are always named in JSON. */
function hasNoAbsence(field: FieldDefinition): boolean {
  return ['u64', 'u32', 'i32'].includes(field.kind) || (field.kind === 'enum' && !field.optional)
}

function readMember(field: FieldDefinition, value: JsonValue, place: Place): unknown {
  const { at } = place
  switch (field.kind) {
    case 'table':
      return readTable(field.table, value, place)
    case 'tables':
      return items(value, at).map((item, index) => readTable(field.table, item, { ...place, at: `${at}[${index}]` }))
    case 'union':
      return readUnion(field.union, value, place)
    case 'wrappedUnions':
      return items(value, at).map((item, index) => readUnion(field.union, item, { ...place, at: `${at}[${index}]` }))
    case 'string':
      return text(value, at)
    case 'strings':
      return items(value, at).map((item, index) => text(item, `${at}[${index}]`))
    case 'extra':
      return extraFromJson(object(value, at))
    case 'optionalBool':
      return typeof value === 'boolean' ? value : invalid(at, 'must be true or false')
    case 'enum': {
      const member = text(value, at)
      return field.of.members.includes(member) ? member : invalid(at, `must be one of ${field.of.members.join(', ')}`)
    }
    case 'u32':
      return Number(integer(value, { at, low: 0n, high: 2n ** 32n - 1n }))
    case 'i32':
      return Number(integer(value, { at, low: -(2n ** 31n), high: 2n ** 31n - 1n }))
    case 'u64':
    case 'optionalU64': {
      const number = integer(value, { at, low: 0n, high: 2n ** 64n - 1n })
      return number <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(number) : number
    }
    default:
      return readIdentifier(field.kind, text(value, at), at)
  }
}

function readIdentifier(kind: 'multihash' | 'datasetId' | 'hexBytes' | 'time', value: string, at: string): string {
  try {
    switch (kind) {
      case 'multihash':
        return multihashText(multihashBytes(value))
      case 'datasetId':
        return datasetIdText(datasetIdBytes(value))
      case 'hexBytes':
        return fromHex(value) === undefined ? invalid(at, 'must be hex') : value.toLowerCase()
      case 'time':
        return parseInstant(value) === undefined ? invalid(at, 'must be a UTC time like 2025-01-01T00:00:00Z') : value
    }
  } catch (error) {
    if (error instanceof DecodeError) return invalid(at, `is malformed (${error.message})`)
    throw error
  }
}

/** An integer token in range; beyond 2^53-1 its decimal text is taken too. */
function integer(value: JsonValue, range: { at: string; low: bigint; high: bigint }): bigint {
  const token = value instanceof JsonNumber ? value.token : typeof value === 'string' ? value : ''
  const whole = /^-?(0|[1-9]\d{0,19})$/.test(token) ? BigInt(token) : undefined
  const asText = typeof value === 'string' && whole !== undefined && whole <= BigInt(Number.MAX_SAFE_INTEGER)
  if (whole === undefined || asText || whole < range.low || whole > range.high) {
    return invalid(range.at, `must be an integer from ${range.low} to ${range.high}`)
  }
  return whole
}

function object(value: JsonValue, at: string): JsonObject {
  return value instanceof Map ? value : invalid(at, 'must be an object')
}

function items(value: JsonValue, at: string): JsonValue[] {
  return Array.isArray(value) ? value : invalid(at, 'must be an array')
}

function text(value: JsonValue, at: string): string {
  return typeof value === 'string' ? value : invalid(at, 'must be text')
}

function invalid(at: string, reason: string, candidates?: readonly string[]): never {
  throw new NodeError('InvalidRequest', `${at} ${reason}.`, candidates === undefined ? {} : { candidates })
}

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

// The short text of a type, `Decimal(18,4)` or `List(String?)?`; `typeText` in libraries/model/schema.ts writes it.
const bareKinds = [
  ...(['String', 'Bool', 'Int8', 'Int16', 'Int32', 'Int64', 'UInt8', 'UInt16', 'UInt32', 'UInt64'] as const),
  ...(['Float16', 'Float32', 'Float64', 'Date', 'Null'] as const),
]
const spellings = [...bareKinds, 'Timestamp', 'Timestamp(Microsecond)', 'Decimal(18,4)', 'Binary', 'List(String)']

/**
 * The type that `source` spells; spaces around parts are ignored. `at` names it in errors. A Timestamp is UTC, in
 * milliseconds unless told otherwise. Throws NodeError `InvalidRequest` with the spellings there are.
 */
function parseTypeText(source: string, at: string): DataType {
  const type = source.length <= 200 ? parse(source.trim(), 0) : undefined
  if (type !== undefined) return type
  const shown = JSON.stringify(source.length <= 80 ? source : `${source.slice(0, 80)}…`)
  throw new NodeError('InvalidRequest', `${at} is ${shown}, which is not a type.`, {
    hint: `Types are ${spellings.join(', ')}; a trailing ? makes a column optional.`,
    candidates: spellings.filter(
      (spelling) => spelling.toLowerCase() === source.trim().replace(/\?$/, '').toLowerCase(),
    ),
  })
}

function parse(source: string, depth: number): DataType | undefined {
  if (depth > 8) return undefined
  if (source.endsWith('?')) {
    const inner = parse(source.slice(0, -1).trimEnd(), depth + 1)
    return inner === undefined || inner.kind === 'Option' ? undefined : { kind: 'Option', inner }
  }
  const bare = bareKinds.find((kind) => kind === source)
  if (bare !== undefined) return { kind: bare }
  const match = /^([A-Za-z0-9]+)\s*(?:\((.*)\))?$/s.exec(source)
  if (match === null) return undefined
  const [, kind = '', content] = match
  return parseWithArgument(kind, content?.trim(), depth)
}

function parseWithArgument(kind: string, argument: string | undefined, depth: number): DataType | undefined {
  switch (kind) {
    case 'Timestamp': {
      const unit = unitOf(argument)
      return unit && { kind, unit, timezone: 'UTC' }
    }
    case 'Time':
    case 'Duration': {
      const unit = unitOf(argument)
      return unit && { kind, unit }
    }
    case 'Decimal': {
      const digits = /^(\d{1,3})\s*,\s*(-?\d{1,3})$/.exec(argument ?? '')
      return digits === null ? undefined : { kind, precision: Number(digits[1]), scale: Number(digits[2]) }
    }
    case 'Binary': {
      if (argument === undefined) return { kind }
      return /^\d{1,9}$/.test(argument) ? { kind, fixedLength: Number(argument) } : undefined
    }
    case 'List': {
      const itemType = parse(argument ?? '', depth + 1)
      return itemType && { kind, itemType }
    }
    default:
      return undefined
  }
}

function unitOf(argument: string | undefined): TimeUnit | undefined {
  return argument === undefined ? 'Millisecond' : timeUnits.find((unit) => unit === argument)
}

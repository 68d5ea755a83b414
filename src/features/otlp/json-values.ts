// What stands in OpenTelemetry's JSON of log records: values and attributes, ids in hexadecimal (or base64, as protobuf's own
// JSON has bytes). A value of a kind that is not known is refused: it would be lost.
// Source: https://protobuf.dev/programming-guides/json/

import { Buffer } from 'node:buffer'
import { JsonNumber, type JsonObject, type JsonValue } from '../../libraries/base/json/value.ts'
import { deepestValue, doubleValue, type LogRecord, malformedLogs, scopeOf } from './log-record.ts'

const longestName = 80
const idBytes = { traceId: 16, spanId: 8 } as const
const severities = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']

/** Names of members, each with what its field is called in the definition of its message. */
type Names<T extends string> = readonly (readonly [name: T, original: string])[]

function named<T extends string>(...names: readonly T[]): Names<T> {
  return names.map((name) => [name, originalName(name)])
}

const ofRecord = named(
  'timeUnixNano',
  'observedTimeUnixNano',
  'severityNumber',
  'severityText',
  'body',
  'attributes',
  'droppedAttributesCount',
  'flags',
  'traceId',
  'spanId',
  'eventName',
)
const ofValue = named('stringValue', 'bytesValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue', 'kvlistValue')
const ofResource = named('attributes', 'droppedAttributesCount', 'entityRefs')
const ofScope = named('name', 'version', 'attributes', 'droppedAttributesCount')
const ofAttribute = named('key', 'value')
const ofList = named('values')
const mostOf32Bits = 2n ** 32n

export function recordOf(value: JsonValue | undefined): LogRecord {
  const record = fields(value, 'a log record', ofRecord)
  return {
    timeNs: integer(record.get('timeUnixNano'), 'timeUnixNano'),
    observedTimeNs: integer(record.get('observedTimeUnixNano'), 'observedTimeUnixNano'),
    severityNumber: severity(record.get('severityNumber')),
    severityText: text(record.get('severityText'), 'severityText'),
    body: valueOf(record.get('body')),
    attributes: attributesOf(record.get('attributes'), 'attributes'),
    droppedAttributes: small(record.get('droppedAttributesCount'), 'droppedAttributesCount'),
    flags: small(record.get('flags'), 'flags'),
    traceId: id(record.get('traceId'), 'traceId'),
    spanId: id(record.get('spanId'), 'spanId'),
    eventName: text(record.get('eventName'), 'eventName'),
  }
}

export function resourceOf(value: JsonValue | undefined): JsonObject {
  const resource = fields(value, 'a resource', ofResource)
  return attributesOf(resource.get('attributes'), 'attributes')
}

export function scopeIn(value: JsonValue | undefined): JsonObject {
  const scope = fields(value, 'a scope', ofScope)
  return scopeOf(
    text(scope.get('name'), 'name'),
    text(scope.get('version'), 'version'),
    attributesOf(scope.get('attributes'), 'attributes'),
  )
}

/**
 * The members that are known, by their names in JSON; null is none. Where there are others alone nothing was understood:
 * throws NodeError `MalformedBody`.
 */
function fields<T extends string>(
  value: JsonValue | undefined,
  what: string,
  names: Names<T>,
): ReadonlyMap<T, JsonValue> {
  const found = new Map<T, JsonValue>()
  if (value === undefined || value === null) return found
  if (!(value instanceof Map)) throw malformedLogs(`${what} is not an object`)
  let known = 0
  for (const [name, original] of names) {
    const member = value.get(name)
    const other = original === name ? undefined : value.get(original)
    if (member !== undefined && other !== undefined) throw malformedLogs(`'${name}' is there in both spellings`)
    const given = member ?? other
    if (given === undefined) continue
    known += 1
    if (given !== null) found.set(name, given)
  }
  if (known > 0 || value.size === 0) return found
  const [first] = value.keys()
  throw malformedLogs(`${what} has a member '${first?.slice(0, longestName)}' and none that is known`)
}

/** Of a name that comes twice the last value counts, as in protobuf. */
function attributesOf(list: JsonValue | undefined, name: string, depth = 0): JsonObject {
  const attributes: JsonObject = new Map()
  for (const item of items(list, name)) {
    const attribute = fields(item, 'an attribute', ofAttribute)
    attributes.set(text(attribute.get('key'), 'key'), valueOf(attribute.get('value'), depth))
  }
  return attributes
}

function valueOf(value: JsonValue | undefined, depth = 0): JsonValue {
  if (depth > deepestValue) throw malformedLogs(`values are nested deeper than ${deepestValue}`)
  const [found, ...more] = fields(value, 'a value', ofValue)
  if (found === undefined) return null
  if (more.length > 0) throw malformedLogs(`a value is both ${found[0]} and ${more[0]?.[0]}`)
  const [kind, given] = found
  switch (kind) {
    case 'stringValue':
      return text(given, kind)
    case 'bytesValue':
      return base64(given)
    case 'boolValue':
      if (typeof given === 'boolean') return given
      throw malformedLogs('boolValue is neither true nor false')
    case 'intValue':
      return new JsonNumber(String(integer(given, kind)))
    case 'doubleValue':
      return doubleValue(double(given))
    case 'arrayValue': {
      const list = fields(given, kind, ofList).get('values')
      return items(list, 'values').map((item) => valueOf(item, depth + 1))
    }
    default:
      return attributesOf(fields(given, kind, ofList).get('values'), 'values', depth + 1)
  }
}

function items(list: JsonValue | undefined, name: string): readonly JsonValue[] {
  if (list === undefined) return []
  if (Array.isArray(list) && list.every((item) => item instanceof Map)) return list
  throw malformedLogs(`${name} is not a list of objects`)
}

function text(value: JsonValue | undefined, name: string): string {
  if (value === undefined || typeof value === 'string') return value ?? ''
  throw malformedLogs(`${name} is not a text`)
}

/** A number, or a text that is one: JSON has no 64 bits. */
function integer(value: JsonValue | undefined, name: string): bigint {
  if (value === undefined) return 0n
  const token = value instanceof JsonNumber ? value.token : value
  if (typeof token === 'string' && /^-?\d{1,20}$/.test(token)) return BigInt(token)
  throw malformedLogs(`${name} is not an integer`)
}

/** An integer of 32 bits. */
function small(value: JsonValue | undefined, name: string): number {
  const number = integer(value, name)
  if (number < mostOf32Bits && number >= -mostOf32Bits / 2n) return Number(number)
  throw malformedLogs(`${name} has more than 32 bits`)
}

/** A number, or its name, which protobuf's own JSON writes: `SEVERITY_NUMBER_WARN2`. */
function severity(value: JsonValue | undefined): number {
  const [, name = '', step = '1'] =
    typeof value === 'string' ? (/^SEVERITY_NUMBER_([A-Z]+)([2-4]?)$/.exec(value) ?? []) : []
  if (name === '') return small(value, 'severityNumber')
  const at = severities.indexOf(name)
  if (at >= 0) return 4 * at + Math.max(1, Number(step))
  if (name === 'UNSPECIFIED') return 0
  throw malformedLogs('severityNumber is not an integer')
}

/** A number, or one of the texts for what JSON has no number of. */
function double(value: JsonValue): number {
  const token = value instanceof JsonNumber ? value.token : value
  const number = typeof token === 'string' && token.trim() !== '' ? Number(token) : Number.NaN
  if (!Number.isNaN(number) || token === 'NaN') return number
  throw malformedLogs('doubleValue is not a number')
}

/** Hexadecimal in lower case, of hexadecimal or of base64. */
function id(value: JsonValue | undefined, name: keyof typeof idBytes): string {
  const said = text(value, name)
  if (/^(?:[0-9a-fA-F]{2})*$/.test(said)) return said.toLowerCase()
  const bytes = base64Bytes(said)
  if (bytes?.length === idBytes[name]) return bytes.toString('hex')
  throw malformedLogs(`${name} is neither ${2 * idBytes[name]} hexadecimal digits nor base64 of ${idBytes[name]} bytes`)
}

/** Base64 as protobuf's form gives it. */
function base64(value: JsonValue): string {
  const bytes = base64Bytes(text(value, 'bytesValue'))
  if (bytes !== undefined) return bytes.toString('base64')
  throw malformedLogs('bytesValue is not base64')
}

/** The bytes of base64 in either alphabet, with or without padding; undefined for what is none. */
function base64Bytes(said: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(said)) return undefined
  const bytes = Buffer.from(said, 'base64')
  const plain = said.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
  return bytes.toString('base64').replace(/=+$/, '') === plain ? bytes : undefined
}

/** What the field is called in the definition of its message. */
export function originalName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

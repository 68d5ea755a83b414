// OpenTelemetry logs in JSON: protobuf's JSON form, with ids in hexadecimal. Members that are not known are passed over.
// Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding

import { parseJson } from '../../json/json.ts'
import { JsonError } from '../../json/parser.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../../model/json.ts'
import { deepestValue, doubleValue, type LogRecord, type LogSource, malformedLogs, scopeOf } from './log-record.ts'

/** Around values: export, resource, scope, record, attribute, and two levels for each value in a value. */
const maxDepth = 16 + 4 * deepestValue

/** Hands over each record in order. Throws NodeError `MalformedBody`. */
export function readJsonLogs(bytes: Uint8Array, take: (record: LogRecord, source: LogSource) => void): void {
  for (const ofResource of objects(parsed(bytes), 'resourceLogs')) {
    const resource = attributesOf(object(ofResource, 'resource'))
    for (const ofScope of objects(ofResource, 'scopeLogs')) {
      const scope = object(ofScope, 'scope')
      const source = { resource, scope: scopeOf(text(scope, 'name'), text(scope, 'version'), attributesOf(scope)) }
      for (const record of objects(ofScope, 'logRecords')) take(recordOf(record), source)
    }
  }
}

function parsed(bytes: Uint8Array): JsonObject {
  try {
    const value = parseJson(bytes, { maxDepth })
    if (value instanceof Map) return value
  } catch (error) {
    if (error instanceof JsonError) throw malformedLogs(`the JSON ${error.reason}, at byte ${error.position.offset}`)
    throw error
  }
  throw malformedLogs('it is no JSON object')
}

function recordOf(record: JsonObject): LogRecord {
  return {
    timeNs: integer(record, 'timeUnixNano'),
    observedTimeNs: integer(record, 'observedTimeUnixNano'),
    severityNumber: Number(integer(record, 'severityNumber')),
    severityText: text(record, 'severityText'),
    body: record.has('body') ? valueOf(object(record, 'body')) : null,
    attributes: attributesOf(record),
    droppedAttributes: Number(integer(record, 'droppedAttributesCount')),
    flags: Number(integer(record, 'flags')),
    traceId: text(record, 'traceId').toLowerCase(),
    spanId: text(record, 'spanId').toLowerCase(),
    eventName: text(record, 'eventName'),
  }
}

/** Of a name that comes twice the last value counts, as in protobuf. */
function attributesOf(parent: JsonObject, name = 'attributes', depth = 0): JsonObject {
  const attributes: JsonObject = new Map()
  for (const attribute of objects(parent, name)) {
    attributes.set(text(attribute, 'key'), valueOf(object(attribute, 'value'), depth))
  }
  return attributes
}

function valueOf(value: JsonObject, depth = 0): JsonValue {
  if (depth > deepestValue) throw malformedLogs(`values are nested deeper than ${deepestValue}`)
  if (value.has('stringValue')) return text(value, 'stringValue')
  if (value.has('bytesValue')) return text(value, 'bytesValue')
  if (value.has('boolValue')) return boolean(value)
  if (value.has('intValue')) return new JsonNumber(String(integer(value, 'intValue')))
  if (value.has('doubleValue')) return doubleValue(double(value))
  if (value.has('arrayValue')) {
    return objects(object(value, 'arrayValue'), 'values').map((item) => valueOf(item, depth + 1))
  }
  return value.has('kvlistValue') ? attributesOf(object(value, 'kvlistValue'), 'values', depth + 1) : null
}

/** Null stands for a member that is not there, as in protobuf's JSON. */
function member(parent: JsonObject, name: string): JsonValue | undefined {
  return parent.get(name) ?? undefined
}

function objects(parent: JsonObject, name: string): readonly JsonObject[] {
  const value = member(parent, name) ?? []
  if (Array.isArray(value) && value.every((item) => item instanceof Map)) return value
  throw malformedLogs(`${name} is no list of objects`)
}

function object(parent: JsonObject, name: string): JsonObject {
  const value = member(parent, name) ?? new Map()
  if (value instanceof Map) return value
  throw malformedLogs(`${name} is no object`)
}

function text(parent: JsonObject, name: string): string {
  const value = member(parent, name) ?? ''
  if (typeof value === 'string') return value
  throw malformedLogs(`${name} is no text`)
}

function boolean(parent: JsonObject): boolean {
  const value = member(parent, 'boolValue') ?? false
  if (typeof value === 'boolean') return value
  throw malformedLogs('boolValue is neither true nor false')
}

/** A number, or a text that is one: JSON has no 64 bits. */
function integer(parent: JsonObject, name: string): bigint {
  const value = member(parent, name) ?? '0'
  const token = value instanceof JsonNumber ? value.token : value
  if (typeof token === 'string' && /^-?\d{1,20}$/.test(token)) return BigInt(token)
  throw malformedLogs(`${name} is no integer`)
}

/** A number, or one of the texts for what JSON has no number of. */
function double(parent: JsonObject): number {
  const value = member(parent, 'doubleValue') ?? new JsonNumber('0')
  const number =
    value instanceof JsonNumber || typeof value === 'string'
      ? Number(value instanceof JsonNumber ? value.token : value)
      : undefined
  if (number !== undefined && (!Number.isNaN(number) || value === 'NaN')) return number
  throw malformedLogs('doubleValue is no number')
}

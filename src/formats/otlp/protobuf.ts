// OpenTelemetry logs in protobuf: the messages of an export, record by record.
// Source: https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/logs/v1/logs.proto and its neighbours

import { Buffer } from 'node:buffer'
import { toHex } from '../../lib/bytes.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../../model/json.ts'
import { deepestValue, doubleValue, type LogRecord, type LogSource, malformedLogs, scopeOf } from './log-record.ts'
import { WireMessage } from './wire.ts'

type Take = (record: LogRecord, source: LogSource) => void

/** Hands over each record in order. Throws NodeError `MalformedBody`. */
export function readProtobufLogs(bytes: Uint8Array, take: Take): void {
  eachOf(new WireMessage(bytes), 1, readResource, take)
}

/** Reads the messages of one field; the others are not of use. */
function eachOf<T extends readonly unknown[]>(
  message: WireMessage,
  field: number,
  read: (message: WireMessage, ...more: T) => void,
  ...more: T
): void {
  message.fields((number) => {
    if (number === field) read(message.message(), ...more)
  })
}

function readResource(message: WireMessage, take: Take): void {
  // Fields may come in any order; the resource counts for all.
  let resource: JsonObject = new Map()
  const scopes: WireMessage[] = []
  message.fields((field) => {
    if (field === 1) resource = attributesOf(message.message(), 1)
    else if (field === 2) scopes.push(message.message())
  })
  for (const scope of scopes) readScope(scope, resource, take)
}

function readScope(message: WireMessage, resource: JsonObject, take: Take): void {
  let scope: JsonObject = new Map()
  const records: WireMessage[] = []
  message.fields((field) => {
    if (field === 1) scope = scopeIn(message.message())
    else if (field === 2) records.push(message.message())
  })
  for (const record of records) take(recordIn(record), { resource, scope })
}

function scopeIn(message: WireMessage): JsonObject {
  let [name, version] = ['', '']
  const attributes: JsonObject = new Map()
  message.fields((field) => {
    if (field === 1) name = message.text()
    else if (field === 2) version = message.text()
    else if (field === 3) putAttribute(attributes, message.message())
  })
  return scopeOf(name, version, attributes)
}

function recordIn(message: WireMessage): LogRecord {
  const attributes: JsonObject = new Map()
  const record: { -readonly [K in keyof LogRecord]: LogRecord[K] } = {
    timeNs: 0n,
    observedTimeNs: 0n,
    severityNumber: 0,
    severityText: '',
    body: null,
    attributes,
    droppedAttributes: 0,
    flags: 0,
    traceId: '',
    spanId: '',
    eventName: '',
  }
  message.fields((field) => {
    if (field === 1) record.timeNs = message.fixed64()
    else if (field === 2) record.severityNumber = Number(BigInt.asIntN(32, message.varint()))
    else if (field === 3) record.severityText = message.text()
    else if (field === 5) record.body = valueIn(message.message())
    else if (field === 6) putAttribute(attributes, message.message())
    else if (field === 7) record.droppedAttributes = Number(BigInt.asUintN(32, message.varint()))
    else if (field === 8) record.flags = message.fixed32()
    else if (field === 9) record.traceId = toHex(message.bytes())
    else if (field === 10) record.spanId = toHex(message.bytes())
    else if (field === 11) record.observedTimeNs = message.fixed64()
    else if (field === 12) record.eventName = message.text()
  })
  return record
}

/** The list of names and values in a field. */
function attributesOf(message: WireMessage, field: number, depth = 0): JsonObject {
  const attributes: JsonObject = new Map()
  message.fields((number) => {
    if (number === field) putAttribute(attributes, message.message(), depth)
  })
  return attributes
}

/** Names are to be unique; of one that comes twice the last value counts, as in OpenTelemetry's own programs. */
function putAttribute(attributes: JsonObject, message: WireMessage, depth = 0): void {
  let key = ''
  let value: JsonValue = null
  message.fields((field) => {
    if (field === 1) key = message.text()
    else if (field === 2) value = valueIn(message.message(), depth)
  })
  attributes.set(key, value)
}

function valueIn(message: WireMessage, depth = 0): JsonValue {
  if (depth > deepestValue) throw malformedLogs(`values are nested deeper than ${deepestValue}`)
  let value: JsonValue = null
  message.fields((field) => {
    if (field === 1) value = message.text()
    else if (field === 2) value = message.varint() !== 0n
    else if (field === 3) value = new JsonNumber(String(BigInt.asIntN(64, message.varint())))
    else if (field === 4) value = doubleValue(message.double())
    else if (field === 5) value = listIn(message.message(), depth + 1)
    else if (field === 6) value = attributesOf(message.message(), 1, depth + 1)
    else if (field === 7) value = Buffer.from(message.bytes()).toString('base64')
  })
  return value
}

function listIn(message: WireMessage, depth: number): JsonValue[] {
  const list: JsonValue[] = []
  message.fields((field) => {
    if (field === 1) list.push(valueIn(message.message(), depth))
  })
  return list
}

// OpenTelemetry logs in protobuf: the messages of an export, record by record.
// Source: https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/logs/v1/logs.proto and its neighbours

import { Buffer } from 'node:buffer'
import { toHex } from '../../libraries/base/bytes.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../../libraries/base/json/value.ts'
import { deepestValue, doubleValue, type LogRecord, type LogSink, malformedLogs, scopeOf } from './log-record.ts'
import { WireMessage } from './wire.ts'

/** Hands over each record in order. Throws NodeError `MalformedBody`. */
export function readProtobufLogs(bytes: Uint8Array, sink: LogSink): void {
  const reader = new ProtobufLogs(sink)
  reader.read(new WireMessage(bytes))
}

/** Fields of the messages around records: those that are read, and those that are passed over knowingly. */
const known = { export: [1], resource: [1, 2, 3, 1000], scope: [1, 2, 3] } as const

class ProtobufLogs {
  readonly #sink: LogSink
  /** A field that nobody knows. */
  #other: number | undefined
  #records = 0
  #isEnough = false

  constructor(sink: LogSink) {
    this.#sink = sink
  }

  read(message: WireMessage): void {
    this.#each(message, 'export', 1, (ofResource) => this.#readResource(ofResource))
    if (this.#records > 0 || this.#other === undefined) return
    throw malformedLogs(`it holds no log record, and a field with the number ${this.#other}`)
  }

  /** Fields may come in any order; the resource counts for all. */
  #readResource(message: WireMessage): void {
    let resource: JsonObject = new Map()
    message.fields((field) => {
      if (field === 1) resource = attributesOf(message.message(), 1)
    })
    this.#each(message, 'resource', 2, (ofScope) => this.#readScope(ofScope, resource))
  }

  #readScope(message: WireMessage, resource: JsonObject): void {
    let scope: JsonObject = new Map()
    let records = 0
    message.fields((field) => {
      if (field === 1) scope = scopeIn(message.message())
      else if (field === 2) records += 1
    })
    this.#records += records
    if (records > 0) this.#sink.begin(resource, scope, records)
    this.#each(message, 'scope', 2, (record) => {
      this.#isEnough = !this.#sink.record(recordIn(record))
    })
  }

  /** Reads the messages of one field, until there is enough. */
  #each(message: WireMessage, level: keyof typeof known, wanted: number, read: (inner: WireMessage) => void): void {
    const fields: readonly number[] = known[level]
    message.fields((field) => {
      if (field === wanted) read(message.message())
      else if (!fields.includes(field)) this.#other ??= field
      return !this.#isEnough
    })
  }
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

/** Of log records; those after it are of versions to come. */
const lastField = 12

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
  let isKnown = message.length === 0
  message.fields((field) => {
    isKnown ||= field <= lastField
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
  if (!isKnown) throw malformedLogs('a log record has no field that is known')
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
  let isKnown = message.length === 0
  message.fields((field) => {
    isKnown ||= field <= 7
    if (field === 1) value = message.text()
    else if (field === 2) value = message.varint() !== 0n
    else if (field === 3) value = new JsonNumber(String(BigInt.asIntN(64, message.varint())))
    else if (field === 4) value = doubleValue(message.double())
    else if (field === 5) value = listIn(message.message(), depth + 1)
    else if (field === 6) value = attributesOf(message.message(), 1, depth + 1)
    else if (field === 7) value = Buffer.from(message.bytes()).toString('base64')
  })
  if (!isKnown) throw malformedLogs('a value is of no kind that is known')
  return value
}

function listIn(message: WireMessage, depth: number): JsonValue[] {
  const list: JsonValue[] = []
  message.fields((field) => {
    if (field === 1) list.push(valueIn(message.message(), depth))
  })
  return list
}

// A log record of OpenTelemetry, whichever form it came in, and the row that it becomes: a JSON object, whose objects are
// columns where `flatten` says so. Source: https://opentelemetry.io/docs/specs/otel/logs/data-model/

import { jsonText } from '../../json/json.ts'
import { NodeError } from '../../model/errors.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../../model/json.ts'

/** What records share: the resource and the scope that they came with. */
export interface LogSource {
  readonly resource: JsonObject
  readonly scope: JsonObject
}

/** Members that were not sent are absent, zero or empty. */
export interface LogRecord {
  /** Nanoseconds since 1970. */
  readonly timeNs: bigint
  readonly observedTimeNs: bigint
  readonly severityNumber: number
  readonly severityText: string
  readonly body: JsonValue
  readonly attributes: JsonObject
  readonly droppedAttributes: number
  readonly flags: number
  /** Hexadecimal. */
  readonly traceId: string
  readonly spanId: string
  readonly eventName: string
}

/** Deepest nesting of values in values. */
export const deepestValue = 32

export function malformedLogs(reason: string): NodeError {
  return new NodeError('MalformedBody', `The body is no export of OpenTelemetry logs: ${reason}.`, {
    hint: 'Send an ExportLogsServiceRequest as application/json or application/x-protobuf.',
  })
}

/** The number as JSON that tells it from an integer; null for what is no number of JSON. */
export function doubleValue(value: number): JsonValue {
  if (!Number.isFinite(value)) return null
  const text = String(value)
  return new JsonNumber(/^-?\d+$/.test(text) ? `${text}.0` : text)
}

/** A line of NDJSON. What was not sent is left out; so is an id that is all zeros, which means none. */
export function rowText(record: LogRecord, { resource, scope }: LogSource, eventTimeName: string): string {
  const { timeNs, observedTimeNs } = record
  const time = timeNs === 0n ? observedTimeNs : timeNs
  const row: JsonObject = new Map()
  const put = (name: string, value: JsonValue, isThere: boolean): void => {
    if (isThere) row.set(name, value)
  }
  const count = (value: number): JsonNumber => new JsonNumber(String(value))
  put(eventTimeName, new JsonNumber(String(time)), time !== 0n)
  put('severity_number', count(record.severityNumber), record.severityNumber !== 0)
  put('severity_text', record.severityText, record.severityText !== '')
  put('body', record.body, record.body !== null)
  put('attributes', record.attributes, record.attributes.size > 0)
  put('dropped_attributes_count', count(record.droppedAttributes), record.droppedAttributes !== 0)
  put('event_name', record.eventName, record.eventName !== '')
  put('trace_id', record.traceId, /[^0]/.test(record.traceId))
  put('span_id', record.spanId, /[^0]/.test(record.spanId))
  put('flags', count(record.flags), record.flags !== 0)
  put('resource', resource, resource.size > 0)
  put('scope', scope, scope.size > 0)
  return `${jsonText(row)}\n`
}

/** The scope as a member of rows. */
export function scopeOf(name: string, version: string, attributes: JsonObject): JsonObject {
  const scope: JsonObject = new Map()
  if (name !== '') scope.set('name', name)
  if (version !== '') scope.set('version', version)
  if (attributes.size > 0) scope.set('attributes', attributes)
  return scope
}

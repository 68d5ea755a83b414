// A log record of OpenTelemetry, whichever form it came in, and the row that it becomes: the members of a JSON object, whose
// objects are columns where `flatten` says so. Source: https://opentelemetry.io/docs/specs/otel/logs/data-model/

import { jsonText } from '../../libraries/base/json/json.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../../libraries/base/json/value.ts'
import { foldAscii } from '../../libraries/model/names.ts'

/** Takes what an export holds, in its order; called with the records of a scope at once, so that none is kept. */
export interface LogSink {
  /** The records that follow, so many, are of this resource and scope. May throw. */
  begin(resource: JsonObject, scope: JsonObject, records: number): void
  /** False: no more is wanted. May throw. */
  record(record: LogRecord): boolean
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
  /** Hexadecimal, lower case. */
  readonly traceId: string
  readonly spanId: string
  readonly eventName: string
}

export interface RowOptions {
  readonly eventTimeColumn: string
  readonly flatten: boolean
  /** Of names that are columns in another letter case alone: the column that has a number because of it. */
  readonly numbered: ReadonlyMap<string, string>
}

/** The `numbered` of a dataset with these columns: `attributes_host` → `attributes_host_2`, beside `attributes_Host`. */
export function numberedColumns(columns: readonly string[]): ReadonlyMap<string, string> {
  const exact = new Set(columns)
  const folded = new Set(columns.map(foldAscii))
  const bases = columns.map((column) => [column.replace(/_(?:[2-9]|[1-9]\d+)$/, ''), column] as const)
  // Of several the earliest: a later one may be the name of an attribute.
  return new Map(bases.filter(([base]) => !exact.has(base) && folded.has(foldAscii(base))).reverse())
}

/** Deepest nesting of values in values. */
export const deepestValue = 32

export function malformedLogs(reason: string): NodeError {
  return new NodeError('MalformedBody', `The body is not an export of OpenTelemetry logs: ${reason}.`, {
    hint: 'Send an ExportLogsServiceRequest as application/json or application/x-protobuf.',
  })
}

/** The number as JSON that tells it from an integer; null for what is no number of JSON. */
export function doubleValue(value: number): JsonValue {
  if (!Number.isFinite(value)) return null
  const text = String(value)
  return new JsonNumber(/^-?\d+$/.test(text) ? `${text}.0` : text)
}

/** The members of a row that are the record's own. What was not sent is left out; so is an id that is all zeros: none. */
export function recordText(record: LogRecord, options: RowOptions): string {
  const { eventTimeColumn } = options
  const { timeNs, observedTimeNs } = record
  const time = timeNs === 0n ? observedTimeNs : timeNs
  const row: JsonObject = new Map()
  const put = (name: string, value: JsonValue, isThere: boolean): void => {
    if (isThere) row.set(name, asColumns(name, value, options))
  }
  const count = (value: number): JsonNumber => new JsonNumber(String(value))
  put(eventTimeColumn, new JsonNumber(String(time)), time !== 0n)
  put('severity_number', count(record.severityNumber), record.severityNumber !== 0)
  put('severity_text', record.severityText, record.severityText !== '')
  put('body', record.body, record.body !== null)
  put('attributes', record.attributes, record.attributes.size > 0)
  put('dropped_attributes_count', count(record.droppedAttributes), record.droppedAttributes !== 0)
  put('event_name', record.eventName, record.eventName !== '')
  put('trace_id', record.traceId, /[^0]/.test(record.traceId))
  put('span_id', record.spanId, /[^0]/.test(record.spanId))
  put('flags', count(record.flags), record.flags !== 0)
  return membersText(row)
}

/** A member of rows that many share; empty for an object without members. */
export function sharedText(name: 'resource' | 'scope', value: JsonObject, options: RowOptions): string {
  return value.size === 0 ? '' : membersText(new Map([[name, asColumns(name, value, options)]]))
}

function membersText(row: JsonObject): string {
  return jsonText(row).slice(1, -1)
}

/** The scope as a member of rows. */
export function scopeOf(name: string, version: string, attributes: JsonObject): JsonObject {
  const scope: JsonObject = new Map()
  if (name !== '') scope.set('name', name)
  if (version !== '') scope.set('version', version)
  if (attributes.size > 0) scope.set('attributes', attributes)
  return scope
}

function asColumns(name: string, value: JsonValue, { flatten, numbered }: RowOptions): JsonValue {
  return flatten ? withDistinctNames(value, `${name}_`, numbered) : value
}

/**
 * The value, whose columns begin with `prefix`, with names that columns can tell apart: of those of one object that differ in letter
 * case alone the first, by code units, keeps its name, and the others get a number: `Host`, `host_2`. Where the dataset has them
 * so, `host` is `host_2` also in an object of its own.
 */
function withDistinctNames(value: JsonValue, prefix: string, numbered: RowOptions['numbered']): JsonValue {
  if (!(value instanceof Map)) return value
  const taken = new Set([...value.keys()].map(foldAscii))
  const hasObjects = [...value.values()].some((inner) => inner instanceof Map)
  if (taken.size === value.size && !hasObjects && numbered.size === 0) return value
  const named = new Map<string, string>()
  const met = new Set<string>()
  for (const name of [...value.keys()].sort()) {
    const known = numbered.get(prefix + name)?.slice(prefix.length) ?? name
    let distinct = taken.has(foldAscii(known)) ? name : known
    for (let n = 2; met.has(foldAscii(distinct)) || (n > 2 && taken.has(foldAscii(distinct))); n++) {
      distinct = `${name}_${n}`
    }
    met.add(foldAscii(distinct))
    named.set(name, distinct)
  }
  return new Map(
    [...value].map(([name, inner]) => {
      const column = named.get(name) ?? name
      return [column, withDistinctNames(inner, `${prefix}${column}_`, numbered)]
    }),
  )
}

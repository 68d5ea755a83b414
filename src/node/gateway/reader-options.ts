// What a body is read from, and how: the options of its format, of inference and of rows, by the request and the dataset. Pure.

import type { Readable } from 'node:stream'
import { defined } from '../../libraries/base/collections.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { received, withEventTime } from '../../libraries/formats/event-time.ts'
import { fieldPlaceOf, type Placing, pointerPath } from '../../libraries/formats/field-place.ts'
import type {
  Format,
  FormatOptions,
  InferOptions,
  Inferred,
  ReaderOptions,
  StreamFormat,
} from '../../libraries/formats/format.ts'
import { joinedFields, joinedNames } from '../../libraries/formats/joined-times.ts'
import { pointColumns, withPoint } from '../../libraries/formats/point-columns.ts'
import type { BodyFormat } from '../../libraries/formats/registry.ts'
import type { KeyField, SentRowsOptions } from '../../libraries/formats/sent-rows.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import type { Field, Vocabulary } from '../../libraries/model/schema.ts'
import { demandReadBack } from '../../libraries/odf/chain/read-back.ts'
import type { TaskThreads } from '../machine/work/work-pool.ts'
import type { IngestControls } from './controls.ts'
import { demandField, hasPatterns, namedBy, namedTime } from './named-time.ts'
import { fullSchema, type Shape, shapeOf, type Target } from './shape.ts'
import type { RowsSource } from './typed-rows.ts'

export interface BodySource extends RowsSource {
  readonly stream: Readable
  readonly format: BodyFormat
  readonly controls: IngestControls
  /** Event time of records that have none, milliseconds since 1970 UTC. */
  readonly fallbackMs: number
  /** A batch of a stream. */
  readonly isStreamed?: boolean
  /** Threads that read long bodies. */
  readonly threads?: TaskThreads | undefined
  /** Aborts when nobody waits for the answer any more: a body that is kept is then read no further. */
  readonly caller?: (() => AbortSignal) | undefined
}

/** The options of a reader of rows against `shape`. */
export function readerOptions(source: BodySource, shape: Shape, inferred: Inferred | undefined): ReaderOptions {
  const { vocabulary, fields, eventTimeType } = shape
  const taken = inferred?.eventTime
  return {
    ...demandNoColumn(fields, formatOptions(source, vocabulary)),
    ...(taken === undefined || isSame(taken, vocabulary.eventTimeColumn)
      ? {}
      : { eventTime: { kind: 'name', name: taken } as const }),
    vocabulary,
    fields,
    eventTimeType,
    unknownFields: source.controls.unknownFields === 'ignore' ? 'ignore' : 'reject',
    ...(source.format.format.kind === 'stream' ? { cells: source.cost.bound } : {}),
    ...(source.controls.leavesOutMisfits === true ? { leavesOutMisfits: true } : {}),
    ...(inferred === undefined ? {} : { valueless: inferred.valueless }),
    ...(inferred?.csvHeader === undefined ? {} : { csvHeader: inferred.csvHeader }),
  }
}

/** The options of an inferrer of columns for `target`. */
export function inferOptions(source: BodySource, target: Target): InferOptions {
  const { shape } = target
  const isNamed = target.isNew === true && !hasOwnTime(source.format.format)
  const { vocabulary } = isNamed ? namedTime(target, namedBy(source.controls.eventTime)) : target
  return {
    ...formatOptions(source, vocabulary),
    vocabulary,
    columns: source.limits.columns,
    ...(shape === undefined ? {} : { known: shape.payloadFields.slice(1), eventTimeType: shape.eventTimeType }),
  }
}

/** True for formats whose records have their time in a place of its own. */
export function hasOwnTime(format: Format): boolean {
  return format.kind === 'stream' && format.hasOwnTime === true
}

/** The shape that the found columns make of `target`. Throws NodeErrors `InvalidColumnName`, `InvalidParameter`. */
export function inferredShape(
  found: Inferred,
  target: Target,
  { controls, limits, format: { format } }: Pick<BodySource, 'controls' | 'limits' | 'format'>,
): { readonly shape: Shape; readonly inferred: Inferred } {
  const { geometry, eventTime, timeZone, preset } = controls
  if (target.shape !== undefined) return { shape: shapeWith(found, target), inferred: found }
  const { isNew = false, vocabulary } = target
  const name = isNew ? undefined : vocabulary.eventTimeColumn
  const isAsked = eventTime !== undefined || hasOwnTime(format)
  const timed = isAsked
    ? found
    : withEventTime(found, { timeZone, hasPatterns: hasPatterns(format), ...defined({ name }) })
  const inferred = geometry === undefined ? timed : withPoint(timed, geometry, limits.columns)
  if (preset === undefined) demandField(found, eventTime, vocabulary.eventTimeColumn)
  const isNamed = isNew && !hasOwnTime(format)
  return {
    shape: shapeWith(inferred, isNamed ? namedTime(target, inferred.eventTime ?? namedBy(eventTime)) : target),
    inferred,
  }
}

/** The target's shape with the columns that were inferred; the same one when there are none. Throws `InvalidColumnName`. */
function shapeWith(inferred: Inferred, { vocabulary, shape }: Target): Shape {
  if (shape !== undefined && inferred.added.length === 0) return shape
  const eventTime = { type: inferred.eventTimeType, position: inferred.eventTimePosition }
  const schema =
    shape === undefined
      ? fullSchema(inferred.fields, vocabulary, eventTime)
      : { ...shape.schema, fields: [...shape.schema.fields, ...inferred.added] }
  demandReadBack(schema)
  return shapeOf(schema, shape?.schemaSequence ?? -1, vocabulary)
}

/** Throws NodeError `InvalidParameter` where the field that brings the event time is a column of the dataset. */
function demandNoColumn<T extends Pick<FormatOptions, 'eventTime'>>(fields: readonly Field[], options: T): T {
  const { eventTime } = options
  if (eventTime?.kind !== 'name') return options
  const column = fields.find(({ name }) => isSame(name, eventTime.name))
  if (column === undefined) return options
  throw new NodeError('InvalidParameter', `The dataset has a column '${column.name}', which eventTime names too.`, {
    hint: 'A field is either a column or the event time: leave eventTime out, or make another dataset.',
  })
}

function formatOptions(source: BodySource, vocabulary: Vocabulary): Omit<FormatOptions, 'vocabulary'> {
  const { limits, format, controls } = source
  const { timeZone, eventTimeUnit, integers, only, dialect } = controls
  const ambiguous = ambiguity(controls)
  const charset = format.format.kind === 'stream' ? controls.charset : undefined
  return {
    recordBytes: limits.recordBytes,
    jsonDepth: limits.jsonDepth,
    ...placesOf(controls, format.format, vocabulary),
    ...defined({ timeZone, ambiguous, eventTimeUnit, integers, only, dialect, charset, csvHeader: format.csvHeader }),
  }
}

function ambiguity({ ambiguous }: IngestControls): FormatOptions['ambiguous'] {
  return ambiguous === 'refuse' ? undefined : ambiguous
}

/** Where in a body records and their values are. Throws NodeError `InvalidParameter` where its format has no such places. */
function placesOf(
  controls: IngestControls,
  format: Format,
  { eventTimeColumn }: Vocabulary,
): Pick<FormatOptions, 'eventTime' | 'flatten' | 'records' | 'demandsEventTime'> {
  const { eventTime, flatten, records, dedupe } = controls
  const placing = placingOf(controls, format)
  const isField = eventTime !== undefined && eventTime !== received && joinedNames(eventTime) === undefined
  const place = isField ? fieldPlaceOf('eventTime', eventTime, placing) : undefined
  const isColumn = place?.kind === 'name' && isSame(place.name, eventTimeColumn)
  return {
    ...(place === undefined || isColumn ? {} : { eventTime: place }),
    ...(flatten === true ? { flatten } : {}),
    // What is left out is no reason to refuse the others.
    ...(dedupe === 'body' && controls.leavesOutMisfits !== true && joinedNames(eventTime) === undefined
      ? { demandsEventTime: true }
      : {}),
    ...(records === undefined ? {} : { records: pointerPath('records', records) }),
  }
}

function placingOf({ eventTime, flatten, records }: IngestControls, format: Format): Placing {
  const { title } = format
  const { nesting, hasRecords, hasOwnTime }: Partial<StreamFormat> = format.kind === 'stream' ? format : {}
  if (eventTime !== undefined && hasOwnTime === true) throw counts('eventTime', 'formats without timestamps', title)
  if (flatten === true && nesting === undefined) throw counts('flatten', 'JSON, NDJSON and GeoJSON', title)
  if (records !== undefined && hasRecords !== true) throw counts('records', 'JSON (application/json)', title)
  return { title, flatten: flatten === true, ...defined({ nesting }) }
}

/** What becomes of rows that were read: their event times, keys, points. */
export function sentRowsOptions(source: BodySource, shape: Shape, inferred: Inferred | undefined): SentRowsOptions {
  const { geometry, leavesOutMisfits, eventTime, timeZone, dryRun, rows } = source.controls
  const isNew = shape.schemaSequence < 0
  const ambiguous = ambiguity(source.controls)
  const pair = joinedNames(eventTime)
  const joined = pair && joinedFields(pair, shape.payloadFields, defined({ timeZone, ambiguous }))
  // A record without a place is no reason to refuse the others, and is not left out either.
  const isLenient = leavesOutMisfits === true
  const point = isLenient ? undefined : pointColumns(shape.payloadFields, geometry, inferred?.valueless ?? [])
  const preview = isNew || dryRun ? Number(rows ?? 0) : undefined
  return { ...keyOptions(source, shape), ...defined({ point, joined, preview }) }
}

function keyOptions(source: BodySource, shape: Shape): Pick<SentRowsOptions, 'fallbackMs' | 'key'> {
  const { fallbackMs, controls } = source
  const { dedupe } = controls
  if (dedupe === undefined || dedupe === 'body') return { fallbackMs }
  // Names of columns may have commas: what is one column is one field.
  const whole = keyField(dedupe, source, shape)
  if (whole.column > 0) return { fallbackMs, key: [whole] }
  const parts = dedupe.split(',').filter((part) => part !== '')
  const key = parts.length < 2 ? [whole] : parts.map((part) => keyField(part, source, shape))
  if (key.every(({ column }) => column !== 0)) return { fallbackMs, key }
  throw new NodeError('InvalidParameter', `The parameter dedupe is '${dedupe.slice(0, 80)}', which is not a column.`, {
    hint: 'Say dedupe=body.',
  })
}

/** The field that a name or pointer leads to; its column is 0 for the event time. */
function keyField(text: string, { controls, format }: BodySource, shape: Shape): KeyField {
  const place = fieldPlaceOf('dedupe', text, placingOf(controls, format.format))
  const isFeature = format.format.kind === 'stream' && format.format.nesting === 'features'
  const [first = '', ...inside] = place.kind === 'path' ? place.path.slice(isFeature ? 1 : 0) : [place.name]
  const name = foldAscii(first)
  const { eventTime } = placesOf(controls, format.format, shape.vocabulary)
  const isEventTime = inside.length === 0 && eventTime?.kind === 'name' && foldAscii(eventTime.name) === name
  const column = isEventTime ? 0 : shape.payloadFields.findIndex((field) => foldAscii(field.name) === name)
  return { name: place.kind === 'path' ? text : place.name, column, inside }
}

function counts(parameter: string, where: string, title: string): NodeError {
  return new NodeError('InvalidParameter', `The parameter ${parameter} counts in ${where}; this is ${title}.`, {
    hint: 'Leave it out.',
  })
}

function isSame(one: string, other: string): boolean {
  return foldAscii(one) === foldAscii(other)
}

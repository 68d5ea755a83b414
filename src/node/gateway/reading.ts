// A body being read into typed rows: what it is read from and against, the options of its format, and the rows.

import type { Readable } from 'node:stream'
import { defined } from '../../libraries/base/collections.ts'
import { broughtRows } from '../../libraries/columnar/arrow/brought-rows.ts'
import { demandReadBack } from '../../libraries/odf/chain/read-back.ts'
import type { Offer } from '../../libraries/formats/dialect/offers.ts'
import { received, withEventTime } from '../../libraries/formats/event-time.ts'
import { joinedFields, joinedNames } from '../../libraries/formats/joined-times.ts'
import { fieldPlaceOf, type Placing, pointerPath } from '../../libraries/formats/field-place.ts'
import { type KeyField, type SentFacts, SentRows, type SentRowsOptions } from '../../libraries/formats/sent-rows.ts'
import type {
  CsvHeader,
  FileReader,
  Format,
  FormatOptions,
  InferOptions,
  Inferred,
  Misfits,
  ReaderOptions,
  SkippedLines,
  StreamFormat,
} from '../../libraries/formats/format.ts'
import type { BodyFormat } from '../../libraries/formats/registry.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { Hash } from '../../libraries/base/ids/identifiers.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import type { Field, Vocabulary } from '../../libraries/model/schema.ts'
import type { TaskThreads } from '../machine/work/work-pool.ts'
import type { IngestControls } from './controls.ts'
import { demandField, hasPatterns, namedBy, namedTime } from './named-time.ts'
import { pointColumns, withPoint } from '../../libraries/formats/point-columns.ts'
import { type ReadRows, type RowReader, rowReader } from './row-reader.ts'
import { fullSchema, type Shape, shapeOf, type Target } from './shape.ts'
import { type RowsSource, type TypedRows, typedRowsOf } from './typed-rows.ts'

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

/** A body in which every record fits. */
export interface TypedBody extends SentFacts {
  readonly rows: number
  /** Event time (never null), then user columns. The caller discards them. */
  readonly typed: TypedRows
  /** sha2-256: processors have it in hardware. */
  readonly bodyHash: Hash
  /** Inflated size. */
  readonly bytes: number
  readonly csvHeader: CsvHeader | undefined
  /** Records that were left out, where the request asks for that. */
  readonly misfits?: Misfits
  /** What the rows were read against; another than that of the target when columns were inferred. */
  readonly shape: Shape
  /** What was changed or is doubted of it (libraries/base/warnings.ts). */
  readonly warnings: readonly string[]
  /** The field that was taken as event time though nobody named it: a rule of the dataset that it makes. */
  readonly takenTime?: string
  /** Dialects under which more of it would be numbers, days or times. */
  readonly offers?: readonly Offer[]
  /** Rows whose event time is an epoch in January 1970. */
  readonly earlyRows?: number
  /** Lines that were left out. */
  readonly skipped?: SkippedLines
  /** Where columns were inferred: the bytes, to be read again where the dataset turns out to have others. */
  readonly kept?: KeptBytes
}

/** The bytes of a body, for as long as it may have to be read against another schema. */
export interface KeptBytes {
  /** Reads it against `target`; what was read before is freed. Throws as `typedBody`. */
  read(target: Target): Promise<TypedBody>
  /** Frees memory and files. Idempotent. */
  discard(): Promise<void>
}

export interface BodyFacts {
  readonly bodyHash: Hash
  /** Inflated size. */
  readonly bytes: number
}

/** Bytes whose rows are held at once, with several times as many cells. */
const pieceBytes = 256 * 1024

/** A body being read into rows. */
export class Reading {
  readonly #reader: RowReader
  readonly #shape: Shape
  readonly #typed: TypedRows
  readonly #inferred: Inferred | undefined

  /** Against `shape`, which `inferred` has made, if anything; of `bytes`, where that is known. */
  constructor(
    source: BodySource,
    format: StreamFormat,
    against: { shape: Shape; inferred?: Inferred; bytes?: number },
  ) {
    const { shape, inferred, bytes = source.controls.contentLength } = against
    this.#shape = shape
    this.#inferred = inferred
    this.#typed = typedRowsOf(source, shape)
    const { threads } = source
    const sent = sentRowsOptions(source, shape, inferred)
    const settings = { options: readerOptions(source, shape, inferred), sent, fields: shape.payloadFields }
    this.#reader = rowReader(format, settings, { threads, bytes })
  }

  get fits(): boolean {
    return this.#reader.fits
  }

  /** Takes the next bytes, and lets go of the rows that are complete. */
  async push(chunk: Uint8Array): Promise<true> {
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      // A small body is read at once, and waits for nothing.
      const read = this.#reader.push(chunk.subarray(at, at + pieceBytes))
      const adding = this.#add(read instanceof Promise ? await read : read)
      if (adding !== undefined) await adding
    }
    return true
  }

  /** Takes the end of the body. */
  async end(facts: BodyFacts): Promise<TypedBody> {
    const finished = this.#reader.finish()
    const ended = finished instanceof Promise ? await finished : finished
    const { records, rows, csvHeader, undated, keyValue, misfits, preview } = ended
    this.#reader.end()
    const adding = this.#add(rows)
    if (adding !== undefined) await adding
    const { earlyRows, skipped } = ended
    const taken = takenTime(this.#inferred)
    const told = { ...defined({ misfits, earlyRows, skipped }) }
    const warnings = [...(this.#inferred?.warnings ?? []), ...(ended.warnings ?? [])]
    const read = { csvHeader, undated, keyValue, preview, warnings, shape: this.#shape, ...taken, ...told }
    return { rows: records, typed: this.#typed, ...read, ...facts }
  }

  async discard(): Promise<void> {
    this.#reader.end()
    await this.#typed.discard()
  }

  #add(rows: readonly ReadRows[]): Promise<unknown> | undefined {
    return rows.length === 0 ? undefined : this.#typed.add(rows)
  }
}

interface OpenFile {
  readonly reader: FileReader
  readonly shape: Shape
  /** What has made the shape, if anything. */
  readonly inferred?: Inferred
}

/** All rows of a file against `shape`. */
export async function readRows(source: BodySource, file: OpenFile, facts: BodyFacts): Promise<TypedBody> {
  const { reader, shape, inferred } = file
  const typed = typedRowsOf(source, shape, facts.bytes)
  const sent = new SentRows(sentRowsOptions(source, shape, inferred))
  let rows = 0
  try {
    for await (const batch of reader.read(readerOptions(source, shape, inferred))) {
      rows += batch.rows
      await typed.add([broughtRows(sent.take(batch))])
    }
    const warnings = [...(inferred?.warnings ?? []), ...(reader.warnings ?? [])]
    return { rows, typed, csvHeader: undefined, warnings, shape, ...takenTime(inferred), ...sent.finish(), ...facts }
  } catch (error) {
    await typed.discard()
    throw error
  }
}

function takenTime(inferred: Inferred | undefined): Pick<TypedBody, 'takenTime'> {
  return inferred?.eventTime === undefined ? {} : { takenTime: inferred.eventTime }
}

function readerOptions(source: BodySource, shape: Shape, inferred: Inferred | undefined): ReaderOptions {
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

function sentRowsOptions(source: BodySource, shape: Shape, inferred: Inferred | undefined): SentRowsOptions {
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

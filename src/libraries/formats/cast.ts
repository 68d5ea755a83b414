// Casts a column of a file to a column of a dataset, without loss: equal types share their buffers; numbers and times are cast
// as vectors (cast-vectors.ts); what cannot be is taken value by value (cast-values.ts), and what does not fit is noted with
// its record. JSON text (what lists of files become) is read for List columns by the rules of JSON bodies.

import { defined } from '../base/collections.ts'
import { createColumnBuilder } from '../columnar/arrow/column-builder.ts'
import { concatBatches, isPresent, makeColumn } from '../columnar/arrow/columns.ts'
import { nullColumn } from '../columnar/arrow/null-column.ts'
import { must } from '../base/assert.ts'
import { concatBytes, copyBytes, utf8 } from '../base/bytes.ts'
import type { Warnings } from '../base/warnings.ts'
import {
  type Column,
  type DataType,
  innerType,
  isOptional,
  optional,
  sameType,
  timestampMs,
  unitsPerSecond,
} from '../model/schema.ts'
import { unitOf, ValueCast } from './cast-values.ts'
import { endSecond, firstSecond } from '../base/calendar.ts'
import { castVector } from './cast-vectors.ts'
import { type ColumnPlan, missingReason, type TablePlan, tablePlan } from './column-plan.ts'
import { cutTimes } from './column-warnings.ts'
import { FaultLog, RecordPlace } from './fault-log.ts'
import type { FormatOptions, ReaderOptions } from './format.ts'
import { JsonRecordReader } from './json/record.ts'
import { LocalTimes } from './local-times.ts'
import { TypedColumns } from './typed-columns.ts'

interface CastOptions {
  readonly plan: TablePlan
  readonly options: FormatOptions
  readonly faults: FaultLog
  readonly warnings: Warnings
}

export class ColumnCast {
  readonly #source: DataType
  readonly #target: ColumnPlan
  readonly #type: DataType
  readonly #faults: FaultLog
  readonly #warnings: Warnings
  /** What the rules of text and times note. */
  readonly #typed: TypedColumns
  readonly #values: ValueCast
  /** Where lists are made of their JSON text. */
  readonly #lists: ListCast | undefined
  readonly #isEventTime: boolean
  /** Whether the times of the file are of no zone, and nobody says which. */
  readonly #isZoneless: boolean
  /** Its times without a zone, where the request names one that is not UTC. */
  readonly #local: LocalTimes | undefined

  /** From `source`, a type of the file (Timestamp without time zone: of no zone), to a column of the plan. */
  constructor(source: DataType, target: ColumnPlan, { plan, options, faults, warnings }: CastOptions) {
    this.#source = source
    this.#target = target
    this.#type = innerType(target.field.type)
    this.#faults = faults
    this.#warnings = warnings
    this.#isEventTime = target === plan.columns[0]
    this.#isZoneless = source.kind === 'Timestamp' && source.timezone === undefined && options.timeZone === undefined
    this.#local = source.kind === 'Timestamp' && source.timezone === undefined ? LocalTimes.of(options) : undefined
    this.#typed = new TypedColumns(plan, options)
    this.#lists = source.kind === 'String' && this.#type.kind === 'List' ? new ListCast(target, options) : undefined
    this.#values = new ValueCast(source, { plan: target, typed: this.#typed })
  }

  /** The column in the dataset's type. Faults are noted, as of the records from `first` on; the column is then of no use. */
  cast(read: Column, first: number): Column {
    const column = this.#local === undefined ? read : this.#inZone(read, first, this.#local)
    const { field, required } = this.#target
    if (required && column.nullCount > 0) this.#noteNulls(column, first)
    if (this.#source.kind === 'Null')
      return nullColumn({ ...field, type: { kind: 'Option', inner: this.#type } }, column.rows)
    if (this.#isZoneless && column.nullCount < column.rows) this.#noteZoneless(column, first)
    if (this.#lists !== undefined)
      return this.#lists.cast(column, first, { faults: this.#faults, warnings: this.#warnings })
    if (this.#isShared(column)) return this.#sharedColumn(column)
    const cuts: number[] = []
    const values = castVector(column, this.#target, cuts)
    if (values === undefined) return this.#castValues(column, first)
    for (const row of cuts) {
      this.#typed.warn(cutTimes(this.#target))
      this.#noteWarnings(first + row)
    }
    return this.#columnOf(column, values)
  }

  /** Local times as instants. */
  #inZone(column: Column, first: number, local: LocalTimes): Column {
    const perSecond = BigInt(unitsPerSecond[unitOf(this.#source)])
    const nanosPerUnit = 1e9 / Number(perSecond)
    const values = copyBytes(column.values)
    const view = new DataView(values.buffer, values.byteOffset)
    for (let row = 0; row < column.rows; row++) {
      if (!isPresent(column, row)) continue
      const units = view.getBigInt64(8 * row, true)
      const rest = ((units % perSecond) + perSecond) % perSecond
      const instant = local.instantOf(Number((units - rest) / perSecond), Number(rest) * nanosPerUnit)
      if (instant !== undefined) view.setBigInt64(8 * row, BigInt(instant) * perSecond + rest, true)
      else {
        const message = `Column '${this.#target.name}' holds times; ${local.reason}.`
        this.#faults.addBare({ record: first + row, column: this.#target.name, kind: 'BadTimestamp', message })
      }
    }
    return { ...column, values }
  }

  #sharedColumn(column: Column): Column {
    // The gateway writes the fallback over missing event times.
    const isWritten = this.#isEventTime && column.nullCount > 0
    return this.#columnOf(column, isWritten ? copyBytes(column.values) : column.values, column.offsets)
  }

  #columnOf({ rows, nullCount, validity }: Column, values: Uint8Array, offsets?: Int32Array): Column {
    const { name, field } = this.#target
    const typed = { name, type: this.#type, nullable: isOptional(field.type) }
    return makeColumn({ ...typed, rows, nullCount, validity, values, offsets })
  }

  /** Whether the buffers are those of the target already. */
  #isShared(column: Column): boolean {
    const [source, target] = [this.#source, this.#type]
    if (source.kind === 'Timestamp' && target.kind === 'Timestamp') {
      return unitOf(source) === unitOf(target) && areStorable(column, unitsPerSecond[unitOf(target)])
    }
    if (source.kind === 'Date' && target.kind === 'Date') return areStorableDays(column)
    // Times of day have a range of their own.
    return source.kind !== 'Time' && sameType(source, target)
  }

  #castValues(column: Column, first: number): Column {
    const { name, field } = this.#target
    const builder = createColumnBuilder(field, Math.max(column.rows, 1))
    for (let row = 0; row < column.rows; row++) {
      if (!isPresent(column, row)) {
        if (builder.nullable) builder.appendNull()
        continue
      }
      const kind = this.#values.take(column, row, builder)
      if (kind !== undefined) {
        this.#faults.addBare({ record: first + row, column: name, kind, message: this.#values.reason })
      }
      this.#noteWarnings(first + row)
    }
    return builder.finish()
  }

  #noteWarnings(record: number): void {
    for (const about of this.#typed.takeRowWarnings()) this.#warnings.add(about, record)
  }

  #noteNulls(column: Column, first: number): void {
    const message = missingReason(this.#target)
    for (let row = 0; row < column.rows; row++) {
      if (isPresent(column, row)) continue
      this.#faults.addBare({ record: first + row, column: this.#target.name, kind: 'MissingRequired', message })
    }
  }

  #noteZoneless(column: Column, first: number): void {
    const message = zonelessReason(this.#target.name)
    for (let row = 0; row < column.rows; row++) {
      if (!isPresent(column, row)) continue
      this.#faults.addBare({ record: first + row, column: this.#target.name, kind: 'BadTimestamp', message })
    }
  }
}

/** Why times of no zone do not fit. */
export function zonelessReason(name: string): string {
  return `Column '${name}' holds times without a time zone; name it with timeZone, as in timeZone=UTC or timeZone=Europe/Berlin.`
}

/** Whether all times lie in the years 0000 to 9999. */
function areStorable(column: Column, unitsPerSecond: number): boolean {
  const view = viewOf(column)
  const [least, end] = [firstSecond * unitsPerSecond, endSecond * unitsPerSecond]
  for (let row = 0; row < column.rows; row++) {
    // Rounded beyond 2^53, where times next to a limit become the limit; those are left to the exact way.
    const time = view.getInt32(8 * row + 4, true) * 4294967296 + view.getUint32(8 * row, true)
    if ((time <= least || time >= end) && isPresent(column, row)) return false
  }
  return true
}

function areStorableDays(column: Column): boolean {
  const view = viewOf(column)
  for (let row = 0; row < column.rows; row++) {
    const seconds = view.getInt32(4 * row, true) * 86_400
    if ((seconds < firstSecond || seconds >= endSecond) && isPresent(column, row)) return false
  }
  return true
}

function viewOf({ values }: Column): DataView {
  return new DataView(values.buffer, values.byteOffset, values.byteLength)
}

const nothing = utf8('null')
const end = utf8('}')

export class ListCast {
  readonly #target: ColumnPlan
  readonly #options: ReaderOptions
  readonly #start: Uint8Array

  constructor(target: ColumnPlan, options: FormatOptions) {
    this.#target = target
    const field = { name: target.name, type: optional(innerType(target.field.type)) }
    const { eventTime: _eventTime, flatten: _flatten, demandsEventTime: _demands, ...rest } = options
    this.#options = { ...rest, fields: [field], eventTimeType: timestampMs, unknownFields: 'reject' }
    this.#start = utf8(`{${JSON.stringify(target.name)}:`)
  }

  /** The lists of the texts, null where there is none. Faults and warnings are noted as of the records from `first` on. */
  cast(column: Column, first: number, { faults, warnings }: Pick<CastOptions, 'faults' | 'warnings'>): Column {
    const columns = new TypedColumns(tablePlan(this.#options), this.#options)
    const found = new FaultLog()
    const reader = new JsonRecordReader({ options: this.#options, columns, faults: found, place: new RecordPlace() })
    const { values, offsets } = column
    for (let row = 0; row < column.rows; row++) {
      const text = isPresent(column, row) ? values.subarray(offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0) : nothing
      const record = concatBytes([this.#start, text, end])
      const before = found.total
      const isWhole = reader.read(record, 0, record.length, row) === record.length
      if (isWhole && found.total === before) {
        for (const about of columns.takeRowWarnings()) warnings.add(about, first + row)
        columns.endRow(record.length)
      } else {
        columns.undoRow()
        this.#note(found, before, { record: first + row, faults })
      }
    }
    const { name, field } = this.#target
    if (found.total > 0 || column.rows === 0) return nullColumn({ name, type: this.#type() }, column.rows)
    const list = must(concatBatches(columns.finish()).columns[1], 'the column of the lists')
    return { ...list, nullable: field.type.kind === 'Option' }
  }

  #type(): ReturnType<typeof optional> {
    return optional(innerType(this.#target.field.type))
  }

  /** The first fault of a record, where it is among those that are told. */
  #note(found: FaultLog, before: number, { record, faults }: { record: number; faults: FaultLog }): void {
    const { name, typeText } = this.#target
    const fault = found.errors[before]
    const { kind, message, pointer } = fault ?? {
      kind: 'WrongType' as const,
      message: `Column '${name}' holds ${typeText}; this is other text.`,
      pointer: undefined,
    }
    faults.addBare({ record, column: name, kind, message, ...defined({ pointer }) })
  }
}

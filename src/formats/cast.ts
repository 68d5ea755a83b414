// Casts a column of a file to a column of a dataset, without loss: equal types share their buffers; numbers and times are cast
// as vectors (cast-vectors.ts); what cannot be is taken value by value (cast-values.ts), and what does not fit is noted with
// its record.

import { createColumnBuilder } from '../arrow/column-builder.ts'
import { isPresent, makeColumn, nullColumn } from '../arrow/columns.ts'
import { copyBytes } from '../lib/bytes.ts'
import { type Column, type DataType, innerType, isOptional, sameType } from '../model/schema.ts'
import { unitOf, ValueCast } from './cast-values.ts'
import { castVector, endSecond, firstSecond, perSecond } from './cast-vectors.ts'
import type { ColumnPlan, TablePlan } from './column-plan.ts'
import type { FaultLog } from './fault-log.ts'
import type { FormatOptions } from './format.ts'
import { ListCast } from './list-cast.ts'
import { TypedColumns } from './typed-columns.ts'

interface CastOptions {
  readonly plan: TablePlan
  readonly options: FormatOptions
  readonly faults: FaultLog
}

export class ColumnCast {
  readonly #source: DataType
  readonly #target: ColumnPlan
  readonly #type: DataType
  readonly #faults: FaultLog
  readonly #values: ValueCast
  /** Where lists are made of their JSON text. */
  readonly #lists: ListCast | undefined
  readonly #isEventTime: boolean
  /** Whether the times of the file are of no zone, and nobody says which. */
  readonly #isZoneless: boolean

  /** From `source`, a type of the file (Timestamp without time zone: of no zone), to a column of the plan. */
  constructor(source: DataType, target: ColumnPlan, { plan, options, faults }: CastOptions) {
    this.#source = source
    this.#target = target
    this.#type = innerType(target.field.type)
    this.#faults = faults
    this.#isEventTime = target === plan.columns[0]
    this.#isZoneless = source.kind === 'Timestamp' && source.timezone === undefined && options.timeZone !== 'UTC'
    const typed = new TypedColumns(plan, options)
    this.#lists = source.kind === 'String' && this.#type.kind === 'List' ? new ListCast(target, options) : undefined
    this.#values = new ValueCast(source, { plan: target, typed, isEventTime: this.#isEventTime })
  }

  /** The column in the dataset's type. Faults are noted, as of the records from `first` on; the column is then of no use. */
  cast(column: Column, first: number): Column {
    const { field, required } = this.#target
    if (required && column.nullCount > 0) this.#noteNulls(column, first)
    if (this.#source.kind === 'Null')
      return nullColumn({ ...field, type: { kind: 'Option', inner: this.#type } }, column.rows)
    if (this.#isZoneless && column.nullCount < column.rows) this.#noteZoneless(column, first)
    if (this.#lists !== undefined) return this.#lists.cast(column, first, this.#faults)
    if (this.#isShared(column)) return this.#sharedColumn(column)
    const values = castVector(column, this.#target, this.#isEventTime)
    return values === undefined ? this.#castValues(column, first) : this.#columnOf(column, values)
  }

  #sharedColumn(column: Column): Column {
    // The gateway writes the fallback over missing event times.
    const isWritten = this.#isEventTime && column.nullCount > 0
    return this.#columnOf(column, isWritten ? copyBytes(column.values) : column.values, column.offsets)
  }

  #columnOf({ rows, nullCount, validity }: Column, values: Uint8Array, offsets?: Int32Array): Column {
    const { name, field } = this.#target
    const typed = { name, type: this.#type, nullable: isOptional(field.type) }
    return makeColumn({ ...typed, rows, nullCount, validity, values, offsets, child: undefined })
  }

  /** Whether the buffers are those of the target already. */
  #isShared(column: Column): boolean {
    const [source, target] = [this.#source, this.#type]
    if (source.kind === 'Timestamp' && target.kind === 'Timestamp') {
      return unitOf(source) === unitOf(target) && areStorable(column, perSecond[unitOf(target)])
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
    }
    return builder.finish()
  }

  #noteNulls(column: Column, first: number): void {
    const message = `Column '${this.#target.name}' is required and has no value.`
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
  return `Column '${name}' holds times without a time zone; say timeZone=UTC if they are UTC.`
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

// Casts a column of JSON text (what lists of files become) to a List column of a dataset: each text is read as the one member
// of a JSON record, by the rules of JSON bodies.

import { concatBatches, isPresent, nullColumn } from '../arrow/columns.ts'
import { must } from '../lib/assert.ts'
import { concatBytes, utf8 } from '../lib/bytes.ts'
import { type Column, innerType, optional, timestampMs } from '../model/schema.ts'
import { type ColumnPlan, tablePlan } from './column-plan.ts'
import { FaultLog, RecordPlace } from './fault-log.ts'
import type { FormatOptions, ReaderOptions } from './format.ts'
import { JsonRecordReader } from './json/record.ts'
import { TypedColumns } from './typed-columns.ts'

const nothing = utf8('null')
const end = utf8('}')

export class ListCast {
  readonly #target: ColumnPlan
  readonly #options: ReaderOptions
  readonly #start: Uint8Array

  constructor(target: ColumnPlan, options: FormatOptions) {
    this.#target = target
    const field = { name: target.name, type: optional(innerType(target.field.type)) }
    this.#options = { ...options, fields: [field], eventTimeType: timestampMs, unknownFields: 'reject' }
    this.#start = utf8(`{${JSON.stringify(target.name)}:`)
  }

  /** The lists of the texts, null where there is none. Faults are noted as of the records from `first` on. */
  cast(column: Column, first: number, faults: FaultLog): Column {
    const columns = new TypedColumns(tablePlan(this.#options), this.#options)
    const found = new FaultLog()
    const reader = new JsonRecordReader({ options: this.#options, columns, faults: found, place: new RecordPlace() })
    const { values, offsets } = column
    for (let row = 0; row < column.rows; row++) {
      const text = isPresent(column, row) ? values.subarray(offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0) : nothing
      const record = concatBytes([this.#start, text, end])
      const before = found.total
      const isWhole = reader.read(record, 0, record.length, row) === record.length
      if (isWhole && found.total === before) columns.endRow(record.length)
      else {
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
    faults.addBare({ record, column: name, kind, message, ...(pointer === undefined ? {} : { pointer }) })
  }
}

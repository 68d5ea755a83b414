// Files of typed columns (Parquet, Arrow) as bodies: their columns matched by name with the dataset's and cast to its types,
// and the columns that a dataset gets which is made of such a file. A format opens the file; here its batches become rows.

import { defined } from '../base/collections.ts'
import { batchBytes, concatBatches } from '../columnar/arrow/columns.ts'
import { nullColumn } from '../columnar/arrow/null-column.ts'
import { must } from '../base/assert.ts'
import { nextTurn } from '../base/clock.ts'
import { Warnings } from '../base/warnings.ts'
import { NodeError } from '../base/errors.ts'
import { foldAscii } from '../model/names.ts'
import {
  type Column,
  type DataType,
  type Field,
  innerType,
  optional,
  type RecordBatch,
  timestampMs,
} from '../model/schema.ts'
import { ColumnCast, zonelessReason } from './cast.ts'
import { eventTimeNameOf, reservedName, systemNames, type TablePlan, tablePlan } from './column-plan.ts'
import { FaultLog, unknownFieldMessage } from './fault-log.ts'
import type { FileReader, FormatOptions, InferOptions, Inferred, ReaderOptions } from './format.ts'
import { checkColumnName } from './inference.ts'
import { fewerColumns, tooManyColumns } from '../columnar/file-limits.ts'

/** What they are stored as, where a dataset has no type for them. */
const textsOf = { 'structs, lists or maps': 'JSON text', geometries: 'GeoJSON text', 'times of day': 'text' } as const
export type HeldAsText = keyof typeof textsOf

/** A file of typed columns that is open. */
export interface ColumnarFile {
  /**
   * Its columns in order, all optional unless the file says otherwise. Values of struct, list and map columns are `String`:
   * their JSON text. A Timestamp has the time zone `UTC`, or none where the file's times are of no zone. A column that
   * can hold nothing but nulls is `Null`.
   */
  readonly fields: readonly Field[]
  readonly rows: number
  /** Why columns cannot be read, by their places in `fields`, whose types then mean nothing. Nobody asks for these. */
  readonly refused: ReadonlyMap<number, NodeError>
  /** What columns hold whose values are text here and not in the file, by their places in `fields`. */
  readonly texts: ReadonlyMap<number, HeldAsText>
  /** The column that holds the features' geometries as GeoJSON text, where the file names one. */
  readonly geometry?: number
  /**
   * The rows in order, with the columns at these places of `fields`, at most 16,384 rows or about 4 MiB a batch. May be
   * called again. Throws NodeError `MalformedBody`, `UnsupportedEncoding` with column and row group.
   */
  batches(columns: readonly number[]): AsyncGenerator<RecordBatch>
}

/** Where the values of a column go: a place in the plan, and how. */
interface Target {
  /** Place in the file. */
  readonly source: number
  /** Place in the plan. */
  readonly column: number
  readonly cast: ColumnCast
}

const geometryName = 'geometry'
const manyRows = 1000
/** So many faults are counted; a few bytes can stand for hundreds of millions. */
const mostFaults = 1_000_000
const manyBytes = 1024 * 1024

export class ColumnarReader implements FileReader {
  readonly #file: ColumnarFile
  /** Names of the file's columns, as the dataset is to have them. */
  readonly #names: readonly string[]
  #warnings = new Warnings()

  constructor(file: ColumnarFile) {
    this.#file = file
    const { fields, geometry } = file
    const isTaken = fields.some(({ name }, index) => index !== geometry && foldAscii(name) === geometryName)
    this.#names = fields.map(({ name }, index) => (index === geometry && !isTaken ? geometryName : name))
  }

  // oxlint-disable-next-line require-await -- a port: other files are read for their columns
  async infer(options: InferOptions): Promise<Inferred> {
    const { known = [], eventTimeType } = options
    const knownNames = new Set([...known.map(({ name }) => name), ...systemNames(options)].map(foldAscii))
    const eventTimeName = foldAscii(eventTimeNameOf(options) ?? '')
    const added: Field[] = []
    const valueless: string[] = []
    let eventTimePosition: number | undefined
    let spelling: string | undefined
    let eventTime: DataType = timestampMs
    for (const [index, field] of this.#file.fields.entries()) {
      const name = must(this.#names[index], 'a name for each column')
      const folded = foldAscii(name)
      const type = datasetType(innerType(field.type))
      if (isZoneless(field) && options.timeZone === undefined) throw zoneless(name)
      if (folded === eventTimeName) {
        this.#demand(index)
        spelling ??= name
        eventTimePosition ??= known.length + added.length
        if (type?.kind === 'Date') eventTime = type
      } else if (!knownNames.has(folded)) {
        checkColumnName(name)
        this.#demand(index)
        if (type === undefined) valueless.push(name)
        else {
          knownNames.add(folded)
          added.push({ name, type: optional(type) })
        }
      }
    }
    const { columns } = options
    if (known.length + added.length > columns) throw tooManyColumns(columns, fewerColumns)
    return {
      records: this.#file.rows,
      fields: [...known, ...added],
      added,
      eventTimeType: eventTimeType ?? eventTime,
      ...defined({ eventTimePosition, eventTime: spelling }),
      valueless,
    }
  }

  get warnings(): readonly string[] {
    return this.#warnings.texts
  }

  async *read(options: ReaderOptions): AsyncGenerator<RecordBatch> {
    const plan = tablePlan(options)
    const faults = fileFaults()
    this.#warnings = new Warnings()
    const targets = this.#targets(plan, options, faults)
    const missing = plan.columns.filter(
      ({ required }, column) => required && !targets.some((target) => target.column === column),
    )
    const small = new SmallBatches()
    let record = 0
    for await (const batch of this.#file.batches(targets.map(({ source }) => source))) {
      if (batch.rows === 0) continue
      if (record === 0) for (const { name } of missing) faults.addBare(missingFault(name))
      noteLongRecords(batch, record, options, faults)
      const made = new Map<number, Column>()
      for (const [index, { column, cast }] of targets.entries()) {
        made.set(column, cast.cast(must(batch.columns[index], 'a column'), record))
        // Columns of many values, one after the other, would hold all others up.
        if (batch.rows > manyRows) await nextTurn()
      }
      record += batch.rows
      if (faults.total > mostFaults) throw faults.toError(false, { isWhole: false })
      if (faults.total > 0) continue
      const columns = plan.columns.map(({ field }, column) => made.get(column) ?? nullColumn(field, batch.rows))
      yield* small.add({ rows: batch.rows, columns })
    }
    if (faults.total > 0) throw faults.toError(false)
    yield* small.rest()
  }

  /** What becomes of each column of the file; notes those that can become nothing. */
  #targets(plan: TablePlan, options: ReaderOptions, faults: FaultLog): Target[] {
    const targets: Target[] = []
    const taken = new Set<number>()
    for (const [source, field] of this.#file.fields.entries()) {
      const name = must(this.#names[source], 'a name for each column')
      const column = plan.byName.get(foldAscii(name))
      if (column === reservedName) {
        faults.addBare({
          column: name,
          kind: 'ReservedColumn',
          message: `'${name}' is a system column; the node fills it.`,
        })
      } else if (column === undefined) {
        // Nothing is lost with a column that has no values.
        if (options.unknownFields === 'ignore' || innerType(field.type).kind === 'Null') continue
        faults.addBare({ column: name, kind: 'UnknownField', message: unknownFieldMessage(name, undefined) })
      } else if (taken.has(column)) {
        faults.addBare({ column: name, kind: 'DuplicateField', message: `The file has two columns '${name}'.` })
      } else {
        this.#demand(source)
        taken.add(column)
        const to = must(plan.columns[column], 'a column of the plan')
        const { kind } = innerType(to.field.type)
        const held = innerType(field.type).kind === 'Time' ? 'times of day' : this.#file.texts.get(source)
        // The geometry of a map goes out as it came in.
        if (held !== undefined && source !== this.#file.geometry && kind !== 'List' && kind !== 'Time')
          this.#warnings.add(`Column '${name}' holds ${held}; they are stored as ${textsOf[held]}`)
        const cast = new ColumnCast(innerType(field.type), to, { plan, options, faults, warnings: this.#warnings })
        targets.push({ source, column, cast })
      }
    }
    return targets
  }

  /** Throws where a column that is used cannot be read; nobody minds one that is not used. */
  #demand(source: number): void {
    const refusal = this.#file.refused.get(source)
    if (refusal !== undefined) throw refusal
  }
}

/** Joins batches of few rows: some writers make one of each row. */
class SmallBatches {
  readonly #held: RecordBatch[] = []
  #rows = 0
  #bytes = 0

  /** What is complete with this batch: one batch, or none. */
  add(batch: RecordBatch): readonly RecordBatch[] {
    this.#held.push(batch)
    this.#rows += batch.rows
    this.#bytes += batchBytes(batch)
    return this.#rows >= manyRows || this.#bytes >= manyBytes ? this.rest() : []
  }

  /** What is held, as one batch; none where that is nothing. */
  rest(): readonly RecordBatch[] {
    const held = this.#held.splice(0)
    this.#rows = 0
    this.#bytes = 0
    return held.length === 0 ? [] : [concatBatches(held)]
  }
}

function fileFaults(): FaultLog {
  const faults = new FaultLog()
  faults.whole = 'The file'
  return faults
}

function missingFault(name: string): Parameters<FaultLog['addBare']>[0] {
  const message = `Column '${name}' is required and the file does not have it.`
  return { record: 0, column: name, kind: 'MissingRequired', message }
}

function isZoneless({ type }: Field): boolean {
  const inner = innerType(type)
  return inner.kind === 'Timestamp' && inner.timezone === undefined
}

/** The refusal to make a column of times that may be of any zone. */
export function zoneless(name: string): NodeError {
  const faults = fileFaults()
  faults.addBare({ column: name, kind: 'BadTimestamp', message: zonelessReason(name) })
  return faults.toError(false)
}

/** Notes rows that take more than a record may; only batches of few rows can have such. */
function noteLongRecords(batch: RecordBatch, first: number, { recordBytes }: FormatOptions, faults: FaultLog): void {
  if (batchBytes(batch) <= recordBytes) return
  for (let row = 0; row < batch.rows; row++) {
    let bytes = 0
    for (const { offsets } of batch.columns) bytes += (offsets?.[row + 1] ?? 0) - (offsets?.[row] ?? 0)
    if (bytes <= recordBytes) continue
    const message = `The record has ${bytes} bytes; at most ${recordBytes} are allowed.`
    faults.addBare({ record: first + row, kind: 'RecordTooLarge', message })
  }
}

/**
 * The type that a column of a dataset gets from one of a file; undefined for one that holds nothing. Times finer than a
 * microsecond stay whole in no answer of the engine: their column is of microseconds, finer digits are cut and warned of. A
 * dataset has no times of day: they are text.
 */
function datasetType(type: DataType): DataType | undefined {
  switch (type.kind) {
    case 'Null':
      return undefined
    case 'Float16':
      return { kind: 'Float32' }
    case 'Timestamp': {
      const unit = type.unit === undefined || type.unit === 'Second' ? 'Millisecond' : type.unit
      return { kind: 'Timestamp', unit: unit === 'Nanosecond' ? 'Microsecond' : unit, timezone: 'UTC' }
    }
    case 'Time':
      return { kind: 'String' }
    default:
      return type
  }
}

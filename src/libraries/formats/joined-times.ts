// The event times that two fields are, a day and a time of day (`eventTime=Datum,Uhrzeit`): where a record brings none of its own.
// What is no such time is a fault of its record (docs/spec/http.md §6).

import { utf8, decodeUtf8 } from '../base/bytes.ts'
import { must } from '../base/assert.ts'
import { readTimeOfDay, TimeScan } from '../base/calendar.ts'
import { NodeError, type RecordError } from '../base/errors.ts'
import { ColumnBuilder } from '../columnar/arrow/column-builder.ts'
import { isPresent } from '../columnar/arrow/columns.ts'
import { foldAscii } from '../model/names.ts'
import { type Column, type Field, innerType, optional, type RecordBatch, timestampMs } from '../model/schema.ts'
import type { FormatOptions } from './format.ts'
import { LocalTimes } from './local-times.ts'

export interface JoinedFields extends Pick<FormatOptions, 'timeZone' | 'ambiguous'> {
  readonly day: JoinedField
  readonly time: JoinedField
}

interface JoinedField {
  readonly name: string
  /** Among the columns of rows. */
  readonly column: number
}

const mostFaults = 100
const dayMs = 86_400_000
const cleared = /^\d(?=:)/

/** The two names of `eventTime=Datum,Uhrzeit`; undefined for one field. */
export function joinedNames(eventTime: string | undefined): readonly [day: string, time: string] | undefined {
  const [day = '', time = '', ...more] = eventTime?.startsWith('/') === true ? [] : (eventTime?.split(',') ?? [])
  const pair = [day.trim(), time.trim()] as const
  return more.length > 0 || pair.includes('') ? undefined : pair
}

/** Where the two fields are among columns, the first of which is the event time. Throws NodeError `InvalidParameter`. */
export function joinedFields(
  [day, time]: readonly [day: string, time: string],
  fields: readonly Field[],
  zone: Pick<FormatOptions, 'timeZone' | 'ambiguous'>,
): JoinedFields {
  const [event] = fields
  if (event !== undefined && innerType(event.type).kind !== 'Timestamp')
    throw wrong(`the event times of the dataset are days`, 'Name the field of the day alone.')
  if (zone.timeZone === undefined)
    throw wrong('two fields have no zone', 'Say timeZone too, such as timeZone=Europe/Berlin.')
  return {
    day: fieldOf(day, { kind: 'Date', is: 'days', fields }),
    time: fieldOf(time, { kind: 'String', is: 'texts', fields }),
    ...zone,
  }
}

function fieldOf(
  name: string,
  { kind, is, fields }: { readonly kind: 'Date' | 'String'; readonly is: string; readonly fields: readonly Field[] },
): JoinedField {
  const column = fields.findIndex((field, at) => at > 0 && foldAscii(field.name) === foldAscii(name))
  const field = fields[column]
  const candidates = fields.slice(1, mostFaults).map((one) => one.name)
  if (field === undefined)
    throw wrong(`'${name.slice(0, 80)}' is no column`, 'Name two fields of the records, or one.', candidates)
  const found = innerType(field.type).kind
  if (found === kind) return { name: field.name, column }
  const hint =
    kind === 'Date'
      ? `Say how its days are written: dateFormat.${field.name}=dd.MM.yyyy`
      : 'Times of day are texts such as 14:05.'
  throw wrong(`'${field.name}' holds ${found}, not ${is}`, hint)
}

function wrong(why: string, hint: string, candidates?: readonly string[]): NodeError {
  return new NodeError('InvalidParameter', `The parameter eventTime names two fields, and ${why}.`, {
    hint,
    ...(candidates && { candidates }),
  })
}

/** Gives rows their times. */
export class JoinedTimes {
  readonly #fields: JoinedFields
  readonly #local: LocalTimes | undefined
  readonly #scan = new TimeScan()
  readonly #errors: RecordError[] = []
  #total = 0

  constructor(fields: JoinedFields) {
    this.#fields = fields
    this.#local = LocalTimes.of(fields)
  }

  /** The rows with their times; the first of them is `record`. */
  fill(batch: RecordBatch, record: number): RecordBatch {
    const [event, ...others] = batch.columns
    const own = must(event, 'an event-time column')
    const ownAt = new DataView(own.values.buffer, own.values.byteOffset)
    const [days, times] = [this.#column(batch, 'day'), this.#column(batch, 'time')]
    const dayAt = new DataView(days.values.buffer, days.values.byteOffset)
    const builder = new ColumnBuilder({ name: own.name, type: optional(timestampMs) }, batch.rows)
    for (let row = 0; row < batch.rows; row++) {
      if (isPresent(own, row)) {
        builder.appendBigInt64(ownAt.getBigInt64(8 * row, true))
        continue
      }
      const isThere = isPresent(days, row) && isPresent(times, row)
      const ms = isThere ? this.#msAt(record + row, dayAt.getInt32(4 * row, true), textAt(times, row)) : undefined
      if (ms === undefined) builder.appendNull()
      else builder.appendInt64(ms)
    }
    return { ...batch, columns: [builder.finish(), ...others] }
  }

  /** Throws NodeError `RecordsDoNotFit` where some were no times: with at most 100 of them, and their total. */
  demandAll(): void {
    const [first] = this.#errors
    if (first === undefined) return
    throw new NodeError('RecordsDoNotFit', `Record ${first.record}: ${first.message} Nothing was stored.`, {
      errors: this.#errors,
      errorsTotal: this.#total,
      hint: 'The second field that eventTime names is a time of day such as 14:05 or 14:05:30.',
    })
  }

  #column({ columns }: RecordBatch, of: 'day' | 'time'): Column {
    return must(columns[this.#fields[of].column], 'a column of the schema')
  }

  #msAt(record: number, day: number, text: string): number | undefined {
    const bytes = utf8(text.replace(cleared, '0$&'))
    const fault = readTimeOfDay(this.#scan, bytes, 0, bytes.length)
    if (fault !== undefined || this.#scan.end < bytes.length)
      return this.#fault(record, `'${text.slice(0, 60)}' is no time of day.`)
    const { seconds, nanos } = this.#scan
    const local = (day * dayMs) / 1000 + seconds
    const instant = this.#local === undefined ? local : this.#local.instantOf(local, nanos)
    if (instant === undefined) return this.#fault(record, `'${text.slice(0, 60)}': ${this.#local?.reason ?? ''}.`)
    return instant * 1000 + Math.floor(nanos / 1e6)
  }

  #fault(record: number, message: string): undefined {
    this.#total += 1
    const column = this.#fields.time.name
    if (this.#errors.length < mostFaults) this.#errors.push({ record, column, kind: 'WrongType', message })
  }
}

function textAt({ values, offsets }: Column, row: number): string {
  return decodeUtf8(values.subarray(offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0)).trim()
}

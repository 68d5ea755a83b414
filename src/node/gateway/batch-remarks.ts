// What an answer says of a batch: where its event times came from, what was changed or is doubted of its values
// (libraries/base/warnings.ts), and which new column looks like a time that nobody named. Pure.

import { defined } from '../../libraries/base/collections.ts'
import type { Offer } from '../../libraries/formats/dialect/offers.ts'
import { received } from '../../libraries/formats/event-time.ts'
import { type ColumnTold, columnsTold, rowsTold } from '../../libraries/formats/preview.ts'
import { maybeTimeName } from '../../libraries/model/time-names.ts'
import type { SkippedLines } from '../../libraries/formats/format.ts'
import { type Field, innerType } from '../../libraries/model/schema.ts'
import type { IngestControls } from './controls.ts'
import type { TypedBody } from './reading.ts'
import type { Shape } from './shape.ts'

export interface BatchRemarks {
  /** Absent for a batch without records. */
  readonly eventTime?: EventTimeSource
  /** Sentences; absent where there are none. */
  readonly warnings?: readonly string[]
  /** Of a batch that makes the columns, or stores nothing. */
  readonly columns?: readonly ColumnTold[]
  /** Lines that were left out. */
  readonly skipped?: SkippedLines
  /** Dialects that were tried on the body. */
  readonly offers?: readonly Offer[]
  /** The first rows, of a batch that stores nothing. */
  readonly rows?: readonly object[]
}

export interface DryRunAnswer {
  readonly dryRun: true
  readonly records: number
  readonly fields: readonly Field[]
  readonly told: BatchRemarks
}

interface EventTimeSource {
  /** `field`: the records brought it; `header`: odf-event-time; `received`: the time of the request. */
  readonly from: 'field' | 'header' | 'received'
  /** The field, as it was named. */
  readonly name?: string
  /** Records without it, where there are some of both; theirs came from `otherwise`. */
  readonly missing?: number
  readonly otherwise?: 'header' | 'received'
}

/** `before`: the shape of the dataset as the batch found it. */
export function remarksOn(controls: IngestControls, body: TypedBody, before: Shape | undefined): BatchRemarks {
  const { rows, undated, shape } = body
  if (rows === 0) return body.warnings.length === 0 ? {} : { warnings: body.warnings }
  const otherwise = controls.eventTimeMs === undefined ? 'received' : 'header'
  const all = undated === rows
  const [offer] = body.offers ?? []
  const read = offer === undefined ? [] : [`More of it would be read as numbers, days or times with ${offer.query}.`]
  const warnings = [...body.warnings, ...read, ...(all ? unnamedTime(controls, shape, before) : [])]
  const { skipped } = body
  const warned = { ...(warnings.length > 0 && { warnings }), ...defined({ skipped }), ...shownOf(controls, body) }
  if (all) return { eventTime: { from: otherwise }, ...warned }
  const asked = controls.eventTime === received ? undefined : controls.eventTime
  const name = body.takenTime ?? asked ?? shape.vocabulary.eventTimeColumn
  return { eventTime: { from: 'field', name, ...(undated === 0 ? {} : { missing: undated, otherwise }) }, ...warned }
}

function shownOf(
  { dialect, timeZone, rows }: IngestControls,
  { preview, shape, offers = [] }: TypedBody,
): Pick<BatchRemarks, 'columns' | 'offers' | 'rows'> {
  if (preview === undefined) return {}
  const offered = offers.length > 0 && { offers }
  const { payloadFields } = shape
  const columns = columnsTold(payloadFields, preview, { dialect, timeZone })
  return { columns, ...offered, ...(rows !== undefined && { rows: rowsTold(payloadFields, preview) }) }
}

function unnamedTime(
  { eventTime, dryRun }: IngestControls,
  shape: Shape,
  before: Shape | undefined,
): readonly string[] {
  const isNew = (name: string): boolean => before?.fields.every((field) => field.name !== name) ?? true
  const likely = shape.fields.filter(({ name }) => maybeTimeName(name) && isNew(name))
  const column = likely.find(holdsTimes) ?? likely[0]
  if (eventTime !== undefined || column === undefined) return []
  const { name, type } = column
  const way = dryRun ? 'Send the rows' : 'To start over, delete the dataset and send its rows again'
  const unit = /^(?:U?Int|Float|Decimal)/.test(innerType(type).kind) ? ' and eventTimeUnit=s, ms, us or ns' : ''
  const form =
    innerType(type).kind === 'String'
      ? ', if its texts are times such as 2026-01-31T12:00:00Z, and with timeZone=UTC if they lack a zone'
      : ''
  return [
    `The column '${name}' looks like the time of its records, and their event time is when they were received. ` +
      `${way} with eventTime=${name}${unit}${form}.`,
  ]
}

function holdsTimes({ type }: Field): boolean {
  return ['Timestamp', 'Date'].includes(innerType(type).kind)
}

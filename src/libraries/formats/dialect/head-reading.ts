// The first bytes of a body of cells, read to the last record under parameters of a request: by the inferrer and the reader that read
// whole bodies.

import { decodeUtf8 } from '../../base/bytes.ts'
import { defined } from '../../base/collections.ts'
import { foldAscii } from '../../model/names.ts'
import { NodeError } from '../../base/errors.ts'
import { sliceBatch } from '../../columnar/arrow/columns.ts'
import { ndJson } from '../../columnar/outputs/ndjson/format.ts'
import { type Field, innerType, type RecordBatch, timestampMs } from '../../model/schema.ts'
import { tablePlan } from '../column-plan.ts'
import { cellSigns } from '../csv/cells.ts'
import { csv, tsv } from '../csv/format.ts'
import type { FormatOptions, ReaderOptions } from '../format.ts'
import { dialectOf } from './dialect.ts'
import { type HeadFacts, recordsOf, separatorOf } from './table-finds.ts'

const jsonDepth = 64

export interface HeadReading {
  readonly columns: number
  /** Columns of anything but text. */
  readonly typed: number
  readonly first: Readonly<Record<string, unknown>>
}

/** Of a text in UTF-8; undefined where it is refused. A record that may go on after the text is not read. */
export function readingOf(text: Uint8Array, facts: HeadFacts): HeadReading | undefined {
  try {
    return read(text, facts)
  } catch (error) {
    if (error instanceof NodeError) return undefined
    throw error
  }
}

function read(all: Uint8Array, facts: HeadFacts): HeadReading | undefined {
  const { given, columns, limits, vocabulary } = facts
  const { eventTimeColumn } = vocabulary
  const isTime = ({ name }: Field): boolean => foldAscii(name) === foldAscii(eventTimeColumn)
  const known = columns?.filter((field) => !isTime(field))
  const format = facts.format === 'csv' ? csv : tsv
  const options = optionsOf(facts)
  const signs = cellSigns({ separator: separatorOf(facts), mediaType: '' }, options.dialect)
  let stop = facts.isWhole ? all.length : 0
  if (!facts.isWhole) for (const { end } of recordsOf(all, signs, false)) stop = end + 1
  const text = all.subarray(0, stop)
  const unknownFields = given['unknownFields'] ?? (given['create'] === 'true' ? 'add' : 'reject')
  const isInferred = known === undefined || unknownFields === 'add'
  const inferrer = format.createInferrer({ ...options, columns: limits.columns, ...defined({ known }) })
  if (isInferred) inferrer.push(text)
  const inferred = isInferred ? inferrer.finish() : undefined
  const {
    fields = columns ?? [],
    eventTimeType = facts.eventTimeType ?? timestampMs,
    valueless,
    eventTimePosition,
  } = inferred ?? {}
  const reading: ReaderOptions = {
    ...options,
    fields,
    eventTimeType,
    unknownFields: unknownFields === 'ignore' ? 'ignore' : 'reject',
    ...defined({ valueless, csvHeader: inferred?.csvHeader ?? options.csvHeader }),
  }
  const reader = format.createReader(reading)
  reader.push(text)
  const [batch] = reader.finish().batches
  if (batch === undefined) return undefined
  const hasTime = eventTimePosition !== undefined || fields.some(isTime)
  const typed =
    fields.filter(({ type }) => innerType(type).kind !== 'String').length + Number(eventTimePosition !== undefined)
  return { columns: fields.length, typed, first: firstOf(batch, reading, hasTime) }
}

/** The controls of the request were read before: their words are those of the options. */
function optionsOf({ given, limits: { recordBytes }, vocabulary }: HeadFacts): FormatOptions {
  const said = (name: string): string | undefined => {
    const text = given[name]?.toString()
    return text === 'none' || text === 'refuse' ? undefined : text
  }
  const [timeZone, ambiguous, eventTimeUnit, csvHeader] = ['timeZone', 'ambiguous', 'eventTimeUnit', 'header'].map(said)
  const options = { dialect: dialectOf(given), timeZone, ambiguous, eventTimeUnit, csvHeader }
  const read = defined(options) as Partial<FormatOptions> // of controls
  return { vocabulary, jsonDepth, recordBytes, ...read }
}

/** The first row; without the event time, where no cell is that, and without lists, which lines of JSON do not have. */
function firstOf(batch: RecordBatch, reading: ReaderOptions, hasTime: boolean): HeadReading['first'] {
  const { eventTimeColumn } = reading.vocabulary
  const plan = tablePlan(reading).columns.map(({ field: { name, type } }) => ({ name, type: innerType(type) }))
  const kept = [...plan.keys()].filter((at) => plan[at]?.type.kind !== 'List')
  const columns = kept.flatMap((at) => plan[at] ?? []).map((one) => ({ ...one, means: 'value' as const }))
  const cells = { rows: batch.rows, columns: kept.flatMap((at) => batch.columns[at] ?? []) }
  const file = ndJson.begin(columns, { escapeFormulas: false, geometry: undefined }, { compress: (bytes) => bytes })
  const [line = new Uint8Array(0)] = file.rows(sliceBatch(cells, 0, 1))
  const { [eventTimeColumn]: time, ...rest } = JSON.parse(decodeUtf8(line)) as Record<string, unknown> // of our writer
  return time === null && !hasTime ? rest : { [eventTimeColumn]: time, ...rest }
}

// The rows of a body on their way to the log: each gets an event time, and what they say as a whole is noted: how many
// brought none, and the value that is the key of the batch.

import { isPresent } from '../columnar/arrow/columns.ts'
import { fillEventTime } from '../columnar/arrow/event-time.ts'
import { must } from '../base/assert.ts'
import { parseJson } from '../base/json/json.ts'
import { JsonError } from '../base/json/parser.ts'
import { decodeUtf8 } from '../base/bytes.ts'
import { NodeError, type RecordErrorKind } from '../base/errors.ts'
import { JsonNumber, type JsonValue } from '../base/json/value.ts'
import type { Column, RecordBatch } from '../model/schema.ts'
import { type JoinedFields, JoinedTimes } from './joined-times.ts'
import { type PointColumns, Points } from './points.ts'
import { Preview, type PreviewFacts } from './preview.ts'
import { fixedText } from '../columnar/outputs/leaf-text.ts'

/** Of JSON that has a key inside; readers take no deeper one by default. */
const mostDepth = 64

export interface SentRowsOptions {
  /** Event time of records that have none, milliseconds since 1970 UTC. */
  readonly fallbackMs: number
  /** What holds the key of the batch, one field or several. */
  readonly key?: readonly KeyField[]
  /** What the column of geometries is made of. */
  readonly point?: PointColumns
  /** What the event time is made of. */
  readonly joined?: JoinedFields
  /** How many rows are shown; absent: nothing is to be told of the columns. */
  readonly preview?: number
}

export interface KeyField {
  /** As `dedupe` has it. */
  readonly name: string
  /** Its place among the columns; -1 where there is no such column. */
  readonly column: number
  /** Where in the JSON text of the column it is; empty: the column is it. */
  readonly inside: readonly string[]
}

export interface SentFacts {
  /** Records that brought no event time. */
  readonly undated: number
  /** The one value of the key's field, of several a JSON list; undefined where no key is asked for, or there are no records. */
  readonly keyValue: string | undefined
  /** Where it is asked for. */
  readonly preview?: PreviewFacts | undefined
}

export class SentRows {
  readonly #options: SentRowsOptions
  readonly #points: Points | undefined
  readonly #times: JoinedTimes | undefined
  readonly #preview: Preview | undefined
  #records = 0
  #undated = 0
  #keyValue: string | undefined

  constructor(options: SentRowsOptions) {
    this.#options = options
    this.#points = options.point && new Points(options.point)
    this.#times = options.joined && new JoinedTimes(options.joined)
    this.#preview = options.preview === undefined ? undefined : new Preview(options.preview)
  }

  /** After the last rows. Throws NodeError `RecordsDoNotFit` where some have no place that they should have. */
  finish(): SentFacts {
    this.#points?.demandAll()
    this.#times?.demandAll()
    return { undated: this.#undated, keyValue: this.#keyValue, preview: this.#preview?.finish() }
  }

  /** The next rows with an event time each, and their points. Throws NodeError `RecordsDoNotFit` where they have not one value of the key. */
  take(batch: RecordBatch): RecordBatch {
    const { fallbackMs, key } = this.#options
    if (key !== undefined) this.#noteKey(batch, key)
    const placed = this.#points?.fill(batch, this.#records) ?? batch
    const timed = this.#times?.fill(placed, this.#records) ?? placed
    this.#preview?.take(timed)
    this.#undated += must(timed.columns[0], 'an event-time column').nullCount
    this.#records += batch.rows
    return fillEventTime(timed, fallbackMs)
  }

  #noteKey(batch: RecordBatch, key: readonly KeyField[]): void {
    const texts = key.map(({ column, inside }) => keyText(batch.columns[column], inside))
    for (let row = 0; row < batch.rows; row++) {
      const found = texts.map((textAt) => textAt(row))
      const missing = key[found.indexOf(undefined)]
      if (missing !== undefined) {
        const { name } = missing
        throw this.#misfit('MissingRequired', row, `Field '${name}', which dedupe names, has no value here`, name)
      }
      const [only = ''] = found
      const text = found.length === 1 ? only : JSON.stringify(found)
      this.#keyValue ??= text
      if (text === this.#keyValue) continue
      const name = key.map((field) => field.name).join(',')
      throw this.#misfit('WrongType', row, `'${name}', which dedupe names, has another value than before`, name)
    }
  }

  #misfit(kind: RecordErrorKind, row: number, message: string, column: string): NodeError {
    const record = this.#records + row
    return new NodeError('RecordsDoNotFit', `Record ${record}: ${message}. Nothing was stored.`, {
      errors: [{ record, column, kind, message: `${message}.` }],
      errorsTotal: 1,
      hint: 'The key is the same in all records of a batch: send records of one key together, or say dedupe=body.',
    })
  }
}

/** Prints values of a column, or of what is inside of its JSON text; undefined where there is none that can be a key. */
function keyText(column: Column | undefined, inside: readonly string[]): (row: number) => string | undefined {
  if (column === undefined) return () => undefined
  const { type, values, offsets } = column
  const present = (text: (row: number) => string | undefined) => (row: number) =>
    isPresent(column, row) ? text(row) : undefined
  if (type.kind === 'String') {
    const textAt = (row: number): string => decodeUtf8(values.subarray(offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0))
    return present(inside.length === 0 ? textAt : (row) => textInside(textAt(row), inside))
  }
  if (inside.length > 0 || type.kind === 'Bool' || type.kind === 'Binary' || type.kind === 'List')
    return () => undefined
  const text = fixedText(column)
  return present((row) => text(row).replaceAll('"', ''))
}

/** The text or number at a path in JSON text. */
function textInside(json: string, path: readonly string[]): string | undefined {
  let value: JsonValue | undefined
  try {
    value = parseJson(json, { maxDepth: mostDepth })
  } catch (error) {
    // A text that is no JSON has nothing inside.
    if (error instanceof JsonError) return undefined
    throw error
  }
  for (const name of path) value = value instanceof Map ? value.get(name) : undefined
  return value instanceof JsonNumber ? value.token : typeof value === 'string' ? value : undefined
}

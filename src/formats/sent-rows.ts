// The rows of a body on their way to the log: each gets an event time, and what they say as a whole is noted: how many
// brought none, and the value that is the key of the batch.

import { isPresent } from '../arrow/columns.ts'
import { fillEventTime } from '../arrow/event-time.ts'
import { must } from '../lib/assert.ts'
import { decodeUtf8 } from '../lib/bytes.ts'
import { NodeError, type RecordErrorKind } from '../model/errors.ts'
import type { Column, RecordBatch } from '../model/schema.ts'
import { fixedText } from './leaf-text.ts'

export interface SentRowsOptions {
  /** Event time of records that have none, milliseconds since 1970 UTC. */
  readonly fallbackMs: number
  /** What holds the key of the batch: a name, and its place among the columns; -1 where there is no such column. */
  readonly key?: { readonly name: string; readonly column: number }
}

export interface SentFacts {
  /** Records that brought no event time. */
  readonly undated: number
  /** The one value of the key's column; undefined where no key is asked for, or there are no records. */
  readonly keyValue: string | undefined
}

export class SentRows {
  readonly #options: SentRowsOptions
  #records = 0
  #undated = 0
  #keyValue: string | undefined

  constructor(options: SentRowsOptions) {
    this.#options = options
  }

  get facts(): SentFacts {
    return { undated: this.#undated, keyValue: this.#keyValue }
  }

  /** The next rows with an event time each. Throws NodeError `RecordsDoNotFit` where they have not one value of the key. */
  take(batch: RecordBatch): RecordBatch {
    const { fallbackMs, key } = this.#options
    if (key !== undefined) this.#noteKey(batch, key)
    this.#undated += must(batch.columns[0], 'an event-time column').nullCount
    this.#records += batch.rows
    return fillEventTime(batch, fallbackMs)
  }

  #noteKey(batch: RecordBatch, { name, column: index }: { readonly name: string; readonly column: number }): void {
    const column = batch.columns[index]
    const textAt = column === undefined ? undefined : keyText(column)
    for (let row = 0; row < batch.rows; row++) {
      if (column === undefined || textAt === undefined || !isPresent(column, row)) {
        throw this.#misfit('MissingRequired', row, `Column '${name}', which dedupe names, has no value here`, name)
      }
      const text = textAt(row)
      this.#keyValue ??= text
      if (text === this.#keyValue) continue
      throw this.#misfit('WrongType', row, `Column '${name}', which dedupe names, has another value than before`, name)
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

/** Prints values of a column; undefined for types that are no keys. */
function keyText(column: Column): ((row: number) => string) | undefined {
  const { type, values, offsets } = column
  if (type.kind === 'String') return (row) => decodeUtf8(values.subarray(offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0))
  if (type.kind === 'Bool' || type.kind === 'Binary' || type.kind === 'List') return undefined
  const text = fixedText(column)
  return (row) => text(row).replaceAll('"', '')
}

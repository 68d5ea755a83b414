// What rows a body would become, found out without a node: the reading of the gateway over a file, for `preset test`.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { ArrowStreamReader } from './arrow/ipc-reader.ts'
import { nullColumn } from './arrow/null-column.ts'
import { formatOf, loaded } from './formats/registry.ts'
import { readControls } from './gateway/controls.ts'
import { demandRecords, discardBody, typedBody } from './gateway/parse-body.ts'
import type { TypedBody } from './gateway/reading.ts'
import { targetOf } from './gateway/shape.ts'
import { type LimitName, type Limits, limitTable } from './lib/limits.ts'
import { assert } from './lib/assert.ts'
import { type Field, innerType, type RecordBatch } from './model/schema.ts'
import { ndJson } from './outputs/ndjson/format.ts'

export interface TriedBody {
  /** Of the event time and the user columns, in order. */
  readonly columns: readonly string[]
  readonly rows: number
  /** Rows that bring no event time: theirs would be the time of the request. */
  readonly undated: number
  /** The rows, one JSON object a line, values as in answers. */
  readonly ndjson: readonly Uint8Array[]
}

/**
 * Reads a body as a request that makes a dataset would, within the limits of a node by default. Throws NodeErrors of
 * docs/spec/http.md §6.
 */
export async function tryBody(
  stream: Readable,
  headers: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
): Promise<TriedBody> {
  const controls = readControls(headers, { ...query, create: 'true' })
  const format = await loaded(formatOf(controls.contentType))
  const spoolDir = await mkdtemp(join(tmpdir(), 'proofstream-try-'))
  const source = {
    stream,
    format,
    controls,
    limits: limits(),
    spoolDir,
    fallbackMs: 0,
    cost: { read: () => {}, fill: () => {} },
  }
  try {
    const body = await typedBody(source, targetOf(undefined))
    try {
      demandRecords(body)
      return { ...(await rowsOf(body)), rows: body.rows, undated: body.undated }
    } finally {
      await discardBody(body)
    }
  } finally {
    await rm(spoolDir, { recursive: true, force: true })
  }
}

function limits(): Limits {
  const values = Object.entries(limitTable).map(([name, { value }]) => [name, value])
  return Object.fromEntries(values) as Record<LimitName, number> // of all names
}

/** The batch with all columns: those that it does not bring are null. */
function withAll({ rows, columns }: RecordBatch, fields: readonly Field[]): RecordBatch {
  const byName = new Map(columns.map((column) => [column.name, column]))
  return { rows, columns: fields.map((field) => byName.get(field.name) ?? nullColumn(field, rows)) }
}

async function rowsOf({ typed, shape }: TypedBody): Promise<Pick<TriedBody, 'columns' | 'ndjson'>> {
  const columns = shape.payloadFields.map(
    ({ name, type }) => ({ name, type: innerType(type), means: 'value' }) as const,
  )
  const writer = ndJson.begin(columns, { escapeFormulas: false, geometry: undefined }, { compress: (bytes) => bytes })
  const ndjson: Uint8Array[] = []
  const add = (batches: readonly RecordBatch[]): void => {
    for (const batch of batches) ndjson.push(...writer.rows(withAll(batch, shape.payloadFields)))
  }
  const finished = typed.finish()
  const rows = finished instanceof Promise ? await finished : finished
  assert(rows.kind !== 'sent', 'there is no log')
  if (rows.kind === 'few') add([rows.columns])
  else {
    const reader = new ArrowStreamReader()
    for await (const chunk of rows.stream()) add(reader.push(chunk))
  }
  ndjson.push(...writer.end())
  return { columns: columns.map(({ name }) => name), ndjson }
}

// Each file under test/fixtures/ingest/<format> is a case: a body, and beside it `<name>.expected.json` with the columns
// and rows that the node makes of it, or the error that it answers. A new file is a new test.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { formats } from '../../src/formats/registry.ts'
import { NodeError } from '../../src/model/errors.ts'
import { typeText } from '../../src/model/schema.ts'
import { infer, readBytes, readerOptions, rowsOf } from './reading.ts'

const root = join(import.meta.dirname, '../fixtures/ingest')

/** What becomes of a body whose columns are inferred, in pieces of `chunkBytes`: what JSON can say of it. */
function outcome(format: string, body: Buffer, chunkBytes: number | undefined): unknown {
  try {
    const inferred = infer(format, body)
    const { fields, eventTimeType, valueless, csvHeader } = inferred
    const header = csvHeader === undefined ? {} : { csvHeader }
    const read = readBytes(format, body, readerOptions(fields, { eventTimeType, valueless, ...header }), chunkBytes)
    const columns = [
      `event_time ${typeText(eventTimeType)}`,
      ...fields.map(({ name, type }) => `${name} ${typeText(type)}`),
    ]
    return { columns, rows: rowsOf(read).map((row) => row.map((v) => (typeof v === 'bigint' ? String(v) : v))) }
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    const { kind, message, details } = error
    return { error: { kind, message, ...(details.errors === undefined ? {} : { errors: details.errors }) } }
  }
}

describe.each(formats.map(({ name }) => name))('%s', (format) => {
  const folder = join(root, format)
  const bodies = readdirSync(folder).filter((name) => !name.endsWith('.expected.json'))

  test('has fixtures', () => expect(bodies.length).toBeGreaterThan(1))

  test.each(bodies)('%s', (name) => {
    const expected = JSON.parse(readFileSync(join(folder, `${name.replace(/\.\w+$/, '')}.expected.json`), 'utf8'))
    const body = readFileSync(join(folder, name))
    for (const chunkBytes of [undefined, 7]) expect(outcome(format, body, chunkBytes)).toEqual(expected)
  })
})

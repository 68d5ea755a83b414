// Each file under test/fixtures/ingest/<format> is a case: a body, and beside it `<name>.expected.json` with the columns
// and rows that the node makes of it, or the error that it answers. A new file is a new test.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Inferred, ParsedBody } from '../../../src/libraries/formats/format.ts'
import { formatNamed, formats } from '../../helpers/formats.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { typeText } from '../../../src/libraries/model/schema.ts'
import { infer, readBytes, readerOptions, readFileBody, rowsOf } from './reading.ts'

const root = join(import.meta.dirname, '../../fixtures/ingest')

interface Read {
  readonly inferred: Inferred
  readonly body: ParsedBody
}

/** A body whose columns are inferred and whose rows are read, in pieces of `chunkBytes` where it is a stream. */
async function inferAndRead(name: string, body: Buffer, chunkBytes: number | undefined): Promise<Read> {
  const format = formatNamed(name)
  if (format.kind === 'file') return readFileBody(format, body)
  const inferred = infer(name, body)
  const { fields, eventTimeType, valueless, csvHeader } = inferred
  const header = csvHeader === undefined ? {} : { csvHeader }
  const options = readerOptions(fields, { eventTimeType, valueless, ...header })
  return { inferred, body: readBytes(name, body, options, chunkBytes) }
}

/** What becomes of a body: what JSON can say of it. */
async function outcome(format: string, bytes: Buffer, chunkBytes: number | undefined): Promise<unknown> {
  try {
    const { inferred, body } = await inferAndRead(format, bytes, chunkBytes)
    const { fields, eventTimeType } = inferred
    const columns = [
      `event_time ${typeText(eventTimeType)}`,
      ...fields.map(({ name, type }) => `${name} ${typeText(type)}`),
    ]
    return { columns, rows: rowsOf(body).map((row) => row.map((v) => (typeof v === 'bigint' ? String(v) : v))) }
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    const { kind, message, details } = error
    return { error: { kind, message, ...(details.errors === undefined ? {} : { errors: details.errors }) } }
  }
}

describe.each(formats.all.map(({ name }) => name))('%s', (format) => {
  const folder = join(root, format)
  const bodies = readdirSync(folder).filter((name) => !name.endsWith('.expected.json'))

  test('has fixtures', () => expect(bodies.length).toBeGreaterThan(1))

  test.each(bodies)('%s', async (name) => {
    const expected = JSON.parse(readFileSync(join(folder, `${name.replace(/\.\w+$/, '')}.expected.json`), 'utf8'))
    const body = readFileSync(join(folder, name))
    for (const chunkBytes of [undefined, 7]) expect(await outcome(format, body, chunkBytes)).toEqual(expected)
  })
})

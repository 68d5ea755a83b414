// A body that may bring new columns is read once where it brings none: whatever it holds, the outcome is that of
// looking for columns first and reading the rows then.

import { readdirSync } from 'node:fs'
import { Readable } from 'node:stream'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeArrowStream } from '../../../src/libraries/columnar/arrow/ipc.ts'
import { libraryFormats, loaded } from '../../../src/libraries/formats/registry.ts'
import { formatNamed } from '../../helpers/formats.ts'
import { readControls } from '../../../src/node/gateway/controls.ts'
import { typedBody } from '../../../src/node/gateway/parse-body.ts'
import { fullSchema, shapeOf } from '../../../src/node/gateway/shape.ts'
import { fillEventTime } from '../../../src/libraries/columnar/arrow/event-time.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { defaultVocabulary, type Field, optional, timestampMs } from '../../../src/libraries/model/schema.ts'
import { defaultLimits } from '../../helpers/default-limits.ts'
import { spoolDir } from './support.ts'

const vocabulary = defaultVocabulary
const userFields: readonly Field[] = [
  { name: 'a', type: optional({ kind: 'Int64' }) },
  { name: 'b', type: optional({ kind: 'String' }) },
]
const schema = fullSchema(userFields, vocabulary, { type: timestampMs, position: undefined })
const shape = shapeOf(schema, 5, vocabulary)
const limits = { ...defaultLimits(), columns: 4, recordBytes: 60 }

interface Outcome {
  readonly rows?: number
  readonly columns?: readonly Field[]
  readonly stream?: string
  readonly error?: unknown
}

function refusal(error: unknown): Outcome {
  if (!(error instanceof NodeError)) throw error
  // The hash of the body is no word about its fault.
  const { bodyHash: _, offers: __, ...details } = error.details
  return { error: { kind: error.kind, message: error.message, details } }
}

async function outcome(mediaType: string, chunks: readonly string[]): Promise<Outcome> {
  const source = {
    stream: Readable.from(chunks.map((chunk) => Buffer.from(chunk))),
    format: await loaded(libraryFormats.of(mediaType)),
    controls: readControls({}, { unknownFields: 'add' }),
    limits,
    spoolDir,
    fallbackMs: 7,
    cost: { read: () => {}, fill: () => {}, bound: { least: 2 ** 30, perByte: 16, bodyMemoryBytes: 2 ** 32 } },
  }
  try {
    const body = await typedBody(source, { vocabulary, shape })
    const columns = body.shape.payloadFields
    if (body.rows === 0) return { rows: 0, columns }
    const rows = await body.typed.finish()
    if (rows.kind !== 'few') throw new TypeError('more rows than expected')
    const stream = Buffer.from(encodeArrowStream(columns, [rows.columns])).toString('latin1')
    await body.typed.discard()
    return { rows: body.rows, columns, stream }
  } catch (error) {
    return refusal(error)
  }
}

/** The same by two passes over the whole text. */
function expected(mediaType: string, text: string): Outcome {
  const format = formatNamed(libraryFormats.of(mediaType).format.name)
  if (format.kind === 'file') throw new TypeError('a format of streams')
  const options = { vocabulary, recordBytes: limits.recordBytes, jsonDepth: limits.jsonDepth }
  try {
    const known = { known: userFields, eventTimeType: timestampMs, columns: limits.columns }
    const inferrer = format.createInferrer({ ...options, ...known })
    inferrer.push(Buffer.from(text))
    const { added, valueless, csvHeader } = inferrer.finish()
    const fields = [...shape.payloadFields, ...added]
    const reader = format.createReader({
      ...options,
      fields: fields.slice(1),
      eventTimeType: timestampMs,
      unknownFields: 'reject',
      valueless,
      ...(csvHeader === undefined ? {} : { csvHeader }),
    })
    reader.push(Buffer.from(text))
    const { records, batches } = reader.finish()
    if (records === 0) return { rows: 0, columns: fields }
    const filled = batches.map((batch) => fillEventTime(batch, 7))
    return { rows: records, columns: fields, stream: Buffer.from(encodeArrowStream(fields, filled)).toString('latin1') }
  } catch (error) {
    return refusal(error)
  }
}

const anything = fc.constantFrom(1, null, 'text', 1.5, { x: 1 }, 'x'.repeat(70))
const member = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(fc.constant('a'), fc.nat(99)) },
  { weight: 12, arbitrary: fc.tuple(fc.constant('b'), fc.constantFrom('x', null, 5)) },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom('c', 'd'), fc.constantFrom(null, null, 1, 'y')) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('a', 'A', 'c', 'd', 'e', '', 'offset'), anything) },
)
const record = fc.uniqueArray(member, { maxLength: 3, selector: ([name]) => name })
const jsonLine = record.map(
  (members) => `{${members.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join(',')}}`,
)
const line = fc.oneof({ weight: 30, arbitrary: jsonLine }, fc.constantFrom('', 'no json', '{"a":'))
const csvLine = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('1,x', '2,', ',y') },
  fc.constantFrom('a,b', 'b,a', 'a,b,c', 'a', '1,x,2', '"open', 'a,a'),
)

const bodies = fc.oneof(
  fc.record({
    type: fc.constant('application/x-ndjson'),
    text: fc.array(line, { maxLength: 6 }).map((lines) => lines.join('\n')),
  }),
  fc.record({
    type: fc.constant('application/json'),
    text: fc.array(jsonLine, { maxLength: 6 }).map((items) => `[${items.join(',')}]`),
  }),
  fc.record({
    type: fc.constant('text/csv'),
    // A body without any line end has advice of its own, which comes from elsewhere.
    text: fc.array(csvLine, { maxLength: 5 }).map((lines) => lines.join('\n') + (lines.length === 1 ? '\n' : '')),
  }),
)

test('a body is read to the same end, with new columns, without, and with faults', async () => {
  const seen = { rows: 0, grown: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(bodies, fc.integer({ min: 1, max: 80 }), async ({ type, text }, step) => {
      const chunks = text.match(new RegExp(`[^]{1,${step}}`, 'g')) ?? []
      const found = await outcome(type, chunks)
      expect(found).toEqual(expected(type, text))
      if (found.error !== undefined) seen.refused += 1
      else if ((found.columns?.length ?? 0) > shape.payloadFields.length) seen.grown += 1
      else seen.rows += 1
    }),
    {
      numRuns: 600,
      // Names without a value, which make no column, are judged all the same.
      examples: ['{"a":1,"":null}', '{"a":1,"c":null,"d":null,"e":null}'].map((text) => [
        { type: 'application/x-ndjson', text },
        9,
      ]),
    },
  )
  expect(Math.min(seen.rows, seen.grown, seen.refused)).toBeGreaterThan(10)
  expect(readdirSync(spoolDir)).toEqual([])
})

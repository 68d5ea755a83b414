// NDJSON and JSON against JSON.parse and the ndjson package, and the same outcome wherever chunks are cut.

import { Readable } from 'node:stream'
import fc from 'fast-check'
import ndjson from 'ndjson'
import { describe, expect, it } from 'vitest'
import { base, failure, isPlain, optionalField, read, readerOptions, rowsOf } from './reading.ts'

const fields = [
  optionalField('device', { kind: 'String' }),
  optionalField('temp', { kind: 'Float64' }),
  optionalField('n', { kind: 'Int64' }),
  optionalField('ok', { kind: 'Bool' }),
]
const options = readerOptions(fields)

function orRefused(work: () => string): string {
  try {
    return work()
  } catch {
    return 'refused'
  }
}

/** True for valid JSON from which JSON.parse drops members, because their names stand twice. */
function namesTwice(json: string): boolean {
  const names = (text: string): number => text.replaceAll(' ', '').split('":').length
  return names(JSON.stringify(JSON.parse(json))) < names(json)
}

describe('any JSON', () => {
  const record = fc.record(
    {
      device: fc.oneof(fc.string({ unit: 'binary' }), fc.constant(null)),
      temp: fc.double({ noNaN: true, noDefaultInfinity: true }).filter(isPlain),
      n: fc.maxSafeInteger(),
      ok: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  type Row = { device?: string | null; temp?: number; n?: number; ok?: boolean }
  const expected = ({ device, temp, n, ok }: Row): unknown[] => [
    null,
    device ?? null,
    temp === undefined ? null : Object.is(temp, -0) ? 0 : temp,
    n === undefined ? null : BigInt(n),
    ok ?? null,
  ]

  it('gives what JSON.parse and the ndjson package give, at every chunk size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 8 }), fc.integer({ min: 1, max: 40 }), async (records, chunk) => {
        const text = records.map((row) => JSON.stringify(row)).join('\n')
        const parsed: unknown[] = []
        for await (const row of Readable.from([text]).pipe(ndjson.parse())) parsed.push(row)
        expect(parsed).toHaveLength(records.length)
        const rowsExpected = parsed.map((row) => expected(row as Row))
        expect(rowsOf(read('ndjson', text, options, chunk))).toEqual(rowsExpected)
        expect(rowsOf(read('json', JSON.stringify(records, null, 2), options, chunk))).toEqual(rowsExpected)
      }),
      { numRuns: 150 },
    )
  })

  it('is taken as JSON text by a String column, byte for byte, or refused where JSON.parse refuses', () => {
    const text = readerOptions([optionalField('v', { kind: 'String' })])
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b":',
      '1',
      '-2.5e3',
      'true',
      'null',
      ' ',
      '"\\n"',
      'x',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
        const value = `[${pieces.join('')}]`
        const line = `{"v":${value}}`
        const ours = orRefused(() => String(rowsOf(read('ndjson', line, text))[0]?.[1]))
        expect(ours).toBe(
          orRefused(() => JSON.stringify(JSON.parse(value))) === 'refused' || namesTwice(value) ? 'refused' : value,
        )
      }),
      { numRuns: 2000 },
    )
  })

  it('never gives anything but rows or a NodeError', () => {
    const bytes = fc.uint8Array({ maxLength: 60 })
    const mutated = fc.tuple(
      fc.constant('[{"n":1,"device":"é\\u0041"},{"temp":1.5e3,"ok":true}]'),
      fc.nat(),
      fc.nat(255),
    )
    fc.assert(
      fc.property(
        fc.oneof(bytes, mutated),
        fc.constantFrom('json', 'ndjson'),
        fc.integer({ min: 1, max: 64 }),
        (input, format, chunk) => {
          const body = input instanceof Uint8Array ? input : Buffer.from(input[0])
          if (!(input instanceof Uint8Array)) body[input[1] % body.length] = input[2]
          const outcome = (size: number): unknown => {
            try {
              return rowsOf(read(format as 'json', Buffer.from(body).toString('latin1'), { ...options, ...base }, size))
            } catch (error) {
              const { kind, details } = failure(() => {
                throw error
              })
              return [kind, details.errors]
            }
          }
          expect(outcome(chunk)).toEqual(outcome(1_000_000))
        },
      ),
      { numRuns: 1500 },
    )
  })
})

// Numbers keep their value, or are refused: integers that a float would round, in every format of text; what is dropped of a
// spelling is told.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DataType } from '../../../src/libraries/model/schema.ts'
import { faults, optionalField, read, readerOptions, rowsOf } from './reading.ts'

const columns = (kind: 'Float64' | 'Float32' | 'Int64') => readerOptions([optionalField('v', { kind })])
const bodies: Readonly<Record<string, (token: string) => string>> = {
  csv: (token) => `v\n${token}\n`,
  tsv: (token) => `v\n${token}\n`,
  json: (token) => `[{"v":${token}}]`,
  ndjson: (token) => `{"v":${token}}\n`,
  geojson: (token) =>
    `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{"v":${token}}}]}`,
}

/** The value that the format reads, or the kind of its fault. */
function valueOf(format: string, token: string, options = columns('Float64')): unknown {
  const text = (bodies[format] ?? String)(token)
  try {
    return rowsOf(read(format, text, options))
      .at(0)
      ?.at(-1)
  } catch {
    return faults(format, text, options)[0]?.kind
  }
}

describe.each(Object.keys(bodies))('an integer in %s', (format) => {
  const hasGeometry = format === 'geojson'
  const of = (type: DataType) =>
    readerOptions([...(hasGeometry ? [optionalField('geometry', { kind: 'String' })] : []), optionalField('v', type)])

  it('is in a Float64 column what it was, or OutOfRange', () => {
    const options = of({ kind: 'Float64' })
    fc.assert(
      fc.property(fc.oneof(fc.bigInt(-(2n ** 63n), 2n ** 63n), fc.bigInt(-(2n ** 80n), 2n ** 80n)), (value) => {
        const found = valueOf(format, String(value), options)
        expect(found).toBe(BigInt(Number(value)) === value ? Number(value) : 'OutOfRange')
      }),
    )
    for (const token of ['9007199254740993', '-1234567890123456789', `1${'0'.repeat(40)}1`]) {
      expect(valueOf(format, token, options)).toBe('OutOfRange')
    }
    expect(valueOf(format, '9'.repeat(400), options)).toBe('OutOfRange')
    expect(valueOf(format, '9007199254740992', options)).toBe(2 ** 53)
  })

  it('in a Float32 column too', () => {
    const options = of({ kind: 'Float32' })
    expect([valueOf(format, '16777216', options), valueOf(format, '16777217', options)]).toEqual([
      2 ** 24,
      'OutOfRange',
    ])
  })

  it('with a point or an exponent is a number that rounds', () => {
    const options = of({ kind: 'Float64' })
    for (const token of ['0.1', '9007199254740993.0', '1234567890123456789e1', '0.30000000000000000001']) {
      expect(valueOf(format, token, options)).toBe(Number(token))
    }
  })
})

describe('a float of line protocol', () => {
  const options = readerOptions([
    optionalField('_measurement', { kind: 'String' }),
    optionalField('v', { kind: 'Float64' }),
  ])
  const one = (token: string): unknown => valueOf('line-protocol', `m v=${token} 1\n`, options)

  it('is a double that was printed, or OutOfRange', () => {
    const large = fc.double({ min: 1e16, max: 1e21, noNaN: true })
    fc.assert(
      fc.property(large, (value) => {
        expect([one(value.toFixed(0)), one(String(value))]).toEqual([value, value])
      }),
    )
    for (const token of ['9007199254740993', '1234567890123456789', '1234567890123456789i']) {
      expect(one(token)).toBe('OutOfRange')
    }
  })
})

describe('a spelling that is not kept', () => {
  it.each(['007', '+5', '-01', '1e5', '5.'])('in CSV is told: %s', (token) => {
    expect(read('csv', `v\n${token}\n`, columns('Int64')).warnings).toEqual([
      "Column 'v' holds numbers: leading zeros, plus signs and bare exponents are not kept (record 0).",
    ])
  })

  it.each(['5', '-5', '0', '1.0', '0.5', '1e-05', '1.5E3', '+1.5'])('is none: %s', (token) => {
    expect(read('csv', `v\n${token}\n`, columns('Float64')).warnings).toBeUndefined()
  })

  it('is the sign of -0 in a column of integers', () => {
    for (const [format, text] of [
      ['csv', 'v\n-0\n'],
      ['ndjson', '{"v":-0}'],
    ] as const) {
      expect(read(format, text, columns('Int64')).warnings).toEqual([expect.stringContaining('-0 became 0')])
      expect(rowsOf(read(format, text, columns('Float64')))).toEqual([[null, -0]])
    }
  })
})

// What a saved answer says in words: rows counted in every layout, and whole or cut only where the answer tells.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../../src/libraries/base/json/value.ts'
import { extentText, readSignedAnswer } from '../../../src/libraries/proof/signed-answer.ts'

const read = (input: object, output?: object): ReturnType<typeof readSignedAnswer> =>
  readSignedAnswer({
    input: fromPlain(input) as JsonObject, // an object in, an object out
    ...(output === undefined ? {} : { output: fromPlain(output) }),
  })

describe('a saved answer', () => {
  it('counts its rows in every layout', () => {
    const layouts = [[[1], [2]], [{ a: 1 }, { a: 2 }], { a: [1, 2], b: [3, 4] }]
    for (const data of layouts) expect(read({}, { data }).rows).toBe(2)
    expect(read({}, { data: {} }).rows).toBe(0)
    for (const output of [undefined, {}, { data: 'a,b\n' }, { data: { a: 1 } }, { data: null }])
      expect(read({}, output).rows).toBeUndefined()
  })

  it.each<[string, object, number, object, string]>([
    ['cut', { limit: 2, queryDialect: 'SqlDuckDb/1.5.6-3' }, 2, { truncated: true }, '2 rows, cut by limit 2'],
    ['whole at its limit', { limit: 2, queryDialect: 'SqlDuckDb/1.5.6-3' }, 2, {}, '2 rows, none left out'],
    ['whole', { limit: 2, queryDialect: 'SqlDuckDb/1.5.6-3' }, 1, {}, '1 row, none left out'],
    [
      'a page',
      { limit: 2, skip: 7, queryDialect: 'SqlDuckDb/9.0.0-31' },
      0,
      {},
      '0 rows after the first 7, none left out',
    ],
    ['not told by others', { queryDialect: 'SqlDataFusion' }, 1, {}, '1 row; whether more were left out is not said'],
  ])('%s', (_, input, rows, more, text) => {
    expect(extentText(read(input, { data: Array.from({ length: rows }, () => [0]), ...more }))).toBe(text)
  })

  it('names statement, datasets and blocks', () => {
    const datasets = [{ id: 'did:odf:a', alias: 'acme/a', blockHash: 'f1620' }, { id: 'did:odf:b' }]
    expect(read({ query: 'select 1', datasets })).toMatchObject({ query: 'select 1', datasets })
  })

  it('has the values that the statement was given, and no others', () => {
    expect(read({ query: 'select $1', parameters: ['Oslo'] }).parameters).toEqual(['Oslo'])
    expect('parameters' in read({ query: 'select 1' })).toBe(false)
  })

  it('is read whatever its members are', () => {
    fc.assert(
      fc.property(fc.object(), fc.object(), (input, output) => {
        const plain = (value: object): object => Object(JSON.parse(JSON.stringify(value)))
        expect(typeof read(plain(input), plain(output)).skip).toBe('number')
      }),
    )
  })
})

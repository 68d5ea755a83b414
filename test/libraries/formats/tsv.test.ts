// TSV is CSV with tabs: whatever cells are written in both, the same rows are read.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { libraryFormats } from '../../../src/libraries/formats/registry.ts'
import { faults, infer, isPlain, optionalField, read, readerOptions, rowsOf } from './reading.ts'

const fields = [optionalField('a', { kind: 'String' }), optionalField('b', { kind: 'Float64' })]

const plain = fc.stringMatching(/^[ -!#-+\--~é]*$/)
const quoted = fc.string({ unit: fc.constantFrom('a', '"', ',', '\t', '\n', '\r', 'é', ';') })
const cell = fc.oneof(
  plain,
  quoted.map((text) => `"${text.replaceAll('"', '""')}"`),
)
const number = fc.oneof(
  fc.constant(''),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter(isPlain).map(String),
)
const table = fc.array(fc.tuple(cell, number), { maxLength: 8 })

test('cells in CSV and in TSV are the same rows', () => {
  fc.assert(
    fc.property(table, fc.constantFrom('\n', '\r\n'), fc.integer({ min: 1, max: 9 }), (rows, lineEnd, chunkBytes) => {
      const text = (separator: string): string =>
        [['a', 'b'], ...rows].map((cells) => cells.join(separator)).join(lineEnd) + lineEnd
      const options = readerOptions(fields)
      const ofTabs = read('tsv', text('\t'), options, chunkBytes)
      expect(rowsOf(ofTabs)).toEqual(rowsOf(read('csv', text(','), options, chunkBytes)))
      expect(ofTabs.records).toBe(rows.length)
    }),
  )
})

test('a comma is nothing but a comma', () => {
  expect(rowsOf(read('tsv', 'a\tb\nx, y\t1\n', readerOptions(fields)))).toEqual([[null, 'x, y', 1]])
})

test('a refusal speaks of tabs', () => {
  const [fault] = faults('tsv', 'a\tb\n"x",1\n', readerOptions(fields))
  expect(fault?.message).toBe('Only a tab or the end of the line may follow a closing quote.')
})

test('the parameter header counts', () => {
  const { csvHeader } = libraryFormats.of('text/tab-separated-values; header=absent')
  expect(csvHeader).toBe('absent')
  expect(infer('tsv', 'x\ty\n1\t2\n', { csvHeader: 'absent' }).fields.map(({ name }) => name)).toEqual([
    'column_1',
    'column_2',
  ])
  expect(() => infer('tsv', '1\t2\n')).toThrow(
    expect.objectContaining({
      details: expect.objectContaining({ hint: expect.stringContaining('text/tab-separated-values; header=absent') }),
    }),
  )
})

// Records into batches: whatever the chunks, the batches are the records, numbered one after the other.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EndlessFormat } from '../../../src/libraries/formats/format.ts'
import { formatNamed } from '../../helpers/formats.ts'
import type { LineBatch } from '../../../src/libraries/formats/line-batch.ts'
import { StreamCutter } from '../../../src/libraries/formats/stream-cutter.ts'
import { decodeUtf8, utf8 } from '../../../src/libraries/base/bytes.ts'

interface Kind {
  readonly format: EndlessFormat
  /** Line ends and all that comes before the first record. */
  readonly header: string
  readonly records: readonly string[]
  readonly isBlank: (text: string) => boolean
}

const isEmpty = (text: string): boolean => text === '' || text === '\r'
// The test names formats of which streams are taken.
const format = (name: string): EndlessFormat => formatNamed(name) as EndlessFormat
const cells = ['1,x', '"a\nb",2', '"q""u\n""\r\n,",', 'längere,🦀\r', ' ,']

const kinds: Readonly<Record<string, Kind>> = {
  lines: {
    format: format('ndjson'),
    header: '',
    records: ['{"n":1}', '{"name":"längere Zeile 🦀"}', '', '  \t', '\r', '{}\r', ' {"a":"b"} ', '{"a":"\\""}'],
    isBlank: (text) => text.trim() === '',
  },
  cells: { format: format('csv'), header: 'a,b\n', records: [...cells, '', '\r'], isBlank: isEmpty },
  'a header of several lines': {
    format: format('csv'),
    header: '"a\n\nx","b"""\r\n',
    records: [...cells, '', '\r', '\n'],
    isBlank: isEmpty,
  },
  'one column': { format: format('csv'), header: 'a\n', records: ['1', '', '"\n"', '\r'], isBlank: () => false },
  tabs: { format: format('tsv'), header: 'a\tb\n', records: ['1\t"x\n"', '', '"\t\n"\t'], isBlank: isEmpty },
}

const shape = fc.record({
  records: fc.array(fc.nat(), { maxLength: 40 }),
  hasEnd: fc.boolean(),
  blanksBefore: fc.nat(2),
  pieces: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 60 }),
  dues: fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }),
  mostRows: fc.integer({ min: 1, max: 6 }),
  first: fc.nat(1_000),
})

/** A record of the oracle may be several: one that is a line end alone is two blank ones. */
const apart = (text: string): string[] => (text === '\n' ? ['', ''] : [text])

describe.each(Object.entries(kinds))('a body of %s', (_, { format: { ends, hasHeader = false }, ...kind }) => {
  const { header, isBlank } = kind
  const headerBytes = utf8(header).length

  /** The batch that these records are; undefined where none of them is a row. */
  const batchOf = (texts: readonly string[], first: number): object | undefined => {
    const rows = texts.filter((text) => !isBlank(text)).length
    const bytes = utf8(header + texts.map((text) => `${text}\n`).join(''))
    return rows === 0 ? undefined : { first, last: first + texts.length - 1, rows, bytes, headerBytes }
  }
  const factsOf = (batch: LineBatch | undefined): object | undefined => {
    if (batch === undefined) return undefined
    const { first, last, rows, bytes } = batch
    return { first, last, rows, bytes, headerBytes: batch.headerBytes }
  }

  test('is cut into batches with every record that is no blank line at the end, in order, with its number', () => {
    fc.assert(
      fc.property(shape, ({ records, hasEnd, blanksBefore, pieces, dues, mostRows, first }) => {
        const sent = records.flatMap((pick) => apart(kind.records[pick % kind.records.length] ?? ''))
        const cutter = new StreamCutter({ first, mostRows, recordBytes: 1_000, ends, hasHeader })
        const before = hasHeader ? '\n'.repeat(blanksBefore) + header : ''
        const bytes = utf8(before + sent.join('\n') + (hasEnd && sent.length > 0 ? '\n' : ''))
        const batches: LineBatch[] = []
        const take = (isDue: boolean): void => {
          for (let batch = cutter.take(isDue); batch !== undefined; batch = cutter.take(isDue)) batches.push(batch)
        }
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = pieces[turn % pieces.length] ?? 1
          cutter.push(bytes.slice(at, at + size))
          at += size
          take(dues[turn % dues.length] ?? false)
        }
        cutter.end()
        take(true)
        // A body that does not end with a line end gets one; without one, a last record of no bytes is none.
        const texts = !hasEnd && sent.at(-1) === '' ? sent.slice(0, -1) : sent
        let number = first
        const seen: object[] = []
        const expected: object[] = []
        for (const batch of batches) {
          const own = texts.slice(number - first, batch.last + 1 - first)
          const cuts = own.map((_, at) => batch.split(batch.first + at))
          seen.push({
            batch: factsOf(batch),
            before: cuts.map((cut) => factsOf(cut.before)),
            rest: cuts.map((cut) => factsOf(cut.rest)),
            lines: decodeUtf8(batch.bytes)
              .split('\n')
              .slice(0, -1)
              .map((_, line) => batch.numberAt(line + 1)),
          })
          expected.push({
            batch: batchOf(own, number),
            before: own.map((_, at) => batchOf(own.slice(0, at), number)),
            rest: own.map((_, at) => batchOf(own.slice(at), number + at)),
            lines: [
              ...Array.from({ length: header.split('\n').length - 1 }, () => undefined),
              ...own.flatMap((text, at) => text.split('\n').map(() => number + at)),
            ],
          })
          number += own.length
        }
        const rest = texts.slice(number - first)
        expect(seen).toEqual(expected)
        expect(batches.every(({ rows }) => rows <= mostRows)).toBe(true)
        expect(rest.every(isBlank)).toBe(true)
        // A header is held as long as the stream is.
        expect(cutter.heldBytes).toBe(cutter.header.length + utf8(rest.map((text) => `${text}\n`).join('')).length)
      }),
      { numRuns: 300 },
    )
  })
})

const { ends } = format('ndjson')

test('a line that has no end is refused with its number', () => {
  const cutter = new StreamCutter({ first: 5, mostRows: 10, recordBytes: 10, ends, hasHeader: false })
  cutter.push(utf8('{}\n{"n":1'))
  expect(() => cutter.push(utf8('23456789'))).toThrow('Record 6 is longer than 10 bytes')
  expect(cutter.take(true)).toMatchObject({ first: 5, last: 5, rows: 1 })
})

test('a quote that is never closed is the last record, and a header without end is refused', () => {
  const csv = { first: 5, mostRows: 10, recordBytes: 20, ends: format('csv').ends, hasHeader: true }
  const cutter = new StreamCutter(csv)
  cutter.push(utf8('a,b\n1,2\n"3\n4'))
  expect(cutter.take(true)).toMatchObject({ first: 5, last: 5, rows: 1 })
  cutter.end()
  const last = cutter.take(true)
  expect(last).toMatchObject({ first: 6, last: 6, rows: 1 })
  expect(decodeUtf8(last?.bytes ?? new Uint8Array(0))).toBe('a,b\n"3\n4\n')
  expect(() => new StreamCutter(csv).push(utf8('"a,b\n1,2\n3,4\n5,6\n7,8\n'))).toThrow('The header is longer')
})

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
  'texts behind separators': {
    format: format('ndgeojson'),
    header: '',
    records: ['\x1e{\n  "a": 1\n}\r', '\x1e{"s":"}\\"\\n"}', '{"b":[{}]}', '', ' \x1e\n\n{"a":\n{}} ', '\x1eno text'],
    isBlank: (text) => text.trim() === '',
  },
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
  const { isBlank } = kind

  /** The batch that these records are; undefined where none of them is a row. */
  const batchOf = (header: string, texts: readonly string[], first: number): object | undefined => {
    const rows = texts.filter((text) => !isBlank(text)).length
    const bytes = utf8(header + texts.map((text) => `${text}\n`).join(''))
    return rows === 0
      ? undefined
      : { first, last: first + texts.length - 1, rows, bytes, headerBytes: utf8(header).length }
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
        const header = hasHeader ? '\n'.repeat(blanksBefore) + kind.header : ''
        const bytes = utf8(header + sent.join('\n') + (hasEnd && sent.length > 0 ? '\n' : ''))
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
            batch: batchOf(header, own, number),
            before: own.map((_, at) => batchOf(header, own.slice(0, at), number)),
            rest: own.map((_, at) => batchOf(header, own.slice(at), number + at)),
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

describe('behind record separators', () => {
  const cutOf = (text: string, size: number): string[] => {
    const options = { first: 0, mostRows: 1, recordBytes: 1_000, hasHeader: false }
    const cutter = new StreamCutter({ ...options, ends: format('ndgeojson').ends })
    const cut: string[] = []
    const take = (): void => {
      for (let batch = cutter.take(false); batch !== undefined; batch = cutter.take(false))
        cut.push(decodeUtf8(batch.bytes))
    }
    const bytes = utf8(text)
    for (let at = 0; at < bytes.length; at += size) {
      cutter.push(bytes.slice(at, at + size))
      take()
    }
    cutter.end()
    take()
    return cut
  }

  test.each([
    ['texts without line ends', ['\x1e{"a":1}', '\x1e{"b":2}', '\x1e{"c":3}\n']],
    ['a text that is cut', ['\x1e{"a":{"b":\n', '\x1e{\n"c":"\\\\"\n}\n', '\x1e{}\n']],
    ['a byte order mark', ['\ufeff\x1e{\n}\n', '\x1e{}\n']],
    ['what follows a text on its line', ['\x1e{} {}\n', '{}\n']],
  ])('%s: one record takes no other with it', (_, records) => {
    for (const size of [1, 2, 3, 7, 1_000]) expect(cutOf(records.join(''), size)).toEqual(records)
  })
})

const { ends } = format('ndjson')

test('a text that is cut has the line that the next one begins in', () => {
  const options = { first: 5, mostRows: 9, recordBytes: 100, hasHeader: false }
  const cutter = new StreamCutter({ ...options, ends: format('ndgeojson').ends })
  cutter.push(utf8('\x1e{}\n\x1e{\n"a":\x1e{\n}\n'))
  const batch = cutter.take(true)
  expect([1, 2, 3, 4].map((line) => batch?.numberAt(line))).toEqual([5, 6, 6, 7])
})

test('the first batch may have more rows than the others', () => {
  const cutter = new StreamCutter({
    first: 0,
    mostRows: 2,
    firstRows: 4,
    recordBytes: 10,
    ends,
    hasHeader: false,
  })
  cutter.push(utf8('{}\n'.repeat(3)))
  expect(cutter.isFull).toBe(false)
  cutter.push(utf8('{}\n'.repeat(6)))
  expect([1, 2, 3].map(() => cutter.take(false)?.rows)).toEqual([4, 2, 2])
})

test('a line that has no end is refused with its number', () => {
  const cutter = new StreamCutter({ first: 5, mostRows: 10, recordBytes: 10, ends, hasHeader: false })
  cutter.push(utf8('{}\n{"n":1'))
  expect(() => cutter.push(utf8('23456789'))).toThrow('Record 6 is longer than 10 bytes')
  expect(cutter.take(true)).toMatchObject({ first: 5, last: 5, rows: 1 })
})

test('a quote swallows once it has taken in a line end, until it is closed', () => {
  const cutter = new StreamCutter({
    first: 0,
    mostRows: 10,
    recordBytes: 20,
    ends: format('csv').ends,
    hasHeader: true,
  })
  const states = ['a,b\n"1', '\n', '2"', ',3\n"4"\n', '5"\n6', ',"7\n'].map((text) => {
    cutter.push(utf8(text))
    return cutter.isSwallowing
  })
  expect(states).toEqual([false, true, false, false, false, true])
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

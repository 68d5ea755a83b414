// Lines into batches: whatever the chunks, the batches are the lines, numbered one after the other.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LineBatch, splitLines, StreamCutter } from '../../src/gateway/stream-cutter.ts'
import { concatBytes, decodeUtf8, utf8 } from '../../src/lib/bytes.ts'

const line = fc.constantFrom('{"n":1}', '{"name":"längere Zeile 🦀"}', '', '  \t', '\r', '{}\r', ' {"a":"b"} ')
const isBlank = (text: string): boolean => text.trim() === ''

const bodies = fc.record({
  lines: fc.array(line, { maxLength: 40 }),
  hasEnd: fc.boolean(),
  pieces: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 60 }),
  dues: fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }),
  mostRows: fc.integer({ min: 1, max: 6 }),
  first: fc.nat(1_000),
})

/** The batch that these lines are; undefined where none of them is a row. */
function batchOf(texts: readonly string[], first: number): LineBatch | undefined {
  const rows = texts.filter((text) => !isBlank(text)).length
  const bytes = utf8(texts.map((text) => `${text}\n`).join(''))
  return rows === 0 ? undefined : { first, last: first + texts.length - 1, rows, bytes }
}

test('batches hold every line that is no blank at the end, in order, with its number', () => {
  fc.assert(
    fc.property(bodies, ({ lines, hasEnd, pieces, dues, mostRows, first }) => {
      const cutter = new StreamCutter({ first, mostRows, recordBytes: 1_000 })
      const bytes = utf8(lines.join('\n') + (hasEnd ? '\n' : ''))
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
      expect(batches.map((batch) => batch.first)).toEqual(
        [first, ...batches.map(({ last }) => last + 1)].slice(0, batches.length),
      )
      const whole = decodeUtf8(concatBytes(batches.map((batch) => batch.bytes)))
      // A body that does not end with a line end gets one.
      const all = lines.map((text) => `${text}\n`).join('')
      expect(all.startsWith(whole)).toBe(true)
      expect(isBlank(all.slice(whole.length))).toBe(true)
      for (const batch of batches) {
        const own = decodeUtf8(batch.bytes).split('\n').slice(0, -1)
        const rows = own.filter((text) => !isBlank(text))
        expect(batch.last - batch.first + 1).toBe(own.length)
        expect(batch.rows).toBe(rows.length)
        expect(batch.rows).toBeGreaterThan(0)
        expect(batch.rows).toBeLessThanOrEqual(mostRows)
        for (let number = batch.first; number <= batch.last; number++) {
          const at = number - batch.first
          const expected = { before: batchOf(own.slice(0, at), batch.first), rest: batchOf(own.slice(at), number) }
          expect(splitLines(batch, number)).toEqual(expected)
        }
        expect(splitLines(batch, batch.last + 1)).toEqual({ before: batch, rest: undefined })
      }
    }),
    { numRuns: 500 },
  )
})

test('a line that has no end is refused with its number', () => {
  const cutter = new StreamCutter({ first: 5, mostRows: 10, recordBytes: 10 })
  cutter.push(utf8('{}\n{"n":1'))
  expect(() => cutter.push(utf8('23456789'))).toThrow('Record 6 is longer than 10 bytes')
  expect(cutter.take(true)).toMatchObject({ first: 5, last: 5, rows: 1 })
})

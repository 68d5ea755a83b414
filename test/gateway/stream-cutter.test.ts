// Lines into batches: whatever the chunks, the batches are the lines, numbered one after the other.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LineBatch, linesBefore, StreamCutter } from '../../src/gateway/stream-cutter.ts'
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
  endsAtBlank: fc.boolean(),
})

test('batches hold every line that is no blank at the end, in order, with its number', () => {
  fc.assert(
    fc.property(bodies, ({ lines, hasEnd, pieces, dues, mostRows, first, endsAtBlank }) => {
      const cutter = new StreamCutter({ first, mostRows, recordBytes: 1_000, endsAtBlank })
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
        expect(endsAtBlank && own.slice(-batch.rows).some(isBlank)).toBe(false)
        for (let number = batch.first; number <= batch.last; number++) {
          const before = linesBefore(batch, number)
          const texts = own.slice(0, number - batch.first)
          const expected = texts.some((text) => !isBlank(text)) ? texts.map((text) => `${text}\n`).join('') : undefined
          expect(before && decodeUtf8(before.bytes)).toBe(expected)
          expect([before?.first ?? batch.first, before?.last ?? number - 1]).toEqual([batch.first, number - 1])
        }
      }
    }),
    { numRuns: 500 },
  )
})

test('a line that has no end is refused with its number', () => {
  const cutter = new StreamCutter({ first: 5, mostRows: 10, recordBytes: 10, endsAtBlank: true })
  cutter.push(utf8('{}\n{"n":1'))
  expect(() => cutter.push(utf8('23456789'))).toThrow('Record 6 is longer than 10 bytes')
  expect(cutter.take(true)).toMatchObject({ first: 5, last: 5, rows: 1 })
})

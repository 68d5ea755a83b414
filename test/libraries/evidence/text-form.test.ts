// Texts as mail and editors leave them come back in their own form, and what was changed is told. Nothing else is taken for that.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeUtf8, utf8 } from '../../../src/libraries/base/bytes.ts'
import { textForm } from '../../../src/libraries/base/text-form.ts'

const lines = fc
  .array(fc.stringMatching(/^(?:[!-~][ -~]*[!-~]|[!-~])?$/), { minLength: 1, maxLength: 6 })
  .map((all) => `x${all.join('\n')}`.trimEnd())
const form = (bytes: Uint8Array) => decodeUtf8(textForm(bytes).bytes)

test('what a transport does is undone', () => {
  fc.assert(
    fc.property(lines, (text) => {
      const own = `${text}\n`
      expect(textForm(utf8(own))).toEqual({ bytes: utf8(own), changes: [] })
      const changed = [own.replaceAll('\n', '\r\n'), `\ufeff${own}`, own.replaceAll('\n', ' \t\n'), text, `${own}\n\n`]
      for (const one of [...changed.map(utf8), Buffer.from(`\ufeff${own}`, 'utf16le')]) {
        expect(form(one)).toBe(own)
        expect(textForm(one).changes.length).toBe(1)
      }
    }),
    { seed: 47, numRuns: 200 },
  )
})

test('blanks inside of lines, line ends of old computers, JSON and bytes stay as they are', () => {
  for (const text of ['a  b\n', ' a\n', 'a\rb\n', '{"a":1} \r\n\r\n', '\u00a0a\u2028 \u2028b\n'])
    expect(form(utf8(text))).toBe(text)
  for (const bytes of [Uint8Array.of(0xff, 0xfe, 0x41), Uint8Array.of(0x80, 0x0d, 0x0a), new Uint8Array()]) {
    expect(textForm(bytes)).toEqual({ bytes, changes: [] })
  }
})

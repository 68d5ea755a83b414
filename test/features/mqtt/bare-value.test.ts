// Payloads that are values: what becomes a record, and what stays as it is.

import { expect, test } from 'vitest'
import { recordOf } from '../../../src/features/mqtt/bare-value.ts'

const of = (payload: string): string => Buffer.from(recordOf(Buffer.from(payload))).toString('utf8')

test.each([
  ['21.5', '{"value":21.5}'],
  ['-0', '{"value":-0}'],
  [' 1e3\n', '{"value":1e3}'],
  ['9007199254740993', '{"value":9007199254740993}'],
  ['true', '{"value":true}'],
  ['"a \\"b\\" \\u00e9"', '{"value":"a \\"b\\" \\u00e9"}'],
  ['ON', '{"value":"ON"}'],
  ['heating-2', '{"value":"heating-2"}'],
  ['21.5°C', '{"value":"21.5°C"}'],
  ['2026-01-31T12:00:00Z', '{"value":"2026-01-31T12:00:00Z"}'],
  ['geöffnet', '{"value":"geöffnet"}'],
  ['007', '{"value":"007"}'],
])('%s is a record', (payload, record) => expect(of(payload)).toBe(record))

test.each(['', 'null', '{"a":1}', '[1]', '{"a":', '"open', '}', 'a b', '1,2', '"a\nb"', 'x'.repeat(300)])(
  '%s stays as it is',
  (payload) => expect(of(payload)).toBe(payload),
)

test('bytes that are no text stay as they are', () => {
  const bytes = Uint8Array.of(0xff, 0x41)
  expect(recordOf(bytes)).toBe(bytes)
})

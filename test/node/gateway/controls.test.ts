// What headers and query parameters ask for.

import { expect, test } from 'vitest'
import { readControls } from '../../../src/node/gateway/controls.ts'

test.each([
  [undefined, { kind: 'default' }],
  ['wait=5', { kind: 'wait', seconds: 5 }],
  ['Wait = "7"', { kind: 'wait', seconds: 7 }],
  ['wait=30', { kind: 'wait', seconds: 30 }],
  ['wait=31', { kind: 'wait', seconds: 30 }],
  [`wait=${'9'.repeat(400)}`, { kind: 'wait', seconds: 30 }],
  ['wait=0', { kind: 'async' }],
  ['respond-async', { kind: 'async' }],
  ['RESPOND-ASYNC; foo=bar', { kind: 'async' }],
  ['respond-async, wait=4', { kind: 'wait', seconds: 4 }],
  ['wait=4, wait=9', { kind: 'wait', seconds: 4 }],
  ['wait=soon, wait=9', { kind: 'wait', seconds: 9 }],
  ['handling=lenient, return=minimal', { kind: 'default' }],
  ['wait=-1', { kind: 'default' }],
  ['wait=1.5', { kind: 'default' }],
  ['wait="3', { kind: 'default' }],
  ['wait', { kind: 'default' }],
  ['', { kind: 'default' }],
  [',;=,', { kind: 'default' }],
])('Prefer %j means %j', (prefer, waiting) => {
  expect(readControls({ prefer }, {}).waiting).toEqual(waiting)
})

test.each([
  ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31 12:00:00z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31t14:00:00.123456+02:00', '2026-01-31T12:00:00.123Z'],
  ['2024-02-29T00:00:00-00:30', '2024-02-29T00:30:00.000Z'],
  [' 1969-12-31T23:59:59Z ', '1969-12-31T23:59:59.000Z'],
])('the event time %j is %s', (text, expected) => {
  const { eventTimeMs } = readControls({ 'odf-event-time': text }, {})
  expect(new Date(eventTimeMs ?? Number.NaN).toISOString()).toBe(expected)
})

test.each([
  '2026-02-30T00:00:00Z',
  '2025-02-29T00:00:00Z',
  '2026-01-31T12:00:00',
  '2026-01-31',
  '2026-13-01T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-01-00T00:00:00Z',
  '2026-01-31T24:00:00Z',
  '2026-01-31T23:59:60Z',
  '2026-01-31T12:00:00+24:00',
  '1700000000',
  'now',
  '',
])('the event time %j is refused', (text) => {
  expect(() => readControls({ 'odf-event-time': text }, {})).toThrow(
    expect.objectContaining({ kind: 'InvalidParameter' }),
  )
})

test.each([
  ['"f1620ab"', 'f1620ab'],
  ['f1620ab', 'f1620ab'],
  [' "f1620ab" ', 'f1620ab'],
])('If-Match %j names %s', (text, hash) => {
  expect(readControls({ 'if-match': text }, {}).ifMatch).toBe(hash)
})

test.each(['*', '', '""', 'W/"f1620ab"', '"a", "b"'])('If-Match %j is refused', (text) => {
  expect(() => readControls({ 'if-match': text }, {})).toThrow(expect.objectContaining({ kind: 'InvalidParameter' }))
})

test('an Idempotency-Key has 1 to 255 visible ASCII characters', () => {
  const keyOf = (text: string): string | undefined => readControls({ 'idempotency-key': text }, {}).idempotencyKey
  expect(keyOf('!~')).toBe('!~')
  expect(keyOf('k'.repeat(255))).toHaveLength(255)
  for (const text of ['', 'k'.repeat(256), 'a b', 'a, b', 'ü', 'a\tb']) {
    expect(() => keyOf(text)).toThrow(expect.objectContaining({ kind: 'InvalidParameter' }))
  }
})

test('unknown fields are added by default when the dataset may be created, else refused', () => {
  expect(readControls({}, {}).unknownFields).toBe('reject')
  expect(readControls({}, { create: 'true' })).toMatchObject({ create: true, unknownFields: 'add' })
  expect(readControls({}, { create: 'true', unknownFields: 'ignore' }).unknownFields).toBe('ignore')
})

test.each([
  ['create', 'yes'],
  ['create', ['true', 'true']],
  ['dryRun', '1'],
  ['unknownFields', 'drop'],
  ['integers', 'int32'],
  ['ambiguous', 'first'],
  ['eventTimeUnit', 'minutes'],
])('%s=%j is refused with the values that there are', (name, value) => {
  expect(() => readControls({}, { [name]: value })).toThrow(
    expect.objectContaining({
      kind: 'InvalidParameter',
      details: expect.objectContaining({ candidates: expect.any(Array) }),
    }),
  )
})

test('parameters that ingest does not know are ignored', () => {
  expect(readControls({}, { utm_source: 'x' })).toMatchObject({ create: false, dryRun: false })
})

test('one content encoding is understood; others are 415', () => {
  const encodingOf = (text: string): string | undefined =>
    readControls({ 'content-encoding': text }, {}).contentEncoding
  expect(['gzip', 'X-GZIP', 'deflate', 'br', 'zstd', 'identity', ''].map(encodingOf)).toEqual([
    'gzip',
    'gzip',
    'deflate',
    'br',
    'zstd',
    undefined,
    undefined,
  ])
  for (const text of ['compress', 'gzip, gzip']) {
    expect(() => encodingOf(text)).toThrow(expect.objectContaining({ kind: 'UnsupportedEncoding' }))
  }
})

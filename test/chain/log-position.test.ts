// Where in which log a chain has read to, as its blocks say it.

import { expect, test } from 'vitest'
import { type LogPosition, logPositionKind, logPositionOf, logPositionText } from '../../src/chain/records.ts'
import { DecodeError } from '../../src/model/errors.ts'

const anchor = `f1620${'0f'.repeat(32)}`

function read(value: string): LogPosition | undefined {
  return logPositionOf({ sourceName: 'default', kind: logPositionKind, value })
}

test('is canonical JSON; what was left behind for another log is in it where there is something', () => {
  const plain = { anchor, log: 'a', next: 5, partition: 0 }
  expect(logPositionText(plain)).toBe(`{"anchor":"${anchor}","log":"a","next":5,"partition":0}`)
  expect(read(logPositionText(plain))).toEqual(plain)
  const adopted = [
    { log: 'x', partition: 0 },
    { log: 'y', partition: 3, givenUp: { from: 7 } },
    { log: 'z', partition: 1, givenUp: { from: 7, to: 9 } },
  ]
  const text = logPositionText({ ...plain, adopted })
  expect(text.slice(0, 90)).toBe(
    '{"adopted":[{"log":"x","partition":0},{"givenUp":{"from":7},"log":"y","partition":3},{"giv',
  )
  expect(read(text)).toEqual({ ...plain, adopted })
})

test('of another kind is none', () => {
  expect(logPositionOf(undefined)).toBeUndefined()
  expect(logPositionOf({ sourceName: 'default', kind: 'odf/etag', value: '{}' })).toBeUndefined()
})

test.each([
  '1',
  '{}',
  `{"anchor":"${anchor}","log":"a","next":-1,"partition":0}`,
  `{"anchor":"${anchor}","log":"a","next":5,"partition":0,"zzz":1}`,
  `{"adopted":[],"anchor":"${anchor}","log":"a","next":5,"partition":0}`,
  `{"adopted":{},"anchor":"${anchor}","log":"a","next":5,"partition":0}`,
  `{"adopted":["x"],"anchor":"${anchor}","log":"a","next":5,"partition":0}`,
  `{"adopted":[{"log":"x"}],"anchor":"${anchor}","log":"a","next":5,"partition":0}`,
  `{"adopted":[{"givenUp":{},"log":"x","partition":0}],"anchor":"${anchor}","log":"a","next":5,"partition":0}`,
  `{"adopted":[{"givenUp":{"from":1,"to":"2"},"log":"x","partition":0}],"anchor":"${anchor}","log":"a","next":5,"partition":0}`,
  `{"adopted":[{"log":"x","more":1,"partition":0}],"anchor":"${anchor}","log":"a","next":5,"partition":0}`,
])('refuses %s', (value) => {
  expect(() => read(value)).toThrow(DecodeError)
})

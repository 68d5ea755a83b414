// The topic as a member of each record: JSON.parse says what became of the text.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { withTopic } from '../../../src/features/mqtt/topic-column.ts'

const added = (text: string, topic = 'a/"b"'): string => Buffer.from(withTopic(utf8(text), 'topic', topic)).toString()

test('records have the topic, whatever else they hold', () => {
  const record = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }))
  const body = fc.oneof(record, fc.array(record))
  fc.assert(
    fc.property(body, fc.string(), fc.constantFrom(undefined, 1, '\t'), (value, topic, space) => {
      const text = JSON.stringify(value, undefined, space)
      // Its own member of that name comes later and counts for JSON.parse.
      const expected = (one: object): unknown => JSON.parse(JSON.stringify({ topic, ...one }))
      expect(JSON.parse(added(text, topic))).toEqual(Array.isArray(value) ? value.map(expected) : expected(value))
    }),
  )
})

test('tokens stay as they came', () => {
  expect(added('{"n":1.50e+3, "u":"\\u00e9"}')).toBe('{"topic":"a/\\"b\\"","n":1.50e+3, "u":"\\u00e9"}')
  expect(added('[ { } ,{"a":{"b":[{}]}}]')).toBe('[ {"topic":"a/\\"b\\"" } ,{"topic":"a/\\"b\\"","a":{"b":[{}]}}]')
})

test('what is not JSON stays none', () => {
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  const bodies = ['', '{', '"{', '}{', '[{', '{"a":"', '[1,{"a"}]', '{"a":1}}']
  expect(bodies.filter((text) => isJson(added(text)))).toEqual([])
})

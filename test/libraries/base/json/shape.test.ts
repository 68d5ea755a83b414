// Shapes read values of both JSON models, and name the member that does not fit.

import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../../src/libraries/base/json/json.ts'
import {
  checked,
  integer,
  list,
  map,
  natural,
  object,
  oneOf,
  optional,
  readShape,
  recordCodec,
  text,
  tuple,
} from '../../../../src/libraries/base/json/shape.ts'
import { utf8 } from '../../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../../src/libraries/base/errors.ts'

const shape = object({
  id: text(/^[a-z]+$/),
  kind: oneOf('file', 'kafka'),
  at: optional(integer(-1)),
  parts: list(object({ range: map(tuple(natural, natural, optional(text())), ([from, to]) => to - from) })),
  begin: checked(list(natural, { least: 1 }), (items) => (items.length > 2 ? 'is too long' : undefined)),
})
const good = { id: 'a', kind: 'file', parts: [{ range: [1, 3] }, { range: [2, 2, 'x', 'ignored'] }], begin: [0] }

test('a value that fits is read, from plain values and from tokens', () => {
  const expected = { id: 'a', kind: 'file', parts: [{ range: 2 }, { range: 0 }], begin: [0] }
  expect(readShape('thing', shape, good)).toEqual(expected)
  expect(readShape('thing', shape, parseJson(JSON.stringify({ ...good, at: -1 })))).toEqual({ ...expected, at: -1 })
})

describe('a value that does not fit names the member', () => {
  test.each<[unknown, string]>([
    [null, 'thing: is not an object'],
    [[], 'thing: is not an object'],
    [{ ...good, id: undefined }, 'thing: id is missing'],
    [{ ...good, id: 'A' }, 'thing: id is not of the right form'],
    [{ ...good, kind: 'x' }, 'thing: kind is not one of file, kafka'],
    [{ ...good, at: null }, 'thing: at is not an integer of at least -1'],
    [{ ...good, at: 1.5 }, 'thing: at is not an integer of at least -1'],
    [{ ...good, at: 2 ** 53 }, 'thing: at is not an integer of at least -1'],
    [{ ...good, more: 1 }, 'thing: more is not a member that is known here'],
    [{ ...good, parts: {} }, 'thing: parts is not an array'],
    [{ ...good, parts: [{ range: [1, 3] }, { range: [1] }] }, 'thing: parts[1].range[1] is missing'],
    [{ ...good, parts: [{ range: [1, 3, 4] }] }, 'thing: parts[0].range[2] is not a string'],
    [{ ...good, begin: [] }, 'thing: begin is empty'],
    [{ ...good, begin: [1, -2] }, 'thing: begin[1] is not an integer of at least 0'],
    [{ ...good, begin: [1, 2, 3] }, 'thing: begin is too long'],
    [JSON.parse('{"__proto__":1}'), 'thing: id is missing'],
  ])('%j', (value, message) => {
    expect(() => readShape('thing', shape, value)).toThrow(new DecodeError('thing', message.slice('thing: '.length)))
  })
})

test('members that are not known may be ignored', () => {
  const open = object({ id: text() }, { others: 'ignored' })
  expect(readShape('thing', open, { id: 'a', more: 1 })).toEqual({ id: 'a' })
})

test('a record has one spelling', () => {
  const codec = recordCodec('thing', object({ id: text(), n: natural }))
  const bytes = codec.encode({ n: 1, id: 'ü' })
  expect(new TextDecoder().decode(bytes)).toBe(String.raw`{"id":"\u00fc","n":1}`)
  expect(codec.decode(bytes)).toEqual({ id: 'ü', n: 1 })
  for (const other of [
    '{"n":1,"id":"a"}',
    '{"id":"a", "n":1}',
    '{"id":"a","n":1.0}',
    '{"id":"a","n":1,"n":1}',
    '{"id":"ü","n":1}',
  ])
    expect(() => codec.decode(utf8(other))).toThrow(DecodeError)
})

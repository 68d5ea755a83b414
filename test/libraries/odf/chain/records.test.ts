// The small records of a chain, as they are stored: one spelling, and nothing else is read.

import { describe, expect, test } from 'vitest'
import * as records from '../../../../src/libraries/odf/chain/records.ts'
import { utf8 } from '../../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../../src/libraries/base/errors.ts'

const id = `did:odf:fed01${'ab'.repeat(32)}`
const hash = `f1620${'0f'.repeat(32)}`
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

const cases = [
  {
    name: 'name record',
    encode: () =>
      records.nameCodec.encode({ id, alias: 'Acme/Temps', log: 'log-1', partition: 0, visibility: 'private' }),
    decode: records.nameCodec.decode,
    bytes: `{"alias":"Acme/Temps","id":"${id}","log":"log-1","partition":0,"visibility":"private"}`,
    bad: [
      `{"alias":"Acme/Temps","id":"${id}","log":"log-1","partition":0,"visibility":"secret"}`,
      `{"alias":"Temps","id":"${id}","log":"log-1","partition":0,"visibility":"public"}`,
      `{"alias":"Acme/Temps","id":"did:odf:x","log":"log-1","partition":0,"visibility":"public"}`,
      `{"alias":"Acme/Temps","id":"${id}","log":"log-1","partition":-1,"visibility":"public"}`,
      `{"alias":"Acme/Temps","id":"${id}","log":"log-1","visibility":"public"}`,
    ],
  },
  {
    name: 'commit record',
    encode: () =>
      records.commitCodec.encode({ blocks: [hash, hash], log: 'log-1', partition: 2, next: 9007199254740991 }),
    decode: records.commitCodec.decode,
    bytes: `{"blocks":["${hash}","${hash}"],"log":"log-1","next":9007199254740991,"partition":2}`,
    bad: [
      `{"blocks":[],"log":"log-1","next":1,"partition":2}`,
      `{"blocks":["x"],"log":"log-1","next":1,"partition":2}`,
      `{"blocks":["${hash}"],"log":"log-1","next":9007199254740992,"partition":2}`,
      `{"blocks":["${hash}"],"log":"log-1","next":1.0,"partition":2}`,
      `{"blocks":["${hash}"],"log":"log-1","next":"1","partition":2}`,
      `{"blocks":"${hash}","log":"log-1","next":1,"partition":2}`,
    ],
  },
  {
    name: 'floor record',
    encode: () =>
      records.lowWaterMarkCodec.encode({
        log: 'log-1',
        partition: 0,
        position: 5,
        anchor: hash,
        halted: [{ dataset: id, position: 3, reason: 'PoisonBlock' }],
      }),
    decode: records.lowWaterMarkCodec.decode,
    bytes: `{"anchor":"${hash}","halted":[{"dataset":"${id}","position":3,"reason":"PoisonBlock"}],"log":"log-1","partition":0,"position":5}`,
    bad: [
      `{"halted":[],"log":"log-1","partition":0,"position":5}`,
      `{"anchor":"${hash}","halted":[],"log":"log-1","partition":0,"position":0}`,
      `{"anchor":"${hash}","halted":[{"dataset":"${id}","position":3}],"log":"log-1","partition":0,"position":5}`,
      `{"anchor":"${hash}","halted":[{"dataset":"${id}","extra":1,"position":3,"reason":"x"}],"log":"log-1","partition":0,"position":5}`,
    ],
  },
  {
    name: 'adoption record',
    encode: () =>
      records.adoptionCodec.encode({
        old: 'log-1',
        new: 'log-2',
        partitions: [{ floor: 3, end: 5 }, { floor: 7 }],
        halted: [{ dataset: id, position: 3, reason: 'PoisonBlock' }],
        begin: [0, 9],
      }),
    decode: records.adoptionCodec.decode,
    bytes: `{"begin":[0,9],"halted":[{"dataset":"${id}","position":3,"reason":"PoisonBlock"}],"new":"log-2","old":"log-1","partitions":[{"end":5,"floor":3},{"floor":7}]}`,
    bad: [
      `{"begin":[0],"halted":[],"new":"log-1","old":"log-1","partitions":[{"floor":7}]}`,
      `{"begin":[],"halted":[],"new":"log-2","old":"log-1","partitions":[{"floor":7}]}`,
      `{"begin":[0],"halted":[],"new":"log-2","old":"log-1","partitions":[]}`,
      `{"begin":[-1],"halted":[],"new":"log-2","old":"log-1","partitions":[{"floor":7}]}`,
      `{"begin":[0],"halted":[],"new":"log-2","old":"log-1","partitions":[{"end":"5","floor":7}]}`,
      `{"begin":[0],"halted":[],"new":"log-2","old":"log-1","partitions":[{"end":5}]}`,
      `{"begin":[0],"halted":[],"new":"log-2","old":"log-1","partitions":[7]}`,
      `{"begin":[0],"halted":[],"new":"log-2","partitions":[{"floor":7}]}`,
    ],
  },
  {
    name: 'log record',
    encode: () => records.logCodec.encode({ id: 'log-1', kind: 'file', partitions: 1 }),
    decode: records.logCodec.decode,
    bytes: `{"id":"log-1","kind":"file","partitions":1}`,
    bad: [
      `{"id":"log-1","kind":"file","partitions":0}`,
      `{"id":"log-1","kind":"filg","partitions":1}`,
      `{"id":1,"kind":"file","partitions":1}`,
    ],
  },
]

describe.each(cases)('the $name', ({ encode, decode, bytes, bad }) => {
  test('is canonical JSON and reads back as written', () => {
    expect(text(encode())).toBe(bytes)
    expect(decode(utf8(bytes))).toEqual(decode(encode()))
  })

  test('refuses other members, missing members and other spellings', () => {
    const first = bytes.slice(1, bytes.indexOf(','))
    const hostile = [
      ...bad,
      '',
      '{}',
      '[]',
      'null',
      `${bytes} `,
      `${bytes}\n`,
      bytes.slice(0, -1),
      `{"zzz":1,${bytes.slice(1)}`,
      `${bytes.slice(0, -1)},"zzz":1}`,
      `{${first},${bytes.slice(1)}`,
      bytes.replace(',', ', '),
    ]
    for (const other of hostile) expect(() => decode(utf8(other))).toThrow(DecodeError)
  })
})

test('a floor at position 0 has no anchor', () => {
  const record = { log: 'log-1', partition: 0, position: 0, halted: [] }
  expect(records.lowWaterMarkCodec.decode(records.lowWaterMarkCodec.encode(record))).toEqual(record)
})

function read(value: string): records.LogPosition | undefined {
  return records.logPositionOf({ sourceName: 'default', kind: records.logPositionKind, value })
}

describe('a log position', () => {
  test('is canonical JSON; what was left behind for another log is in it where there is something', () => {
    const plain = { anchor: hash, log: 'a', next: 5, partition: 0 }
    expect(records.logPositionText(plain)).toBe(`{"anchor":"${hash}","log":"a","next":5,"partition":0}`)
    expect(read(records.logPositionText(plain))).toEqual(plain)
    const adopted = [
      { log: 'x', partition: 0 },
      { log: 'y', partition: 3, givenUp: { from: 7 } },
      { log: 'z', partition: 1, givenUp: { from: 7, to: 9 } },
    ]
    const text = records.logPositionText({ ...plain, adopted })
    expect(text.slice(0, 90)).toBe(
      '{"adopted":[{"log":"x","partition":0},{"givenUp":{"from":7},"log":"y","partition":3},{"giv',
    )
    expect(read(text)).toEqual({ ...plain, adopted })
  })

  test('of another kind is none', () => {
    expect(records.logPositionOf(undefined)).toBeUndefined()
    expect(records.logPositionOf({ sourceName: 'default', kind: 'odf/etag', value: '{}' })).toBeUndefined()
  })

  test.each([
    '1',
    '{}',
    `{"anchor":"${hash}","log":"a","next":-1,"partition":0}`,
    `{"anchor":"${hash}","log":"a","next":5,"partition":0,"zzz":1}`,
    `{"adopted":[],"anchor":"${hash}","log":"a","next":5,"partition":0}`,
    `{"adopted":{},"anchor":"${hash}","log":"a","next":5,"partition":0}`,
    `{"adopted":["x"],"anchor":"${hash}","log":"a","next":5,"partition":0}`,
    `{"adopted":[{"log":"x"}],"anchor":"${hash}","log":"a","next":5,"partition":0}`,
    `{"adopted":[{"givenUp":{},"log":"x","partition":0}],"anchor":"${hash}","log":"a","next":5,"partition":0}`,
    `{"adopted":[{"givenUp":{"from":1,"to":"2"},"log":"x","partition":0}],"anchor":"${hash}","log":"a","next":5,"partition":0}`,
    `{"adopted":[{"log":"x","more":1,"partition":0}],"anchor":"${hash}","log":"a","next":5,"partition":0}`,
  ])('refuses %s', (value) => {
    expect(() => read(value)).toThrow(DecodeError)
  })
})

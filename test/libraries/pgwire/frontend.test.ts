// Messages of a client, cut out of its bytes wherever those are cut, and faults, each of which ends the connection.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ClientMessage, MessageCutter, ProtocolFault } from '../../../src/libraries/pgwire/frontend.ts'
import * as raw from '../../features/pgwire/raw-client.ts'

const mostBytes = 100_000
const upTo =
  (most: number) =>
  (bytes: number): void => {
    if (bytes > most) throw new ProtocolFault(`a message of ${bytes} bytes`)
  }
const bytesOf = (...texts: readonly string[]): Uint8Array[] => texts.map((one) => new Uint8Array(Buffer.from(one)))

/** What is read of chunks that come one after the other. */
function read(chunks: readonly Uint8Array[]): ClientMessage[] {
  const cutter = new MessageCutter(upTo(mostBytes))
  return chunks.flatMap((chunk) => {
    cutter.push(chunk)
    const found: ClientMessage[] = []
    for (let next = cutter.next(); next !== undefined; next = cutter.next()) found.push(next)
    return found
  })
}

function readStart(...chunks: readonly Uint8Array[]): ReturnType<MessageCutter['start']>[] {
  const cutter = new MessageCutter(upTo(mostBytes))
  return chunks.map((chunk) => {
    cutter.push(chunk)
    return cutter.start()
  })
}

const bindAll: raw.Bound = {
  portal: 'p',
  statement: 's',
  formats: [0, 1],
  values: ['x', null, ''],
  resultFormats: [1],
}
/** Each message of the protocol, and what it says. */
const messages: readonly (readonly [bytes: Buffer, says: ClientMessage])[] = [
  [raw.query('select 1'), { kind: 'query', sql: 'select 1' }],
  [raw.query(''), { kind: 'query', sql: '' }],
  [raw.query('select \u20ac😀'), { kind: 'query', sql: 'select \u20ac😀' }],
  [raw.parse('select $1', 's', [23, 0]), { kind: 'parse', name: 's', sql: 'select $1', types: [23, 0] }],
  [raw.parse('', ''), { kind: 'parse', name: '', sql: '', types: [] }],
  [
    raw.bind(bindAll),
    {
      kind: 'bind',
      portal: 'p',
      statement: 's',
      formats: [0, 1],
      values: [...bytesOf('x'), undefined, ...bytesOf('')],
      resultFormats: [1],
    },
  ],
  [raw.bind(), { kind: 'bind', portal: '', statement: '', formats: [], values: [], resultFormats: [] }],
  [raw.describe('S', 's'), { kind: 'describe', of: 'statement', name: 's' }],
  [raw.describe('P'), { kind: 'describe', of: 'portal', name: '' }],
  [raw.close('S'), { kind: 'close', of: 'statement', name: '' }],
  [raw.close('P', 'p'), { kind: 'close', of: 'portal', name: 'p' }],
  [raw.execute('p', 5), { kind: 'execute', portal: 'p', rows: 5 }],
  [raw.execute('', -1), { kind: 'execute', portal: '', rows: -1 }],
  [raw.password('word'), { kind: 'answer', bytes: new Uint8Array(Buffer.from('word\0')) }],
  [raw.sync, { kind: 'sync' }],
  [raw.flush, { kind: 'flush' }],
  [raw.terminate, { kind: 'end' }],
  [raw.message('F', Buffer.from('anything')), { kind: 'call' }],
  [raw.message('d', Buffer.from('rows')), { kind: 'copy' }],
  [raw.message('c'), { kind: 'copy' }],
  [raw.message('f', raw.text('why')), { kind: 'copy' }],
]
const plain = (found: readonly unknown[]): unknown =>
  JSON.parse(
    JSON.stringify(found, (_, value: unknown) => {
      if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1')
      return value === undefined ? '(null)' : value
    }),
  )

test('every message says what it says, wherever its bytes are cut', () => {
  const all = new Uint8Array(Buffer.concat(messages.map(([bytes]) => bytes)))
  const says = plain(messages.map(([, said]) => said))
  for (let at = 0; at <= all.length; at++) {
    expect([at, plain(read([all.subarray(0, at), all.subarray(at)]))]).toEqual([at, says])
  }
  expect(plain(read(Array.from(all, (byte) => Uint8Array.of(byte))))).toEqual(says)
})

test('any messages in any pieces are the same messages', () => {
  const some = fc.array(fc.constantFrom(...messages), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(some, fc.array(fc.nat(300), { maxLength: 12 }), (chosen, cuts) => {
      const all = new Uint8Array(Buffer.concat(chosen.map(([bytes]) => bytes)))
      const ends = [...new Set([...cuts.filter((cut) => cut < all.length), all.length])].sort((a, b) => a - b)
      const pieces = ends.map((end, at) => all.slice(ends[at - 1] ?? 0, end))
      expect(plain(read(pieces))).toEqual(plain(chosen.map(([, said]) => said)))
    }),
  )
})

test('a message that is not whole gives nothing, and is counted', () => {
  const cutter = new MessageCutter(upTo(mostBytes))
  const bytes = raw.query('select 1')
  for (const [at, byte] of bytes.subarray(0, -1).entries()) {
    cutter.push(Uint8Array.of(byte))
    expect([cutter.next(), cutter.heldBytes]).toEqual([undefined, at + 1])
  }
  cutter.push(bytes.subarray(-1))
  expect([cutter.next(), cutter.heldBytes]).toEqual([{ kind: 'query', sql: 'select 1' }, 0])
})

// Joined with each piece these would be a million copies of a megabyte, and no end of this test.
test('a large message of a million pieces is read', () => {
  const cutter = new MessageCutter(upTo(4_000_000))
  const bytes = new Uint8Array(raw.query('x'.repeat(2_000_000)))
  const found: ClientMessage[] = []
  for (let at = 0; at < bytes.length; at += 2) {
    cutter.push(bytes.subarray(at, at + 2))
    found.push(...[cutter.next()].filter((message) => message !== undefined))
  }
  expect([found.map(({ kind }) => kind), cutter.heldBytes]).toEqual([['query'], 0])
})

const int32 = (...values: readonly number[]): Buffer => Buffer.concat(values.map(raw.int32))
const withLength = (letter: string, length: number, body = ''): Buffer =>
  Buffer.concat([Buffer.from(letter), raw.int32(length), Buffer.from(body, 'latin1')])

describe('a message that is none', () => {
  test.each<[what: string, bytes: Buffer]>([
    ['a length that is negative', withLength('Q', -1)],
    ['the least length there is', withLength('Q', -(2 ** 31))],
    ['a length of less than its own', withLength('S', 3)],
    ['a length of nothing', withLength('S', 0)],
    ['more than may come', withLength('Q', mostBytes + 1)],
    ['the largest length', withLength('Q', 2 ** 31 - 1)],
    ['a letter that no message has', raw.message('z')],
    ['a letter of the server', raw.message('Z', Buffer.from('I'))],
    ['a letter of zero', raw.message('\0')],
    ['a text without its end', raw.message('Q', Buffer.from('select 1'))],
    ['a text that is not there', raw.message('Q')],
    ['a text that is not UTF-8', raw.message('Q', Buffer.from([0xc3, 0x28, 0]))],
    ['half a surrogate', raw.message('Q', Buffer.from([0xed, 0xa0, 0x80, 0]))],
    ['more behind the end of a query', raw.message('Q', Buffer.from('a\0b\0'))],
    ['more behind a sync', raw.message('S', Buffer.from('x'))],
    ['fewer types than it says', raw.message('P', Buffer.from('\0\0\0\u0002\0\0\0\u0017', 'latin1'))],
    ['65,535 types that are not there', raw.message('P', Buffer.from([0, 0, 0xff, 0xff]))],
    ['65,535 values that are not there', raw.message('B', Buffer.from([0, 0, 0, 0, 0xff, 0xff]))],
    ['a value of less than nothing', raw.message('B', Buffer.from([0, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe, 0, 0]))],
    ['a value longer than its message', raw.message('B', Buffer.from([0, 0, 0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff, 1]))],
    ['values without formats of results', raw.message('B', Buffer.from([0, 0, 0, 0, 0, 0]))],
    ['neither a statement nor a portal', raw.message('D', Buffer.from('X\0'))],
    ['a kind without a name', raw.message('C', Buffer.from('S'))],
    ['rows cut short', raw.message('E', Buffer.from([0, 0, 0]))],
  ])('%s', (_, bytes) => {
    expect(() => read([new Uint8Array(bytes)])).toThrow(ProtocolFault)
  })

  test('is one as soon as its length is there', () => {
    expect(() => read([new Uint8Array(withLength('Q', mostBytes + 1))])).toThrow(/message of 100001 bytes/)
    expect(read([new Uint8Array(withLength('Q', mostBytes))])).toEqual([])
  })

  test('any bytes are messages, too few, or a fault', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const kinds = (): readonly string[] | 'a fault' => {
          try {
            return read([bytes]).map(({ kind }) => kind)
          } catch (error) {
            if (error instanceof ProtocolFault) return 'a fault'
            throw error
          }
        }
        expect(kinds().length).toBeLessThan(64)
      }),
      { numRuns: 3_000 },
    )
  })
})

describe('a first message', () => {
  test('says what is wanted, wherever its bytes are cut', () => {
    const bytes = new Uint8Array(raw.startup({ user: 'ann', database: 'all', '_pq_.x': '' }, (3 << 16) | 2))
    const parameters = new Map([
      ['user', 'ann'],
      ['database', 'all'],
      ['_pq_.x', ''],
    ])
    for (let at = 1; at < bytes.length; at++) {
      const found = readStart(bytes.subarray(0, at), bytes.subarray(at))
      expect(found).toEqual([undefined, { kind: 'start', major: 3, minor: 2, parameters }])
    }
  })

  test.each<[Buffer, unknown]>([
    [raw.first(80_877_103), { kind: 'tls' }],
    [raw.first(80_877_104), { kind: 'gss' }],
    [raw.first(80_877_102, int32(7, 9)), { kind: 'cancel', process: 7, secret: new Uint8Array([0, 0, 0, 9]) }],
    [raw.startup({}, 131_072), { kind: 'start', major: 2, minor: 0, parameters: new Map() }],
  ])('of another kind', (bytes, says) => {
    const [found] = readStart(new Uint8Array(bytes))
    expect(plain([found])).toEqual(plain([says]))
  })

  test('a session may follow the refusal of encryption in the same bytes', () => {
    const cutter = new MessageCutter(upTo(mostBytes))
    cutter.push(Buffer.concat([raw.first(80_877_103), raw.startup({ user: 'ann' }), raw.query('select 1')]))
    expect([cutter.start()?.kind, cutter.start()?.kind, cutter.next()?.kind]).toEqual(['tls', 'start', 'query'])
  })

  test.each<[what: string, bytes: Buffer]>([
    ['another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a length that is too small', raw.int32(3)],
    ['more than 10,000 bytes', raw.int32(10_001)],
    ['nothing but its length', raw.int32(4)],
    ['parameters without their end', raw.first(raw.protocol30, raw.text('user'), raw.text('ann'))],
    ['a name without a value', raw.first(raw.protocol30, raw.text('user'))],
    ['more behind its end', raw.first(raw.protocol30, raw.text(''), raw.text('user'))],
    ['a cancel without a process', raw.first(80_877_102)],
  ])('that is none: %s', (_, bytes) => {
    expect(() => readStart(new Uint8Array(bytes))).toThrow(ProtocolFault)
  })
})

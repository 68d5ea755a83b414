// Server-sent events: the examples of the HTML standard (§9.2.6), and the same events however a stream is cut.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventReader, type ServerSentEvent } from '../../../src/libraries/base/server-sent-events.ts'

function read(...pieces: string[]): ServerSentEvent[] {
  const reader = new EventReader()
  return pieces.flatMap((piece) => [...reader.read(piece)])
}

const message = (data: string, id = ''): ServerSentEvent => ({ event: 'message', id, data })

describe('a reader of events', () => {
  it.each([
    ['lines of data', 'data: YHOO\ndata: +2\ndata: 10\n\n', [message('YHOO\n+2\n10')]],
    ['a comment', ': test stream\n\ndata: first event\nid: 1\n\n', [message('first event', '1')]],
    ['an id that is taken back', 'data: a\nid: 1\n\ndata:b\nid\n\n', [message('a', '1'), message('b')]],
    [
      'one space alone',
      'data:test\n\ndata: test\n\ndata:  third event\n\n',
      ['test', 'test', ' third event'].map((t) => message(t)),
    ],
    ['empty data', 'data\n\ndata\ndata\n\ndata:', [message(''), message('\n')]],
    ['a name', 'event: add\ndata: 73857293\n\n', [{ event: 'add', id: '', data: '73857293' }]],
    ['every line end', 'id: 1\r\ndata: a\r\rid: 2\ndata: b\r\n\r\n', [message('a', '1'), message('b', '2')]],
    ['an id alone', 'retry: 10\nid: 7\n\n', [message('', '7')]],
    ['what is not known', 'cow: moo\n\ndata: x\n\n', [message('x')]],
    ['an event that is not ended', 'data: x\n', []],
    ['other line ends in data', 'data: a\u2028b\u0085c\n\n', [message('a\u2028b\u0085c')]],
  ])('takes %s', (_, stream, events) => {
    expect(read(stream)).toEqual(events)
    expect(read(...stream.split(''))).toEqual(events)
  })

  it('gives the same however a stream is cut', () => {
    const line = fc.oneof(
      fc.constantFrom('', 'data', ':', 'id', 'event', ' '),
      fc
        .tuple(fc.constantFrom('data', 'id', 'event', '', 'x'), fc.string())
        .map(([name, value]) => `${name}: ${value}`),
    )
    const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n'))).map((lines) => `${lines.flat().join('')}\n`)
    fc.assert(
      fc.property(stream, fc.array(fc.nat(200)), (text, cuts) => {
        const at = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length]
        const pieces = at.slice(1).map((end, index) => text.slice(at[index], end))
        expect(read(...pieces)).toEqual(read(text))
      }),
    )
  })
})

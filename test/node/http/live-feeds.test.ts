// Live feeds over HTTP and WebSocket, to a real node: a header alone makes nothing, the first rows of a stream are typed together,
// and sequences of features go through, of several lines too.

import { describe, expect, it } from 'vitest'
import { HttpStream, producer } from '../../helpers/http-stream.ts'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()

const pretty = Array.from({ length: 5 }, (_, i) => ({
  type: 'Feature',
  properties: { i, station: `s${i}: "{"` },
  geometry: { type: 'Point', coordinates: [10 + i / 100, 50] },
})).map((feature) => `\x1e${JSON.stringify(feature, undefined, 2)}\n`)

const rows = async (alias: string, columns: string): Promise<unknown> =>
  (await live.query(`select ${columns} from "${alias}" order by "offset"`)).at('output.data')

const open = (alias: string, type: string, headers: Record<string, string> = {}): HttpStream =>
  new HttpStream(`/${alias}/stream?create=true`, { 'content-type': type, ...headers }, live)

describe('a stream of a dataset that is not there', () => {
  it('makes none of a header, and is no error', async () => {
    const stream = open('feed/header', 'text/csv').send('event_time,celsius\n')
    expect(await stream.end()).toEqual({ ended: true })
    expect((await live.call('/feed/header')).status).toBe(404)
  })

  it.each([
    ['text/csv', 'a,b\n1,\n', '1.5,2.5\n'],
    ['text/tab-separated-values', 'a\tb\n1\t\n', '1.5\t2.5\n'],
    ['application/x-ndjson', '{"a":1,"b":null}\n', '{"a":1.5,"b":2.5}\n'],
  ])('types the first row of %s with the next one', async (type, first, second) => {
    const alias = `feed/${type.replace(/\W/g, '-')}`
    const stream = open(alias, type).send(first).send(second)
    expect(await stream.end()).toMatchObject({ ended: true, last: 1 })
    expect(await rows(alias, 'a, b')).toEqual([
      [1, null],
      [1.5, 2.5],
    ])
  })
})

describe('a sequence of features', () => {
  it('goes through in pieces, numbered, and is resumed', async () => {
    const stream = open('feed/sequence', 'application/geo+json-seq', producer('s', 0))
    const text = pretty.slice(0, 3).join('')
    for (let at = 0; at < text.length; at += 50) stream.send(text.slice(at, at + 50))
    expect(await stream.end()).toMatchObject({ ended: true, last: 2 })
    const again = open('feed/sequence', 'application/geo+json-seq', producer('s', 2)).send(...pretty.slice(2))
    expect(await again.end()).toMatchObject({ ended: true, last: 4 })
    expect(await rows('feed/sequence', 'i, station')).toEqual([0, 1, 2, 3, 4].map((i) => [i, `s${i}: "{"`]))
  })

  it('is told of the feature that is cut, and takes those before it', async () => {
    const stream = open('feed/cut', 'application/geo+json-seq', producer('c', 7))
    const [first = '', second = '', third = ''] = pretty
    const end = await stream.send(first, second.slice(0, 40), third).end()
    expect(end).toMatchObject({
      last: 7,
      problem: { error: { kind: 'RecordsDoNotFit' }, errors: [{ record: 8 }] },
    })
    await expect.poll(() => rows('feed/cut', 'i')).toEqual([[0]])
  })

  it('goes over WebSocket, however its features share messages', async () => {
    const address = `${live.node.url.replace('http', 'ws')}/feed/socket/stream?create=true`
    const headers = { authorization: `Bearer ${live.adminToken}`, 'content-type': 'application/geo+json-seq' }
    const socket = new WebSocket(address, { headers })
    const lines: unknown[] = []
    socket.addEventListener('message', ({ data }) => lines.push(JSON.parse(String(data))))
    const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener('close', resolve))
    await new Promise((resolve) => socket.addEventListener('open', resolve))
    for (const message of [pretty.slice(0, 2).join(''), pretty[2]?.trimEnd(), ...pretty.slice(3), ''])
      socket.send(message ?? '')
    expect((await closed).code).toBe(1000)
    expect(lines.at(-1)).toEqual({ ended: true, last: 4 })
    expect(await rows('feed/socket', 'i')).toEqual([[0], [1], [2], [3], [4]])
  })
})

it('a quote that is not closed is refused with the number of its record, and those before it are stored', async () => {
  const stream = open('feed/quote', 'text/csv').send('a,b\n1,2\n', '3,"4\n5,6\n')
  expect(await stream.end()).toMatchObject({
    last: 0,
    problem: { error: { kind: 'RecordsDoNotFit' }, errors: [{ record: 1, kind: 'UnclosedQuote' }] },
  })
  // Its block is not waited for where a problem ends the stream.
  await expect.poll(() => rows('feed/quote', 'a, b')).toEqual([[1, 2]])
})

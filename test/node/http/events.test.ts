// Blocks as server-sent events: each once and in order, whatever cuts the stream; what ends one; a tail that waits.

import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EventListener, listen } from '../../helpers/events.ts'
import { liveNode, startLiveNode } from '../../helpers/live-node.ts'

const live = await liveNode({ 'anonymous-read': 'false' })
const { url } = live.node
const token = live.adminToken
const place = /^did:odf:fed01[0-9a-f]{64}:\d+$/

interface ListedBlock {
  readonly hash: string
  readonly sequence: number
  readonly systemTime: string
}

/** The chain as the blocks route tells it, oldest first. */
async function chainOf(alias: string): Promise<readonly ListedBlock[]> {
  const found: ListedBlock[] = []
  for (let before = ''; ;) {
    const page = await live.call(`/${alias}/blocks?limit=1000${before}`)
    found.push(...(page.at('blocks') as ListedBlock[]))
    if (page.at('next') === undefined) return found.reverse()
    before = `&before=${String(page.at('next'))}`
  }
}

async function makeToken(name: string, datasets?: string[]): Promise<{ id: string; token: string }> {
  const made = await live.call('/tokens', { method: 'POST', json: { name, scopes: ['read'], datasets } })
  return { id: String(made.at('id')), token: String(made.at('token')) }
}

async function withListener<T>(
  path: string,
  use: (listener: EventListener) => Promise<T>,
  more: Parameters<typeof listen>[1] = {},
): Promise<T> {
  const listener = await listen(url + path, { token, ...more })
  try {
    return await use(listener)
  } finally {
    listener.cut()
  }
}

describe('a stream of events', () => {
  it('begins at the head with its place, and tells of each block as it is committed', async () => {
    await live.ingest('acme/goods', [{ n: 1 }], '?create=true')
    await withListener('/acme/goods/events', async (listener) => {
      const { headers, status } = listener.response
      expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
      expect([headers.get('x-accel-buffering'), headers.get('cache-control')]).toEqual(['no', 'no-store'])
      expect(headers.get('content-encoding')).toBeNull()
      const first = await listener.next()
      const before = await chainOf('acme/goods')
      expect(first).toMatchObject({ event: 'place', id: expect.stringMatching(place) })
      expect(first?.id.split(':').at(-1)).toBe(String(before.length - 1))
      await live.ingest('acme/goods', [{ n: 2 }, { n: 3 }])
      const [event] = await listener.blocks(1)
      const block = (await chainOf('acme/goods')).at(-1)
      expect(event?.data).toEqual({
        alias: 'acme/goods',
        block: block?.hash,
        sequence: block?.sequence,
        offsets: { start: 1, end: 2 },
        systemTime: block?.systemTime,
      })
      expect(event?.id).toBe(first?.id.replace(/\d+$/, String(block?.sequence)))
    })
  })

  it('goes on after Last-Event-ID: from the first block, where it names that', async () => {
    const chain = await chainOf('acme/goods')
    const id = String((await live.call('/acme/goods')).at('id'))
    await withListener(
      '/acme/goods/events',
      async (listener) => {
        const events = await listener.blocks(chain.length - 1)
        expect(events.map(({ data }) => data?.['block'])).toEqual(chain.slice(1).map(({ hash }) => hash))
        expect(events.map(({ data }) => data?.['offsets'])).toContainEqual(null)
      },
      { lastEventId: `${id}:0` },
    )
  })

  it('tells every block once and in order, over several datasets and whatever cuts it', async () => {
    await live.ingest('acme/one', [{ n: 0 }], '?create=true')
    await live.ingest('acme/two', [{ n: 0 }], '?create=true')
    const names = ['acme/one', 'acme/two'] as const
    const ids = new Map<string, string>()
    for (const name of names) ids.set(name, String((await live.call(`/${name}`)).at('id')))
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...names) },
      { weight: 1, arbitrary: fc.constant('cut' as const) },
      { weight: 1, arbitrary: fc.record({ read: fc.integer({ min: 1, max: 3 }) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.boolean(), async (steps, rows) => {
        const path = `/events?dataset=acme/one&dataset=${encodeURIComponent(ids.get('acme/two') ?? '')}&rows=${rows}`
        const starts = new Map<string, number>()
        for (const name of names) starts.set(name, (await chainOf(name)).length)
        let lastEventId = names.map((name) => `${ids.get(name)}:${(starts.get(name) ?? 0) - 1}`).join(',')
        const seen = new Map<string, unknown[]>(names.map((name) => [name, []]))
        let due = 0
        let listener = await listen(url + path, { token, lastEventId })
        const read = async (count: number): Promise<void> => {
          for (const { id, data } of await listener.blocks(count)) {
            lastEventId = id
            seen.get(String(data?.['alias']))?.push(data?.['block'])
            due--
          }
        }
        for (const one of steps) {
          if (one === 'cut') {
            listener.cut()
            listener = await listen(url + path, { token, lastEventId })
          } else if (typeof one === 'string') {
            await live.ingest(one, [{ n: 1 }])
            due++
          } else await read(Math.min(due, one.read))
        }
        await read(due)
        listener.cut()
        for (const name of names) {
          const added = (await chainOf(name)).slice(starts.get(name))
          expect(seen.get(name)).toEqual(added.map(({ hash }) => hash))
        }
      }),
      { numRuns: 12 },
    )
  })

  it('has the rows that SQL has, whatever they hold', async () => {
    const odd = ['a\nb\r\n\u2028c', '<script>', 'id: 7\ndata: x\n\n', '\u001f\u202e', 'ü€😀', '']
    await live.ingest('acme/rows', [{ t: 'first', n: 1.5 }], '?create=true')
    await withListener('/acme/rows/events?rows=true', async (listener) => {
      await listener.next()
      expect(
        (
          await live.ingest(
            'acme/rows',
            odd.map((t, n) => ({ t, n })),
          )
        ).status,
      ).toBe(200)
      const [event] = await listener.blocks(1)
      const sql = await live.query('select * from "acme/rows" where "offset" > 0 order by "offset"', {
        dataFormat: 'JsonAos',
      })
      expect(event?.data?.['rows']).toEqual(sql.at('output.data'))
      expect(event?.data).not.toHaveProperty('truncated')
    })
  })

  it('says which offsets it leaves out of a large block, which tail gives', async () => {
    await live.ingest('acme/many', [{ n: 0 }], '?create=true')
    await withListener('/acme/many/events?rows=true', async (listener) => {
      await listener.next()
      await live.ingest(
        'acme/many',
        Array.from({ length: 1_500 }, (_, n) => ({ n })),
      )
      const [event] = await listener.blocks(1)
      expect(event?.data).toMatchObject({ offsets: { start: 1, end: 1_500 }, truncated: { start: 1_001, end: 1_500 } })
      const rows = event?.data?.['rows'] as { n: number }[]
      expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 1_000 }, (_, n) => n))
      const rest = await live.call(`/acme/many/tail?at=${String(event?.data?.['block'])}&limit=500`)
      expect(rest.at('data.0.offset')).toBe(1_001)
    })
  })

  it('leaves out rows that are too large for an event', async () => {
    await live.ingest('acme/wide', [{ t: 'x' }], '?create=true')
    await withListener('/acme/wide/events?rows=true', async (listener) => {
      await listener.next()
      await live.ingest(
        'acme/wide',
        Array.from({ length: 40 }, () => ({ t: 'x'.repeat(20_000) })),
      )
      const [event] = await listener.blocks(1)
      expect(event?.data).toMatchObject({ rows: [], truncated: { start: 1, end: 40 } })
    })
  })

  it('waits for who does not read, and tells him all when he does', async () => {
    await live.ingest('acme/slow', [{ t: '' }], '?create=true')
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.write(
      `GET /acme/slow/events?rows=true HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    )
    socket.pause()
    const begun = (await chainOf('acme/slow')).length
    const t = 'x'.repeat(400_000)
    for (let i = 0; i < 20; i++) expect((await live.ingest('acme/slow', [{ t }])).status).toBe(200)
    const due = (await chainOf('acme/slow')).slice(begun)
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    socket.resume()
    const told = (): string[] => [...text.matchAll(/"block":"(f1620[0-9a-f]{64})"/g)].map(([, hash]) => hash ?? '')
    await expect.poll(told).toEqual(due.map(({ hash }) => hash))
    expect(text.match(/x{400000}/g)).toHaveLength(20)
    socket.destroy()
  })

  it('is read by curl, line by line', async () => {
    const args = ['-sN', '--max-time', '2', '-H', `Authorization: Bearer ${token}`, `${url}/acme/goods/events`]
    const reading = promisify(execFile)('curl', args).catch((error: { stdout: string }) => error)
    await new Promise((resolve) => setTimeout(resolve, 700))
    await live.ingest('acme/goods', [{ n: 9 }])
    const { stdout } = await reading
    expect(stdout).toMatch(/^retry: 1000\nid: did:odf:\S+\n\nid: did:odf:\S+\ndata: \{"alias":"acme\/goods",.*\}\n\n$/)
  })

  it('answers HEAD at once', async () => {
    const answer = await live.call('/acme/goods/events', { method: 'HEAD' })
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/event-stream'])
  })
})

describe('who may listen', () => {
  it.each([
    ['/acme/none/events', {}, '404 DatasetNotFound'],
    ['/acme/goods/events', { token: null }, '401 Unauthenticated'],
    ['/events', {}, '400 InvalidParameter'],
    ['/events?dataset=acme/none', {}, '404 DatasetNotFound'],
    ['/events?dataset=acme/goods&rows=yes', {}, '400 InvalidParameter'],
    ['/acme/goods/events?row=true', {}, '400 InvalidParameter'],
    [`/events?${'dataset=acme/goods&'.repeat(51)}`, {}, '400 InvalidParameter'],
    ['/acme/goods/events', { headers: { 'last-event-id': '17' } }, '400 InvalidParameter'],
    ['/acme/goods/events', { headers: { 'last-event-id': 'did:odf:fed01aa:3' } }, '400 InvalidParameter'],
  ])('%s %j: %s', async (path, call, refusal) => {
    const { token: _, ...rest } = { token: undefined, ...call }
    expect((await live.call(path, 'token' in call ? call : rest)).refusal).toBe(refusal)
  })

  it('names the block that Last-Event-ID is ahead of', async () => {
    const id = String((await live.call('/acme/goods')).at('id'))
    const answer = await live.call('/acme/goods/events', { headers: { 'last-event-id': `${id}:4000` } })
    expect([answer.refusal, answer.at('message')]).toEqual([
      '400 InvalidParameter',
      expect.stringMatching(/^Last-Event-ID names block 4000 of acme\/goods, whose head is block \d+\.$/),
    ])
  })

  it('hears that his token was revoked, and no block after', async () => {
    const { id, token: own } = await makeToken('listener', ['acme/goods'])
    await withListener(
      '/acme/goods/events',
      async (listener) => {
        await listener.next()
        expect((await live.call(`/tokens/${id}`, { method: 'DELETE' })).status).toBe(204)
        const end = await listener.next()
        expect(end).toMatchObject({ event: 'end', data: { status: 401, error: { kind: 'Unauthenticated' } } })
        expect(await listener.next()).toBeUndefined()
      },
      { token: own },
    )
  })
})

describe('a dataset that is deleted', () => {
  it('ends its streams and its tails that wait', async () => {
    await live.ingest('acme/doomed', [{ n: 1 }], '?create=true')
    const { token: reader } = await makeToken('reader')
    await withListener(
      '/acme/doomed/events',
      async (listener) => {
        await listener.next()
        const tag = String((await live.call('/acme/doomed/tail')).headers.etag)
        const waiting = live.call('/acme/doomed/tail?wait=20', { headers: { 'if-none-match': tag } })
        await new Promise((resolve) => setTimeout(resolve, 300))
        const deleted = await live.call('/acme/doomed', { method: 'DELETE', headers: { 'if-match': '*' } })
        expect(deleted.status).toBeLessThan(300)
        let last = await listener.next()
        while (last?.event === 'message' || last?.event === 'comment') last = await listener.next()
        expect(last).toMatchObject({ event: 'end', data: { error: { kind: 'DatasetNotFound' } } })
        expect(await listener.next()).toBeUndefined()
        // A last block comes before the deletion: it may be what the tail has waited for.
        expect([200, 404]).toContain((await waiting).status)
        expect((await live.call('/acme/doomed/tail?wait=20')).refusal).toBe('404 DatasetNotFound')
      },
      { token: reader },
    )
  })
})

describe('a tail that waits', () => {
  it('answers when the head has moved, and says 304 when it has not', async () => {
    const first = await live.call('/acme/goods/tail?limit=1')
    const held = { headers: { 'if-none-match': String(first.headers.etag) } }
    const startedMs = performance.now()
    const waiting = live.call('/acme/goods/tail?limit=1&wait=20', held)
    await new Promise((resolve) => setTimeout(resolve, 300))
    await live.ingest('acme/goods', [{ n: 77 }])
    const moved = await waiting
    expect([moved.status, moved.at('data.0.n')]).toEqual([200, 77])
    expect(performance.now() - startedMs).toBeLessThan(10_000)
    expect((await live.call('/acme/goods/tail?limit=1&wait=1', held)).at('data.0.n')).toBe(77)
    const again = { headers: { 'if-none-match': String(moved.headers.etag) } }
    expect((await live.call('/acme/goods/tail?limit=1&wait=1', again)).status).toBe(304)
  })

  it('is the head alone for another node that follows', async () => {
    const head = await live.head('acme/goods')
    const held = { headers: { 'if-none-match': `"${head}"` } }
    const waiting = live.call('/acme/goods/refs/head?wait=20', held)
    await new Promise((resolve) => setTimeout(resolve, 300))
    await live.ingest('acme/goods', [{ n: 78 }])
    const moved = await waiting
    expect([moved.status, moved.text]).toEqual([200, await live.head('acme/goods')])
    expect((await live.call('/acme/goods/refs/head?wait=20', held)).text).toBe(moved.text)
    const again = { headers: { 'if-none-match': String(moved.headers.etag) } }
    expect((await live.call('/acme/goods/refs/head?wait=1', again)).status).toBe(304)
    expect((await live.call('/acme/goods/refs/head?wait=61')).refusal).toBe('400 InvalidParameter')
  })

  it.each([['wait=61'], ['wait=x'], ['wait=1&format=Csv'], ['wait=-1']])('refuses %s', async (query) => {
    expect((await live.call(`/acme/goods/tail?${query}`)).refusal).toBe('400 InvalidParameter')
  })
})

describe('listeners', () => {
  it('are bounded: those of one caller by its share, all by the limit', async () => {
    const small = await startLiveNode({ 'anonymous-read': 'true' }, { limits: { listeners: 8 } })
    const open: EventListener[] = []
    const enter = async (own?: string): Promise<number> => {
      const listener = await listen(`${small.node.url}/acme/goods/events`, { token: own })
      open.push(listener)
      return listener.response.status
    }
    const held = async (): Promise<number> =>
      Number(/^proofstream_listeners (\d+)$/m.exec((await small.call('/metrics')).text)?.[1])
    try {
      await small.ingest('acme/goods', [{ n: 1 }], '?create=true')
      for (const status of [200, 200, 200, 200, 429]) expect(await enter(small.adminToken)).toBe(status)
      const refused = await small.call('/acme/goods/events')
      expect([refused.refusal, refused.at('limit'), refused.headers['retry-after']]).toEqual([
        '429 QuotaExceeded',
        { name: 'callerShare', value: 50, unit: 'percent' },
        '5',
      ])
      for (const status of [200, 200, 429]) expect(await enter()).toBe(status)
      const tag = String((await small.call('/acme/goods/tail')).headers.etag)
      const wait = { headers: { 'if-none-match': tag } }
      expect((await small.call('/acme/goods/tail?wait=1', wait)).refusal).toBe('429 QuotaExceeded')
      expect(await held()).toBe(6)
      for (const listener of open) listener.cut()
      await expect.poll(held).toBe(0)
      expect(await enter(small.adminToken)).toBe(200)
    } finally {
      for (const listener of open) listener.cut()
      await small.stop()
    }
  })

  it('are told that a dataset is hidden from them by now', async () => {
    const open = await startLiveNode()
    try {
      await open.ingest('acme/goods', [{ n: 1 }], '?create=true')
      const anyone = await listen(`${open.node.url}/acme/goods/events`)
      const admin = await listen(`${open.node.url}/acme/goods/events`, { token: open.adminToken })
      for (const listener of [anyone, admin]) await listener.next()
      const hidden = await open.call('/acme/goods', { method: 'PATCH', json: { visibility: 'private' } })
      expect(hidden.status).toBe(200)
      await open.ingest('acme/goods', [{ n: 2 }])
      // The change is a block of its own, without rows: who may not read any more does not hear of it.
      const last = [await anyone.next(), await anyone.next()]
      expect(last[0]).toMatchObject({ event: 'end', data: { status: 404, error: { kind: 'DatasetNotFound' } } })
      expect(last[1]).toBeUndefined()
      const [, told] = await admin.blocks(2)
      expect(told?.data).toMatchObject({ offsets: { start: 1, end: 1 } })
      admin.cut()
    } finally {
      await open.stop()
    }
  })

  it('are told that the node shuts down, at once', async () => {
    const first = await startLiveNode()
    await first.ingest('acme/goods', [{ n: 1 }], '?create=true')
    const listener = await listen(`${first.node.url}/acme/goods/events`, { token: first.adminToken })
    await listener.next()
    const tag = String((await first.call('/acme/goods/tail')).headers.etag)
    const waiting = first.call('/acme/goods/tail?wait=30', { headers: { 'if-none-match': tag } })
    await new Promise((resolve) => setTimeout(resolve, 200))
    const startedMs = performance.now()
    const stopped = first.stop()
    expect(await listener.next()).toMatchObject({ event: 'end', data: { status: 503, error: { kind: 'Draining' } } })
    expect(await listener.next()).toBeUndefined()
    expect((await waiting).status).toBe(304)
    await stopped
    expect(performance.now() - startedMs).toBeLessThan(5_000)
  })
})

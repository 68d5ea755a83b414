// One batch over HTTP: what the caller is told, when, and what a repeat, a condition or a broken connection does.

import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type Answer, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode(
  { 'limit-body-bytes': 200_000 },
  { limits: { inflatedBytes: 3_000_000, recordBytes: 50_000, requestHeaderMs: 1_000 } },
)
await live.ingest('acme/log', [{ n: 0 }], '?create=true')

const post = (
  path: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  chunked = false,
): Promise<Answer> =>
  live.call(path, { method: 'POST', headers: { 'content-type': 'application/x-ndjson', ...headers }, body, chunked })

const count = async (alias: string): Promise<unknown> =>
  (await live.query(`select count(*) from "${alias}"`)).at('output.data.0.0')

describe('a receipt', () => {
  it('names the block and the offsets of a batch that the caller waited for', async () => {
    const body = '{"n":1}\n{"n":2}\n'
    const answer = await post('/acme/log/ingest', body, { prefer: 'wait=20' })
    expect(answer.status).toBe(200)
    expect(answer.headers['preference-applied']).toBe('wait=20')
    expect(answer.json).toMatchObject({
      status: 'committed',
      dataset: { alias: 'acme/log' },
      records: { received: 2, committed: 2, duplicates: 0 },
      bodyHash: `f1220${createHash('sha256').update(body).digest('hex')}`,
      mediaType: 'application/x-ndjson',
      bytes: body.length,
      log: { name: 'file', partition: 0 },
      block: { hash: await live.head('acme/log') },
      offsets: { start: 1, end: 2 },
    })
    const again = await live.call(`/receipts/${String(answer.at('receiptId'))}`)
    expect({ ...Object(again.json), eventTime: { from: 'received' } }).toEqual(answer.json)
  })

  it('is accepted first and committed later where the caller does not wait', async () => {
    const answer = await post('/acme/log/ingest', '{"n":3}', { prefer: 'respond-async' })
    expect([answer.status, answer.at('status')]).toEqual([202, 'accepted'])
    expect(answer.headers['preference-applied']).toBe('respond-async')
    expect(answer.headers.location).toBe(`/receipts/${String(answer.at('receiptId'))}`)
    expect(answer.at('block')).toBeUndefined()
    await expect.poll(async () => (await live.call(String(answer.headers.location))).at('status')).toBe('committed')
  })

  it.each([
    ['wait=5', 200, 'wait=5'],
    ['respond-async; foo=1', 202, 'respond-async'],
    ['respond-async, wait=5', 200, 'wait=5'],
    ['wait=0', 202, 'respond-async'],
    ['wait="7"', 200, 'wait=7'],
    ['wait=9999', 200, 'wait=30'],
    ['wait=soon', 200, undefined],
    ['return=representation', 200, undefined],
    ['', 200, undefined],
  ])('to Prefer: %s is %i, and says what was done', async (prefer, status, applied) => {
    const answer = await post('/acme/log/ingest', '{"n":4}', { prefer })
    expect([answer.status, answer.headers['preference-applied']]).toEqual([status, applied])
  })

  it('is for who may read the dataset, and for the token that sent the batch', async () => {
    const schema = { fields: [{ name: 'n', type: 'Float64?' }] }
    await live.call('/acme/closed', { method: 'PUT', json: { schema, visibility: 'private' } })
    const make = async (scope: string): Promise<string> =>
      String((await live.call('/tokens', { method: 'POST', json: { name: scope, scopes: [scope] } })).at('token'))
    const [sender, other, reader] = await Promise.all([make('ingest'), make('ingest'), make('read')])
    const sent = await live.call('/acme/closed/ingest', {
      method: 'POST',
      token: sender,
      headers: { 'content-type': 'application/json', prefer: 'respond-async' },
      body: '{"n":1}',
    })
    expect(sent.status).toBe(202)
    const path = String(sent.headers.location)
    const statuses = await Promise.all(
      [sender, other, reader, null].map(async (token) => (await live.call(path, { token })).status),
    )
    expect(statuses).toEqual([200, 404, 200, 404])
  })

  it.each(['', 'x', 'AAAA'.repeat(30)])('is not found under the made-up id %j', async (id) => {
    expect((await live.call(`/receipts/${id}`)).status).toBe(404)
  })
})

describe('dryRun', () => {
  it('infers and stores nothing', async () => {
    const answer = await post('/acme/dry/ingest?create=true&dryRun=true', '{"a":1,"b":"x"}\n{"a":2,"b":null}\n')
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ dryRun: true, records: 2 })
    expect(answer.text).toContain('"name":"b"')
    expect((await live.call('/acme/dry/metadata')).status).toBe(404)
  })

  it('finds what is wrong as a real post does', async () => {
    const answer = await post('/acme/log/ingest?dryRun=true', '{"n":"x"}')
    expect(answer.at('errors.0.kind')).toBe('WrongType')
  })

  it('of a missing dataset needs create', async () => {
    expect((await post('/acme/dry/ingest?dryRun=true', '{"a":1}')).at('error.kind')).toBe('DatasetNotFound')
  })
})

describe('Idempotency-Key', () => {
  it('makes a repeat answer with the first receipt and store nothing', async () => {
    const before = Number(await count('acme/log'))
    const headers = { 'idempotency-key': 'one', prefer: 'wait=20' }
    const first = await post('/acme/log/ingest', '{"n":10}', headers)
    const again = await post('/acme/log/ingest', '{"n":10}', headers)
    expect([first.status, again.status]).toEqual([200, 200])
    expect([first.headers['idempotent-replayed'], again.headers['idempotent-replayed']]).toEqual([undefined, 'true'])
    expect([first.at('replayed'), again.at('replayed')]).toEqual([undefined, true])
    expect(again.at('offsets')).toEqual(first.at('offsets'))
    expect(again.at('block')).toEqual(first.at('block'))
    expect(first.at('idempotencyKey')).toBe('one')
    expect(await count('acme/log')).toBe(before + 1)
  })

  it('is not used up by a batch that was refused', async () => {
    const headers = { 'idempotency-key': 'three', prefer: 'wait=20' }
    expect((await post('/acme/log/ingest', '{"n":"x"}', headers)).status).toBe(422)
    const answer = await post('/acme/log/ingest', '{"n":13}', headers)
    expect([answer.status, answer.headers['idempotent-replayed']]).toEqual([200, undefined])
  })

  it('holds for repeats at the same moment', async () => {
    const before = Number(await count('acme/log'))
    const headers = { 'idempotency-key': 'four', prefer: 'wait=20' }
    const answers = await Promise.all(Array.from({ length: 8 }, () => post('/acme/log/ingest', '{"n":14}', headers)))
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 8 }, () => 200))
    expect(new Set(answers.map((answer) => JSON.stringify(answer.at('offsets')))).size).toBe(1)
    expect(answers.filter((answer) => answer.headers['idempotent-replayed'] === undefined)).toHaveLength(1)
    expect(await count('acme/log')).toBe(before + 1)
  })
})

describe('If-Match', () => {
  it('lets a batch in at the head it names, tagged or bare, and at no other', async () => {
    await live.ingest('acme/guarded', [{ n: 0 }], '?create=true')
    const first = String((await live.call('/acme/guarded/refs/head')).headers.etag)
    const moved = await post('/acme/guarded/ingest', '{"n":1}', { 'if-match': first, prefer: 'wait=20' })
    expect(moved.status).toBe(200)
    const late = await post('/acme/guarded/ingest', '{"n":2}', { 'if-match': first })
    expect(late.refusal).toBe('412 HeadMoved')
    expect(late.text).toContain(String(await live.head('acme/guarded')))
    const bare = await post('/acme/guarded/ingest', '{"n":2}', {
      'if-match': String(await live.head('acme/guarded')),
      prefer: 'wait=20',
    })
    expect(bare.status).toBe(200)
    expect(await count('acme/guarded')).toBe(3)
  })
})

describe('compressed bodies', () => {
  const body = Buffer.from(Array.from({ length: 500 }, (_, n) => `{"n":${n}}\n`).join(''))
  const codecs = [
    ['gzip', gzipSync(body)],
    ['deflate', deflateSync(body)],
    ['br', brotliCompressSync(body)],
    ['zstd', zstdCompressSync(body)],
  ] as const

  it.each(codecs)('are taken as %s, and hashed as they were before', async (encoding, bytes) => {
    const answer = await post('/acme/log/ingest', bytes, { 'content-encoding': encoding, prefer: 'wait=20' })
    expect(answer.status).toBe(200)
    expect(answer.at('records.committed')).toBe(500)
    expect(answer.at('bodyHash')).toBe(`f1220${createHash('sha256').update(body).digest('hex')}`)
  })

  it('of an unknown encoding are refused', async () => {
    const answer = await post('/acme/log/ingest', '{"n":1}', { 'content-encoding': 'compress' })
    expect(answer.refusal).toBe('415 UnsupportedEncoding')
    expect(answer.at('candidates')).toContain('zstd')
  })

  it('may not blow up beyond the ratio or the inflated size', async () => {
    const ratio = await post('/acme/log/ingest', gzipSync(Buffer.alloc(2_500_000, '\n')), {
      'content-encoding': 'gzip',
    })
    expect([ratio.status, ratio.at('limit.name')]).toEqual([413, 'inflatedRatio'])
    const rows = (length: number, width: number): string =>
      Array.from({ length }, (_, n) => `{"n":${n % 1000}${' '.repeat((n * n) % width)}}\n`).join('')
    const size = await post('/acme/log/ingest', gzipSync(rows(40_000, 200)), { 'content-encoding': 'gzip' })
    expect([size.status, size.at('limit.name')]).toEqual([413, 'inflatedBytes'])
    const columns = await post('/acme/log/ingest', gzipSync(rows(400_000, 1)), { 'content-encoding': 'gzip' })
    expect([columns.status, columns.at('limit.name')]).toEqual([413, 'columnBytes'])
  })

  it('work for JSON requests too', async () => {
    const answer = await live.call('/query', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync('{"query":"select 7"}'),
    })
    expect(answer.at('output.data')).toEqual([[7]])
  })
})

describe('limits', () => {
  const row = '{"n":1}\n'

  it.each([false, true])(
    'refuse a body one byte over bodyBytes and take one that fits (chunked: %s)',
    async (chunked) => {
      const fits = row.repeat(200_000 / row.length)
      const headers = { prefer: 'wait=20' }
      expect((await post('/acme/log/ingest', fits, headers, chunked)).status).toBe(200)
      const before = await live.head('acme/log')
      const answer = await post('/acme/log/ingest', `${fits}\n`, headers, chunked)
      expect([answer.status, answer.at('error.kind'), answer.at('limit.value')]).toEqual([413, 'BodyTooLarge', 200_000])
      expect(await live.head('acme/log')).toBe(before)
    },
  )

  it('tell a client that is still sending why it is cut off', async () => {
    const answer = await post('/acme/log/ingest', row.repeat(2_000_000), {}, true)
    expect([answer.status, answer.headers.connection]).toEqual([413, 'close'])
  })
})

describe('connections', () => {
  it('that break in the middle of a body store nothing', async () => {
    const before = await live.head('acme/log')
    const { hostname, port } = new URL(live.node.url)
    const half = (head: string, body: string): Promise<void> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(port), hostname, () => {
          const common = `Host: localhost\r\nAuthorization: Bearer ${live.adminToken}\r\nContent-Type: application/x-ndjson\r\n`
          socket.write(`POST /acme/log/ingest HTTP/1.1\r\n${common}${head}\r\n\r\n${body}`, () => {
            setTimeout(() => socket.destroy(), 50)
          })
        })
        socket.on('error', reject)
        socket.on('close', () => resolve())
      })
    await half('Content-Length: 1000', '{"n":-71}\n{"n":-72}\n')
    await half('Transfer-Encoding: chunked', 'A\r\n{"n":-71}\n\r\n')
    await half('Content-Length: 100000', '{"n":-71}\n'.repeat(2000))
    await half('Transfer-Encoding: chunked', 'A\r\n{"n":-71}\n\r\nzz\r\n')
    // A batch that follows is committed after anything that those could have logged.
    await live.ingest('acme/log', [{ n: 73 }])
    const rows = await live.query('select count(*) from "acme/log" where n in (-71, -72)')
    expect(rows.at('output.data.0.0')).toBe(0)
    expect(await live.head('acme/log')).not.toBe(before)
  })

  it('that do not finish their header are answered with 408', async () => {
    const text = await live.raw('GET /info HTTP/1.1\r\nHost: local')
    expect(text).toMatch(/^HTTP\/1.1 408 /)
    expect(text).toContain('"kind":"RequestTimeout"')
    expect(text).toContain('"retryable":true')
  })
})

describe('a dataset that is made by its first batch', () => {
  it('is made once by callers at the same moment, and holds the rows of all', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, n) => live.ingest('acme/born', [{ n }], '?create=true')),
    )
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200])
    expect(await count('acme/born')).toBe(5)
  })

  it('takes its event time from the record, the header or the clock', async () => {
    const body = '{"event_time":"2020-01-02T03:04:05Z","n":1}\n{"n":2}\n'
    await post('/acme/timed/ingest?create=true', body, { 'odf-event-time': '2021-01-01T00:00:00Z', prefer: 'wait=20' })
    const rows = await live.query('select event_time from "acme/timed" order by offset')
    expect(rows.at('output.data')).toEqual([['2020-01-02T03:04:05Z'], ['2021-01-01T00:00:00Z']])
  })

  it('keeps integers exact', async () => {
    await post('/acme/exact/ingest?create=true', '{"n":9007199254740993}\n', { prefer: 'wait=20' })
    expect((await live.query('select n from "acme/exact"')).text).toContain('[[9007199254740993]]')
  })
})

// The JavaScript client over a real node: rows, receipts, refusals, proofs, blocks over restarts; its types; that it needs
// nothing of Node.js.

import { mkdtemp, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { ProofstreamClient, type QueryAnswer, type Receipt } from '../../../src/libraries/client/client.ts'
import { ProofstreamError } from '../../../src/libraries/client/exchange.ts'
import type { BlockEvent } from '../../../src/libraries/client/listen.ts'
import { liveNode, startLiveNode } from '../../helpers/live-node.ts'
import { serveNode } from '../../helpers/run-node.ts'

const live = await liveNode()
const node = new ProofstreamClient(live.node.url, { token: live.adminToken })

/** What a call is refused with. */
async function refusal(call: Promise<unknown>): Promise<unknown[]> {
  const error = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  return error instanceof ProofstreamError ? [error.status, error.kind, error.message] : [error]
}

describe('ingest', () => {
  it('takes objects as they are: large integers, dates, texts of any kind', async () => {
    const at = new Date(Date.UTC(2026, 0, 2, 3, 4, 5))
    const records = [
      { event_time: at, n: 9_007_199_254_740_993n, text: 'a\n"\u2028😀' },
      { event_time: at, n: 2n, text: undefined },
    ]
    const receipt = await node.ingest('acme/js', records, {
      create: true,
      waitSeconds: 20,
      controls: { integers: 'int64' },
    })
    expectTypeOf(receipt).toEqualTypeOf<Receipt>()
    expect(receipt).toMatchObject({ status: 'committed', records: { committed: 2 }, offsets: { start: 0, end: 1 } })
    expect(await node.tail('acme/js')).toEqual([
      expect.objectContaining({
        offset: 0,
        event_time: '2026-01-02T03:04:05Z',
        n: 9_007_199_254_740_993n,
        text: 'a\n"\u2028😀',
      }),
      expect.objectContaining({ offset: 1, n: 2, text: null }),
    ])
  })

  it('takes bodies of other types, and stores what has one key once', async () => {
    const options = { create: true, mediaType: 'text/csv', key: 'k1', waitSeconds: 20 }
    const first = await node.ingest('acme/csv', 'a,b\n1,x\n', options)
    const again = await node.ingest('acme/csv', new Blob(['a,b\n1,x\n']), options)
    expect(again.block).toEqual(first.block)
    expect(await node.tail('acme/csv')).toHaveLength(1)
    expect((await node.ingest('acme/csv', 'a,b\n2,y\n', { mediaType: 'text/csv', waitSeconds: 0 })).status).toBe(
      'accepted',
    )
  })

  it('refuses what JSON cannot hold before it is sent, and tells what the node refuses', async () => {
    expect(await refusal(node.ingest('acme/js', [{ n: 1n }, { n: Number.NaN }]))).toEqual([
      0,
      'InvalidRecord',
      'record 1.n is NaN, which is not a JSON value.',
    ])
    expect(await refusal(node.ingest('acme/js', [{ n: 'x' }]))).toEqual([422, 'RecordsDoNotFit', expect.any(String)])
    expect((await refusal(node.ingest('acme/none', [{ n: 1 }]))).slice(0, 2)).toEqual([404, 'DatasetNotFound'])
    expect((await refusal(node.tail('none'))).slice(0, 2)).toEqual([0, 'InvalidName'])
  })

  it('sends values as they are, and refuses with its place what JSON has no form for', async () => {
    class Reading {
      #hidden = 1
      n = 2
      get twice(): number {
        return this.#hidden
      }
    }
    const row = {
      z: -0,
      w: 1,
      url: new URL('http://a/b'),
      made: new Reading(),
      boxed: new Number(3),
      list: [1n, null, 'x'],
    }
    await node.ingest('acme/kinds', [{ ...row, left: undefined }], { create: true, waitSeconds: 20 })
    expect((await node.query('select z, url, made, boxed, list from acme.kinds')).rows).toEqual([
      { z: 0, url: 'http://a/b', made: '{"n":2}', boxed: 3, list: '[1,null,"x"]' },
    ])
    // oxlint-disable-next-line no-sparse-arrays -- what is tested
    const sparse = [1, , 2]
    const odd: readonly (readonly [unknown, string])[] = [
      [new Date(Number.NaN), 'a date that is none'],
      [new Map([['a', 1]]), 'of the kind Map'],
      [new Set([1]), 'of the kind Set'],
      [new Uint8Array([1, 2]), 'of the kind Uint8Array'],
      [Buffer.from('x'), 'of the kind Uint8Array'],
      [new Float64Array([1]), 'of the kind Float64Array'],
      [new ArrayBuffer(2), 'of the kind ArrayBuffer'],
      [Promise.resolve(1), 'of the kind Promise'],
      [new Error('x'), 'of the kind Error'],
      [/x/, 'of the kind RegExp'],
      [Number.NaN, 'NaN'],
      [-Infinity, '-Infinity'],
      [Symbol('x'), 'a symbol'],
      [() => 1, 'a function'],
      ['\ud800', 'a text with half of a surrogate pair'],
    ]
    for (const [value, what] of odd) {
      for (const [record, path] of [
        [{ a: value }, 'record 1.a'],
        [{ a: [0, { b: value }] }, 'record 1.a.1.b'],
      ] as const) {
        expect(await refusal(node.ingest('acme/kinds', [{ z: 1 }, record]))).toEqual([
          0,
          'InvalidRecord',
          `${path} is ${what}, which is not a JSON value.`,
        ])
      }
    }
    for (const list of [[1, undefined], sparse]) {
      expect((await refusal(node.ingest('acme/kinds', [{ list }])))[2]).toBe(
        'record 0.list.1 is undefined, which is not a JSON value.',
      )
    }
    expect((await refusal(node.ingest('acme/kinds', [new Map([['z', 1]])])))[2]).toContain(
      'record 0 is of the kind Map',
    )
    const itself: { toJSON: () => object } = { toJSON: () => itself }
    expect((await refusal(node.ingest('acme/kinds', [itself])))[2]).toContain('nested too deeply')
  })

  it('sends token and rows to no other origin', async () => {
    const heard: unknown[] = []
    const other = createServer((request, response) => {
      heard.push(request.headers.authorization)
      response.end('{"output":{"data":[]}}')
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const first = createServer((request, response) => {
      const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}${request.url}`
      response.writeHead(307, { location }).end()
    })
    await new Promise<void>((resolve) => first.listen(0, '127.0.0.1', resolve))
    const client = new ProofstreamClient(`http://127.0.0.1:${(first.address() as AddressInfo).port}`, {
      token: 'secret',
    })
    await client.query('select 1').catch(() => {})
    await client.tail('a/b').catch(() => {})
    expect(heard).toEqual([])
    for (const server of [other, first]) server.close()
  })

  it('has the members that the document of the node says', async () => {
    const keys: Record<keyof Receipt, true> = {
      receiptId: true,
      batchId: true,
      time: true,
      status: true,
      dataset: true,
      records: true,
      bodyHash: true,
      mediaType: true,
      bytes: true,
      ignoredParameters: true,
      log: true,
      block: true,
      offsets: true,
      idempotencyKey: true,
      replayed: true,
      csvHeader: true,
      lost: true,
      eventTime: true,
      warnings: true,
      times: true,
      errors: true,
      promise: true,
      proof: true,
    }
    const document = await live.call('/openapi.json')
    const answer = 'paths./{account}/{dataset}/ingest.post.responses.202.content.application/json'
    const described = Object.keys(Object(document.at(`${answer}.schema.properties`)))
    expect(described.toSorted()).toEqual(Object.keys(keys).toSorted())
  })
})

describe('query', () => {
  it('gives rows with parameters, and says when there are more', async () => {
    const answer = await node.query('select n from acme.js where n > $least order by n', {
      parameters: { least: 5n },
      limit: 1,
    })
    expectTypeOf(answer).toEqualTypeOf<QueryAnswer>()
    expect(answer).toMatchObject({ rows: [{ n: 9_007_199_254_740_993n }], truncated: false })
    expect((await node.query('select n from acme.js', { limit: 1 })).truncated).toBe(true)
    expect(await node.query('select $1 + $2 as s', { parameters: [1, 2] })).toMatchObject({ rows: [{ s: 3 }] })
  })

  it('fetches all rows that the node answers at once', async () => {
    const sql = 'select * from range(400)'
    const answer = await node.query(sql)
    expect([answer.rows.length, answer.truncated]).toEqual([400, false])
    const small = await startLiveNode({ 'limit-result-rows': '150' })
    try {
      const cut = await new ProofstreamClient(small.node.url, { token: small.adminToken }).query(sql)
      expect([cut.rows.length, cut.truncated]).toEqual([150, true])
    } finally {
      await small.stop()
    }
  })

  it('checks a proof before it hands rows over, and later without a node', async () => {
    const { checked, text, rows } = await node.query('select max(n) as most from acme.js', { proof: true })
    expect(checked).toMatchObject({ ok: true, signer: live.node.did })
    expect(rows).toEqual([{ most: 9_007_199_254_740_993n }])
    expect(node.verify(text, live.node.did).signer).toBe(live.node.did)
    expect(() => node.verify(text.replace('993', '994'))).toThrow(ProofstreamError)
    const forger = new ProofstreamClient(live.node.url, {
      token: live.adminToken,
      fetch: async (url, init) => {
        const answer = await fetch(url, init)
        return new Response((await answer.text()).replace('740993', '740994'))
      },
    })
    expect((await refusal(forger.query('select max(n) as most from acme.js', { proof: true })))[1]).toBe(
      'InvalidRequest::OutputHash',
    )
  })

  it('tells the fault of a statement with its place', async () => {
    const error = await node.query('select * frm acme.js').catch((cause: unknown) => cause)
    expect(error).toMatchObject({
      status: 400,
      kind: 'SqlSyntax',
      isRetryable: false,
      problem: { position: { line: 1 } },
    })
  })

  it('repeats what may succeed later, and no more than five times', async () => {
    let asked = 0
    const server = createServer((_, response) => {
      asked++
      const body = JSON.stringify({ error: { kind: 'Saturated' }, message: 'Full.', retryable: true })
      if (asked < 3) response.writeHead(503, { 'retry-after': '0' }).end(body)
      else response.end('{"output":{"data":[{"a":1}]}}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const busy = new ProofstreamClient(`http://127.0.0.1:${port}`)
    expect((await busy.query('select 1')).rows).toEqual([{ a: 1 }])
    expect(asked).toBe(3)
    server.close()
    server.closeAllConnections()
    const stop = AbortSignal.timeout(300)
    await expect(busy.query('select 1', { signal: stop })).rejects.toThrow('aborted due to timeout')
  })
})

describe('events', () => {
  it('tell each block once, over restarts of the node', async () => {
    const data = join(await mkdtemp(join(tmpdir(), 'proofstream-client-')), 'data')
    let served = await serveNode(data)
    const { port } = new URL(served.url)
    const client = new ProofstreamClient(served.url, { token: (await readFile(join(data, 'token'), 'utf8')).trim() })
    for (const name of ['acme/a', 'acme/b']) await client.ingest(name, [{ n: 0 }], { create: true, waitSeconds: 20 })
    const stop = new AbortController()
    const heard: BlockEvent[] = []
    const listening = (async () => {
      for await (const event of client.events(['acme/a', 'acme/b'], { rows: true, signal: stop.signal })) {
        expectTypeOf(event).toEqualTypeOf<BlockEvent>()
        heard.push(event)
      }
    })()
    const told = (): unknown[] =>
      ['acme/a', 'acme/b'].map((name) =>
        heard.filter(({ alias }) => alias === name).map(({ rows }) => rows?.map((row) => row['n'])),
      )
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await client.ingest('acme/a', [{ n: 1 }, { n: 2 }], { waitSeconds: 20 })
    await expect.poll(told).toEqual([[[1, 2]], []])
    await served.end('SIGKILL')
    served = await serveNode(data, ['--listen', `127.0.0.1:${port}`])
    await client.ingest('acme/b', [{ n: 3 }], { waitSeconds: 20 })
    await served.end('SIGTERM')
    served = await serveNode(data, ['--listen', `127.0.0.1:${port}`])
    await client.ingest('acme/a', [{ n: 4 }], { waitSeconds: 20 })
    await expect.poll(told).toEqual([[[1, 2], [4]], [[3]]])
    stop.abort()
    await listening
    const [first] = heard
    for await (const event of client.events(['acme/a', 'acme/b'], { lastEventId: first?.id ?? '' })) {
      expect(['acme/a', 'acme/b']).toContain(event.alias)
      break
    }
    await served.end('SIGTERM')
  })

  it('end with the reason where they may not be read', async () => {
    const first = node.events('acme/none').next()
    expect((await refusal(first)).slice(0, 2)).toEqual([404, 'DatasetNotFound'])
    const made = await live.call('/tokens', { method: 'POST', json: { name: 'short', scopes: ['read'] } })
    const own = new ProofstreamClient(live.node.url, { token: String(made.at('token')) }).events('acme/js')
    const next = refusal(own.next())
    await new Promise((resolve) => setTimeout(resolve, 500))
    await live.call(`/tokens/${String(made.at('id'))}`, { method: 'DELETE' })
    expect((await next).slice(0, 2)).toEqual([401, 'Unauthenticated'])
  })
})

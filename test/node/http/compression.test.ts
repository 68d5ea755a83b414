// Compressed answers: who asks for them gets them, with a tag of their own; stored objects never are.

import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type Answer, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
await live.ingest(
  'acme/goods',
  Array.from({ length: 3000 }, (_, n) => ({ n, text: `row ${n}`, a: 1, b: 2, c: 3, d: 4, e: 5 })),
  '?create=true',
)

const get = (path: string, encoding: string, more: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  live.call(path, { headers: { 'accept-encoding': encoding, ...more } })

const proofPath = `/query?${new URLSearchParams({ query: 'select * from "acme/goods"', include: 'Proof' }).toString()}`

describe('an answer', () => {
  it.each([
    ['br, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['gzip, br;q=0', 'gzip'],
    ['*', 'br'],
    ['*, br;q=0.0', 'gzip'],
    ['identity', undefined],
    ['deflate', undefined],
    ['*;q=0', undefined],
  ])('to Accept-Encoding: %s comes as %s', async (accepted, encoding) => {
    const plain = await live.call(proofPath)
    const answer = await get(proofPath, accepted)
    expect([answer.status, answer.headers['content-encoding']]).toEqual([200, encoding])
    expect(answer.headers.vary).toContain('Accept-Encoding')
    const inflate = { br: brotliDecompressSync, gzip: gunzipSync, none: (bytes: Uint8Array) => Buffer.from(bytes) }
    expect(inflate[encoding === 'br' || encoding === 'gzip' ? encoding : 'none'](answer.bytes).toString()).toBe(
      plain.text,
    )
  })

  it('that is small is left alone', async () => {
    const answer = await get('/healthz', 'gzip')
    expect(answer.headers['content-encoding']).toBeUndefined()
  })

  it('has another tag when it is compressed, and either is 304', async () => {
    const path = '/acme/goods/metadata?include=schema,seed,vocab'
    const plain = String((await live.call(path)).headers.etag)
    const tags = [plain, plain.replace(/"$/, '-gz"'), plain.replace(/"$/, '-br"')]
    expect((await get(path, 'gzip')).headers.etag).toBe(tags[1])
    expect((await get(path, 'br')).headers.etag).toBe(tags[2])
    for (const tag of tags) {
      const again = await get(path, 'gzip', { 'if-none-match': tag })
      expect([again.status, again.headers.etag]).toEqual([304, tag])
    }
  })

  it('to HEAD has the length that GET has', async () => {
    const headers = { 'accept-encoding': 'gzip' }
    const [got, head] = [
      await live.call(proofPath, { headers }),
      await live.call(proofPath, { method: 'HEAD', headers }),
    ]
    expect(head.headers['content-length']).toBe(got.headers['content-length'])
    expect(got.headers['content-length']).toBe(String(got.bytes.length))
  })
})

describe('a file', () => {
  const sql = "select i, 'a text of row ' || i as text, null as geometry from range(200000) r(i)"
  const file = (format: string, statement = sql, more = ''): string =>
    `/query?${new URLSearchParams({ query: statement, format }).toString()}${more}`

  it.each(['Csv', 'NdJson', 'GeoJson', 'NdGeoJson'])('of text is compressed while it is made: %s', async (format) => {
    const path = file(format, sql.replace('null as', 'null::varchar as'))
    const plain = await live.call(path)
    const packed = { br: await get(path, 'br'), gzip: await get(path, 'gzip') }
    expect(brotliDecompressSync(packed.br.bytes).equals(plain.bytes)).toBe(true)
    expect(gunzipSync(packed.gzip.bytes).equals(plain.bytes)).toBe(true)
    expect(packed.gzip.bytes.length).toBeLessThan(plain.bytes.length / 3)
    for (const [encoding, { headers }] of Object.entries(packed)) {
      expect(headers).toMatchObject({ 'content-encoding': encoding, vary: 'Origin, Accept, Accept-Encoding' })
      expect(headers['content-length']).toBeUndefined()
      const again = await get(path, encoding, { 'if-none-match': String(headers.etag) })
      expect([again.status, again.headers.etag]).toEqual([304, headers.etag])
    }
    const tags = [plain, packed.br, packed.gzip].map(({ headers }) => headers.etag)
    expect(new Set(tags).size).toBe(3)
  })

  it.each(['Parquet', 'Arrow'])('of columns is not: %s', async (format) => {
    const answer = await get(file(format), 'gzip, br')
    expect([answer.status, answer.headers['content-encoding']]).toEqual([200, undefined])
  })

  it('says behind its rows that there are more', async () => {
    const answer = await get(file('Csv', sql, '&limit=100000'), 'gzip')
    expect(gunzipSync(answer.bytes).toString().split('\r\n')).toHaveLength(100_002)
    expect(answer.trailers).toEqual({ 'result-truncated': 'true' })
  })

  it.each(['gzip', 'br'])('that breaks off is never whole: %s', async (encoding) => {
    const late = "select case when i = 1000000 then cast('x' || i as integer) else i end as v from range(2000000) r(i)"
    await expect(get(file('Csv', late), encoding)).rejects.toMatchObject({ code: 'ECONNRESET' })
  })
})

describe('a stored object', () => {
  it('is sent as it is stored', async () => {
    const blocks = await live.call('/acme/goods/blocks')
    for (const path of [
      `/acme/goods/data/${String(blocks.at('blocks.0.event.newData.physicalHash'))}`,
      `/acme/goods/blocks/${String(blocks.at('blocks.0.hash'))}`,
    ]) {
      expect((await get(path, 'gzip, br')).headers['content-encoding']).toBeUndefined()
    }
  })
})

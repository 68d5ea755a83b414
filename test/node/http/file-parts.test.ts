// Parquet files that are read in parts: lengths, ranges and tags over a file that is made once; readers of a URL without a
// block, which stay with the file they began with while rows come; rights, errors and no room.

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { parquetReadObjects } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { type Answer, type Call, liveNode, startLiveNode } from '../../helpers/live-node.ts'

const live = await liveNode({ 'anonymous-read': true }, { limits: { answerFileBytes: 3_000_000 } })
const rowsFrom = (start: number, count: number): object[] =>
  Array.from({ length: count }, (_, i) => ({ n: start + i, text: `row ${((start + i) * 2654435761) % 4294967296}` }))
await live.ingest('acme/parts', rowsFrom(0, 40_000), '?create=true')
const head = async (): Promise<string> => must(await live.head('acme/parts'), 'a head')
const pinned = async (): Promise<string> => `/acme/parts/export?at=${await head()}`
const answers = join(live.dataDir, 'cache', 'answers')
const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) }
const same = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0
const part = async (path: string, range: string, call: Call = {}): Promise<Answer> =>
  await live.call(path, { ...call, headers: { range, ...call.headers } })
const facts = ({ status, headers }: Answer): unknown[] => [status, headers['content-length'], headers['content-range']]

describe('a file at a block', () => {
  it('has a length, ranges and a tag, which are of the bytes that a whole answer has', async () => {
    const path = await pinned()
    const streamed = await live.call(path)
    expect(streamed.headers['content-length']).toBeUndefined()
    const size = streamed.bytes.length
    const told = await live.call(path, { method: 'HEAD' })
    expect(facts(told)).toEqual([200, String(size), undefined])
    expect(told.headers).toMatchObject({
      'accept-ranges': 'bytes',
      etag: streamed.headers.etag,
      'content-type': 'application/vnd.apache.parquet',
      'dataset-head': streamed.headers['dataset-head'],
      link: streamed.headers['link'],
      'answer-stability': 'exact',
    })
    const whole = await live.call(path)
    expect(facts(whole)).toEqual([200, String(size), undefined])
    expect(same(whole.bytes, streamed.bytes)).toBe(true)
    for (const [range, start, end] of [
      ['bytes=0-3', 0, 4],
      ['bytes=-8', size - 8, size],
      ['bytes=100-', 100, size],
      [`bytes=10-${size + 5}`, 10, size],
    ] as const) {
      const some = await part(path, range)
      expect(facts(some)).toEqual([206, String(end - start), `bytes ${start}-${end - 1}/${size}`])
      expect(same(some.bytes, streamed.bytes.subarray(start, end))).toBe(true)
    }
    const outside = await part(path, `bytes=${size}-`)
    expect([outside.refusal, outside.headers['content-range'], outside.headers['content-disposition']]).toEqual([
      '416 RangeNotSatisfiable',
      `bytes */${size}`,
      undefined,
    ])
    for (const odd of ['bytes=0-1,4-5', 'rows=1-2', 'bytes=5-2']) expect((await part(path, odd)).status).toBe(200)
    const etag = must(told.headers.etag, 'a tag')
    expect((await part(path, 'bytes=0-3', { headers: { 'if-range': etag } })).status).toBe(206)
    expect((await part(path, 'bytes=0-3', { headers: { 'if-range': '"other"' } })).bytes.length).toBe(size)
    expect((await part(path, 'bytes=0-3', { headers: { 'if-none-match': etag } })).status).toBe(304)
    const rows = await parquetReadObjects({ file: new Uint8Array(whole.bytes).buffer, compressors })
    expect(rows.map((row) => row['n'])).toEqual(Array.from({ length: 40_000 }, (_, i) => BigInt(i)))
  })

  it('is written once for all who ask at the same time', async () => {
    const path = `${await pinned()}&columns=n`
    const before = await readdir(answers)
    const all = await Promise.all(Array.from({ length: 8 }, () => part(path, 'bytes=-100')))
    expect(new Set(all.map((one) => `${one.status} ${one.bytes.toString()}`)).size).toBe(1)
    expect(await readdir(answers)).toHaveLength(before.length + 1)
  })

  it('is kept where it was read whole, also of /query and /tail', async () => {
    const at = await head()
    const sql = encodeURIComponent('select n from acme.parts order by offset')
    for (const path of [
      `/acme/parts/export?at=${at}&columns=text`,
      `/acme/parts/tail?at=${at}&format=Parquet&limit=30000`,
      `/query?query=${sql}&format=Parquet&limit=30000&pin=acme/parts@${at}`,
    ]) {
      const first = await live.call(path)
      const again = await live.call(path)
      expect([again.headers['content-length'], same(again.bytes, first.bytes)]).toEqual([
        String(first.bytes.length),
        true,
      ])
      const isCut = !path.includes('export')
      expect(again.headers['result-truncated']).toBe(isCut ? 'true' : undefined)
    }
    const posted = { query: 'select n from acme.parts', dataFormat: 'Parquet' }
    const post = await live.call('/query', { method: 'POST', json: posted, headers: { range: 'bytes=0-3' } })
    expect(post.status).toBe(200)
  })

  it('is made again where its file was taken away', async () => {
    const path = await pinned()
    const { bytes } = await live.call(path)
    for (const name of await readdir(answers)) await rm(join(answers, name))
    expect(same((await part(path, 'bytes=0-9')).bytes, bytes.subarray(0, 10))).toBe(true)
  })

  it('tells an error that comes late as one of its own', async () => {
    const late = "select case when i = 1000000 then cast('x' || i as integer) else i end as v from range(2000000) r(i)"
    const path = `/query?${new URLSearchParams({ query: late, format: 'Parquet' }).toString()}`
    const answer = await part(path, 'bytes=0-9')
    expect(answer.refusal).toBe('400 SqlValue')
    expect(answer.text).toContain("Could not convert string 'x1000000'")
    expect((await readdir(answers)).filter((name) => name.startsWith('part'))).toEqual([])
  })

  it('has no ranges where running again gives other rows', async () => {
    const path = `/query?${new URLSearchParams({ query: 'select random() as r', format: 'Parquet' }).toString()}`
    const answer = await part(path, 'bytes=0-3')
    expect([answer.status, answer.headers['accept-ranges'], answer.headers.etag]).toEqual([200, undefined, undefined])
  })

  it('is streamed where the cache has no room for it, and others make room for those that are asked for', async () => {
    const sql = (count: number): string => `select hash(i) as h, hash(-i) as g from range(${count}) r(i)`
    const of = (count: number): string =>
      `/query?${new URLSearchParams({ query: sql(count), format: 'Parquet' }).toString()}`
    const large = await part(of(400_000), 'bytes=0-3')
    expect([large.status, large.headers['content-length'], large.bytes.length > 3_000_000]).toEqual([
      200,
      undefined,
      true,
    ])
    expect((await live.call(of(400_000), { method: 'HEAD' })).headers['content-length']).toBeUndefined()
    expect(await readdir(answers)).toEqual([])
    for (const count of [100_001, 100_002, 100_003]) expect((await part(of(count), 'bytes=0-3')).status).toBe(206)
    expect(await readdir(answers)).toHaveLength(1)
  })

  it('is judged by rights before it is looked for', async () => {
    await live.call('/acme/secret', { method: 'PUT', json: { visibility: 'private' } })
    await live.ingest('acme/secret', rowsFrom(0, 10))
    expect((await part('/acme/secret/export', 'bytes=0-3')).status).toBe(206)
    expect((await part('/acme/secret/export', 'bytes=0-3', { token: null })).refusal).toBe('404 DatasetNotFound')
    const sql = '/query?format=Parquet&query=select+n+from+acme.secret'
    expect((await part(sql, 'bytes=0-3')).status).toBe(206)
    expect((await part(sql, 'bytes=0-3', { token: null })).refusal).toBe('404 DatasetNotFound')
  })
})

describe('a URL without a block', () => {
  it('answers a reader of parts from the file it began with, and everybody else from the newest', async () => {
    const path = '/acme/parts/export'
    const mine = { headers: { 'user-agent': 'reader of parts' } }
    const begun = await live.call(path, { ...mine, method: 'HEAD' })
    const old = begun.headers['dataset-head']
    const size = Number(begun.headers['content-length'])
    await live.ingest('acme/parts', rowsFrom(40_000, 100))
    const rest = await part(path, `bytes=4-${size - 1}`, mine)
    expect([rest.headers['content-range'], rest.headers['dataset-head'], rest.headers.etag]).toEqual([
      `bytes 4-${size - 1}/${size}`,
      old,
      begun.headers.etag,
    ])
    expect((await live.call(path, mine)).headers['dataset-head']).toContain(await head())
    expect((await live.call(path, { method: 'HEAD' })).headers['dataset-head']).toContain(await head())
    expect((await part(path, 'bytes=4-9')).headers['dataset-head']).toContain(await head())
    // Asking for the end within seconds belongs to the same reading: another reader of this program may be in its midst.
    expect((await part(path, 'bytes=-8', mine)).headers['dataset-head']).toBe(old)
  })
})

it('a reader of a URL without a block that reads from the front again reads the newest file', async () => {
  const heads: unknown[] = []
  for (let n = 0; n < 2; n++) {
    const answer = await part('/acme/parts/export', 'bytes=0-', { headers: { 'user-agent': 'from the front' } })
    expect(answer.headers['dataset-head']).toContain(await head())
    heads.push(answer.headers['dataset-head'])
    await live.ingest('acme/parts', rowsFrom(50_000 + n, 1))
  }
  expect(new Set(heads).size).toBe(2)
})

it('a cache is empty after a restart, and one of no bytes keeps nothing', async () => {
  const none = await startLiveNode({}, { limits: { answerFileBytes: 0 } })
  try {
    await none.ingest('acme/parts', rowsFrom(0, 10), '?create=true')
    const answer = await none.call('/acme/parts/export', { headers: { range: 'bytes=0-3' } })
    expect([answer.status, answer.headers['accept-ranges']]).toEqual([200, undefined])
  } finally {
    await none.stop()
  }
})

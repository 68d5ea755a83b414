// Stored objects as ODF clients pull them, the chain as people read it, lists, and datasets made by PUT.

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Answer, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
await live.ingest(
  'acme/goods',
  Array.from({ length: 2000 }, (_, n) => ({ n, text: `row ${n}` })),
  '?create=true',
)
await live.ingest('acme/goods', [{ n: 1, text: 'x' }])
const blocks: Answer = await live.call('/acme/goods/blocks')

const sha3 = (bytes: Uint8Array): string => `f1620${createHash('sha3-256').update(bytes).digest('hex')}`
const newData = (): string => String(blocks.at('blocks.1.event.newData.physicalHash'))

describe('the chain', () => {
  it('is listed newest first, each block linked to the next', async () => {
    const list = blocks.at('blocks') as {
      hash: string
      sequence: number
      prevBlockHash?: string
      event: { kind: string }
    }[]
    expect(list[0]?.hash).toBe(await live.head('acme/goods'))
    expect(list.map((block) => block.sequence)).toEqual(list.map((_, index) => list.length - 1 - index))
    for (const [index, block] of list.entries()) expect(block.prevBlockHash).toBe(list[index + 1]?.hash)
    expect(list.at(-1)?.event.kind).toBe('Seed')
    expect(list[0]?.event.kind).toBe('AddData')
  })

  it('comes in pages', async () => {
    const seen: unknown[] = []
    for (let path = '/acme/goods/blocks?limit=2'; ;) {
      const page = await live.call(path)
      seen.push(...(page.at('blocks') as unknown[]))
      if (page.at('next') === undefined) break
      path = `/acme/goods/blocks?limit=2&before=${String(page.at('next'))}`
    }
    expect(seen).toEqual(blocks.at('blocks'))
  })
})

describe('objects', () => {
  it('are sent verbatim: their hash is their name', async () => {
    for (const hash of (blocks.at('blocks') as { hash: string }[]).map((block) => block.hash)) {
      const answer = await live.call(`/acme/goods/blocks/${hash}`)
      expect(sha3(answer.bytes)).toBe(hash)
      expect(answer.headers['content-type']).toBe('application/octet-stream')
      expect(answer.headers['content-length']).toBe(String(answer.bytes.length))
      expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable')
      expect(answer.headers.etag).toBe(`"${hash}"`)
    }
    const slice = await live.call(`/acme/goods/data/${newData()}`)
    expect(slice.headers['content-type']).toBe('application/vnd.apache.parquet')
    expect(sha3(slice.bytes)).toBe(newData())
    const checkpoint = String(blocks.at('blocks.0.event.newCheckpoint.physicalHash'))
    expect(sha3((await live.call(`/acme/goods/checkpoints/${checkpoint}`)).bytes)).toBe(checkpoint)
  })

  it('of a private dataset are not for shared caches', async () => {
    await live.call('/acme/own', { method: 'PUT', json: { visibility: 'private' } })
    const answer = await live.call(`/acme/own/blocks/${await live.head('acme/own')}`)
    expect(answer.headers['cache-control']).toMatch(/^private/)
  })

  it('are shown decoded where JSON is asked for', async () => {
    const hash = String(blocks.at('blocks.0.hash'))
    const answer = await live.call(`/acme/goods/blocks/${hash}`, { headers: { accept: 'application/json' } })
    expect(answer.json).toEqual(blocks.at('blocks.0'))
    expect(answer.headers.etag).not.toBe(`"${hash}"`)
    expect(answer.headers.vary).toContain('Accept')
  })

  it('are 304 for who has them, and found by other spellings of their hash', async () => {
    const path = `/acme/goods/data/${newData()}`
    const held = await live.call(path, { headers: { 'if-none-match': `"${newData()}"` } })
    expect([held.status, held.bytes.length]).toEqual([304, 0])
    const upper = `F${newData().slice(1).toUpperCase()}`
    expect((await live.call(`/acme/goods/data/${upper}`)).headers.etag).toBe(`"${newData()}"`)
  })

  it('that are not there are 404', async () => {
    const absent = `f1620${'0'.repeat(64)}`
    for (const [kind, error] of [
      ['blocks', 'BlockNotFound'],
      ['data', 'ObjectNotFound'],
      ['checkpoints', 'ObjectNotFound'],
    ] as const) {
      const answer = await live.call(`/acme/goods/${kind}/${absent}`)
      expect([answer.status, answer.at('error.kind')]).toEqual([404, error])
      expect((await live.call(`/acme/goods/${kind}/..%2F..%2Ftoken`)).at('error.kind')).toBe('InvalidParameter')
    }
  })
})

describe('ranges', () => {
  it.each([
    ['bytes=0-3', 0, 4],
    ['bytes=4-', 4, undefined],
    ['bytes=-8', -8, undefined],
    ['bytes=10-10', 10, 11],
    ['bytes=5-99999999', 5, undefined],
  ])('%s gives that part', async (range, start, end) => {
    const path = `/acme/goods/data/${newData()}`
    const whole = (await live.call(path)).bytes
    const part = await live.call(path, { headers: { range } })
    const expected = whole.slice(start, end)
    expect(part.status).toBe(206)
    expect(Buffer.from(part.bytes).equals(Buffer.from(expected))).toBe(true)
    const first = start < 0 ? whole.length + start : start
    expect(part.headers['content-range']).toBe(`bytes ${first}-${first + expected.length - 1}/${whole.length}`)
    const head = await live.call(path, { method: 'HEAD', headers: { range } })
    expect([head.status, head.headers['content-length']]).toEqual([206, String(expected.length)])
  })

  it.each(['bytes=0-1,4-5', 'bytes=5-2', 'rows=1-2', 'bytes=-'])('%s is answered with the whole', async (range) => {
    expect((await live.call(`/acme/goods/data/${newData()}`, { headers: { range } })).status).toBe(200)
  })

  it('outside the object are refused', async () => {
    expect((await live.call(`/acme/goods/data/${newData()}`, { headers: { range: 'bytes=99999999-' } })).refusal).toBe(
      '416 RangeNotSatisfiable',
    )
  })

  it('of other bytes than the client holds are not given', async () => {
    const headers = { range: 'bytes=0-3', 'if-range': '"other"' }
    expect((await live.call(`/acme/goods/data/${newData()}`, { headers })).status).toBe(200)
  })
})

describe('PUT', () => {
  const body = {
    schema: {
      fields: [
        { name: 'id', type: 'Int64' },
        { name: 'price', type: 'Decimal(18,4)?' },
        { name: 'at', type: 'Date?' },
      ],
    },
    info: { description: 'Prices', keywords: ['a'] },
    attachments: { kind: 'Embedded', items: [{ path: 'README.md', content: '# Prices' }] },
    vocab: { eventTimeColumn: 'sold_at' },
  }

  it('makes a dataset once; an identical repeat is 200, another 409', async () => {
    const made = await live.call('/acme/prices', { method: 'PUT', json: body })
    expect(made.status).toBe(201)
    expect(made.json).toEqual({
      id: expect.stringMatching(/^did:odf:fed01[0-9a-f]{64}$/),
      alias: 'acme/prices',
      blockHash: await live.head('acme/prices'),
    })
    const again = await live.call('/ACME/prices', { method: 'PUT', json: body })
    expect([again.status, again.json]).toEqual([200, made.json])
    const other = await live.call('/acme/prices', { method: 'PUT', json: { ...body, info: { description: 'Else' } } })
    expect(other.refusal).toBe('409 DatasetExists')
  })

  it('keeps the name as it was first written', async () => {
    await live.call('/Acme.Corp/My-Data', { method: 'PUT', json: {} })
    expect((await live.call('/acme.corp/my-data/metadata')).headers['dataset-head']).toMatch(/^Acme\.Corp\/My-Data;/)
  })

  it('is made once by callers at the same moment', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => live.call('/acme/race', { method: 'PUT', json: body })),
    )
    expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 201])
    expect(new Set(answers.map((answer) => answer.at('id'))).size).toBe(1)
  })
})

describe('lists', () => {
  it('show what there is, in pages', async () => {
    for (const name of ['c', 'a', 'b']) await live.call(`/list/${name}`, { method: 'PUT', json: {} })
    const seen: unknown[] = []
    let path = '/datasets?account=LIST&limit=2'
    for (;;) {
      const page = await live.call(path)
      seen.push(...(page.at('datasets') as { alias: string }[]).map((dataset) => dataset.alias))
      if (page.at('next') === undefined) break
      const link = /^<([^>]+)>; rel="next"$/.exec(String(page.headers['link']))
      path = String(link?.[1])
    }
    expect(seen).toEqual(['list/a', 'list/b', 'list/c'])
  })

  it('and single datasets say who, where and how much', async () => {
    const list = await live.call('/datasets?account=acme')
    const goods = (list.at('datasets') as { alias: string; id: string }[]).find(
      (dataset) => dataset.alias === 'acme/goods',
    )
    expect(goods).toMatchObject({
      owner: { accountName: 'acme' },
      visibility: 'public',
      head: await live.head('acme/goods'),
      rows: 2001,
    })
    const one = await live.call(`/datasets/${goods?.id}`)
    expect(one.json).toEqual({ ...goods, datasetName: 'goods' })
    expect((await live.call('/datasets/acme')).at('error.kind')).toBe('DatasetNotFound')
  })
})

// Answers that are files: every format of each route, their headers, refusals, queries that fail, readers that leave.

import { request as httpRequest } from 'node:http'
import { zstdDecompressSync } from 'node:zlib'
import { tableFromIPC } from 'apache-arrow'
import { parquetReadObjects } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import { runsWith } from '../../helpers/features.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { type Answer, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode({ 'anonymous-read': true }, { limits: { exportBytes: 60_000_000, exportSlots: 1 } })
await live.call('/acme/goods', {
  method: 'PUT',
  json: {
    schema: {
      fields: [
        { name: 'name', type: 'String?' },
        { name: 'amount', type: 'Int64?' },
        { name: 'share', type: 'Float64?' },
        { name: 'price', type: 'Decimal(10,2)?' },
      ],
    },
  },
})
const rows = [
  { name: 'plain', amount: 1, share: 0.5, price: '1.50', event_time: '2024-01-01T00:00:00Z' },
  { name: '=1+1, "quoted"', amount: -2, share: 1e21, price: '-0.05', event_time: '2024-01-01T00:00:01.5Z' },
  { name: '', amount: null, share: null, price: null, event_time: '2024-01-01T00:00:02Z' },
  { name: null, amount: 9007199254740993n, share: 0, price: '99999999.99', event_time: '2024-01-01T00:00:03Z' },
]
await live.call('/acme/goods/ingest', {
  method: 'POST',
  headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=20' },
  body: rows
    .map((row) => JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? `big${value}` : value)))
    .join('\n')
    .replaceAll(/"big(\d+)"/g, '$1'),
})
const head = must(await live.head('acme/goods'), 'a head')
const sql = 'select name, amount, share, price from "acme/goods" order by offset'
const query = (more: Record<string, string>, statement = sql): string =>
  `/query?${new URLSearchParams({ query: statement, ...more }).toString()}`

const csv =
  'name,amount,share,price\r\nplain,1,0.5,1.50\r\n"=1+1, ""quoted""",-2,1e+21,-0.05\r\n"",,,\r\n,9007199254740993,0.0,99999999.99\r\n'
/** For hyparquet. */
const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) }
const told = (answer: Answer): unknown[] => [answer.status, answer.at('error.kind'), answer.at('limit.name')]

describe('formats of /query', () => {
  it('Csv has a header line, quotes where they are needed, and nulls apart from empty texts', async () => {
    const answer = await live.call(query({ format: 'Csv' }))
    expect([answer.status, answer.text]).toEqual([200, csv])
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="goods.csv"',
      'dataset-head': `acme/goods;block="${head}"`,
      'cache-control': 'private, no-cache',
      vary: 'Origin, Accept',
    })
    expect((await live.call(query({ format: 'Csv' }), { token: null })).headers['cache-control']).toBe('no-cache')
  })

  it('Csv puts an apostrophe before formulas where it is asked to', async () => {
    const answer = await live.call(query({ format: 'csv', escapeFormulas: 'true' }))
    expect(answer.text.split('\r\n')[2]).toBe(`"'=1+1, ""quoted""",-2,1e+21,-0.05`)
    expect(told(await live.call(query({ format: 'NdJson', escapeFormulas: 'true' })))).toEqual([
      400,
      'InvalidParameter',
      undefined,
    ])
  })

  it('NdJson has the objects of JsonAos', async () => {
    const answer = await live.call(query({ format: 'NdJson' }))
    const json = await live.call(query({ format: 'JsonAos', include: '' }))
    const members = /"data":\[(.*)\],"dataFormat"/.exec(json.text)?.[1]
    expect(
      answer.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(JSON.parse(`[${members}]`))
    expect(answer.text).toContain('"amount":9007199254740993')
  })

  it('Arrow and Parquet have typed columns that others read', async () => {
    const table = tableFromIPC((await live.call(query({ format: 'Arrow' }))).bytes)
    expect(table.schema.fields.map((field) => `${field.name} ${field.type}`)).toEqual([
      'name Utf8',
      'amount Int64',
      'share Float64',
      'price Decimal[10e+2]',
    ])
    expect(table.getChild('amount')?.toJSON()).toEqual([1n, -2n, null, 9007199254740993n])
    const { bytes } = await live.call(query({ format: 'Parquet' }))
    const file = new Uint8Array(bytes).buffer
    const read = await parquetReadObjects({ file, compressors })
    expect(read.map((row) => row['name'])).toEqual(['plain', '=1+1, "quoted"', '', null])
    expect(read.map((row) => row['price'])).toEqual([1.5, -0.05, null, 99_999_999.99])
  })

  it.runIf(runsWith('console'))('are those that Accept names, unless a parameter says otherwise', async () => {
    const type = async (accept: string, more = {}): Promise<unknown> =>
      (await live.call(query(more), { headers: { accept } })).headers['content-type']
    expect(await type('text/csv')).toBe('text/csv; charset=utf-8; header=present')
    expect(await type('application/json;q=0.5, application/x-ndjson')).toBe('application/x-ndjson')
    expect(await type('*/*')).toBe('application/json; charset=utf-8')
    const navigates = 'text/html,application/xhtml+xml,*/*;q=0.8'
    expect(await type(navigates)).toBe('text/html; charset=utf-8')
    expect(await type(navigates, { format: 'csv' })).toBe('text/csv; charset=utf-8; header=present')
    expect(await type('application/json, text/html')).toBe('application/json; charset=utf-8')
    expect(await type('text/csv', { format: 'JsonAoa' })).toBe('application/json; charset=utf-8')
    expect(await type('application/json', { dataFormat: 'csv' })).toBe('text/csv; charset=utf-8; header=present')
  })

  it('come by POST too', async () => {
    expect((await live.query(sql, { dataFormat: 'Csv' })).text).toBe(csv)
  })

  it('have a tag where they can be made again, and none where they cannot', async () => {
    const first = await live.call(query({ format: 'Csv' }))
    const tag = must(first.headers.etag, 'a tag')
    const again = await live.call(query({ format: 'Csv' }), { headers: { 'if-none-match': tag } })
    expect([again.status, again.text]).toEqual([304, ''])
    expect((await live.call(query({ format: 'NdJson' }), { headers: { 'if-none-match': tag } })).status).toBe(200)
    expect((await live.call(query({ format: 'Csv' }, 'select random() as r'))).headers.etag).toBeUndefined()
  })

  it('name the query that proves the same rows, and refuse the proof itself', async () => {
    const link = /<([^>]+)>; rel="describedby"/.exec(
      String((await live.call(query({ format: 'Csv' }))).headers['link']),
    )?.[1]
    expect(link).toContain(`@${head}&limit=4&include=proof`)
    const proven = await live.call(must(link, 'a link'))
    expect([
      proven.status,
      Array(proven.at('output.data')).flat().length,
      proven.at('input.datasets.0.blockHash'),
    ]).toEqual([200, 4, head])
    const exported = await live.call('/acme/goods/export?format=Csv&where=amount>0')
    const other = /<([^>]+)>/.exec(String(exported.headers['link']))?.[1]
    expect((await live.call(must(other, 'a link'))).at('proof.type')).toBe('Ed25519Signature2020')
    const refused = await live.call(query({ format: 'Csv', include: 'proof', limit: '4' }))
    expect(told(refused)).toEqual([422, 'InvalidRequest', undefined])
    expect(refused.at('hint')).toContain(must(link, 'a link'))
    expect(told(await live.call(query({ format: 'Csv', include: 'schema' })))).toEqual([
      422,
      'InvalidRequest',
      undefined,
    ])
  })

  it('have a row for each that limit allows, and say when there were more', async () => {
    const cut = await live.call(query({ format: 'Csv', limit: '1', skip: '1' }))
    expect([cut.text.split('\r\n').length, cut.headers['result-truncated']]).toEqual([3, 'true'])
    const whole = await live.call(query({ format: 'Csv', limit: '4' }))
    expect(whole.headers['result-truncated']).toBeUndefined()
    const all = await live.call(query({ format: 'Csv' }, 'select i from range(150000) r(i)'))
    expect(all.text.split('\r\n')).toHaveLength(150_002)
  })

  it('refuse two columns of one name, and what no file can hold', async () => {
    expect(told(await live.call(query({ format: 'Csv' }, 'select 1 as a, 2 as a')))).toEqual([
      400,
      'DuplicateColumn',
      undefined,
    ])
    expect(told(await live.call(query({ format: 'GeoJson' }, 'select 1 as a')))).toEqual([
      400,
      'InvalidParameter',
      undefined,
    ])
    expect(told(await live.call(query({ format: 'Xls' })))).toEqual([400, 'InvalidParameter', undefined])
  })

  it('answer HEAD without running where they are streamed', async () => {
    const slow = 'select count(*) as n from range(100000) a, range(100000) b where a.range + b.range < 0'
    const answer = await live.call(query({ format: 'Csv' }, slow), { method: 'HEAD' })
    expect([answer.status, answer.headers['content-type'], answer.headers['content-length']]).toEqual([
      200,
      'text/csv; charset=utf-8; header=present',
      undefined,
    ])
  })
})

describe('a file that breaks off', () => {
  const late = "select case when i = 1000000 then cast('x' || i as integer) else i end as v from range(2000000) r(i)"

  it('has a problem of its own where nothing was sent', async () => {
    const answer = await live.call(query({ format: 'Csv' }, late.replace('1000000', '1000')))
    expect(told(answer)).toEqual([400, 'SqlValue', undefined])
    expect(answer.text).toContain("Could not convert string 'x1000'")
    expect(answer.headers['content-disposition']).toBeUndefined()
  })

  it.each(['Csv', 'NdJson', 'Arrow', 'Parquet', ...(runsWith('excel') ? ['Xlsx'] : [])])(
    'as %s ends the connection, never as if it were whole',
    async (format) => {
      const answer = await live.call(query({ format }, late)).catch((error: unknown) => error)
      expect(answer).toMatchObject({ code: 'ECONNRESET' })
    },
  )

  it('resets the connection of a client of HTTP/1.0, which knows no chunks', async () => {
    const path = query({ format: 'Csv' }, late)
    const head = ['Host: localhost', `Authorization: Bearer ${live.adminToken}`].join('\r\n')
    await expect(live.raw(`GET ${path} HTTP/1.0\r\n${head}\r\n\r\n`)).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  it('ends the connection when it grows over its limit', async () => {
    const large = "select repeat('x', 1000) as t from range(100000) r(i)"
    await expect(live.call(query({ format: 'Csv' }, large))).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(told(await live.call(query({ format: 'Csv' }, "select repeat('x', 70000000) as t")))).toEqual([
      413,
      'ResultTooLarge',
      'exportBytes',
    ])
  })

  it('leaves its process to the next when its reader goes away, and never stops other queries', async () => {
    const endless = "select i, 'some text that takes room' as t from range(1000000000) r(i)"
    const url = new URL(live.node.url)
    const options = {
      hostname: url.hostname,
      port: url.port,
      path: query({ format: 'Csv', limit: '900000000' }, endless),
      headers: { authorization: `Bearer ${live.adminToken}` },
    }
    const reading = await new Promise<{ leave: () => void }>((resolve, reject) => {
      const request = httpRequest(options, (response) => {
        response.once('readable', () => resolve({ leave: () => request.destroy() }))
      })
      request.once('error', reject)
      request.end()
    })
    expect((await live.query('select 1')).status).toBe(200)
    reading.leave()
    expect((await live.call(query({ format: 'Csv' }))).text).toBe(csv)
  })
})

describe('/tail as a file', () => {
  it('has the newest rows, and says that older ones were left out', async () => {
    const answer = await live.call('/acme/goods/tail?format=Csv&limit=2')
    expect(
      answer.text
        .split('\r\n')
        .slice(1, 3)
        .map((line) => line.split(',')[0]),
    ).toEqual(['2', '3'])
    expect([answer.headers['result-truncated'], answer.headers['content-disposition']]).toEqual([
      'true',
      'attachment; filename="goods-tail.csv"',
    ])
    expect((await live.call('/acme/goods/tail?dataFormat=NdJson')).headers['result-truncated']).toBeUndefined()
  })
})

describe('/export', () => {
  it('answers Parquet with all columns in offset order by default', async () => {
    const answer = await live.call('/acme/goods/export')
    expect(answer.headers['content-disposition']).toBe('attachment; filename="goods.parquet"')
    const file = new Uint8Array(answer.bytes).buffer
    const read = await parquetReadObjects({ file, compressors })
    expect(read.map((row) => Object.keys(row).join())[0]).toBe(
      'offset,op,system_time,event_time,name,amount,share,price',
    )
    expect(read.map((row) => row['offset'])).toEqual([0n, 1n, 2n, 3n])
  })

  it('leaves system columns out, takes the named ones, and filters by a condition', async () => {
    const text = async (parameters: Record<string, string>): Promise<string> =>
      (await live.call(`/acme/goods/export?${new URLSearchParams({ format: 'csv', ...parameters }).toString()}`)).text
    expect((await text({ system: 'false' })).split('\r\n')[0]).toBe('event_time,name,amount,share,price')
    expect(await text({ columns: 'price,"name"', where: 'amount > 0 -- those' })).toBe(
      'price,name\r\n1.50,plain\r\n99999999.99,\r\n',
    )
  })

  it('reads the block that at names, and keeps it for ever', async () => {
    const answer = await live.call(`/acme/goods/export?format=csv&at=${head}`)
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    const missing = await live.call(`/acme/goods/export?at=f1620${'0'.repeat(64)}`)
    expect(told(missing)).toEqual([404, 'BlockNotFound', undefined])
  })

  it.each([
    ['columns=nothing', 'InvalidParameter'],
    ['columns=name,NAME', 'InvalidParameter'],
    ['columns=name&system=true', 'InvalidParameter'],
    ['where=', 'InvalidParameter'],
    ['where=1)+or+(1', 'InvalidParameter'],
    ['where=1);select+1', 'InvalidParameter'],
    ['where=amount+in+(select+1)', 'QueryNotAllowed'],
    ['where=amount+>', 'SqlSyntax'],
    ['where=nothing+>+1', 'SqlUnknownName'],
    ['where=max(amount)+>+1', 'QueryNotAllowed'],
    ["where=exists(from+read_csv('/etc/passwd'))", 'QueryNotAllowed'],
    ['format=JsonAoa', 'InvalidParameter'],
    ['geometry=name', 'InvalidParameter'],
    ['bbox=0,0,1,1', 'InvalidParameter'],
    ['bbox=0,0,1', 'InvalidParameter'],
    ['datetime=yesterday', 'InvalidParameter'],
    ['datetime=2024-02-31', 'InvalidParameter'],
  ])('refuses %s as %s', async (parameters, kind) => {
    const answer = await live.call(`/acme/goods/export?format=Csv&${parameters}`.replace('format=Csv&format', 'format'))
    expect(answer.at('error.kind')).toBe(kind)
  })

  it.each([
    ['2024-01-01T00:00:01.5Z', [2]],
    ['2024-01-01T00:00:01.5Z/2024-01-01T00:00:02Z', [2, 3]],
    ['../2024-01-01T01:00:00%2B01:00', [1]],
    ['2024-01-01T00:00:03Z/..', [4]],
    ['2024-01-01', [1, 2, 3, 4]],
  ])('takes rows by datetime=%s', async (datetime, expected) => {
    const named = { plain: 1, '"=1+1, ""quoted"""': 2, '""': 3, '': 4 }
    const answer = await live.call(`/acme/goods/export?format=Csv&columns=name&datetime=${datetime}`)
    const names = answer.text.split('\r\n').slice(1, -1)
    expect(names.map((name) => new Map(Object.entries(named)).get(name))).toEqual(expected)
    const both = await live.call(
      `/acme/goods/export?format=Csv&datetime=${datetime}&where=1=1 or false`.replaceAll(' ', '+'),
    )
    expect(both.text.split('\r\n').length - 2).toBe(names.length)
  })

  it('says where in the condition a fault stands', async () => {
    const answer = await live.call(
      `/acme/goods/export?${new URLSearchParams({ where: 'amount > nothing' }).toString()}`,
    )
    expect([answer.at('position.line'), answer.at('position.column')]).toEqual([1, 10])
    const more = new URLSearchParams({ where: 'amount > nothing', datetime: '2024-01-01' }).toString()
    expect((await live.call(`/acme/goods/export?${more}`)).at('position.column')).toBe(10)
  })
})

describe('GeoJSON', () => {
  const features = [
    '{"type":"Feature","geometry":{"type":"Point","coordinates":[10.750,59.91000,1e1]},"properties":{"name":"Oslo","offset":7,"large":9007199254740993},"id":1.0}',
    '{"type":"Feature","geometry":null,"properties":{"name":"nowhere","geometry":"a text"},"id":"x-1","bbox":[0,0.0,1,1],"note":{"a" : [1 ,2]}}',
  ]

  it('goes out with the tokens with which it came', async () => {
    await live.call('/acme/places/ingest?create=true', {
      method: 'POST',
      headers: { 'content-type': 'application/geo+json', prefer: 'wait=20' },
      body: `{"type":"FeatureCollection","features":[${features.join(',')}]}`,
    })
    const answer = await live.call('/acme/places/export', { headers: { accept: 'application/geo+json' } })
    expect(answer.headers['content-type']).toBe('application/geo+json')
    const lines = answer.text.trimEnd().split('\n')
    expect([lines[0], lines.at(-1)]).toEqual(['{"type":"FeatureCollection","features":[', ']}'])
    expect(lines[1]).toContain('"geometry":{"type":"Point","coordinates":[10.750,59.91000,1e1]}')
    expect(lines[1]).toContain('"id":1.0}')
    expect(lines[2]).toContain('"geometry":null')
    expect(lines[2]).toContain('"id":"x-1","bbox":[0,0.0,1,1],"note":{"a" : [1 ,2]}}')
    const { properties } = JSON.parse(must(lines[1], 'a feature').replace(/,$/, ''))
    expect(properties).toEqual({
      event_time: expect.any(String),
      name: 'Oslo',
      offset: 7,
      large: 9007199254740992,
      geometry: null,
    })
    const sequence = await live.call('/acme/places/export?format=NdGeoJson')
    expect(
      sequence.text
        .split('\u001e')
        .slice(1)
        .map((text) => JSON.parse(text).properties.name),
    ).toEqual(['Oslo', 'nowhere'])
  })

  it('takes its geometry from the column that is named, and refuses what is none', async () => {
    const text = `select '{"type":"Point","coordinates":[1,2]}' as shape, 3 as n`
    const answer = await live.call(query({ format: 'GeoJson', geometry: 'shape' }, text))
    expect(JSON.parse(answer.text)).toEqual({
      type: 'FeatureCollection',
      features: [{ type: 'Feature', geometry: { type: 'Point', coordinates: [1, 2] }, properties: { n: 3 } }],
    })
    for (const bad of ['POINT(1 2)', '{"type":"Feature"}', '[]', '{"a":', '3']) {
      const refused = await live.call(query({ format: 'GeoJson' }, `select '${bad}' as geometry`))
      expect(told(refused)).toEqual([400, 'SqlValue', undefined])
    }
  })
})

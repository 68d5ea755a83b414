// Schema formats and caching of answers, over HTTP.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type LiveNode, startLiveNode } from '../../helpers/live-node.ts'

let live: LiveNode
let firstHead: string

beforeAll(async () => {
  live = await startLiveNode()
  await live.ingest('acme/rides', [{ city: 'Zürich', price: 12.5, n: 1 }], '?create=true')
  firstHead = String(await live.head('acme/rides'))
  await live.ingest('acme/rides', [
    { city: null, price: 2, n: 2 },
    { city: 'Oslo', price: null, n: 3 },
  ])
})
afterAll(async () => await live.stop())

const odfFields = [
  { name: 'offset', type: { kind: 'Int64' } },
  { name: 'op', type: { kind: 'Int32' } },
  { name: 'system_time', type: { kind: 'Timestamp', timezone: 'UTC', unit: 'Millisecond' } },
  { name: 'event_time', type: { kind: 'Timestamp', timezone: 'UTC', unit: 'Millisecond' } },
  { name: 'city', type: { inner: { kind: 'String' }, kind: 'Option' } },
  { name: 'price', type: { inner: { kind: 'Float64' }, kind: 'Option' } },
  { name: 'n', type: { inner: { kind: 'Int64' }, kind: 'Option' } },
]

const parquet = [
  'message arrow_schema {',
  '  REQUIRED INT64 offset;',
  '  REQUIRED INT32 op;',
  '  REQUIRED INT64 system_time (TIMESTAMP(MILLIS,true));',
  '  REQUIRED INT64 event_time (TIMESTAMP(MILLIS,true));',
  '  OPTIONAL BYTE_ARRAY city (STRING);',
  '  OPTIONAL DOUBLE price;',
  '  OPTIONAL INT64 n;',
  '}',
  '',
].join('\n')

describe('schemas of a dataset', () => {
  it.each([
    ['tail?limit=1&', ''],
    ['metadata?include=schema&', 'output.'],
  ])('/%s names the columns as they are declared, in each format', async (path, at) => {
    const ask = async (format: string): Promise<Answer> => {
      const answer = await live.call(`/acme/rides/${path}schemaFormat=${format}`)
      expect(answer.status).toBe(200)
      return answer
    }
    const odf = await ask('odf-json')
    expect([odf.at(`${at}schemaFormat`), odf.at(`${at}schema`)]).toEqual(['OdfJson', { fields: odfFields }])
    expect((await ask('Parquet')).at(`${at}schema`)).toBe(parquet)
    expect((await ask('parquetjson')).at(`${at}schema.fields.4`)).toEqual({
      logicalType: 'STRING',
      name: 'city',
      repetition: 'OPTIONAL',
      type: 'BYTE_ARRAY',
    })
    const yaml = String((await ask('OdfYaml')).at(`${at}schema`))
    expect(yaml.split('\n').slice(0, 4)).toEqual(['fields:', '- name: offset', '  type:', '    kind: Int64'])
    expect((await ask('ArrowJson')).at(`${at}schema.fields.2`)).toEqual({
      data_type: { Timestamp: ['Millisecond', 'UTC'] },
      dict_id: 0,
      dict_is_ordered: false,
      metadata: {},
      name: 'system_time',
      nullable: false,
    })
  })
})

describe('schemas of answers', () => {
  const sql = 'select count(*) as total, max(price) as "höchst" from "acme/rides"'

  it.each([
    ['OdfYaml', 'fields:\n- name: total\n  type:\n    kind: Option\n    inner:\n      kind: Int64\n- name: höchst\n'],
    ['Parquet', 'message arrow_schema {\n  OPTIONAL INT64 total;\n  OPTIONAL DOUBLE höchst;\n}\n'],
  ])('%s is text', async (format, text) => {
    const answer = await live.query(sql, { schemaFormat: format })
    expect(String(answer.at('output.schema')).startsWith(text)).toBe(true)
    expect(answer.at('output.schemaFormat')).toBe(format)
  })

  it.each(['ArrowJson', 'OdfJson', 'OdfYaml', 'Parquet', 'ParquetJson'])(
    'a proof with its schema as %s verifies',
    async (schemaFormat) => {
      const answer = await live.query(sql, { include: ['Proof'], schemaFormat })
      expect(answer.at('input.schemaFormat')).toBe(schemaFormat)
      expect(answer.at('input.include')).toEqual(['Input', 'Proof', 'Schema'])
      expect(answer.at('output.schema')).toBeDefined()
      const verified = await live.call('/verify', { method: 'POST', json: answer.json })
      expect([verified.status, verified.at('ok')]).toEqual([200, true])
    },
  )

  it('a format that is none is refused with those that are', async () => {
    for (const answer of [
      await live.query('select 1', { schemaFormat: 'Avro' }),
      await live.call('/acme/rides/tail?schemaFormat=Avro'),
      await live.call('/acme/rides/metadata?schemaFormat=Avro'),
    ]) {
      expect(answer.at('candidates')).toEqual(['ArrowJson', 'OdfJson', 'OdfYaml', 'Parquet', 'ParquetJson'])
    }
  })

  it('a union is refused where the format has no word for it', async () => {
    const union = 'select union_value(n := 1) as u'
    expect((await live.query(union)).status).toBe(200)
    const refused = await live.query(union, { schemaFormat: 'OdfJson' })
    expect([refused.status, refused.at('error.kind')]).toEqual([400, 'QueryNotAllowed'])
  })
})

describe('caching', () => {
  const count = `/query?query=${encodeURIComponent('select count(*) as n from "acme/rides"')}`
  const again = (path: string, etag: unknown): Promise<Answer> =>
    live.call(path, { headers: { 'if-none-match': String(etag) } })

  it.each(['/acme/rides/tail?limit=2', count, `${count}&include=Proof`])(
    'GET %s is 304 for who has it',
    async (path) => {
      const first = await live.call(path)
      expect([first.status, first.headers['cache-control']]).toEqual([200, 'no-cache'])
      const unchanged = await again(path, first.headers.etag)
      expect([unchanged.status, unchanged.text, unchanged.headers.etag]).toEqual([304, '', first.headers.etag])
      expect((await again(path, '"other"')).bytes).toEqual(first.bytes)
      expect((await live.call(path, { method: 'HEAD' })).headers.etag).toBe(first.headers.etag)
    },
  )

  it('each thing asked for has its own tag', async () => {
    const paths = [
      '/acme/rides/tail',
      '/acme/rides/tail?limit=2',
      '/acme/rides/tail?limit=2&skip=1',
      '/acme/rides/tail?limit=2&dataFormat=JsonAoa',
      '/acme/rides/tail?limit=2&schemaFormat=OdfYaml',
      `/acme/rides/tail?at=${firstHead}`,
      count,
      `${count}&include=Input`,
      `${count}&include=`,
      `${count}&include=Proof`,
      `${count}&limit=1`,
      `${count}&schemaFormat=Parquet`,
    ]
    const tags = await Promise.all(paths.map(async (path) => (await live.call(path)).headers.etag))
    expect(new Set(tags).size).toBe(paths.length)
    expect((await live.call('/acme/rides/tail?limit=2&dataFormat=json-aos')).headers.etag).toBe(tags[1])
  })

  it('an answer has another tag once its dataset has grown', async () => {
    await live.ingest('acme/grows', [{ n: 1 }], '?create=true')
    const paths = ['/acme/grows/tail', `/query?query=${encodeURIComponent('select n from "acme/grows"')}`]
    const tags = await Promise.all(paths.map(async (path) => (await live.call(path)).headers.etag))
    await live.ingest('acme/grows', [{ n: 2 }])
    for (const [index, path] of paths.entries()) expect((await again(path, tags[index])).status).toBe(200)
  })

  it('what is pinned to a block never changes, and only what anyone may read is for shared caches', async () => {
    for (const path of [
      `/acme/rides/tail?at=${firstHead}`,
      `/acme/rides/metadata?include=schema,refs&at=${firstHead}`,
    ]) {
      const answer = await live.call(path)
      expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable')
      expect((await again(path, answer.headers.etag)).status).toBe(304)
    }
    await live.call('/acme/secret', { method: 'PUT', json: { visibility: 'private' } })
    const secret = await live.call(`/acme/secret/tail?at=${await live.head('acme/secret')}`)
    expect(secret.headers['cache-control']).toBe('private, max-age=31536000, immutable')
    const missing = await live.call(`/acme/rides/tail?at=f1620${'0'.repeat(64)}`)
    expect([missing.status, missing.headers['cache-control'], missing.headers.etag]).toEqual([
      404,
      'no-store',
      undefined,
    ])
  })

  it('a statement that gives other rows each time has no tag; nor has a failed one, nor POST', async () => {
    const get = (sql: string): Promise<Answer> => live.call(`/query?query=${encodeURIComponent(sql)}`)
    expect((await get('select now()')).headers.etag).toBeUndefined()
    const failed = await get("select 'x'::int")
    expect([failed.status, failed.headers.etag]).toEqual([400, undefined])
    expect((await live.query('select 1')).headers.etag).toBeUndefined()
  })

  it('rows over the limit are announced, by query and tail alike', async () => {
    const rides = 'select * from "acme/rides"'
    expect((await live.query(rides, { limit: 2 })).headers['result-truncated']).toBe('true')
    expect((await live.query(rides, { limit: 3 })).headers['result-truncated']).toBeUndefined()
    expect((await live.query(rides, { limit: 3, skip: 1 })).headers['result-truncated']).toBeUndefined()
    expect((await live.call('/acme/rides/tail?limit=2')).headers['result-truncated']).toBe('true')
    expect((await live.call('/acme/rides/tail?limit=3')).headers['result-truncated']).toBeUndefined()
  })
})

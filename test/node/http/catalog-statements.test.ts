// DESCRIBE, SHOW TABLES, SUMMARIZE and information_schema over HTTP: each caller's own view of the catalog, never proven,
// never kept.

import { describe, expect, it } from 'vitest'
import { type Answer, liveNode, startLiveNode } from '../../helpers/live-node.ts'

const live = await liveNode({ 'anonymous-read': true }, { limits: { concurrentQueries: 1 } })
const fields = [
  { name: 'city', type: 'String' },
  { name: 'amount', type: 'Int64?' },
  { name: 'price', type: 'Decimal(10,2)?' },
  { name: 'at', type: 'Timestamp(Microsecond, UTC)?' },
]
await live.call('/acme/sales', { method: 'PUT', json: { schema: { fields: fields.slice(0, 3) } } })
await live.call('/Acme/Secret', {
  method: 'PUT',
  json: { visibility: 'private', schema: { fields: fields.slice(0, 1) } },
})
await live.call('/zoo/blank', { method: 'PUT', json: {} })
const stored = await live.ingest('acme/sales', [
  { city: 'Oslo', amount: 1, price: 1.5 },
  { city: 'Rome', amount: 3 },
])

if (stored.status !== 200) throw new Error(stored.text)

const anonymous = { token: null }
const data = (answer: Answer): unknown => answer.at('output.data') ?? answer.refusal

describe('describe', () => {
  const described = [
    ['offset', 'BIGINT'],
    ['op', 'INTEGER'],
    ['system_time', 'TIMESTAMP WITH TIME ZONE'],
    ['event_time', 'TIMESTAMP WITH TIME ZONE'],
    ['city', 'VARCHAR'],
    ['amount', 'BIGINT'],
    ['price', 'DECIMAL(10,2)'],
  ].map((pair) => [...pair, 'YES', null, null, null])

  it.each([
    'describe "acme/sales"',
    'DESC acme.sales',
    'show "acme/sales"',
    'describe from "acme/sales";',
    'describe select * from "acme/sales"',
  ])('%s names the columns', async (sql) => expect(data(await live.query(sql))).toEqual(described))

  it('tells of any SELECT, in any format, within a window', async () => {
    const sql = 'describe select city || $1 as x, sum(amount), 1e3 from acme.sales group by all'
    const answer = await live.query(sql, { parameters: ['!'], dataFormat: 'JsonAos' })
    const names = [
      ['x', 'VARCHAR'],
      ['sum(amount)', 'HUGEINT'],
      ['1000.0', 'DOUBLE'],
    ]
    expect(data(answer)).toMatchObject(names.map(([column_name, column_type]) => ({ column_name, column_type })))
    const second = await live.query('describe acme.sales', { skip: 4, limit: 1 })
    expect([data(second), second.at('output.truncated')]).toEqual([[described[4]], true])
    const inside = await live.query('select column_name from (describe acme.sales) where column_type = $1', {
      parameters: ['VARCHAR'],
    })
    expect(data(inside)).toEqual([['city']])
  })

  it('tells of a block that is pinned', async () => {
    const block = String(await live.head('acme/sales'))
    const query = new URLSearchParams({ query: 'describe acme.sales', pin: `acme/sales@${block}`, include: 'input' })
    const answer = await live.call(`/query?${query.toString()}`)
    expect(answer.at('input.datasets.0.blockHash')).toBe(block)
  })

  it('of what may not be read, or is not there, is 404', async () => {
    for (const sql of [
      'describe acme.secret',
      'summarize "acme/secret"',
      'describe select 1 from acme.secret',
      'describe acme.none',
    ]) {
      expect((await live.query(sql, {}, anonymous)).refusal).toBe('404 DatasetNotFound')
    }
    expect((await live.query('describe acme.secret')).status).toBe(200)
  })
})

describe('summarize', () => {
  it('looks at the rows', async () => {
    const answer = await live.query('summarize select amount, price from acme.sales', { dataFormat: 'JsonAos' })
    expect(data(answer)).toMatchObject([
      { column_name: 'amount', min: '1', max: '3', avg: '2.0', count: 2, null_percentage: '0.00' },
      { column_name: 'price', min: '1.50', max: '1.50', null_percentage: '50.00' },
    ])
    expect(data(await live.query('select count(*) from (summarize acme.sales)'))).toEqual([[7]])
  })
})

describe('show tables and information_schema', () => {
  it('list what the caller may read, in turn', async () => {
    for (let round = 0; round < 2; round++) {
      for (const sql of ['show tables', ' SHOW\n tables ; -- all']) {
        expect(data(await live.query(sql))).toEqual([['acme/sales'], ['Acme/Secret'], ['zoo/blank']])
        expect(data(await live.query(sql, {}, anonymous))).toEqual([['acme/sales'], ['zoo/blank']])
      }
      const sql = 'select distinct table_schema from INFORMATION_SCHEMA.Columns where column_name = $1'
      expect(data(await live.query(sql, { parameters: ['city'] }))).toEqual([['acme'], ['Acme']])
      expect(data(await live.query(sql, { parameters: ['city'] }, anonymous))).toEqual([['acme']])
    }
  })

  it('have the names of the SQL standard', async () => {
    const columns = 'select column_name, ordinal_position, is_nullable, data_type from information_schema.columns '
    const answer = await live.query(`${columns} where table_name = 'sales' and ordinal_position > 4 order by 2`)
    expect(data(answer)).toEqual([
      ['city', 5, 'NO', 'VARCHAR'],
      ['amount', 6, 'YES', 'BIGINT'],
      ['price', 7, 'YES', 'DECIMAL(10,2)'],
    ])
    expect(data(await live.query("select * from information_schema.tables t where t.table_name = 'blank'"))).toEqual([
      ['proofstream', 'zoo', 'blank', 'BASE TABLE'],
    ])
    const joined =
      'select table_name, count(*) as n from information_schema.tables join information_schema.columns ' +
      'using (table_schema, table_name) group by 1 order by 1'
    expect(data(await live.query(joined, {}, anonymous))).toEqual([
      ['blank', 4],
      ['sales', 7],
    ])
  })

  it('say what the types are as DESCRIBE does', async () => {
    const types =
      'select column_name, data_type from information_schema.columns where table_name = $1 order by ordinal_position'
    const described = await live.query('select column_name, column_type from (describe acme.sales)')
    expect(data(await live.query(types, { parameters: ['sales'] }))).toEqual(data(described))
  })

  it('are gone for the next one, who uses the same process', async () => {
    await live.query('select * from information_schema.tables')
    for (const name of [
      'listing_of_caller.tables',
      '"listing_of_caller"."columns"',
      '"listing_of_caller/tables"',
      'memory.listing_of_caller.tables',
    ]) {
      expect((await live.query(`select * from ${name}`, {}, anonymous)).refusal).toBe('404 DatasetNotFound')
    }
  })

  it.each([
    ['show databases', 'SHOW'],
    ['show', 'SHOW'],
    ['describe', 'SHOW'],
    ['show all tables', 'SHOW'],
    ['show tables from acme', 'SHOW'],
    ['select * from (show tables)', 'SHOW'],
  ])('%s is refused as %s', async (sql, construct) => {
    const answer = await live.query(sql)
    expect([answer.refusal, answer.at('detail')]).toEqual(['400 QueryNotAllowed', `Queries may not use ${construct}.`])
  })

  it.each(['schemata', 'views', 'key_column_usage'])('information_schema.%s is not there', async (name) => {
    expect((await live.query(`select * from information_schema.${name}`)).refusal).toBe('404 DatasetNotFound')
  })

  it('have so many rows and no more', async () => {
    for (const [rows, status] of [
      [15, 200],
      [14, 413],
    ] as const) {
      const small = await startLiveNode({}, { limits: { listingRows: rows } })
      for (const name of ['a', 'b', 'c'])
        await small.call(`/acme/${name}`, { method: 'PUT', json: { schema: { fields: [fields[0]] } } })
      const answer = await small.query('select count(*) from information_schema.columns')
      expect([answer.status, answer.at('limit.name')]).toEqual([status, status === 413 ? 'listingRows' : undefined])
      expect((await small.query('show tables')).at('output.data')).toHaveLength(3)
      await small.stop()
    }
  })

  it('are no names where others are given', async () => {
    expect((await live.query('show tables', { datasets: [] })).refusal).toBe('404 DatasetNotFound')
  })
})

describe('as a file', () => {
  it("they are the caller's own too", async () => {
    const answer = await live.query('show tables', { dataFormat: 'Csv' })
    expect([answer.text, answer.headers['cache-control']]).toEqual([
      'name\r\nacme/sales\r\nAcme/Secret\r\nzoo/blank\r\n',
      'no-store',
    ])
    expect([answer.headers.etag, answer.headers['link']]).toEqual([undefined, undefined])
    expect((await live.query('show tables', { dataFormat: 'Csv' }, anonymous)).text).toBe(
      'name\r\nacme/sales\r\nzoo/blank\r\n',
    )
    const proven = await live.query('show tables', { dataFormat: 'Csv', include: ['Proof'] })
    expect([proven.refusal, proven.at('hint')]).toEqual(['422 InvalidRequest', expect.not.stringContaining('/query')])
    const described = await live.query('select column_name from (describe acme.sales) limit 1', {
      dataFormat: 'NdJson',
    })
    expect(described.text).toBe('{"column_name":"offset"}\n')
  })
})

describe('none of them', () => {
  const statements = [
    'describe acme.sales',
    'summarize acme.sales',
    'show tables',
    'select 1 from information_schema.columns',
    'select * from (describe select 1)',
  ]

  it.each(statements)('is proven: %s', async (sql) => {
    const answer = await live.query(sql, { include: ['Proof'] })
    expect([answer.refusal, answer.at('detail')]).toEqual([
      '422 NotReproducible',
      expect.stringContaining('catalog of this node'),
    ])
  })

  it.each(statements)('is kept: %s', async (sql) => {
    const answer = await live.call(`/query?${new URLSearchParams({ query: sql }).toString()}`)
    expect([answer.status, answer.headers.etag, answer.headers['cache-control']]).toEqual([200, undefined, 'no-store'])
    expect(answer.headers['answer-stability']).toBeUndefined()
  })
})

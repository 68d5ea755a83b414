// Questions over HTTP: formats, pins, old blocks, limits, and a caller who goes away.

import { request as httpRequest } from 'node:http'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Answer, startLiveNode, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode(
  { 'limit-result-rows': 1_000, 'limit-query-ms': 3_000 },
  { limits: { concurrentQueries: 1, resultBytes: 20_000 } },
)
const heads: string[] = []
await live.call('/acme/sales', {
  method: 'PUT',
  json: {
    schema: {
      fields: [
        { name: 'city', type: 'String' },
        { name: 'amount', type: 'Int64?' },
        { name: 'share', type: 'Float64?' },
      ],
    },
    info: { description: 'What was sold', keywords: ['sales'] },
    license: { shortName: 'CC0', name: 'CC0 1.0', websiteUrl: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  },
})
for (const rows of [[{ city: 'Oslo', amount: 1, share: 0.5 }], [{ city: 'Rome', amount: 2 }, { city: 'Rome' }]]) {
  await live.ingest('acme/sales', rows)
  heads.push(String(await live.head('acme/sales')))
}
const cities = Object.entries({ Oslo: 'NO', Rome: 'IT' }).map(([name, land]) => ({ name, land }))
await live.ingest('acme/cities', cities, '?create=true')

const sql = 'select city, amount, share from "acme/sales" order by offset'

/** Status, kind and limit of a refusal. */
const told = (answer: Answer): unknown[] => [answer.status, answer.at('error.kind'), answer.at('limit.name')]

describe('data formats', () => {
  const rows = [['Oslo', 1, 0.5] as const, ['Rome', 2, null] as const, ['Rome', null, null] as const]
  const named = rows.map(([city, amount, share]) => ({ city, amount, share }))

  it.each([
    [undefined, 'JsonAoa', rows],
    ['JsonAos', 'JsonAos', named],
    ['json-soa', 'JsonSoa', { city: ['Oslo', 'Rome', 'Rome'], amount: [1, 2, null], share: [0.5, null, null] }],
    ['JsonAoS', 'JsonAos', named],
  ])('%s is answered as %s', async (asked, echoed, data) => {
    const post = await live.query(sql, asked === undefined ? {} : { dataFormat: asked })
    expect([post.at('output.dataFormat'), post.at('output.data')]).toEqual([echoed, data])
    const query = new URLSearchParams({ query: sql, ...(asked === undefined ? {} : { format: asked }) })
    expect((await live.call(`/query?${query.toString()}`)).json).toEqual(post.json)
  })

  it('with keys refuse two columns of one name, which arrays take', async () => {
    const twice = 'select city, amount as city from "acme/sales"'
    const answer = await live.query(twice, { dataFormat: 'JsonAos' })
    expect([...told(answer), answer.at('candidates')]).toEqual([400, 'DuplicateColumn', undefined, ['city']])
    expect((await live.query(twice)).status).toBe(200)
  })
})

describe('the parts of an answer', () => {
  const members = (answer: Answer): string[] => Object.keys(Object(answer.json)).sort()

  it('are those that were asked for', async () => {
    expect(members(await live.query(sql))).toEqual(['output'])
    expect(members(await live.query(sql, { include: ['INPUT'] }))).toEqual(['input', 'output'])
    const proven = await live.query(sql, { include: ['proof'] })
    expect(members(proven)).toEqual(['commitment', 'input', 'output', 'proof', 'subQueries'])
  })

  it('have a schema where rows are arrays and nothing else was asked', async () => {
    expect((await live.query(sql)).at('output.schema.fields.0.name')).toBe('city')
    expect((await live.query(sql, { include: [] })).at('output.schema')).toBeUndefined()
    expect((await live.query(sql, { include: ['Schema'] })).at('output.schema')).toBeDefined()
    expect((await live.query(sql, { include: [], schemaFormat: 'arrow-json' })).at('output.schema')).toBeDefined()
  })

  it('have a schema where there is a proof, asked for or not', async () => {
    const proven = await live.query(sql, { include: ['Proof'] })
    expect(proven.at('input.include')).toEqual(['Input', 'Proof', 'Schema'])
    expect(proven.at('output.schema.fields.0.name')).toBe('city')
  })

  it('say of a time without a zone that it has none', async () => {
    const local = `select timestamp '2026-07-01 12:00:00' as local, [timestamp_s '2026-07-01 12:00:00'] as held`
    const typesIn = async (schemaFormat: string): Promise<string> =>
      JSON.stringify((await live.query(local, { schemaFormat })).at('output.schema'))
    expect(await typesIn('ArrowJson')).toContain('{"Timestamp":["Microsecond",null]}')
    expect(await typesIn('ArrowJson')).toContain('{"Timestamp":["Second",null]}')
    expect(await typesIn('ParquetJson')).toContain('"logicalType":"TIMESTAMP(MICROS,false)"')
    expect(await typesIn('Parquet')).toContain('(TIMESTAMP(MICROS,false))')
    const zoned = await live.query('select event_time from "acme/sales"', { schemaFormat: 'ArrowJson' })
    expect(zoned.at('output.schema.fields.0.data_type')).toEqual({ Timestamp: ['Microsecond', 'UTC'] })
  })

  it('echo the whole input with its defaults', async () => {
    const answer = await live.query(sql, { include: ['Input'] })
    const id = (await live.call('/acme/sales/metadata')).at('output.seed.datasetId')
    expect(answer.at('input')).toEqual({
      query: sql,
      queryDialect: expect.stringMatching(/^SqlDuckDb\/\d+\.\d+\.\d+-\d+$/),
      dataFormat: 'JsonAoa',
      include: ['Input'],
      schemaFormat: 'ArrowJson',
      datasets: [{ id, alias: 'acme/sales', blockHash: heads[1], blockTime: expect.any(String) }],
      skip: 0,
      limit: 100,
    })
    // A block's rows have its time.
    const newest = await live.query('select max(system_time) from "acme/sales"')
    const [made, held] = [answer.at('input.datasets.0.blockTime'), newest.at('output.data.0.0')]
    expect(Date.parse(String(made))).toBe(Date.parse(String(held)))
  })
})

describe('names', () => {
  it.each(['"acme/sales"', 'acme.sales', '"ACME/Sales"', 'acme."sales"'])('%s is found', async (name) => {
    expect((await live.query(`select count(*) from ${name}`)).at('output.data.0.0')).toBe(3)
  })

  it('are found by their DID', async () => {
    const id = String((await live.call('/acme/sales/metadata')).at('output.seed.datasetId'))
    expect((await live.query(`select count(*) from "${id}"`)).at('output.data.0.0')).toBe(3)
  })

  it('of two datasets are joined', async () => {
    const join =
      'select land, sum(amount) as total from "acme/sales" s join "acme/cities" c on s.city = c.name group by land'
    const answer = await live.query(`${join} order by land`, { include: ['Input'] })
    expect(answer.at('output.data')).toEqual([
      ['IT', 2],
      ['NO', 1],
    ])
    expect(answer.at('input.datasets')).toHaveLength(2)
  })
})

describe('pins', () => {
  const pin = async (more: object = {}): Promise<object> => {
    const id = (await live.call('/acme/sales/metadata')).at('output.seed.datasetId')
    return { id, alias: 'acme/sales', ...more }
  }

  it('may say the time of their block, as an answer has it, and no other', async () => {
    const head = await live.query(sql, { include: ['Input'] })
    const datasets = head.at('input.datasets') as readonly object[]
    expect((await live.query(sql, { datasets, include: ['Input'] })).at('input.datasets')).toEqual(datasets)
    const other = datasets.map((one) => ({ ...one, blockTime: '2020-01-01T00:00:00Z' }))
    expect(told(await live.query(sql, { datasets: other }))).toEqual([422, 'InvalidRequest', undefined])
  })

  it('read an old block', async () => {
    const answer = await live.query(sql, { datasets: [await pin({ blockHash: heads[0] })], include: ['Input'] })
    expect(answer.at('output.data')).toEqual([['Oslo', 1, 0.5]])
    expect(answer.at('input.datasets.0.blockHash')).toBe(heads[0])
  })

  it('take hashes in another multibase', async () => {
    const blockHash = `F${String(heads[0]).slice(1).toUpperCase()}`
    expect((await live.query(sql, { datasets: [await pin({ blockHash })] })).at('output.data')).toHaveLength(1)
  })

  it('give a dataset a name of the caller', async () => {
    const datasets = [await pin({ alias: 'mine' })]
    expect((await live.query('select count(*) from mine', { datasets })).at('output.data')).toEqual([[3]])
  })

  it('never give it what reads as the name of another', async () => {
    const cities = (await live.call('/acme/cities/metadata')).at('output.seed.datasetId')
    const names = ['acme/cities', 'gov/official-statistics', 'Gov/Official_Statistics', 'a/b/c', String(cities)]
    for (const alias of names) {
      for (const [statement, include] of [
        [`select count(*) from "${alias}"`, ['Proof']],
        ['select 1', []],
      ] as const) {
        const answer = await live.query(statement, { datasets: [await pin({ alias })], include })
        expect(answer.refusal).toBe('422 InvalidRequest')
        expect(answer.at('candidates')).toEqual(['acme/sales'])
      }
    }
    const id = (await pin()) as { id: string }
    for (const alias of ['ACME/Sales', id.id]) {
      const datasets = [await pin({ alias })]
      expect((await live.query(`select count(*) from "${alias}"`, { datasets })).at('output.data')).toEqual([[3]])
    }
  })

  it('keep all other names from resolving', async () => {
    expect((await live.query('select * from "acme/cities"', { datasets: [await pin()] })).refusal).toBe(
      '404 DatasetNotFound',
    )
  })

  it('of unknown blocks and datasets are 404, used or not', async () => {
    const unknown = { blockHash: `f1620${'0'.repeat(64)}` }
    for (const statement of [sql, 'select 1']) {
      const block = await live.query(statement, { datasets: [await pin(unknown)] })
      expect(block.refusal).toBe('404 BlockNotFound')
      const id = `did:odf:fed01${'0'.repeat(64)}`
      const dataset = await live.query(statement, { datasets: [{ id, alias: 'acme/sales' }] })
      expect(dataset.refusal).toBe('404 DatasetNotFound')
    }
  })

  it.each([
    [{ blockHash: 'f1620zz' }],
    [{ id: 'acme/sales' }],
    [{ id: 'did:odf:xyz' }],
    [{ color: 'red' }],
    [{ alias: 7 }],
  ])('of the form %j are 422', async (wrong) => {
    expect((await live.query(sql, { datasets: [{ ...(await pin()), ...wrong }] })).refusal).toBe('422 InvalidRequest')
  })

  it('must not give one name two meanings', async () => {
    const datasets = [await pin({ blockHash: heads[0] }), await pin({ blockHash: heads[1] })]
    expect((await live.query(sql, { datasets })).at('error.kind')).toBe('InvalidRequest')
  })
})

describe('tail and metadata', () => {
  it('show the newest rows, ascending', async () => {
    const answer = await live.call('/acme/sales/tail?limit=2')
    expect(answer.at('data')).toMatchObject([
      { offset: 1, city: 'Rome', amount: 2 },
      { offset: 2, city: 'Rome', amount: null },
    ])
    const columns = 'offset op system_time event_time city amount share'
    expect(Object.keys(Object(answer.at('data.0'))).join(' ')).toBe(columns)
    expect([answer.headers['result-truncated'], answer.at('truncated')]).toEqual(['true', true])
    expect(answer.headers['dataset-head']).toBe(`acme/sales;block="${heads[1]}"`)
  })

  it.each([
    ['?skip=1&limit=1', [1]],
    ['?skip=2', [0]],
    ['?skip=3', []],
    ['?skip=999999', []],
    ['?limit=0', []],
    ['', [0, 1, 2]],
  ])('%s shows the offsets %j', async (query, offsets) => {
    const answer = await live.call(`/acme/sales/tail${query}`)
    expect((answer.at('data') as { offset: number }[]).map((row) => row.offset)).toEqual(offsets)
    const older = offsets.length === 0 ? query === '?limit=0' : offsets[0] !== 0
    expect(answer.at('truncated')).toBe(older ? true : undefined)
  })

  it('show the dataset as it was at a block', async () => {
    const answer = await live.call(`/acme/sales/tail?at=${heads[0]}&dataFormat=JsonAoa&schemaFormat=ArrowJson`)
    expect(answer.at('data')).toHaveLength(1)
    expect(answer.at('schema.fields')).toHaveLength(7)
    const meta = await live.call(`/acme/sales/metadata?at=${heads[0]}&include=refs`)
    expect(meta.at('output.refs')).toEqual([{ name: 'head', blockHash: heads[0] }])
  })

  it('of a dataset without rows or schema are empty', async () => {
    await live.call('/acme/blank', { method: 'PUT', json: {} })
    const answer = await live.call('/acme/blank/tail')
    expect([answer.status, answer.at('data')]).toEqual([200, []])
    expect((await live.call('/acme/blank/metadata?include=schema,seed')).at('output.schema')).toBeUndefined()
  })

  it('name each aspect that exists, in any case', async () => {
    const answer = await live.call('/acme/sales/metadata?include=SEED,Info,license,refs,schema,vocab,attachments')
    expect(answer.at('output')).toMatchObject({
      seed: { datasetKind: 'Root' },
      info: { description: 'What was sold', keywords: ['sales'] },
      license: { shortName: 'CC0' },
      refs: [{ name: 'head', blockHash: heads[1] }],
      schemaFormat: 'ArrowJson',
      vocab: {
        offsetColumn: 'offset',
        operationTypeColumn: 'op',
        systemTimeColumn: 'system_time',
        eventTimeColumn: 'event_time',
      },
    })
    expect(answer.at('output.attachments')).toBeUndefined()
    expect((await live.call('/acme/sales/metadata?include=')).at('output')).toEqual({})
    expect(Object.keys(Object((await live.call('/acme/sales/metadata')).at('output')))).toEqual(['seed'])
  })
})

describe('limits', () => {
  it('say that rows were left out', async () => {
    const some = await live.query('select * from range(50)', { limit: 10, skip: 5 })
    expect([some.status, some.headers['result-truncated']]).toEqual([200, 'true'])
    expect(some.at('output.data.0.0')).toBe(5)
    expect(some.at('output.truncated')).toBe(true)
    const all = await live.query('select * from range(50)', { limit: 50 })
    expect(all.headers['result-truncated']).toBeUndefined()
  })

  it.each(['JsonAos', 'JsonAoa', 'JsonSoa'])('say it inside the output that is signed, in %s', async (dataFormat) => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ rows: fc.nat(6), skip: fc.nat(3), limit: fc.nat(6), schema: fc.boolean() }),
        async ({ rows, skip, limit, schema }) => {
          const include = schema ? ['Proof', 'Schema'] : ['Proof']
          const answer = await live.query(`select * from range(${rows})`, { dataFormat, skip, limit, include })
          const cut = rows > skip + limit
          expect(Object.keys(Object(answer.at('output')))).toEqual([
            'data',
            'dataFormat',
            'schema',
            'schemaFormat',
            ...(cut ? ['truncated'] : []),
          ])
          expect([answer.at('output.truncated'), answer.headers['result-truncated']]).toEqual(
            cut ? [true, 'true'] : [undefined, undefined],
          )
          const headers = { 'content-type': 'application/json' }
          const verified = await live.call('/verify', { method: 'POST', headers, body: answer.bytes })
          expect(verified.at('ok')).toBe(true)
          expect(verified.at('answer.truncated')).toBe(cut ? true : undefined)
        },
      ),
      { numRuns: 12 },
    )
  })

  it('hold for rows: at the limit it runs, above it is refused', async () => {
    const most = await live.query('select 1 from range(2000)', { limit: 1_000, include: [] })
    expect(most.at('output.data')).toHaveLength(1_000)
    const answer = await live.query('select 1', { limit: 1_001 })
    expect(told(answer)).toEqual([422, 'InvalidRequest', 'resultRows'])
  })

  it('hold for bytes', async () => {
    const answer = await live.query("select repeat('x', 1000) from range(30)")
    expect(told(answer)).toEqual([413, 'ResultTooLarge', 'resultBytes'])
    expect((await live.query("select repeat('x', 1000) from range(15)")).status).toBe(200)
  })

  it('hold for time, and the node goes on', async () => {
    const answer = await live.query(forever)
    expect([answer.status, answer.at('error.kind'), answer.at('retryable')]).toEqual([504, 'QueryTimeout', true])
    expect((await live.query('select 1')).status).toBe(200)
  })
})

const forever = 'select sum(range % 7) from range(1000000000000)'

describe('a caller who goes away', () => {
  it('ends his query, so that the next one need not wait for its deadline', async () => {
    const patient = await startLiveNode({ 'limit-query-ms': 600_000 }, { limits: { concurrentQueries: 1 } })
    try {
      const { hostname, port } = new URL(patient.node.url)
      const headers = { 'content-type': 'application/json' }
      const gone = httpRequest({ hostname, port, path: '/query', method: 'POST', headers })
      gone.on('error', () => {})
      gone.end(JSON.stringify({ query: forever }))
      // One process serves all queries here: the second waits until the first has ended.
      await new Promise((resolve) => setTimeout(resolve, 300))
      const next = patient.query('select 42')
      await new Promise((resolve) => setTimeout(resolve, 300))
      gone.destroy()
      expect((await next).at('output.data')).toEqual([[42]])
    } finally {
      await patient.stop()
    }
  })
})

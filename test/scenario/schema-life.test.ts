// The life of a schema on a real node: declared, inferred, extended; what was proven before stays proven.

import { describe, expect, test } from 'vitest'
import { datasetCalls } from '../helpers/dataset-calls.ts'
import { liveNode } from '../helpers/live-node.ts'

const live = await liveNode({}, { limits: { columns: 12 } })

const { put, post, rowsOf, columnsOf } = datasetCalls(() => live)

async function eventKinds(alias: string): Promise<string> {
  const blocks = (await live.call(`/${alias}/blocks?limit=1000`)).at('blocks') as { event: { kind: string } }[]
  return blocks
    .map(({ event }) => event.kind)
    .toReversed()
    .join(' ')
}

describe('a new column', () => {
  test('is optional, changes schema and source in the chain, and leaves old proofs true', async () => {
    await live.ingest('acme/grow', [{ city: 'Oslo' }], '?create=true')
    const proof = await live.query('select city from "acme/grow"', { include: ['Proof'] })
    expect(proof.status).toBe(200)
    const refused = await live.ingest('acme/grow', [{ city: 'Rome', pop: 3 }])
    expect([refused.status, refused.at('errors.0.kind')]).toEqual([422, 'UnknownField'])
    const added = await live.ingest('acme/grow', [{ city: 'Rome', pop: 3 }], '?unknownFields=add')
    expect(added.at('status')).toBe('committed')
    expect(await eventKinds('acme/grow')).toBe(
      'Seed SetDataSchema AddPushSource AddData SetDataSchema AddPushSource AddData',
    )
    expect(await columnsOf('acme/grow')).toEqual(['city: String?', 'pop: Int64?'])
    expect(await rowsOf('acme/grow', 'city, pop')).toEqual([
      ['Oslo', null],
      ['Rome', 3],
    ])
    const verified = await live.call('/verify', { method: 'POST', json: proof.json })
    expect([verified.status, verified.at('ok')]).toEqual([200, true])
    const pinned = await live.query('select * exclude (system_time, event_time) from "acme/grow"', {
      datasets: proof.at('input.datasets'),
    })
    expect(pinned.at('output.data')).toEqual([[0, 0, 'Oslo']])
  })

  test.each([
    ['offset', 'ReservedColumn'],
    ['OP', 'ReservedColumn'],
    ['System_Time', 'ReservedColumn'],
  ])('is never named %s', async (name, kind) => {
    await live.ingest('acme/reserved', [{ a: 1 }], '?create=true')
    for (const query of ['', '?unknownFields=add', '?unknownFields=ignore']) {
      const answer = await live.ingest('acme/reserved', [{ a: 1, [name]: 1 }], query)
      expect([answer.status, answer.at('errors.0.kind')]).toEqual([422, kind])
    }
    expect(await columnsOf('acme/reserved')).toEqual(['a: Int64?'])
  })

  test('is refused when there would be too many', async () => {
    const wide = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, i) => [`c${i}`, i]))
    expect((await live.ingest('acme/wide', [wide(12)], '?create=true')).at('status')).toBe('committed')
    const more = await live.ingest('acme/wide', [{ one: 1 }], '?unknownFields=add')
    expect([more.status, more.at('limit')]).toEqual([422, { name: 'columns', value: 12, unit: 'columns' }])
    const made = await live.ingest('acme/wider', [wide(13)], '?create=true')
    expect([made.status, made.at('limit.name')]).toEqual([422, 'columns'])
    expect(await live.head('acme/wider')).toBeUndefined()
    const fields = Object.keys(wide(13)).map((name) => ({ name, type: 'Int64?' }))
    const declared = await put('acme/wider', { schema: { fields } })
    expect([declared.status, declared.at('limit.name')]).toEqual([422, 'columns'])
  })

  test('of one name that two callers add at once with two types is there once; the other is told', async () => {
    await live.ingest('acme/race', [{ a: 1 }], '?create=true')
    const answers = await Promise.all([
      live.ingest('acme/race', [{ a: 1, x: 1 }], '?unknownFields=add'),
      live.ingest('acme/race', [{ a: 1, x: true }], '?unknownFields=add'),
    ])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 422]))
    expect(answers.map((answer) => answer.at('error.kind'))).toContain('RecordsDoNotFit')
    expect(await live.query('select count(*) from "acme/race"').then((answer) => answer.at('output.data'))).toEqual([
      [2],
    ])
  })
})

describe('declared types', () => {
  const types = {
    flag: 'Bool',
    text: 'String?',
    i8: 'Int8?',
    u64: 'UInt64?',
    i64: 'Int64?',
    f32: 'Float32?',
    f64: 'Float64?',
    money: 'Decimal(38,10)?',
    day: 'Date?',
    at: 'Timestamp?',
    fine: 'Timestamp(Microsecond)?',
    raw: 'Binary?',
  }
  const typeNames = Object.keys(types)
    .map((name) => `"${name}"`)
    .join(', ')
  const line =
    '{"flag":true,"text":"ä\\u0000\\"","i8":-128,"u64":18446744073709551615,"i64":-9223372036854775808,' +
    '"f32":1.5,"f64":1e21,"money":1234567890123456789012345678.0123456789,"day":"0001-02-03",' +
    '"at":"1969-12-31T23:59:59.9999Z","fine":"2026-01-01T00:00:00.123456789+01:00","raw":"00ff7f"}'
  const expected =
    '[true,"ä\\u0000\\"",-128,18446744073709551615,-9223372036854775808,1.5,1e+21,' +
    '"1234567890123456789012345678.0123456789","0001-02-03","1969-12-31T23:59:59.999Z",' +
    '"2025-12-31T23:00:00.123456Z","00ff7f"]'

  test('take values and give them back exactly', async () => {
    const fields = Object.entries(types).map(([name, type]) => ({ name, type }))
    const made = await put('acme/types', { schema: { fields } })
    expect(made.status).toBe(201)
    expect(await columnsOf('acme/types')).toEqual(
      Object.entries(types).map(([name, type]) => `${name}: ${type.replace(/\(.*\)/, '')}`),
    )
    expect((await post('acme/types', `${line}\n{"flag":false}\n`, {})).at('status')).toBe('committed')
    expect((await post('acme/types', `[${line}]`, { 'content-type': 'application/json' })).at('status')).toBe(
      'committed',
    )
    const answer = await live.query(`select ${typeNames} from "acme/types" order by offset`)
    const nulls = `[false${',null'.repeat(11)}]`
    expect(answer.text).toContain(`"data":[${expected},${nulls},${expected}]`)
    const missing = await post('acme/types', '{"text":"x"}\n', {})
    const nothing = await post('acme/types', '{"flag":null}\n', {})
    expect([missing, nothing].map((one) => one.at('errors.0.kind'))).toEqual(['MissingRequired', 'MissingRequired'])
  })

  test('may be lists', async () => {
    const fields = [
      { name: 'tags', type: 'List(String)?' },
      { name: 'scores', type: 'List(Int64?)' },
      { name: 'times', type: 'List(Timestamp(Microsecond)?)?' },
    ]
    expect((await put('acme/lists', { schema: { fields } })).status).toBe(201)
    const rows = [
      '{"tags":["a",""],"scores":[9007199254740993,null],"times":["2026-01-01T00:00:00.000001Z"]}',
      '{"tags":[],"scores":[]}',
    ]
    expect((await post('acme/lists', rows.join('\n'), {})).at('status')).toBe('committed')
    const answer = await live.query('select tags, scores, times from "acme/lists" order by offset')
    expect(answer.text).toContain('[[["a",""],[9007199254740993,null],["2026-01-01T00:00:00.000001Z"]],[[],[],null]]')
    const tail = await live.call('/acme/lists/tail')
    expect(tail.text).toContain('"tags":["a",""],"scores":[9007199254740993,null]')
  })
})

describe('what a dataset says of itself', () => {
  const body = {
    vocab: { eventTimeColumn: 'when' },
    info: { description: 'Ships', keywords: ['sea', 'ais'] },
    license: { shortName: 'CC0', name: 'CC0 1.0', spdxId: 'CC0-1.0', websiteUrl: 'https://example.org/cc0' },
    attachments: { kind: 'Embedded', items: [{ path: 'README.md', content: '# Ships\n' }] },
    visibility: 'private',
  }

  test('stands in its chain and metadata, and is hidden when it is private', async () => {
    expect((await put('acme/ships', body)).status).toBe(201)
    expect(await eventKinds('acme/ships')).toBe('Seed SetInfo SetLicense SetAttachments SetVocab AddPushSource')
    const metadata = await live.call('/acme/ships/metadata?include=info,license,attachments,vocab')
    expect(metadata.at('output.info')).toEqual(body.info)
    expect(metadata.at('output.license')).toEqual(body.license)
    expect(metadata.at('output.vocab.eventTimeColumn')).toBe('when')
    expect(metadata.at('output.attachments')).toEqual({ attachments: body.attachments })
    const stranger = await live.call('/acme/ships/metadata', { token: null })
    const missing = await live.call('/acme/shipz/metadata', { token: null })
    expect([stranger.status, stranger.at('error.kind')]).toEqual([missing.status, missing.at('error.kind')])
  })

  test('gets its schema from the first batch, under its vocabulary; an identical repeat is 200 even then', async () => {
    const rows = '{"when":"2026-01-01T00:00:00Z","name":"Anna"}\n'
    expect((await post('acme/ships', rows, {})).at('status')).toBe('committed')
    expect(await rowsOf('acme/ships', '"when", name')).toEqual([['2026-01-01T00:00:00Z', 'Anna']])
    expect((await put('acme/ships', body)).status).toBe(200)
    expect((await put('acme/ships', { ...body, visibility: 'public' })).status).toBe(409)
    expect((await put('acme/ships', { ...body, info: { description: 'Boats' } })).status).toBe(409)
    const fields = [{ name: 'name', type: 'String?' }]
    expect((await put('acme/ships', { ...body, schema: { fields } })).status).toBe(409)
  })

  test('may be empty in each part, which is the same as none', async () => {
    const empty = { info: {}, attachments: { kind: 'Embedded', items: [] }, vocab: {}, visibility: 'public' }
    expect((await put('acme/plain', empty)).status).toBe(201)
    expect(await eventKinds('acme/plain')).toBe('Seed AddPushSource')
    expect((await put('acme/plain', empty)).status).toBe(200)
    expect((await put('acme/plain', {})).status).toBe(200)
  })
})

describe('a dataset that a batch would make', () => {
  test('needs both scopes: that of making it and that of sending records', async () => {
    for (const scopes of [['create'], ['ingest'], ['read']]) {
      const made = await live.call('/tokens', { method: 'POST', json: { name: 'half', scopes } })
      const answer = await live.call('/acme/halves/ingest?create=true', {
        method: 'POST',
        token: String(made.at('token')),
        headers: { 'content-type': 'application/json' },
        body: '{"n":1}',
      })
      expect([answer.status, answer.at('error.kind')]).toEqual([403, 'Forbidden'])
    }
    expect(await live.head('acme/halves')).toBeUndefined()
  })
})

describe('a dry run', () => {
  const rows = '{"city":"Oslo","event_time":"2026-01-01T00:00:00Z","n":1}\n'

  test('gives a schema that can be declared, and then means the same', async () => {
    const answer = await post('acme/dry', rows, {}, '?dryRun=true&create=true')
    expect((await put('acme/declared', { schema: answer.at('schema') })).status).toBe(201)
    await post('acme/inferred', rows, {}, '?create=true')
    const schemas = await Promise.all(
      ['declared', 'inferred'].map((name) => live.call(`/acme/${name}/metadata?include=schema&schemaFormat=OdfJson`)),
    )
    expect(schemas[0]?.at('output.schema')).toEqual(schemas[1]?.at('output.schema'))
  })
})

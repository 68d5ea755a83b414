// What is wrong is named, with its kind and its place, and nothing of it is stored. Each case is sent to a real node.

import { describe, expect, it } from 'vitest'
import { runsWith } from '../../helpers/features.ts'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
const fields = [
  { name: 'id', type: 'Int64' },
  { name: 'name', type: 'String?' },
  { name: 'at', type: 'Timestamp(Microsecond)?' },
  { name: 'day', type: 'Date?' },
  { name: 'price', type: 'Float64?' },
  { name: 'small', type: 'Int8?' },
]
await live.call('/acme/goods', { method: 'PUT', json: { schema: { fields } } })
await live.ingest('acme/goods', [{ id: 1, name: 'one' }])
const headBefore: string | undefined = await live.head('acme/goods')

const json = 'application/json'
const ndjson = 'application/x-ndjson'
const csv = 'text/csv'
const notUtf8 = Buffer.concat([Buffer.from('{"id":1}\n{"id":2,"name":"'), Buffer.from([0xff]), Buffer.from('"}\n')])

/** What is wrong, media type, body, the kind of the fault and its place. */
type BadRecord = [string, string, string | Uint8Array, string, Readonly<Record<string, unknown>>]

const badRecords: readonly BadRecord[] = [
  [
    'JSON that breaks in its second record',
    json,
    '[{"id":1},\n {"id":2,]',
    'MalformedRecord',
    { record: 1, line: 2, byteOffset: 20 },
  ],
  [
    'a duplicate key',
    json,
    '[{"id":1,"id":2}]',
    'DuplicateField',
    { record: 0, line: 1, byteOffset: 9, pointer: '/id' },
  ],
  [
    '__proto__',
    json,
    '[{"id":1,"__proto__":{"x":1}}]',
    'UnknownField',
    { record: 0, byteOffset: 9, pointer: '/__proto__' },
  ],
  [
    'nesting of 70 levels',
    json,
    `[{"id":1,"name":${'['.repeat(70)}${']'.repeat(70)}}]`,
    'TooDeep',
    { record: 0, line: 1 },
  ],
  [
    'an integer beyond 64 bits',
    json,
    '[{"id":9223372036854775808}]',
    'OutOfRange',
    { record: 0, byteOffset: 7, column: 'id', excerpt: '9223372036854775808' },
  ],
  ['an integer beyond its column', ndjson, '{"id":1,"small":128}', 'OutOfRange', { record: 0, column: 'small' }],
  ['1e400', json, '[{"id":1,"price":1e400}]', 'OutOfRange', { record: 0, column: 'price', excerpt: '1e400' }],
  ['NaN', json, '[{"id":1,"price":NaN}]', 'MalformedRecord', { record: 0, line: 1 }],
  ['invalid UTF-8', ndjson, notUtf8, 'InvalidUtf8', { record: 1, line: 2, byteOffset: 25 }],
  ['a lone surrogate', json, '{"id":1,"name":"\\ud800"}', 'InvalidUtf8', { record: 0 }],
  [
    'an unknown column',
    ndjson,
    '{"id":1}\n{"id":2,"colour":"red"}\n',
    'UnknownField',
    { record: 1, line: 2, byteOffset: 17, pointer: '/colour' },
  ],
  [
    'a missing required column',
    ndjson,
    '{"id":1}\n{"name":"x"}\n',
    'MissingRequired',
    { record: 1, line: 2, column: 'id' },
  ],
  ['a required null', ndjson, '{"id":null}\n', 'MissingRequired', { record: 0, column: 'id' }],
  ['30 February', ndjson, '{"id":1,"at":"2026-02-30T00:00:00Z"}', 'BadTimestamp', { record: 0, column: 'at' }],
  ['a time without zone', ndjson, '{"id":1,"at":"2026-02-03T00:00:00"}', 'BadTimestamp', { record: 0, column: 'at' }],
  ['a thirteenth month', ndjson, '{"id":1,"day":"2026-13-01"}', 'BadDate', { record: 0, column: 'day' }],
  ['a system column', ndjson, '{"id":1,"offset":7}', 'ReservedColumn', { record: 0 }],
  [
    'a number with a fraction in an integer column',
    ndjson,
    '{"id":1.5}',
    'WrongType',
    { record: 0, column: 'id', excerpt: '1.5' },
  ],
  ['text in an integer column', ndjson, '{"id":"7"}', 'WrongType', { record: 0, column: 'id' }],
  ['an element that is no object', ndjson, '{"id":1}\n[1]\n', 'MalformedRecord', { record: 1, line: 2 }],
  ['CSV with too many cells', csv, 'id,name\n1,a\n2,b,c\n', 'TooManyFields', { record: 1, line: 3, byteOffset: 16 }],
  ['CSV with too few cells', csv, 'id,name\n1\n', 'TooFewFields', { record: 0, line: 2 }],
  ['an open quote', csv, 'id,name\n1,a\n2,"b\n3,c\n', 'UnclosedQuote', { record: 1, line: 3, byteOffset: 14 }],
  ['text after a closing quote', csv, 'id,name\n1,"a"b\n', 'MalformedRecord', { record: 0, line: 2, byteOffset: 13 }],
  ['NUL', csv, 'id,name\n1,a\u0000b\n', 'MalformedRecord', { record: 0, line: 2, byteOffset: 11 }],
  ['NUL beside quotes', csv, 'id,name\n1,"a"\u0000\n', 'MalformedRecord', { record: 0, line: 2, byteOffset: 13 }],
  ['a CSV header with an unknown column', 'text/csv; header=present', 'id,colour\n1,a\n', 'UnknownField', { line: 1 }],
]

describe('records that do not fit', () => {
  it.each(badRecords)('names the place of %s', async (_what, type, body, kind, place) => {
    const answer = await live.call('/acme/goods/ingest', { method: 'POST', headers: { 'content-type': type }, body })
    expect(answer.status).toBe(422)
    expect(answer.json).toMatchObject({ ok: false, error: { kind: 'RecordsDoNotFit' }, retryable: false })
    expect(answer.at('errors.0')).toMatchObject({ kind, ...place })
    expect(await live.head('acme/goods')).toBe(headBefore)
  })

  it('stores none of a batch in which one record is wrong', async () => {
    const answer = await live.ingest('acme/goods', [{ id: 2 }, { id: 3 }, { id: 'four' }])
    expect(answer.status).toBe(422)
    const rows = await live.query('select count(*) from "acme/goods"')
    expect(rows.at('output.data')).toEqual([[1]])
    expect(await live.head('acme/goods')).toBe(headBefore)
  })
})

const badBodies = [
  ['JSON that is neither array nor object', json, 'hello', '400 MalformedBody'],
  ['an unknown media type', 'application/xml', '<a/>', '415 UnsupportedMediaType'],
  ["the media type of curl's -d", 'application/x-www-form-urlencoded', 'a=1', '415 UnsupportedMediaType'],
  ['another charset', 'application/geo+json; charset=latin1', '{}', '415 UnsupportedMediaType'],
  ['a charset that is none', 'text/csv; charset=latin99', 'id\n1', '400 InvalidParameter'],
] as const

describe('bodies', () => {
  it.each([
    [{ query: 'select 1', speed: 9 }, "The member 'speed' is not known here."],
    [{ query: 1 }, "The member 'query' is not of type string."],
    [{}, "The member 'query' is missing."],
    [{ query: 'select 1', skip: -1 }, "The member 'skip' is below 0."],
    [{ query: 'select 1', datasets: [{ id: 'x' }] }, "The member 'alias' is missing."],
    [[], 'The body is not of type object.'],
  ])('of the form %j are told what is wrong with them', async (body, message) => {
    expect((await live.call('/query', { method: 'POST', json: body })).at('message')).toBe(message)
  })

  it.each(badBodies)('refuses %s', async (_what, type, body, refusal) => {
    const answer = await live.call('/acme/goods/ingest', { method: 'POST', headers: { 'content-type': type }, body })
    expect(answer.refusal).toBe(refusal)
    expect(await live.head('acme/goods')).toBe(headBefore)
  })

  it('lists the media types it takes, and says what curl -d does', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await live.call('/acme/goods/ingest', { method: 'POST', headers, body: 'a=1' })
    expect(answer.at('hint')).toMatch(/--data-binary|-d/)
    expect(answer.at('candidates')).toEqual(expect.arrayContaining(['text/csv', 'application/json']))
  })

  it('says where a JSON request breaks', async () => {
    const headers = { 'content-type': json }
    const answer = await live.call('/query', { method: 'POST', headers, body: '{"query":\n  "select 1",}' })
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({
      error: { kind: 'MalformedJson' },
      position: { offset: 23, line: 2, column: 14 },
    })
  })

  it('refuses duplicate members of a JSON request', async () => {
    const headers = { 'content-type': json }
    const answer = await live.call('/query', {
      method: 'POST',
      headers,
      body: '{"query":"select 1","query":"select 2"}',
    })
    expect(answer.json).toMatchObject({ error: { kind: 'MalformedJson' }, position: { line: 1, column: 21 } })
  })

  it.each([
    ['__proto__', '{"query":"select 1","__proto__":{"limit":1}}', 422, 'InvalidRequest'],
    ['an unknown member', '{"query":"select 1","speed":9}', 422, 'InvalidRequest'],
    ['a mistyped member', '{"query":1}', 422, 'InvalidRequest'],
    ['a missing member', '{}', 422, 'InvalidRequest'],
    ['a fraction where rows are counted', '{"query":"select 1","limit":1.5}', 422, 'InvalidRequest'],
    ['an integer beyond 64 bits', '{"query":"select 1","limit":18446744073709551616}', 422, 'InvalidRequest'],
    ['an unknown include', '{"query":"select 1","include":["Prof"]}', 422, 'InvalidRequest'],
    ['nesting of 70 levels', `{"query":${'['.repeat(70)}${']'.repeat(70)}}`, 400, 'MalformedJson'],
    ['1e400', '{"query":"select 1","limit":1e400}', 400, 'MalformedJson'],
    ['an empty body', '', 400, 'MalformedJson'],
  ] as const)('refuses a query with %s', async (_what, body, status, kind) => {
    expect((await live.call('/query', { method: 'POST', headers: { 'content-type': json }, body })).refusal).toBe(
      `${status} ${kind}`,
    )
  })
})

describe('names and parameters', () => {
  it.each([
    ['/acme/goods/metadata?includes=x', "The parameter 'includes' is not known here."],
    ['/acme/goods/metadata?at=1&at=2', "The parameter 'at' is given more than once."],
    ['/acme/goods/tail?limit=ten', "The parameter 'limit' is not a whole number of at most 15 digits."],
    ['/possession?nonce=x', "The parameter 'nonce' is not of the form that is described."],
    ['/query', "The parameter 'query' is missing."],
    [`/${'a'.repeat(101)}/x/metadata`, "The part 'account' is longer than 100 characters."],
  ])('%s says what is wrong with which', async (path, message) => {
    expect((await live.call(path)).at('message')).toBe(message)
  })

  it.runIf(runsWith('ledger'))('a parameter with some values says which', async () => {
    const answer = await live.call('/acme/goods/rows/0/proof?format=xml')
    expect(answer.at('message')).toBe("The parameter 'format' is not one of tlog-proof, json.")
  })

  it.each([
    ['/acme/nothing/metadata', 404, 'DatasetNotFound'],
    ['/acme/nothing/tail', 404, 'DatasetNotFound'],
    ['/acme/-x/metadata', 400, 'InvalidName'],
    ['/acme%2Fgoods/x/metadata', 400, 'InvalidName'],
    ['/tokens/x/metadata', 400, 'ReservedName'],
    [`/${'a'.repeat(101)}/x/metadata`, 400, 'InvalidName'],
    [`/${'a'.repeat(3000)}/x/metadata`, 400, 'InvalidName'],
    ['/acme/goods/metadata?include=seed,nope', 400, 'InvalidParameter'],
    ['/acme/goods/metadata?includes=seed', 400, 'InvalidParameter'],
    ['/acme/goods/metadata?include=seed&include=info', 400, 'InvalidParameter'],
    ['/acme/goods/metadata?include=%zz', 400, 'InvalidParameter'],
    ['/acme/goods/metadata?at=f1620zz', 400, 'InvalidParameter'],
    [`/acme/goods/metadata?at=f1620${'0'.repeat(64)}`, 404, 'BlockNotFound'],
    ['/acme/goods/tail?limit=-1', 400, 'InvalidParameter'],
    ['/acme/goods/tail?limit=100001', 400, 'InvalidParameter'],
    ['/acme/goods/tail?dataFormat=Xml', 400, 'InvalidParameter'],
    ['/acme/goods/blocks?limit=0', 400, 'InvalidParameter'],
    ['/info?verbose=1', 400, 'InvalidParameter'],
    ['/query', 400, 'InvalidParameter'],
    ['/query?query=select+1&datasets=x', 400, 'InvalidParameter'],
    ['/query?query=select+1&include=Prof', 400, 'InvalidParameter'],
    ['/query?query=select+1&dataFormat=JsonAos&format=JsonAos', 400, 'InvalidParameter'],
    ['/query?query=select+1&query=select+2', 400, 'InvalidParameter'],
    ['/query?query=select+1&queryDialect=SqlDataFusion', 400, 'UnsupportedDialect'],
    ['/query?query=select+1&queryDialect=SqlDuckDb/0.1.0-1', 400, 'EngineUnavailable'],
    ['/%zz', 400, 'InvalidName'],
    ['/nothing/at/all/here', 404, 'RouteNotFound'],
    ['/info/', 404, 'RouteNotFound'],
    ['/receipts/abc', 404, 'ReceiptNotFound'],
  ] as const)('answers %s with %i %s', async (path, status, kind) => {
    expect((await live.call(path)).refusal).toBe(`${status} ${kind}`)
  })

  it.each(['?create=yes', '?unknownFields=drop', '?integers=int32', '?create=true&create=true', '?dryRun=1'])(
    'refuses the ingest parameter %s',
    async (query) => {
      expect((await live.ingest('acme/goods', [{ id: 5 }], query)).refusal).toBe('400 InvalidParameter')
    },
  )
})

describe('statements', () => {
  it.each([
    ['select * fro "acme/goods"', 400, 'SqlSyntax', { offset: 13, line: 1, column: 14 }],
    ['select\n  nope\nfrom "acme/goods"', 400, 'SqlUnknownName', { offset: 9, line: 2, column: 3 }],
    ['select * from "acme/nothing"', 404, 'DatasetNotFound', { offset: 14, line: 1, column: 15 }],
    ['select 1; select 2', 400, 'QueryNotAllowed', { offset: 10, line: 1, column: 11 }],
    ["COPY (select 1) TO '/tmp/x'", 400, 'QueryNotAllowed', { offset: 0, line: 1, column: 1 }],
    ["ATTACH '/tmp/x.db'", 400, 'QueryNotAllowed', { offset: 0, line: 1, column: 1 }],
    ["select * from read_csv('/etc/passwd')", 400, 'QueryNotAllowed', { offset: 14, line: 1, column: 15 }],
    ["select * from '/etc/passwd'", 404, 'DatasetNotFound', { offset: 14, line: 1, column: 15 }],
    ['PRAGMA version', 400, 'QueryNotAllowed', { offset: 0, line: 1, column: 1 }],
    ['call enable_logging()', 400, 'QueryNotAllowed', { offset: 0, line: 1, column: 1 }],
    ['select * from enable_logging()', 400, 'QueryNotAllowed', { offset: 14, line: 1, column: 15 }],
    ['', 400, 'SqlSyntax', { offset: 0, line: 1, column: 1 }],
  ] as const)('refuses %s', async (sql, status, kind, position) => {
    for (const include of [[], ['Proof']]) {
      const answer = await live.query(sql, { include })
      expect(answer.refusal).toBe(`${status} ${kind}`)
      expect(answer.at('position')).toEqual(position)
    }
  })

  it('counts columns in code points and offsets in bytes', async () => {
    const answer = await live.query('select \'𝄞é\' as x, nope from "acme/goods"')
    expect(answer.at('error.kind')).toBe('SqlUnknownName')
    expect(answer.at('position')).toEqual({ offset: 22, line: 1, column: 19 })
  })

  it('offers names that are like the unknown one', async () => {
    const answer = await live.query('select nam from "acme/goods"')
    expect(answer.at('candidates')).toContain('name')
  })

  it.each([
    ['goods', /account\.dataset; SHOW TABLES/],
    ['good', /account\.dataset; SHOW TABLES/],
    ['other.goods', /Did you mean 'acme\/goods'/],
    ['acme.goodz', /Did you mean 'acme\/goods'/],
  ])('offers the dataset that %s may mean', async (name, hint) => {
    const answer = await live.query(`select * from ${name}`)
    expect(answer.refusal).toBe('404 DatasetNotFound')
    expect(answer.at('candidates')).toEqual(['acme/goods'])
    expect(answer.at('hint')).toMatch(hint)
  })
})

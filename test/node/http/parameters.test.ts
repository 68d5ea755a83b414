// Values for the parameters of a statement, over HTTP: how they are sent and refused, that they are signed, and that a proof
// with them holds at other nodes.

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Answer, liveNode, startLiveNode } from '../../helpers/live-node.ts'

const live = await liveNode({}, { limits: { sqlBytes: 4096 } })
const sales = [
  { city: 'Oslo', amount: 1 },
  { city: 'Rome', amount: 2 },
  { city: "L'Aquila", amount: 9_007_199_254_740_993n },
]
const ndjson = sales.map(({ city, amount }) => `{"city":${JSON.stringify(city)},"amount":${amount}}`).join('\n')
await live.call('/acme/sales/ingest?create=true&integers=int64', {
  method: 'POST',
  headers: { 'content-type': 'application/x-ndjson' },
  body: ndjson,
})

/** POST with `parameters` as JSON text: numbers keep their tokens. */
const post = (query: string, parameters: string, more = ''): Promise<Answer> =>
  live.call('/query', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"query":${JSON.stringify(query)},"parameters":${parameters}${more}}`,
  })

const get = (query: string, ...more: [string, string][]): Promise<Answer> =>
  live.call(`/query?${new URLSearchParams([['query', query], ...more]).toString()}`)

const verify = (body: string): Promise<Answer> =>
  live.call('/verify', { method: 'POST', headers: { 'content-type': 'application/json' }, body })

/** The bytes of the member `input`, as received. */
const inputOf = ({ text }: Answer): string => text.slice(text.indexOf('"input":') + 8, text.indexOf(',"output":'))

describe('values', () => {
  it('are a list for $1, an object for $name, text in a URL', async () => {
    const listed = await post('select city from "acme/sales" where amount = $1 or city = $2 order by 1', '[1, "Rome"]')
    expect(listed.at('output.data')).toEqual([['Oslo'], ['Rome']])
    const named = await post('select city from "acme/sales" where city = $City', '{"city": "L\'Aquila"}')
    expect(named.at('output.data')).toEqual([["L'Aquila"]])
    const sent = await get('select city, typeof($1) from "acme/sales" where amount = $1', ['param.1', '2'])
    expect(sent.at('output.data')).toEqual([['Rome', 'VARCHAR']])
    const both = await get('select $b || $a', ['param.a', 'x&y'], ['param.b', 'é '])
    expect(both.at('output.data')).toEqual([['é x&y']])
  })

  it('keep every digit and the type of their token', async () => {
    const tokens = '[9007199254740993, 9223372036854775808, 1, 1.0, 1e2]'
    const answer = await post('select $1, $2, $3, $4, $5, typeof($2), typeof($4)', tokens, ',"include":["Input"]')
    expect(answer.text).toContain('"data":[[9007199254740993,9223372036854775808,1,1.0,100.0,"HUGEINT","DOUBLE"]]')
    expect(answer.text).toContain('"parameters":[9007199254740993,9223372036854775808,1,1.0,1e+2]')
  })

  it('stand in `input` only where they were given, in their own form', async () => {
    const input = { include: ['Input'] }
    expect((await live.query('select 1', input)).at('input.parameters')).toBeUndefined()
    for (const parameters of [[], {}, { a: null }, [true]]) {
      const sql = Array.isArray(parameters) ? 'select 1' : 'select 1, 2'
      const used =
        'a' in parameters ? 'select $a' : parameters instanceof Array && parameters.length > 0 ? 'select $1' : sql
      expect((await live.query(used, { ...input, parameters })).at('input.parameters')).toEqual(parameters)
    }
    const listed = await get('select $1, $2', ['param.2', 'b'], ['param.1', 'a'], ['include', 'input'])
    expect(listed.at('input.parameters')).toEqual(['a', 'b'])
    const named = await get('select $x', ['param.x', 'a'], ['include', 'input'])
    expect(named.at('input.parameters')).toEqual({ x: 'a' })
  })

  it('make another tag', async () => {
    const tags = await Promise.all(
      ['1', '2', '1'].map(async (text) => (await get('select $1', ['param.1', text])).headers.etag),
    )
    expect(tags[0]).toBe(tags[2])
    expect(tags[0]).not.toBe(tags[1])
  })
})

describe('refusals', () => {
  const place = (answer: Answer): unknown => answer.at('position.offset')

  it('of a value that is missing name it, where it stands and what was given', async () => {
    const missing = await post('select $city, $n', '{"city": "x", "m": 1}')
    expect([missing.refusal, place(missing), missing.at('candidates')]).toEqual(['422 InvalidRequest', 14, ['$m']])
    const none = await live.query('select $1')
    expect([none.refusal, place(none), none.at('hint')]).toEqual([
      '422 InvalidRequest',
      7,
      'Send "parameters": […], or param.1=… in a URL.',
    ])
    const url = await get('select $1, $2', ['param.1', 'x'])
    expect([url.refusal, place(url)]).toEqual(['400 InvalidParameter', 11])
  })

  it('of a value that nothing takes say what the statement has', async () => {
    const surplus = await post('select $city', '{"city": "x", "citi": 1}')
    expect([surplus.refusal, surplus.at('candidates')]).toEqual(['422 InvalidRequest', ['$city']])
    expect((await post('select 1', '[1]')).refusal).toBe('422 InvalidRequest')
    expect((await get('select $1', ['param.1', 'x'], ['param.2', 'y'])).refusal).toBe('400 InvalidParameter')
  })

  it.each([
    ['7'],
    ['"x"'],
    ['null'],
    ['[[1]]'],
    ['[{"a":1}]'],
    ['{"a": 1, "A": 2}'],
    ['[1e400]'],
    ['[170141183460469231731687303715884105728]'],
    [String.raw`["a\u0000b"]`],
    [`[${Array.from({ length: 1001 }, () => '1').join()}]`],
  ])('%s is not a list of values', async (parameters) => {
    const answer = await post('select $1', parameters.slice(0, 5000))
    expect(answer.status === 400 ? answer.at('error.kind') : answer.refusal).toMatch(/InvalidRequest|MalformedJson/)
    expect(answer.at('detail')).toMatch(/\.$/)
  })

  it('of too much text name the limit', async () => {
    const answer = await post('select length($1)', JSON.stringify(['x'.repeat(5000)]))
    expect([answer.refusal, answer.at('limit.name')]).toEqual(['413 BodyTooLarge', 'sqlBytes'])
  })

  it('of a parameter of a URL that is given twice', async () => {
    expect((await get('select $1', ['param.1', 'x'], ['param.1', 'y'])).refusal).toBe('400 InvalidParameter')
    expect((await get('select 1', ['param.', 'x'])).refusal).toBe('400 InvalidParameter')
  })

  it('of a table, whatever the value', async () => {
    const answer = await post('select * from $1', '["acme/sales"]')
    expect(answer.refusal).toBe('400 SqlSyntax')
  })
})

describe('a proof', () => {
  const sql = 'select city, amount + $plus as more from "acme/sales" where city <> $not order by city'
  const parameters = '{"plus": 1.50, "not": "Ro\\u006de"}'

  it('signs the values: these very bytes', async () => {
    const saved = await post(sql, parameters, ',"include":["Proof"]')
    const id = String((await live.call('/acme/sales/metadata')).at('output.seed.datasetId'))
    expect(inputOf(saved)).toBe(
      `{"dataFormat":"JsonAoa","datasets":[{"alias":"acme/sales","blockHash":"${await live.head('acme/sales')}",` +
        `"blockTime":"${String(saved.at('input.datasets.0.blockTime'))}","id":"${id}"}],` +
        `"include":["Input","Proof","Schema"],"limit":100,"parameters":{"not":"Rome","plus":1.50},` +
        `"query":${JSON.stringify(sql)},"queryDialect":"${String(saved.at('input.queryDialect'))}",` +
        '"schemaFormat":"ArrowJson","skip":0}',
    )
    expect((await verify(saved.text)).at('ok')).toBe(true)
  })

  it('holds no longer when a value is another, or is left out', async () => {
    const saved = await post(sql, parameters, ',"include":["Proof"]')
    const changed = await verify(saved.text.replace('"plus":1.50', '"plus":1.5'))
    expect(changed.at('error.kind')).toBe('InvalidRequest::InputHash')
    const without = await verify(saved.text.replace('"parameters":{"not":"Rome","plus":1.50},', ''))
    expect(without.at('error.kind')).toBe('InvalidRequest::InputHash')
  })

  it('of a list, of NULL and of large integers holds', async () => {
    const saved = await post(
      'select $1, $2, $3, $4',
      '[null, true, 170141183460469231731687303715884, "é"]',
      ',"include":["Proof"]',
    )
    expect([saved.status, (await verify(saved.text)).at('ok')]).toEqual([200, true])
    expect(inputOf(saved)).toContain(String.raw`"parameters":[null,true,170141183460469231731687303715884,"\u00e9"]`)
  })

  it('is the same from a URL as from a body with the same texts', async () => {
    const [one, other] = [
      await get('select $1 as x', ['param.1', 'a'], ['include', 'proof']),
      await post('select $1 as x', '["a"]', ',"include":["Proof"]'),
    ]
    expect(one.text).toBe(other.text)
  })

  it('holds at another node, by running it again', async () => {
    const saved = await post(sql, parameters, ',"include":["Proof"]')
    const copy = await mkdtemp(join(tmpdir(), 'proofstream-copy-'))
    await cp(join(live.dataDir, 'store'), join(copy, 'store'), { recursive: true })
    const other = await startLiveNode({ data: copy })
    try {
      const headers = { 'content-type': 'application/json' }
      const answer = await other.call('/verify', { method: 'POST', headers, body: saved.text })
      expect([answer.at('ok'), other.node.did === live.node.did]).toEqual([true, false])
    } finally {
      await other.stop()
      await rm(copy, { recursive: true })
    }
  })
})

describe('a file', () => {
  const sql = 'select city from "acme/sales" where city <> $not order by city'

  it('takes the same values and pins, and links to the proof with them', async () => {
    const head = String(await live.head('acme/sales'))
    const more: [string, string][] = [
      ['param.not', 'Rome'],
      ['pin', `acme/sales@${head}`],
      ['limit', '5'],
    ]
    const file = await get(sql, ...more, ['format', 'csv'])
    expect([file.status, file.text]).toEqual([200, "city\r\nL'Aquila\r\nOslo\r\n"])
    const link = /^<(.*)>; rel="describedby"$/.exec(String(file.headers['link']))?.[1] ?? ''
    const proof = await live.call(link)
    expect([proof.at('output.data'), proof.at('input.parameters')]).toEqual([[["L'Aquila"], ['Oslo']], { not: 'Rome' }])
    expect((await verify(proof.text)).at('ok')).toBe(true)
  })

  it('has no link where a value is not a text, and another tag for another value', async () => {
    const typed = await post(sql.replace('city <>', 'amount <>'), '{"not": 7}', ',"dataFormat":"Csv","limit":5')
    expect([typed.status, typed.headers['link']]).toEqual([200, undefined])
    const tags = await Promise.all(
      ['x', 'y'].map(async (not) => (await get(sql, ['param.not', not], ['format', 'csv'])).headers.etag),
    )
    expect(tags[0]).not.toBe(tags[1])
  })

  it('of a whole dataset takes none', async () => {
    const answer = await live.call('/acme/sales/export?format=csv&where=amount%20%3E%20%241')
    expect([answer.refusal, answer.at('position.offset')]).toEqual(['400 InvalidParameter', 9])
  })

  it('refuses values as JSON does', async () => {
    expect((await get(sql, ['format', 'csv'])).refusal).toBe('400 InvalidParameter')
    expect((await post(sql, '{"no": 1}', ',"dataFormat":"Csv"')).refusal).toBe('422 InvalidRequest')
  })
})

describe('pins of a URL', () => {
  it('read an old block by name or DID, whatever the spelling in the statement', async () => {
    const first = String(await live.head('acme/sales'))
    await live.ingest('acme/sales', [{ city: 'Bern', amount: 5 }])
    const id = String((await live.call('/acme/sales/metadata')).at('output.seed.datasetId'))
    for (const name of ['acme/sales', 'ACME/Sales', id]) {
      const answer = await get('select count(*) from acme.sales', ['pin', `${name}@${first}`], ['include', 'input'])
      expect(answer.at('output.data')).toEqual([[3]])
      expect(answer.at('input.datasets')).toMatchObject([{ id, alias: 'acme/sales', blockHash: first }])
    }
    const both = await get('select count(*) from acme.sales', ['pin', `acme/sales@${first}`], ['pin', `${id}@${first}`])
    expect(both.at('output.data')).toEqual([[3]])
    expect((await get('select count(*) from acme.sales')).at('output.data')).toEqual([[4]])
  })

  it('give the same proof as datasets in a body', async () => {
    const id = String((await live.call('/acme/sales/metadata')).at('output.seed.datasetId'))
    const blockHash = String(await live.head('acme/sales'))
    const sql = 'select city from "acme/sales" order by offset'
    const url = await get(sql, ['pin', `acme/sales@${blockHash}`], ['include', 'proof'])
    const body = await live.query(sql, { include: ['Proof'], datasets: [{ id, alias: 'acme/sales', blockHash }] })
    expect(url.text).toBe(body.text)
  })

  it('are refused where they are none, unknown, or say two things', async () => {
    const head = String(await live.head('acme/sales'))
    const zero = `f1620${'0'.repeat(64)}`
    const sql = 'select 1 from "acme/sales"'
    expect((await get(sql, ['pin', 'acme/sales'])).refusal).toBe('400 InvalidParameter')
    expect((await get(sql, ['pin', 'acme/sales@xyz'])).refusal).toBe('400 InvalidParameter')
    expect((await get(sql, ['pin', `acme/sales@${zero}`])).refusal).toBe('404 BlockNotFound')
    expect((await get(sql, ['pin', `acme/nosuch@${head}`])).refusal).toBe('404 DatasetNotFound')
    const twice = await get(sql, ['pin', `acme/sales@${head}`], ['pin', `acme/sales@${zero}`])
    expect(twice.refusal).toBe('400 InvalidParameter')
    expect((await live.query(sql, { pin: 'x' })).refusal).toBe('422 InvalidRequest')
  })

  it('keep all other names from resolving', async () => {
    const head = String(await live.head('acme/sales'))
    await live.ingest('acme/cities', [{ name: 'Oslo' }], '?create=true')
    const answer = await get('select * from "acme/cities"', ['pin', `acme/sales@${head}`])
    expect([answer.refusal, answer.at('position.offset')]).toEqual(['404 DatasetNotFound', 14])
  })
})

// A proof over HTTP: it verifies as received, and a change to any of its parts is told by its own kind.

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type LiveNode, startLiveNode, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
const sql = 'select city, sum(amount) as total, avg(amount) as mean from "acme/sales" group by city'
const rows = [
  { city: 'Oslo', amount: 1 },
  { city: 'Rome', amount: 2 },
  { city: 'Rome', amount: 4 },
]
await live.ingest('acme/sales', rows, '?create=true&integers=int64')
const saved = await live.query(sql, { include: ['Proof', 'Schema'] })
const head = await live.head('acme/sales')

const verify = (body: string, token?: string | null): Promise<Answer> =>
  live.call('/verify', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    ...(token === undefined ? {} : { token }),
  })

/** The saved answer with one place of its text changed. */
function tampered(from: RegExp, to: string | ((found: string) => string)): string {
  const text = saved.text.replace(from, typeof to === 'string' ? () => to : to)
  expect(text).not.toBe(saved.text)
  return text
}

describe('a proof', () => {
  it('verifies as it was received', async () => {
    const answer = await verify(saved.text)
    expect(answer.json).toEqual({
      ok: true,
      signer: { did: live.node.did, relation: 'self' },
      engine: {
        name: 'duckdb',
        version: expect.any(String),
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        dialect: saved.at('input.queryDialect'),
        stability: saved.headers['answer-stability'],
      },
      answer: {
        rows: 2,
        extent: 'whole',
        datasets: [
          {
            ...Object(saved.at('input.datasets.0')),
            blockTime: (await live.call(`/acme/sales/blocks/${head}`, { headers: { accept: 'application/json' } })).at(
              'systemTime',
            ),
          },
        ],
      },
      explanation: expect.any(Array),
    })
  })

  it('is explained: question, dataset, block and its time, rows, signer, and what stays unchecked', async () => {
    const lines = (await verify(saved.text)).at('explanation') as { about: string; text: string }[]
    const said = Object.fromEntries(lines.map(({ about, text }) => [about, text]))
    expect(said).toMatchObject({
      question: sql,
      answer: '2 rows, none left out',
      signer: `${live.node.did}, a key of the node that was asked`,
    })
    expect(said['dataset']).toMatch(new RegExp(`^acme/sales \\(did:odf:.*\\) up to block ${head}, made 20`))
    expect(said['repeatable']).toMatch(/^(?:exact|pinned): /)
    expect(lines.filter(({ about }) => about === 'not checked')).toHaveLength(1)
  })

  it('tells that rows were left out, and the values of parameters, as they were given', async () => {
    const cut = await live.query('select city from "acme/sales" where amount < $most', {
      include: ['Proof'],
      limit: 1,
      parameters: { most: 1e3 },
    })
    const answer = await verify(cut.text)
    expect(answer.at('answer')).toMatchObject({ rows: 1, extent: 'cut' })
    expect(answer.at('explanation')).toContainEqual({ about: 'parameters', text: '{"most":1000}' })
    expect(answer.at('explanation')).toContainEqual({ about: 'answer', text: '1 row, cut by limit 1' })
  })

  it.each([
    ['select city, sum(amount) as total from "acme/sales" group by city', 'exact'],
    ['select list(city) as cities from "acme/sales"', 'pinned'],
    ['select avg(amount / 3) as mean from "acme/sales"', 'pinned'],
    ["select city from 'acme/sales' order by amount", 'exact'],
  ])('of %s says that it is %s', async (statement, stability) => {
    for (const include of [[], ['Proof']]) {
      expect((await live.query(statement, { include })).headers['answer-stability']).toBe(stability)
    }
    const proof = await live.query(statement, { include: ['Proof'] })
    expect((await verify(proof.text)).at('engine.stability')).toBe(stability)
  })

  it('verifies without its output, and for anonymous readers', async () => {
    const { output: _, ...rest } = Object(saved.json)
    expect((await verify(JSON.stringify(rest), null)).at('ok')).toBe(true)
  })

  it('stays true when the dataset has moved on', async () => {
    await live.ingest('acme/sales', [{ city: 'Oslo', amount: 100 }])
    expect((await live.query(sql)).at('output.data')).not.toEqual(saved.at('output.data'))
    expect((await verify(saved.text)).at('ok')).toBe(true)
  })

  it('is canonical, so that the hash of its bytes is in its commitment', () => {
    const at = (name: string, next: string): string =>
      saved.text.slice(saved.text.indexOf(`"${name}":`) + name.length + 3, saved.text.indexOf(`,"${next}":`))
    const hash = (text: string): string => `f1620${createHash('sha3-256').update(text).digest('hex')}`
    expect(hash(at('input', 'output'))).toBe(saved.at('commitment.inputHash'))
    expect(hash(at('output', 'proof'))).toBe(saved.at('commitment.outputHash'))
    expect(hash('[]')).toBe(saved.at('commitment.subQueriesHash'))
  })

  it('of GET is that of POST', async () => {
    const query = new URLSearchParams({ query: sql, include: 'Proof' })
    const got = await live.call(`/query?${query.toString()}`)
    expect(got.text).toBe((await live.query(sql, { include: ['Proof'] })).text)
  })

  it.each(['now()', 'random()', 'uuid()'])('is not given for %s', async (call) => {
    const answer = await live.query(`select ${call} as x`, { include: ['Proof'] })
    expect(answer.refusal).toBe('422 NotReproducible')
    expect(answer.at('position')).toEqual({ offset: 7, line: 1, column: 8 })
    expect((await live.query(`select ${call} as x`)).status).toBe(200)
  })
})

describe('a tampered proof', () => {
  const hash = (name: string): RegExp => new RegExp(`(?<="${name}":"f1620)[0-9a-f]{64}`)
  const zeros = '0'.repeat(64)
  const stranger = 'did:key:z6MkfVwSbTF3GvrAiERKSC19PKeDwK1bXHiBAdKK4y6p5unn'
  const other = (one: string): string => (one === 'A' ? 'B' : 'A')

  it.each([
    ['the statement', /sum\(amount\)/, 'max(amount)', 400, 'InvalidRequest::InputHash'],
    ['the limit', /"limit":100/, '"limit":101', 400, 'InvalidRequest::InputHash'],
    ['a block hash', hash('blockHash'), zeros, 400, 'InvalidRequest::InputHash'],
    ['the hash of the input', hash('inputHash'), zeros, 400, 'InvalidRequest::InputHash'],
    ['the sub-queries', /"subQueriesHash":"f1620./, '"subQueriesHash":"f1620x', 422, 'InvalidRequest'],
    ['the hash of the sub-queries', hash('subQueriesHash'), zeros, 400, 'InvalidRequest::SubQueriesHash'],
    ['the hash of the output', hash('outputHash'), zeros, 400, 'InvalidRequest::BadSignature'],
    ['a value of the output', /"Oslo",1/, '"Oslo",7', 400, 'InvalidRequest::OutputHash'],
    ['the spelling of a float', /,3\.0\]/, ',3]', 400, 'InvalidRequest::RewrittenOutput'],
    ['the signer', /did:key:z6Mk[^"]+/, stranger, 400, 'InvalidRequest::BadSignature'],
    ['the form of the signer', /did:key:z6Mk[^"]+/, 'did:web:example.com', 422, 'InvalidRequest'],
    ['the signature', /(?<="proofValue":"u.{20})./, other, 400, 'InvalidRequest::BadSignature'],
    ['the length of the signature', /(?<="proofValue":"u)..../, '', 422, 'InvalidRequest'],
    ['the type', /Ed25519Signature2020/, 'Ed25519Signature2018', 422, 'UnsupportedProofType'],
    ['a member', /"subQueries":\[\]/, '"subQuerys":[]', 422, 'InvalidRequest'],
    ['a member twice', /"subQueries":\[\]/, '"subQueries":[],"subQueries":[]', 400, 'MalformedJson'],
  ])('is told by %s', async (_what, from, to, status, kind) => {
    const answer = await verify(tampered(from, to))
    expect([answer.status, answer.at('error.kind'), answer.at('ok')]).toEqual([status, kind, false])
    const type = kind.includes('::') ? 'application/json' : 'application/problem+json'
    expect(answer.headers['content-type']).toBe(`${type}; charset=utf-8`)
    expect(answer.json).toMatchObject({
      status,
      message: expect.any(String),
      type: expect.stringMatching(/^\/errors\//),
    })
  })

  it('cannot be sent as something else than JSON', async () => {
    const answer = await live.call('/verify', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: saved.text,
    })
    expect(answer.status).toBe(415)
  })
})

describe('a proof of another node', () => {
  let other: LiveNode

  beforeAll(async () => {
    other = await startLiveNode()
    await other.ingest('acme/sales', [{ city: 'Oslo', amount: 1 }], '?create=true')
  })
  afterAll(() => other.stop())

  it('of a dataset that is not here names the dataset', async () => {
    const foreign = await other.query('select city from "acme/sales"', { include: ['Proof'] })
    const answer = await verify(foreign.text)
    expect(answer.refusal).toBe('400 VerificationFailed::DatasetNotFound')
    expect(answer.at('error.dataset_id')).toBe(foreign.at('input.datasets.0.id'))
  })

  it('of a dataset that is hidden answers as if it were missing', async () => {
    await live.call('/acme/hidden', { method: 'PUT', json: { visibility: 'private' } })
    await live.ingest('acme/hidden', [{ a: 1 }])
    const proof = await live.query('select * from "acme/hidden"', { include: ['Proof'] })
    const answer = await verify(proof.text, null)
    expect(answer.at('error.kind')).toBe('VerificationFailed::DatasetNotFound')
    expect(answer.text).not.toContain('acme/hidden')
    expect((await verify(proof.text)).at('ok')).toBe(true)
  })

  it('without datasets verifies here, signed by a stranger', async () => {
    const foreign = await other.query('select 1 as x', { include: ['Proof'] })
    expect((await verify(foreign.text)).at('signer')).toEqual({ did: other.node.did, relation: 'unknown' })
  })
})

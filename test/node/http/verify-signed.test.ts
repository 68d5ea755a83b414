// Proofs that are well signed and yet wrong: what a node that errs or lies could sign. Each is told by its own kind.

import { describe, expect, it } from 'vitest'
import { canonicalBytes } from '../../../src/libraries/base/json/canonical.ts'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import { commit } from '../../../src/libraries/proof/commitment.ts'
import { nodeKeyFromSeed, signProof } from '../../../src/libraries/proof/sign.ts'
import { type Answer, liveNode } from '../../helpers/live-node.ts'

const stranger = nodeKeyFromSeed(new Uint8Array(32).fill(7))

interface SignedInput {
  readonly query: string
  readonly queryDialect: string
  readonly dataFormat: string
  readonly schemaFormat: string
  readonly include: readonly string[]
  readonly datasets: readonly { readonly id: string; readonly alias: string; readonly blockHash?: string }[]
  readonly skip: number
  readonly limit: number
}

const live = await liveNode({ 'trusted-signers': stranger.did, 'limit-result-rows': 1_000 })
const sales = ['Oslo', 'Rome'].map((city, index) => ({ city, amount: index + 1 }))
await live.ingest('acme/sales', sales, '?create=true')
await live.ingest('acme/other', [{ city: 'Bonn' }], '?create=true')
const honest = await live.query('select city from "acme/sales" order by city', { include: ['Proof'] })
const input = honest.at('input') as SignedInput
const output = honest.at('output') as Readonly<Record<string, unknown>>
const other = await live.query('select city from "acme/other"', { include: ['Proof'] })
const otherDataset = other.at('input.datasets.0') as SignedInput['datasets'][number]

/** The answer that the stranger signs: `input` and `output` with `changes`. */
function signed(changes: {
  readonly input?: object
  readonly output?: object
  readonly subQueries?: readonly unknown[]
}): string {
  const answer = {
    input: { ...input, ...changes.input },
    output: { ...output, ...changes.output },
    subQueries: changes.subQueries ?? [],
  }
  const bytes = {
    input: canonicalBytes(fromPlain(answer.input)),
    output: canonicalBytes(fromPlain(answer.output)),
    subQueries: canonicalBytes(fromPlain(answer.subQueries)),
  }
  return JSON.stringify({ ...answer, ...signProof(commit(bytes), stranger) })
}

const verify = (body: string): Promise<Answer> =>
  live.call('/verify', { method: 'POST', headers: { 'content-type': 'application/json' }, body })

/** Status, kind and limit of a refusal. */
const told = (answer: Answer): unknown[] => [answer.status, answer.at('error.kind'), answer.at('limit.name')]

describe('a proof signed elsewhere', () => {
  it('verifies where it tells the truth; its signer is known here', async () => {
    expect((await verify(signed({}))).json).toMatchObject({
      ok: true,
      signer: { did: stranger.did, relation: 'known' },
    })
  })

  it('of another output names both hashes', async () => {
    const body = signed({ output: { data: [['Oslo'], ['Paris']] } })
    const answer = await verify(body)
    expect(answer.refusal).toBe('400 VerificationFailed::OutputMismatch')
    const { commitment } = JSON.parse(body) as { commitment: { outputHash: string } }
    expect(answer.at('error.expected_hash')).toBe(commitment.outputHash)
    const honest = JSON.parse(signed({})) as { commitment: { outputHash: string } }
    expect(answer.at('error.actual_hash')).toBe(honest.commitment.outputHash)
  })

  it('with another time of its block is wrong', async () => {
    const [own] = input.datasets
    for (const blockTime of ['2020-01-01T00:00:00Z', '', `${(own as { blockTime?: string }).blockTime}Z`]) {
      const answer = await verify(signed({ input: { datasets: [{ ...own, blockTime }] } }))
      expect(answer.refusal).toBe('400 VerificationFailed::DatasetBlockNotFound')
    }
  })

  it('by another engine version is tried, and never accused', async () => {
    const dialect = { queryDialect: 'SqlDuckDb/0.9.2-1' }
    expect((await verify(signed({ input: dialect }))).json).toMatchObject({ ok: true, engine: { version: '1.5.6' } })
    const answer = await verify(signed({ input: dialect, output: { data: [['Oslo'], ['Paris']] } }))
    expect(answer.refusal).toBe('400 VerificationInconclusive::EngineUnavailable')
    expect(answer.at('error')).toMatchObject({ proof_engine: 'SqlDuckDb/0.9.2-1', node_engine: input.queryDialect })
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  })

  it.each([
    ['a construct that is refused here', "select * from read_csv('x')"],
    ['a statement that does not parse here', 'selec city'],
    ['a statement that gives another answer each time here', 'select now() as city'],
    ['a value that is none here', "select cast('x' as integer) as city"],
  ])('by another engine version, with %s, is never accused', async (_, query) => {
    for (const queryDialect of ['SqlDuckDb/1.5.6-1', 'SqlDuckDb/1.4.10-3']) {
      expect((await verify(signed({ input: { query, datasets: [], queryDialect } }))).refusal).toBe(
        '400 VerificationInconclusive::EngineUnavailable',
      )
    }
  })

  it.each([
    '1.5.6',
    '1.5.6-0',
    '1.5.6-03',
    '1.5.6-99',
    '1.5.7-3',
    '1.10.0-3',
    '9.9.9-3',
    '01.5.6-3',
    '1.5-3',
    '../../x-3',
  ])('by a dialect that no release up to this one has, %s, is not called right', async (version) => {
    const queryDialect = `SqlDuckDb/${version}`
    expect((await verify(signed({ input: { queryDialect } }))).refusal).toBe('400 UnsupportedDialect')
    expect((await live.query('select 1', { queryDialect })).refusal).toBe('400 UnsupportedDialect')
  })

  it('runs with the values that were signed, or says what is wrong with them', async () => {
    const query = 'select city from "acme/sales" where city <> $not order by city'
    const rome = { data: [['Rome']] }
    const own = { query, parameters: { not: 'Oslo' } }
    expect((await verify(signed({ input: own, output: rome }))).at('ok')).toBe(true)
    expect((await verify(signed({ input: { ...own, parameters: { not: 'Rome' } }, output: rome }))).refusal).toBe(
      '400 VerificationFailed::OutputMismatch',
    )
    for (const parameters of [
      undefined,
      {},
      { not: 'Oslo', more: 1 },
      ['Oslo'],
      7,
      { not: [1] },
      { not: 'x', NOT: 'y' },
    ]) {
      const answer = await verify(
        signed({ input: { query, ...(parameters !== undefined && { parameters }) }, output: rome }),
      )
      expect(answer.refusal).toBe('422 InvalidRequest')
    }
    const long = await verify(signed({ input: { query, parameters: { not: 'x'.repeat(70_000) } } }))
    expect(told(long)).toEqual([413, 'BodyTooLarge', 'sqlBytes'])
  })

  it.each([
    ['describe "acme/sales"', '400 VerificationFailed::NotReproducible'],
    ['summarize select 1', '400 VerificationFailed::NotReproducible'],
    ['select * from information_schema.tables', '400 VerificationFailed::NotReproducible'],
    ['show tables', '400 QueryNotAllowed'],
  ])('of %s, which has no proof, is %s', async (query, refusal) => {
    expect((await verify(signed({ input: { query } }))).refusal).toBe(refusal)
  })

  it('says that rows were left out', async () => {
    const cut = { limit: 1 }
    const [first] = output['data'] as unknown[]
    const [bare, telling] = [{ data: [first] }, { data: [first], truncated: true }]
    expect((await verify(signed({ input: cut, output: telling }))).at('ok')).toBe(true)
    expect((await verify(signed({ input: cut, output: bare }))).at('error.kind')).toBe(
      'VerificationFailed::OutputMismatch',
    )
  })

  it('asks for no more rows than a query may', async () => {
    expect((await verify(signed({ input: { limit: 1_000 } }))).at('ok')).toBe(true)
    const answer = await verify(signed({ input: { limit: 1_001 } }))
    expect(told(answer)).toEqual([422, 'InvalidRequest', 'resultRows'])
  })

  it('in either spelling of the data format is reproduced in that spelling', async () => {
    const spelled = { dataFormat: 'JsonAoA' }
    expect((await verify(signed({ input: spelled, output: spelled }))).at('ok')).toBe(true)
    expect((await verify(signed({ input: spelled }))).at('error.kind')).toBe('VerificationFailed::OutputMismatch')
  })

  it.each<[string, object, number, string]>([
    ['of a dialect that runs elsewhere', { queryDialect: 'SqlDataFusion' }, 400, 'UnsupportedDialect'],
    ['without its pins', { datasets: [] }, 400, 'InvalidRequest::UnpinnedDataset'],
    ['outside the gate', { query: "select * from read_csv('/etc/passwd')", datasets: [] }, 400, 'QueryNotAllowed'],
    ['of a broken statement', { query: 'selec city', datasets: [] }, 400, 'SqlSyntax'],
    ['that is volatile', { query: 'select now() as x', datasets: [] }, 400, 'VerificationFailed::NotReproducible'],
    ['with an unknown include', { include: ['Input', 'Proofs'] }, 422, 'InvalidRequest'],
    ['with an unknown format', { dataFormat: 'Xml' }, 422, 'InvalidRequest'],
    ['with a negative limit', { limit: -1 }, 422, 'InvalidRequest'],
    ['with an unknown member', { speed: 9 }, 422, 'InvalidRequest'],
    ['with pins that are no list', { datasets: 'all' }, 422, 'InvalidRequest'],
  ])('%s is told so', async (_what, change, status, kind) => {
    expect((await verify(signed({ input: change }))).refusal).toBe(`${status} ${kind}`)
  })

  it('with a pin without block is unpinned', async () => {
    const datasets = input.datasets.map(({ id, alias }) => ({ id, alias }))
    const answer = await verify(signed({ input: { datasets } }))
    expect(answer.at('error')).toMatchObject({ kind: 'InvalidRequest::UnpinnedDataset', dataset_id: datasets[0]?.id })
  })

  it('that names a dataset beside those it pins is unpinned, with the place of the name', async () => {
    const query = 'select city from "acme/sales" union all select city from "acme/other"'
    const answer = await verify(signed({ input: { query } }))
    expect(answer.at('error.kind')).toBe('InvalidRequest::UnpinnedDataset')
    expect(answer.at('position.offset')).toBe(query.indexOf('"acme/other"'))
  })

  it('of unknown datasets and blocks names them', async () => {
    const [pin] = input.datasets
    const unknownId = `did:odf:fed01${'0'.repeat(64)}`
    const dataset = await verify(signed({ input: { datasets: [{ ...pin, id: unknownId }] } }))
    expect(dataset.at('error')).toMatchObject({ kind: 'VerificationFailed::DatasetNotFound', dataset_id: unknownId })
    // A block of another dataset is as unknown as one that is nowhere.
    for (const blockHash of [`f1620${'0'.repeat(64)}`, otherDataset.blockHash]) {
      const block = await verify(signed({ input: { datasets: [{ ...pin, blockHash }] } }))
      expect(block.at('error')).toMatchObject({
        kind: 'VerificationFailed::DatasetBlockNotFound',
        dataset_id: pin?.id,
        block_hash: blockHash,
      })
    }
  })

  it('with a pin that the statement does not use verifies', async () => {
    expect((await verify(signed({ input: { datasets: [...input.datasets, otherDataset] } }))).at('ok')).toBe(true)
  })

  it('that pins one name twice, and differently, is refused', async () => {
    const [pin] = input.datasets
    const answer = await verify(
      signed({ input: { datasets: [...input.datasets, { ...otherDataset, alias: pin?.alias }] } }),
    )
    expect(answer.refusal).toBe('422 InvalidRequest')
  })

  it('with sub-queries of the wrong shape is refused', async () => {
    const answer = await verify(signed({ subQueries: [{ input: {} }] }))
    expect(answer.refusal).toBe('422 InvalidRequest')
    expect(answer.at('message')).toContain('subQueries[0]')
  })
})

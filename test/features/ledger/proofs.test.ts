// Proofs that a node serves, judged by the library alone: of every block, under the policy that the node names; what is not there
// yet, what never will be; and that nobody has one who may not read the dataset.

import { describe, expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { judgeProof, type ProofVerdict } from '../../../src/libraries/ledger/judge-proof.ts'
import { parsePolicy, type Policy } from '../../../src/libraries/ledger/policy.ts'
import { type Answer, liveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'

const live = await liveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })

async function policy(): Promise<Policy> {
  const key = await until(
    'a ledger',
    async () => (await live.call('/ledger', { token: null })).at('keys.0') as string | undefined,
  )
  return parsePolicy(utf8(`log ${key}\nquorum none\n`))
}

/** The answer once the ledger has what is asked for. */
async function entered(path: string): Promise<Answer> {
  return await until('an entry', async () => {
    const answer = await live.call(path)
    if (answer.refusal !== '409 NotYetInLedger') return answer
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    return undefined
  })
}

function factsOf(verdict: ProofVerdict) {
  if (verdict.verdict !== 'included') throw new Error(JSON.stringify(verdict))
  return verdict.facts
}

async function token(...scopes: string[]): Promise<string> {
  const made = await live.call('/tokens', {
    method: 'POST',
    json: { name: scopes.join(), scopes, datasets: ['acme/*'] },
  })
  return String(made.at('token'))
}

describe('the proof of a block', () => {
  test('shows each block of a public dataset at its place, in both forms', async () => {
    for (const city of ['Oslo', 'Bergen', 'Athens']) await live.ingest('acme/weather', [{ city }], '?create=true')
    const id = String((await live.call('/acme/weather')).at('id'))
    const blocks = (await live.call('/acme/weather/blocks')).at('blocks') as { hash: string; sequence: number }[]
    expect(blocks.length).toBeGreaterThan(5)
    for (const { hash, sequence } of blocks) {
      const proof = await entered(`/acme/weather/blocks/${hash}/proof`)
      expect(proof.headers).toMatchObject({
        'content-type': 'text/plain; charset=utf-8',
        'ledger-quorum': 'none',
        'cache-control': 'no-cache',
      })
      const json = await live.call(`/acme/weather/blocks/${hash}/proof?format=json`)
      for (const bytes of [proof.bytes, json.bytes]) {
        expect(factsOf(judgeProof(bytes, await policy()))).toMatchObject({
          kind: 'block',
          dataset: id,
          block: hash,
          sequence,
        })
      }
    }
  })

  test('is asked for in two forms, and of blocks that are there', async () => {
    const head = String(await live.head('acme/weather'))
    expect((await live.call(`/acme/weather/blocks/${head}/proof?format=cbor`)).refusal).toBe('400 InvalidParameter')
    expect((await live.call(`/acme/weather/blocks/f1620${'0'.repeat(64)}/proof`)).refusal).toBe('404 BlockNotFound')
    expect((await live.call(`/acme/weather/blocks/x/proof`)).refusal).toBe('400 InvalidParameter')
    expect((await live.call(`/acme/nowhere/blocks/${head}/proof`)).refusal).toBe('404 DatasetNotFound')
  })
})

describe('a private dataset', () => {
  test('has no proof while it is not entered, and says which member enters it', async () => {
    await live.call('/acme/secret', { method: 'PUT', json: { visibility: 'private' } })
    await live.ingest('acme/secret', [{ a: 1 }], '?create=true')
    const answer = await live.call(`/acme/secret/blocks/${String(await live.head('acme/secret'))}/proof`)
    expect([answer.refusal, String(answer.at('hint'))]).toEqual([
      '404 NoSuchProof',
      expect.stringContaining('"ledger"'),
    ])
  })

  test('that is entered shows its proofs to its readers alone', async () => {
    await live.ingest('acme/turned', [{ a: 1 }], '?create=true')
    const head = String(await live.head('acme/turned'))
    const path = `/acme/turned/blocks/${head}/proof`
    await entered(path)
    await live.call('/acme/turned', { method: 'PATCH', json: { visibility: 'private' } })
    expect((await live.call(path, { token: await token('read') })).status).toBe(200)
    expect((await live.call(path, { token: await token('ingest') })).refusal).toBe('403 Forbidden')
    expect((await live.call(path, { token: null })).refusal).toBe('404 DatasetNotFound')
    // Readers of another dataset learn nothing by its hash.
    expect((await live.call(`/acme/weather/blocks/${head}/proof`, { token: null })).refusal).toBe('404 BlockNotFound')
  })
})

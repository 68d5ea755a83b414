// The JavaScript client and the ledger of a real node: receipts with a promise and proofs, kept as they came, judged later without the
// node; what was altered, what the policy does not know, what has no proof.

import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import {
  type FileVerdict,
  ProofstreamClient,
  ProofstreamError,
  type ProofTarget,
  type Receipt,
  type ReceiptAnswer,
} from '../../../src/libraries/client/client.ts'
import { generateNodeKey } from '../../../src/libraries/proof/sign.ts'
import { runsWith } from '../../helpers/features.ts'
import { type LiveNode, startLiveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'
import { keyText, twoOfThree } from '../ledger/keys.ts'

/** Verifying asks nobody. */
const offline = new ProofstreamClient('http://127.0.0.1:1', { fetch: () => Promise.reject(new Error('asked')) })

/** What a call is refused with. */
async function refusal(call: () => unknown): Promise<unknown> {
  try {
    return await call()
  } catch (error) {
    return error instanceof ProofstreamError ? [error.status, error.kind] : error
  }
}

const flipped = (text: string, at: number): Uint8Array => {
  const bytes = new TextEncoder().encode(text)
  return bytes.with(at, (bytes[at] ?? 0) ^ 1)
}

describe.runIf(runsWith('ledger'))('with a ledger', () => {
  let live: LiveNode
  let node: ProofstreamClient
  let policy = ''
  let receipt: Receipt
  let signed: ReceiptAnswer

  beforeAll(async () => {
    live = await startLiveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })
    node = new ProofstreamClient(live.node.url, { token: live.adminToken })
    await until('a ledger', async () => (await live.call('/ledger')).at('state') === 'running')
    policy = (await live.call('/ledger/policy')).text
    await live.call('/acme/kept', { method: 'PUT', json: { visibility: 'public', proofs: 'rows' } })
    receipt = await node.ingest('acme/kept', [{ a: 1 }, { a: 2 }], { waitSeconds: 30 })
    signed = await node.receipt(receipt.receiptId, { signed: true })
  })
  afterAll(() => live.stop())

  test('a receipt is read as of now, and signed with its promise where that is asked for', async () => {
    const plain = await node.receipt(receipt.receiptId)
    expectTypeOf(plain).toEqualTypeOf<ReceiptAnswer>()
    expect(plain.receipt).toEqual(JSON.parse(plain.text))
    expect(plain.receipt).toMatchObject({ receiptId: receipt.receiptId, status: 'committed', block: receipt.block })
    expect(plain.receipt).not.toHaveProperty('proof')
    const { proof, promise, ...rest } = signed.receipt
    expect({ ...rest, proof, promise }).toEqual({
      ...plain.receipt,
      batchId: expect.any(String),
      time: expect.stringMatching(/Z$/),
      proof: expect.objectContaining({ verificationMethod: live.node.did }),
      promise: expect.objectContaining({ ledger: 'data.example/ledger' }),
    })
    // Each is signed anew.
    const {
      time: _,
      proof: __,
      ...again
    } = (await live.call(`/receipts/${receipt.receiptId}?include=signature`)).json as Receipt
    expect(JSON.parse(signed.text)).toMatchObject(again)
    expect(await refusal(() => node.receipt('none'))).toEqual([404, 'ReceiptNotFound'])
  })

  test('a saved receipt is judged by its promise, and is nothing once a byte is another', async () => {
    const { promise } = signed.receipt
    const by = new Date(promise?.by ?? '')
    const promised = offline.verify(signed.text, { policy, signer: live.node.did, now: by })
    expectTypeOf(promised).toEqualTypeOf<FileVerdict>()
    expect(promised).toMatchObject({
      kind: 'receipt',
      verdict: 'promised, not yet due',
      facts: { signer: live.node.did, receiptId: receipt.receiptId },
    })
    const later = new Date(by.getTime() + 3_600_000)
    const notJudged = (missing: string): object => ({ verdict: 'not judged', missing })
    expect(offline.verify(signed.text, { policy, now: later })).toMatchObject(notJudged('signer'))
    const named = { policy, signer: live.node.did, now: later }
    expect(offline.verify(signed.text, named)).toMatchObject(notJudged('ledger'))
    expect(offline.verify(signed.text, {})).toMatchObject(notJudged('policy'))
    const hash = String((await live.call('/ledger')).at('statement'))
    const beside = [await node.proof(receipt), (await live.call(`/ledger/statements/${hash}/proof`)).text]
    expect(offline.verify(signed.text, { policy, now: later, beside })).toMatchObject({
      verdict: 'included',
      facts: { boundBy: { ledger: 'data.example/ledger', index: 0 }, shown: expect.arrayContaining(['offsets']) },
    })
    const committed = signed.text.replace('"received":2', '"received":3')
    expect(committed).not.toBe(signed.text)
    expect(await refusal(() => offline.verify(committed, { policy }))).toEqual([0, 'Altered'])
    const { did: another } = generateNodeKey()
    expect(await refusal(() => offline.verify(signed.text, { policy, signer: another }))).toEqual([0, 'Altered'])
    for (let at = 0; at < signed.text.length; at += 5) {
      const changed = flipped(signed.text, at)
      const refused = await refusal(() => offline.verify(changed, { policy }))
      const kind = Array.isArray(refused) ? refused[1] : offline.verify(changed, { policy }).verdict
      // What is no receipt any more is judged as an answer; one whose proof has another name is not signed.
      expect(['Altered', 'InvalidRequest', 'MalformedJson', 'impossible', 'not judged']).toContain(kind)
    }
  })

  test('a batch, a block and a row have a proof in both forms, which a policy is enough to judge', async () => {
    const block = receipt.block?.hash ?? ''
    const batch = expect.objectContaining({ bodyHash: receipt.bodyHash, offsets: { start: 0, end: 1 } })
    const targets: readonly (readonly [string, ProofTarget, record: unknown])[] = [
      ['batch', receipt, batch],
      ['block', { dataset: 'acme/kept', block }, undefined],
      ['row', { dataset: 'acme/kept', offset: 1n }, expect.objectContaining({ offset: 1, a: 2 })],
    ]
    for (const [kind, target, value] of targets) {
      const text = await node.proof(target)
      expect(text).toMatch(/^c2sp\.org\/tlog-proof@v1\n/)
      const json = await node.proof(target, { as: 'json' })
      expect(JSON.parse(json)).toMatchObject({ ledger: expect.anything() })
      for (const file of [text, json, new TextEncoder().encode(text)]) {
        const judged = offline.verify(file, { policy })
        if (judged.kind !== 'proof' || judged.verdict !== 'included') throw new Error(JSON.stringify(judged))
        expect('record' in judged.facts ? judged.facts.record?.value : undefined).toEqual(value)
        expect(judged).toMatchObject({
          quorum: 'none',
          facts: { kind, dataset: receipt.dataset.id, sequence: receipt.block?.sequence },
        })
      }
    }
  })

  test('a proof with a byte changed is thrown', async () => {
    const text = await node.proof(receipt)
    for (let at = 0; at < text.length; at += 3) {
      const judged = await refusal(() => offline.verify(flipped(text, at), { policy }))
      expect([at, Object(judged).verdict]).not.toEqual([at, 'included'])
    }
    const error = await refusal(() => offline.verify(text.replace(/\n(?=[A-Za-z0-9+/]{43}=\n)/, '\nA'), { policy }))
    expect(error).toEqual([0, 'Altered'])
  })

  test('a policy of another ledger cannot judge a proof, and one that nobody can read is refused', async () => {
    const text = await node.proof(receipt)
    const other = `log ${keyText('other.example', 1, 1)}\nquorum none\n`
    expect(offline.verify(text, { policy: other })).toMatchObject({
      kind: 'proof',
      verdict: 'not judged',
      missing: 'policy',
    })
    expect(offline.verify(text, {})).toMatchObject({ verdict: 'not judged', missing: 'policy' })
    const demanding = `${policy.replace(/^quorum.*\n/m, '')}${twoOfThree.replace(/^log.*\n/gm, '')}`
    expect(offline.verify(text, { policy: demanding })).toMatchObject({ verdict: 'witness quorum not met' })
    expect(await refusal(() => offline.verify(text, { policy: 'trust me\n' }))).toEqual([0, 'InvalidParameter'])
    const now = new Date(Number.NaN)
    expect(await refusal(() => offline.verify(text, { policy, now }))).toEqual([0, 'InvalidParameter'])
  })

  test('what never has a proof says so, and what has none yet after the repeats', async () => {
    await live.call('/acme/hidden', { method: 'PUT', json: { visibility: 'private' } })
    const hidden = await node.ingest('acme/hidden', [{ a: 1 }], { create: true, waitSeconds: 30 })
    expect(await refusal(() => node.proof(hidden))).toEqual([404, 'NoSuchProof'])
    expect(await refusal(() => node.proof({ dataset: 'acme/kept', offset: 9 }))).toEqual([404, 'NoSuchProof'])
    expect(await refusal(() => node.proof({ dataset: 'kept', offset: 9 }))).toEqual([0, 'InvalidName'])
  })

  test('what has no proof yet says so after the repeats', async () => {
    const slow = await startLiveNode({ 'ledger-delay': '1h' })
    try {
      let tried = 0
      const early = new ProofstreamClient(slow.node.url, {
        token: slow.adminToken,
        // The node asks for a pause of a quarter of an hour; without that the client takes its own.
        fetch: async (url, init) => {
          tried++
          const answer = await fetch(url, init)
          return new Response(answer.body, { status: answer.status })
        },
      })
      const taken = await early.ingest('acme/early', [{ a: 1 }], { create: true, waitSeconds: 30 })
      tried = 0
      expect(await refusal(() => early.proof(taken))).toEqual([409, 'NotYetInLedger'])
      expect(tried).toBe(6)
    } finally {
      await slow.stop()
    }
  })

  test('a saved answer is judged as before', async () => {
    const { text } = await node.query('select max(a) as most from acme.kept', { proof: true })
    const success = offline.verify(text, live.node.did)
    expect(offline.verify(text, { policy, signer: live.node.did })).toEqual({
      ...success,
      kind: 'answer',
      verdict: 'verified',
    })
    expect(success).not.toHaveProperty('kind')
    const changed = text.replace('"most":2', '"most":3')
    for (const by of [undefined, live.node.did, {}, { policy }]) {
      const judged = (): unknown => (typeof by === 'object' ? offline.verify(changed, by) : offline.verify(changed, by))
      expect(await refusal(judged)).toEqual([0, 'InvalidRequest::OutputHash'])
    }
    const { did: another } = generateNodeKey()
    expect(await refusal(() => offline.verify(text, { signer: another }))).toEqual([0, 'OtherSigner'])
  })
})

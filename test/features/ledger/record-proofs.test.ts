// Proofs of batches and rows that a node serves, judged by the library alone; what has none, and why; and that a proof shows the
// salts of what it proves and no others.

import { describe, expect, test } from 'vitest'
import { toHex, utf8 } from '../../../src/libraries/base/bytes.ts'
import { sha256Hex } from '../../../src/libraries/base/ids/native-crypto.ts'
import { toPlain } from '../../../src/libraries/base/json/json.ts'
import { judgeProof } from '../../../src/libraries/ledger/judge-proof.ts'
import { parsePolicy, type Policy } from '../../../src/libraries/ledger/policy.ts'
import { batchSalt, rowSalt } from '../../../src/libraries/ledger/roots.ts'
import { blockSalt, secretOf, secretsFromJson } from '../../../src/libraries/ledger/secrets.ts'
import { type Answer, liveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'

const live = await liveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })

async function policy(): Promise<Policy> {
  const key = await until('a ledger', async () => (await live.call('/ledger')).at('keys.0'))
  return parsePolicy(utf8(`log ${String(key)}\nquorum none\n`))
}

async function entered(path: string): Promise<Answer> {
  return await until('an entry', async () => {
    const answer = await live.call(path)
    return answer.refusal === '409 NotYetInLedger' ? undefined : answer
  })
}

/** What a proof shows, which both forms of it do. */
async function shownBy(path: string) {
  const text = await entered(path)
  const json = await live.call(`${path}?format=json`)
  const by = await policy()
  const [verdict, same] = [text, json].map(({ bytes }) => judgeProof(bytes, by))
  if (verdict?.verdict !== 'included' || verdict.facts.kind === 'statement')
    throw new Error(`${text.text} ${JSON.stringify(verdict)}`)
  expect(same).toMatchObject({ verdict: 'included', facts: { kind: verdict.facts.kind, record: verdict.facts.record } })
  const { record, ...rest } = verdict.facts
  return { ...rest, ...(record && { ...record, value: toPlain(record.value) }), text, json }
}

const put = async (alias: string, members: object): Promise<Answer> =>
  await live.call(`/acme/${alias}`, { method: 'PUT', json: members })

describe('the proof of a batch', () => {
  test('says what became of a body, by its hash', async () => {
    const body = '{"a":1}\n{"a":2}\n'
    await live.ingest('acme/taken', [{ a: 0 }], '?create=true')
    const posted = await live.ingest('acme/taken', [{ a: 1 }, { a: 2 }])
    const proof = await shownBy(`/receipts/${String(posted.at('receiptId'))}/proof`)
    expect(proof).toMatchObject({
      kind: 'batch',
      dataset: posted.at('dataset.id'),
      sequence: posted.at('block.sequence'),
      value: { bodyHash: `f1220${sha256Hex(utf8(body))}`, status: 'committed', offsets: { start: 1, end: 2 } },
    })
  })

  test('shows no other batch of its block, nor their salts', async () => {
    await put('many', { visibility: 'public', schema: { fields: [{ name: 'a', type: 'Int64' }] } })
    const posts = await Promise.all(Array.from({ length: 20 }, (_, a) => live.ingest('acme/many', [{ a }])))
    await entered(`/receipts/${String(posts[0]?.at('receiptId'))}/proof`)
    const metadata = await live.call('/acme/many/metadata?include=ledger')
    const nodes = secretsFromJson(metadata.at('output.ledger.keys') as [string, string][])
    const ids = new Set<string>()
    for (const post of posts) {
      const {
        sequence,
        index = 0,
        count = 0,
        value,
        text,
        json,
      } = await shownBy(`/receipts/${String(post.at('receiptId'))}/proof`)
      ids.add(String(Object(value)['id']))
      const secret = secretOf(nodes, sequence) ?? new Uint8Array()
      const shown = `${Buffer.from(/^extra (.*)$/m.exec(text.text)?.[1] ?? '', 'base64').toString()} ${json.text}`
      const salts = Array.from({ length: count }, (_, at) => toHex(batchSalt(secret, at)))
      expect(salts.filter((salt) => shown.includes(salt))).toEqual([salts[index]])
      for (const other of [blockSalt(secret), secret]) expect(shown).not.toContain(toHex(other))
    }
    expect(ids.size).toBe(posts.length)
  })

  test('is told from that of a rejected copy under its key', async () => {
    const headers = { 'content-type': 'application/x-ndjson', prefer: 'wait=20' }
    const head = String(await live.head('acme/many'))
    const stale = await live.call('/acme/many/ingest', {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': 'k1' },
      body: '{"a":100}\n',
    })
    expect(stale.status).toBe(200)
    const repeated = await live.call('/acme/many/ingest', {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': 'k1' },
      body: '{"a":100}\n',
    })
    const refused = await live.call('/acme/many/ingest', {
      method: 'POST',
      headers: { ...headers, 'if-match': head },
      body: '{"a":101}\n',
    })
    expect([repeated.at('replayed'), refused.refusal]).toEqual([true, '412 HeadMoved'])
    const proofs = [stale, repeated].map(
      async (post) => await shownBy(`/receipts/${String(post.at('receiptId'))}/proof`),
    )
    const [first, second] = await Promise.all(proofs)
    expect(first?.value).toEqual(second?.value)
  })

  test('is for whoever may see the receipt, and nobody else', async () => {
    await put('turned', { visibility: 'public', schema: { fields: [{ name: 'a', type: 'Int64' }] } })
    const scopes = async (...of: string[]): Promise<string> =>
      String((await live.call('/tokens', { method: 'POST', json: { name: 't', scopes: of } })).at('token'))
    const [sender, other, reader] = [await scopes('ingest'), await scopes('ingest'), await scopes('read')]
    const posted = await live.call('/acme/turned/ingest', {
      method: 'POST',
      token: sender,
      headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=20' },
      body: '{"a":1}\n',
    })
    const path = `/receipts/${String(posted.at('receiptId'))}/proof`
    await entered(path)
    await live.call('/acme/turned', { method: 'PATCH', json: { visibility: 'private' } })
    const statuses = []
    for (const token of [sender, reader, other, null]) statuses.push((await live.call(path, { token })).refusal)
    expect(statuses).toEqual(['200 undefined', '200 undefined', '404 ReceiptNotFound', '404 ReceiptNotFound'])
    expect((await live.call('/receipts/nonsense/proof')).refusal).toBe('404 ReceiptNotFound')
  })

  test('is none of a batch without records, nor of a dataset that is not entered', async () => {
    const empty = await live.ingest('acme/many', [])
    const nothing = await live.call(`/receipts/${String(empty.at('receiptId'))}/proof`)
    expect(nothing.refusal).toBe('404 NoSuchProof')
    await put('kept', { visibility: 'public', ledger: false })
    const posted = await live.ingest('acme/kept', [{ a: 1 }], '?create=true')
    const kept = await live.call(`/receipts/${String(posted.at('receiptId'))}/proof`)
    expect([kept.refusal, String(kept.at('hint'))]).toEqual(['404 NoSuchProof', expect.stringContaining('"ledger"')])
  })
})

describe('the proof of a row', () => {
  const rows = [
    { at: '2026-01-01T00:00:00Z', city: 'Oslo', t: -3.25, n: 7, on: true },
    { at: '2026-01-01T00:01:00Z', city: 'Zürich "x" \u{1f30d}', t: null, n: 9007199254740993n, on: false },
    { at: '2026-01-01T00:02:00Z', city: null, t: 1e300, n: -1, on: null },
  ]
  const lines = rows.map((row) =>
    JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
  )

  test('shows the row as /tail prints it, and no other', async () => {
    await put('rows', { visibility: 'public', proofs: 'rows' })
    await live.ingest('acme/rows', [{ city: 'first', t: 1.5, n: 1.5, on: true }], '?create=true')
    const posted = await live.call('/acme/rows/ingest?unknownFields=add', {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=20' },
      body: lines.join('\n'),
    })
    expect(posted.status).toBe(200)
    const tail = (await live.call('/acme/rows/tail')).at('data') as Record<string, unknown>[]
    await entered('/acme/rows/rows/0/proof')
    const nodes = secretsFromJson(
      (await live.call('/acme/rows/metadata?include=ledger')).at('output.ledger.keys') as [string, string][],
    )
    for (const [offset, row] of tail.entries()) {
      const proof = await shownBy(`/acme/rows/rows/${offset}/proof`)
      expect(proof).toMatchObject({ kind: 'row', value: { offset } })
      // A row of a block has the columns of its block.
      const { at, ...first } = row
      expect(proof.value).toEqual(offset === 0 ? first : { ...first, at })
      const secret = secretOf(nodes, proof.sequence) ?? new Uint8Array()
      const shown = Buffer.from(/^extra (.*)$/m.exec(proof.text.text)?.[1] ?? '', 'base64').toString()
      const salts = tail.map((_, at) => toHex(rowSalt(secret, at)))
      expect(salts.filter((salt) => shown.includes(salt))).toEqual([salts[offset]])
    }
  })

  test('is none where there is no such row, where the dataset does not say so, and where its line is too long', async () => {
    expect((await live.call('/acme/rows/rows/99/proof')).refusal).toBe('404 NoSuchProof')
    expect((await live.call('/acme/rows/rows/-1/proof')).refusal).toBe('400 InvalidName')
    const other = await entered('/acme/taken/rows/0/proof')
    expect([other.refusal, String(other.at('hint'))]).toEqual(['404 NoSuchProof', expect.stringContaining('"proofs"')])
    await put('long', { visibility: 'public', proofs: 'rows' })
    await live.ingest('acme/long', [{ text: 'x'.repeat(60_000) }], '?create=true')
    const long = await entered('/acme/long/rows/0/proof')
    expect([long.refusal, String(long.at('hint'))]).toEqual(['404 NoSuchProof', expect.stringContaining('format=json')])
    const json = await live.call('/acme/long/rows/0/proof?format=json')
    expect(judgeProof(json.bytes, await policy()).verdict).toBe('included')
  })
})

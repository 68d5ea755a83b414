// What the ledger says in answers of other routes: promises in receipts, proofs beside signed answers, and the secrets by which a
// reader recomputes the entries of a dataset.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fromHex, toHex, utf8 } from '../../../src/libraries/base/bytes.ts'
import { fromPlain, parseJson } from '../../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../../src/libraries/base/json/value.ts'
import { blockTag, datasetTag, entryBytes, noRoot, promisedEntry } from '../../../src/libraries/ledger/entry.ts'
import { judgeProof } from '../../../src/libraries/ledger/judge-proof.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { parseTlogProof } from '../../../src/libraries/ledger/tlog-proof.ts'
import { parseDocument } from '../../../src/libraries/ledger/proof-document.ts'
import { blockSalt, secretOf, secretsFromJson } from '../../../src/libraries/ledger/secrets.ts'
import { receiptDomain, signerOf } from '../../../src/libraries/ledger/signed-document.ts'
import { type LiveNode, liveNode } from '../../helpers/live-node.ts'
import { blocksOf } from '../../helpers/page-blocks.ts'
import { runShell } from '../../helpers/run-node.ts'
import { until } from '../../helpers/until.ts'

const live = await liveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })
const slow = await liveNode({ 'ledger-origin': 'slow.example/ledger', 'ledger-delay': '1h' })
const bare = await liveNode({ without: 'ledger' })

const policy = async () => parsePolicy(utf8(`log ${String((await live.call('/ledger')).at('keys.0'))}\nquorum none\n`))

/** The proof of a block, once it is there, with the bytes of its entry. */
async function proofOf(alias: string, hash: string) {
  const { bytes } = await until('an entry', async () => {
    const answer = await live.call(`/${alias}/blocks/${hash}/proof`)
    return answer.status === 409 ? undefined : answer
  })
  const document = parseDocument(parseTlogProof(bytes).extra ?? new Uint8Array())
  if (document.kind === 'newer') throw new Error('newer')
  return { bytes, entry: document.entry }
}

async function signedReceipt(node: LiveNode, alias: string) {
  const posted = await node.ingest(alias, [{ a: 1 }], '?create=true')
  const signed = await node.call(`/receipts/${String(posted.at('receiptId'))}?include=signature`)
  // An object, as it is signed.
  expect(signerOf(receiptDomain, fromPlain(signed.json) as JsonObject)).toBe(node.node.did)
  return signed
}

describe('a signed receipt', () => {
  test('promises the entry that comes', async () => {
    await until('a ledger', async () => ((await live.call('/ledger')).at('size') === undefined ? undefined : true))
    const signed = await signedReceipt(live, 'acme/promised')
    const { by, ledger, datasetSalt = '', blockSalt: salt = '' } = signed.at('promise') as Record<string, string>
    expect(ledger).toBe('data.example/ledger')
    expect(Date.parse(String(by)) - Date.parse(String(signed.at('times.committed')))).toBe(31_000)
    const came = await proofOf('acme/promised', String(signed.at('block.hash')))
    const dataset = { id: String(signed.at('dataset.id')), salt: fromHex(datasetSalt) ?? utf8('') }
    const block = { hash: String(signed.at('block.hash')), sequence: Number(signed.at('block.sequence')) }
    const promised = promisedEntry({ dataset, block: { ...block, salt: fromHex(salt) ?? utf8('') } })
    expect(toHex(came.entry.subarray(0, 73))).toBe(toHex(promised))
  })

  test('and its proof are had as the page says', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'proofstream-receipt-'))
    await live.ingest('acme/weather', [{ a: 1 }], '?create=true')
    const posted = await live.ingest('acme/promised', [{ a: 3 }])
    const env = { TOKEN: live.adminToken, RECEIPT: String(posted.at('receiptId')) }
    const blocks = blocksOf('docs/ledger.md').filter(({ text }) => text.startsWith('curl -sSf'))
    for (const { text } of blocks) {
      const script = text.replaceAll('http://localhost:8080', live.node.url)
      expect(await runShell(script, { cwd: folder, env })).toMatchObject({ code: 0 })
    }
    const [receipt, proof] = [
      await readFile(join(folder, 'receipt.json')),
      await readFile(join(folder, 'receipt.tlog-proof')),
    ]
    expect(signerOf(receiptDomain, parseJson(receipt) as JsonObject)).toBe(live.node.did)
    expect(judgeProof(proof, await policy())).toMatchObject({ verdict: 'included', facts: { kind: 'batch' } })
    await rm(folder, { recursive: true })
  })

  test('promises nothing of a dataset that is not entered, nor where no ledger is kept', async () => {
    await live.call('/acme/own', { method: 'PUT', json: { visibility: 'private' } })
    expect((await signedReceipt(live, 'acme/own')).at('promise')).toBeUndefined()
    expect((await signedReceipt(bare, 'acme/own')).at('promise')).toBeUndefined()
  })
})

describe('include=Ledger', () => {
  const sql = 'select count(*) n from "acme/promised" p, "acme/asked" a'

  test('has the proofs of the blocks that an answer is of, beside what is signed', async () => {
    await live.ingest('acme/asked', [{ a: 1 }], '?create=true')
    for (const alias of ['acme/promised', 'acme/asked']) await proofOf(alias, String(await live.head(alias)))
    const answer = await live.query(sql, { include: ['Proof', 'ledger'] })
    const datasets = answer.at('input.datasets') as { id: string; blockHash: string }[]
    const proofs = answer.at('ledger') as { id: string; blockHash: string; proof: string }[]
    expect(proofs.map(({ id, blockHash }) => ({ id, blockHash }))).toEqual(
      datasets.map(({ id, blockHash }) => ({ id, blockHash })),
    )
    for (const { id, blockHash, proof } of proofs) {
      const verdict = judgeProof(utf8(proof), await policy())
      expect(verdict).toMatchObject({ verdict: 'included', facts: { dataset: id, block: blockHash } })
    }
    expect(answer.at('input.include')).toEqual(['Input', 'Proof', 'Schema'])
    const verified = await live.call('/verify', {
      method: 'POST',
      body: answer.text,
      headers: { 'content-type': 'application/json' },
    })
    expect(verified.at('ok')).toBe(true)
    const { ledger: _, ...rest } = answer.json as Record<string, unknown>
    expect((await live.query(sql, { include: ['Proof'] })).json).toEqual(rest)
    const got = await live.call(`/query?query=${encodeURIComponent(sql)}&include=Ledger`)
    expect([got.headers.etag, (got.at('ledger') as unknown[]).length]).toEqual([undefined, 2])
  })

  test('has them in the answer of a saved query too', async () => {
    await live.ingest('acme/kept', [{ a: 1 }], '?create=true')
    const hash = String(await live.head('acme/kept'))
    await proofOf('acme/kept', hash)
    await live.call('/q/kept', { method: 'PUT', json: { query: 'select a from "acme/kept" where a > $least' } })
    const answer = await live.call('/q/kept?least=0&include=Input,Ledger')
    expect(answer.at('output.data')).toEqual([[1]])
    expect(judgeProof(utf8(String(answer.at('ledger.0.proof'))), await policy())).toMatchObject({
      verdict: 'included',
      facts: { block: hash },
    })
    expect(answer.headers.etag).toBeUndefined()
  })

  test('says by when there is to be one, or that there is none, and waits for neither', async () => {
    await slow.ingest('acme/late', [{ a: 1 }], '?create=true')
    await slow.call('/acme/own', { method: 'PUT', json: { visibility: 'private' } })
    await slow.ingest('acme/own', [{ a: 1 }])
    const late = await slow.query('select * from "acme/late"', { include: ['Input', 'Ledger'] })
    const byMs = Date.parse(String(late.at('ledger.0.notYet')))
    expect(byMs - Date.parse(String(late.at('input.datasets.0.blockTime')))).toBe(3_630_000)
    const own = await slow.query('select * from "acme/own"', { include: ['Ledger'] })
    expect(own.at('ledger.0')).toMatchObject({ noProof: 'The blocks of acme/own are not in the ledger.' })
  })

  test('is refused of files, and where there is no ledger', async () => {
    const csv = await live.query('select * from "acme/asked"', { include: ['Ledger'], dataFormat: 'Csv' })
    expect(csv.refusal).toBe('422 InvalidRequest')
    await bare.ingest('acme/asked', [{ a: 1 }], '?create=true')
    expect((await bare.query('select 1', { include: ['Ledger'] })).refusal).toBe('422 InvalidRequest')
    expect((await bare.call('/query?query=select%201&include=Ledger')).refusal).toBe('400 InvalidParameter')
  })
})

describe('metadata?include=ledger', () => {
  test('has by what a reader recomputes each entry up to the head, and none beyond it', async () => {
    const alias = 'acme/promised'
    const blocks = (await live.call(`/${alias}/blocks`)).at('blocks') as { hash: string; sequence: number }[]
    const id = String((await live.call(`/${alias}`)).at('id'))
    const metadata = await live.call(`/${alias}/metadata?include=ledger`)
    expect([metadata.headers['cache-control'], metadata.headers.etag]).toEqual(['no-store', undefined])
    const salt = fromHex(String(metadata.at('output.ledger.salt'))) ?? new Uint8Array()
    const nodes = secretsFromJson(metadata.at('output.ledger.keys') as [string, string][])
    for (const { hash, sequence } of blocks) {
      const secret = secretOf(nodes, sequence)
      if (secret === undefined) throw new Error(`block ${sequence} has no secret`)
      const roots = { batchRoot: noRoot, rowRoot: noRoot }
      const tags = { datasetTag: datasetTag(salt, id), blockTag: blockTag(blockSalt(secret), hash) }
      const entry = entryBytes({ kind: 'block', sequence, ...tags, ...roots })
      expect(toHex((await proofOf(alias, hash)).entry.subarray(0, 73))).toBe(toHex(entry.subarray(0, 73)))
    }
    expect(secretOf(nodes, blocks.length)).toBeUndefined()
    const first = await live.call(`/${alias}/metadata?include=ledger&at=${blocks.at(-1)?.hash}`)
    const fewer = secretsFromJson(first.at('output.ledger.keys') as [string, string][])
    expect([secretOf(fewer, 0) === undefined, secretOf(fewer, 1)]).toEqual([false, undefined])
  })

  test('is empty where there are none, and for nobody but readers', async () => {
    expect((await live.call('/acme/own/metadata?include=ledger')).json).toEqual({ output: {} })
    expect((await bare.call('/acme/asked/metadata?include=ledger')).json).toEqual({ output: {} })
    await live.call('/acme/asked', { method: 'PATCH', json: { visibility: 'private' } })
    const path = '/acme/asked/metadata?include=ledger'
    expect((await live.call(path, { token: null })).refusal).toBe('404 DatasetNotFound')
    expect((await live.call(path)).at('output.ledger.salt')).toMatch(/^[0-9a-f]{64}$/)
  })
})

test('of a dataset that was deleted, a saved proof still verifies, and the node says that it is gone', async () => {
  await live.ingest('acme/gone', [{ a: 1 }], '?create=true')
  const hash = String(await live.head('acme/gone'))
  const { bytes } = await proofOf('acme/gone', hash)
  const id = String((await live.call('/acme/gone')).at('id'))
  const deleted = await live.call('/acme/gone', { method: 'DELETE', headers: { 'if-match': '*' } })
  expect(deleted.status).toBe(200)
  expect(judgeProof(bytes, await policy())).toMatchObject({ verdict: 'included', facts: { block: hash } })
  expect((await live.call(`/acme/gone/blocks/${hash}/proof`)).refusal).toBe('404 DatasetNotFound')
  expect((await live.call(`/datasets/${id}`)).refusal).toBe('410 DatasetDeleted')
})

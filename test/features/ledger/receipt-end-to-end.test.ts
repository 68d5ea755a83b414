// A receipt of a real node in the hands of somebody who has nothing but files: kept for ever by proofs, worth nothing by the key of a
// thief, and told when the key leaked. By the commands alone.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fromPlain, jsonText, parseJson } from '../../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../../src/libraries/base/json/value.ts'
import { receiptDomain, signDocument } from '../../../src/libraries/ledger/signed-document.ts'
import { nodeKeyFromJson, nodeKeyFromSeed } from '../../../src/libraries/proof/sign.ts'
import { runCommand, type ServedNode, serveNode } from '../../helpers/run-node.ts'
import { until } from '../../helpers/until.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-receipt-'))
afterAll(() => rm(folder, { recursive: true }))
const data = join(folder, 'node')
const flags = ['--ledger-origin', 'data.example/ledger', '--ledger-delay', '1s']

async function call(
  node: ServedNode,
  path: string,
  init: Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const authorization = `Bearer ${(await readFile(join(data, 'token'), 'utf8')).trim()}`
  const answer = await fetch(node.url + path, { ...init, headers: { authorization, ...init.headers } })
  return await answer.text()
}

const members = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown> // an object

async function save(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text)
  return name
}

/** What `verify` prints of each file. */
async function verify(...args: [string, ...string[]]): Promise<Record<string, unknown>[]> {
  const { stdout } = await runCommand(['verify', ...args, '--policy', 'policy'], { cwd: folder })
  return stdout.trim().split('\n').map(members)
}

/** The proof of the newest statement that names what is asked for, once it is there. */
async function statementProof(node: ServedNode, name: string, like: RegExp): Promise<string> {
  const text = await until('the proof of a statement', async () => {
    const hash = String(members(await call(node, '/ledger'))['statement'])
    const statement = await call(node, `/ledger/statements/${hash}`)
    const proof = await call(node, `/ledger/statements/${hash}/proof`)
    return like.test(statement) && proof.startsWith('c2sp.org/tlog-proof@v1\n') ? proof : undefined
  })
  return await save(name, text)
}

/** The receipt of a new batch, signed, and its proof. */
async function receiptOf(node: ServedNode, name: string): Promise<readonly [receipt: string, proof: string]> {
  const headers = { 'content-type': 'application/x-ndjson', prefer: 'wait=30' }
  const posted = await call(node, '/acme/weather/ingest?create=true', {
    method: 'POST',
    headers,
    body: '{"t":1}\n{"t":2}\n',
  })
  const id = String(members(posted)['receiptId'])
  const receipt = await save(`${name}.json`, await call(node, `/receipts/${id}?include=signature`))
  const proof = await until('a proof', async () => {
    const text = await call(node, `/receipts/${id}/proof`)
    return text.startsWith('c2sp.org') ? text : undefined
  })
  return [receipt, await save(`${name}.tlog-proof`, proof)]
}

test('a receipt is judged by its files and by the ledger, and no longer by a key that leaked', async () => {
  const first = await serveNode(data, flags)
  const former = nodeKeyFromJson(await readFile(join(data, 'keys', 'node.json'), 'utf8'))
  let kept: readonly [string, string] = ['', '']
  try {
    await save('policy', await call(first, '/ledger/policy'))
    const of = await receiptOf(first, 'kept')
    kept = of
    const statement = await statementProof(first, 'first.tlog-proof', /"retired":\[\]/)
    const files = [...of, statement] as const
    const byFiles = {
      verdict: 'included',
      boundBy: { ledger: 'data.example/ledger', index: 0 },
      shown: ['dataset', 'block', 'bodyHash', 'status', 'offsets'],
      claimed: [],
    }
    expect((await verify(...files, '--offline'))[0]).toMatchObject(byFiles)
    // The proof of the batch shows all that the receipt says, whoever signed it.
    const [shown] = await verify(...of, '--offline')
    expect(shown).toMatchObject({ verdict: 'included', code: 0, claimed: [] })
    expect(shown).not.toHaveProperty('boundBy')
    expect((await verify(of[0], '--server', first.url))[0]).toMatchObject({
      verdict: 'included',
      boundBy: { ledger: 'data.example/ledger', index: 0 },
      claimed: ['bodyHash', 'status', 'offsets'],
    })
    // A stranger signs the same, and lies of his own; the node lies of a body.
    const receipt = new Map(
      parseJson(new TextEncoder().encode(await readFile(join(folder, of[0]), 'utf8'))) as JsonObject,
    )
    receipt.delete('proof')
    const forged = (key: typeof former, more: object): string =>
      jsonText(signDocument(receiptDomain, new Map([...receipt, ...(fromPlain(more) as JsonObject)]), key))
    const stranger = await save('stranger.json', forged(nodeKeyFromSeed(new Uint8Array(32).fill(9)), {}))
    const lie = await save('lie.json', forged(former, { offsets: { start: 0, end: 99 } }))
    for (const to of [['--offline'], ['--server', first.url]]) {
      const lines = await verify(stranger, lie, of[1], statement, ...to)
      expect(lines).toMatchObject([
        { verdict: 'not judged', missing: 'signer' },
        { verdict: 'promise broken', code: 12 },
        { verdict: 'included' },
        { verdict: 'included' },
      ])
    }
    const [broken] = await verify(lie, of[1], '--server', first.url)
    const evidence = await save('evidence.json', JSON.stringify(broken))
    expect((await verify(evidence, '--offline'))[0]).toMatchObject({ verdict: 'promise broken' })
  } finally {
    await first.end('SIGTERM')
  }
  expect(await runCommand(['key', 'rotate', '--data', data, '--leaked'])).toMatchObject({ code: 0 })
  const next = await serveNode(data, flags)
  try {
    const [receipt, proof] = kept
    const leaked = await statementProof(next, 'leaked.tlog-proof', /"why":"leaked"/)
    const told = { retired: { why: 'leaked' }, signer: former.did }
    expect((await verify(receipt, proof, leaked, '--offline'))[0]).toMatchObject({ verdict: 'included', ...told })
    expect((await verify(receipt, '--server', next.url))[0]).toMatchObject({ verdict: 'included', ...told })
    // A thief signs a promise that is not kept, now and as if it were before.
    const text = new TextEncoder().encode(await readFile(join(folder, receipt), 'utf8'))
    const thiefs = async (name: string, more: object): Promise<string> => {
      const document = new Map(parseJson(text) as JsonObject)
      document.delete('proof')
      const lie = { block: { hash: `f1620${'7'.repeat(64)}`, sequence: 1 }, ...more }
      const all = new Map([...document, ...(fromPlain(lie) as JsonObject)])
      return await save(name, jsonText(signDocument(receiptDomain, all, former)))
    }
    const after = await thiefs('after.json', { time: new Date().toISOString() })
    const before = await thiefs('before.json', {})
    const signerMissing = { verdict: 'not judged', missing: 'signer', ...told }
    expect(await verify(after, before, '--server', next.url)).toMatchObject([signerMissing, signerMissing])
    const of = await receiptOf(next, 'new')
    expect((await verify(...of, leaked, '--offline'))[0]).toMatchObject({ verdict: 'included', claimed: [] })
  } finally {
    await next.end('SIGTERM')
  }
})

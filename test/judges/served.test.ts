// Proofs of blocks, batches and rows as a node serves them, judged by programs of others (go.ts), with every bit changed too.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { judgeProof } from '../../src/libraries/ledger/judge-proof.ts'
import { parsePolicy } from '../../src/libraries/ledger/policy.ts'
import { type Answer, liveNode } from '../helpers/live-node.ts'
import { until } from '../helpers/until.ts'
import { buildJudges, hasGo, run } from './go.ts'

const live = await liveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })
const home = mkdtempSync(join(tmpdir(), 'proofstream-served-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const entered = async (path: string): Promise<Answer> =>
  await until('an entry', async () => {
    const answer = await live.call(path)
    return answer.status === 409 ? undefined : answer
  })

describe.skipIf(!hasGo)('a served proof', () => {
  test('is taken by others as it is, and with no bit changed that counts here', async () => {
    const { judge } = buildJudges(home)
    await live.call('/acme/weather', { method: 'PUT', json: { visibility: 'public', proofs: 'rows' } })
    const posts = [0, 1, 2, 3].map((t) => live.ingest('acme/weather', [{ city: 'Oslo', t }], '?create=true'))
    const [post] = await Promise.all(posts)
    const paths = [
      `/acme/weather/blocks/${String(post?.at('block.hash'))}/proof`,
      `/receipts/${String(post?.at('receiptId'))}/proof`,
      '/acme/weather/rows/3/proof',
    ]
    const proofs: Uint8Array[] = []
    for (const path of paths) proofs.push((await entered(path)).bytes)
    const key = String((await live.call('/ledger')).at('keys.0'))
    const policy = `log ${key}\nquorum none\n`
    const files = proofs.flatMap((bytes) => [bytes, ...changedBits(bytes)])
    const shared = { policy: Buffer.from(policy).toString('base64'), key }
    const lines = files.map((file) => JSON.stringify({ ...shared, proof: Buffer.from(file).toString('base64') }))
    const { stdout, stderr, status } = run(judge, [], { input: lines.join('\n') })
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
    const by = parsePolicy(utf8(policy))
    const taken = files.map((file) => judgeProof(file, by).verdict === 'included')
    expect(taken.filter(Boolean)).toHaveLength(proofs.length)
    // What is taken here they take, too.
    const said = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object) // as main.go prints it
    const all = { torchwood: '', formats: '', sumdb: '' }
    expect(said.filter((_, i) => taken[i])).toEqual(proofs.map(() => all))
  })
})

function changedBits(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: 8 * bytes.length }, (_, bit) => {
    const changed = Uint8Array.from(bytes)
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    return changed
  })
}

// Nodes and witnesses of ours together: a ledger is cosigned by a witness alone and by another node, and of two nodes with one key
// one is.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { nodeKeyFromSeed, nodeKeyToJson } from '../../../src/libraries/proof/sign.ts'
import { type LiveNode, startLiveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'
import { keyText } from '../../libraries/ledger/keys.ts'
import { startAlone } from './alone.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-two-'))
const at = (name: string): string => join(folder, name)
const origin = 'one.example/ledger'
await writeFile(at('key.json'), nodeKeyToJson(nodeKeyFromSeed(new Uint8Array(32).fill(1))))
await writeFile(at('ledgers'), `log ${keyText(origin, 1, 1)}\nquorum none\n`)
const alone = await startAlone(at('ledgers'), at('witness'))
const other = await startLiveNode({ 'ledger-origin': 'other.example/ledger', 'ledger-policy': at('ledgers') })
const otherKey = await until('the key of a witness', async () => {
  const key = (await other.call('/ledger')).at('witness')
  return typeof key === 'string' && key
})
await writeFile(
  at('policy'),
  [
    `witness alone ${alone.key} ${alone.url}`,
    `witness other ${otherKey} ${other.node.url}/ledger/witness`,
    'group both all alone other',
    'quorum both\n',
  ].join('\n'),
)
const options = {
  'ledger-origin': origin,
  'ledger-key': at('key.json'),
  'ledger-delay': '1s',
  'ledger-wait': '1s',
  'ledger-policy': at('policy'),
}
afterAll(async () => {
  await other.stop()
  await alone.end('SIGTERM')
  await rm(folder, { recursive: true })
})

const told = async (node: LiveNode): Promise<{ size: number; quorum: string; state: string }> =>
  (await node.call('/ledger', { token: null })).json as never // as the route answers

const grown = (node: LiveNode, quorum: string): Promise<unknown> =>
  until(`quorum ${quorum}`, async () => {
    const now = await told(node)
    return now.size > 2 && now.quorum === quorum
  })

test('both cosign a ledger; a second node with its key and another history gets no cosignature', async () => {
  const node = await startLiveNode(options)
  try {
    await node.ingest('acme/rows', [{ a: 1 }], '?create=true')
    await grown(node, 'met')
    for (const address of [alone.url, `${other.node.url}/ledger/witness`]) {
      const [, size = ''] = (await (await fetch(`${address}/${await hashOf(origin)}/checkpoint`)).text()).split('\n')
      expect(Number(size)).toBeGreaterThan(2)
    }
    const twin = await startLiveNode(options)
    try {
      await twin.ingest('acme/others', [{ b: 1 }], '?create=true')
      await expect.poll(async () => (await told(twin)).state).toBe('halted')
      expect((await told(twin)).quorum).not.toBe('met')
    } finally {
      await twin.stop()
    }
    const { size } = await told(node)
    await node.ingest('acme/rows', [{ a: 2 }])
    await until('a larger head', async () => (await told(node)).size > size && (await told(node)).quorum === 'met')
  } finally {
    await node.stop()
  }
})

async function hashOf(name: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(name))).toString('hex')
}

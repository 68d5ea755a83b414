// A node that changes its key: the store remembers the keys that signed over it, so its DID document names them and
// their proofs are its own.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/node/config.ts'
import { checkStore } from '../../../src/index.ts'
import { type RunningNode, startNode } from '../../../src/node/node.ts'

const data = await mkdtemp(join(tmpdir(), 'proofstream-keys-'))
afterAll(() => rm(data, { recursive: true }))

function start(): Promise<RunningNode> {
  return startNode(loadConfig({ data, listen: '127.0.0.1:0', 'log-level': 'silent' }))
}

interface DidDocument {
  readonly id: string
  readonly verificationMethod: readonly { readonly id: string; readonly controller: string }[]
  readonly assertionMethod: readonly string[]
}

async function post(node: RunningNode, path: string, body: string): Promise<Response> {
  return await fetch(node.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

describe('a node with another key than before', () => {
  test('names both keys, and calls proofs of the former one its own', async () => {
    const before = await start()
    const proof = await (await post(before, '/query', '{"query":"select 1 as x","include":["proof"]}')).text()
    await before.stop()
    await rm(join(data, 'keys', 'node.json'))
    const after = await start()
    try {
      expect(after.did).not.toBe(before.did)
      const document = (await (await fetch(`${after.url}/.well-known/did.json`)).json()) as DidDocument
      expect(document.id).toBe(after.did)
      expect(document.verificationMethod.map(({ controller }) => controller)).toEqual([after.did, before.did])
      expect(document.assertionMethod).toEqual(document.verificationMethod.map(({ id }) => id))
      const verified = await (await post(after, '/verify', proof)).json()
      expect(verified).toMatchObject({ ok: true, signer: { did: before.did, relation: 'self' } })
    } finally {
      await after.stop()
    }
  })

  test('has a store in which fsck finds a record that was changed', async () => {
    expect((await checkStore(data)).ok).toBe(true)
    const record = join(
      data,
      'store',
      'signers',
      JSON.parse(await readFile(join(data, 'keys', 'node.json'), 'utf8')).did.slice(8),
    )
    await rm(record)
    await writeFile(record, '{"did":"did:key:z6Mkother"}')
    const report = await checkStore(data)
    expect(report.problems).toMatchObject([{ kind: 'RecordDisagrees' }])
  })
})

// A node that changes its key: the store remembers the keys that signed over it, so its DID document names them and
// their proofs are its own.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { toHex } from '../../../src/libraries/base/bytes.ts'
import { nodeKeyFromJson } from '../../../src/libraries/proof/sign.ts'
import { checkStore } from '../../../src/index.ts'
import { type RunningNode, startNode } from '../../../src/app/node.ts'
import { runCommand } from '../../helpers/run-node.ts'

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

  test('says since when a rotated key signs nothing, and of a leaked one that its signature proves nothing', async () => {
    const before = await start()
    const proof = await (await post(before, '/query', '{"query":"select 1 as x","include":["proof"]}')).text()
    const args = ['--data', data]
    const { seed } = nodeKeyFromJson(await readFile(join(data, 'keys', 'node.json')))
    expect(await runCommand(['key', 'rotate', ...args])).toMatchObject({ code: 9 })
    await before.stop()
    const rotated = await runCommand(['key', 'rotate', ...args])
    expect(rotated.code).toBe(0)
    const { did, former, retired } = JSON.parse(rotated.stdout)
    expect(former).toBe(before.did)
    const files = await readdir(data, { recursive: true, withFileTypes: true })
    for (const { parentPath, name } of files.filter((file) => file.isFile()))
      expect([name, (await readFile(join(parentPath, name))).includes(toHex(seed))]).toEqual([name, false])
    const after = await start()
    expect(after.did).toBe(did)
    const document = async (): Promise<DidDocument> =>
      (await (await fetch(`${after.url}/.well-known/did.json`)).json()) as DidDocument
    const methodOf = async (one: string) =>
      (await document()).verificationMethod.find(({ controller }) => controller === one)
    try {
      expect(await methodOf(before.did)).toMatchObject({ expires: retired })
      expect((await document()).assertionMethod).toContain(`${before.did}#${before.did.slice(8)}`)
      const signer = { did: before.did, relation: 'self', retired: { at: retired, why: 'rotated' } }
      expect(await (await post(after, '/verify', proof)).json()).toMatchObject({ ok: true, signer })
      const file = join(data, 'answer.json')
      await writeFile(file, proof)
      const named = ['verify', file, '--signer', before.did, '--server', after.url]
      expect(await runCommand(named)).toMatchObject({ code: 0 })
      const keys = await runCommand(['key', 'show', '--server', after.url])
      const listed: readonly string[] = keys.stdout.match(/did:key:\w+/g) ?? []
      expect([listed[0], listed.includes(before.did)]).toEqual([after.did, true])

      expect((await runCommand(['key', 'rotate', '--leaked', after.did, ...args])).code).not.toBe(0)
      expect((await runCommand(['key', 'rotate', '--leaked', 'did:key:z6Mkstranger', ...args])).code).not.toBe(0)
      const present = await readFile(join(data, 'keys', 'node.json'), 'utf8')
      const told = await runCommand(['key', 'rotate', '--leaked', before.did, ...args])
      expect(told).toMatchObject({ code: 0, stderr: expect.stringContaining('the present key is unchanged') })
      expect(await readFile(join(data, 'keys', 'node.json'), 'utf8')).toBe(present)
      const { retired: at } = JSON.parse(told.stdout)
      // A thief has no time more for what he signs than the node itself had.
      expect(at).toBe(retired)
      expect(await methodOf(before.did)).toMatchObject({ revoked: at })
      expect((await document()).assertionMethod).not.toContain(`${before.did}#${before.did.slice(8)}`)
      const verified = await (await post(after, '/verify', proof)).json()
      expect(verified).toMatchObject({ ok: true, signer: { relation: 'self', retired: { at, why: 'leaked' } } })
      expect(JSON.stringify(verified)).toContain('others can sign with it')
      const checked = await runCommand(['verify', file, '--server', after.url, '-o', 'table'])
      expect(checked.stdout).toContain(`retired because it leaked at ${at}`)
      // Of whom only the present key is expected.
      const expected = ['verify', file, '--signer', after.did, '--server', after.url]
      const other = await runCommand(expected)
      expect(other.code).not.toBe(0)
      expect(other.stderr).toContain(`a key of ${after.url}, by its did.json; it leaked, and signs nothing since ${at}`)
      expect((await runCommand([...expected, '--offline'])).stderr).not.toContain('a key of')
      expect((await checkStore(data)).ok).toBe(true)
    } finally {
      await after.stop()
    }
  })

  test('does not start with a key that was retired, until its rotation is finished', async () => {
    const path = join(data, 'keys', 'node.json')
    const old = await readFile(path, 'utf8')
    expect((await runCommand(['key', 'rotate', '--leaked', '--data', data])).code).toBe(0)
    await writeFile(path, old)
    await expect(start()).rejects.toThrow(/was retired at/)
    const again = await runCommand(['key', 'rotate', '--data', data])
    expect(again.code).toBe(0)
    const node = await start()
    expect(node.did).toBe(JSON.parse(again.stdout).did)
    await node.stop()
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

// The ledger of a real node: each block of a public dataset is an entry, once and in order, under a head that its key has
// signed; strangers learn nothing of private ones; another start goes on; another name or key is refused.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toHex, utf8 } from '../../../src/libraries/base/bytes.ts'
import { blockTag, datasetTag, parseEntry } from '../../../src/libraries/ledger/entry.ts'
import { openHead } from '../../../src/libraries/ledger/open-head.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { allSecrets, blockSalt, datasetSaltOf, secretOf } from '../../../src/libraries/ledger/secrets.ts'
import { entriesOfBundle, tileIn, tileName } from '../../../src/libraries/ledger/tiles.ts'
import { leafHash, treeRoot } from '../../../src/libraries/ledger/tree.ts'
import { liveNode, type LiveNode } from '../../helpers/live-node.ts'
import { repository } from '../../helpers/sources.ts'
import { runCommand, serveNode } from '../../helpers/run-node.ts'

const live = await liveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })

/** The head, judged by its key; and all entries, held against its root. */
async function ledgerOf(node: LiveNode) {
  const { keys, size } = (await node.call('/ledger', { token: null })).json as { keys: string[]; size: number }
  const policy = parsePolicy(utf8(`log ${keys[0]}\nquorum none\n`))
  const opened = openHead((await node.call('/ledger/checkpoint', { token: null })).bytes, policy)
  if (!opened.ok) throw new Error(opened.reason)
  const entries: Uint8Array[] = []
  for (let index = 0; index * 256 < opened.head.size; index++) {
    const tile = tileIn(opened.head.size, 'entries', index)
    if (tile === undefined) throw new Error('no tile')
    const bundle = await fetch(`${node.node.url}/ledger/${tileName(tile)}`)
    entries.push(...entriesOfBundle(new Uint8Array(await bundle.arrayBuffer()), tile.width))
  }
  expect(toHex(treeRoot(entries.map(leafHash)))).toBe(toHex(opened.head.root))
  return { size, entries: entries.map(parseEntry) }
}

async function entriesOfDataset(node: LiveNode, alias: string) {
  const id = String((await node.call(`/${alias}`)).at('id'))
  const key = await readFile(join(node.dataDir, 'store', 'ledger-keys', id.slice('did:odf:'.length))).catch(
    () => undefined,
  )
  if (key === undefined) return []
  const tag = toHex(datasetTag(datasetSaltOf(key), id))
  const { entries } = await ledgerOf(node)
  return entries.filter((entry) => entry.kind === 'block' && toHex(entry.datasetTag) === tag)
}

test('every block of a public dataset is an entry, in order, and none of a private one', async () => {
  await live.call('/acme/secret', { method: 'PUT', json: { visibility: 'private' } })
  await live.ingest('acme/secret', [{ a: 1 }])
  for (const city of ['Oslo', 'Bergen', 'Athens']) await live.ingest('acme/weather', [{ city }], '?create=true')
  const length = Number((await live.call('/acme/weather')).at('blocks'))
  await expect.poll(async () => (await entriesOfDataset(live, 'acme/weather')).length).toBe(length)
  const entries = await entriesOfDataset(live, 'acme/weather')
  expect(entries.map((entry) => entry.kind === 'block' && entry.sequence)).toEqual(Array.from({ length }, (_, i) => i))
  const id = String((await live.call('/acme/weather')).at('id'))
  const key = await readFile(join(live.dataDir, 'store', 'ledger-keys', id.slice('did:odf:'.length)))
  const head = String(await live.head('acme/weather'))
  const secret = secretOf(allSecrets(key), length - 1) ?? new Uint8Array()
  expect(entries.at(-1)).toMatchObject({ blockTag: blockTag(blockSalt(secret), head) })
  expect(await entriesOfDataset(live, 'acme/secret')).toEqual([])
})

test('whether a dataset is entered is its own word, from its first block on, and is never taken back', async () => {
  await live.call('/acme/out', { method: 'PUT', json: { ledger: false } })
  await live.ingest('acme/out', [{ a: 1 }])
  expect((await live.call('/acme/out')).at('ledger')).toBe(false)
  await live.call('/acme/own', { method: 'PUT', json: { visibility: 'private', ledger: true, proofs: 'rows' } })
  const again = { method: 'PUT', json: { visibility: 'private', ledger: true, proofs: 'rows' } }
  expect((await live.call('/acme/own', again)).status).toBe(200)
  await live.ingest('acme/own', [{ a: 1 }])
  const told = (await live.call('/acme/own')).json
  expect(told).toMatchObject({ ledger: true, proofs: 'rows', visibility: 'private' })
  const length = Number((await live.call('/acme/own')).at('blocks'))
  await expect.poll(async () => (await entriesOfDataset(live, 'acme/own')).length).toBe(length)
  expect(await entriesOfDataset(live, 'acme/out')).toEqual([])

  expect((await live.call('/acme/out', { method: 'PATCH', json: { ledger: true } })).status).toBe(200)
  const all = Number((await live.call('/acme/out')).at('blocks'))
  await expect.poll(async () => (await entriesOfDataset(live, 'acme/out')).length).toBe(all)
  const refused = await live.call('/acme/out', { method: 'PATCH', json: { ledger: false } })
  expect(refused.refusal).toBe('409 LedgerKeepsBlocks')
  const hidden = await live.call('/acme/out', { method: 'PATCH', json: { visibility: 'private' } })
  expect(hidden.json).toMatchObject({ visibility: 'private', ledger: true })
  await live.call('/acme/silent', { method: 'PUT', json: { visibility: 'private' } })
  const shown = { method: 'PATCH', json: { visibility: 'public', ledger: false } }
  expect((await live.call('/acme/silent', shown)).json).toMatchObject({ visibility: 'public', ledger: false })
  const plain = await live.call('/acme/own', { method: 'PATCH', json: { proofs: null } })
  expect(plain.at('proofs')).toBeUndefined()
  await live.call('/acme/own', { method: 'PATCH', json: { proofs: 'rows' } })
  const batches = await live.call('/acme/own', { method: 'PATCH', json: { proofs: 'batches' } })
  expect([batches.status, batches.at('proofs')]).toEqual([200, undefined])
  const made = await live.call('/acme/plain', { method: 'PUT', json: { proofs: 'batches' } })
  expect([made.status, (await live.call('/acme/plain')).at('proofs')]).toEqual([201, undefined])
  for (const json of [{ ledger: 'yes' }, { proofs: 'cells' }, { ledger: null }])
    expect([json, (await live.call('/acme/own', { method: 'PATCH', json })).status]).toEqual([json, 422])
})

test('a dataset that is removed at once has all of its blocks in the ledger, and its secret is gone', async () => {
  await live.ingest('acme/brief', [{ a: 1 }], '?create=true')
  await expect.poll(async () => (await entriesOfDataset(live, 'acme/brief')).length).toBeGreaterThan(3)
  const id = String((await live.call('/acme/brief')).at('id'))
  const place = join(live.dataDir, 'store/ledger-keys', id.slice('did:odf:'.length))
  const tag = toHex(datasetTag(datasetSaltOf(await readFile(place)), id))
  const ofTag = async (): Promise<number[]> =>
    (await ledgerOf(live)).entries.flatMap((entry) =>
      entry.kind === 'block' && toHex(entry.datasetTag) === tag ? [entry.sequence] : [],
    )
  await live.ingest('acme/brief', [{ a: 2 }])
  const blocks = Number((await live.call('/acme/brief')).at('blocks'))
  expect((await live.call('/acme/brief?grace=0s', { method: 'DELETE', headers: { 'if-match': '*' } })).status).toBe(200)
  await expect.poll(() => readFile(place).catch(() => 'gone'), { timeout: 60_000 }).toBe('gone')
  // The block of the deletion is one, too.
  await expect.poll(ofTag, { timeout: 30_000 }).toEqual(Array.from({ length: blocks + 1 }, (_, i) => i))
})

test('what the ledger has not is not found, whatever it is called', async () => {
  const names = [
    'statements/x',
    `statements/${'0'.repeat(64)}`,
    'tile/0/999',
    'tile/0/../../origin',
    'tile/x',
    'batches/0',
  ]
  for (const name of names) expect([name, (await fetch(`${live.node.url}/ledger/${name}`)).status]).toEqual([name, 404])
})

test('nobody is told of commits to private datasets, and those that were public go on', async () => {
  await live.ingest('acme/turned', [{ a: 1 }], '?create=true')
  await expect.poll(async () => (await entriesOfDataset(live, 'acme/turned')).length).toBeGreaterThan(3)
  await live.call('/acme/turned', { method: 'PATCH', json: { visibility: 'private' } })
  await live.ingest('acme/turned', [{ a: 2 }])
  const length = Number((await live.call('/acme/turned')).at('blocks'))
  await expect.poll(async () => (await entriesOfDataset(live, 'acme/turned')).length).toBe(length)
  await live.ingest('acme/secret', [{ a: 2 }])
  expect((await live.call('/ledger', { token: null })).at('behind.blocks')).toBe(0)
})

test('a ledger goes on after a start, in a backup and out of it, and another key or name keeps none', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proofstream-ledger-'))
  const at = (name: string): string => join(folder, name)
  const page = await readFile(join(repository, 'docs/ledger.md'), 'utf8')
  const command = /^proofstream serve (--.*)$/m.exec(page)?.[1] ?? ''
  const flags = [...command.split(' '), '--ledger-delay', '1s']
  const about = async (url: string): Promise<{ origin: string; keys: string[]; size: number; state: string }> =>
    (await (await fetch(`${url}/ledger`)).json()) as never // as the route answers
  const grown = async (data: string, least: number, given = flags): Promise<Awaited<ReturnType<typeof about>>> => {
    const node = await serveNode(data, given)
    try {
      const token = (await readFile(join(data, 'token'), 'utf8')).trim()
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson', prefer: 'wait=20' }
      await fetch(`${node.url}/acme/weather/ingest?create=true`, { method: 'POST', headers, body: '{"a":1}\n' })
      await expect.poll(async () => (await about(node.url)).size).toBeGreaterThan(least)
      return await about(node.url)
    } finally {
      await node.end('SIGTERM')
    }
  }
  const first = await grown(at('node'), 3)
  // The store remembers its name.
  const second = await grown(at('node'), first.size, ['--ledger-delay', '1s'])
  expect(second).toMatchObject({ origin: 'data.example.org/ledger', keys: first.keys })
  expect((await runCommand(['backup', at('copy'), '--data', at('node')], {})).code).toBe(0)
  expect((await runCommand(['restore', at('copy'), '--data', at('restored')], {})).code).toBe(0)
  const restored = await grown(at('restored'), second.size)
  expect(restored.keys).toEqual(first.keys)
  const named = await serveNode(at('restored'), ['--ledger-origin', 'another.example/ledger'])
  expect(await about(named.url)).toMatchObject({ origin: first.origin, state: 'halted' })
  expect(named.log()).toContain('is data.example.org/ledger, not another.example/ledger')
  await named.end('SIGTERM')
  await rm(join(at('restored'), 'keys', 'ledger.json'))
  const other = await serveNode(at('restored'), flags)
  const halted = await about(other.url)
  expect(halted).toMatchObject({ state: 'halted', keys: first.keys })
  // What came last may have been entered while the node ended.
  expect(halted.size).toBeGreaterThanOrEqual(restored.size)
  await other.end('SIGTERM')
  await rm(folder, { recursive: true })
})

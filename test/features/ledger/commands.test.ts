// The commands about ledgers against a real node: its state, an audit that goes on from the last one, and one of a node that signs
// entries of other batches, rows and blocks than it has.

import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkLedgers } from '../../../src/features/ledger/check.ts'
import { History } from '../../../src/features/ledger/history.ts'
import { batchCodec } from '../../../src/features/ledger/records.ts'
import { toHex, utf8 } from '../../../src/libraries/base/bytes.ts'
import { datasetTag } from '../../../src/libraries/ledger/entry.ts'
import { headText } from '../../../src/libraries/ledger/head.ts'
import { noteOf, signNote } from '../../../src/libraries/ledger/note.ts'
import { allSecrets, datasetSaltOf, secretsToJson, secretsUpTo } from '../../../src/libraries/ledger/secrets.ts'
import { entriesOfBundle, tileIn, tileName } from '../../../src/libraries/ledger/tiles.ts'
import { leafHash, treeRoot } from '../../../src/libraries/ledger/tree.ts'
import { nodeKeyFromJson } from '../../../src/libraries/proof/sign.ts'
import { openDirectoryStore } from '../../../src/node/store/directory/directory-store.ts'
import { ledgerBatchKey } from '../../../src/node/store/layout.ts'
import { serve, servedTree } from '../../cli/served-ledger.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { blocksOf } from '../../helpers/page-blocks.ts'
import { runCommand, runShell } from '../../helpers/run-node.ts'

const live = await liveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })
const folder = await mkdtemp(join(tmpdir(), 'proofstream-commands-'))
const policy = join(folder, 'policy')
const tokenFile = join(folder, 'token')
await writeFile(tokenFile, live.adminToken)

async function run(...args: string[]) {
  const named = ['--server', live.node.url, '--token-file', tokenFile]
  const { code, stdout, stderr } = await runCommand([...args, ...named], { cwd: folder })
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
  return { code, stderr, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

test('an audit of a real node goes on from the last one', async () => {
  for (const city of ['Oslo', 'Bergen']) await live.ingest('acme/weather', [{ city }], '?create=true')
  const size = async (): Promise<number> => Number((await live.call('/ledger', { token: null })).at('size'))
  const length = async (): Promise<number> => Number((await live.call('/acme/weather')).at('blocks'))
  await expect.poll(async () => (await size()) - (await length())).toBe(1)
  const [key] = (await live.call('/ledger', { token: null })).at('keys') as string[]
  await writeFile(policy, `log ${key}\nquorum none\n`)
  const audit = () => run('ledger', 'audit', live.node.url, '--policy', policy, '--state', join(folder, 'state'))
  const first = await audit()
  expect([first.code, first.stderr, first.lines]).toEqual([
    0,
    '',
    [expect.objectContaining({ verdict: 'consistent', quorum: 'none', entered: 1, findings: 0 })],
  ])
  const before = await size()
  await live.ingest('acme/weather', [{ city: 'Athens' }])
  await expect.poll(size).toBeGreaterThan(before)
  const second = await audit()
  expect([second.code, second.lines]).toEqual([0, [expect.objectContaining({ verdict: 'consistent', since: before })]])
  // As docs/ledger.md has it.
  const block = blocksOf('docs/ledger.md').find(({ text }) => text.startsWith('proofstream ledger status'))?.text ?? ''
  const script = block.replaceAll('https://data.example.org', live.node.url).replaceAll('policy.txt', 'policy')
  const typed = await runShell(script, { cwd: folder })
  expect([typed.code, typed.stdout]).toEqual([0, expect.stringContaining('"verdict":"consistent"')])
  const byNode = await run('ledger', 'audit', live.node.url)
  const statements = [expect.objectContaining({ index: 0, node: live.node.did })]
  const expected = expect.objectContaining({ policy: `of ${live.node.url}`, statements })
  expect([byNode.code, byNode.lines]).toEqual([0, [expected]])
  const status = await run('ledger', 'status')
  expect([status.code, status.lines]).toEqual([
    0,
    [expect.objectContaining({ origin: 'data.example/ledger', state: 'running' })],
  ])
})

test('a node that signs other roots or blocks than it has is found by who may read its datasets', async () => {
  await live.call('/acme/rows', { method: 'PUT', json: { proofs: 'rows' } })
  for (const city of ['Oslo', 'Bergen']) await live.ingest('acme/rows', [{ city }, { city: 'Rome' }])
  const length = Number((await live.call('/acme/rows')).at('blocks'))
  const id = String((await live.call('/acme/rows')).at('id'))
  const key = await readFile(join(live.dataDir, 'store', 'ledger-keys', id.slice('did:odf:'.length)))
  const salt = datasetSaltOf(key)
  const tag = toHex(datasetTag(salt, id))
  const readEntries = async (): Promise<Uint8Array[]> => {
    const size = Number((await live.call('/ledger', { token: null })).at('size'))
    const tile = tileIn(size, 'entries', 0)
    if (tile === undefined) return []
    const bundle = await fetch(`${live.node.url}/ledger/${tileName(tile)}`)
    return entriesOfBundle(new Uint8Array(await bundle.arrayBuffer()), tile.width)
  }
  const isOwn = (entry: Uint8Array): boolean => toHex(entry.subarray(1, 33)) === tag
  await expect.poll(async () => (await readEntries()).filter(isOwn).length).toBe(length)
  const entries = await readEntries()
  const signer = nodeKeyFromJson(await readFile(join(live.dataDir, 'keys', 'ledger.json'), 'utf8'))
  const origin = 'data.example/ledger'

  /** What `fsck` finds in the store where its ledger has these entries. */
  const fsck = async (others: readonly Uint8Array[]): Promise<unknown[]> => {
    const copy = await mkdtemp(join(folder, 'store-'))
    await cp(join(live.dataDir, 'store'), copy, { recursive: true })
    for (const name of ['ledger/batches', 'ledger/checkpoint', 'ledger/tile'])
      await rm(join(copy, name), { recursive: true })
    const store = await openDirectoryStore(copy)
    await store.put(ledgerBatchKey(1, 0), batchCodec.encode(History.empty().propose(others)))
    const problems: unknown[] = []
    await checkLedgers(store, (kind, message) => problems.push([kind, message]))
    await store.close()
    return problems
  }

  /** Findings where bytes of the last entry of the dataset are others, and the ledger's own key has signed that. */
  const found = async (...changed: readonly number[]): Promise<unknown> => {
    const last = entries.findLastIndex(isOwn)
    const others = entries.map((entry, at) =>
      entry.map((byte, place) => (at === last && changed.includes(place) ? byte ^ 1 : byte)),
    )
    const text = headText({ origin, size: others.length, root: treeRoot(others.map(leafHash)) })
    const files = servedTree(others, utf8(noteOf({ text, signatures: [signNote(text, origin, signer)] })))
    const keys = secretsToJson(secretsUpTo(allSecrets(key), length - 1))
    files.set('/acme/rows/metadata', JSON.stringify({ output: { ledger: { salt: toHex(salt), keys } } }))
    await using node = await serve(files, live.node.url)
    const { stdout } = await runCommand(['ledger', 'audit', node.url, '--policy', policy, '--token-file', tokenFile])
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    return [
      ...lines.slice(0, -1).map(({ finding, dataset, sequence, about }) => [finding, dataset, sequence, about]),
      lines.at(-1)?.['code'],
      ...(await fsck(others)),
    ]
  }
  const of = (finding: string, about: string, stored = `${about}:`): unknown[] => {
    const message = `entry ${entries.findLastIndex(isOwn)} of ledger: ${stored} block ${length - 1} of acme/rows`
    return [[finding, 'acme/rows', length - 1, about], 10, ['RecordDisagrees', message]]
  }
  expect(await found()).toEqual([0])
  expect(await found(73)).toEqual(of('another root', 'the root of batches is not that of the batches of the block'))
  expect(await found(105)).toEqual(of('another root', 'the root of rows is not that of the rows of the block'))
  const about = 'the entry is of another block than the chain has'
  expect(await found(41)).toEqual(of('another block', about, 'it is of another block than'))
})

// Real nodes: a replica vouches for the ledger of the node that it follows, and for none that says another thing of its blocks.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { equalBytes, utf8 } from '../../../src/libraries/base/bytes.ts'
import { entryBytes, noRoot } from '../../../src/libraries/ledger/entry.ts'
import { type Evidence, evidenceCodec } from '../../../src/libraries/ledger/evidence.ts'
import { parseHead } from '../../../src/libraries/ledger/head.ts'
import { parseNote } from '../../../src/libraries/ledger/note.ts'
import { checkInclusion, leafHash } from '../../../src/libraries/ledger/tree.ts'
import { entriesOfBundle } from '../../../src/libraries/ledger/tiles.ts'
import { cosignaturesIn } from '../../../src/libraries/ledger/witness.ts'
import { parseVerifierKey } from '../../../src/libraries/ledger/verifier-key.ts'
import { nodeKeyFromSeed, nodeKeyToJson } from '../../../src/libraries/proof/sign.ts'
import { type Answer, startLiveNode } from '../../helpers/live-node.ts'
import { blockOf } from '../../helpers/page-blocks.ts'
import { runCommand, runShell, serveNode } from '../../helpers/run-node.ts'
import { until } from '../../helpers/until.ts'
import { keyText } from '../../libraries/ledger/keys.ts'
import { sha256 } from '../../libraries/ledger/rfc6962.ts'
import { startProxy, startReplica } from '../follow/support.ts'
import { startToldLedgers, toldLines } from './told-ledgers.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-follower-'))
const at = (name: string): string => join(folder, name)
const origin = 'one.example/ledger'
await writeFile(at('key.json'), nodeKeyToJson(nodeKeyFromSeed(new Uint8Array(32).fill(1))))
const told = await startToldLedgers()
const proxy = await startProxy('http://127.0.0.1:1')
await writeFile(
  at('followed'),
  [`log ${keyText(origin, 1, 1)} ${proxy.url}/ledger`, ...toldLines(told.url), 'quorum none\n'].join('\n'),
)
const options = { 'ledger-origin': 'two.example/ledger', 'ledger-policy': at('followed') }
let follower = await startReplica(proxy.url, options)
const about = await follower.call('/ledger', { token: null })
const key = String(about.at('follower'))
await writeFile(at('policy'), `witness two ${key} ${follower.node.url}/ledger/witness\nquorum two\n`)
const node = await startLiveNode({
  'ledger-origin': origin,
  'ledger-key': at('key.json'),
  'ledger-delay': '1s',
  'ledger-wait': '1s',
  'ledger-policy': at('policy'),
})
await proxy.turnTo(node.node.url)
afterAll(async () => {
  await follower.remove()
  await node.stop()
  await proxy.close()
  await told.close()
  await rm(folder, { recursive: true })
})

const add = (body: Uint8Array): Promise<Answer> =>
  follower.call('/ledger/witness/add-checkpoint', { method: 'POST', token: null, body })

/** Asks until it is no longer told to come again. */
const asked = (body: Uint8Array): Promise<Answer> =>
  until('an answer', async () => {
    const answer = await add(body)
    return answer.status !== 503 && answer
  })

const restart = async (): Promise<void> => {
  await follower.stop()
  const { port } = new URL(follower.node.url)
  follower = await startReplica(proxy.url, { ...options, listen: `127.0.0.1:${port}` }, follower.dataDir)
}

const counted = async (name: string): Promise<number> => {
  const { text } = await follower.call('/metrics')
  return Number(new RegExp(`^proofstream_${name} (\\d+)`, 'm').exec(text)?.[1])
}

/** The ledger of the node shows all of its blocks, beside its statement. */
const entered = (quorum: string): Promise<unknown> =>
  until(`a head with all blocks, quorum ${quorum}`, async () => {
    let size = 1
    for (const name of ['rows', 'others']) {
      const { status, json } = await node.call(`/acme/${name}/blocks`)
      if (status === 200) size += (json as { blocks: unknown[] }).blocks.length // as the route answers
    }
    const now = await node.call('/ledger', { token: null })
    return now.at('size') === size && now.at('quorum') === quorum
  })

const entriesOfNode = async (): Promise<Uint8Array[]> => {
  const size = Number((await node.call('/ledger', { token: null })).at('size'))
  const { bytes } = await node.call(`/ledger/tile/entries/000.p/${size}`, { token: null })
  return entriesOfBundle(bytes, size)
}

const changed = (bytes: Uint8Array, place: number): Uint8Array =>
  bytes.map((byte, i) => (i === place ? byte ^ 1 : byte))

/** The last entry that is of a block with rows and their root. */
const withRows = (entries: readonly Uint8Array[]): number =>
  entries.findLastIndex((entry) => entry.length === 137 && !equalBytes(entry.subarray(105), noRoot))

const hashOf = (name: string): string => Buffer.from(sha256(utf8(`${name}.example/ledger`))).toString('hex')

const evidenceIn = async (name: string, file: string): Promise<Evidence> => {
  const folder = join(follower.dataDir, 'store', 'ledger', 'witness', hashOf(name), 'evidence')
  return evidenceCodec.decode(await readFile(join(folder, file)))
}

const evidenceOf = async (name: string): Promise<string[]> => {
  return await readdir(join(follower.dataDir, 'store', 'ledger', 'witness', hashOf(name), 'evidence')).catch(() => [])
}

test('a replica says that it is a follower, and has no ledger of its own', () => {
  expect(about.status).toBe(200)
  expect(Object.keys(about.json as object)).toEqual(['follower'])
  expect(key).toMatch(/^two\.example\/ledger\/follower\+/)
})

test('it cosigns the ledger of the node that it follows, whose quorum it is', async () => {
  await node.ingest('acme/rows', [{ a: 1 }, { a: 2 }], '?create=true')
  expect((await node.call('/acme/rows', { method: 'PATCH', json: { proofs: 'rows' } })).status).toBe(200)
  // Of one block the rows are hashed at once, of the other in threads, here and there.
  await node.ingest('acme/rows', [{ a: 3 }])
  await node.ingest(
    'acme/rows',
    Array.from({ length: 4_000 }, (_, i) => ({ a: (i ** 3 * 7_919) % 1_000_003 })),
  )
  await node.ingest('acme/others', [{ b: 1 }], '?create=true')
  await entered('met')
  const entries = await entriesOfNode()
  expect(withRows(entries)).toBeGreaterThan(0)
  expect(await counted('follower_compared_entries_total')).toBe(entries.filter(({ length }) => length === 137).length)
  expect(await counted('follower_ordered_entries_total')).toBe(0)
})

test.each([
  ['that is not copied yet', /\/(?:blocks|data)\//],
  ['whose salt the node does not tell', /\/metadata/],
])('an entry of a block %s waits for it', async (_, held) => {
  proxy.interfere = ({ url = '' }) => (held.test(url) ? { status: 503, body: '' } : undefined)
  await node.ingest('acme/rows', [{ a: 4 }])
  await until('a busy witness', async () => (await node.call('/ledger')).at('witnesses.0.state') === 'busy')
  await entered('not met')
  proxy.interfere = () => undefined
  await entered('met')
})

describe('of another ledger that is read elsewhere', () => {
  test('the same entries are vouched for, and what was checked is not checked again after a restart', async () => {
    const entries = await entriesOfNode()
    const answer = await asked(told.tell('same', entries))
    expect(answer.status).toBe(200)
    const head = told.note('same', entries)
    expect(cosignaturesIn(answer.bytes, head.text, parseVerifierKey(key))).toHaveLength(1)
    await restart()
    await node.ingest('acme/rows', [{ a: 5 }])
    await entered('met')
    const more = await entriesOfNode()
    const before = await counted('follower_compared_entries_total')
    expect((await asked(told.tell('same', more, entries.length))).status).toBe(200)
    expect((await counted('follower_compared_entries_total')) - before).toBe(more.length - entries.length)
  })

  test.each([
    ['another block', 'block', (some: Uint8Array[], at: number) => some.with(at, changed(some[at]!, 41))],
    ['another root of batches', 'batch', (some: Uint8Array[], at: number) => some.with(at, changed(some[at]!, 73))],
    ['another root of rows', 'row', (some: Uint8Array[], at: number) => some.with(at, changed(some[at]!, 105))],
    ['a block twice', 'twice', (some: Uint8Array[], at: number) => [...some, some[at]!]],
    ['a block too few', 'gap', (some: Uint8Array[], at: number) => some.toSpliced(at - 1, 1)],
    ['an entry that is none', 'form', (some: Uint8Array[], at: number) => some.with(at, some[at]!.subarray(1, 99))],
  ] as const)('%s is refused for good, with evidence', async (_, name, lie) => {
    const entries = await entriesOfNode()
    const lied = lie(entries, withRows(entries))
    if (name === 'form') lied[withRows(entries)]![0] = 1
    const body = told.tell(name, lied)
    const answer = await asked(body)
    expect(answer.refusal).toBe('422 InvalidRequest')
    const kept = await evidenceOf(name)
    expect(kept).toHaveLength(1)
    const { signed, entry } = await evidenceIn(name, kept[0] ?? '')
    const { size, root } = parseHead(parseNote(utf8(signed)).text)
    const path = entry?.path.map((hash) => Buffer.from(hash, 'base64')) ?? []
    const leaf = leafHash(Buffer.from(entry?.bytes ?? '', 'base64'))
    expect(checkInclusion(leaf, { index: entry?.index ?? 0, size, path }, root)).toBe(true)
    // What is private here is told to nobody.
    expect(answer.text).not.toContain('acme')
    // Nor later, nor with more entries, whatever becomes of the dataset.
    await restart()
    expect((await add(told.tell(name, [...lied, ...lied]))).refusal).toBe('422 InvalidRequest')
    expect(await evidenceOf(name)).toEqual(kept)
  })

  test('entries of datasets that are not followed have to be in order', async () => {
    const entries = await entriesOfNode()
    const stranger = {
      datasetTag: sha256(utf8('stranger')),
      blockTag: sha256(utf8('block')),
      batchRoot: noRoot,
      rowRoot: noRoot,
    }
    const own = Array.from({ length: 300 }, (_, sequence) => entryBytes({ kind: 'block', ...stranger, sequence }))
    const before = await counted('follower_ordered_entries_total')
    expect((await asked(told.tell('stranger', [...entries, ...own]))).status).toBe(200)
    expect((await counted('follower_ordered_entries_total')) - before).toBe(own.length)
  })

  test.each([
    ['entries that do not lead to the root', 'tile', '/tile/tile/entries/000.p/'],
    ['tiles that are not there', 'tile', '/tile/tile/'],
  ] as const)('%s show nothing: it is to come again', async (_, name, start) => {
    const entries = await entriesOfNode()
    const body = told.tell(name, entries)
    for (const [path, bytes] of told.files) {
      if (!path.startsWith(start)) continue
      if (start.includes('entries')) told.files.set(path, changed(bytes, bytes.length - 1))
      else told.files.delete(path)
    }
    const answer = await add(body)
    expect(answer.refusal).toBe('503 Saturated')
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    expect(await evidenceOf(name)).toEqual([])
  })

  test('entries of a kind that is not known here are not vouched for', async () => {
    expect((await add(told.tell('newer', [...(await entriesOfNode()), Uint8Array.of(9, 1)]))).refusal).toBe(
      '503 Saturated',
    )
  })

  test('a ledger may have 32,768 datasets, and has no follower with more', async () => {
    const first = { kind: 'block', blockTag: noRoot, sequence: 0, batchRoot: noRoot, rowRoot: noRoot } as const
    const all = Array.from({ length: 32_769 }, (_, n) => entryBytes({ ...first, datasetTag: sha256(utf8(`${n}`)) }))
    expect((await asked(told.tell('many', all.slice(0, -1)))).status).toBe(200)
    const more = told.tell('many', all, all.length - 1)
    await until('the reason', async () => (await add(more)).text.includes('more than 32768 datasets'))
  })

  test('of a dataset that the node shows no more only the order counts', async () => {
    const entries = await entriesOfNode()
    const at = withRows(entries)
    const lied = entries.with(at, changed(entries[at]!, 41))
    expect((await node.call('/acme/rows', { method: 'PATCH', json: { visibility: 'private' } })).status).toBe(200)
    await until('a name that is gone', async () => (await follower.head('acme/rows')) === undefined)
    expect((await asked(told.tell('hidden', lied))).status).toBe(200)
    expect((await asked(told.tell('block', lied))).status).toBe(422)
  })
})

test('begins as the page says, with the policy of the node', async () => {
  const page = blockOf('docs/ledger.md', 'URL=').replaceAll('https://data.example.org', node.node.url)
  const [command = '', ...others] = page.trim().split('\n').toReversed()
  expect((await runShell(others.toReversed().join('\n'), { cwd: folder })).code).toBe(0)
  const told = command.replace('$URL', node.node.url).replace('./replica', at('replica')).replaceAll("'", '')
  const words = told.split(' ').slice(2)
  const begun = await serveNode(at('replica'), words.with(words.indexOf('followed.txt'), at('followed.txt')))
  const keys = (await (await fetch(`${begun.url}/ledger`)).json()) as object
  expect(keys).toEqual({ follower: expect.stringMatching(/^copy\.example\.net\/ledger\/follower\+/) })
  await begun.end('SIGTERM')
})

test('fsck knows what it keeps', async () => {
  await follower.stop()
  const { stdout, stderr } = await runCommand(['fsck', follower.dataDir, '-o', 'json'], {})
  expect(stdout + stderr).not.toContain('ledger/witness')
})

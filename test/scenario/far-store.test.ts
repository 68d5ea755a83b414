// Gateway, builder and replicas over a store on another machine: no object of it is a file here, and each request takes its
// time. What a person does with a dataset works, what is asked again costs no request, and a commit costs six.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { fsck } from '../../src/node/upkeep/fsck.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { type RunningNode, startNode } from '../../src/app/node.ts'
import { openStore } from '../../src/app/open-storage.ts'
import { readHead } from '../../src/node/store/heads.ts'
import { readName } from '../../src/node/store/names.ts'
import { markSwept, sweepChain } from '../../src/node/store/sweep.ts'
import { packChain } from '../../src/node/store/write-pack.ts'
import type { FarStore } from '../adapters/far-store.ts'
import { type LiveNode, send, startLiveNode } from '../helpers/live-node.ts'

const far = vi.hoisted((): { store: FarStore | undefined } => ({ store: undefined }))
vi.mock(import('../../src/node/store/directory/directory-store.ts'), async (original) => {
  const { openFarStore } = await import('../adapters/far-store.ts')
  far.store = openFarStore(2)
  const open = async () => must(far.store, 'it was opened')
  return { ...(await original()), openDirectoryStore: open, openReadOnlyDirectoryStore: open }
})

const alias = 'acme/stream'
const posts = 270
let live: LiveNode
let data = ''
let replica: RunningNode

const startReplica = (): Promise<RunningNode> =>
  startNode(loadConfig({ data, roles: 'replica', listen: '127.0.0.1:0', 'log-level': 'silent' }))

beforeAll(async () => {
  // A ledger reads what it enters when that is due, in the middle of another question too.
  live = await startLiveNode({ without: 'ledger' }, { cut: { waitAgeMs: 1, openAgeMs: 1 } })
  data = await mkdtemp(join(tmpdir(), 'proofstream-far-'))
  await live.ingest(alias, [{ n: 0, city: 'Oslo' }], '?create=true')
  for (let n = 1; n < posts; n++) await live.ingest(alias, [{ n, city: n % 3 === 0 ? null : 'Rome' }])
  replica = await startReplica()
})
afterAll(async () => {
  await replica.stop()
  await live.stop()
  await rm(data, { recursive: true, force: true })
})

async function ask(node: RunningNode, query: string, more: object = {}): Promise<Awaited<ReturnType<typeof send>>> {
  const headers = { authorization: `Bearer ${live.adminToken}`, 'content-type': 'application/json' }
  return await send(node.url, '/query', { method: 'POST', headers, body: JSON.stringify({ query, ...more }) })
}

/** What is asked of chains and names while `work` runs: operation and key. */
async function requestsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const { keys } = must(far.store, 'it was opened')
  keys.length = 0
  await work()
  return keys.filter((key) => / (?:datasets|names|aliases)/.test(key))
}

const sum = `select count(*) as c, sum(n) as s from "${alias}"`
const total = (posts * (posts - 1)) / 2

test('a replica elsewhere answers, proves, exports and tails the rows', async () => {
  const answer = await ask(replica, sum, { include: ['Proof'] })
  expect([answer.status, answer.at('output.data.0')]).toEqual([200, [posts, total]])
  const verified = await send(live.node.url, '/verify', {
    method: 'POST',
    headers: { authorization: `Bearer ${live.adminToken}`, 'content-type': 'application/json' },
    body: answer.text,
  })
  expect(verified.at('ok')).toBe(true)
  const exported = await send(replica.url, `/${alias}/export?format=csv`, {})
  expect(exported.text.trim().split('\n')).toHaveLength(posts + 1)
  const tail = await send(replica.url, `/${alias}/tail?limit=5`, {})
  expect(tail.text).toContain(String(posts - 1))
})

test('what is asked again costs no request, or a look for what is new where it would not be heard of', async () => {
  await ask(live.node, `${sum} where n > 3`)
  expect(await requestsOf(() => ask(live.node, `${sum} where n > 4`))).toEqual([])
  await ask(replica, `${sum} where n > 3`)
  await sleep(1_100)
  const looks = await requestsOf(() => ask(replica, `${sum} where n > 4`))
  expect(looks.map((request) => request.replace(/ .*\//, ' '))).toEqual(['get 1', `get ${posts + 3}`])
})

test('a commit costs its builder six requests, and the gateway one that tells the caller what became of the batch', async () => {
  const requests = await requestsOf(() => live.ingest(alias, [{ n: 0, city: 'Oslo' }]))
  const kinds = requests.map((request) => request.replace(/ datasets\/[^/]+\/(\w+)\/.*/, ' $1'))
  expect(kinds.sort()).toEqual([
    'get checkpoints',
    'get commits',
    'put blocks',
    'put checkpoints',
    'put commits',
    'put data',
    'replace refs',
  ])
})

test('chains are packed and swept, and read from their packs by a process that starts', async () => {
  const store = await openStore('', 'write')
  const { id } = must(await readName(store, alias), 'its name')
  const head = must(await readHead(store, id), 'its head')
  expect(await packChain(store, id, head.sequence)).toBe(1)
  await markSwept(store)
  expect(await sweepChain(store, id, { beforeMs: Number.POSITIVE_INFINITY })).toBeGreaterThan(200)
  await replica.stop()
  await rm(join(data, 'cache'), { recursive: true, force: true })
  replica = await startReplica()
  expect((await ask(replica, sum)).at('output.data.0')).toEqual([posts + 1, total])
  await live.ingest(alias, [{ n: 1_000_000, city: 'Bergen' }])
  expect((await ask(live.node, sum)).at('output.data.0')).toEqual([posts + 2, total + 1_000_000])
  expect((await fsck(store)).problems).toEqual([])
})

test('a dataset is made private, and deleted', async () => {
  await live.call(`/${alias}`, { method: 'PATCH', json: { visibility: 'private' } })
  await expect.poll(async () => (await send(replica.url, `/${alias}`, {})).status).toBe(404)
  const deleted = await live.call(`/${alias}`, { method: 'DELETE', headers: { 'if-match': '*' } })
  expect(deleted.status).toBe(200)
  await expect.poll(async () => (await ask(replica, sum)).status).toBe(404)
})

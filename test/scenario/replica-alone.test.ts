// A replica beside a node with the file log: another process that reads the same store, and nothing else.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { type RunningNode, startNode } from '../../src/app/node.ts'
import { type LiveNode, send, startLiveNode } from '../helpers/live-node.ts'
import { until } from '../helpers/until.ts'

let live: LiveNode
let data: string
let replica: RunningNode

beforeAll(async () => {
  live = await startLiveNode()
  data = await mkdtemp(join(tmpdir(), 'proofstream-replica-'))
  await live.ingest('acme/rows', [{ i: 1 }], '?create=true')
  replica = await startNode(
    loadConfig({
      data,
      store: join(live.dataDir, 'store'),
      roles: 'replica',
      listen: '127.0.0.1:0',
      'log-level': 'silent',
    }),
  )
})

afterAll(async () => {
  await replica.stop()
  await live.stop()
  await rm(data, { recursive: true, force: true })
})

function post(url: string, path: string, body: string): ReturnType<typeof send> {
  const headers = { authorization: `Bearer ${live.adminToken}`, 'content-type': 'application/json' }
  return send(url, path, { method: 'POST', headers, body })
}

async function count(url: string, more: object = {}): Promise<unknown> {
  const answer = await post(url, '/query', JSON.stringify({ query: 'select count(*) from "acme/rows"', ...more }))
  return answer.at('output.data.0.0')
}

test('a replica answers from the store of another process, at most a second late', async () => {
  expect(await count(replica.url)).toBe(1)
  await live.ingest('acme/rows', [{ i: 2 }, { i: 3 }])
  await sleep(1_100)
  expect(await count(replica.url)).toBe(3)
})

test('a replica hides what was made private, and shows what was made public, within a few seconds', async () => {
  await live.ingest('acme/hidden', [{ i: 1 }], '?create=true')
  const ask = { query: 'select count(*) from "acme/hidden"' }
  const anonymous = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(ask) }
  const statusOf = async () => (await send(replica.url, '/query', anonymous)).status
  const becomes = (status: number) => until(`status ${status}`, async () => (await statusOf()) === status)
  expect(await statusOf()).toBe(200)
  await live.call('/acme/hidden', { method: 'PATCH', json: { visibility: 'private' } })
  await becomes(404)
  expect((await post(replica.url, '/query', JSON.stringify(ask))).status).toBe(200)
  expect((await send(replica.url, '/datasets', {})).text).not.toContain('acme/hidden')
  await live.call('/acme/hidden', { method: 'PATCH', json: { visibility: 'public' } })
  await becomes(200)
})

test('a replica does not start on the data directory of a running node, and leaves its cache alone', async () => {
  const spool = join(live.dataDir, 'cache', 'spool-of-a-post')
  await writeFile(spool, 'rows on their way')
  const store = join(live.dataDir, 'store')
  const options = { data: live.dataDir, store, roles: 'replica', listen: '127.0.0.1:0', 'log-level': 'silent' }
  await expect(startNode(loadConfig(options))).rejects.toMatchObject({ kind: 'LogUnavailable' })
  expect(await readFile(spool, 'utf8')).toBe('rows on their way')
})

test('the hash of a block just committed reads it at once', async () => {
  const posted = await live.ingest('acme/rows', [{ i: 4 }])
  const hash = posted.at('block.hash')
  const id = posted.at('dataset.id')
  const datasets = [{ id, alias: 'acme/rows', blockHash: hash }]
  expect(await count(replica.url, { datasets })).toBe((await count(live.node.url)) as number)
})

interface Paths {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

async function routesOf(url: string): Promise<string[]> {
  const { paths } = (await send(url, '/openapi.json', {})).json as Paths
  return Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`))
}

test('what a replica does not do, it says, with the role that does', async () => {
  const here = new Set(await routesOf(replica.url))
  const absent = (await routesOf(live.node.url)).filter((route) => !here.has(route))
  expect(absent.sort()).toEqual([
    'delete /datasets/{id}',
    'delete /q/{name}',
    'delete /tokens/{id}',
    'delete /{account}/{dataset}',
    'get /datasets/deleted',
    'get /health',
    'get /ingest',
    'get /ledger/witness/{origin}/checkpoint',
    'get /ping',
    'get /presets',
    'get /receipts/{id}',
    'get /receipts/{id}/proof',
    'get /tokens',
    'patch /{account}/{dataset}',
    'post /api/v2/write',
    'post /datasets/{id}/restore',
    'post /ledger/witness/add-checkpoint',
    'post /tokens',
    'post /write',
    'post /{account}/{dataset}/ingest',
    'post /{account}/{dataset}/stream',
    'post /{account}/{dataset}/v1/logs',
    'put /q/{name}',
    'put /{account}/{dataset}',
  ])
  for (const route of absent) {
    const [method = '', path = ''] = route.split(' ')
    const answer = await send(replica.url, path.replaceAll(/\{\w+\}/g, 'x'), { method: method.toUpperCase() })
    expect([answer.status, answer.at('error.kind')]).toEqual([404, 'RouteNotFound'])
    expect(answer.at('hint')).toContain('the role gateway')
  }
  const info = await send(replica.url, '/info', {})
  expect([info.at('roles'), info.at('log')]).toEqual([['replica'], undefined])
})

test('a replica writes nothing into the store and makes no token', async () => {
  expect((await readdir(data)).sort()).toEqual(['cache', 'keys'])
  expect((await readdir(join(live.dataDir, 'store', 'tokens'))).length).toBe(1)
})

test('a replica whose store is nowhere does not start', async () => {
  const options = { data: join(data, 'other'), roles: 'replica', listen: '127.0.0.1:0', 'log-level': 'silent' }
  await expect(startNode(loadConfig(options))).rejects.toThrow(/There is no store in/)
})

test('a second process does not start on the data directory of another', async () => {
  const options = { data, store: join(live.dataDir, 'store'), roles: 'replica', listen: '127.0.0.1:0' }
  await expect(startNode(loadConfig({ ...options, 'log-level': 'silent' }))).rejects.toThrow(/cache in .* is in use/)
  expect(await count(replica.url)).toBeGreaterThan(0)
})

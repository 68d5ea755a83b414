// A node whose store is a bucket: rows in, answers with proofs, packs' and readers' way, all while the bucket fails now and
// then; and how many requests a commit and a query are.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { checkStore } from '../../src/index.ts'
import { startNode } from '../../src/app/node.ts'
import { type Fault, startS3Stub, type S3Stub } from '../adapters/s3-stub.ts'
import { testKeys } from '../helpers/buckets.ts'
import { freePort } from '../helpers/free-port.ts'
import { type LiveNode, send, startLiveNode } from '../helpers/live-node.ts'
import { until } from '../helpers/until.ts'

const faults: readonly Fault[] = [
  'lost',
  'refused',
  'cut',
  { status: 503, code: 'SlowDown' },
  { status: 500, after: true },
]
let fails = false
let turn = 0
let away = false
let stub: S3Stub
let node: LiveNode

/** Every seventh request fails, each time in another way. */
function fault(): Fault | undefined {
  if (away) return 'refused'
  return fails && ++turn % 7 === 0 ? faults[(turn / 7) % faults.length] : undefined
}

function options(): Readonly<Record<string, string>> {
  return { store: `s3://tests/lake?endpoint=${stub.url}` }
}

beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'tester')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', testKeys.secretAccessKey)
  stub = await startS3Stub({ fault, pageKeys: 5 })
  node = await startLiveNode(options())
  await node.call('/acme/w', { method: 'PUT', json: { schema: { fields: [{ name: 'n', type: 'Int64' }] } } })
})
afterAll(async () => {
  await node.stop()
  await stub.close()
  vi.unstubAllEnvs()
})

const total = 'select count(*) as c, sum(n) as s from "acme/w"'

test('a commit takes few requests, and a warm query none', async () => {
  expect((await node.ingest('acme/w', [{ n: 1 }])).status).toBe(200)
  const before = stub.requests.length
  expect((await node.ingest('acme/w', [{ n: 2 }])).status).toBe(200)
  const asked = stub.requests.slice(before)
  const writes = asked.filter(({ method }) => method !== 'GET' && method !== 'HEAD')
  expect(writes.map(({ method, key }) => `${method} ${key.split('/').at(-2)}`).sort()).toEqual(
    ['PUT blocks', 'PUT checkpoints', 'PUT commits', 'PUT data', 'PUT refs'].sort(),
  )
  expect(asked.length).toBeLessThanOrEqual(10)
  expect(asked.filter(({ key }) => key === '')).toEqual([])
  expect((await node.query(total)).at('output.data')).toEqual([[2, 3]])
  const warm = stub.requests.length
  expect((await node.query(`${total} where n > 0`)).at('output.data')).toEqual([[2, 3]])
  // What builders and tokens look after by and by is no part of it.
  const asks = stub.requests.slice(warm).map(({ key, query }) => `${key}${query}`)
  expect(asks.filter((text) => !/progress|tokens/.test(text))).toEqual([])
})

test('rows are there once, however the bucket fails', async () => {
  fails = true
  const answers = []
  for (let n = 3; n <= 22; n++) answers.push(await node.ingest('acme/w', [{ n }]))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect((await node.query(total)).at('output.data')).toEqual([[22, (22 * 23) / 2]])
  fails = false
  expect(turn).toBeGreaterThan(100)
})

test('an answer has a proof that the node can check', async () => {
  const answer = await node.query(total, { include: ['proof'] })
  const verified = await node.call('/verify', { method: 'POST', json: answer.json })
  expect(verified.at('ok')).toBe(true)
})

test('a reader beside it answers the same, and writes nothing', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'reader')
  const data = await mkdtemp(join(tmpdir(), 'proofstream-reader-'))
  const given = { ...options(), data, roles: 'replica', listen: '127.0.0.1:0', 'log-level': 'silent' }
  const reader = await startNode(loadConfig(given))
  const headers = { authorization: `Bearer ${node.adminToken}`, 'content-type': 'application/json' }
  const answer = await send(reader.url, '/query', { method: 'POST', headers, body: JSON.stringify({ query: total }) })
  await reader.stop()
  await rm(data, { recursive: true, force: true })
  expect(answer.at('output.data')).toEqual([[22, (22 * 23) / 2]])
  const asked = stub.requests.filter(({ headers }) => headers.authorization?.includes('Credential=reader/') === true)
  expect(asked.length).toBeGreaterThan(5)
  expect(asked.filter(({ method }) => method !== 'GET' && method !== 'HEAD')).toEqual([])
})

test('the store is whole, and nothing of the trials is left in it', async () => {
  const report = await checkStore(`s3://tests/lake?endpoint=${stub.url}`)
  expect(report.datasets.map(({ ok }) => ok)).toEqual([true])
  expect([...stub.objects.keys()].filter((key) => key.includes('selftest'))).toEqual([])
})

test('a bucket that is away is 503, says nothing of where it lies, and is used again when it is back', async () => {
  away = true
  const answer = await node.call('/acme/nothing/metadata')
  away = false
  expect(answer.refusal).toBe('503 StoreUnavailable')
  expect(answer.headers['retry-after']).toBe('5')
  expect(answer.text).not.toContain(new URL(stub.url).port)
  expect((await node.ingest('acme/w', [{ n: 23 }])).status).toBe(200)
})

test('a node that waits for its bucket says that it lives and is not ready, and then begins', async () => {
  away = true
  const listen = `127.0.0.1:${await freePort()}`
  const starting = startLiveNode({ ...options(), listen, without: 'ledger' })
  const ask = (path: string) => send(`http://${listen}`, path, {}).catch(() => undefined)
  await until('it lives', async () => (await ask('/healthz'))?.status === 200)
  const ready = await ask('/readyz?x=1')
  expect([ready?.status, ready?.at('ok'), ready?.at('reasons.store')]).toEqual([503, false, expect.any(String)])
  const other = await ask('/datasets')
  expect([other?.refusal, other?.headers['retry-after']]).toEqual(['503 StoreUnavailable', '5'])
  away = false
  const begun = await starting
  await until('it is ready', async () => (await begun.call('/readyz')).status === 200)
  expect(begun.node.url).toBe(`http://${listen}`)
  await begun.stop()
})

// A replica of another node: the same blocks and rows, proofs of its own over them, names and rights as the origin has them.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { checkStore } from '../../../src/index.ts'
import { openStore } from '../../../src/app/open-storage.ts'
import { putLog } from '../../../src/node/store/records.ts'
import { verifyOffline } from '../../../src/libraries/proof/verify.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { type Replica, startReplica } from './support.ts'

const origin = await liveNode({ 'anonymous-read': 'false' })
await origin.ingest('acme/goods', [{ n: 1, s: 'a' }], '?create=true')
await origin.ingest('acme/goods', [{ n: 2, s: 'b' }])
await origin.call('/acme/secret', { method: 'PUT', json: { visibility: 'private' } })
await origin.ingest('acme/secret', [{ n: 1 }])
await origin.ingest('other/rows', [{ n: 1 }], '?create=true')

const made: Replica[] = []
afterAll(async () => {
  for (const one of made) await one.remove()
})

async function follow(options: Readonly<Record<string, unknown>> = {}, dataDir?: string): Promise<Replica> {
  const given = { 'follow-token': origin.adminToken, follow: 'acme/*', ...options }
  const replica = await startReplica(origin.node.url, given, dataDir)
  made.push(replica)
  return replica
}

const soon = { interval: 50 }

async function arrives(replica: Replica, alias: string): Promise<void> {
  await expect.poll(() => replica.head(alias), soon).toBe(await origin.head(alias))
}

test('it has the blocks and rows of the datasets that it was told to follow, and no others', async () => {
  const replica = await follow()
  await arrives(replica, 'acme/goods')
  await arrives(replica, 'acme/secret')
  const sql = 'select n, s from "acme/goods" order by n'
  const [here, there] = [await replica.query(sql), await origin.query(sql)]
  expect(here.status).toBe(200)
  expect(here.at('output')).toEqual(there.at('output'))
  expect(await replica.head('other/rows')).toBeUndefined()
  await origin.ingest('acme/goods', [{ n: 3, s: 'c' }])
  await arrives(replica, 'acme/goods')
  expect((await replica.call('/readyz')).status).toBe(200)
})

test('it signs with its own key over the same blocks', async () => {
  const [replica] = made
  const answer = await replica?.query('select sum(n) from "acme/goods"', { include: ['Input', 'Proof', 'Schema'] })
  const verdict = verifyOffline(answer?.text ?? '', { signer: replica?.node.did ?? '' })
  expect(verdict.ok).toBe(true)
  expect(answer?.at('input.datasets.0.blockHash')).toBe(await origin.head('acme/goods'))
  expect(answer?.at('input.datasets.0.id')).toBe((await origin.call('/acme/goods')).at('id'))
})

test('who may read what is as the origin says', async () => {
  const [replica] = made
  expect((await replica?.call('/acme/goods', { token: null }))?.status).toBe(200)
  expect((await replica?.call('/acme/secret', { token: null }))?.refusal).toBe('404 DatasetNotFound')
  await origin.call('/acme/goods', { method: 'PATCH', json: { visibility: 'private' } })
  await expect.poll(async () => (await replica?.call('/acme/goods', { token: null }))?.status).toBe(404)
  await origin.call('/acme/goods', { method: 'PATCH', json: { visibility: 'public' } })
  await expect.poll(async () => (await replica?.call('/acme/goods', { token: null }))?.status).toBe(200)
})

test('what is entered and can be proved is as the origin says', async () => {
  const [replica] = made
  const said = async (dataset: string): Promise<unknown[]> => {
    const answer = await replica?.call(`/acme/${dataset}`)
    return [answer?.at('ledger'), answer?.at('proofs')]
  }
  await origin.call('/acme/outside', { method: 'PUT', json: { ledger: false } })
  await expect.poll(() => said('outside')).toEqual([false, undefined])
  expect(await said('goods')).toEqual([true, undefined])
  await origin.call('/acme/outside', { method: 'PATCH', json: { ledger: true, proofs: 'rows' } })
  await expect.poll(() => said('outside')).toEqual([true, 'rows'])
})

test('it refuses what would change a dataset, and names the origin', async () => {
  const [replica] = made
  for (const [method, path] of [
    ['POST', '/acme/goods/ingest'],
    ['PUT', '/acme/new'],
    ['DELETE', '/acme/goods'],
  ] as const) {
    const answer = await replica?.call(path, { method })
    expect([answer?.refusal, answer?.at('hint')]).toEqual([
      '404 RouteNotFound',
      expect.stringContaining(origin.node.url),
    ])
  }
})

test('fsck finds nothing wrong with the copy, and a restart goes on from it', async () => {
  const [replica] = made
  await replica?.stop()
  const dataDir = replica?.dataDir ?? ''
  const report = await checkStore(dataDir)
  expect(report.datasets.flatMap(({ problems }) => problems)).toEqual([])
  expect(report).toMatchObject({ ok: true, problems: [], orphans: 0 })
  await origin.ingest('acme/goods', [{ n: 4, s: 'd' }])
  const again = await follow({}, dataDir)
  expect((await again.query('select count(*) from "acme/goods"')).status).toBe(200)
  await arrives(again, 'acme/goods')
  expect((await again.query('select count(*) from "acme/goods"')).at('output.data.0.0')).toBe(4)
})

test(
  'a dataset that was deleted is deleted here, and comes back when it is restored',
  {
    timeout: 60_000,
  },
  async () => {
    const replica = made.at(-1)
    const id = String((await origin.call('/acme/goods')).at('id'))
    await origin.call('/acme/goods', { method: 'DELETE', headers: { 'if-match': '*' } })
    await expect.poll(async () => (await replica?.call('/acme/goods'))?.refusal).toBe('404 DatasetNotFound')
    expect((await replica?.call(`/datasets/${id}`))?.refusal).toBe('410 DatasetDeleted')
    const restored = await origin.call(`/datasets/${id}/restore`, { method: 'POST', json: { alias: 'acme/again' } })
    expect(restored.status).toBe(200)
    await expect.poll(() => replica?.head('acme/again'), soon).toBe(await origin.head('acme/again'))
    expect((await replica?.call('/acme/goods'))?.refusal).toBe('404 DatasetNotFound')
    expect((await replica?.call(`/datasets/${id}`))?.at('alias')).toBe('acme/again')
  },
)

test(
  'a token that was revoked hides all that it showed, and a new one shows it again',
  {
    timeout: 60_000,
  },
  async () => {
    const token = await origin.call('/tokens', { method: 'POST', json: { name: 'follower', scopes: ['read'] } })
    const replica = await follow({ 'follow-token': String(token.at('token')) })
    await arrives(replica, 'acme/secret')
    await origin.call(`/tokens/${String(token.at('id'))}`, { method: 'DELETE' })
    await expect.poll(async () => (await replica.call('/acme/secret')).refusal).toBe('404 DatasetNotFound')
    expect((await replica.query('select * from "acme/secret"')).refusal).toBe('404 DatasetNotFound')
    await replica.stop()
    expect(await checkStore(replica.dataDir)).toMatchObject({ ok: true })
    const again = await follow({}, replica.dataDir)
    await arrives(again, 'acme/secret')
  },
)

test('a store that has datasets of its own follows no node', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'proofstream-own-'))
  const store = await openStore(join(dataDir, 'store'), 'write')
  await putLog(store, { id: 'log-1', kind: 'file', partitions: 1 })
  await store.close()
  await expect(follow({}, dataDir)).rejects.toThrow('has its own datasets')
  await rm(dataDir, { recursive: true })
})

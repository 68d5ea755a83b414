// Datasets that deployed Open Data Fabric software wrote, behind nothing but the transfer routes: followed by name, sound
// here, and private, since that node does not say who may read them. And a replica that is killed in the midst of copying.

import { createReadStream, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { checkStore } from '../../../src/index.ts'
import { verifyOffline } from '../../../src/libraries/proof/verify.ts'
import { startLiveNode } from '../../helpers/live-node.ts'
import { serveNode } from '../../helpers/run-node.ts'
import { deployedChains, executedChain, type FixtureChain } from '../../node/store/copy-fixture.ts'
import { startReplica } from './support.ts'

const soon = { interval: 50 }

/** A server that has nothing but these chains, as files. */
async function serveChains(chains: readonly FixtureChain[]): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(({ url = '' }, answer) => {
    const [, account, name, ...rest] = (url.split('?')[0] ?? '').split('/')
    const folder = chains.find(({ alias }) => alias === `${account}/${name}`)?.folder
    const path = join(folder ?? '', ...rest)
    if (folder !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile() === true) {
      createReadStream(path).pipe(answer)
    } else answer.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('chains of deployed software are copied block by block', async () => {
  const chains = await deployedChains()
  const server = await serveChains(chains)
  const replica = await startReplica(server.url, { follow: chains.map(({ alias }) => alias).join(',') })
  try {
    for (const { alias, hashes } of chains) {
      await expect.poll(() => replica.head(alias), soon).toBe(hashes.at(-1))
      expect((await replica.call(`/${alias}`, { token: null })).refusal).toBe('404 DatasetNotFound')
    }
    expect((await replica.query('select count(*) from "fixture/sensor-readings"')).status).toBe(200)
    const report = await checkStore(replica.dataDir)
    expect(report.datasets.flatMap(({ problems }) => problems)).toEqual([])
    expect(report).toMatchObject({ ok: true, orphans: 0 })
  } finally {
    await replica.remove()
    await server.close()
  }
})

test('rows of a derivative dataset are checked and shown as those of a root', async () => {
  const chains = await deployedChains()
  const derived = await executedChain(chains)
  const damaged = await executedChain(chains, (data) => ({
    ...data,
    logicalHash: data.logicalHash.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
  }))
  const served = [...chains, { ...derived, alias: 'fixture/derived' }, { ...damaged, alias: 'fixture/damaged' }]
  const server = await serveChains(served)
  const follow = 'fixture/sensor-readings,fixture/derived'
  const replica = await startReplica(server.url, { follow })
  const other = await startReplica(server.url, { follow: 'fixture/damaged' })
  try {
    await expect.poll(() => replica.head('fixture/derived'), soon).toBe(derived.hashes.at(-1))
    await expect.poll(() => replica.head('fixture/sensor-readings'), soon).toBeDefined()
    const rows = async (name: string): Promise<unknown> =>
      (await replica.query(`select * from "fixture/${name}" order by "offset"`)).at('output.data')
    expect(await rows('derived')).toHaveLength(6)
    expect(await rows('derived')).toEqual(await rows('sensor-readings'))
    expect((await replica.call('/fixture/derived/tail?limit=2')).at('data')).toHaveLength(2)
    expect((await replica.call('/fixture/derived')).at('rows')).toBe(6)
    const proof = await replica.query('select count(*) from "fixture/derived"', { include: ['Proof'] })
    expect(verifyOffline(proof.text, { signer: replica.node.did }).ok).toBe(true)
    const pinned = { datasets: [{ id: derived.id, alias: 'fixture/derived', blockHash: derived.hashes.at(-2) }] }
    expect((await replica.query('select count(*) from "fixture/derived"', pinned)).at('output.data')).toEqual([[5]])
    // The slice is not what its block says: what came before it is shown.
    await expect.poll(() => other.head('fixture/damaged'), soon).toBe(damaged.hashes.at(-2))
    expect((await other.query('select count(*) from "fixture/damaged"')).at('output.data')).toEqual([[5]])
    const report = await checkStore(replica.dataDir)
    expect(report).toMatchObject({ ok: true, orphans: 0 })
    expect(report.datasets.map(({ rows: count }) => count)).toEqual([6, 6])
  } finally {
    await replica.remove()
    await other.remove()
    await server.close()
    for (const { folder } of [derived, damaged]) await rm(folder, { recursive: true })
  }
})

test('a replica that is killed again and again gets to the head, with a sound copy', async () => {
  const origin = await startLiveNode({}, { cut: { openAgeMs: 10 } })
  const data = await mkdtemp(join(tmpdir(), 'proofstream-killed-'))
  const args = ['--roles', 'replica', '--store', origin.node.url, '--follow', 'acme/*', '--log-level', 'silent']
  try {
    for (let n = 0; n < 60; n++) await origin.ingest('acme/goods', [{ n }], '?create=true')
    for (const afterMs of [100, 300, 600]) {
      const killed = await serveNode(data, args)
      await sleep(afterMs)
      await killed.end('SIGKILL')
      await origin.ingest('acme/goods', [{ n: afterMs }])
      expect((await checkStore(data)).datasets.flatMap(({ problems }) => problems)).toEqual([])
    }
    const replica = await startReplica(origin.node.url, {}, data)
    await expect.poll(() => replica.head('acme/goods'), soon).toBe(await origin.head('acme/goods'))
    const sql = 'select count(*), sum(n) from "acme/goods"'
    expect((await replica.query(sql)).at('output.data')).toEqual((await origin.query(sql)).at('output.data'))
    await replica.stop()
    expect(await checkStore(data)).toMatchObject({ ok: true, problems: [] })
  } finally {
    await origin.stop()
    await rm(data, { recursive: true, force: true })
  }
})

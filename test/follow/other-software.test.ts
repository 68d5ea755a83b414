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
import { checkStore } from '../../src/index.ts'
import { startLiveNode } from '../helpers/live-node.ts'
import { serveNode } from '../helpers/run-node.ts'
import { deployedChains } from '../store/copy-fixture.ts'
import { startReplica } from './support.ts'

const soon = { timeout: 30_000, interval: 50 }

test('chains of deployed software are copied block by block', { timeout: 90_000 }, async () => {
  const chains = await deployedChains()
  const server = createServer(({ url = '' }, answer) => {
    const [, account, name, ...rest] = (url.split('?')[0] ?? '').split('/')
    const folder = chains.find(({ alias }) => alias === `${account}/${name}`)?.folder
    const path = join(folder ?? '', ...rest)
    if (folder !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile() === true) {
      createReadStream(path).pipe(answer)
    } else answer.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const follow = chains.map(({ alias }) => alias).join(',')
  const replica = await startReplica(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { follow })
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
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

test('a replica that is killed again and again gets to the head, with a sound copy', { timeout: 120_000 }, async () => {
  const origin = await startLiveNode({ 'cut-open-age': '10ms' })
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

// A copy that is behind its origin: what is asked of a block that is on its way is answered or told to be on its way, and a
// dataset whose copy was removed comes back whole. The oracle is the origin.

import { afterAll, expect, test } from 'vitest'
import { checkStore } from '../../../src/index.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { startProxy, startReplica } from './support.ts'

const soon = { timeout: 60_000, interval: 50 }
const origin = await liveNode({}, { cut: { openAgeMs: 10 } })
for (let n = 0; n < 4; n++) await origin.ingest('acme/goods', [{ n }], '?create=true')
const proxy = await startProxy(origin.node.url)
const replica = await startReplica(proxy.url, { 'delete-grace': '1ms' })
afterAll(async () => {
  await replica.remove()
  await proxy.close()
})

const count = 'select count(*) from "acme/goods"'

async function arrives(): Promise<void> {
  await expect.poll(() => replica.head('acme/goods'), soon).toBe(await origin.head('acme/goods'))
}

test(
  'a pin to a block that was committed just now is answered, or told to be on its way',
  {
    timeout: 120_000,
  },
  async () => {
    await arrives()
    // What tells of new heads is late; the replica asks by itself.
    proxy.interfere = ({ url = '' }) => (/^\/datasets|wait=/.test(url) ? { delayMs: 60_000 } : undefined)
    const id = String((await origin.call('/acme/goods')).at('id'))
    const committed = await origin.ingest('acme/goods', [{ n: 100 }])
    const datasets = [{ id, alias: 'acme/goods', blockHash: String(committed.at('block.hash')) }]
    const refusals: string[] = []
    const pinned = async (): Promise<unknown> => {
      const answer = await replica.query(count, { datasets })
      if (answer.status !== 200) refusals.push(`${answer.refusal} ${answer.headers['retry-after']}`)
      return answer.at('output.data.0.0')
    }
    await expect.poll(pinned, soon).toBe(5)
    expect(refusals.filter((refusal) => !/^503 CopyBehind \d+$/.test(refusal))).toEqual([])
    const none = [{ ...datasets[0], blockHash: `f1620${'0'.repeat(64)}` }]
    expect((await replica.query(count, { datasets: none })).refusal).toBe('404 BlockNotFound')
  },
)

test('a pin to a block that does not come soon is not said to be none', { timeout: 120_000 }, async () => {
  proxy.interfere = ({ url = '' }) =>
    /^\/datasets|wait=/.test(url) ? { delayMs: 60_000 } : /\/blocks\//.test(url) ? { status: 503, body: '' } : undefined
  const id = String((await origin.call('/acme/goods')).at('id'))
  const committed = await origin.ingest('acme/goods', [{ n: 101 }])
  const datasets = [{ id, alias: 'acme/goods', blockHash: String(committed.at('block.hash')) }]
  const answer = await replica.query(count, { datasets })
  expect(answer.refusal).toBe('503 CopyBehind')
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  proxy.interfere = () => undefined
  await expect.poll(async () => (await replica.query(count, { datasets })).at('output.data.0.0'), soon).toBe(6)
})

test(
  'a dataset whose copy was removed and that is restored is copied anew, as a whole',
  {
    timeout: 120_000,
  },
  async () => {
    await proxy.turnTo(origin.node.url)
    await arrives()
    const id = String((await origin.call('/acme/goods')).at('id'))
    await origin.call('/acme/goods', { method: 'DELETE', headers: { 'if-match': '*' } })
    const removed = async (): Promise<unknown> => (await checkStore(replica.dataDir)).datasets.length
    await expect.poll(removed, soon).toBe(0)
    await origin.call(`/datasets/${id}/restore`, { method: 'POST', json: { alias: 'acme/goods' } })
    await origin.ingest('acme/goods', [{ n: 200 }])
    await arrives()
    const rows = 'select * from "acme/goods" order by "offset"'
    expect((await replica.query(rows)).at('output.data')).toEqual((await origin.query(rows)).at('output.data'))
    expect(await checkStore(replica.dataDir)).toMatchObject({ ok: true })
  },
)

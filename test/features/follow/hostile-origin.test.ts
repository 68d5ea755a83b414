// What lies between a replica and its origin, and an origin that tells another chain: nothing wrong is ever shown, and what
// was good is answered all the while.

import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readBreaches } from '../../../src/features/follow/evidence.ts'
import { checkStore } from '../../../src/index.ts'
import { type LiveNode, startLiveNode } from '../../helpers/live-node.ts'
import { runCommand } from '../../helpers/run-node.ts'
import { type Interference, type Proxy, type Replica, startProxy, startReplica } from './support.ts'

const soon = { interval: 50 }
const evidenceOf = ({ dataDir }: Replica) => readBreaches(join(dataDir, 'evidence'))
let origin: LiveNode
let proxy: Proxy

beforeAll(async () => {
  origin = await startLiveNode({}, { cut: { openAgeMs: 10 } })
  for (let block = 0; block < 30; block++) {
    const rows = Array.from({ length: 200 }, (_, i) => ({ n: block * 200 + i, text: `${'x'.repeat(50)}${i * block}` }))
    await origin.ingest('acme/goods', rows, '?create=true')
  }
})

afterAll(() => origin.stop())

async function withReplica<T>(
  interfere: Interference,
  use: (replica: Replica) => Promise<T>,
  options: Readonly<Record<string, unknown>> = {},
): Promise<T> {
  proxy = await startProxy(origin.node.url)
  proxy.interfere = interfere
  const replica = await startReplica(proxy.url, options)
  try {
    return await use(replica)
  } finally {
    await replica.remove()
    await proxy.close()
  }
}

async function arrives(replica: Replica): Promise<void> {
  await expect.poll(() => replica.head('acme/goods'), soon).toBe(await origin.head('acme/goods'))
}

async function sound(replica: Replica): Promise<void> {
  const sql = 'select count(*), sum(n), min(text) from "acme/goods"'
  expect((await replica.query(sql)).at('output.data')).toEqual((await origin.query(sql)).at('output.data'))
  expect(await checkStore(replica.dataDir)).toMatchObject({ ok: true })
}

/** Interferes with every fifth request for an object, each time in the same way. */
function now(and: 'cut' | 'damage' | { readonly delayMs: number }): Interference {
  let count = 0
  return ({ url = '' }) => (/\/(?:blocks|data|checkpoints)\//.test(url) && ++count % 5 === 0 ? and : undefined)
}

test.each([['cut'], ['damage'], [{ delayMs: 300 }]] as const)(
  'bodies that are %j on the way arrive all the same',
  async (what) => {
    await withReplica(now(what), async (replica) => {
      await arrives(replica)
      await sound(replica)
    })
  },
  60_000,
)

test('a slice that is always damaged is never shown: what came before it is', async () => {
  const page = await origin.call('/acme/goods/blocks?limit=1000')
  const blocks = page.at('blocks') as { event: { newData?: { physicalHash: string } } }[]
  const hash = blocks[4]?.event.newData?.physicalHash ?? ''
  await withReplica(
    ({ url = '' }) => (url.endsWith(`/data/${hash}`) ? 'damage' : undefined),
    async (replica) => {
      const good = 200 * 25
      const count = async () => (await replica.query('select count(*) from "acme/goods"')).at('output.data.0.0')
      await expect.poll(count, soon).toBe(good)
      await expect
        .poll(async () => (await replica.call('/metrics')).text, soon)
        .toMatch(/^proofstream_follow_waiting_datasets 1$/m)
      expect(await count()).toBe(good)
      expect((await replica.call('/metrics')).text).toMatch(
        /^proofstream_follow_lag_blocks\{dataset="acme\/goods"\} 5$/m,
      )
      expect(await evidenceOf(replica)).toEqual([])
    },
  )
})

test('a slice that is missing while later blocks are on their way is told, and what came before it shown', async () => {
  const { blocks } = JSON.parse((await origin.call('/acme/goods/blocks?limit=1000')).text) as {
    blocks: { hash: string; sequence: number; event: { newData?: { physicalHash: string } } }[]
  }
  const missing = `/data/${blocks[26]?.event.newData?.physicalHash ?? ''}`
  const late = blocks.filter(({ sequence }) => sequence >= 16).map(({ hash }) => `/blocks/${hash}`)
  const interfere: Interference = ({ url = '' }) => {
    if (url.endsWith(missing)) return { status: 404, body: 'gone' }
    return late.some((end) => url.endsWith(end)) ? { delayMs: 3_000 } : undefined
  }
  await withReplica(interfere, async (replica) => {
    const count = async () => (await replica.query('select count(*) from "acme/goods"')).at('output.data.0.0')
    await expect.poll(count, soon).toBe(200 * 3)
    await expect
      .poll(async () => (await replica.call('/metrics')).text, soon)
      .toMatch(/^proofstream_follow_waiting_datasets 1$/m)
    proxy.interfere = () => undefined
    await arrives(replica)
    await sound(replica)
  })
})

test('an origin that is away and comes back is followed again; reads go on meanwhile', async () => {
  await withReplica(
    () => undefined,
    async (replica) => {
      await arrives(replica)
      proxy.interfere = () => ({ status: 503, body: 'away' })
      await origin.ingest('acme/goods', [{ n: 1, text: 'late' }])
      const told = async (): Promise<unknown> => (await replica.call('/readyz')).at('follow.fault')
      await expect.poll(told, soon).toContain('503')
      expect((await replica.call('/readyz')).status).toBe(200)
      expect((await replica.query('select count(*) from "acme/goods"')).status).toBe(200)
      proxy.interfere = () => undefined
      await arrives(replica)
    },
  )
})

test(
  'old heads that are told for a moment change nothing; told again and again they halt the dataset',
  {
    timeout: 60_000,
  },
  async () => {
    await withReplica(
      () => undefined,
      async (replica) => {
        const old = (await origin.head('acme/goods')) ?? ''
        const { text: list } = await origin.call('/datasets')
        await origin.ingest('acme/goods', [{ n: 2, text: 'new' }])
        await arrives(replica)
        const head = (await origin.head('acme/goods')) ?? ''
        let lies = 1
        const replay: Interference = ({ url = '' }) => {
          const body = url.includes('/refs/head') ? old : url.startsWith('/datasets?') && lies > 1 ? list : undefined
          return body !== undefined && lies-- > 0 ? { status: 200, body } : undefined
        }
        proxy.interfere = replay
        await origin.ingest('acme/goods', [{ n: 3, text: 'newer' }])
        await arrives(replica)
        expect(await evidenceOf(replica)).toEqual([])
        lies = Number.POSITIVE_INFINITY
        const halted = async (): Promise<unknown> => (await replica.call('/readyz')).at('follow.halted')
        await expect.poll(halted, soon).toEqual(['acme/goods'])
        expect((await replica.call('/metrics')).text).toMatch(/^proofstream_follow_halted_datasets 1$/m)
        expect(await replica.head('acme/goods')).toBe(await origin.head('acme/goods'))
        const [breach] = await evidenceOf(replica)
        expect(breach).toMatchObject({ kind: 'rolled-back', theirs: { hash: old }, alias: 'acme/goods' })
        expect(breach?.ours.hash).not.toBe(head)
        expect(breach?.blocks.map(({ hash }) => hash)).toEqual([breach?.ours.hash, old])
        proxy.interfere = () => undefined
        await origin.ingest('acme/goods', [{ n: 4, text: 'newest' }])
        await arrives(replica)
        await expect.poll(halted, soon).toEqual([])
        await sound(replica)
      },
    )
  },
)

test('an origin that goes on otherwise is not followed, and both hashes are kept', async () => {
  const before = await mkdtemp(join(tmpdir(), 'proofstream-fork-'))
  const first = await startLiveNode()
  await first.ingest('acme/forked', [{ n: 1 }], '?create=true')
  const token = (await readFile(first.node.tokenFile, 'utf8')).trim()
  const common = await first.head('acme/forked')
  await first.node.stop()
  await cp(first.dataDir, before, { recursive: true })
  // The same chain goes on twice: here with one row, there with another.
  const [one, other] = [await startLiveNode({ data: first.dataDir }), await startLiveNode({ data: before })]
  const call = { token, method: 'POST', headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=20' } }
  for (const n of [1.5, 2]) await one.call('/acme/forked/ingest', { ...call, body: `{"n":${n}}\n` })
  for (const n of [3, 4, 5]) await other.call('/acme/forked/ingest', { ...call, body: `{"n":${n}}\n` })
  const headOf = async (node: LiveNode): Promise<string> => (await node.call('/acme/forked/refs/head', { token })).text
  const switched = await startProxy(one.node.url)
  const replica = await startReplica(switched.url)
  try {
    await expect.poll(() => replica.head('acme/forked'), soon).toBe(await headOf(one))
    await switched.turnTo(other.node.url)
    await expect.poll(async () => (await replica.call('/readyz')).at('follow.halted'), soon).toEqual(['acme/forked'])
    expect(await replica.head('acme/forked')).toBe(await headOf(one))
    expect((await replica.query('select max(n) from "acme/forked"')).at('output.data.0.0')).toBe(2)
    const told = await runCommand(['doctor', '--data', replica.dataDir])
    expect(told.stdout).toMatch(/acme\/forked became another chain at its origin \(fork/)
    const partedAt = async (node: LiveNode): Promise<unknown> => {
      const { text } = await node.call('/acme/forked/blocks', { token })
      const { blocks } = JSON.parse(text) as { blocks: { hash: string; sequence: number; prevBlockHash: string }[] }
      const at = blocks.find(({ prevBlockHash }) => prevBlockHash === common)
      return { sequence: at?.sequence, hash: at?.hash }
    }
    expect(await evidenceOf(replica)).toMatchObject([
      { alias: 'acme/forked', kind: 'fork', ours: await partedAt(one), theirs: await partedAt(other) },
    ])
  } finally {
    await replica.remove()
    await switched.close()
    await one.stop()
    await other.stop()
    await first.stop()
    await rm(before, { recursive: true, force: true })
  }
})

// A copy whose files are damaged, while its node is down and while it runs: what can be fetched again is, and what is asked
// is answered as the origin answers it. The oracle is the origin.

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkStore } from '../../src/index.ts'
import { startLiveNode, type LiveNode } from '../helpers/live-node.ts'
import { type Replica, startReplica } from './support.ts'

const soon = { interval: 100 }
let origin: LiveNode
let dataDir: string

beforeAll(async () => {
  origin = await startLiveNode({ 'cut-open-age': '10ms' })
  for (let block = 0; block < 12; block++) {
    const rows = Array.from({ length: 50 }, (_, i) => ({ n: block * 50 + i, text: `${'x'.repeat(20)}${i * block}` }))
    await origin.ingest('acme/goods', rows, '?create=true')
  }
  dataDir = await mkdtemp(join(tmpdir(), 'proofstream-damaged-'))
})

afterAll(async () => {
  await origin.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const statement = 'select count(*), sum(n), min(text) from "acme/goods"'

async function start(): Promise<Replica> {
  return await startReplica(origin.node.url, {}, dataDir)
}

async function arrives(replica: Replica): Promise<void> {
  await expect.poll(() => replica.head('acme/goods'), soon).toBe(await origin.head('acme/goods'))
}

/** Every file of a kind in the store. */
async function filesOf(kind: string): Promise<string[]> {
  const store = join(dataDir, 'store')
  const all = await readdir(store, { recursive: true })
  const found: string[] = []
  for (const path of all.filter((one) => `/${one}`.includes(`/${kind}/`))) {
    if ((await stat(join(store, path))).isFile()) found.push(join(store, path))
  }
  return found
}

type Harm = 'a bit' | 'its end' | 'all of it' | 'the file'

async function harm(path: string, how: Harm): Promise<void> {
  const bytes = await readFile(path)
  await rm(path)
  const middle = bytes.length >> 1
  if (how === 'a bit') bytes[middle] = (bytes[middle] ?? 0) ^ 1
  if (how === 'all of it') bytes.fill(0x7f)
  if (how !== 'the file') await writeFile(path, how === 'its end' ? bytes.subarray(0, middle) : bytes, { mode: 0o600 })
}

/** What the replica says is what the origin says, and nothing on the way there was a fault of the node. */
async function isWhole(replica: Replica): Promise<void> {
  const there = await origin.query(statement)
  const answers: string[] = []
  const ask = async (): Promise<unknown> => {
    const answer = await replica.query(statement)
    answers.push(answer.refusal)
    return answer.at('output.data')
  }
  await expect.poll(ask, soon).toEqual(there.at('output.data'))
  expect(answers.filter((refusal) => refusal.startsWith('500'))).toEqual([])
  for (const path of ['/acme/goods/blocks?limit=1000', '/acme/goods/tail?limit=1000', '/acme/goods']) {
    expect((await replica.call(path)).status).toBe(200)
  }
  const { blocks } = JSON.parse((await origin.call('/acme/goods/blocks?limit=1000')).text) as {
    blocks: { hash: string; event: { newData?: { physicalHash: string }; newCheckpoint?: { physicalHash: string } } }[]
  }
  for (const { hash, event } of blocks) {
    const objects = [`blocks/${hash}`]
    if (event.newData !== undefined) objects.push(`data/${event.newData.physicalHash}`)
    if (event.newCheckpoint !== undefined) objects.push(`checkpoints/${event.newCheckpoint.physicalHash}`)
    for (const object of objects) {
      const [mine, theirs] = [await replica.call(`/acme/goods/${object}`), await origin.call(`/acme/goods/${object}`)]
      expect([object, mine.status, mine.bytes]).toEqual([object, 200, theirs.bytes])
    }
  }
}

async function mendedCount(replica: Replica): Promise<number> {
  return Number(/^proofstream_follow_mended_total (\d+)$/m.exec((await replica.call('/metrics')).text)?.[1])
}

const kinds = ['commits', 'blocks', 'data', 'checkpoints', 'names', 'refs', 'logs'] as const
const harms = ['its end', 'all of it', 'the file', 'a bit'] as const

/** Each file of a kind, in one way or another. */
async function harmAll(kind: string): Promise<void> {
  const files = await filesOf(kind)
  expect(files).not.toEqual([])
  for (const [i, path] of files.entries()) await harm(path, harms[i % harms.length] ?? 'its end')
}

test.each(kinds)('what was damaged of its %s while it was down is fetched anew', async (kind) => {
  const before = await start()
  await arrives(before)
  await before.stop()
  await harmAll(kind)
  const replica = await start()
  try {
    await arrives(replica)
    await isWhole(replica)
    // A head is a hint: the next one that is written is right.
    expect(kind === 'refs' || (await mendedCount(replica)) > 0).toBe(true)
  } finally {
    await replica.stop()
  }
  expect(await checkStore(dataDir)).toMatchObject({ ok: true })
})

test.each(kinds)('what is damaged of its %s while it runs is fetched anew', async (kind) => {
  const replica = await start()
  try {
    await arrives(replica)
    await harmAll(kind)
    await isWhole(replica)
    await origin.ingest('acme/goods', [{ n: 1, text: 'more' }])
    await arrives(replica)
    await isWhole(replica)
  } finally {
    await replica.stop()
  }
  const again = await start()
  try {
    await arrives(again)
    await isWhole(again)
  } finally {
    await again.stop()
  }
  expect(await checkStore(dataDir)).toMatchObject({ ok: true })
})

// A copy whose files are damaged, while its node is down and while it runs: what can be fetched again is, and what is asked
// is answered as the origin answers it. The oracle is the origin.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkStore } from '../../../src/index.ts'
import { startLiveNode, type LiveNode } from '../../helpers/live-node.ts'
import { arrives, expectWhole, filesOf, harm, harms, mendedCount } from './damage.ts'
import { type Replica, startReplica } from './support.ts'

let origin: LiveNode
let dataDir: string

beforeAll(async () => {
  origin = await startLiveNode({}, { cut: { openAgeMs: 10 } })
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

const asked = { alias: 'acme/goods', statement: 'select count(*), sum(n), min(text) from "acme/goods"' }

async function start(): Promise<Replica> {
  return await startReplica(origin.node.url, {}, dataDir)
}

const comes = (replica: Replica): Promise<void> => arrives(replica, origin, asked.alias)
const isWhole = (replica: Replica): Promise<void> => expectWhole(replica, origin, asked)

const kinds = ['commits', 'blocks', 'data', 'checkpoints', 'names', 'refs', 'logs'] as const

/** Each file of a kind, in one way or another. */
async function harmAll(kind: string): Promise<void> {
  const files = await filesOf(dataDir, kind)
  expect(files).not.toEqual([])
  for (const [i, path] of files.entries()) await harm(path, harms[i % harms.length] ?? 'its end')
}

test.each(kinds)('what was damaged of its %s while it was down is fetched anew', async (kind) => {
  const before = await start()
  await comes(before)
  await before.stop()
  await harmAll(kind)
  const replica = await start()
  try {
    await comes(replica)
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
    await comes(replica)
    await harmAll(kind)
    await isWhole(replica)
    await origin.ingest('acme/goods', [{ n: 1, text: 'more' }])
    await comes(replica)
    await isWhole(replica)
  } finally {
    await replica.stop()
  }
  const again = await start()
  try {
    await comes(again)
    await isWhole(again)
  } finally {
    await again.stop()
  }
  expect(await checkStore(dataDir)).toMatchObject({ ok: true })
})

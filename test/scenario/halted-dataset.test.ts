// Datasets that stopped because the log is not the one that they were read from: they take no rows and say why, and
// every read goes on.

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'

type Loss = (log: string, earlier: string) => Promise<void>

const losses: readonly (readonly [
  what: string,
  loss: Loss,
  status: number,
  kind: string,
  reasons: readonly string[],
])[] = [
  ['an older log', putBack, 503, 'LogUnavailable', ['LogRegressed']],
  ['another log', (log) => rm(log, { recursive: true }), 409, 'OtherLog', []],
]

/** The log as it was before the last rows. */
async function putBack(log: string, earlier: string): Promise<void> {
  await rm(log, { recursive: true })
  await cp(earlier, log, { recursive: true })
}

async function expectReads(live: LiveNode): Promise<void> {
  expect((await live.query('select sum(n), count(*) from "acme/a"')).at('output.data')).toEqual([[3, 2]])
  expect((await live.call('/acme/a/tail?dataFormat=JsonAoa')).at('data.1.4')).toBe(2)
  const blocks = (await live.call('/acme/a/blocks?limit=1')).at('blocks') as {
    hash: string
    event: Record<string, { physicalHash: string }>
  }[]
  const { hash = '', event = {} } = blocks[0] ?? {}
  expect((await live.call('/acme/a/refs/head')).text).toBe(hash)
  for (const path of [
    '/metadata',
    `/blocks/${hash}`,
    `/data/${event['newData']?.physicalHash}`,
    `/checkpoints/${event['newCheckpoint']?.physicalHash}`,
  ]) {
    expect([path, (await live.call(`/acme/a${path}`)).status]).toEqual([path, 200])
  }
  const proven = await live.query('select sum(n) from "acme/a"', { include: ['Proof'] })
  const verified = await live.call('/verify', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: proven.text,
  })
  expect(verified.json).toMatchObject({ ok: true })
}

describe('a dataset of a log that is gone', () => {
  test.each(losses)('is read as before, and says why it takes no rows: %s', async (_, lose, status, kind, reasons) => {
    const data = await mkdtemp(join(tmpdir(), 'proofstream-halted-'))
    const [log, earlier] = [join(data, 'log'), join(data, 'earlier')]
    const first = await startLiveNode({ data })
    await first.ingest('acme/a', [{ n: 1 }], '?create=true')
    await first.node.stop()
    await cp(log, earlier, { recursive: true })
    const second = await startLiveNode({ data })
    expect((await second.ingest('acme/a', [{ n: 2 }])).at('status')).toBe('committed')
    await second.node.stop()
    await lose(log, earlier)
    const live = await startLiveNode({ data })
    try {
      await expectReads(live)
      const refused = await live.ingest('acme/a', [{ n: 3 }])
      expect([refused.status, refused.at('error.kind')]).toEqual([status, kind])
      expect(String(refused.at('message')).match(/Log[A-Z][a-z]+/g) ?? []).toEqual(reasons)
      await expectReads(live)
    } finally {
      await live.stop()
      await rm(data, { recursive: true, force: true })
    }
  })
})

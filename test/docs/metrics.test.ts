// The page of metrics names each metric that a node has, with its type, and no other.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startLiveNode, liveNode } from '../helpers/live-node.ts'
import { until } from '../helpers/until.ts'

const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')
/** Needs a log in Kafka, or another node that is followed. */
const elsewhere = [
  'proofstream_log_open_seconds gauge',
  'proofstream_follow_datasets gauge',
  'proofstream_follow_waiting_datasets gauge',
  'proofstream_follow_halted_datasets gauge',
  'proofstream_follow_lag_blocks gauge',
  'proofstream_follow_lag_seconds gauge',
  'proofstream_follow_received_bytes_total counter',
  // Of a policy that names ledgers.
  'proofstream_witness_cosigned_total counter',
  'proofstream_witness_evidence_total counter',
  'proofstream_follower_compared_entries_total counter',
  'proofstream_follower_ordered_entries_total counter',
]

// A broker that is not there has its metrics too.
const live = await liveNode({
  tsa: 'http://127.0.0.1:9',
  mqtt: 'tcp://127.0.0.1:9',
  'mqtt-route': 'a=acme/a',
  'pg-listen': '127.0.0.1:0',
})

async function metrics(): Promise<string> {
  return (await live.call('/metrics')).text
}

await until('a ledger', async () => ((await metrics()).includes('ledger_behind') ? true : undefined))

test('how it goes with the broker is told where the node says what it needs', async () => {
  const { status, json } = await live.call('/readyz')
  expect([status, json]).toMatchObject([200, { ok: true, mqtt: { routes: 1, connected: 0, unacknowledged: 0 } }])
})

async function valueOf(name: string): Promise<number> {
  return Number(new RegExp(`^proofstream_${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(await metrics())?.[1])
}

test('the page lists each metric with its type', async () => {
  const told = [...(await metrics()).matchAll(/^# TYPE (proofstream_\S+) (\S+)$/gm)]
    .filter(([, name = '']) => !/^proofstream_(?:process|nodejs)_/.test(name))
    .map(([, name, type]) => `${name} ${type}`)
  const listed = [...page.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, name, type]) => `${name} ${type}`)
  expect(listed.toSorted()).toEqual([...told, ...elsewhere].toSorted())
})

test('a batch moves the metrics of its way', async () => {
  await live.ingest('acme/measured', [{ n: 1 }, { n: 2 }], '?create=true')
  await live.ingest('acme/measured', [{ n: 3 }])
  await live.query('select 1')
  expect(await valueOf('ingested_records_total')).toBe(3)
  expect(await valueOf('ingest_accepted_to_logged_seconds_count')).toBe(2)
  // The creation and two blocks.
  expect(await valueOf('builder_logged_to_committed_seconds_count')).toBe(3)
  expect(await valueOf('block_age_seconds_count')).toBeGreaterThan(0)
  expect(Math.abs((await valueOf('newest_block_timestamp_seconds')) - Date.now() / 1000)).toBeLessThan(60)
  await expect.poll(() => valueOf('builder_open_rows')).toBe(0)
  for (const name of ['ingest_open_requests', 'ingest_waiting_requests', 'halted_datasets', 'query_running']) {
    expect(await valueOf(name)).toBe(0)
  }
})

test('rows that wait for their block, and callers who do, are counted', async () => {
  const slow = await startLiveNode({}, { cut: { openAgeMs: 3_600_000, waitAgeMs: 3_600_000 } })
  try {
    await slow.call('/acme/slow', { method: 'PUT', json: { schema: { fields: [{ name: 'n', type: 'Int64' }] } } })
    const headers = { 'content-type': 'application/x-ndjson', prefer: 'wait=3' }
    const waiting = slow.call('/acme/slow/ingest', { method: 'POST', headers, body: '{"n":1}\n{"n":2}\n' })
    const text = async (): Promise<string> => (await slow.call('/metrics')).text
    await expect.poll(text).toMatch(/^proofstream_builder_open_rows 2$/m)
    await expect.poll(text).toMatch(/^proofstream_ingest_waiting_callers 1$/m)
    await expect.poll(text).toMatch(/^proofstream_builder_open_bytes [1-9]\d*$/m)
    expect((await waiting).status).toBe(202)
  } finally {
    await slow.stop()
  }
})

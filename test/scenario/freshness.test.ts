// The pace of a dataset's own, as a user sees it: made with it, told everywhere, kept over a restart.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/node/config.ts'
import { type RunningNode, startNode } from '../../src/node/node.ts'
import { type Answer, send } from '../helpers/live-node.ts'
import { runCommand } from '../helpers/run-node.ts'
import { tuned } from '../helpers/tuning.ts'

let data: string
let node: RunningNode
let token: string

async function begin(): Promise<void> {
  // Whoever has no pace of its own gets one block, and the next one in an hour.
  const cut = { burstBlocks: 1, intervalMs: 3_600_000, openAgeMs: 50, waitAgeMs: 10 }
  node = await startNode(tuned(loadConfig({ data, listen: '127.0.0.1:0', 'log-level': 'silent' }), { cut }))
  token = (await readFile(node.tokenFile, 'utf8')).trim()
}

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'proofstream-freshness-'))
  await begin()
})
afterEach(async () => {
  await node.stop()
  await rm(data, { recursive: true, force: true })
})

function call(method: string, path: string, body?: object, prefer = 'respond-async'): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', prefer }
  return send(node.url, path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
}

async function rowsOf(alias: string): Promise<unknown> {
  return (await call('GET', `/${alias}`)).at('rows')
}

/** Posts a row that nobody waits for, and waits until it is in a block. */
async function land(alias: string, rows: number): Promise<void> {
  expect((await call('POST', `/${alias}/ingest?create=true`, [{ n: rows }])).status).toBeLessThan(300)
  await expect.poll(() => rowsOf(alias), { interval: 20 }).toBe(rows)
}

test('rows come at the pace of their dataset, before and after a restart; another one keeps the pace of the node', async () => {
  const made = await call('PUT', '/acme/fresh', { freshness: '200ms' })
  expect(made.status).toBe(201)
  await land('acme/other', 1)
  for (let rows = 1; rows <= 4; rows++) await land('acme/fresh', rows)
  expect((await call('POST', '/acme/other/ingest', [{ n: 2 }])).status).toBe(202)
  await sleep(1_000)
  expect(await rowsOf('acme/other')).toBe(1)
  await node.stop()
  await begin()
  for (let rows = 5; rows <= 8; rows++) await land('acme/fresh', rows)
  expect((await call('GET', '/acme/fresh')).at('freshness')).toBe('200ms')
  // A block that comes within a second is waited for.
  expect((await call('POST', '/acme/fresh/ingest', [{ n: 9 }], '')).at('status')).toBe('committed')
})

test('the command line sets freshness, and tells it', async () => {
  const run = (line: string) =>
    runCommand(line.split(' ').concat('--server', node.url), { env: { PROOFSTREAM_TOKEN: token } })
  const made = await run('dataset create acme/paced --column city:String --freshness 90s')
  expect(made).toMatchObject({ code: 0 })
  const shown = await run('dataset show acme/paced --output json')
  expect(JSON.parse(shown.stdout)).toMatchObject({ freshness: '90s' })
})

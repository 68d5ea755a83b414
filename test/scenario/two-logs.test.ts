// Two nodes over one store, each with a log of its own: each shows what the other commits, renames, hides and deletes as a
// replica does, a second late at most.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'

let home: string
let one: LiveNode
let other: LiveNode

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'proofstream-two-logs-'))
  one = await startLiveNode({ data: join(home, 'one') })
  other = await startLiveNode({ data: join(home, 'other'), store: join(home, 'one', 'store') })
  await one.ingest('acme/goods', [{ n: 1 }], '?create=true')
})
afterAll(async () => {
  await Promise.all([one.stop(), other.stop()])
  await rm(home, { recursive: true, force: true })
})

const count = (at: LiveNode, alias: string): Promise<unknown> =>
  at.query(`select count(*) from "${alias}"`).then((answer) => answer.at('output.data.0.0') ?? answer.refusal)

/** It takes as long as the other node does not look again. */
const becomes = (what: () => Promise<unknown>, value: unknown): Promise<void> =>
  vi.waitFor(async () => expect(await what()).toEqual(value), { timeout: 20_000, interval: 200 })

test('rows, heads and new columns of the other one', async () => {
  expect(await count(other, 'acme/goods')).toBe(1)
  await one.ingest('acme/goods', [{ n: 2 }])
  await becomes(() => count(other, 'acme/goods'), 2)
  await one.ingest('acme/goods', [{ n: 3, m: 1 }], '?unknownFields=add')
  await becomes(() => other.head('acme/goods'), await one.head('acme/goods'))
  await becomes(async () => (await other.query('select sum(m) from "acme/goods"')).at('output.data.0.0'), 1)
  // What is sent to the wrong one is told so, and what it has of its own goes on.
  expect((await other.ingest('acme/goods', [{ n: 4 }])).refusal).toBe('409 OtherLog')
  await other.ingest('acme/own', [{ n: 1 }], '?create=true')
  expect(await count(one, 'acme/own')).toBe(1)
  await other.ingest('acme/own', [{ n: 2 }])
  expect(await count(other, 'acme/own')).toBe(2)
  await becomes(() => count(one, 'acme/own'), 2)
})

test('a reader who waits for a block of the other one', async () => {
  expect(await count(other, 'acme/goods')).toBe(3)
  const headers = { 'if-none-match': `"${await other.head('acme/goods')}"` }
  const waiting = other.call('/acme/goods/refs/head?wait=60', { headers })
  await one.ingest('acme/goods', [{ n: 77 }])
  expect((await waiting).text).toBe(await one.head('acme/goods'))
})

test('a change of name, of who may see it, and a deletion', async () => {
  const change = (alias: string, json: object) => one.call(`/${alias}`, { method: 'PATCH', json })
  await becomes(() => count(other, 'acme/goods'), 4)
  expect((await change('acme/goods', { visibility: 'private' })).status).toBe(200)
  const anonymous = async () =>
    (await other.query('select count(*) from "acme/goods"', {}, { token: null })).refusal.slice(0, 3)
  await becomes(anonymous, '404')
  expect((await change('acme/goods', { alias: 'acme/wares' })).status).toBe(200)
  await becomes(() => count(other, 'acme/wares'), 4)
  const head = String(await one.head('acme/wares'))
  const deleted = await one.call('/acme/wares', { method: 'DELETE', headers: { 'if-match': `"${head}"` } })
  expect(deleted.status).toBe(200)
  await becomes(async () => String(await count(other, 'acme/wares')).slice(0, 3), '404')
})

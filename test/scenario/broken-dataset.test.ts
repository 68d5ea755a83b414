// One dataset whose chain cannot be read: it is named and takes no rows; everything else goes on.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'

let live: LiveNode
let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'proofstream-broken-'))
  const before = await startLiveNode({ data: dir })
  await before.ingest('acme/broken', [{ n: 1 }], '?create=true')
  await before.ingest('acme/whole', [{ n: 1 }], '?create=true')
  const id = String((await before.call('/datasets?account=acme')).at('datasets.0.id'))
  await before.stop()
  const blocks = join(dir, 'store', 'datasets', id.replace('did:odf:', ''), 'blocks')
  for (const name of await readdir(blocks)) await rm(join(blocks, name), { force: true, recursive: true })
  live = await startLiveNode({ data: dir })
})
afterAll(async () => {
  await live.stop()
  await rm(dir, { recursive: true, force: true })
})

test('the others are listed, take rows and answer', async () => {
  const listed = (await live.call('/datasets')).at('datasets') as { alias: string }[]
  expect(listed.map(({ alias }) => alias)).toEqual(['acme/whole'])
  expect((await live.ingest('acme/whole', [{ n: 2 }])).at('status')).toBe('committed')
  expect((await live.query('select sum(n) from "acme/whole"')).at('output.data')).toEqual([[3]])
})

test('it takes no rows and says why; a caller without the right learns nothing', async () => {
  const answer = await live.ingest('acme/broken', [{ n: 2 }])
  expect([answer.status, answer.at('error.kind'), answer.at('message')]).toEqual([
    503,
    'LogUnavailable',
    expect.stringContaining('ChainBroken'),
  ])
  expect(answer.headers['retry-after']).toBe('30')
  const made = await live.call('/tokens', {
    method: 'POST',
    json: { name: 'other', scopes: ['ingest'], datasets: ['other/*'] },
  })
  const body = { method: 'POST', token: String(made.at('token')), body: '{"n":1}' }
  const stranger = await live.call('/acme/broken/ingest', { ...body, headers: { 'content-type': 'application/json' } })
  expect([stranger.status, stranger.at('error.kind')]).toEqual([404, 'DatasetNotFound'])
})

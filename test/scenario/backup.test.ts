// Backups of a node that is being written to: each is whole, holds what was committed when it began, and becomes a node that
// proves what the first one proved and stores nothing twice.

import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkStore } from '../../src/index.ts'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'
import { type Finished, runCommand } from '../helpers/run-node.ts'

let home = ''
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'proofstream-backup-'))
})
afterAll(() => rm(home, { recursive: true, force: true }))

const backup = (data: string, to: string): Promise<Finished> => runCommand(['backup', to, '--data', data])
const restore = (from: string, data: string): Promise<Finished> => runCommand(['restore', from, '--data', data])

function post(live: LiveNode, key: string, n: number) {
  return live.call('/acme/stream/ingest', {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': key, prefer: 'wait=20' },
    body: `{"n":${n}}\n`,
  })
}

async function verifyAt(live: LiveNode, proof: string): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  return (await live.call('/verify', { method: 'POST', headers, body: proof })).at('ok')
}

test('a backup of a node at work becomes a node that proves, repeats and goes on', async () => {
  const [data, to, again] = [join(home, 'data'), join(home, 'backup'), join(home, 'again')]
  const live = await startLiveNode({ data }, { cut: { waitAgeMs: 1, openAgeMs: 1 } })
  await live.ingest('acme/stream', [{ n: -1 }], '?create=true')
  await live.ingest('acme/hidden', [{ a: 1 }], '?create=true&visibility=private')
  const made = await live.call('/tokens', { method: 'POST', json: { name: 'gone', scopes: ['read'] } })
  let posted = 0
  let isDone = false
  const writing = (async () => {
    while (!isDone) {
      expect((await post(live, `key-${posted}`, posted)).status).toBe(200)
      posted++
    }
  })()
  const held: [before: number, rows: number][] = []
  for (let time = 0; time < 3; time++) {
    if (time === 2) await live.call(`/tokens/${String(made.at('id'))}`, { method: 'DELETE' })
    const before = posted
    expect(await backup(data, to)).toMatchObject({ code: 0 })
    const report = await checkStore(to)
    expect(report).toMatchObject({ ok: true, problems: [] })
    held.push([before, (report.datasets.find(({ alias }) => alias === 'acme/stream')?.rows ?? 0) - 1])
  }
  for (const [before, rows] of held) expect(rows).toBeGreaterThanOrEqual(before)
  const proof = (await live.query('select count(*) as c from acme.stream where n < 1', { include: ['Proof'] })).text
  isDone = true
  await writing
  const last = await backup(data, to)
  expect(JSON.parse(last.stdout)).toMatchObject({ datasets: 2 })
  await live.stop()

  expect(await restore(to, again)).toMatchObject({ code: 0 })
  for (const file of ['token', 'keys/node.json']) {
    expect(await readFile(join(again, file), 'utf8')).toBe(await readFile(join(data, file), 'utf8'))
    expect((await stat(join(again, file))).mode & 0o777).toBe(0o600)
  }
  expect(await readdir(join(again, 'store', 'tokens'))).not.toContain(String(made.at('id')))
  const second = await startLiveNode({ data: again })
  expect(second.node.did).toBe(live.node.did)
  expect(await verifyAt(second, proof)).toBe(true)
  expect((await second.call('/acme/hidden', { token: null })).refusal).toBe('404 DatasetNotFound')
  expect((await post(second, 'key-0', 0)).headers['idempotent-replayed']).toBe('true')
  expect((await post(second, 'another', 1)).at('records.committed')).toBe(1)
  expect((await second.query('select count(*) as c from acme.stream')).at('output.data.0.0')).toBe(posted + 2)
  await second.stop()
  expect(await checkStore(again)).toMatchObject({ ok: true, orphans: 0 })
})

test('long chains, packed and swept between two backups, are restored', async () => {
  const fixture = join(import.meta.dirname, '../fixtures/stores/before-sweeps')
  const old = join(home, 'old')
  execFileSync('mkdir', ['-p', old])
  execFileSync('tar', ['-xzf', `${fixture}.tar.gz`, '-C', old])
  const [data, to, again] = [join(old, 'data'), join(old, 'backup'), join(old, 'again')]
  const { answers } = JSON.parse(await readFile(`${fixture}.json`, 'utf8')) as { answers: Record<string, string> }
  expect(await backup(data, to)).toMatchObject({ code: 0 })
  expect((await runCommand(['fsck', data, '--pack', '--sweep'])).code).toBe(0)
  // The pack, its record, and the mark of the store.
  expect(JSON.parse((await backup(data, to)).stdout)).toMatchObject({ datasets: 1, objects: 3 })
  expect(JSON.parse((await backup(data, to)).stdout)).toMatchObject({ objects: 0, bytes: 0 })
  expect(await checkStore(to)).toMatchObject({ ok: true })
  const fresh = join(old, 'fresh')
  expect(await backup(data, fresh)).toMatchObject({ code: 0 })
  for (const from of [to, fresh]) {
    await rm(again, { recursive: true, force: true })
    expect(await restore(from, again)).toMatchObject({ code: 0 })
    const live = await startLiveNode({ data: again })
    for (const [path, answer] of Object.entries(answers)) expect((await live.call(path)).text).toBe(answer)
    await live.stop()
  }
})

test('what is damaged is named and what is whole is copied; nothing is written over', async () => {
  const [data, to] = [join(home, 'damaged'), join(home, 'of-damaged')]
  const live = await startLiveNode({ data })
  for (const name of ['good', 'bad']) await live.ingest(`acme/${name}`, [{ a: 1 }], '?create=true')
  const { links, ...bad } = (await live.call('/acme/bad')).json as { id: string; links: unknown }
  expect(links).toBeDefined()
  await live.stop()
  const slices = join(data, 'store', 'datasets', bad.id.slice('did:odf:'.length), 'data')
  const slice = join(slices, (await readdir(slices))[0] ?? '')
  const bytes = await readFile(slice)
  bytes[20] = (bytes[20] ?? 0) ^ 1
  await rm(slice)
  await writeFile(slice, bytes)
  const done = await backup(data, to)
  expect([done.code, done.stdout]).toEqual([10, expect.stringContaining('"datasets":1')])
  expect(done.stderr).toMatch(/acme\/bad: .*data\/f1620.* is damaged/)
  expect((await checkStore(to)).datasets.map(({ alias, ok }) => [alias, ok])).toContainEqual(['acme/good', true])
  expect(await restore(to, data)).toMatchObject({ code: 2, stderr: expect.stringContaining('There is a node in') })
  expect(await backup(data, data)).toMatchObject({ code: 2 })
  expect(await restore(join(home, 'nothing'), join(home, 'none'))).toMatchObject({ code: 3 })
  expect(await backup(join(home, 'nothing'), join(home, 'none'))).toMatchObject({ code: 3 })
})

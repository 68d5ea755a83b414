// The commands of the pages for operators, as they stand there, against nodes of this machine: a dataset that is deleted,
// restored, renamed and expires; a halt by one message; a key that changes and leaks; a token for Prometheus.

import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { compressor } from '../../src/node/machine/work/zstd-page.ts'
import { startS3Stub } from '../adapters/s3-stub.ts'
import { testKeys } from '../helpers/buckets.ts'
import { type LiveNode, liveNode, startLiveNode } from '../helpers/live-node.ts'
import { blockOf, blocksOf, shown } from '../helpers/page-blocks.ts'
import { type Finished, type RunOptions, runShell, type ServedNode, serveNode } from '../helpers/run-node.ts'

interface DidDocument {
  readonly verificationMethod: readonly { readonly controller: string; readonly revoked?: string }[]
}

const folder = await mkdtemp(join(tmpdir(), 'proofstream-pages-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const live = await liveNode()

/** Runs commands of a page as the admin of a node. */
async function asAdmin(
  script: string,
  more: RunOptions = {},
  { node, adminToken }: LiveNode = live,
): Promise<Finished> {
  const env = { PROOFSTREAM_SERVER: node.url, PROOFSTREAM_TOKEN: adminToken }
  return runShell(script, { cwd: folder, ...more, env: { ...env, ...more.env } })
}

/** Runs `proofstream serve` over a directory below the folder. */
async function served(data: string, flags: readonly string[] = [], env = {}): Promise<ServedNode> {
  const node = await serveNode(join(folder, data), flags, env)
  onTestFinished(async () => void (await node.end('SIGKILL')))
  return node
}

test('docs/deleting.md: a dataset is deleted on a terminal, listed, restored and renamed', async () => {
  await live.ingest('acme/readings', [{ celsius: 21.5 }], '?create=true')
  const id = String((await live.call('/acme/readings')).at('id'))
  const [remove = '', ...others] = blockOf('docs/deleting.md', 'proofstream dataset delete').trim().split('\n')
  expect(await asAdmin(`script -qec '${remove}' /dev/null`, { input: 'acme/readings\n' })).toMatchObject({ code: 0 })
  expect((await live.call('/acme/readings')).status).toBe(404)
  const restored = await asAdmin(others.join('\n').replace('did:odf:fed01…', id))
  expect([restored.code, restored.stdout]).toEqual([0, expect.stringContaining(id)])
  expect((await live.query('select celsius from acme.readings')).at('output.data')).toEqual([[21.5]])
  expect(await asAdmin(blockOf('docs/deleting.md', 'proofstream dataset set'))).toMatchObject({ code: 0 })
  expect((await live.call('/acme/readings-2025')).at('id')).toBe(id)
})

test('docs/privacy.md: the lines of cron delete the dataset of the month that is over', async () => {
  const now = new Date()
  const month = new Date(Date.UTC(now.getFullYear(), now.getMonth() - 13, now.getDate())).toISOString().slice(0, 7)
  await live.ingest(`acme/readings-${month}`, [{ celsius: 21.5 }], '?create=true')
  const block = blockOf('docs/privacy.md', '# /etc/cron.d/proofstream')
  const [, programs, data] = /^PATH=\S+:(\S+)\nPROOFSTREAM_DATA=(\S+)$/m.exec(block) ?? []
  const installed = blockOf('docs/operations.md', 'useradd')
  expect(`${programs}`).toBe(`${/--prefix (\S+)/.exec(installed)?.[1]}/node_modules/.bin`)
  expect(installed).toContain(` --home-dir ${data} `)
  // As cron gives it to the shell.
  const [, line = ''] = /^0 3 1 \* \* proofstream (.+)$/m.exec(block) ?? []
  const env = { PROOFSTREAM_SERVER: live.node.url, PROOFSTREAM_DATA: live.dataDir, LINE: line.replaceAll('\\%', '%') }
  expect(await runShell('exec sh -c "$LINE"', { cwd: folder, env })).toMatchObject({ code: 0 })
  expect((await live.call(`/acme/readings-${month}`)).status).toBe(404)
  expect((await live.call('/datasets/deleted')).text).not.toContain(month)
})

test('docs/halts.md: doctor names the message that halts a dataset, and rejecting it ends the halt', async () => {
  const halted = await startLiveNode()
  const { compress } = compressor
  vi.spyOn(compressor, 'compress').mockImplementation((bytes) => {
    if (Buffer.from(bytes).includes('poison ')) throw new RangeError('a bug')
    return compress(bytes)
  })
  onTestFinished(async () => {
    vi.restoreAllMocks()
    await halted.stop()
  })
  await halted.ingest('acme/weather', [{ text: 'first' }], '?create=true')
  const poison = await halted.call('/acme/weather/ingest', {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', prefer: 'respond-async' },
    body: Array.from({ length: 200 }, (_, i) => `{"text":"poison ${i}"}\n`).join(''),
  })
  const block = blockOf('docs/halts.md', 'proofstream doctor')
    .replaceAll('./node', halted.dataDir)
    .replaceAll('1742', String(poison.at('log.position')))
  const [doctor = '', comment = '', reject = ''] = block.split('\n')
  const said = shown(comment.replace('# ', ''))
  const find = () => asAdmin(doctor, {}, halted)
  await expect.poll(async () => (await find()).stdout.replaceAll('\n', ' ')).toMatch(said)
  expect(await asAdmin(reject, {}, halted)).toMatchObject({ code: 0 })
  const receipt = () => halted.call(`/receipts/${String(poison.at('receiptId'))}`)
  await expect.poll(async () => (await receipt()).at('status')).toBe('rejected')
  expect((await receipt()).at('errors.0.message')).toContain('a column name that no reader gives back')
})

test('docs/keys.md: a key changes, and both the present and a former one are said to be leaked', async () => {
  const [rotate = '', leaks = ''] = blocksOf('docs/keys.md').map(({ text }) => text)
  const first = await served('node')
  await first.end('SIGTERM')
  const rotated = await asAdmin(rotate)
  expect([rotated.code, JSON.parse(rotated.stdout)]).toMatchObject([0, { former: first.did }])
  const second = await served('node')
  expect(second.did).not.toBe(first.did)
  await second.end('SIGTERM')
  expect(await asAdmin(leaks.replace('did:key:z6Mk…', first.did))).toMatchObject({ code: 0 })
  const third = await served('node')
  const document = (await (await fetch(`${third.url}/.well-known/did.json`)).json()) as DidDocument
  const states = document.verificationMethod.map(({ controller, revoked }) => [controller, revoked !== undefined])
  expect(states[0]).toEqual([third.did, false])
  expect(Object.fromEntries(states)).toEqual({ [third.did]: false, [first.did]: true, [second.did]: true })
  await third.end('SIGTERM')
})

test('docs/operations.md: a node over a bucket is tried and serves', async () => {
  const bucket = await startS3Stub()
  onTestFinished(() => bucket.close())
  const page = blockOf('docs/operations.md', 'npm install --prefix /opt/proofstream @aws-sdk')
  const block = page.replaceAll('?region=', `?endpoint=${bucket.url}&region=`)
  const [, give = '', doctor = '', serve = ''] = block.split('\n')
  const { accessKeyId, secretAccessKey } = testKeys
  const keys = give.replace('ID=…', `ID=${accessKeyId}`).replace('KEY=…', `KEY='${secretAccessKey}'`)
  const tried = await asAdmin(`${keys}\n${doctor}`)
  expect([tried.code, tried.stdout]).toEqual([0, expect.stringContaining('s3://lake/proofstream')])
  const words = serve.replaceAll("'", '').split(' ').slice(2)
  const node = await served('of-bucket', words, {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  })
  await node.end('SIGTERM')
  expect([...bucket.objects.keys()].some((key) => key.includes('proofstream/'))).toBe(true)
})

test('docs/operations.md: a node that ran once has the files of which a secret is made', async () => {
  const block = blockOf('docs/operations.md', 'proofstream serve --data ./first')
  const node = await served('first')
  await node.end('SIGINT')
  const files = [...block.matchAll(/--from-file=\.\/(\S+)/g)].map(([, path = '']) => path)
  expect(files.map((path) => [path, existsSync(join(folder, path))])).toEqual([
    ['first/keys/node.json', true],
    ['first/token', true],
  ])
})

test('docs/operations.md: a token that covers no dataset reads the metrics', async () => {
  const closed = await startLiveNode({ 'anonymous-read': false })
  onTestFinished(() => closed.stop())
  await closed.ingest('acme/a', [{ n: 1 }], '?create=true')
  expect((await closed.call('/metrics', { token: null })).status).toBe(401)
  const made = await asAdmin(blockOf('docs/operations.md', 'npx proofstream token create prometheus'), {}, closed)
  const [token = ''] = /pst_\w+/.exec(made.stdout) ?? []
  expect((await closed.call('/metrics', { token })).status).toBe(200)
  expect((await closed.call('/datasets', { token })).at('datasets')).toEqual([])
})

test('docs/scale.md: a node answers the statements', async () => {
  const rows = [
    { event_time: '2026-01-31T12:00:00Z', city: 'Oslo', n: 1 },
    { event_time: '2026-02-01T12:00:00Z', city: 'Oslo', n: 1 },
  ]
  await live.ingest('acme/scale', rows, '?create=true')
  const block = blockOf('docs/scale.md', 'SELECT city').replace('…', "'2026-02-01'").replace('…', "'2026-02-02'")
  const answers = await Promise.all(
    block
      .trim()
      .split('\n')
      .map((sql) => live.query(sql)),
  )
  expect(answers.map((answer) => answer.at('output.data'))).toEqual([
    [['Oslo', 2, 2, '2026-02-01T12:00:00Z']],
    [[1, 1]],
    [[1, 2]],
  ])
})

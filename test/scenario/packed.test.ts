// A chain of a real node is packed and swept by `proofstream fsck --pack --sweep`, and then lives in packs alone: every answer,
// object, file, receipt and proof is the one that it was, and the chain grows on.

import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkStore } from '../../src/index.ts'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'
import { runCommand } from '../helpers/run-node.ts'

const posts = 270
const alias = 'acme/stream'
const quick = { cut: { waitAgeMs: 1, openAgeMs: 1 } }

let data = ''
let before: readonly string[] = []
let questions: readonly string[] = []
let proof = ''
let receipt = ''

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'proofstream-packed-'))
  const live = await startLiveNode({ data }, quick)
  await live.ingest(alias, [{ n: 0, city: 'Oslo' }], '?create=true')
  for (let n = 1; n < posts; n++) {
    const answer = await live.ingest(alias, [{ n, city: n % 3 === 0 ? null : 'Rome' }])
    if (n === 100) receipt = String(answer.at('receiptId'))
  }
  proof = (await live.query(`select sum(n) as s from "${alias}"`, { include: ['Proof'] })).text
  questions = await questionsOf(live)
  before = await answersOf(live)
  await live.stop()
})
afterAll(() => rm(data, { recursive: true, force: true }))

const statements = [
  `select count(*) as c, sum(n) as s, min("offset") as o from "${alias}"`,
  `select avg(n / 3) as a, stddev(n) as d from "${alias}"`,
  `select * from "${alias}" order by "offset" desc limit 7`,
  `select n from "${alias}" where "offset" between 40 and 44`,
]

/** All that can be asked of the chain: its blocks page by page, every object, its rows, one receipt. */
async function questionsOf(live: LiveNode): Promise<string[]> {
  const paths = [
    `/${alias}/refs/head`,
    `/${alias}/metadata`,
    `/${alias}/tail?limit=300`,
    `/${alias}/export?format=csv`,
    `/receipts/${receipt}`,
  ]
  for (let next = ''; ;) {
    const path = `/${alias}/blocks?limit=100${next === '' ? '' : `&before=${next}`}`
    paths.push(path)
    const page = await live.call(path)
    const { blocks } = page.json as { blocks: { hash: string; event: Record<string, { physicalHash?: string }> }[] }
    for (const { hash, event } of blocks) {
      paths.push(`/${alias}/blocks/${hash}`)
      const [slice, checkpoint] = [event['newData']?.physicalHash, event['newCheckpoint']?.physicalHash]
      if (slice !== undefined) paths.push(`/${alias}/data/${slice}`)
      if (checkpoint !== undefined) paths.push(`/${alias}/checkpoints/${checkpoint}`)
    }
    if (typeof page.at('next') !== 'string') return paths
    next = String(page.at('next'))
  }
}

async function answersOf(live: LiveNode): Promise<string[]> {
  const answers: string[] = []
  for (const path of questions) {
    const { status, bytes } = await live.call(path)
    answers.push(`${path} ${status} ${Buffer.from(bytes).toString('base64')}`)
  }
  for (const sql of statements) answers.push((await live.query(sql)).text)
  return answers
}

test('a packed chain answers as it did, proves what it proved, and grows', async () => {
  expect(before.filter((answer) => / [45]\d\d /.test(answer.slice(0, 200)))).toEqual([])
  expect(before.length).toBeGreaterThan(3 * posts)
  expect(await runCommand(['fsck', data, '--pack', '--sweep'])).toMatchObject({
    code: 0,
    stdout: `{"dataset":"${alias}","packs":1,"swept":254}\n`,
  })
  const datasets = join(data, 'store', 'datasets')
  const dataset = join(datasets, (await readdir(datasets))[0] ?? '')
  // The last commits of the chain are in no pack.
  for (const folder of ['blocks', 'checkpoints', 'commits', 'data'])
    expect((await readdir(join(dataset, folder))).length).toBeLessThan(40)
  const report = await checkStore(data)
  expect([report.ok, report.datasets[0]?.packs, report.datasets[0]?.rows]).toEqual([true, 1, posts])

  const live = await startLiveNode({ data }, quick)
  expect(await answersOf(live)).toEqual(before)
  expect((await live.call(`/${alias}/blocks/f1620${'0'.repeat(64)}`)).refusal).toBe('404 BlockNotFound')
  expect((await live.call(`/${alias}/data/f1620${'0'.repeat(64)}`)).refusal).toBe('404 ObjectNotFound')
  const verified = await live.call('/verify', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: proof,
  })
  expect([verified.status, verified.at('ok'), verified.at('error')]).toEqual([200, true, undefined])
  expect((await live.ingest(alias, [{ n: posts, city: 'Bern' }])).status).toBe(200)
  expect((await live.query(`select count(*) as c from "${alias}"`)).text).toContain(String(posts + 1))
  await live.stop()
  expect(await checkStore(data)).toMatchObject({ ok: true })
  // Slices that were taken out for statements are there for the next process, which checks them.
  const folder = join(data, 'cache', 'slice-files', 'folders')
  const takenOut = async (): Promise<string[]> =>
    (await readdir(folder, { recursive: true })).filter((name) => name.includes('f1620')).toSorted()
  const found = await takenOut()
  expect(found.length).toBeGreaterThan(200)
  await writeFile(join(folder, found[7] ?? ''), 'bytes of another')
  const next = await startLiveNode({ data }, quick)
  const rows = await next.query(`select count(*) as c, sum(n) as s from "${alias}"`)
  expect(rows.at('output.data.0')).toEqual([posts + 1, (posts * (posts + 1)) / 2])
  await next.stop()
  expect(await takenOut()).toEqual(found)
})

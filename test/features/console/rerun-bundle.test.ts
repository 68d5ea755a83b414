// The bundle of one saved answer, made by the command line and by the page that runs questions again, each from the node that gave
// it and from a replica: the same bytes. Without a Chromium the pages are left out.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromium } from '../../helpers/chromium.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'
import { type Replica, startReplica } from '../follow/support.ts'
import { PageBench } from './page-bench.ts'
import { bundleOf, filesOf } from '../../node/bundle/support.ts'

/** Holds on to the bundle that a page makes: nothing else there is a new Blob. */
const keepBundle = `{
  const Own = Blob
  window.Blob = class extends Own {
    constructor(...given) {
      super(...given)
      window.bundle = this
    }
  }
}`

const readBundle = `new Promise((resolve) => {
  const reader = new FileReader()
  reader.onload = () => resolve(reader.result)
  reader.readAsDataURL(window.bundle)
})`

const live = await liveNode({ 'anonymous-read': true })
let replica: Replica
let proof = ''
let ours: Buffer

/** Bytes that the page of a node makes. */
async function byPage(url: string): Promise<Buffer> {
  const bench = await PageBench.open(url)
  try {
    await bench.page.evaluate(keepBundle)
    await bench.judge(proof)
    const dataUrl = String(await bench.page.evaluate(readBundle))
    return Buffer.from(dataUrl.slice(dataUrl.indexOf(',') + 1), 'base64')
  } finally {
    await bench.close()
  }
}

beforeAll(async () => {
  for (let block = 0; block < 4; block++) {
    const rows = Array.from({ length: 200 }, (_, n) => ({ k: n % 7, n: n * block, ...(block > 1 && { later: 'é' }) }))
    await live.ingest('acme/t', rows, '?create=true&integers=int64&unknownFields=add')
  }
  const text = (k: number): string => createHash('shake256', { outputLength: 2000 }).update(`${k}`).digest('base64')
  await live.ingest(
    'acme/u',
    Array.from({ length: 700 }, (_, k) => ({ k, text: text(k) })),
    '?create=true&integers=int64',
  )
  const sql = 'select t.k, count(*) as n, max(u.text) as most from "acme/t" t join "acme/u" u on t.k = u.k group by t.k'
  proof = (await live.query(sql, { include: ['Proof'] })).text
  ours = await readFile(await bundleOf(live, proof))
  // What came after the answer is not in its bundle.
  await live.ingest('acme/t', [{ k: 1 }])
  replica = await startReplica(live.node.url, { 'anonymous-read': true })
  for (const alias of ['acme/t', 'acme/u']) {
    const head = await live.head(alias)
    await until(`${alias} is copied`, async () => (await replica.head(alias)) === head)
  }
})
afterAll(async () => {
  await replica.remove()
})

describe('the bundle of an answer has the same bytes', () => {
  it('by the command line, again and from a replica', async () => {
    const again = await bundleOf(live, proof)
    expect(ours.equals(await readFile(again))).toBe(true)
    // One slice is written in pieces, the others are fetched ahead.
    const largest = Math.max(...(await filesOf(again)).map(({ bytes }) => bytes.length))
    expect(largest).toBeGreaterThan(1024 * 1024)
    const adminToken = (await readFile(replica.node.tokenFile, 'utf8')).trim()
    const path = await bundleOf({ node: replica.node, adminToken }, proof)
    expect(ours.equals(await readFile(path))).toBe(true)
  })

  it.runIf(chromium !== undefined)('by a page, of the node and of the replica', async () => {
    expect(ours.equals(await byPage(live.node.url))).toBe(true)
    expect(ours.equals(await byPage(replica.node.url))).toBe(true)
  })
})

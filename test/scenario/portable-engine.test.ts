// A node, and the command over a bundle, where the native engine is not installed and its portable form is: proofs are run on
// that. What it cannot run is no accusation and takes no longer than a statement may; a lie is one. Every process ends.

import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowserEngine } from '../helpers/browser-engine.ts'
import { type LiveNode, type Answer, send, startLiveNode } from '../helpers/live-node.ts'
import { runProgram, serveNode, type ServedNode } from '../helpers/run-node.ts'
import { until } from '../helpers/until.ts'
import { withoutNative } from '../helpers/without-native.ts'
import { bundleOf, signedByStranger } from '../node/bundle/support.ts'

const simple = 'SELECT city, count(*) AS n FROM "acme/lab" GROUP BY city'
const zoned = `SELECT date_trunc('day', event_time) AS day, count(*) AS n FROM "acme/lab" GROUP BY day`

describe.runIf(hasBrowserEngine)('a node with the portable form of its engine alone', () => {
  let live: LiveNode
  let copy: Awaited<ReturnType<typeof withoutNative>>
  let bare: ServedNode
  let token: string
  const proofs = new Map<string, string>()

  const proof = (sql: string): string => proofs.get(sql) ?? ''
  const verified = async (body: string, by: string | null = token): Promise<Answer> =>
    await send(bare.url, '/verify', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(by !== null && { authorization: `Bearer ${by}` }) },
      body,
    })
  const lie = (sql: string): string => {
    const { output } = JSON.parse(proof(sql)) as { output: { data: unknown[][] } }
    return signedByStranger(proof(sql), { output: { data: output.data.slice(1) } })
  }

  beforeAll(async () => {
    live = await startLiveNode({ 'anonymous-read': true })
    for (let block = 0; block < 3; block++)
      await live.ingest('acme/lab', [{ city: 'Oslo', n: block }, { city: 'Rome' }], '?create=true')
    await live.ingest('acme/lab', [{ city: 'Bonn', later: true }], '?unknownFields=add')
    await live.call('/acme/own', { method: 'PUT', json: { visibility: 'private' } })
    await live.ingest('acme/own', [{ a: 1 }, { a: 2 }])
    for (const sql of [simple, zoned, 'SELECT * FROM "acme/lab"', 'SELECT sum(a) AS total FROM "acme/own"']) {
      const answer = await live.query(sql, { include: ['Input', 'Proof', 'Schema'] })
      expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('proofValue')])
      proofs.set(sql, answer.text)
    }
    copy = await withoutNative({ portable: true })
    token = live.adminToken
    await live.node.stop()
    bare = await serveNode(live.dataDir, ['--anonymous-read'], {}, [copy.program])
  })
  afterAll(async () => {
    await bare.end('SIGTERM')
    await live.stop()
    await rm(copy.dir, { recursive: true })
  })

  test('lists it, and runs proofs on it', async () => {
    const { module } = JSON.parse('{"module":"7ba4e2ea49b0f8851e90b9ce404cc810d1dd998edabfc1d3677351ba2db0419a"}')
    const info = await send(bare.url, '/info', { headers: { authorization: `Bearer ${token}` } })
    expect(info.at('engines')).toEqual([{ version: '1.5.6', form: 'portable', digest: module, default: false }])
    for (const sql of [simple, 'SELECT * FROM "acme/lab"']) {
      const told = await verified(proof(sql))
      expect([told.status, told.at('engine'), told.text]).toEqual([
        200,
        { name: 'duckdb', version: '1.5.6', form: 'portable', digest: module, dialect: 'SqlDuckDb/1.5.6-3' },
        expect.stringContaining('explanation'),
      ])
    }
  })
  void [appendFile, readdir, readFile, writeFile, join, runProgram, until, bundleOf, lie]
})

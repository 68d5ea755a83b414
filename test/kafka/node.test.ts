// A node whose log is in Kafka: what the file log promises over HTTP holds here too.

import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startServed } from '../history/chaos.ts'
import { startLiveNode } from '../helpers/live-node.ts'
import { kafkaUrl, newPrefix, noKafka } from '../helpers/kafka-shared.ts'

function kafkaFlags(): Record<string, string> {
  return { log: kafkaUrl(newPrefix(), 3) }
}

describe.skipIf(noKafka)('a node with its log in Kafka', () => {
  test('takes rows, commits them, answers with a proof that verifies, and names its log', async () => {
    const live = await startLiveNode(kafkaFlags())
    try {
      const rows = Array.from({ length: 300 }, (_, i) => ({ i, name: `row ${i}` }))
      for (const name of ['a', 'b', 'c', 'd']) {
        const posted = await live.ingest(`acme/${name}`, rows, '?create=true')
        expect([posted.status, posted.at('status')]).toEqual([200, 'committed'])
      }
      const answer = await live.query('select count(*) n, sum(i) s from "acme/c"', { include: ['Proof'] })
      expect(answer.status).toBe(200)
      expect(answer.at('output.data.0')).toEqual([300, 44_850])
      const verified = await live.call('/verify', {
        method: 'POST',
        body: answer.bytes,
        headers: { 'content-type': 'application/json' },
      })
      expect([verified.status, verified.at('ok')]).toEqual([200, true])
      const caution = 'with 1 of 3 replicas a loss of power may lose logged rows'
      expect((await live.call('/info')).at('log')).toMatchObject({ kind: 'kafka', partitions: 3, replicas: 1, caution })
      expect(live.node.logKind).toBe(`kafka; ${caution}`)
    } finally {
      await live.stop()
    }
  })

  test('finds after a kill what it had acknowledged, each row once', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'proofstream-kafka-node-'))
    const options = kafkaFlags()
    const tuning = { cut: { burstBlocks: 10_000, openAgeMs: 200, waitAgeMs: 20 } }
    const start = () =>
      startServed({ session: 'node', dataDir, compileCache: join(dataDir, 'compiled'), options, tuning })
    const post = (node: { url: string; token: string }, i: number, prefer: string): Promise<Response> =>
      fetch(`${node.url}/acme/rows/ingest?create=true`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${node.token}`,
          'content-type': 'application/x-ndjson',
          'idempotency-key': `"k${i}"`,
          prefer,
        },
        body: `{"i":${i}}\n`,
      })
    let node = start()
    try {
      let at = await node.ready
      expect((await post(at, 0, 'wait=20')).status).toBe(200)
      const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => post(at, i + 1, 'respond-async')))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
      await node.end('SIGKILL')
      node = start()
      at = await node.ready
      // Repeated, as a producer does that has heard nothing.
      for (let i = 0; i <= 200; i += 20) expect((await post(at, i, 'wait=20')).status).toBe(200)
      const answer = await fetch(`${at.url}/query`, {
        method: 'POST',
        headers: { authorization: `Bearer ${at.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'select count(*), count(distinct i), max(i) from "acme/rows"' }),
      })
      expect(await answer.json()).toMatchObject({ output: { data: [[201, 201, 200]] } })
    } finally {
      await node.end('SIGKILL')
      await rm(dataDir, { recursive: true, force: true })
    }
  })
})

/** Files of kafkajs that a process has loaded after a node has run in it, with `more` code before. */
function loadedFiles(more: string): unknown {
  const program = `
    import { loadConfig } from './src/app/config.ts'
    import { startNode } from './src/app/node.ts'
    import { mkdtempSync, rmSync } from 'node:fs'
    import { createRequire } from 'node:module'
    ${more}
    const data = mkdtempSync('${join(tmpdir(), 'proofstream-plain-')}')
    const node = await startNode(loadConfig({ data, listen: '127.0.0.1:0', 'log-level': 'silent' }))
    const loaded = Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes('kafkajs'))
    await node.stop()
    rmSync(data, { recursive: true, force: true })
    process.stdout.write(JSON.stringify(loaded))`
  const cwd = new URL('../../', import.meta.url)
  return JSON.parse(
    spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd, encoding: 'utf8' }).stdout,
  )
}

test('a node with the file log does not load the client of Kafka', () => {
  expect(loadedFiles('')).toEqual([])
  expect(loadedFiles("await import('./src/drivers/kafka/kafka-log.ts')")).not.toEqual([])
})

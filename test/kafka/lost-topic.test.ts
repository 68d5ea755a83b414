// The topic loses what a builder has not read, or is deleted and made anew, under a gateway and a builder that run: the
// builder stops with the reason, the datasets take no more rows, also after a restart; nothing is reset, and what is
// committed stays.

import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Admin } from 'kafkajs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ServedNode, startServed } from '../history/chaos.ts'
import type { Address } from '../history/load.ts'
import { checkStore } from '../../src/index.ts'
import { openKafkaLog } from '../../src/drivers/kafka/kafka-log.ts'
import { topicNames } from '../../src/drivers/kafka/topics.ts'
import { kafkaLogOptions, kafkaUrl, newPrefix, noKafka, sharedAdmin } from '../helpers/kafka-shared.ts'
import { type Answer, send } from '../helpers/live-node.ts'

describe.skipIf(noKafka)('a builder whose topic', () => {
  let dir = ''
  let topicPrefix = ''
  let admin: Admin
  let gateway: Address
  let builder: ServedNode
  let builderAt: Address
  const nodes: ServedNode[] = []

  function spawn(role: string): ServedNode {
    const dataDir = join(dir, role)
    mkdirSync(dataDir, { recursive: true })
    const options = {
      roles: role,
      store: join(dir, 'store'),
      log: kafkaUrl(topicPrefix, 1),
    }
    const tokenFile = join(dir, 'gateway', 'token')
    const node = startServed({ session: role, dataDir, compileCache: join(dir, 'compiled'), options, tokenFile })
    nodes.push(node)
    return node
  }

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'proofstream-lost-topic-'))
    topicPrefix = newPrefix()
    admin = await sharedAdmin()
    gateway = await spawn('gateway').ready
    builder = spawn('builder')
    builderAt = await builder.ready
    if ((await post(0, 'wait=20')).status !== 200) throw new RangeError('the first row is not committed')
  })
  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.end('SIGKILL')))
    await admin.disconnect()
    await rm(dir, { recursive: true, force: true })
  })

  const call = (path: string, more: { body?: string; prefer?: string } = {}): Promise<Answer> => {
    const headers = {
      authorization: `Bearer ${gateway.token}`,
      'content-type': 'application/x-ndjson',
      prefer: more.prefer ?? '',
    }
    return send(gateway.url, path, more.body === undefined ? { headers } : { method: 'POST', headers, body: more.body })
  }
  const post = (n: number, prefer: string): Promise<Answer> =>
    call('/acme/rows/ingest?create=true', { body: `{"n":${n}}\n`, prefer })
  const head = async (): Promise<string> => (await call('/acme/rows/refs/head')).text

  const ready = async (): Promise<string> => (await send(builderAt.url, '/readyz', {})).text
  const untilReadySays = (reason: RegExp): Promise<void> => expect.poll(ready, { interval: 250 }).toMatch(reason)

  test('loses what it has not read stops with LogTruncated', async () => {
    const before = await head()
    builder.freeze()
    for (let n = 1; n <= 5; n++) expect((await post(n, 'respond-async')).status).toBe(202)
    const topic = topicNames(topicPrefix).records
    const [offsets] = await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: offsets?.high ?? '' }] })
    builder.thaw()
    await untilReadySays(/LogTruncated/)
    await builder.end('SIGKILL')
    builder = spawn('builder')
    builderAt = await builder.ready
    await untilReadySays(/LogTruncated/)
    expect(await head()).toBe(before)
    expect((await checkStore(join(dir, 'store'))).ok).toBe(true)
  })

  test('is deleted and made anew stops with LogReplaced or LogRegressed, and the gateway takes nothing', async () => {
    const before = await head()
    await admin.deleteTopics({ topics: [topicNames(topicPrefix).records] })
    await sleep(1_000)
    const other = await openKafkaLog(kafkaLogOptions({ topicPrefix }))
    for (let n = 0; n < 3; n++) await other.append(0, [new TextEncoder().encode(`not ours ${n}`)])
    await other.close()
    await untilReadySays(/LogReplaced|LogRegressed/)
    // A gateway looks every 30 s whether the topic is still the one it opened, unless a position gives it away before.
    const posted = async (): Promise<number> => (await post(9, 'respond-async')).status
    await expect.poll(posted, { interval: 1_000 }).toBeGreaterThanOrEqual(500)
    // Who starts now finds what stands in the log as soon as there is something for the dataset in it.
    await Promise.all(nodes.splice(0).map((node) => node.end('SIGKILL')))
    gateway = await spawn('gateway').ready
    builderAt = await spawn('builder').ready
    expect((await post(9, 'respond-async')).at('status')).not.toBe('committed')
    await untilReadySays(/LogReplaced|LogRegressed/)
    expect(await head()).toBe(before)
    expect((await checkStore(join(dir, 'store'))).ok).toBe(true)
  })
})

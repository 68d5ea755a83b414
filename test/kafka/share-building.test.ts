// Builders as processes that share one topic of four partitions: who builds what, and who takes over when one is
// stopped, killed or frozen. Whatever happens to them, each row is there once, and the store is sound.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBuilder } from '../../src/node/builder/builder.ts'
import { fsck } from '../../src/node/upkeep/fsck.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { systemClock } from '../../src/libraries/base/clock.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../src/node/log/announcements.ts'
import { openKafkaLog } from '../../src/drivers/kafka/kafka-log.ts'
import { compressor } from '../../src/node/machine/work/zstd-page.ts'
import { openDirectoryStore } from '../../src/node/store/directory/directory-store.ts'
import type { ObjectStore } from '../../src/node/store/object-store.ts'
import { openMemoryStore } from '../adapters/memory-store.ts'
import { drained, dump, noCuts } from '../node/builder/support.ts'
import { kafkaUrl, newPrefix, noKafka, sharedKafka } from '../helpers/kafka-shared.ts'
import { send } from '../helpers/live-node.ts'
import { type ServedNode, serveNode } from '../helpers/run-node.ts'

const partitions = 4
/** Seconds that a builder is frozen; longer ones by option. */
const frozenSeconds = Number(process.env['FROZEN_SECONDS'] ?? 20)
const names = Array.from({ length: 12 }, (_, n) => `acme/d${n}`)

let home: string
let token: string
let gateway: ServedNode
let replica: ServedNode
let sent = 0
const builders = new Map<string, ServedNode>()
const prefix = newPrefix()

function serve(role: string, name: string): Promise<ServedNode> {
  const kafka = ['--log', kafkaUrl(prefix, 4)]
  return serveNode(join(home, name), ['--roles', role, '--store', join(home, 'store'), ...kafka])
}

async function startOne(name: string): Promise<void> {
  builders.set(name, await serve('builder', name))
}

function builder(name: string): ServedNode {
  return must(builders.get(name), `builder ${name} runs`)
}

async function end(name: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const one = builder(name)
  builders.delete(name)
  await one.end(signal)
}

function headers(): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
}

/** Partitions that a builder says it has. */
async function heldBy(one: ServedNode): Promise<number[]> {
  const answer = await send(one.url, '/readyz', {})
  const told: unknown = answer.at('partitions')
  if (!Array.isArray(told)) return []
  return told.map((entry: { readonly partition: number }) => entry.partition)
}

/** Waits until the builders that run have the partitions among them, each once; resolves with how long it took. */
async function spread(among = [...builders.values()]): Promise<number> {
  const fromMs = performance.now()
  const wanted = Array.from({ length: partitions }, (_, number) => number)
  const most = Math.ceil(partitions / among.length)
  const isSpread = async (): Promise<unknown> => {
    const held = await Promise.all(among.map(heldBy))
    return [held.every(({ length }) => length <= most), held.flat().sort((a, b) => a - b)]
  }
  await expect.poll(isSpread).toEqual([true, wanted])
  return performance.now() - fromMs
}

/** Posts a row to each dataset and waits for its block; resolves with the longest wait. */
async function postToAll(): Promise<number> {
  const fromMs = performance.now()
  const i = sent++
  await Promise.all(
    names.map(async (name) => {
      const more = { prefer: 'wait=60', 'idempotency-key': `"k${i}"` }
      const asked = { method: 'POST', headers: { ...headers(), ...more }, body: JSON.stringify([{ i }]) }
      const answer = await send(gateway.url, `/${name}/ingest?create=true`, asked)
      expect([name, answer.status, answer.at('status')]).toEqual([name, 200, 'committed'])
    }),
  )
  return performance.now() - fromMs
}

/** Posts until it is stopped; resolves with the longest wait for a block. */
function keepPosting(): { stop(): Promise<number> } {
  let isOver = false
  const posting = (async () => {
    let longestMs = 0
    while (!isOver) {
      longestMs = Math.max(longestMs, await postToAll())
      await sleep(200)
    }
    return longestMs
  })()
  return {
    stop: () => {
      isOver = true
      return posting
    },
  }
}

/** Every row of every dataset is there once. */
async function expectAllRows(): Promise<void> {
  const query = names.map((name) => `select count(*), count(distinct i) from "${name}"`).join(' union all ')
  const body = JSON.stringify({ query, dataFormat: 'JsonAoa' })
  const count = async (): Promise<unknown> =>
    (await send(replica.url, '/query', { method: 'POST', headers: headers(), body })).at('output.data')
  await expect.poll(count).toEqual(names.map(() => [sent, sent]))
}

describe.skipIf(noKafka)('builders that share a topic', () => {
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'proofstream-shared-building-'))
    gateway = await serve('gateway', 'gateway')
    token = (await readFile(join(home, 'gateway', 'token'), 'utf8')).trim()
    await Promise.all(['a', 'b'].map(startOne))
    replica = await serve('replica', 'replica')
  })

  afterAll(async () => {
    await Promise.all([...builders.values(), gateway, replica].map((node) => node.end('SIGKILL')))
    await rm(home, { recursive: true, force: true })
  })

  test('two have half of the partitions each and build what is in them', async () => {
    await spread()
    for (let round = 0; round < 3; round++) await postToAll()
    await spread()
    await expectAllRows()
    const metrics = await send(builder('a').url, '/metrics', { headers: headers() })
    expect(metrics.text.match(/^proofstream_builder_lag_messages\{/gm)).toHaveLength(2)
  })

  test('four have one each, and two more stand by with none', async () => {
    await Promise.all(['c', 'd'].map(startOne))
    await spread()
    await postToAll()
    await Promise.all(['e', 'f'].map(startOne))
    await spread()
    for (const one of builders.values()) {
      await expect.poll(async () => (await send(one.url, '/readyz', {})).status).toBe(200)
    }
    await postToAll()
    await Promise.all(['e', 'f'].map((name) => end(name, 'SIGTERM')))
    await spread()
    await expectAllRows()
  })

  test('one that is killed is missed within ten seconds', async () => {
    const load = keepPosting()
    await sleep(500)
    await end('b', 'SIGKILL')
    const movedMs = await spread()
    await sleep(500)
    const waitedMs = await load.stop()
    console.log(`killed: others had all after ${Math.round(movedMs)} ms, longest wait ${Math.round(waitedMs)} ms`)
    expect(movedMs).toBeLessThan(15_000)
    await expectAllRows()
  })

  test('one that stops in order hands over at once', async () => {
    const load = keepPosting()
    await sleep(500)
    const fromMs = performance.now()
    await end('c', 'SIGTERM')
    await spread()
    const movedMs = performance.now() - fromMs
    await sleep(500)
    const waitedMs = await load.stop()
    console.log(
      `stopped: gone, and others had all, after ${Math.round(movedMs)} ms, longest wait ${Math.round(waitedMs)} ms`,
    )
    expect(movedMs).toBeLessThan(5_000)
    await expectAllRows()
  })

  test('one that was frozen while its partitions moved comes back and harms nothing', async () => {
    const frozen = builder('a')
    const load = keepPosting()
    await sleep(500)
    process.kill(frozen.pid, 'SIGSTOP')
    const movedMs = await spread([...builders.values()].filter((one) => one !== frozen))
    await sleep(Math.max(0, frozenSeconds * 1000 - movedMs))
    process.kill(frozen.pid, 'SIGCONT')
    const backMs = await spread()
    await sleep(2_000)
    const waitedMs = await load.stop()
    console.log(
      `frozen ${frozenSeconds} s: others had all after ${Math.round(movedMs)} ms, shared again ${Math.round(backMs)} ms after it woke, longest wait ${Math.round(waitedMs)} ms`,
    )
    await expectAllRows()
    const answer = await send(frozen.url, '/readyz', {})
    expect(answer.json).toMatchObject({ ok: true })
  })
  test('the store that all of them wrote is sound', async () => {
    await Promise.all([...builders.keys()].map((name) => end(name, 'SIGTERM')))
    const store = await openDirectoryStore(join(home, 'store'))
    const report = await fsck(store)
    await store.close()
    expect(report.datasets).toHaveLength(names.length)
    expect(report.problems).toEqual([])
    expect(report.datasets.flatMap(({ problems }) => problems)).toEqual([])
  })

  test('one builder alone makes the same bytes of the topic', async () => {
    const common = {
      connection: { brokers: [sharedKafka().broker] },
      clock: systemClock,
      logger: silentLogger,
      topicPrefix: prefix,
    }
    const log = await openKafkaLog(common)
    const shared = await openDirectoryStore(join(home, 'store'))
    const alone = openMemoryStore()
    const announcements = openLocalAnnouncements(silentLogger)
    const builder = await startBuilder({ ...common, log, store: alone, announcements, compressor, options: noCuts })
    await drained(log, { builder, announced: [] })
    await builder.stop()
    const expected = await dump(alone, 'datasets')
    expect(expected.size).toBeGreaterThan(names.length)
    for (const [key, bytes] of expected) {
      const found = (await shared.get(key)) ?? new Uint8Array(0)
      expect([key, Buffer.compare(found, bytes)]).toEqual([key, 0])
    }
    const commits = async (store: ObjectStore): Promise<string[]> =>
      [...(await dump(store, 'datasets')).keys()].filter((key) => key.includes('/commits/')).sort()
    expect(await commits(shared)).toEqual(await commits(alone))
    await Promise.all([log.close(), shared.close()])
  })
})

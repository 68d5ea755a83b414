// Two gateways, four builders and two replicas over one broker, under load, while everything goes wrong: processes of
// each role are killed and frozen, the broker is frozen for 30 s and killed, a gateway is cut off from it,
// acknowledgements are lost. Then peace; history and store are judged. STORM_CYCLES says how many processes are killed
// (default 48), STORM_SEED repeats the choices of a run.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isAcknowledged, judge } from '../../src/history/history.ts'
import {
  type Address,
  aliasesOf,
  checkProof,
  drained,
  randomOf,
  readBack,
  receiptFaults,
  Seen,
  startLoad,
} from '../../src/history/load.ts'
import { checkStore } from '../../src/index.ts'
import { Broker, freePorts } from '../helpers/kafka-broker.ts'
import { KafkaProxy, produceKey } from '../helpers/kafka-proxy.ts'
import { newPrefix, noKafka } from '../helpers/kafka-shared.ts'
import { Fleet, roleOf } from './storm-fleet.ts'

const cycles = Number(process.env['STORM_CYCLES'] ?? 48)
const seed = Number(process.env['STORM_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const random = randomOf(seed)
const drainWithinMs = 120_000
const names = ['gateway-1', 'gateway-2', 'builder-1', 'builder-2', 'builder-3', 'builder-4', 'replica-1', 'replica-2']
const aliases = aliasesOf('storm')

describe.skipIf(noKafka)('a storm', () => {
  let dir = ''
  let broker: Broker
  let proxy: KafkaProxy
  let fleet: Fleet
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'proofstream-storm-'))
    const [port = 0] = await freePorts(1)
    proxy = await KafkaProxy.before(`127.0.0.1:${port}`)
    broker = await Broker.start({ proxied: { port, address: proxy.address } })
    const brokersOf = (name: string): string => (name === 'gateway-1' ? proxy.address : broker.address)
    fleet = new Fleet({ dir, names, brokersOf, topicPrefix: newPrefix(), random })
    await fleet.start('gateway-1')
    await Promise.all(names.slice(1).map((name) => fleet.start(name)))
  })
  afterAll(async () => {
    await fleet.end()
    await proxy.close()
    await broker.remove()
    await rm(dir, { recursive: true, force: true })
  })

  /** Kills one process after the other and starts each again, `builder-1` excepted. */
  async function killMany(count: number): Promise<void> {
    const starting: Promise<unknown>[] = []
    for (let n = 0; n < count; n++) {
      // Each role in turn, so that each is killed often.
      const role = ['gateway', 'builder', 'replica'][n % 3] ?? ''
      const candidates = (): string[] => fleet.ready(role).filter((one) => one !== 'builder-1')
      while (candidates().length === 0) await sleep(50)
      const ready = candidates()
      const name = ready[random.between(0, ready.length - 1)] ?? ''
      if (random.next() < 0.2) {
        fleet.freeze(name)
        await sleep(random.between(100, 1_000))
        fleet.thaw(name)
      }
      await fleet.kill(name)
      await sleep(random.between(0, 300))
      starting.push(fleet.start(name))
      await sleep(random.between(100, 700))
    }
    await Promise.all(starting)
  }

  async function misbehave(): Promise<void> {
    fleet.freeze('builder-1')
    const thawn = sleep(60_000).then(() => fleet.thaw('builder-1'))
    await killMany(cycles >> 1)

    fleet.note('broker frozen for 30 s')
    broker.pause()
    await sleep(30_000)
    broker.resume()
    await sleep(3_000)

    for (const cutMs of [5_000, 12_000]) {
      fleet.note('gateway cut off from the broker')
      proxy.swallows = true
      await sleep(cutMs)
      proxy.swallows = false
      proxy.cutAll()
      await sleep(1_000)
    }

    proxy.fate = (apiKey) => (apiKey === produceKey && random.next() < 0.2 ? 'after' : 'pass')
    await killMany(cycles - (cycles >> 1))
    fleet.counts['acknowledgements lost'] = proxy.cuts
    proxy.fate = () => 'pass'

    for (let n = 0; n < 3; n++) {
      fleet.note('broker killed')
      await broker.stop('SIGKILL')
      await sleep(random.between(0, 2_000))
      broker.spawn()
      await broker.ready()
      await sleep(random.between(1_000, 4_000))
    }
    await thawn
  }

  function load(seen: Seen, isOver: () => boolean): Promise<unknown> {
    const target = {
      gateway: () => fleet.some('gateway'),
      replica: () => fleet.pick(random.next() < 0.3 ? 'gateway' : 'replica'),
      isOver,
    }
    return startLoad({ account: 'storm', keyed: 2, bare: 1, random }, target, seen)
  }

  test(`breaks no promise over ${cycles} kills of processes (STORM_SEED=${seed})`, async () => {
    const seen = new Seen()
    let isOver = false
    const loading = load(seen, () => isOver)
    await misbehave()
    expect(fleet.dead()).toEqual([])
    isOver = true
    await loading
    const [gateway, replica] = await Promise.all([fleet.some('gateway'), fleet.some('replica')])
    const tookMs = await drained(gateway, seen, drainWithinMs)
    const datasets = new Set([...aliases, ...seen.batches.map(({ dataset }) => dataset)])
    for (const alias of datasets) await caughtUp(alias, gateway, replica)
    const stored = await readBack(replica, datasets)
    // What has no key is found by its place in the log alone: all of it is asked for.
    const sample = seen.batches.filter(({ key }) => key === undefined || random.next() < 100 / seen.batches.length)
    const problems = [...seen.faults, ...(await receiptFaults(gateway, sample, stored))]
    for (const id of seen.proofTexts.keys()) await checkProof(replica, id, seen)
    const report = await checkStore(join(dir, 'store'))
    problems.push(...[report, ...report.datasets].flatMap((one) => one.problems.map(({ message }) => message)))
    const { batches, heads, proofs } = seen
    const history = {
      batches,
      heads,
      proofs,
      rejected: [],
      stored,
      drain: { tookMs, withinMs: drainWithinMs },
      held: [],
    }
    const acknowledged = batches.filter(isAcknowledged).length
    const { requests, replays, lostConnections } = seen
    const sum = { batches: batches.length, acknowledged, requests, replays, lostConnections, heads: heads.length }
    console.log(
      `storm: ${JSON.stringify({ ...sum, proofs: seen.proofTexts.size, drainedMs: tookMs, ...fleet.counts })}`,
    )
    expect({ verdicts: judge(history).slice(0, 20), problems }).toEqual({ verdicts: [], problems: [] })
    const kills = names.map(roleOf).filter((role, at, all) => all.indexOf(role) === at)
    expect(kills.reduce((total, role) => total + (fleet.counts[`${role} killed`] ?? 0), 0)).toBe(cycles)
    expect(acknowledged).toBeGreaterThan(cycles)
  })
})

/** Waits until the replica shows the head that the gateway knows: it may be a second late. */
async function caughtUp(alias: string, gateway: Address, replica: Address): Promise<void> {
  const headAt = async ({ url, token }: Address): Promise<string> => {
    const answer = await fetch(`${url}/${alias}/refs/head`, { headers: { authorization: `Bearer ${token}` } })
    return answer.status === 200 ? answer.text() : ''
  }
  await expect.poll(async () => (await headAt(replica)) === (await headAt(gateway)), { timeout: 10_000 }).toBe(true)
}

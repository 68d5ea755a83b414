// Two gateways, four builders and two replicas over one broker, under load, while everything goes wrong: processes of
// each role are killed and frozen, the broker is frozen for 30 s and killed, a gateway is cut off from it,
// acknowledgements are lost. Then peace; history and store are judged. STORM_CYCLES says how many processes are killed
// (default 48), SEED repeats the choices of a run.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomOf, Seen } from '../history/load.ts'
import { Broker, freePorts } from '../helpers/kafka-broker.ts'
import { KafkaProxy, produceKey } from '../helpers/kafka-proxy.ts'
import { newPrefix, noKafka } from '../helpers/kafka-shared.ts'
import { Fleet } from './storm-fleet.ts'
import { seed } from '../helpers/seed.ts'

const cycles = Number(process.env['STORM_CYCLES'] ?? 48)
const random = randomOf(seed)
const names = ['gateway-1', 'gateway-2', 'builder-1', 'builder-2', 'builder-3', 'builder-4', 'replica-1', 'replica-2']

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

  async function misbehave(seen: Seen): Promise<void> {
    fleet.freeze('builder-1')
    const thawn = sleep(60_000).then(() => fleet.thaw('builder-1'))
    await fleet.killMany(cycles >> 1, seen, 'builder-1')

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
    await fleet.killMany(cycles - (cycles >> 1), seen, 'builder-1')
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

  test(`breaks no promise over ${cycles} kills of processes (SEED=${seed})`, async () => {
    const seen = new Seen()
    let isOver = false
    const loading = fleet.load(seen, () => isOver)
    await misbehave(seen)
    expect(fleet.dead()).toEqual([])
    isOver = true
    await loading
    const { verdicts, acknowledged } = await fleet.judge(seen, join(dir, 'store'))
    expect(verdicts).toEqual([])
    expect(fleet.kills()).toBe(cycles)
    expect(acknowledged).toBeGreaterThan(cycles)
  })
})

// Two gateways, two builders and two replicas that share nothing but a broker and a bucket, under load, while processes of each
// role are killed and frozen and the bucket fails: answers are lost after the write, bodies are cut, it wants peace. Then
// history and store are judged. STORM_CYCLES says how many processes are killed (default 15), SEED repeats choices.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { randomOf, Seen } from '../history/load.ts'
import { type Fault, startS3Stub, type S3Stub } from '../adapters/s3-stub.ts'
import { testKeys } from '../helpers/buckets.ts'
import { Broker } from '../helpers/kafka-broker.ts'
import { newPrefix, noKafka } from '../helpers/kafka-shared.ts'
import { Fleet } from './storm-fleet.ts'
import { seed } from '../helpers/seed.ts'

const cycles = Number(process.env['STORM_CYCLES'] ?? 15)
const random = randomOf(seed)
const names = ['gateway-1', 'gateway-2', 'builder-1', 'builder-2', 'replica-1', 'replica-2']
const faults: readonly Fault[] = [
  'lost',
  'refused',
  'cut',
  { status: 503, code: 'SlowDown' },
  { status: 409, code: 'ConditionalRequestConflict' },
  { status: 500, after: true },
]

describe.skipIf(noKafka)('a storm over a bucket', () => {
  let dir = ''
  let broker: Broker
  let stub: S3Stub
  let store = ''
  let fleet: Fleet
  let fails = false
  let failed = 0
  const fault = ({ method }: { readonly method: string }): Fault | undefined => {
    if (!fails || random.next() >= 0.03) return undefined
    const one = faults[random.between(0, faults.length - 1)]
    // Only writes meet conflicts.
    if (typeof one === 'object' && one.status === 409 && method !== 'PUT') return undefined
    failed++
    return one
  }
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'proofstream-bucket-storm-'))
    stub = await startS3Stub({ fault })
    store = `s3://tests/storm?endpoint=${stub.url}`
    const env = { AWS_ACCESS_KEY_ID: testKeys.accessKeyId, AWS_SECRET_ACCESS_KEY: testKeys.secretAccessKey }
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    broker = await Broker.start()
    const elsewhere = { options: { store }, env }
    fleet = new Fleet({ dir, names, brokersOf: () => broker.address, topicPrefix: newPrefix(), random, elsewhere })
    await fleet.start('gateway-1')
    await Promise.all(names.slice(1).map((name) => fleet.start(name)))
  })
  afterAll(async () => {
    await fleet.end()
    await broker.remove()
    await stub.close()
    vi.unstubAllEnvs()
    await rm(dir, { recursive: true, force: true })
  })

  test(`breaks no promise over ${cycles} kills of processes (SEED=${seed})`, async () => {
    const seen = new Seen()
    let isOver = false
    const loading = fleet.load(seen, () => isOver)
    fails = true
    await fleet.killMany(cycles, seen)
    expect(fleet.dead()).toEqual([])
    fails = false
    isOver = true
    await loading
    fleet.counts['requests of the bucket'] = stub.requests.length
    fleet.counts['of these failed'] = failed
    const { verdicts, acknowledged } = await fleet.judge(seen, store)
    expect(verdicts).toEqual([])
    expect(fleet.kills()).toBe(cycles)
    expect(failed).toBeGreaterThan(cycles)
    expect(acknowledged).toBeGreaterThan(cycles)
  })
})

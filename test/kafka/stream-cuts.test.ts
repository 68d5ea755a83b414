// Streams of twelve senders to two gateways over one broker, two builders and a replica beside them: connections are cut at
// random bytes, and come back to any gateway while processes of each role are killed. What was told is stored, and nothing
// is stored twice.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { randomOf, Seen } from '../history/load.ts'
import { checkStore } from '../../src/index.ts'
import { judgeStreams, makeDatasets, sendStreams, streamCuts } from '../crash/stream-senders.ts'
import { newPrefix, noKafka, sharedKafka } from '../helpers/kafka-shared.ts'
import { Fleet } from './storm-fleet.ts'
import { seed } from '../helpers/seed.ts'

/** Of so many cuts one is a kill of a process. */
const cutsPerKill = 75
const names = ['gateway-1', 'gateway-2', 'builder-1', 'builder-2', 'replica-1']

describe.skipIf(noKafka)('streams over several gateways', () => {
  test(`lose nothing and store nothing twice (STREAM_CUTS=${streamCuts} SEED=${seed})`, async () => {
    const dir = await mkdtemp(join(tmpdir(), 'proofstream-cuts-'))
    const random = randomOf(seed)
    const seen = new Seen()
    const brokersOf = (): string => sharedKafka().broker
    const fleet = new Fleet({ dir, names, brokersOf, topicPrefix: newPrefix(), random })
    await fleet.start('gateway-1')
    await Promise.all(names.slice(1).map((name) => fleet.start(name)))
    await makeDatasets(await fleet.some('gateway'))
    const counts = { connections: 0, cuts: 0, lost: 0, told: 0 }
    const isOver = (): boolean => counts.cuts + fleet.kills() >= streamCuts
    const sending = sendStreams({ random, seen, gateway: () => fleet.some('gateway'), isOver }, counts)
    while (!isOver()) {
      await sleep(50)
      if (counts.cuts < (fleet.kills() + 1) * cutsPerKill) continue
      const ready = fleet.ready()
      const name = ready[random.between(0, ready.length - 1)] ?? 'gateway-2'
      await fleet.kill(name)
      await fleet.start(name)
    }
    await sending
    const verdicts = await judgeStreams(await fleet.some('replica'), seen)
    const report = await checkStore(join(dir, 'store'))
    const problems = [report, ...report.datasets].flatMap((one) => one.problems.map(({ message }) => message))
    console.log(`cuts of streams: ${JSON.stringify({ ...counts, ...fleet.counts, records: seen.batches.length })}`)
    await fleet.end()
    expect({ verdicts, problems }).toEqual({ verdicts: [], problems: [] })
    expect(counts.told).toBe(seen.batches.length)
    await rm(dir, { recursive: true, force: true })
  })
})

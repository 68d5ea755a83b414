// Streams of twelve senders to one node with its log on its disk: connections are cut at random bytes, and the node is killed
// (SIGKILL) now and then. What was told is stored, and nothing is stored twice.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type ServedNode, startServed } from '../history/chaos.ts'
import { type Address, randomOf, Seen } from '../history/load.ts'
import { checkStore } from '../../src/index.ts'
import { judgeStreams, makeDatasets, sendStreams, streamCuts } from './stream-senders.ts'
import { seed } from '../helpers/seed.ts'

/** Of so many cuts one is a kill of the node. */
const cutsPerKill = 75

test(`cuts and kills of streams lose nothing and store nothing twice (STREAM_CUTS=${streamCuts} SEED=${seed})`, async () => {
  const dir = await mkdtemp(join(tmpdir(), 'proofstream-cuts-'))
  const random = randomOf(seed)
  const seen = new Seen()
  const tuning = {
    cut: { burstBlocks: 100_000, openAgeMs: 200, waitAgeMs: 20 },
    stream: { ageMs: 20 },
    limits: { streamsPerCaller: 1000 },
  }
  let kills = 0
  let node: ServedNode | undefined
  let address: Address | undefined
  const start = async (): Promise<void> => {
    node = startServed({ session: `life ${kills}`, dataDir: dir, compileCache: join(dir, 'compiled'), tuning })
    address = await node.ready
  }
  await start()
  const gateway = async (): Promise<Address> => {
    while (address === undefined) await sleep(20)
    return address
  }
  await makeDatasets(await gateway())
  const counts = { connections: 0, cuts: 0, lost: 0, told: 0 }
  const isOver = (): boolean => counts.cuts + kills >= streamCuts
  const sending = sendStreams({ random, seen, gateway, isOver }, counts)
  while (!isOver()) {
    await sleep(50)
    if (counts.cuts < (kills + 1) * cutsPerKill) continue
    kills++
    address = undefined
    await node?.end('SIGKILL')
    await start()
  }
  await sending
  const verdicts = await judgeStreams(await gateway(), seen)
  await node?.end('SIGTERM')
  const report = await checkStore(join(dir, 'store'))
  const problems = [report, ...report.datasets].flatMap((one) => one.problems.map(({ message }) => message))
  console.log(`cuts of streams: ${JSON.stringify({ ...counts, kills, records: seen.batches.length })}`)
  expect({ verdicts, problems }).toEqual({ verdicts: [], problems: [] })
  expect(counts.told).toBe(seen.batches.length)
  await rm(dir, { recursive: true, force: true })
})

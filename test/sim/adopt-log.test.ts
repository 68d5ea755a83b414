// A log given up for another in the middle of life: all processes are killed, the command itself is killed now and then
// and repeated, and nodes go on with the other log. Nothing acknowledged under either log is lost, repeated or torn.

import { expect, test, vi } from 'vitest'
import { adoptLog } from '../../src/node/builder/adopt-log.ts'
import { judge } from '../history/history.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../src/node/log/announcements.ts'
import { openDirectoryStore } from '../../src/node/store/directory/directory-store.ts'
import { openMemoryLog } from '../adapters/memory-log.ts'
import { compressor } from '../node/builder/support.ts'
import { Broker } from './broker.ts'
import { seedBytes } from './chance.ts'
import { produce, Seen } from './clients.ts'
import { Fleet } from './fleet.ts'
import { storeFolder } from './node.ts'
import { audit, checkReceipts, drained } from './run.ts'
import { Volume } from './volume.ts'
import { Process, World } from './world.ts'

vi.mock(import('../../src/libraries/base/ids/native-crypto.ts'), async (original) => {
  const { seededBytes } = await import('./chance.ts')
  return { ...(await original()), randomBytes: seededBytes }
})

const seeds = 15
const drainWithinMs = 90_000
const faults = { refused: 0.02, lostBefore: 0.02, lostAfter: 0.05, twice: 0.1 }

/** Runs the command until it comes to its end; resolves with how often it was killed. */
async function adoptAtLast(world: World, volume: Volume, logs: { old: Broker; next: Broker }): Promise<number> {
  for (let kills = 0; ; kills++) {
    const process = new Process(world, `adopt#${kills}`)
    if (kills < 3 && world.chance(0.7)) world.schedule(world.random.next() * 2_000, () => process.kill())
    const answer = await process
      .call(async () => {
        const store = await openDirectoryStore(storeFolder, volume.forProcess(process))
        const announcements = openLocalAnnouncements(silentLogger)
        const { signal } = new AbortController()
        const deps = { store, announcements, clock: process.clock, logger: silentLogger, compressor, signal }
        const [old, next] = [logs.old.forProcess(process), logs.next.forProcess(process)]
        return adoptLog(deps, { old, next, acceptLoss: false })
      })
      .catch((error: unknown) => {
        if (!process.isAlive) return undefined
        throw error
      })
    process.kill()
    if (answer === undefined) continue
    expect(answer).toMatchObject({ outcome: expect.stringMatching(/^(?:adopted|was adopted before)$/), givenUp: [] })
    return kills
  }
}

async function live(seed: number) {
  seedBytes(seed)
  const world = new World(seed)
  const volume = new Volume(world)
  const partitions = world.pick([1, 2, 5])
  const old = new Broker(world, openMemoryLog({ id: '0'.repeat(32) }))
  const next = new Broker(world, openMemoryLog({ id: '1'.repeat(32), partitions }))
  let fleet = new Fleet({ world, volume, broker: old, logger: silentLogger })
  const seen = new Seen()
  const clients = {
    world,
    gateway: () => fleet.pick(({ gateway }) => gateway !== undefined),
    anyNode: () => fleet.pick(() => true),
    aliases: ['acme/one', 'acme/two', 'acme/three', 'acme/four'],
    large: 0.05,
    lostAnswers: 0.05,
  } as const
  const lives = async () => {
    await fleet.heal()
    old.faults = faults
    // Some callers are still repeating what they have no answer to when the log changes under them.
    const producing = ['p', 'q', 'r'].map((name) =>
      produce({ ...clients, aliases: [...clients.aliases] }, seen, name, 16),
    )
    await world.after(world.random.next() * 6_000)
    for (const process of fleet.processes) process.kill()
    await world.after(1)
    await fleet.stop()
    old.faults = { refused: 0, lostBefore: 0, lostAfter: 0, twice: 0 }
    const kills = await adoptAtLast(world, volume, { old, next })
    fleet = new Fleet({ world, volume, broker: next, logger: silentLogger })
    next.faults = faults
    await Promise.race([Promise.all(producing), world.after(60_000)])
    next.faults = { refused: 0, lostBefore: 0, lostAfter: 0, twice: 0 }
    await fleet.heal()
    const healedMs = world.nowMs
    const tookMs = (await drained(fleet, seen, healedMs)) ? world.nowMs - healedMs : undefined
    const problems = fleet.halts()
    await checkReceipts(fleet, seen, problems)
    await fleet.stop()
    return { kills, problems, tookMs }
  }
  const { kills, problems, tookMs } = await world.run(lives())
  const audited = await world.run(audit(new Process(world, 'auditor'), volume, seen))
  const { batches, heads, proofs, rejected, faults: answers } = seen
  const drain = { tookMs, withinMs: drainWithinMs }
  const verdicts = judge({ batches, heads, proofs, rejected, stored: audited.stored, drain, held: [] })
  return {
    seed,
    kills,
    batches: batches.length,
    problems: [...problems, ...audited.problems, ...answers],
    verdicts,
  }
}

test('all that was acknowledged under either log is there once, and receipts of both tell of it', async () => {
  let [kills, batches] = [0, 0]
  for (let seed = 1; seed <= seeds; seed++) {
    const run = await live(seed)
    expect({ seed, problems: run.problems, verdicts: run.verdicts }).toEqual({ seed, problems: [], verdicts: [] })
    kills += run.kills
    batches += run.batches
  }
  console.log(`adoption: ${seeds} seeds, ${batches} batches, the command killed ${kills} times`)
  expect([kills > 2, batches > 500]).toEqual([true, true])
})

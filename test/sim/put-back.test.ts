// A store that is put back to an older copy, with its log or without, of a ledger of which a quorum of witnesses has seen more: the
// ledger halts with `LedgerRegressed`, now and at the next start, signs and enters nothing beyond the copy, and all else goes on.

import { expect, test, vi } from 'vitest'
import { toHex } from '../../src/libraries/base/bytes.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { openMemoryLog } from '../adapters/memory-log.ts'
import { randomOf } from '../history/load.ts'
import { Broker } from './broker.ts'
import { seedBytes } from './chance.ts'
import { produce, Seen } from './clients.ts'
import { Fleet } from './fleet.ts'
import { logKey, SimulatedLedger } from './ledger.ts'
import { storeFolder } from './node.ts'
import { audit, checkReceipts, drained, entered } from './run.ts'
import { Volume } from './volume.ts'
import { SimulatedWitnesses } from './witnesses.ts'
import { Process, World } from './world.ts'

vi.mock(import('../../src/libraries/base/ids/native-crypto.ts'), async (original) => {
  const { seededBytes } = await import('./chance.ts')
  return { ...(await original()), randomBytes: seededBytes }
})

class Lives {
  readonly world: World
  readonly volume: Volume
  readonly broker: Broker | undefined
  readonly witnesses: SimulatedWitnesses
  readonly ledger: SimulatedLedger

  constructor(seed: number) {
    seedBytes(seed)
    this.world = new World(seed)
    this.volume = new Volume(this.world)
    // Its own log stands on the disk that is put back; one that is shared does not.
    const isShared = this.world.chance(0.5)
    this.broker = isShared
      ? new Broker(this.world, openMemoryLog({ id: '0'.repeat(32) }), { keepsAll: true })
      : undefined
    this.witnesses = new SimulatedWitnesses(this.world, logKey, randomOf(~seed))
    this.witnesses.heal()
    this.ledger = new SimulatedLedger(this.volume, storeFolder, 1_000, { witnesses: this.witnesses })
  }

  /** Rows come, and all is committed. Whatever `work` tells of the nodes then. */
  async live<T>(
    name: string,
    work: (fleet: Fleet) => Promise<T>,
  ): Promise<{ seen: Seen; problems: string[]; told: T }> {
    const { world, volume, broker, ledger } = this
    const fleet = new Fleet({ world, volume, broker, ledger, logger: silentLogger })
    await fleet.heal()
    const seen = new Seen()
    const gateway = () => fleet.pick((node) => node.gateway !== undefined)
    const anyNode = () => fleet.pick(() => true)
    const aliases = ['acme/one', 'acme/two'] as const
    await produce({ world, gateway, anyNode, aliases: [...aliases], large: 0, lostAnswers: 0 }, seen, name, 10)
    const problems = (await drained(fleet, seen, world.nowMs)) ? [] : [`not all of ${name} is committed`]
    await checkReceipts(fleet, seen, problems)
    const told = await work(fleet)
    problems.push(...fleet.halts())
    const { processes } = fleet
    await fleet.stop()
    for (const process of processes) process.kill()
    return { seen, problems, told }
  }

  /** The ledger as the store and its witnesses have it. */
  get held() {
    const folder = `${storeFolder}/ledger`
    const batches = this.volume.paths(`${folder}/batches`).length
    return { batches, witnesses: this.witnesses.all.map(({ last }) => `${last.size} ${toHex(last.root)}`) }
  }
}

async function putBack(seed: number) {
  const lives = new Lives(seed)
  const { world, volume, ledger, witnesses } = lives
  const all = (fleet: Fleet): Promise<boolean> => entered(fleet, ledger)
  const halted = async (): Promise<boolean> => {
    for (let waits = 0; ledger.halts.size === 0 && waits < 300; waits++) await world.after(1_000)
    // Other keepers would go on meanwhile.
    await world.after(20_000)
    return ledger.halts.size > 0
  }
  return world.run(
    (async () => {
      const first = await lives.live('p', all)
      const before = lives.held
      const toCopy = volume.copy()
      // One of three sees no more; the others are a quorum.
      const [late, gone] = witnesses.all.slice(1)
      if (late !== undefined && gone !== undefined) gone.isAway = true
      const second = await lives.live('q', all)
      const after = lives.held
      const signed = new Set(ledger.heads.map(({ size, root }) => `${size} ${toHex(root)}`))
      toCopy()
      // Some have no quorum at first, and may not take the silence of the others for a yes.
      if (gone !== undefined) gone.isAway = false
      const isLate = world.chance(0.5)
      for (const one of isLate ? witnesses.all.slice(0, 2) : []) {
        one.isAway = true
        world.schedule(20_000 + world.random.next() * 60_000, () => (one.isAway = false))
      }
      const third = await lives.live('r', halted)
      const reasons = [...ledger.halts]
      ledger.halts.clear()
      for (const one of witnesses.all) one.isAway = true
      const fourth = await lives.live('s', halted)
      const audited = await audit(new Process(world, 'auditor'), volume, fourth.seen)
      const others = ledger.heads.filter(({ size, root }) => !signed.has(`${size} ${toHex(root)}`))
      const { early } = ledger
      const halts = [first.told, second.told, third.told, fourth.told]
      const problems = [first, second, third, fourth].flatMap((one) => one.problems)
      const { contradicted } = witnesses
      const evidence = volume.paths(`${storeFolder}/ledger-evidence`).length
      const now = lives.held
      return {
        grown: after.batches - before.batches,
        before,
        after,
        reasons: [...reasons, ...ledger.halts],
        found: { halts, others, early, contradicted, problems: [...problems, ...audited.problems], now },
        evidence,
      }
    })(),
  )
}

const seeds = Array.from({ length: 12 }, (_, at) => at + 1)

test.each(seeds)('halts a ledger of which witnesses have seen more, and nothing else (seed %i)', async (seed) => {
  const { grown, before, after, reasons, found, evidence } = await putBack(seed)
  expect(grown).toBeGreaterThan(0)
  const none = { others: [], early: [], contradicted: [], problems: [] }
  const now = { batches: before.batches, witnesses: after.witnesses }
  expect(found).toEqual({ halts: [true, true, true, true], ...none, now })
  for (const reason of reasons) expect(reason).toMatch(/LedgerRegressed: W\d has a head of \d+ entries/)
  expect(evidence).toBeGreaterThan(0)
})

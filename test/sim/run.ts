// One simulated run from one seed: nodes under load on a disk and a log that misbehave, then peace, then the verdict.
// Half of the runs have one node with its log on its disk; the others share a log among gateways and builders.

// What fsck loads when it is asked is loaded before: a simulated world waits for nothing but what it has scheduled.
import '../../src/features/ledger/check.ts'
import '../../src/features/witness/check.ts'
import { Catalog } from '../../src/node/catalog/catalog.ts'
import type { DatasetChain } from '../../src/node/catalog/dataset-chain.ts'
import { fsck } from '../../src/node/upkeep/fsck.ts'
import { randomOf } from '../history/load.ts'
import { type Answer, judge } from '../history/history.ts'
import type { Verdict } from '../history/verdicts.ts'
import type { LedgerSeen } from '../history/ledger.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { HaltError } from '../../src/libraries/base/errors.ts'
import { type Logger, silentLogger } from '../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../src/node/log/announcements.ts'
import { openDirectoryStore } from '../../src/node/store/directory/directory-store.ts'
import type { ObjectStore } from '../../src/node/store/object-store.ts'
import { readHead } from '../../src/node/store/heads.ts'
import { withPacks } from '../../src/node/store/packed-store.ts'
import { PackGone } from '../../src/node/store/packs.ts'
import { listNames, readName } from '../../src/node/store/names.ts'
import { newestLowWaterMark } from '../../src/node/store/records.ts'
import { markSwept, sweepChain } from '../../src/node/store/sweep.ts'
import { packChain } from '../../src/node/store/write-pack.ts'
import { openMemoryLog } from '../adapters/memory-log.ts'
import { readStored } from '../helpers/stored.ts'
import { readLedger } from '../helpers/stored-ledger.ts'
import { Broker } from './broker.ts'
import { seedBytes } from './chance.ts'
import { change, type ChangeSent, checkChanges } from './changes.ts'
import { checkLives, live, Lives } from './lives.ts'
import { checkWitnesses, type Clients, declare, produce, race, Seen, watch } from './clients.ts'
import { Faults } from './faults.ts'
import { Fleet } from './fleet.ts'
import { logKey, SimulatedLedger } from './ledger.ts'
import { storeFolder } from './node.ts'
import { type StreamCounts, streamRecords } from './streams.ts'
import { Volume } from './volume.ts'
import { SimulatedWitnesses } from './witnesses.ts'
import { Process, World } from './world.ts'
import { storeChecks } from '../../src/app/features.ts'

/** Everything acknowledged is committed this long after the last fault. */
const drainWithinMs = 90_000
/** The floor comes to the end of the log in this time: a large batch whose sender died is given up after 15 minutes. */
const floorWithinMs = 17 * 60_000
/** What a keeper has heard of is entered this long after everything is committed. */
const enteredWithinMs = 60_000
/** Seconds of the same where there are witnesses: one that did not answer is asked again after up to 80 s. */
const mostWaits = 180

export interface RunReport {
  readonly seed: number
  readonly verdicts: readonly Verdict[]
  /** What is wrong beside the history: halts, a store that is not sound, answers that must not be. */
  readonly problems: readonly string[]
  readonly batches: number
  readonly acknowledged: number
  readonly blocks: number
  readonly faults: Readonly<Record<string, number>>
  readonly events: number
  readonly virtualMs: number
}

export interface RunOptions {
  /** The nodes tell what they do. */
  readonly logger?: Logger
  /** Chains are packed and swept all the while. */
  readonly packing?: boolean
}

/** Runs one seed. */
export async function runSeed(
  seed: number,
  { logger = silentLogger, packing = false }: RunOptions = {},
): Promise<RunReport> {
  seedBytes(seed)
  const world = new World(seed)
  const volume = new Volume(world)
  const broker = world.chance(0.5) ? new Broker(world, openMemoryLog({ id: '0'.repeat(32) })) : undefined
  const slowMs = world.pick([0.5, 2, 10])
  volume.delayMs = () => (world.chance(0.01) ? slowMs * 50 : world.random.next() * slowMs)
  // Not in each run: it takes a sixth of the time.
  const ledger = world.chance(0.6)
    ? new SimulatedLedger(volume, storeFolder, world.pick([250, 1_000, 5_000]), witnessedBy(world, seed))
    : undefined
  const fleet = new Fleet({ world, volume, broker, logger, ledger })
  const faults = new Faults({ world, volume, broker, fleet })
  const seen = new Seen()
  const clients: Clients = {
    world,
    gateway: () => fleet.pick(({ gateway }) => gateway !== undefined),
    anyNode: () => fleet.pick(() => true),
    aliases: world.chance(0.5) ? ['acme/one', 'acme/two'] : ['acme/one', 'acme/two', 'Acme/Three', 'acme/four'],
    large: world.chance(0.15) ? 0.1 : 0,
    lostAnswers: world.pick([0, 0.02, 0.2]),
  }
  const lower = { ...clients, aliases: clients.aliases.map((alias) => alias.toLowerCase()) as [string, ...string[]] }
  const problems: string[] = []
  const packed = { packs: 0, swept: 0 }
  const changes: ChangeSent[] = []
  const lives = new Lives()
  const streams: StreamCounts = { connections: 0, cuts: 0, ghosts: 0, streamed: 0 }
  let tookMs: number | undefined
  let isOver = false
  const life = async (): Promise<void> => {
    const watching = watch(lower, seen, () => isOver)
    const changing = change(lower, changes, () => isOver)
    const living = live(lower, lives, () => isOver)
    const packers = packing ? [1, 2].map(() => packAll({ world, fleet, packed, problems }, () => isOver)) : []
    const producing = Promise.all([
      declare(lower),
      ...Array.from({ length: world.random.between(2, 4) }, (_, i) =>
        produce(lower, seen, `p${i}`, world.random.between(5, 14)),
      ),
      ...Array.from({ length: world.random.between(0, 2) }, (_, i) =>
        streamRecords(lower, { seen, counts: streams }, { name: `s${i}`, count: world.random.between(20, 120) }),
      ),
      ...Array.from({ length: world.random.between(0, 2) }, (_, i) =>
        race({ ...clients, aliases: [`acme/raced-${i}`] }, seen, `r${i}`),
      ),
    ])
    const misbehaving = faults.run()
    await Promise.race([producing, world.after(30_000)])
    faults.stop()
    await misbehaving
    ledger?.witnesses?.heal()
    await fleet.heal()
    const healedMs = world.nowMs
    await Promise.race([producing, world.after(drainWithinMs)])
    isOver = true
    await watching
    await changing
    await living
    await Promise.all(packers)
    if (await drained(fleet, seen, healedMs)) tookMs = world.nowMs - healedMs
    if (!(await floorAtEnd(fleet))) problems.push('the floor does not come to the end of the log')
    await clocksTrusted(fleet)
    if (!(await entered(fleet, ledger))) problems.push('what keepers have heard of is not entered and published')
    problems.push(...fleet.halts())
    await checkReceipts(fleet, seen, problems)
    await fleet.stop()
  }
  await world.run(life())
  volume.delayMs = () => 0
  const auditor = new Process(world, 'auditor')
  const kept = ledger && (await world.run(completed(ledger, auditor, volume)))
  const audited = await world.run(audit(auditor, volume, seen, lives))
  problems.push(...audited.problems, ...(ledger?.halts ?? []), ...seen.faults, ...checkChanges(changes, audited.chains))
  const { batches, heads, proofs, rejected } = seen
  const history = {
    batches,
    heads,
    proofs,
    rejected,
    stored: audited.stored,
    drain: { tookMs, withinMs: drainWithinMs },
    held: [
      {
        name: 'temporary files',
        before: 0,
        after: volume.paths(`${storeFolder}/.tmp`).length,
        mayGrow: fleet.starts * 16,
      },
    ],
    ...(kept !== undefined && { ledger: kept }),
  }
  return {
    seed,
    verdicts: judge(history),
    problems,
    batches: batches.length,
    acknowledged: batches.filter(({ attempts }) => attempts.some(({ answer }) => answer.kind === 'ok')).length,
    blocks: audited.stored.reduce((sum, { blocks }) => sum + blocks.length, 0),
    faults: {
      ...faults.counts,
      ...fleet.clocks,
      ...packed,
      changes: changes.length,
      ...streams,
      ...lives.counts,
      ...ledger?.counts,
      ...ledger?.witnesses?.counts,
      entries: kept?.entries.length ?? 0,
    },
    events: world.events,
    virtualMs: world.nowMs,
  }
}

/** Loose copies go so long after their pack: more than three times as long as is trusted that there is none. */
const sweepAfterMs = 200

interface Packing {
  readonly world: World
  readonly fleet: Fleet
  readonly packed: { packs: number; swept: number }
  readonly problems: string[]
}

/** Packs what is full and sweeps what is packed, now in this process, now in that, with a second in place of the day between. */
async function packAll({ world, fleet, packed, problems }: Packing, isOver: () => boolean): Promise<void> {
  // The disk knows no times.
  const seenMs = new Map<string, number>()
  const seenAt = (key: string): number => {
    if (!seenMs.has(key)) seenMs.set(key, world.nowMs)
    return must(seenMs.get(key), 'it was set')
  }
  while (!isOver()) {
    await world.after(world.random.between(10, 400))
    const node = fleet.pick(({ builder }) => builder !== undefined)
    const pass = async (store: ObjectStore): Promise<void> => {
      await markSwept(store)
      for (const alias of await listNames(store)) {
        const id = (await readName(store, alias))?.id
        if (id === undefined) continue
        const head = await readHead(store, id)
        if (head !== undefined) packed.packs += await packChain(store, id, head.sequence)
        const aged: ObjectStore = {
          ...store,
          modifiedMs: async (key) => ((await store.modifiedMs(key)) === undefined ? undefined : seenAt(key)),
        }
        packed.swept += await sweepChain(aged, id, { beforeMs: world.nowMs - sweepAfterMs })
      }
    }
    await node?.process
      .call(() => pass(node.store))
      .catch((error: unknown) => {
        // Another process may have packed the same meanwhile; others die, or meet a disk that fails.
        if (error instanceof HaltError && !(error instanceof PackGone)) problems.push(`packing: ${error.message}`)
      })
  }
}

/** Waits until every receipt says more than that the batch is logged. */
export async function drained(fleet: Fleet, seen: Seen, healedMs: number): Promise<boolean> {
  const { world } = fleet
  const open = new Set(seen.batches.flatMap(({ attempts }) => attempts.flatMap(({ answer }) => idOf(answer))))
  while (world.nowMs - healedMs < drainWithinMs) {
    const node = fleet.pick(({ gateway }) => gateway !== undefined)
    const done = await node?.process.call(async () => {
      for (const id of open) {
        const { receipt } = await must(node.gateway, 'a gateway').receipt(id)
        if (receipt.status === 'accepted') return false
        open.delete(id)
      }
      return true
    })
    if (done === true) return true
    await world.after(250)
  }
  return false
}

/** Waits until the floor stands at the end of the log. */
async function floorAtEnd(fleet: Fleet): Promise<boolean> {
  const { world } = fleet
  const beganMs = world.nowMs
  while (world.nowMs - beganMs < floorWithinMs) {
    const node = fleet.pick(() => true)
    const done = await node?.process.call(async () => {
      const floor = await newestLowWaterMark(node.store, node.log.id, 0)
      return (floor?.position ?? 0) === (await node.log.range(0)).end
    })
    if (done === true) return true
    await world.after(5_000)
  }
  return false
}

/** Waits until no builder waits for its clock to be steady: a run may end sooner after a jump than that takes. */
async function clocksTrusted(fleet: Fleet): Promise<void> {
  const { world } = fleet
  const beganMs = world.nowMs
  while (world.nowMs - beganMs < 2 * 60_000 && fleet.halted().some(({ reason }) => reason === 'ClockJump')) {
    await world.after(5_000)
  }
}

/** Half of the ledgers have witnesses; most of these show no head without their quorum. Chosen by a chance of its own. */
function witnessedBy(world: World, seed: number): ConstructorParameters<typeof SimulatedLedger>[3] {
  const own = randomOf(~seed)
  if (own.next() < 0.5) return {}
  return { witnesses: new SimulatedWitnesses(world, logKey, own, true), waitMs: own.next() < 0.3 ? 2_000 : undefined }
}

/** Waits until keepers have entered what they have heard of, and the witnesses have cosigned that. */
export async function entered(fleet: Fleet, ledger?: SimulatedLedger): Promise<boolean> {
  const { world } = fleet
  const withinMs = ledger?.witnesses === undefined ? enteredWithinMs : mostWaits * 1_000
  const beganMs = world.nowMs
  for (; fleet.waiting() > 0 || ledger?.isBehind === true; await world.after(1_000)) {
    if (world.nowMs - beganMs > withinMs) return false
  }
  return true
}

/** The ledger after one more keeper has begun, which finds what the others did not hear of. */
async function completed(ledger: SimulatedLedger, process: Process, volume: Volume): Promise<LedgerSeen> {
  const store = withPacks(await openDirectoryStore(storeFolder, volume.forProcess(process)))
  const catalog = new Catalog({ store, announcements: openLocalAnnouncements(silentLogger), logger: silentLogger })
  const { keeper } = ledger.keeperOf({ process, store, catalog, logger: silentLogger })
  await ledger.step(keeper)
  for (let waits = 0; (keeper.state.kind === 'unconfirmed' || ledger.isBehind) && waits < mostWaits; waits++) {
    await process.clock.sleep(1_000)
    await ledger.step(keeper)
  }
  catalog.close()
  return ledger.seen(await readLedger(store))
}

const idOf = (answer: Answer): string[] => (answer.kind === 'ok' ? [answer.receiptId] : [])

/** Receipts of all attempts tell the truth after the faults: committed, or rejected where that can be. */
export async function checkReceipts(fleet: Fleet, seen: Seen, problems: string[]): Promise<void> {
  const node = fleet.pick(({ gateway }) => gateway !== undefined)
  if (node === undefined) return
  for (const { id, attempts } of seen.batches) {
    const all = new Set<string>()
    for (const { answer } of attempts) {
      if (answer.kind !== 'ok') continue
      const said = await node.process
        .call(() => must(node.gateway, 'a gateway').receipt(answer.receiptId))
        .then(
          ({ receipt }) => receipt.status,
          (error: unknown) => String(error),
        )
      all.add(said)
      const isTrue = said === 'committed' || (said === 'rejected' && seen.rejectable.has(id))
      if (!isTrue) problems.push(`the receipt of ${id} says ${said}`)
    }
    // What was rejected and then sent again may be in the chain by that.
    if (all.has('rejected') && all.size === 1) seen.rejected.push(id)
  }
}

export async function audit(process: Process, volume: Volume, seen: Seen, lives = new Lives()) {
  const store: ObjectStore = withPacks(await openDirectoryStore(storeFolder, volume.forProcess(process)))
  const report = await fsck(store, { checks: storeChecks })
  const problems = [
    ...report.problems.map(({ kind, message }) => `${kind}: ${message}`),
    ...report.datasets.flatMap(({ alias, problems: all }) => all.map((one) => `${alias}: ${one.kind}: ${one.message}`)),
  ]
  const stored = await readStored(store)
  const catalog = new Catalog({ store, announcements: openLocalAnnouncements(silentLogger), logger: silentLogger })
  const chains = new Map<string, DatasetChain>()
  problems.push(...(await checkLives(lives, store, catalog)))
  for (const { alias } of stored) chains.set(alias, must(await catalog.byAlias(alias), 'a chain'))
  await checkWitnesses(seen, store, chains)
  const isLife = (alias: string): boolean => lives.has(chains.get(alias)?.name.id ?? '')
  return { problems, stored: stored.filter(({ alias }) => !isLife(alias)), chains: [...chains.values()] }
}

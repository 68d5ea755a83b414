// The simulated processes of one run and their supervisor: what has died starts again on the same disk and log.

import type { BuilderHalt } from '../../src/node/builder/builder.ts'
import type { CutOptions } from '../../src/node/builder/governor.ts'
import type { Logger } from '../../src/libraries/base/logger.ts'
import type { CommitAnnouncement } from '../../src/node/log/messages.gen.ts'
import type { Broker } from './broker.ts'
import type { SimulatedLedger } from './ledger.ts'
import { type SimulatedNode, startSimulatedNode } from './node.ts'
import type { Volume } from './volume.ts'
import { Process, type World } from './world.ts'

export interface FleetParts {
  readonly world: World
  readonly volume: Volume
  readonly broker: Broker | undefined
  readonly logger: Logger
  readonly ledger?: SimulatedLedger | undefined
}

interface Slot {
  readonly name: string
  readonly roles: { readonly gateway: boolean; readonly builder: boolean }
  starts: number
  process: Process
  /** Absent while it starts. */
  node: SimulatedNode | undefined
}

export class Fleet {
  /** Starts with a wrong clock. */
  readonly clocks = { hourBack: 0, tenYearsOn: 0, otherwiseWrong: 0 }
  readonly world: World
  readonly #parts: FleetParts
  readonly #slots: Slot[]
  readonly #cut: Partial<CutOptions>
  readonly #segmentBytes: number
  readonly #lostAnnouncements: number
  readonly #levels: readonly [number, ...number[]]
  #isCalm = false
  #isOver = false
  /** What ended a process that should have started. */
  readonly #halts = new Set<string>()

  constructor(parts: FleetParts) {
    const { world, broker } = parts
    this.world = world
    this.#parts = parts
    this.#cut = {
      openAgeMs: world.pick([5, 100, 1000]),
      waitAgeMs: world.pick([1, 20, 100]),
      burstBlocks: world.pick([10, 60, 1e6]),
      intervalMs: 2_000,
      blocksPerSecond: world.pick([20, 1e6]),
    }
    this.#segmentBytes = world.pick([4_096, 16_384, 65_536])
    this.#lostAnnouncements = world.pick([0, 0.2, 1])
    this.#levels = world.pick([[3], [1, 3, 9]])
    const builders = world.random.between(1, 3)
    this.#slots =
      broker === undefined
        ? [this.#slot('node', { gateway: true, builder: true })]
        : [
            this.#slot('gateway1', { gateway: true, builder: false }),
            this.#slot('gateway2', { gateway: true, builder: world.chance(0.3) }),
            ...Array.from({ length: builders }, (_, i) => this.#slot(`builder${i}`, { gateway: false, builder: true })),
          ]
    for (const slot of this.#slots) void this.#supervise(slot)
  }

  /** A node that is up and for which `wanted` holds, by chance. */
  pick(wanted: (node: SimulatedNode) => boolean): SimulatedNode | undefined {
    const nodes = this.#slots.flatMap(({ node }) => (node?.process.isAlive === true && wanted(node) ? [node] : []))
    return nodes[this.world.random.between(0, nodes.length - 1)]
  }

  /** A process that has not ended, by chance. */
  pickProcess(): Process | undefined {
    const alive = this.processes
    return alive[this.world.random.between(0, alive.length - 1)]
  }

  get processes(): Process[] {
    return this.#slots.flatMap(({ process }) => (process.isAlive ? [process] : []))
  }

  /** Processes there have been; each may have ended without being asked. */
  get starts(): number {
    return this.#slots.reduce((sum, slot) => sum + slot.starts, 0)
  }

  /** Lets every process run, all of them up; some begin anew. */
  async heal(): Promise<void> {
    this.#isCalm = true
    for (const { process } of this.#slots) {
      process.resume()
      // A clock that has jumped gets well by itself.
      if ((process.skewMs !== 0 && !process.hasJumped) || this.world.chance(0.5)) process.kill()
    }
    while (this.#slots.some(({ node, process }) => node === undefined || !process.isAlive)) await this.world.after(50)
  }

  /** Halts of datasets and partitions, and starts that were refused for what lies on the disk. */
  halts(): string[] {
    for (const { reason, what } of this.halted()) this.#halts.add(`${reason}: ${what}`)
    return [...this.#halts]
  }

  /** What stands still now. */
  halted(): BuilderHalt[] {
    return this.#slots.flatMap(({ node }) => node?.builder?.status().halted ?? [])
  }

  /** Datasets with blocks that a keeper has heard of and not entered. */
  waiting(): number {
    return this.#slots.reduce((sum, { node }) => sum + (node?.keeping?.waiting() ?? 0), 0)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    for (const { node } of this.#slots) await node?.stop()
  }

  /** Ends one process in order; it starts again. */
  async restart(): Promise<void> {
    const node = this.pick(({ process }) => !process.isPaused)
    if (node === undefined) return
    await node.process.call(() => node.stop()).catch(() => {})
    node.process.kill()
  }

  #slot(name: string, roles: Slot['roles']): Slot {
    return { name, roles, starts: 0, process: new Process(this.world, name), node: undefined }
  }

  async #supervise(slot: Slot): Promise<void> {
    const { world } = this
    while (!this.#isOver) {
      slot.starts++
      const process = new Process(world, `${slot.name}#${slot.starts}`, this.#skewMs())
      slot.process = process
      slot.node = undefined
      slot.node = await process
        .call(() => this.#start(slot, process))
        .catch((error: unknown) => {
          if (error instanceof Error && error.name === 'HaltError') this.#halts.add(String(error))
          process.kill()
          return undefined
        })
      await process.ended
      slot.node = undefined
      await world.after(world.random.next() * (this.#isCalm ? 50 : 2_000))
    }
  }

  #start(slot: Slot, process: Process): Promise<SimulatedNode> {
    const { world, volume, broker, logger, ledger } = this.#parts
    return startSimulatedNode({
      process,
      volume,
      broker,
      ledger,
      roles: slot.roles,
      segmentBytes: this.#segmentBytes,
      cut: this.#cut,
      level: world.pick(this.#levels),
      threads: { threads: world.pick([0, 1, 3]), delayMs: () => world.random.next() * 30, isLost: lostOnce(world) },
      logger: loggerOf(process, logger),
      spread: (message) => this.#spread(slot, message),
    })
  }

  /** Announcements reach the others later, or never. */
  #spread(from: Slot, message: CommitAnnouncement): void {
    for (const slot of this.#slots) {
      if (slot === from || this.world.chance(this.#lostAnnouncements)) continue
      this.world.schedule(this.world.random.next() * 30, () => slot.node?.hear(message))
    }
  }

  /** Wall clocks differ between starts: by a minute, an hour back, ten years forward. */
  #skewMs(): number {
    if (this.#isCalm || !this.world.chance(0.15)) return 0
    const skewMs = this.world.pick([-60_000, 60_000, -3_600_000, 3_600_000, 10 * 365 * 86_400_000])
    if (skewMs === -3_600_000) this.clocks.hourBack++
    else if (skewMs > 86_400_000) this.clocks.tenYearsOn++
    else this.clocks.otherwiseWrong++
    return skewMs
  }
}

/** Says which process speaks, and when. */
function loggerOf(process: Process, logger: Logger): Logger {
  const where = () => ({ process: process.name, atMs: Math.round(process.world.nowMs) })
  return {
    debug: (fields, message) => logger.debug({ ...where(), ...fields }, message),
    info: (fields, message) => logger.info({ ...where(), ...fields }, message),
    warn: (fields, message) => logger.warn({ ...where(), ...fields }, message),
    error: (fields, message) => logger.error({ ...where(), ...fields }, message),
  }
}

/** Chance loses a thread of a process once: a block that loses two halts its dataset. */
function lostOnce(world: World): () => boolean {
  let isDue = true
  return () => {
    const isLost = isDue && world.chance(0.02)
    isDue &&= !isLost
    return isLost
  }
}

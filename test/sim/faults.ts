// What goes wrong in a run, by chance: processes are killed and stopped, the power is cut, the disk fails or is full,
// the shared log loses acknowledgements, wall clocks jump.

import type { Broker } from './broker.ts'
import type { Fleet } from './fleet.ts'
import type { Operation } from '../adapters/simulated-disk.ts'
import type { Volume } from './volume.ts'
import type { World } from './world.ts'

interface Parts {
  readonly world: World
  readonly volume: Volume
  readonly broker: Broker | undefined
  readonly fleet: Fleet
}

const kinds = ['kill', 'power', 'pause', 'error', 'full', 'log', 'restart', 'clock'] as const

/** Two that are taken as they come, and three after which the clock has to be steady first. */
const jumpsMs = [-60_000, 9 * 60_000, 11 * 60_000, -2 * 3_600_000, 8 * 3_600_000] as const

const noFaults = { refused: 0, lostBefore: 0, lostAfter: 0, twice: 0 }

export class Faults {
  readonly #parts: Parts
  readonly counts: Record<(typeof kinds)[number], number> = {
    kill: 0,
    power: 0,
    pause: 0,
    error: 0,
    full: 0,
    log: 0,
    restart: 0,
    clock: 0,
  }
  #isOver = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  stop(): void {
    this.#isOver = true
  }

  async run(): Promise<void> {
    const { world, volume, broker } = this.#parts
    const everyMs = world.pick([100, 500, 2_000])
    // A run has few kinds, so that some go long without the others.
    const wanted = kinds.filter(() => world.chance(0.6))
    while (!this.#isOver) {
      await world.after(world.random.next() * 2 * everyMs)
      const kind = wanted[world.random.between(0, wanted.length - 1)]
      if (kind !== undefined && !this.#isOver) await this.#make(kind)
    }
    volume.fault = () => undefined
    volume.freeBytes = 1e12
    if (broker !== undefined) broker.faults = noFaults
  }

  async #make(kind: (typeof kinds)[number]): Promise<void> {
    const { world, volume, broker, fleet } = this.#parts
    if (kind === 'log' && broker === undefined) return
    this.counts[kind]++
    switch (kind) {
      case 'kill':
        return fleet.pickProcess()?.kill()
      case 'power':
        for (const process of fleet.processes) process.kill()
        return volume.cutPower()
      case 'pause': {
        const process = fleet.pickProcess()
        process?.pause()
        world.schedule(world.pick([10, 500, 5_000, 60_000]), () => process?.resume())
        return
      }
      case 'error': {
        // The n-th operation from now on fails, whichever it is; or the first that leaves a commit unclear.
        let left = world.random.between(1, 30)
        const unclear = world.chance(0.3)
        const isHit = (operation: Operation, path: string): boolean =>
          unclear ? operation === 'syncDirectory' && path.endsWith('/commits') && left-- > 0 : --left === 0
        if (unclear) left = 1
        volume.fault = (operation, path) => (isHit(operation, path) ? 'EIO' : undefined)
        return
      }
      case 'full':
        return this.#fill()
      case 'log':
        if (broker !== undefined) {
          broker.faults = { refused: 0.1, lostBefore: 0.1, lostAfter: 0.15, twice: 0.2 }
          world.schedule(world.random.next() * 3_000, () => {
            broker.faults = noFaults
          })
        }
        return
      case 'restart':
        return fleet.restart()
      case 'clock':
        return fleet.pickProcess()?.jump(world.pick(jumpsMs))
    }
  }

  /** A volume that takes no rows, or nothing at all, for a while. */
  async #fill(): Promise<void> {
    const { world, volume } = this.#parts
    const growing: ReadonlySet<Operation> = new Set(['create', 'write', 'truncate', 'mkdir', 'link'])
    if (world.chance(0.5)) volume.freeBytes = 0
    else volume.fault = (operation) => (growing.has(operation) && world.chance(0.7) ? 'ENOSPC' : undefined)
    await world.after(world.random.next() * 4_000)
    volume.freeBytes = 1e12
    volume.fault = () => undefined
  }
}

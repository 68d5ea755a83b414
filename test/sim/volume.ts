// The volume that log and store of simulated processes share: operations take time, can fail, and happen in steps, so
// that a process dies in the middle of them.

import type { FileSystem } from '../../src/node/machine/disk/files.ts'
import { type Operation, SimulatedDisk, systemError } from '../adapters/simulated-disk.ts'
import type { Process, World } from './world.ts'

export class Volume extends SimulatedDisk {
  readonly #world: World
  override freeBytes = 1e12
  /** The error that an operation ends with, or undefined. */
  fault: (operation: Operation, path: string) => string | undefined = () => undefined
  /** Told of each change when it is there. */
  changed: (operation: Operation, path: string) => void = () => {}
  /** How long an operation takes. */
  delayMs: (operation: Operation) => number = () => 0

  constructor(world: World) {
    super(['/data'])
    this.#world = world
  }

  /** Cuts the power: what no fsync has followed survives by chance. The processes are for the caller to kill. */
  cutPower(): void {
    this.crash(() => this.#world.chance(0.5))
  }

  /** The disk as `process` sees it. */
  forProcess(process: Process): FileSystem {
    return this.forHost({
      get isAlive() {
        return process.isAlive
      },
      gate: () => process.gate(),
      step: async (operation, path, effect) => {
        await process.spend(this.delayMs(operation))
        const code = this.fault(operation, path)
        if (code !== undefined) throw systemError(code)
        effect()
        this.changed(operation, path)
        // It may take time to say so.
        if (this.#world.chance(0.2)) await process.spend(this.delayMs(operation))
      },
      // A fault or a kill comes between.
      splitWrite: (lengthBytes) => this.#world.random.between(0, lengthBytes),
    })
  }
}

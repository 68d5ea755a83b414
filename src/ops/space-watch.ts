// Watches the volumes that rows need room on: says once when they become full and when there is room again, keeps the
// node from calling itself ready meanwhile, and tells what is free at each scrape.

import { type FreeSpace, spaceReserveBytes, spaceReserveInodes, whyNoRoom } from '../disk/space.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { Metrics } from './metrics.ts'

const lookMs = 1_000
const MiB = 1024 * 1024

export interface Volume {
  /** What lies there: `log`, `store`. */
  readonly name: string
  /** What it has left; undefined where that has no meaning. */
  readonly freeSpace: () => FreeSpace | undefined | Promise<FreeSpace | undefined>
}

export interface SpaceWatchDeps {
  readonly volumes: readonly Volume[]
  /** Bytes of rows that are in the log and in no block yet. */
  readonly openBytes: () => number
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
}

export class SpaceWatch {
  readonly #deps: SpaceWatchDeps
  readonly #stop = new AbortController()
  readonly #free = new Map<string, FreeSpace>()
  readonly #full = new Map<string, string>()

  constructor(deps: SpaceWatchDeps) {
    this.#deps = deps
    deps.metrics.watchSpace(() => this.#free)
    void this.#watch()
  }

  /** Why rows are refused for want of space, or undefined. */
  async reason(): Promise<string | undefined> {
    await this.#look()
    return this.#full.size === 0 ? undefined : [...this.#full.values()].join('; ')
  }

  close(): void {
    this.#stop.abort()
  }

  async #watch(): Promise<void> {
    const { clock, logger } = this.#deps
    while (!this.#stop.signal.aborted) {
      await this.#look().catch((error: unknown) =>
        logger.warn({ err: error }, 'a volume could not be asked for its room'),
      )
      await clock.sleep(lookMs, this.#stop.signal)
    }
  }

  async #look(): Promise<void> {
    const { volumes, openBytes, logger } = this.#deps
    for (const { name, freeSpace } of volumes) {
      const free = await freeSpace()
      if (free === undefined) continue
      this.#free.set(name, free)
      const why = whyNoRoom(free, openBytes())
      const wasFull = this.#full.has(name)
      if (why === undefined) this.#full.delete(name)
      else this.#full.set(name, reasonText(name, free, why, openBytes()))
      const told = { volume: name, freeBytes: free.bytes, freeInodes: free.inodes }
      if (why !== undefined && !wasFull) logger.error(told, `rows are refused: ${this.#full.get(name)}`)
      if (why === undefined && wasFull) logger.info(told, `rows are taken again: the volume of the ${name} has room`)
    }
  }
}

function reasonText(name: string, free: FreeSpace, why: 'bytes' | 'inodes', openBytes: number): string {
  if (why === 'inodes') {
    return `the volume of the ${name} has inodes for ${free.inodes} more files; rows need ${spaceReserveInodes}`
  }
  const neededMiB = Math.ceil((spaceReserveBytes + 2 * openBytes) / MiB)
  return `the volume of the ${name} has ${Math.floor(free.bytes / MiB)} MiB free; rows need ${neededMiB} MiB`
}

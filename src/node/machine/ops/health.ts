// Whether the node can honour a durable accept and answer queries, with reasons where it cannot: checks of its parts,
// among them a watch over the volumes that rows need room on.

import { type FreeSpace, spaceReserveBytes, spaceReserveInodes, whyNoRoom } from '../disk/space.ts'
import { type Clock, repeat, type Repeated } from '../../../libraries/base/clock.ts'
import type { Logger } from '../../../libraries/base/logger.ts'
import type { Metrics } from './metrics.ts'

/** Asks one part of the node; a text says why it is not ready. */
export type HealthCheck = () => Promise<string | undefined> | string | undefined

export class Health {
  readonly #checks = new Map<string, HealthCheck>()
  readonly #facts = new Map<string, () => unknown>()

  add(name: string, check: HealthCheck): void {
    this.#checks.set(name, check)
  }

  /** Told besides the readiness, as JSON. */
  tell(name: string, fact: () => unknown): void {
    this.#facts.set(name, fact)
  }

  /** What is told, by name. */
  facts(): Readonly<Record<string, unknown>> {
    return Object.fromEntries([...this.#facts].map(([name, fact]) => [name, fact()]))
  }

  /** Reasons by part; empty when ready. A check that throws is a reason. */
  async reasons(): Promise<Readonly<Record<string, string>>> {
    const reasons: Record<string, string> = {}
    for (const [name, check] of this.#checks) {
      try {
        const reason = await check()
        if (reason !== undefined) reasons[name] = reason
      } catch {
        reasons[name] = 'the check failed'
      }
    }
    return reasons
  }
}

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

/**
 * Says once when a volume becomes full and when there is room again, keeps the node from calling itself ready meanwhile,
 * and tells what is free at each scrape.
 */
export class SpaceWatch {
  readonly #deps: SpaceWatchDeps
  readonly #repeated: Repeated
  readonly #free = new Map<string, FreeSpace>()
  readonly #full = new Map<string, string>()

  constructor(deps: SpaceWatchDeps) {
    this.#deps = deps
    deps.metrics.watchSpace(() => this.#free)
    const { clock, logger } = deps
    const onError = (error: unknown): void => logger.warn({ err: error }, 'a volume could not be asked for its room')
    this.#repeated = repeat(() => this.#look(), { everyMs: lookMs, clock, onError })
  }

  /** Why rows are refused for want of space, or undefined. */
  async reason(): Promise<string | undefined> {
    await this.#look()
    return this.#full.size === 0 ? undefined : [...this.#full.values()].join('; ')
  }

  close(): Promise<void> {
    return this.#repeated.close()
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

// Datasets that builders have halted, as the newest floors list them: for gateways whose builders are other processes.

import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { DatasetId } from '../model/events.ts'
import { newestFloor } from '../store/claims.ts'
import type { ObjectStore } from '../store/object-store.ts'

const rereadMs = 5_000

export interface FloorHaltsDeps {
  readonly store: ObjectStore
  readonly log: { readonly id: string; readonly partitions: number }
  readonly clock: Clock
  readonly logger: Logger
}

export class FloorHalts {
  readonly #deps: FloorHaltsDeps
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  #reasons: ReadonlyMap<DatasetId, string> = new Map()

  /** Reads the floors now and every 5 s until `close`. */
  constructor(deps: FloorHaltsDeps) {
    this.#deps = deps
    this.#running = this.#run()
  }

  /** Why builders take no rows of the dataset, or undefined. */
  of(dataset: DatasetId): string | undefined {
    return this.#reasons.get(dataset)
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, logger } = this.#deps
    while (!this.#stop.signal.aborted) {
      try {
        this.#reasons = await this.#read()
      } catch (error) {
        logger.warn({ err: error }, 'the floors could not be read; what they listed before stands')
      }
      await clock.sleep(rereadMs, this.#stop.signal)
    }
  }

  async #read(): Promise<ReadonlyMap<DatasetId, string>> {
    const { store, log } = this.#deps
    const numbers = Array.from({ length: log.partitions }, (_, number) => number)
    const floors = await Promise.all(numbers.map((number) => newestFloor(store, log.id, number)))
    const halted = floors.flatMap((floor) => floor?.halted ?? [])
    return new Map(halted.map(({ dataset, reason }) => [dataset, `${reason}: a builder has stopped it`]))
  }
}

// Datasets that builders have halted, as the newest floors list them: for gateways whose builders are other processes.

import { type Clock, repeat, type Repeated } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { DatasetId } from '../model/events.ts'
import { newestFloor } from '../store/records.ts'
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
  readonly #repeated: Repeated
  #reasons: ReadonlyMap<DatasetId, string> = new Map()

  /** Reads the floors now and every 5 s until `close`. */
  constructor(deps: FloorHaltsDeps) {
    this.#deps = deps
    this.#repeated = repeat(() => this.#read(), {
      everyMs: rereadMs,
      clock: deps.clock,
      onError: (error) =>
        deps.logger.warn({ err: error }, 'the floors could not be read; what they listed before stands'),
    })
  }

  /** Why builders take no rows of the dataset, or undefined. */
  of(dataset: DatasetId): string | undefined {
    return this.#reasons.get(dataset)
  }

  close(): Promise<void> {
    return this.#repeated.close()
  }

  async #read(): Promise<void> {
    const { store, log } = this.#deps
    const numbers = Array.from({ length: log.partitions }, (_, number) => number)
    const floors = await Promise.all(numbers.map((number) => newestFloor(store, log.id, number)))
    const halted = floors.flatMap((floor) => floor?.halted ?? [])
    this.#reasons = new Map(halted.map(({ dataset, reason }) => [dataset, `${reason}: a builder has stopped it`]))
  }
}

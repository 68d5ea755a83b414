// What operators have rejected in one partition, as its builder looks for it: when it begins, and while something is
// halted because of one message.

import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { EventLog } from '../log/event-log.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { type Rejects, readRejects } from '../store/records.ts'

const lookMs = 5_000

export interface RejectionsDeps {
  readonly log: EventLog
  readonly store: ObjectStore
  readonly partition: number
  readonly clock: Clock
  readonly logger: Logger
}

export class Rejections {
  readonly #deps: RejectionsDeps

  constructor(deps: RejectionsDeps) {
    this.#deps = deps
  }

  /** All that there are now. Throws what the store throws. */
  read(): Promise<Rejects> {
    const { log, store, logger, partition } = this.#deps
    return readRejects(store, { log: log.id, partition }, (position, error) =>
      logger.warn({ err: error, partition, position }, 'a rejection by an operator is damaged'),
    )
  }

  /** Waits until the message at `position` is rejected. False when `signal` aborts before. */
  async awaitAt(position: number, signal: AbortSignal): Promise<boolean> {
    const { clock, logger, partition } = this.#deps
    while (!signal.aborted) {
      try {
        if ((await this.read()).has(position)) return true
      } catch (error) {
        logger.warn({ err: error, partition }, 'rejections by operators cannot be read')
      }
      await clock.sleep(lookMs, signal)
    }
    return false
  }
}

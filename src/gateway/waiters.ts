// Callers who wait for a block. They are answered after the catalog holds the block that consumed their position.

import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { DecidedOutcome, Outcomes } from '../catalog/outcomes.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { DatasetId } from '../model/events.ts'

export type Decision = DecidedOutcome | 'void'

interface Waiter {
  readonly batch: { readonly id: string; readonly position: number }
  readonly resolve: (decision: Decision | undefined) => void
}

export class Waiters {
  readonly #deps: {
    readonly catalog: Catalog
    readonly outcomes: Outcomes
    readonly clock: Clock
    readonly logger: Logger
  }
  readonly #waiting = new Map<DatasetId, Set<Waiter>>()
  readonly #stop: () => void

  constructor(deps: { catalog: Catalog; outcomes: Outcomes; clock: Clock; logger: Logger }) {
    this.#deps = deps
    this.#stop = deps.catalog.onAdvance(({ chain }) => {
      this.#settle(chain).catch((cause: unknown) => {
        deps.logger.error({ dataset: chain.name.alias, cause: String(cause) }, 'Outcomes of a block could not be read')
      })
    })
  }

  /** Ends every wait without a decision. */
  close(): void {
    this.#stop()
    for (const waiters of this.#waiting.values()) for (const waiter of waiters) waiter.resolve(undefined)
    this.#waiting.clear()
  }

  /** The decision on a batch in the log, or undefined when `timeoutMs` passes first. */
  async wait(dataset: DatasetId, batch: Waiter['batch'], timeoutMs: number): Promise<Decision | undefined> {
    const chain = await this.#deps.catalog.byId(dataset)
    const already = chain === undefined ? undefined : await this.#deps.outcomes.at(chain, batch)
    if (already !== undefined) return already
    const ended = new AbortController()
    const decision = await new Promise<Decision | undefined>((resolve) => {
      const waiter: Waiter = { batch, resolve }
      const waiters = this.#waiting.get(dataset) ?? new Set<Waiter>()
      this.#waiting.set(dataset, waiters.add(waiter))
      void this.#deps.clock.sleep(timeoutMs, ended.signal).then(() => resolve(undefined))
      // The block may have come between the look and the registration.
      if (chain !== undefined && chain.head.next > batch.position)
        void this.#settle(chain).catch(() => resolve(undefined))
      ended.signal.addEventListener('abort', () => waiters.delete(waiter), { once: true })
    })
    ended.abort()
    return decision
  }

  async #settle(chain: DatasetChain): Promise<void> {
    const waiters = this.#waiting.get(chain.name.id)
    if (waiters === undefined) return
    for (const waiter of waiters) {
      if (chain.head.next <= waiter.batch.position) continue
      waiters.delete(waiter)
      const decision = await this.#deps.outcomes.at(chain, waiter.batch)
      waiter.resolve(decision)
    }
    if (waiters.size === 0) this.#waiting.delete(chain.name.id)
  }
}

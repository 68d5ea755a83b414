// Callers who wait for a block. They are answered after the catalog holds the block that consumed their position.

import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { DecidedOutcome, Outcomes } from '../catalog/outcomes.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { DatasetId } from '../model/events.ts'

/** A commit that was not announced here is found in the store. */
const lookMs = 1_000

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
    this.#stop = deps.catalog.onAdvance(({ chain }) => this.#settle(chain))
  }

  /** Callers who wait. */
  get count(): number {
    let count = 0
    for (const waiters of this.#waiting.values()) count += waiters.size
    return count
  }

  /** Ends every wait without a decision. */
  close(): void {
    this.#stop()
    for (const waiters of this.#waiting.values()) for (const waiter of waiters) waiter.resolve(undefined)
    this.#waiting.clear()
  }

  /** The decision on a batch in the log, or undefined when `timeoutMs` passes first. */
  async wait(chain: DatasetChain, batch: Waiter['batch'], timeoutMs: number): Promise<Decision | undefined> {
    const ended = new AbortController()
    return new Promise<Decision | undefined>((resolve) => {
      this.#enter(chain.name.id, { batch, resolve }, ended.signal)
      void this.#deps.clock.sleep(timeoutMs, ended.signal).then(() => resolve(undefined))
      void this.#look(chain, ended.signal)
      // The block may be there already.
      if (chain.next > batch.position) this.#settle(chain)
    }).finally(() => ended.abort())
  }

  /** Asks for the chain once a second, which probes the store where others may commit unheard. */
  async #look({ name }: DatasetChain, ended: AbortSignal): Promise<void> {
    const { catalog, clock } = this.#deps
    for (;;) {
      await clock.sleep(lookMs, ended)
      if (ended.aborted) return
      await catalog.byAlias(name.alias).catch(() => undefined)
    }
  }

  #enter(dataset: DatasetId, waiter: Waiter, ended: AbortSignal): void {
    const waiters = this.#waiting.get(dataset) ?? new Set<Waiter>()
    this.#waiting.set(dataset, waiters.add(waiter))
    const leave = (): void => {
      waiters.delete(waiter)
      if (waiters.size === 0 && this.#waiting.get(dataset) === waiters) this.#waiting.delete(dataset)
    }
    ended.addEventListener('abort', leave, { once: true })
  }

  /** Answers those whose position the chain has consumed; where outcomes cannot be read, they wait in vain. */
  #settle(chain: DatasetChain): void {
    this.#answer(chain).catch((cause: unknown) => {
      const { logger } = this.#deps
      logger.error({ dataset: chain.name.alias, cause: String(cause) }, 'Outcomes of a block could not be read')
    })
  }

  async #answer(chain: DatasetChain): Promise<void> {
    for (const waiter of this.#waiting.get(chain.name.id) ?? []) {
      if (chain.next <= waiter.batch.position) continue
      waiter.resolve(await this.#deps.outcomes.at(chain, waiter.batch))
    }
  }
}

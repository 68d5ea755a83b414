// Which datasets have blocks that are not in the ledger: those of which a commit was heard, and those that a look over all
// names has found. Public ones are entered, and private ones that were once.

import type { Clock } from '../../libraries/base/clock.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { Catalog } from '../../node/catalog/catalog.ts'
import type { DatasetChain } from '../../node/catalog/dataset-chain.ts'
import { readHint } from '../../node/store/heads.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import type { History } from './history.ts'
import type { LedgerKeys } from './ledger-keys.ts'

export interface WaitingDeps {
  readonly catalog: Catalog
  readonly store: ObjectStore
  readonly keys: LedgerKeys
  readonly clock: Clock
  readonly logger: Logger
}

/** A dataset that waits: since when by the wall clock, and how often it was noted. */
interface Noted {
  readonly sinceMs: number
  readonly count: number
}

/** Entries to append, and the datasets that have all of theirs among them, as they were noted then. */
export interface Taken {
  readonly entries: readonly Uint8Array[]
  readonly done: ReadonlyMap<DatasetId, number>
}

export class WaitingDatasets {
  readonly #deps: WaitingDeps
  readonly #noted = new Map<DatasetId, Noted>()

  constructor(deps: WaitingDeps) {
    this.#deps = deps
  }

  /** How many wait, and since when the first of them, in milliseconds since 1970. */
  get load(): { readonly datasets: number; readonly sinceMs: number | undefined } {
    const times = [...this.#noted.values()].map(({ sinceMs }) => sinceMs)
    return { datasets: times.length, sinceMs: times.length === 0 ? undefined : Math.min(...times) }
  }

  note(id: DatasetId): void {
    const { sinceMs = this.#deps.clock.nowMs(), count = 0 } = this.#noted.get(id) ?? {}
    this.#noted.set(id, { sinceMs, count: count + 1 })
  }

  /** Looks over all names for datasets whose head is beyond the ledger. */
  async sweep(history: History): Promise<void> {
    const { catalog, store, keys } = this.#deps
    for (const { id, visibility } of await catalog.names()) {
      if (visibility !== 'public') continue
      // One that is damaged is written anew with the next commit.
      const hint = await readHint(store, id).catch(undefinedIfDamaged)
      const { tag } = await keys.of(id)
      if (hint === undefined || hint.sequence >= history.nextOf(tag)) this.note(id)
    }
  }

  /** Entries of blocks that wait, at most `most`; those of one dataset in order. */
  async take(history: History, most: number): Promise<Taken> {
    const entries: Uint8Array[] = []
    const done = new Map<DatasetId, number>()
    for (const [id, { count }] of this.#noted) {
      if (entries.length >= most) break
      const isDone = await this.#enter(id, history, { entries, most })
      if (isDone) done.set(id, count)
    }
    return { entries, done }
  }

  /** What was taken is in the ledger. What was noted since waits on. */
  entered(done: Taken['done']): void {
    for (const [id, count] of done) if (this.#noted.get(id)?.count === count) this.#noted.delete(id)
  }

  /** False where blocks of it are left. A dataset that cannot be read is left to the next look over all. */
  async #enter(
    id: DatasetId,
    history: History,
    { entries, most }: { readonly entries: Uint8Array[]; readonly most: number },
  ): Promise<boolean> {
    const chain = await this.#chainOf(id)
    if (chain === undefined) return true
    const { tag, entryOf } = await this.#deps.keys.of(id)
    const next = history.nextOf(tag)
    if (chain.name.visibility !== 'public' && next === 0) return true
    const end = Math.min(chain.blocks.length, next + most - entries.length)
    for (let sequence = next; sequence < end; sequence++) {
      const block = chain.blocks.at(sequence)
      if (block !== undefined) entries.push(entryOf(sequence, block.hash))
    }
    return end >= chain.blocks.length
  }

  async #chainOf(id: DatasetId): Promise<DatasetChain | undefined> {
    const { catalog, logger } = this.#deps
    try {
      return await catalog.byId(id)
    } catch (error) {
      if (!(error instanceof HaltError)) throw error
      logger.warn({ dataset: id, reason: error.message }, 'a dataset that cannot be read is not entered in the ledger')
      return undefined
    }
  }
}

function undefinedIfDamaged(error: unknown): undefined {
  if (!(error instanceof DecodeError)) throw error
}

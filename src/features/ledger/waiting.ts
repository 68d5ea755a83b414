// Which datasets have blocks that are not in the ledger: those of which a commit was heard, and those that a look over all
// names has found. Those are entered whose name says so, and those that were once.

import type { Clock } from '../../libraries/base/clock.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { isEntered, type NameRecord } from '../../libraries/odf/chain/records.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { Catalog } from '../../node/catalog/catalog.ts'
import type { DatasetChain } from '../../node/catalog/dataset-chain.ts'
import { readHint } from '../../node/store/heads.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import type { History } from './history.ts'
import type { BlockRecords } from './block-records.ts'
import { entriesOf } from './entries.ts'
import type { LedgerKeys, Tagger } from './ledger-keys.ts'

export interface WaitingDeps {
  readonly catalog: Catalog
  readonly store: ObjectStore
  readonly keys: LedgerKeys
  readonly records: BlockRecords
  readonly clock: Clock
  readonly logger: Logger
}

/** A dataset that waits: since when by the wall clock, how often it was noted, and about how many blocks of it wait. */
interface Noted {
  readonly sinceMs: number
  readonly count: number
  readonly blocks: number
}

/** Entries to append, and the datasets that have all of theirs among them, as they were noted then. */
export interface Taken {
  readonly entries: readonly Uint8Array[]
  readonly done: ReadonlyMap<DatasetId, number>
}

export interface WaitingLoad {
  readonly datasets: number
  readonly blocks: number
  readonly sinceMs: number | undefined
}

export class WaitingDatasets {
  readonly #deps: WaitingDeps
  readonly #noted = new Map<DatasetId, Noted>()
  /** Those that have entries, as far as they were looked at. */
  readonly #entered = new Set<DatasetId>()

  constructor(deps: WaitingDeps) {
    this.#deps = deps
  }

  /** How many wait, about how many blocks of them, and since when the first, in milliseconds since 1970. */
  get load(): WaitingLoad {
    const noted = [...this.#noted.values()]
    return {
      datasets: noted.length,
      blocks: noted.reduce((sum, { blocks }) => sum + blocks, 0),
      sinceMs: noted.length === 0 ? undefined : Math.min(...noted.map(({ sinceMs }) => sinceMs)),
    }
  }

  /** A commit was heard. Those of private datasets that were never entered concern nobody. */
  heard(name: Pick<NameRecord, 'id' | 'ledger' | 'visibility'>, blocks: number): void {
    if (isEntered(name) || this.#entered.has(name.id)) this.note(name.id, blocks)
  }

  note(id: DatasetId, more: number): void {
    const { sinceMs = this.#deps.clock.nowMs(), count = 0, blocks = 0 } = this.#noted.get(id) ?? {}
    this.#noted.set(id, { sinceMs, count: count + 1, blocks: blocks + more })
  }

  /** Looks over all names for datasets whose head is beyond the ledger. */
  async sweep(history: History): Promise<void> {
    const { catalog, store, keys } = this.#deps
    for (const name of await catalog.names()) {
      const { id } = name
      const key = await this.#opened(() => (isEntered(name) ? keys.of(id) : keys.held(id)))
      if (key === undefined) continue
      const next = history.nextOf(key.tag)
      if (!isEntered(name) && next === 0) continue
      if (next > 0) this.#entered.add(id)
      // One that is damaged is written anew with the next commit.
      const hint = await readHint(store, id).catch(undefinedIfDamaged)
      const blocks = hint === undefined ? 1 : hint.sequence + 1 - next
      if (blocks > 0) this.note(id, Math.max(0, blocks - (this.#noted.get(id)?.blocks ?? 0)))
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
    const { records } = this.#deps
    const found = await this.#opened(() => this.#find(id))
    if (found === undefined) return true
    const { chain, key } = found
    const start = history.nextOf(key.tag)
    if (!isEntered(chain.name) && start === 0) return true
    this.#entered.add(id)
    const end = Math.min(chain.blocks.length, start + most - entries.length)
    const isMade = await this.#opened(async () => {
      for await (const made of entriesOf(chain, { start, end }, { key, records })) entries.push(...made)
      return true
    })
    const noted = this.#noted.get(id)
    if (noted !== undefined) this.#noted.set(id, { ...noted, blocks: chain.blocks.length - end })
    return isMade === undefined || end >= chain.blocks.length
  }

  /** The chain and the key of a dataset; of a deleted one, while these are there. */
  async #find(id: DatasetId): Promise<{ readonly chain: DatasetChain; readonly key: Tagger } | undefined> {
    const { catalog, keys } = this.#deps
    const chain = await catalog.byId(id)
    if (chain !== undefined) {
      const key = await (isEntered(chain.name) ? keys.of(id) : keys.held(id))
      return key && { chain, key }
    }
    const deletion = await catalog.deletionOf(id)
    const key = deletion && (await keys.stored(id))
    return deletion && key && { chain: await catalog.chainOf(deletion.name), key }
  }

  /** Undefined where a dataset or its key cannot be read: others go on. */
  async #opened<T>(open: () => Promise<T>): Promise<T | undefined> {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof HaltError)) throw error
      this.#deps.logger.error({ reason: error.message }, 'A dataset that cannot be read is not entered in the ledger')
      return undefined
    }
  }
}

function undefinedIfDamaged(error: unknown): undefined {
  if (!(error instanceof DecodeError)) throw error
}

// Which datasets have blocks that are not in the ledger: those of which a commit was heard, and those that a look over all
// names has found. Those are entered whose name says so, and those that were once. What of single datasets cannot be entered now
// is set aside: logged once for each reason, and tried again at longer and longer intervals, so that all others go on.

import type { Clock } from '../../libraries/base/clock.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { isEntered, type NameRecord } from '../../libraries/odf/chain/records.ts'
import type { Catalog } from '../../node/catalog/catalog.ts'
import type { DatasetChain } from '../../node/catalog/dataset-chain.ts'
import type { BlockRecords } from '../../node/files/block-records.ts'
import { readHint } from '../../node/store/heads.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { entriesOf } from './entries.ts'
import type { History } from './history.ts'
import type { LedgerKeys, Tagger } from './ledger-keys.ts'

export interface WaitingDeps {
  readonly catalog: Catalog
  readonly store: ObjectStore
  readonly keys: LedgerKeys
  readonly records: BlockRecords
  readonly clock: Clock
  readonly aside: SetAside
}

/** A look goes on to the next dataset after so long: one with many large blocks holds up no other. */
const takeMs = 1_000

/** A dataset that waits: since when by the wall clock, how often it was noted, and about how many blocks of it wait. */
interface Noted {
  readonly sinceMs: number
  readonly count: number
  readonly blocks: number
}

/** Where entries go, how many there may be, and until when they are made, by the monotonic clock. */
interface Room {
  readonly entries: Uint8Array[]
  readonly most: number
  readonly untilMs: number
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

  /**
   * How many wait, about how many blocks of them, and since when the first, in milliseconds since 1970; without those that are
   * set aside.
   */
  get load(): WaitingLoad {
    const noted = [...this.#noted].flatMap(([id, one]) => (this.#deps.aside.has(id) ? [] : [one]))
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

  /** Looks over all names for datasets whose head is beyond the ledger. Those that cannot be looked at are tried as they are entered. */
  async sweep(history: History): Promise<void> {
    for (const name of await this.#deps.catalog.names()) {
      const blocks = await this.#blocksOf(name, history).catch(() => 1)
      if (blocks > 0) this.note(name.id, Math.max(0, blocks - (this.#noted.get(name.id)?.blocks ?? 0)))
    }
  }

  /** About how many blocks of a dataset wait. */
  async #blocksOf(name: NameRecord, history: History): Promise<number> {
    const { store, keys } = this.#deps
    const { id } = name
    const key = await (isEntered(name) ? keys.of(id) : keys.held(id))
    if (key === undefined) return 0
    const next = history.nextOf(key.tag)
    if (!isEntered(name) && next === 0) return 0
    if (next > 0) this.#entered.add(id)
    // One that is damaged is written anew with the next commit.
    const hint = await readHint(store, id).catch(undefinedIfDamaged)
    return hint === undefined ? 1 : hint.sequence + 1 - next
  }

  /** Entries of blocks that wait, at most `most`; those of one dataset in order. */
  async take(history: History, most: number): Promise<Taken> {
    const { clock, aside } = this.#deps
    const untilMs = clock.monotonicMs() + takeMs
    const entries: Uint8Array[] = []
    const done = new Map<DatasetId, number>()
    for (const [id, noted] of new Map(this.#noted)) {
      if (entries.length >= most || clock.monotonicMs() >= untilMs) break
      // What is left of it has its turn after all others.
      if (this.#noted.delete(id)) this.#noted.set(id, noted)
      const isDone = await aside.trying(id, () => this.#enter(id, history, { entries, most, untilMs }))
      if (isDone === true) done.set(id, noted.count)
    }
    return { entries, done }
  }

  /** What was taken is in the ledger. What was noted since waits on. */
  entered(done: Taken['done']): void {
    for (const [id, count] of done) if (this.#noted.get(id)?.count === count) this.#noted.delete(id)
  }

  /** False where blocks of it are left. */
  async #enter(id: DatasetId, history: History, { entries, most, untilMs }: Room): Promise<boolean> {
    const { clock, records } = this.#deps
    const found = await this.#find(id)
    if (found === undefined) return true
    const { chain, key } = found
    const start = history.nextOf(key.tag)
    if (!isEntered(chain.name) && start === 0) return true
    this.#entered.add(id)
    const before = entries.length
    const end = Math.min(chain.blocks.length, start + most - before)
    for await (const made of entriesOf(chain, { start, end }, { key, records })) {
      entries.push(...made)
      if (clock.monotonicMs() >= untilMs) break
    }
    const blocks = chain.blocks.length - start - (entries.length - before)
    const noted = this.#noted.get(id)
    if (noted !== undefined) this.#noted.set(id, { ...noted, blocks })
    return blocks <= 0
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
}

function undefinedIfDamaged(error: unknown): undefined {
  if (!(error instanceof DecodeError)) throw error
}

const firstRetryMs = 2_000
const longestRetryMs = 120_000

interface Failing {
  readonly reason: string
  readonly failures: number
  /** By the wall clock. */
  readonly sinceMs: number
  /** By the monotonic clock. */
  readonly againMs: number
}

export class SetAside {
  readonly #deps: { readonly clock: Clock; readonly logger: Logger }
  /** By the id or the tag of a dataset. */
  readonly #failing = new Map<string, Failing>()

  constructor(deps: { readonly clock: Clock; readonly logger: Logger }) {
    this.#deps = deps
  }

  get datasets(): number {
    return this.#failing.size
  }

  /** Since when the first has failed, in milliseconds since 1970. */
  get sinceMs(): number | undefined {
    const [first] = [...this.#failing.values()].map(({ sinceMs }) => sinceMs).sort((a, b) => a - b)
    return first
  }

  has(dataset: string): boolean {
    return this.#failing.has(dataset)
  }

  /** Undefined where `work` fails, or has failed and is not to be tried again yet. */
  async trying<T>(dataset: string, work: () => Promise<T>): Promise<T | undefined> {
    const { clock, logger } = this.#deps
    const before = this.#failing.get(dataset)
    if (before !== undefined && clock.monotonicMs() < before.againMs) return undefined
    try {
      const done = await work()
      if (this.#failing.delete(dataset)) logger.info({ dataset }, 'A dataset is entered in the ledger again')
      return done
    } catch (error) {
      const reason = String(error)
      const { failures = 0, sinceMs = clock.nowMs() } = before ?? {}
      const againMs = clock.monotonicMs() + Math.min(firstRetryMs * 2 ** failures, longestRetryMs)
      this.#failing.set(dataset, { reason, failures: failures + 1, sinceMs, againMs })
      if (before?.reason !== reason)
        logger.error({ dataset, err: error }, 'A dataset cannot be entered in the ledger now; all others go on')
      return undefined
    }
  }
}

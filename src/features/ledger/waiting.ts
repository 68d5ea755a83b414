// Which datasets have blocks that are not in the ledger: those of which a commit was heard, and those that a look over all
// names has found. Those are entered whose name says so, and those that were once.

import { must } from '../../libraries/base/assert.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { isEntered, type NameRecord } from '../../libraries/odf/chain/records.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { noRoot } from '../../libraries/ledger/entry.ts'
import { recordsRoot } from '../../libraries/ledger/roots.ts'
import type { Catalog } from '../../node/catalog/catalog.ts'
import type { DatasetChain } from '../../node/catalog/dataset-chain.ts'
import type { ChainBlock } from '../../node/catalog/packed-blocks.ts'
import { readHint } from '../../node/store/heads.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import type { History } from './history.ts'
import type { BlockRecords, Leaves } from './block-records.ts'
import type { LedgerKeys, Tagger } from './ledger-keys.ts'

export interface WaitingDeps {
  readonly catalog: Catalog
  readonly store: ObjectStore
  readonly keys: LedgerKeys
  readonly records: BlockRecords
  readonly clock: Clock
  readonly logger: Logger
}

/** Blocks whose roots are made at a time. */
const blocksAtOnce = 32

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
  /** Those that have entries, as far as they were looked at. */
  readonly #entered = new Set<DatasetId>()

  constructor(deps: WaitingDeps) {
    this.#deps = deps
  }

  /** How many wait, and since when the first of them, in milliseconds since 1970. */
  get load(): { readonly datasets: number; readonly sinceMs: number | undefined } {
    const times = [...this.#noted.values()].map(({ sinceMs }) => sinceMs)
    return { datasets: times.length, sinceMs: times.length === 0 ? undefined : Math.min(...times) }
  }

  /** A commit was heard. Those of private datasets that were never entered concern nobody. */
  heard(name: Pick<NameRecord, 'id' | 'ledger' | 'visibility'>): void {
    if (isEntered(name) || this.#entered.has(name.id)) this.note(name.id)
  }

  note(id: DatasetId): void {
    const { sinceMs = this.#deps.clock.nowMs(), count = 0 } = this.#noted.get(id) ?? {}
    this.#noted.set(id, { sinceMs, count: count + 1 })
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
      if (hint === undefined || hint.sequence >= next) this.note(id)
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
    const { catalog, keys } = this.#deps
    const chain = await this.#opened(() => catalog.byId(id))
    const key = chain && (await this.#opened(() => (isEntered(chain.name) ? keys.of(id) : keys.held(id))))
    if (chain === undefined || key === undefined) return true
    const next = history.nextOf(key.tag)
    if (!isEntered(chain.name) && next === 0) return true
    this.#entered.add(id)
    const end = Math.min(chain.blocks.length, next + most - entries.length)
    // Of slices one is in memory at a time.
    const atOnce = chain.name.proofs === 'rows' ? 1 : blocksAtOnce
    for (let from = next; from < end; from += atOnce) {
      const sequences = Array.from({ length: Math.min(atOnce, end - from) }, (_, i) => from + i)
      const made = await this.#opened(() => this.#entriesOf(chain, sequences, key))
      if (made === undefined) return true
      entries.push(...made)
    }
    return end >= chain.blocks.length
  }

  async #entriesOf(chain: DatasetChain, sequences: readonly number[], key: Tagger): Promise<Uint8Array[]> {
    const { records } = this.#deps
    const blocks = sequences.map((at) => must(chain.blocks.at(at), 'the chain has blocks up to its head'))
    // A long history of an older release has no hashes of bodies: where its ends have none, what is between is not read.
    const ends =
      blocks.length < blocksAtOnce ? [] : [blocks.at(0), blocks.at(-1)].filter((block) => block !== undefined)
    const old = await Promise.all(ends.map((block) => records.isOfOlder(chain, block)))
    const isOld = old.length > 0 && !old.includes(false)
    return await Promise.all(blocks.map((block) => this.#entryOf(chain, block, { key, isOld })))
  }

  async #entryOf(
    chain: DatasetChain,
    block: ChainBlock,
    { key, isOld }: { readonly key: Tagger; readonly isOld: boolean },
  ): Promise<Uint8Array> {
    const { records } = this.#deps
    const { sequence, hash } = block
    const open = { chain, block, secret: key.secretOf(sequence) }
    const batches = isOld ? undefined : await records.batches(open)
    const rows = chain.name.proofs === 'rows' ? await records.rows(open) : undefined
    return key.entryOf({ sequence, hash, batchRoot: rootOver(batches), rowRoot: rootOver(rows) })
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

function rootOver(leaves: Leaves | undefined): Uint8Array {
  return leaves === undefined ? noRoot : recordsRoot(leaves.hashes)
}

function undefinedIfDamaged(error: unknown): undefined {
  if (!(error instanceof DecodeError)) throw error
}

// What is committed: names → datasets → chains. Follows announcements (hints) and probes the store for what they miss.
// Everything here is derived from the store and may be dropped at any time.

import type { CommitRecord, Deletion, NameRecord } from '../../libraries/odf/chain/records.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import { limitTable } from '../../libraries/base/limits.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { Announcements } from '../log/announcements.ts'
import type { CommitAnnouncement } from '../log/messages.gen.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId, Hash } from '../../libraries/base/ids/identifiers.ts'
import { dataOf } from '../../libraries/model/events.ts'
import { readHint } from '../store/heads.ts'
import { blockKey, commitsPrefix } from '../store/layout.ts'
import { openBlock } from '../store/load-block.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { PackGone } from '../store/packs.ts'
import { listNumbers, readCommit } from '../store/records.ts'
import { type ChainSource, mended } from './chain-source.ts'
import { DatasetChain, HeldChains } from './dataset-chain.ts'
import { applyPacks } from './apply-packs.ts'
import { asBroken, HeldNames, type Hearing, isCurrent, whole } from './held-names.ts'

const parallelReads = 64

/** A chain has new blocks: those from `fromSequence` to its head. */
export interface Advance {
  readonly chain: DatasetChain
  readonly fromSequence: number
}

export class Catalog {
  readonly #store: ObjectStore
  readonly #logger: Logger
  readonly #hearing: Hearing
  readonly #names: HeldNames
  readonly #chains: HeldChains
  /** Work on one chain is one after the other. */
  readonly #turns = new Map<DatasetId, Promise<unknown>>()
  /** When a chain was last probed, by the monotonic clock. */
  readonly #probedMs = new Map<DatasetId, number>()
  readonly #listeners = new Set<(advance: Advance) => void>()
  readonly #unsubscribe: () => void
  #source: ChainSource | undefined

  /**
   * With a `clock`, others may commit unannounced: a chain that is asked for is then probed, at most once a second, unless its
   * rows are in `heardLog`, of which all is announced here.
   */
  constructor(deps: {
    store: ObjectStore
    announcements: Announcements
    logger: Logger
    clock?: Clock | undefined
    heardLog?: string | undefined
    /** Limit `catalogBytes`. */
    bytesMost?: number
  }) {
    this.#store = deps.store
    this.#chains = new HeldChains(deps.bytesMost ?? limitTable.catalogBytes.value)
    this.#hearing = { clock: deps.clock, heardLog: deps.heardLog }
    this.#logger = deps.logger
    this.#names = new HeldNames({
      ...deps,
      hearing: this.#hearing,
      onChange: (name) => {
        const chain = this.#chains.peek(name.id)
        if (chain !== undefined) chain.name = name
      },
    })
    this.#unsubscribe = deps.announcements.subscribe((message, blocks) => {
      this.#follow(message, blocks).catch((cause: unknown) => {
        this.#logger.error({ dataset: message.dataset, cause: String(cause) }, 'A committed block could not be read')
      })
    })
  }

  close(): void {
    this.#unsubscribe()
    this.#listeners.clear()
  }

  /** From now on what is damaged, or not here yet, is asked for at `source`. */
  completeFrom(source: ChainSource): void {
    this.#source = source
    this.#names.completeFrom(source)
  }

  /** Forgets the chain of a dataset: it is not what the store has any more. */
  forget(id: DatasetId): void {
    this.#chains.forget(id)
    this.#probedMs.delete(id)
  }

  /** Memory that chains take. */
  get bytes(): number {
    return this.#chains.bytes
  }

  /** Calls `listener` after the catalog holds new blocks; returns what ends it. Listeners must not throw. */
  onAdvance(listener: (advance: Advance) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * The dataset named `alias` (any ASCII case), looked up in the store once when unknown; undefined if there is none.
   * Throws HaltError `ChainBroken` when its chain cannot be read; other datasets are not touched by that.
   */
  async byAlias(alias: string): Promise<DatasetChain | undefined> {
    const name = await this.nameOf(alias)
    return name === undefined ? undefined : this.chainOf(name)
  }

  /** The dataset with this DID, looked up in the store once when unknown. Throws as `byAlias`. */
  async byId(id: DatasetId): Promise<DatasetChain | undefined> {
    const name = await this.nameOfId(id)
    return name === undefined ? undefined : this.chainOf(name)
  }

  /**
   * The name `alias` (any ASCII case); its chain is not looked at. Throws HaltError `ChainBroken` when its record is
   * damaged.
   */
  async nameOf(alias: string): Promise<NameRecord | undefined> {
    return this.#names.of(alias)
  }

  /** The name now of the dataset that was renamed from `alias`, which is free. Throws as `nameOf`. */
  async renamed(alias: string): Promise<NameRecord | undefined> {
    return this.#names.renamed(alias)
  }

  /** The name of the dataset with this DID, if its record is whole. */
  async nameOfId(id: DatasetId): Promise<NameRecord | undefined> {
    return this.#names.ofId(id)
  }

  /** When the dataset with this DID was deleted; undefined where it was not, or is restored. */
  async deletionOf(id: DatasetId): Promise<Deletion | undefined> {
    return this.#names.deletionOf(id)
  }

  /** Every deletion that was not taken back; those whose record is damaged are left out. Reads one by one. */
  async deletions(): Promise<readonly Deletion[]> {
    return this.#names.deletions()
  }

  /** The name of the dataset with this DID if the catalog holds it already; no IO. */
  heldName(id: DatasetId): NameRecord | undefined {
    return this.#names.heldOfId(id)
  }

  /** The dataset by alias if the catalog holds it already and need not probe it; no IO. */
  known(alias: string): DatasetChain | undefined {
    const name = this.#names.heldNow(alias)
    const chain = name === undefined ? undefined : this.#chains.get(name.id)
    return chain !== undefined && this.#isCurrent(chain) ? chain : undefined
  }

  /** Every name in the store whose record is whole, sorted by folded alias. */
  async names(): Promise<readonly NameRecord[]> {
    return this.#names.all()
  }

  /**
   * Probes the store for commits after what is held; for a copy its source is asked first. Throws NodeError `CopyBehind`
   * where the source has more than could be copied so soon.
   */
  async refresh(chain: DatasetChain): Promise<void> {
    const { id } = chain.name
    await this.#source?.catchUp(id)
    await this.#inTurn(id, () => this.#mended(id, () => this.#probe(chain)))
  }

  #mended<T>(id: DatasetId, work: () => Promise<T>): Promise<T> {
    const source = this.#source
    return mended(work, source && (() => source.chain(id)))
  }

  /** The name `alias` as the store has it now. Throws as `nameOf`. */
  async rereadName(alias: string): Promise<NameRecord | undefined> {
    return this.#names.reread(alias)
  }

  #isCurrent({ name }: DatasetChain): boolean {
    return isCurrent(this.#hearing, name.log, this.#probedMs.get(name.id))
  }

  /** Refreshes a chain that may be out of date; callers that ask meanwhile share the probe. */
  async #makeCurrent(chain: DatasetChain): Promise<DatasetChain> {
    const { id } = chain.name
    await this.#inTurn(id, async () => {
      if (!this.#isCurrent(chain)) await this.#mended(id, () => this.#probe(chain))
    })
    return chain
  }

  async #follow(message: CommitAnnouncement, blocks: readonly Uint8Array[] | undefined): Promise<void> {
    const { alias, dataset: id, headSequence } = message
    const held = this.#chains.peek(id)
    if (held !== undefined) return this.#inTurn(id, () => this.#takeIn(held, message, blocks))
    if (this.#names.heldOfId(id) !== undefined) await this.#names.reread(alias)
    // Not asked for yet: it is read ahead, but never pushes out a chain that is in use.
    if (!this.#chains.hasRoomFor(headSequence + 1)) return
    const name = await this.#names.of(alias)
    const chain = name?.id === id ? await this.chainOf(name) : undefined
    // It was being read already when this was announced.
    if (chain !== undefined && chain.headSequence < headSequence) await this.refresh(chain)
  }

  /** Adds the blocks that were announced as they are, if they are the next ones of the chain; else it is probed. */
  async #takeIn(
    chain: DatasetChain,
    { alias, blocks, sequence, headSequence }: CommitAnnouncement,
    bytes: readonly Uint8Array[] | undefined,
  ): Promise<void> {
    const isNext = chain.headSequence + 1 === sequence && headSequence === chain.headSequence + blocks.length
    if (bytes === undefined || !isNext) return this.#probe(chain, { durableTo: headSequence, alias })
    await this.#applyBlocks(chain, blocks, { alias, bytes })
    this.#advanced(chain, sequence)
  }

  /** The chain behind a name. Throws HaltError `ChainBroken` when it cannot be read. */
  async chainOf(name: NameRecord): Promise<DatasetChain> {
    const held = this.#chains.get(name.id)
    if (held !== undefined) return this.#isCurrent(held) ? held : this.#makeCurrent(held)
    const { id } = name
    return this.#inTurn(id, async () => this.#chains.get(id) ?? (await this.#mended(id, () => this.#load(name))))
  }

  async #load(name: NameRecord): Promise<DatasetChain> {
    // A pack that goes while it is read has been replaced by a larger one.
    const chain = await this.#read(name).catch((error: unknown) => {
      if (error instanceof PackGone) return this.#read(name)
      throw error
    })
    // It may have changed meanwhile.
    chain.name = this.#names.heldOfId(name.id) ?? name
    this.#chains.keep(chain)
    this.#tell({ chain, fromSequence: 0 })
    return chain
  }

  async #read(name: NameRecord): Promise<DatasetChain> {
    const chain = new DatasetChain(name)
    // Read first: a head is written after its commit, so the commits that are found below reach it.
    const hint = await readHint(this.#store, name.id)
    const packedTo = await applyPacks(this.#store, chain)
    const loose = await listNumbers(this.#store, commitsPrefix(name.id))
    // What lies loose in the range of a pack does not count.
    const sequences = loose.filter((sequence) => sequence >= packedTo)
    let ahead = this.#commits(chain, sequences.slice(0, parallelReads))
    for (let at = 0; at < sequences.length; at += parallelReads) {
      const group = sequences.slice(at, at + parallelReads)
      const commits = await ahead
      ahead = this.#commits(chain, sequences.slice(at + parallelReads, at + 2 * parallelReads))
      const blocks: Hash[] = []
      for (const [index, commit] of commits.entries()) {
        // A listing may lack a commit that was made meanwhile: the probe finds it.
        if (group[index] === chain.headSequence + 1 + blocks.length) blocks.push(...(commit?.blocks ?? []))
      }
      await this.#applyBlocks(chain, blocks)
    }
    await this.#probe(chain, { tell: false })
    if ((sequences.at(-1) ?? -1) > chain.headSequence) {
      throw broken(`commit ${chain.headSequence + 1} of ${name.alias} is missing`)
    }
    if (hint !== undefined && hint.sequence > chain.headSequence) {
      throw broken(`commits of ${name.alias} end at block ${chain.headSequence}, its head is block ${hint.sequence}`)
    }
    await this.#store.makeDurable(commitsPrefix(name.id))
    if (chain.blocks.length === 0) throw broken(`${name.alias} has a name but no commits`)
    return chain
  }

  /** Takes in what was committed since; `durableTo` is the last block that has been announced. */
  async #probe(chain: DatasetChain, { tell = true, durableTo = -1, alias = chain.name.alias } = {}): Promise<void> {
    const fromSequence = chain.headSequence + 1
    const blocks: Hash[] = []
    const startedMs = this.#hearing.clock?.monotonicMs()
    for (;;) {
      const commit = await this.#commit(chain, fromSequence + blocks.length)
      if (commit === undefined) break
      blocks.push(...commit.blocks)
    }
    const probed = (): void => {
      if (startedMs !== undefined) this.#probedMs.set(chain.name.id, startedMs)
    }
    if (blocks.length === 0) return probed()
    if (fromSequence + blocks.length - 1 > durableTo) await this.#store.makeDurable(commitsPrefix(chain.name.id))
    await this.#applyBlocks(chain, blocks, tell ? { alias } : {})
    probed()
    if (tell) this.#advanced(chain, fromSequence)
  }

  /** The commits with these numbers. A failure waits until it is awaited. */
  #commits(chain: DatasetChain, sequences: readonly number[]): Promise<(CommitRecord | undefined)[]> {
    const reading = Promise.all(sequences.map((sequence) => this.#commit(chain, sequence)))
    reading.catch(() => {})
    return reading
  }

  #commit({ name }: DatasetChain, sequence: number): Promise<CommitRecord | undefined> {
    return whole(`commit ${sequence} of ${name.alias} is damaged`, readCommit(this.#store, name.id, sequence))
  }

  /**
   * Adds blocks after checking them; what is not among `bytes` is read. One that brings no rows may have changed the name
   * `alias`: that is looked at first, so that no caller that may not read any more sees such a block. Throws HaltError
   * `ChainBroken`; the chain then ends before the one at fault.
   */
  async #applyBlocks(
    chain: DatasetChain,
    hashes: readonly Hash[],
    { alias, bytes }: { readonly alias?: string; readonly bytes?: readonly Uint8Array[] } = {},
  ): Promise<void> {
    const { id } = chain.name
    const bytesOf = async (hash: Hash, index: number): Promise<Uint8Array | undefined> =>
      bytes?.[index] ?? this.#store.get(blockKey(id, hash))
    for (let at = 0; at < hashes.length; at += parallelReads) {
      const group = hashes.slice(at, at + parallelReads)
      const stored = await Promise.all(group.map((hash, index) => bytesOf(hash, at + index)))
      for (const [index, hash] of group.entries()) {
        try {
          const block = openBlock(chain.name, hash, stored[index])
          const isChange = alias !== undefined && dataOf(block.event)?.newData === undefined
          if (isChange && this.#names.heldOfId(id) !== undefined) await this.#names.reread(alias)
          chain.apply(hash, block)
        } catch (error) {
          throw asBroken(`block ${hash} of ${chain.name.alias} cannot be read`, error)
        }
      }
    }
  }

  #advanced(chain: DatasetChain, fromSequence: number): void {
    this.#chains.grown(chain)
    this.#tell({ chain, fromSequence })
  }

  #tell(advance: Advance): void {
    for (const listener of this.#listeners) listener(advance)
  }

  #inTurn<T>(id: DatasetId, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(id) ?? Promise.resolve()
    const turn = before.then(work, work)
    this.#turns.set(id, turn)
    const clear = (): void => {
      if (this.#turns.get(id) === turn) this.#turns.delete(id)
    }
    turn.then(clear, clear)
    return turn
  }
}

function broken(what: string): HaltError {
  return new HaltError('ChainBroken', what)
}

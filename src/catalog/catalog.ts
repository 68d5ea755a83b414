// What is committed: names → datasets → chains. Follows announcements (hints) and probes the store for what they miss.
// Everything here is derived from the store and may be dropped at any time.

import { eventKinds, hashIn } from '../chain/pack-summary.ts'
import type { AdoptionRecord, CommitRecord, NameRecord } from '../chain/records.ts'
import { type Clock, nextTurn } from '../lib/clock.ts'
import { limitTable } from '../lib/limits.ts'
import type { Logger } from '../lib/logger.ts'
import type { Announcements } from '../log/announcements.ts'
import type { CommitAnnouncement } from '../log/messages.gen.ts'
import { partitionOf } from '../log/partitions.ts'
import { DecodeError, HaltError } from '../model/errors.ts'
import type { DatasetId, Hash, MetadataBlock } from '../model/events.ts'
import { foldAscii } from '../model/names.ts'
import { readHint } from '../store/heads.ts'
import { blockKey, commitsPrefix } from '../store/layout.ts'
import { openBlock } from '../store/load-block.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { listPacks, PackReader } from '../store/packs.ts'
import { adoptionsFrom, listNames, listNumbers, readCommit, readName } from '../store/records.ts'
import { DatasetChain, HeldChains } from './dataset-chain.ts'

const parallelReads = 64
/** Blocks of a pack that are taken in within a few milliseconds. */
const blocksAtOnce = 2_048
const addDataKind = eventKinds.indexOf('AddData')
/** How long a chain is taken for current where another process may have moved it. */
const currentMs = 1_000

/** A chain has new blocks: those from `fromSequence` to its head. */
export interface Advance {
  readonly chain: DatasetChain
  readonly fromSequence: number
}

export class Catalog {
  readonly #store: ObjectStore
  readonly #logger: Logger
  readonly #clock: Clock | undefined
  /** By folded alias, and by id. */
  readonly #names = new Map<string, NameRecord>()
  readonly #nameOfId = new Map<DatasetId, NameRecord>()
  readonly #chains: HeldChains
  /** By log that names were made with: the adoptions that lead to the one that rows go to now. */
  readonly #adoptions = new Map<string, readonly AdoptionRecord[]>()
  /** Work on one chain is one after the other. */
  readonly #turns = new Map<DatasetId, Promise<unknown>>()
  /** When a chain was last probed, by the monotonic clock. */
  readonly #probedMs = new Map<DatasetId, number>()
  readonly #listeners = new Set<(advance: Advance) => void>()
  readonly #unsubscribe: () => void

  /** With a `clock`, others may commit unannounced: a chain that is asked for is then probed, at most once a second. */
  constructor(deps: {
    store: ObjectStore
    announcements: Announcements
    logger: Logger
    clock?: Clock | undefined
    /** Limit `catalogBytes`. */
    bytesMost?: number
  }) {
    this.#store = deps.store
    this.#chains = new HeldChains(deps.bytesMost ?? limitTable.catalogBytes.value)
    this.#clock = deps.clock
    this.#logger = deps.logger
    this.#unsubscribe = deps.announcements.subscribe((message) => {
      this.#follow(message).catch((cause: unknown) => {
        this.#logger.error({ dataset: message.dataset, cause: String(cause) }, 'A committed block could not be read')
      })
    })
  }

  close(): void {
    this.#unsubscribe()
    this.#listeners.clear()
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
    return this.#name(foldAscii(alias))
  }

  /** The name of the dataset with this DID, if its record is whole. */
  async nameOfId(id: DatasetId): Promise<NameRecord | undefined> {
    if (!this.#nameOfId.has(id)) await this.#readAllNames()
    return this.#nameOfId.get(id)
  }

  /** The name of the dataset with this DID if the catalog holds it already; no IO. */
  heldName(id: DatasetId): NameRecord | undefined {
    return this.#nameOfId.get(id)
  }

  /** The dataset by alias if the catalog holds it already and need not probe it; no IO. */
  known(alias: string): DatasetChain | undefined {
    const name = this.#names.get(foldAscii(alias))
    const chain = name === undefined ? undefined : this.#chains.get(name.id)
    return chain !== undefined && this.#isCurrent(chain.name.id) ? chain : undefined
  }

  /** Every name in the store whose record is whole, sorted by folded alias. */
  async names(): Promise<readonly NameRecord[]> {
    await this.#readAllNames()
    return [...this.#names.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name)
  }

  /** Probes the store for commits after what is held. */
  async refresh(chain: DatasetChain): Promise<void> {
    await this.#inTurn(chain.name.id, () => this.#probe(chain))
  }

  #isCurrent(id: DatasetId): boolean {
    if (this.#clock === undefined) return true
    return this.#clock.monotonicMs() - (this.#probedMs.get(id) ?? Number.NEGATIVE_INFINITY) < currentMs
  }

  /** Refreshes a chain that may be out of date; callers that ask meanwhile share the probe. */
  async #makeCurrent(chain: DatasetChain): Promise<DatasetChain> {
    const { id } = chain.name
    await this.#inTurn(id, async () => {
      if (!this.#isCurrent(id)) await this.#probe(chain)
    })
    return chain
  }

  async #follow({ alias, dataset: id, headSequence }: CommitAnnouncement): Promise<void> {
    const held = this.#chains.peek(id)
    if (held !== undefined) return this.#inTurn(id, () => this.#probe(held, { durableTo: headSequence }))
    // Not asked for yet: it is read ahead, but never pushes out a chain that is in use.
    if (!this.#chains.hasRoomFor(headSequence + 1)) return
    const name = await this.#name(foldAscii(alias))
    const chain = name?.id === id ? await this.chainOf(name) : undefined
    // It was being read already when this was announced.
    if (chain !== undefined && chain.headSequence < headSequence) await this.refresh(chain)
  }

  async #name(folded: string): Promise<NameRecord | undefined> {
    const held = this.#names.get(folded)
    if (held !== undefined) return held
    const name = await whole(`the name record of ${folded} is damaged`, readName(this.#store, folded))
    return name === undefined ? undefined : this.#remember(folded, await this.#nowOf(folded, name))
  }

  /** The name with the log and partition of now: those it was made with, unless that log was given up for another. */
  async #nowOf(folded: string, name: NameRecord): Promise<NameRecord> {
    const records =
      this.#adoptions.get(name.log) ?? (await whole(`log ${name.log}`, adoptionsFrom(this.#store, name.log)))
    this.#adoptions.set(name.log, records)
    const last = records.at(-1)
    return last === undefined ? name : { ...name, log: last.new, partition: partitionOf(folded, last.begin.length) }
  }

  #remember(folded: string, name: NameRecord): NameRecord {
    this.#names.set(folded, name)
    this.#nameOfId.set(name.id, name)
    return name
  }

  async #readAllNames(): Promise<void> {
    for (const alias of await listNames(this.#store)) {
      try {
        await this.#name(alias)
      } catch (error) {
        if (!(error instanceof HaltError)) throw error
        this.#logger.error({ dataset: alias, cause: error.message }, 'A dataset is left out')
      }
    }
  }

  /** The chain behind a name. Throws HaltError `ChainBroken` when it cannot be read. */
  async chainOf(name: NameRecord): Promise<DatasetChain> {
    const held = this.#chains.get(name.id)
    if (held !== undefined) return this.#isCurrent(name.id) ? held : this.#makeCurrent(held)
    return this.#inTurn(name.id, async () => this.#chains.get(name.id) ?? (await this.#load(name)))
  }

  async #load(name: NameRecord): Promise<DatasetChain> {
    const chain = new DatasetChain(name)
    // Read first: a head is written after its commit, so the commits that are found below reach it.
    const hint = await readHint(this.#store, name.id)
    const packedTo = await this.#applyPacks(chain)
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
    this.#chains.keep(chain)
    this.#tell({ chain, fromSequence: 0 })
    return chain
  }

  /** Takes in what packs say; resolves with the first sequence that none of them covers. Throws HaltError `ChainBroken`. */
  async #applyPacks(chain: DatasetChain): Promise<number> {
    const { id, alias } = chain.name
    const reader = new PackReader(this.#store)
    const packs = await listPacks(this.#store, id)
    for (const pack of packs) {
      const summary = await reader.summary(pack)
      const named = new Map<number, MetadataBlock>()
      const last = summary.block.kind.lastIndexOf(addDataKind)
      for (let i = 0; i < summary.blocks; i++) {
        if (summary.block.kind[i] === addDataKind && i !== last) continue
        const hash = hashIn(summary.block.hash, i)
        named.set(summary.sequence + i, openBlock(chain.name, hash, await reader.object(pack, 'blocks', hash)))
      }
      for (let from = 0; from < summary.blocks; from += blocksAtOnce) {
        const to = Math.min(from + blocksAtOnce, summary.blocks)
        await whole(`a pack of ${alias} is damaged`, (async () => chain.applyPacked(summary, { from, to }, named))())
        await nextTurn()
      }
    }
    return packs.at(-1)?.to ?? 0
  }

  /** Takes in what was committed since; `durableTo` is the last block that has been announced. */
  async #probe(chain: DatasetChain, { tell = true, durableTo = -1 } = {}): Promise<void> {
    const fromSequence = chain.headSequence + 1
    const blocks: Hash[] = []
    const startedMs = this.#clock?.monotonicMs()
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
    await this.#applyBlocks(chain, blocks)
    this.#chains.grown(chain)
    probed()
    if (tell) this.#tell({ chain, fromSequence })
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

  /** Adds blocks after checking them. Throws HaltError `ChainBroken`; the chain then ends before the one at fault. */
  async #applyBlocks(chain: DatasetChain, hashes: readonly Hash[]): Promise<void> {
    for (let at = 0; at < hashes.length; at += parallelReads) {
      const group = hashes.slice(at, at + parallelReads)
      const stored = await Promise.all(group.map((hash) => this.#store.get(blockKey(chain.name.id, hash))))
      for (const [index, hash] of group.entries()) {
        try {
          chain.apply(hash, openBlock(chain.name, hash, stored[index]))
        } catch (error) {
          throw asBroken(`block ${hash} of ${chain.name.alias} cannot be read`, error)
        }
      }
    }
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

/** What `reading` gives. Throws HaltError `ChainBroken` with `fault` where bytes are not what they claim to be. */
async function whole<T>(fault: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    throw asBroken(fault, error)
  }
}

function asBroken(fault: string, error: unknown): unknown {
  return error instanceof DecodeError ? new HaltError('ChainBroken', `${fault}: ${error.message}`, error) : error
}

function broken(what: string): HaltError {
  return new HaltError('ChainBroken', what)
}

// The keeper of a ledger, one in each builder: it makes entries of committed blocks, puts them as batches of which the first of
// each number stands, stores the tiles, and signs a head. Nothing is signed before its batch is durable, so two keepers can sign
// one tree only; what one of them has done the other takes over.

import { type Clock, timeText } from '../../libraries/base/clock.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import { utf8 } from '../../libraries/base/bytes.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { headText, parseHead } from '../../libraries/ledger/head.ts'
import { noteOf, parseNote, signNote } from '../../libraries/ledger/note.ts'
import { tileName } from '../../libraries/ledger/tiles.ts'
import type { Signer } from '../../libraries/ledger/verifier-key.ts'
import type { NodeKey } from '../../libraries/proof/sign.ts'
import {
  ledgerBatchKey,
  ledgerObjectKey,
  ledgerPlacesKey,
  ledgerStateKey,
  ledgerStatesOf,
} from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { listNumbers } from '../../node/store/records.ts'
import type { History } from './history.ts'
import type { LeftEntries } from './left-entries.ts'
import { readHistory } from './read-history.ts'
import { batchCodec, type BatchRecord, mostBatchEntries, placesCodec, stateCodec } from './records.ts'
import { putStatement, saysFacts, type StatementFacts } from './statement.ts'
import type { WaitingDatasets } from './waiting.ts'

/** Batches after which a state is stored, and states that are kept. */
const batchesPerState = 64
const statesKept = 2
/** How often all names are looked over, for blocks of which no commit was heard. */
const sweepMs = 600_000

export interface KeeperDeps {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly logger: Logger
  /** Number of the ledger in its store, from 1. */
  readonly ledger: number
  readonly origin: string
  readonly signer: Signer
  readonly waiting: WaitingDatasets
  readonly left: Pick<LeftEntries, 'sweep' | 'take'>
  readonly facts: StatementFacts
  readonly nodeKey: NodeKey
}

export type KeeperState = { readonly kind: 'running' } | { readonly kind: 'halted'; readonly reason: string }

export class Keeper {
  readonly #deps: KeeperDeps
  #history: History | undefined
  /** Files of batches that were taken in and are not stored yet, in order. */
  #unstored: { readonly key: string; readonly bytes: Uint8Array }[] = []
  #statedAt = 0
  #sweptMs = Number.NEGATIVE_INFINITY
  /** The facts were held against the last statement. */
  #hasStated = false
  #state: KeeperState = { kind: 'running' }

  constructor(deps: KeeperDeps) {
    this.#deps = deps
  }

  get state(): KeeperState {
    return this.#state
  }

  /**
   * Enters what waits, and publishes the head. What it has stored when it throws is found by the next step, here or of another
   * keeper. A ledger that does not follow from itself halts, and nothing is done any more.
   */
  async step(): Promise<void> {
    if (this.#state.kind === 'halted') return
    try {
      await this.#step()
    } catch (error) {
      if (!(error instanceof HaltError) && !(error instanceof DecodeError)) throw error
      this.#state = { kind: 'halted', reason: error.message }
      this.#deps.logger.error({ reason: error.message }, 'The ledger halts; all else goes on')
    }
  }

  async #step(): Promise<void> {
    const { store, clock, ledger, waiting, left } = this.#deps
    const history = (this.#history ??= await readHistory(store, ledger))
    await this.#storeFiles()
    await this.#catchUp(history)
    if (clock.monotonicMs() - this.#sweptMs >= sweepMs) {
      const startedMs = clock.monotonicMs()
      await waiting.sweep(history)
      await left.sweep()
      this.#sweptMs = startedMs
    }
    for (;;) {
      const statement = await this.#statement(history)
      // What is left of a dataset may wait as its blocks as well: not in one batch.
      const over = await left.take(history, mostBatchEntries - statement.length)
      const none = { entries: [], done: new Map() }
      const { entries, done } =
        over.length > 0 ? none : await waiting.take(history, mostBatchEntries - statement.length)
      const all = [...statement, ...over, ...entries]
      if (all.length > 0 && !(await this.#append(history, all))) continue
      waiting.entered(done)
      if (all.length === 0) break
    }
    await this.#storeState(history)
    await this.#publish(history)
  }

  /** The entry of a new statement, where one is due. */
  async #statement(history: History): Promise<Uint8Array[]> {
    const { store, clock, facts, nodeKey, ledger } = this.#deps
    const { statement: hash } = history
    this.#hasStated ||= hash !== '' && (await saysFacts(store, { ...facts, node: nodeKey.did }, { ledger, hash }))
    if (this.#hasStated) return []
    return [await putStatement(store, { ...facts, time: timeText(clock.nowMs()) }, { ledger, key: nodeKey })]
  }

  /** False where another keeper was first: its batch is taken in. */
  async #append(history: History, entries: readonly Uint8Array[]): Promise<boolean> {
    const { store, ledger } = this.#deps
    const batch = history.propose(entries)
    const outcome = await store.put(ledgerBatchKey(ledger, history.batches), batchCodec.encode(batch))
    if (outcome === 'exists') {
      await this.#catchUp(history)
      return false
    }
    this.#hasStated = true
    await this.#takeIn(history, batch)
    return true
  }

  async #catchUp(history: History): Promise<void> {
    const { store, ledger } = this.#deps
    for (;;) {
      const bytes = await store.get(ledgerBatchKey(ledger, history.batches))
      if (bytes === undefined) return
      // It may be found before it is durable; what rests on it is stored next.
      await store.makeDurable(ledgerObjectKey(ledger, 'batches'))
      await this.#takeIn(history, batchCodec.decode(bytes))
    }
  }

  async #takeIn(history: History, batch: BatchRecord): Promise<void> {
    const { ledger } = this.#deps
    const { tiles, places } = history.takeIn(batch)
    for (const { tag, group, indexes } of places) {
      this.#unstored.push({ key: ledgerPlacesKey(ledger, tag, group), bytes: placesCodec.encode([...indexes]) })
    }
    for (const { tile, bytes } of tiles) this.#unstored.push({ key: ledgerObjectKey(ledger, tileName(tile)), bytes })
    await this.#storeFiles()
  }

  async #storeFiles(): Promise<void> {
    const { store } = this.#deps
    for (let file = this.#unstored[0]; file !== undefined; file = this.#unstored[0]) {
      await store.put(file.key, file.bytes)
      this.#unstored.shift()
    }
  }

  /** So that a start need not take in every batch. All files of its tree are stored. */
  async #storeState(history: History): Promise<void> {
    const { store, ledger } = this.#deps
    if (history.batches - this.#statedAt < batchesPerState) return
    await store.put(ledgerStateKey(ledger, history.batches), stateCodec.encode(history.state()))
    this.#statedAt = history.batches
    const stored = await listNumbers(store, ledgerStatesOf(ledger))
    for (const old of stored.slice(0, -statesKept)) await store.delete(ledgerStateKey(ledger, old))
  }

  /** Signs the head, unless a larger one is there already. */
  async #publish(history: History): Promise<void> {
    const { store, ledger, origin, signer } = this.#deps
    const { head } = history
    const key = ledgerObjectKey(ledger, 'checkpoint')
    const there = publishedSize(await store.get(key))
    if (head.size === 0 || (there !== undefined && there >= head.size)) return
    const text = headText({ origin, ...head })
    await store.replace(key, utf8(noteOf({ text, signatures: [signNote(text, origin, signer)] })))
  }
}

/** Size of a head that is published; undefined where there is none, or no whole one. */
function publishedSize(bytes: Uint8Array | undefined): number | undefined {
  if (bytes === undefined) return undefined
  try {
    return parseHead(parseNote(bytes).text).size
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

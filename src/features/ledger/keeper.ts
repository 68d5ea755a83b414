// The keeper of a ledger, one in each builder: it makes entries of committed blocks, puts them as batches of which the first of
// each number stands, stores the tiles, and has the head published (publisher.ts). Nothing is signed before its batch is durable,
// so two keepers can sign one tree only; what one of them has done the other takes over. Nothing is entered after a start before a
// quorum of witnesses has said that it holds no larger tree. The first entry is a statement of the node, and another comes when one
// of its facts has changed, so also when a key of the node is retired.

import { isDeepStrictEqual } from 'node:util'
import { toHex } from '../../libraries/base/bytes.ts'
import { type Clock, timeText } from '../../libraries/base/clock.ts'
import { DecodeError, HaltError, NodeError } from '../../libraries/base/errors.ts'
import { canonicalText } from '../../libraries/base/json/canonical.ts'
import { fromPlain } from '../../libraries/base/json/json.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { entryBytes } from '../../libraries/ledger/entry.ts'
import type { Policy } from '../../libraries/ledger/policy.ts'
import { parseStatement, type Statement, statementBytes, statementEntry } from '../../libraries/ledger/statement.ts'
import { signatureTypes, type Signer, verifierKey, verifierKeyText } from '../../libraries/ledger/verifier-key.ts'
import type { NodeKey } from '../../libraries/proof/sign.ts'
import { ledgerBatchKey, ledgerObjectKey, ledgerStateKey, ledgerStatesOf } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { listNumbers } from '../../node/store/records.ts'
import { listSigners } from '../../node/store/signers.ts'
import type { boundedFetch } from '../../libraries/base/bounded-fetch.ts'
import type { History } from './history.ts'
import type { LeftEntries } from './left-entries.ts'
import { readHistory } from './stored-ledger.ts'
import { policyOf } from './policy-file.ts'
import { Publisher } from './publisher.ts'
import { Regression } from './put-back.ts'
import { batchCodec, batchesPerState, type BatchRecord, mostBatchEntries, stateCodec } from './records.ts'
import { OldTiles, TreeFiles } from './tree-files.ts'
import type { WaitingDatasets } from './waiting.ts'

/** States that are kept. */
const statesKept = 2
/** Entries of blocks in a batch: there is room for a statement. */
const mostBlocks = mostBatchEntries - 1
/** How often all names are looked over, for blocks of which no commit was heard. */
const sweepMs = 3_600_000
/** A step is shorter than that, unless what it waits for does not come. */
const longestStepMs = 60_000
/** A head is offered after so long, also where more waits: what is entered waits for none of that. */
const offerMs = 5_000
/** How often it is looked whether a key of the node was retired. */
const keysMs = 300_000

export interface KeeperDeps {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly logger: Logger
  /** Number of the ledger in its store, from 1. */
  readonly ledger: number
  readonly origin: string
  readonly signer: Signer
  readonly waiting: Pick<WaitingDatasets, 'sweep' | 'take' | 'entered'>
  readonly left: Pick<LeftEntries, 'sweep' | 'take'>
  readonly facts: StatementFacts
  readonly nodeKey: NodeKey
  /** Who witnesses it: without a policy nobody. */
  readonly policy?: Policy | undefined
  /** How long a head waits for its quorum; undefined: until it is met. */
  readonly waitMs?: number | undefined
  /** How witnesses are asked; over HTTP where it is absent. */
  readonly exchange?: typeof boundedFetch
}

export type KeeperState =
  | { readonly kind: 'running' }
  /** Since the start no quorum of witnesses has said that it holds no larger tree. Nothing is entered meanwhile. */
  | { readonly kind: 'unconfirmed' }
  /** The last step has failed, or none has come to its end for a minute. */
  | { readonly kind: 'stuck' }
  | { readonly kind: 'halted'; readonly reason: string }

export class Keeper {
  readonly #deps: KeeperDeps
  readonly publisher: Publisher
  readonly #regression: Regression
  readonly #oldTiles: OldTiles
  #history: History | undefined
  readonly #files: TreeFiles
  #statedAt = 0
  #sweptMs = Number.NEGATIVE_INFINITY
  #keysMs = Number.NEGATIVE_INFINITY
  #retired: Statement['retired'] = []
  /** The former keys of the last statement against which the facts were held, or that is to be put; undefined before. */
  #stated: Statement['retired'] | undefined
  #halted: KeeperState | undefined
  #hasFailed = false
  /** When the last step came to its end, by the monotonic clock. */
  #endedMs: number

  constructor(deps: KeeperDeps) {
    this.#deps = deps
    const { store, clock, logger, ledger, origin, signer, waitMs, exchange } = deps
    const key = verifierKey(origin, signatureTypes.ed25519, signer.publicKey)
    const policy = policyOf(verifierKeyText(key), deps.policy)
    this.publisher = new Publisher({ store, clock, logger, ledger, origin, signer, policy, waitMs, exchange })
    this.#regression = new Regression({ store, clock, ledger, key })
    this.#files = new TreeFiles(store, ledger)
    this.#oldTiles = new OldTiles({ store, clock, ledger })
    this.#endedMs = clock.monotonicMs()
  }

  get state(): KeeperState {
    if (this.#halted !== undefined) return this.#halted
    if (!this.publisher.isConfirmed) return { kind: 'unconfirmed' }
    const isStuck = this.#hasFailed || this.#deps.clock.monotonicMs() - this.#endedMs > longestStepMs
    return { kind: isStuck ? 'stuck' : 'running' }
  }

  /**
   * Enters what waits, and publishes the head. What it has stored when it throws is found by the next step, here or of another
   * keeper. A ledger that does not follow from itself, or from what others hold of it, halts, and nothing is done any more.
   */
  async step(): Promise<void> {
    if (this.#halted !== undefined) return
    try {
      await this.#step()
      this.#hasFailed = false
      this.#endedMs = this.#deps.clock.monotonicMs()
    } catch (error) {
      this.#hasFailed = true
      if (!(error instanceof HaltError) && !(error instanceof DecodeError)) throw error
      this.#halted = { kind: 'halted', reason: error.message }
      this.#deps.logger.error({ reason: error.message }, 'The ledger halts; all else goes on')
      await this.publisher.close()
    }
  }

  async #step(): Promise<void> {
    const { store, clock, ledger, waiting, left } = this.#deps
    const history = (this.#history ??= await readHistory(store, ledger))
    await this.#regression.gather()
    await this.#heed(history)
    // mutant: an unconfirmed keeper enters blocks
    if (!this.publisher.isConfirmed) {
      await this.publisher.offer(history.head)
      return
    }
    if (clock.monotonicMs() - this.#sweptMs >= sweepMs) {
      const startedMs = clock.monotonicMs()
      await waiting.sweep(history)
      await left.sweep()
      this.#sweptMs = startedMs
    }
    for (let offeredMs = clock.monotonicMs(); ;) {
      // What is left of a dataset may wait as its blocks as well: not in one batch.
      const over = await left.take(history, mostBlocks)
      const none = { entries: [], done: new Map() }
      const { entries, done } = over.length > 0 ? none : await waiting.take(history, mostBlocks)
      const all = [...(await this.#statement(history)), ...over, ...entries]
      if (all.length > 0 && !(await this.#append(history, all))) continue
      waiting.entered(done)
      if (all.length === 0) break
      if (clock.monotonicMs() - offeredMs < offerMs) continue
      await this.#heed(history)
      await this.#offer(history)
      this.#endedMs = offeredMs = clock.monotonicMs()
    }
    await this.#offer(history)
    await this.#oldTiles.clean(history.head.size)
  }

  /** Throws HaltError where others have shown what this tree does not lead to. */
  async #heed(history: History): Promise<void> {
    // What was seen of others before the batches are read has its own among them.
    this.#regression.add(this.publisher.takeSeen())
    await this.#catchUp(history)
    await this.#settle()
    await this.#regression.judge(history.head)
  }

  async #offer(history: History): Promise<void> {
    await this.#settle()
    await this.#storeState(history)
    await this.publisher.offer(history.head)
  }

  /** The entry of a new statement, where one is due. */
  async #statement(history: History): Promise<Uint8Array[]> {
    const { store, clock, nodeKey, ledger } = this.#deps
    if (clock.monotonicMs() - this.#keysMs >= keysMs) {
      this.#retired = await retiredKeys(store)
      this.#keysMs = clock.monotonicMs()
    }
    const retired = this.#retired
    // Other nodes over the store state other facts: what was stated once is not stated again, but for keys.
    if (this.#stated !== undefined && isDeepStrictEqual(this.#stated, retired)) return []
    const { statement: hash } = history
    const facts = { ...this.#deps.facts, retired }
    const isSaid = hash !== '' && (await saysFacts(store, { ...facts, node: nodeKey.did }, { ledger, hash }))
    if (isSaid) this.#stated = retired
    if (isSaid) return []
    return [await putStatement(store, { ...facts, time: timeText(clock.nowMs()) }, { ledger, key: nodeKey })]
  }

  /** False where another keeper was first: its batch is taken in. */
  async #append(history: History, entries: readonly Uint8Array[]): Promise<boolean> {
    const { store, ledger } = this.#deps
    // mutant: a head is signed before its batch is put
    const batch = history.propose(entries)
    // mutant: a batch replaces another
    const outcome = await store.put(ledgerBatchKey(ledger, history.batches), batchCodec.encode(batch))
    // mutant: a batch that lost is taken in
    if (outcome === 'exists') {
      await this.#catchUp(history)
      return false
    }
    this.#stated = this.#retired
    await this.#takeIn(history, batch)
    return true
  }

  async #catchUp(history: History): Promise<void> {
    const { store, ledger } = this.#deps
    for (;;) {
      const bytes = await store.get(ledgerBatchKey(ledger, history.batches))
      if (bytes === undefined) return
      // It may be found before it is durable; what rests on it is stored next.
      // mutant: a batch is taken in that a loss of power takes back
      await store.makeDurable(ledgerObjectKey(ledger, 'batches'))
      await this.#takeIn(history, batchCodec.decode(bytes))
    }
  }

  async #takeIn(history: History, batch: BatchRecord): Promise<void> {
    // mutant: a state is stored before the tiles
    const growth = history.takeIn(batch)
    this.#files.add(growth)
    await this.#files.storeFull()
  }

  /** All files of the tree are in the store: heads and states rest on them. */
  async #settle(): Promise<void> {
    // mutant: a head is signed before its tiles are stored
    await this.#files.storeAll()
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
}

/** What a statement says beside its time, its node and the keys that the node had. */
export type StatementFacts = Omit<Statement, 'time' | 'retired'>

/** The former keys of the nodes over this store, as statements have them. Throws NodeError `StoreUnavailable`. */
export async function retiredKeys(store: ObjectStore): Promise<Statement['retired']> {
  const signers = await listSigners(store).catch((cause: unknown) => {
    if (!(cause instanceof DecodeError)) throw cause
    throw new NodeError('StoreUnavailable', 'What the store has of retired keys is damaged.', { cause })
  })
  const keys = signers.flatMap(({ did, retired }) =>
    retired === undefined ? [] : [{ node: did, at: retired.at, why: retired.why }],
  )
  const text = ({ at, node }: (typeof keys)[number]): string => `${at} ${node}`
  return keys.sort((a, b) => (text(a) < text(b) ? -1 : 1))
}

/** Stores a statement of these facts; its entry. Durable when it resolves. */
export async function putStatement(
  store: ObjectStore,
  statement: Statement,
  { ledger, key }: { readonly ledger: number; readonly key: NodeKey },
): Promise<Uint8Array> {
  const bytes = statementBytes(statement, key)
  const entry = statementEntry(bytes)
  await store.put(ledgerObjectKey(ledger, `statements/${toHex(entry.hash)}`), bytes)
  return entryBytes(entry)
}

/** True when the statement with this hash says these facts of this node. Throws DecodeError where it is damaged. */
export async function saysFacts(
  store: ObjectStore,
  facts: Omit<Statement, 'time'> & { readonly node: string },
  { ledger, hash }: { readonly ledger: number; readonly hash: string },
): Promise<boolean> {
  const bytes = await store.get(ledgerObjectKey(ledger, `statements/${hash}`))
  if (bytes === undefined) return false
  const { time: _, ...said } = parseStatement(bytes)
  return canonicalText(fromPlain(said)) === canonicalText(fromPlain(facts))
}

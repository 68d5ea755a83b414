// What became of a batch: found in the checkpoint of the block that consumed its log position, or by its key. The sets of
// remembered keys are read from the chain once, go on with each new checkpoint, and are dropped, the least recently
// used first, when all of them take too much memory.

import { CheckpointScan, idPrefix, type TakeId } from '../../libraries/odf/chain/checkpoint-scan.ts'
import {
  type BatchOutcome,
  type CheckpointContent,
  findCommitted,
  findOutcome,
  firstIdGroup,
  idsRemembered,
  olderIds,
} from '../../libraries/odf/chain/checkpoint.ts'
import type { ProducerMark } from '../../libraries/odf/chain/producers.ts'
import { must } from '../../libraries/base/assert.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { limitTable } from '../../libraries/base/limits.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId, Hash } from '../../libraries/base/ids/identifiers.ts'
import { instantMs } from '../../libraries/model/instant.ts'
import { checkpointKey } from '../store/layout.ts'
import { loadBlock, readPieces } from '../store/load-block.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { DatasetChain, LogSpan } from './dataset-chain.ts'
import { IdList, IdSet } from '../../libraries/odf/chain/id-set.ts'
import { type LeftPlace, LeftLogs, type LogPlace } from './left-logs.ts'
import type { ChainBlock } from './packed-blocks.ts'

/** An outcome and the block that holds it. */
export interface DecidedOutcome {
  readonly outcome: BatchOutcome
  readonly block: ChainBlock
  /** Of the block's log, where the outcome's position is. */
  readonly partition: number
}

/** A batch and where it lies in a log; without one in any that its chain was read from. */
export interface BatchPlace {
  readonly id: string
  readonly position: number
  readonly log?: string | undefined
}

/** A keyed batch that the chain remembers: the hash of its body and where it was committed. */
export interface KnownBatch {
  readonly bodyHash: Hash
  readonly decided: DecidedOutcome
}

export class Outcomes {
  readonly #checkpoints: Checkpoints
  readonly #leftLogs: LeftLogs
  readonly #knownIds: KnownIds

  /** `keyBytesMost` is the limit `keyMemoryBytes`. */
  constructor(store: ObjectStore, keyBytesMost: number = limitTable.keyMemoryBytes.value) {
    this.#checkpoints = new Checkpoints(store)
    this.#leftLogs = new LeftLogs(store)
    this.#knownIds = new KnownIds(this.#checkpoints, keyBytesMost)
  }

  /**
   * The outcome of batch `id` at `position`: `undefined` while its position is not consumed, `'void'` when the position
   * was consumed without deciding it (a duplicate of an earlier batch, or a message that did not count). Without a `log` it
   * is looked for in all that the chain was read from: an id does not come twice.
   * Throws HaltError `ChainBroken` when a checkpoint is gone or damaged.
   */
  async at(chain: DatasetChain, batch: BatchPlace): Promise<DecidedOutcome | 'void' | undefined> {
    for (const span of spansOf(chain, batch.log)) {
      const block = chain.blockAtPosition(batch.position, span)
      const content = block && (await this.#checkpoints.ofBlock(chain, block))
      if (block === undefined || content === undefined) continue
      const outcome = findOutcome(content, batch.id, batch.position)
      if (outcome !== undefined) return { outcome, block, partition: content.partition }
    }
    return chain.nextIn(batch.log ?? chain.name.log) > batch.position ? 'void' : undefined
  }

  /**
   * The outcome of an earlier copy of a batch without a key, which was accepted at `sinceMs`: what is sent again because an
   * answer of the log was lost may stand in it twice, and the first counts. Throws as `at`.
   */
  async copyOf(chain: DatasetChain, batch: BatchPlace, sinceMs: number): Promise<DecidedOutcome | undefined> {
    for (const span of spansOf(chain, batch.log)) {
      const last = chain.blockAtPosition(batch.position, span)?.sequence ?? -1
      for (let sequence = last; sequence >= Math.max(span.start, last - stepsMost); sequence--) {
        const block = chain.blocks.at(sequence)
        // No block is older than its messages.
        if (block === undefined || instantMs(block.systemTime) < sinceMs) break
        const content = block.kind === 'AddData' ? await this.#checkpoints.ofBlock(chain, block) : undefined
        const outcome = content?.outcomes.find(({ id }) => id === batch.id)
        if (content !== undefined && outcome !== undefined) return { outcome, block, partition: content.partition }
      }
    }
    return undefined
  }

  /** The block in which the chain was read beyond a position, and whether another batch stands there. Throws as `at`. */
  async passedIn(
    chain: DatasetChain,
    { id, position, index, log }: BatchPlace & { readonly index: number },
  ): Promise<{ readonly block: ChainBlock; readonly isOther: boolean } | undefined> {
    for (const span of spansOf(chain, log ?? chain.name.log)) {
      const block = chain.blockAtPosition(position, span)
      const content = block && (await this.#checkpoints.ofBlock(chain, block))
      if (block === undefined || content === undefined) continue
      const there = content.outcomes.find((outcome) => outcome.position === position && outcome.index === index)
      return { block, isOther: there !== undefined && there.id !== id }
    }
    return undefined
  }

  /** What became of a place in a log that the chain has left. Throws as `LeftLogs.of`. */
  leftBehind(chain: DatasetChain, place: LogPlace): Promise<LeftPlace> {
    return this.#leftLogs.of(chain, place)
  }

  /** The keyed batch `id` if the dataset remembers it (docs/spec/protocol.md §2). Reads nothing where it does not. */
  async known(chain: DatasetChain, id: string): Promise<KnownBatch | undefined> {
    const ids = await this.#knownIds.of(chain)
    for (const number of ids.numbersOf(idPrefix(id))) {
      // The n-th checkpoint belongs to the n-th AddData.
      const block = chain.dataBlock(number)
      const content = block && (await this.#checkpoints.ofBlock(chain, block))
      if (block === undefined || content === undefined) continue
      const known = content.ids.flatMap((group) => group.ids).find((one) => one.id === id)
      const outcome = findCommitted(content, id)
      if (known === undefined || outcome === undefined) continue
      return { bodyHash: known.bodyHash, decided: { outcome, block, partition: content.partition } }
    }
    return undefined
  }

  /** What is remembered of a producer at the chain's head (docs/spec/protocol.md §12). Throws HaltError `ChainBroken`. */
  async producer(chain: DatasetChain, identity: Hash): Promise<KnownProducer> {
    const block = chain.dataCount === 0 ? undefined : chain.dataBlock(chain.dataCount - 1)
    let content = block && (await this.#checkpoints.ofBlock(chain, block))
    const { count = 0, from = 0 } = content?.producers ?? {}
    while (content !== undefined && count > 0) {
      for (const { number, marks } of content.producers?.groups ?? []) {
        const mark = marks.find((one) => one.identity === identity)
        // The n-th checkpoint belongs to the n-th AddData.
        if (mark !== undefined) return { mark, block: chain.dataBlock(number), count, from }
      }
      const older = firstIdGroup(content.number) <= from ? undefined : olderIds(content)
      content = older === undefined ? undefined : await this.#checkpoints.ofHash(chain, older)
    }
    return { mark: undefined, block: undefined, count, from }
  }
}

/** The blocks of one log, or of all that the chain was read from, newest first. */
function spansOf(chain: DatasetChain, log: string | undefined): readonly LogSpan[] {
  return [...chain.logSpans()].filter((span) => log === undefined || span.log === log)
}

/** What a dataset remembers of one producer, and how many it remembers, from checkpoint `from` on. */
export interface KnownProducer {
  readonly mark: ProducerMark | undefined
  /** The one that took the mark's range. */
  readonly block: ChainBlock | undefined
  readonly count: number
  readonly from: number
}

/** Further behind, the checkpoints that repeat earlier ids are the shorter way. */
const stepsMost = 64
/** Ids that are added in a few milliseconds. */
const idsAtOnce = 8_192
const setBytes = 500

interface HeldSet {
  readonly ids: IdSet
  /** The set is being brought up to date. */
  turn: Promise<void> | undefined
  bytes: number
}

class KnownIds {
  readonly #checkpoints: Checkpoints
  readonly #bytesMost: number
  /** Least recently used first. */
  readonly #sets = new Map<DatasetId, HeldSet>()
  #bytes = 0

  constructor(checkpoints: Checkpoints, bytesMost: number) {
    this.#checkpoints = checkpoints
    this.#bytesMost = bytesMost
  }

  /** The ids that the dataset remembers at the chain's head. Throws HaltError `ChainBroken`. */
  async of(chain: DatasetChain): Promise<IdSet> {
    const { id } = chain.name
    const held = this.#sets.get(id) ?? { ids: new IdSet(), turn: undefined, bytes: 0 }
    this.#sets.delete(id)
    this.#sets.set(id, held)
    while (held.ids.next < chain.dataCount) {
      held.turn ??= this.#advance(held.ids, chain).finally(() => {
        held.turn = undefined
        this.#count(id, held)
      })
      await held.turn
    }
    return held.ids
  }

  /** All but the newest may be dropped. */
  #count(id: DatasetId, held: HeldSet): void {
    if (this.#sets.get(id) !== held) return
    const bytes = setBytes + held.ids.bytes
    this.#bytes += bytes - held.bytes
    held.bytes = bytes
    for (const [oldest, { bytes: freed }] of this.#sets) {
      if (this.#bytes <= this.#bytesMost || this.#sets.size === 1) return
      this.#sets.delete(oldest)
      this.#bytes -= freed
    }
  }

  async #advance(ids: IdSet, chain: DatasetChain): Promise<void> {
    const to = chain.dataCount
    const timeMs = chain.dataTimeMs(to - 1)
    if (to - ids.next > stepsMost || ids.next === 0) await this.#readBack(ids, chain, { to, timeMs })
    for (let number = ids.next; number < to; number = ids.next) {
      const block = must(chain.dataBlock(number), 'a block with data')
      const content = must(await this.#checkpoints.ofBlock(chain, block), 'a block with data has a checkpoint')
      for (const { id } of content.ids.flatMap((group) => group.ids)) ids.add(idPrefix(id), number)
      ids.next = number + 1
    }
    ids.forget(timeMs, (number) => chain.dataTimeMs(number))
  }

  /** Takes in all that is new, from as few checkpoints as hold it: newest first, as their links go. */
  async #readBack(ids: IdSet, chain: DatasetChain, head: { to: number; timeMs: number }): Promise<void> {
    const runs: IdList[] = []
    let count = 0
    const block = must(chain.dataBlock(head.to - 1), 'a block with data')
    for (let hash = await this.#checkpoints.hashOf(chain, block); hash !== undefined;) {
      const run = new IdList()
      let oldestMs: number | undefined
      let reachesKnown = false
      const take: TakeId = ({ number, timeMs }, high, low) => {
        oldestMs ??= timeMs
        if (number < ids.next) reachesKnown = true
        else run.add(high, low, number)
      }
      const content: CheckpointContent = await this.#checkpoints.read(chain, hash, take)
      runs.push(run)
      count += run.count
      const isAll = reachesKnown || count >= idsRemembered(head.timeMs - (oldestMs ?? head.timeMs))
      hash = isAll ? undefined : olderIds(content)
    }
    for (const run of runs.reverse()) {
      for (let entry = 0; entry < run.count; entry++) {
        ids.add(run.prefixAt(entry), run.numberAt(entry))
        if (entry % idsAtOnce === 0 && entry > 0) await nextTurn()
      }
    }
    ids.next = head.to
  }
}

/** A piece is hashed and read in 2 ms. */
const pieceBytes = 128 * 1024
/** Contents held, because the callers of one block ask for the same one. */
const heldMost = 16

/**
 * Checkpoints of chains, read in pieces, so that one with a million ids does not block the event loop, and each only once
 * for callers that ask for the same one at a time.
 */
export class Checkpoints {
  readonly #store: ObjectStore
  readonly #held = new Map<Hash, Promise<CheckpointContent>>()

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /** Hash of the checkpoint of an AddData block; the block is asked where the chain does not keep it. Throws HaltError `ChainBroken`. */
  async hashOf(chain: DatasetChain, { sequence, hash }: ChainBlock): Promise<Hash | undefined> {
    const kept = chain.checkpointAt(sequence)
    if (kept !== undefined) return kept
    const { event } = await loadBlock(this.#store, chain.name, hash)
    return event.kind === 'AddData' ? event.newCheckpoint?.physicalHash : undefined
  }

  /** The checkpoint of an AddData block, with the ids of the block alone. Throws HaltError `ChainBroken`. */
  async ofBlock(chain: DatasetChain, block: ChainBlock): Promise<CheckpointContent | undefined> {
    const hash = await this.hashOf(chain, block)
    return hash === undefined ? undefined : this.ofHash(chain, hash)
  }

  /** The same of a hash. Throws HaltError `ChainBroken`. */
  ofHash(chain: DatasetChain, hash: Hash): Promise<CheckpointContent> {
    const held = this.#held.get(hash)
    if (held !== undefined) return held
    const reading = this.read(chain, hash)
    this.#held.set(hash, reading)
    reading.catch(() => this.#held.delete(hash))
    const oldest = this.#held.keys().next().value
    if (this.#held.size > heldMost && oldest !== undefined) this.#held.delete(oldest)
    return reading
  }

  /** The same, read now; `takeId` is handed all ids that the checkpoint holds. Throws HaltError `ChainBroken`. */
  async read(chain: DatasetChain, hash: Hash, takeId?: TakeId): Promise<CheckpointContent> {
    const { id, alias } = chain.name
    const sizeBytes = chain.checkpointBytes(hash)
    const words = `checkpoint ${hash} of ${alias}`
    const scan = new CheckpointScan(takeId)
    const take = (piece: Uint8Array): void => scan.push(piece)
    try {
      const object = { key: checkpointKey(id, hash), hash, words, ...(sizeBytes !== undefined && { sizeBytes }) }
      await readPieces(this.#store, object, { pieceBytes, take })
      return scan.finish()
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      throw new HaltError('ChainBroken', `${words} is damaged: ${error.message}`, error)
    }
  }
}

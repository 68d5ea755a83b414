// What became of a batch: found in the checkpoint of the block that consumed its log position.

import { decodeCheckpoint } from '../codec/checkpoint.ts'
import { sha3Hash } from '../codec/multihash.ts'
import { type BatchOutcome, type CheckpointContent, findCommitted, findOutcome, olderIds } from '../model/checkpoint.ts'
import { HaltError } from '../model/errors.ts'
import type { Hash } from '../model/events.ts'
import { checkpointKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { DatasetChain } from './dataset-chain.ts'
import type { ChainBlock } from './packed-blocks.ts'

/** An outcome and the block that holds it. */
export interface DecidedOutcome {
  readonly outcome: BatchOutcome
  readonly block: ChainBlock
}

/** A keyed batch that the chain remembers: the hash of its body and where it was committed. */
export interface KnownBatch {
  readonly bodyHash: Hash
  readonly decided: DecidedOutcome
}

/** Checkpoints held decoded, because the callers of one block ask for the same one. */
const heldCheckpoints = 16

export class Outcomes {
  readonly #store: ObjectStore
  readonly #held = new Map<Hash, Promise<CheckpointContent>>()

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /**
   * The outcome of batch `id` at `position`: `undefined` while its position is not consumed, `'void'` when the position
   * was consumed without deciding it (a duplicate of an earlier batch, or a message that did not count).
   * Throws HaltError `ChainBroken` when a checkpoint is gone or damaged.
   */
  async at(
    chain: DatasetChain,
    batch: { readonly id: string; readonly position: number },
  ): Promise<DecidedOutcome | 'void' | undefined> {
    // A position says nothing of its log; an id does not come twice.
    for (const span of chain.logSpans()) {
      const block = chain.blockAtPosition(batch.position, span)
      if (block?.checkpoint === undefined) continue
      const outcome = findOutcome(await this.#checkpoint(chain, block.checkpoint), batch.id, batch.position)
      if (outcome !== undefined) return { outcome, block }
    }
    return chain.next > batch.position ? 'void' : undefined
  }

  /** Looks a keyed batch up in the chain's memory of ids; reads a bounded number of checkpoints. */
  async known(chain: DatasetChain, id: string): Promise<KnownBatch | undefined> {
    let hash = chain.head.checkpoint
    while (hash !== undefined) {
      const content: CheckpointContent = await this.#checkpoint(chain, hash)
      for (const group of content.ids) {
        const known = group.ids.find((one) => one.id === id)
        if (known === undefined) continue
        const decided = await this.#committedIn(chain, { number: group.number, id })
        return decided === undefined ? undefined : { bodyHash: known.bodyHash, decided }
      }
      hash = olderIds(content)
    }
    return undefined
  }

  /** The n-th checkpoint belongs to the n-th AddData: the block is found by counting, then its own outcomes are read. */
  async #committedIn(chain: DatasetChain, at: { number: number; id: string }): Promise<DecidedOutcome | undefined> {
    const block = chain.dataBlock(at.number)
    if (block?.checkpoint === undefined) return undefined
    const outcome = findCommitted(await this.#checkpoint(chain, block.checkpoint), at.id)
    return outcome === undefined ? undefined : { outcome, block }
  }

  #checkpoint(chain: DatasetChain, hash: Hash): Promise<CheckpointContent> {
    const held = this.#held.get(hash)
    if (held !== undefined) return held
    const reading = this.#read(chain, hash)
    this.#held.set(hash, reading)
    reading.catch(() => this.#held.delete(hash))
    const oldest = this.#held.keys().next().value
    if (this.#held.size > heldCheckpoints && oldest !== undefined) this.#held.delete(oldest)
    return reading
  }

  async #read(chain: DatasetChain, hash: Hash): Promise<CheckpointContent> {
    const bytes = await this.#store.get(checkpointKey(chain.name.id, hash))
    if (bytes === undefined) throw new HaltError('ChainBroken', `checkpoint ${hash} of ${chain.name.alias} is missing`)
    if (sha3Hash(bytes) !== hash) {
      throw new HaltError('ChainBroken', `checkpoint ${hash} of ${chain.name.alias} is damaged`)
    }
    return decodeCheckpoint(bytes)
  }
}

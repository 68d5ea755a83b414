// What became of a batch: found in the checkpoint of the block that consumed its log position.

import { idPrefix } from '../chain/checkpoint-scan.ts'
import { type BatchOutcome, findCommitted, findOutcome } from '../chain/checkpoint.ts'
import { limitTable } from '../lib/limits.ts'
import type { Hash } from '../model/events.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { Checkpoints } from './checkpoints.ts'
import type { DatasetChain } from './dataset-chain.ts'
import { KnownIds } from './known-ids.ts'
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

export class Outcomes {
  readonly #checkpoints: Checkpoints
  readonly #knownIds: KnownIds

  /** `keyBytesMost` is the limit `keyMemoryBytes`. */
  constructor(store: ObjectStore, keyBytesMost: number = limitTable.keyMemoryBytes.value) {
    this.#checkpoints = new Checkpoints(store)
    this.#knownIds = new KnownIds(this.#checkpoints, keyBytesMost)
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
      const outcome = findOutcome(await this.#checkpoints.of(chain.name, block.checkpoint), batch.id, batch.position)
      if (outcome !== undefined) return { outcome, block }
    }
    return chain.next > batch.position ? 'void' : undefined
  }

  /** The keyed batch `id` if the dataset remembers it (protocol.md §2). Reads nothing where it does not. */
  async known(chain: DatasetChain, id: string): Promise<KnownBatch | undefined> {
    const ids = await this.#knownIds.of(chain)
    for (const number of ids.numbersOf(idPrefix(id))) {
      // The n-th checkpoint belongs to the n-th AddData.
      const block = chain.dataBlock(number)
      if (block?.checkpoint === undefined) continue
      const content = await this.#checkpoints.of(chain.name, block.checkpoint)
      const known = content.ids.flatMap((group) => group.ids).find((one) => one.id === id)
      const outcome = findCommitted(content, id)
      if (known !== undefined && outcome !== undefined) return { bodyHash: known.bodyHash, decided: { outcome, block } }
    }
    return undefined
  }
}

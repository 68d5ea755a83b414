// A chain, block after block from its first one: each must have the bytes that its hash names, follow the one before it by
// the rules of chains, and names the slice that it adds. Used both to write and to read bundles.

import { checkNext, emptyChain } from '../../odf/chain/rules.ts'
import { sha3Hash } from '../../base/ids/identifiers.ts'
import { DecodeError, HaltError } from '../../base/errors.ts'
import { dataOf, type MetadataBlock } from '../../model/events.ts'
import { decodeBlock } from '../../odf/block.ts'
import { BundleFault, type Entry } from './manifest.ts'

export class ChainWalk {
  readonly id: string
  #state = emptyChain
  readonly #slices = new Map<string, number>()

  constructor(id: string) {
    this.id = id
  }

  get length(): number {
    return this.#state.length
  }

  /** Hash of the last block. */
  get head(): string | undefined {
    return this.#state.head
  }

  get rows(): number {
    return this.#state.lastOffset === undefined ? 0 : Number(this.#state.lastOffset) + 1
  }

  /** The slices that the blocks name, each once. */
  get slices(): readonly Entry[] {
    return [...this.#slices]
  }

  /** Takes the next block. Throws BundleFault. */
  next(hash: string, bytes: Uint8Array): MetadataBlock {
    const words = `block ${this.length} of ${this.id}`
    if (sha3Hash(bytes) !== hash) throw new BundleFault('failed', `The bytes of ${words} are not those of ${hash}.`)
    try {
      const { block } = decodeBlock(bytes)
      this.#state = checkNext(this.#state, block, hash)
      if (this.#state.datasetId !== this.id) {
        throw new BundleFault('failed', `The chain of ${this.id} begins with the seed of ${this.#state.datasetId}.`)
      }
      const newData = dataOf(block.event)?.newData
      if (newData !== undefined) this.#slices.set(newData.physicalHash, Number(newData.size))
      return block
    } catch (error) {
      if (error instanceof HaltError) throw new BundleFault('failed', `The chain of ${this.id} breaks: ${error.what}.`)
      if (error instanceof BundleFault || !(error instanceof DecodeError)) throw error
      throw new BundleFault('failed', `The ${words} cannot be read: ${error.message}.`)
    }
  }
}

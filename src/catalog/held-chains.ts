// The chains that a catalog holds, bounded by bytes: the least recently used is dropped first. A dropped chain that a
// request still works with stays the only one of its dataset until that request is done.

import type { DatasetId } from '../model/events.ts'
import type { DatasetChain } from './dataset-chain.ts'

/** What a block takes, roughly: for chains whose size is known before they are read. */
const bytesPerBlock = 160

export class HeldChains {
  readonly #bytesMost: number
  /** Least recently used first. */
  readonly #chains = new Map<DatasetId, DatasetChain>()
  readonly #bytesOf = new Map<DatasetId, number>()
  #bytes = 0
  readonly #dropped = new Map<DatasetId, WeakRef<DatasetChain>>()
  readonly #collected = new FinalizationRegistry<DatasetId>((id) => {
    if (this.#dropped.get(id)?.deref() === undefined) this.#dropped.delete(id)
  })

  constructor(bytesMost: number) {
    this.#bytesMost = bytesMost
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The chain of the dataset if it is held; this counts as use. */
  get(id: DatasetId): DatasetChain | undefined {
    const chain = this.peek(id)
    if (chain !== undefined) this.keep(chain)
    return chain
  }

  /** The same for a follower, which does not count as use. */
  peek(id: DatasetId): DatasetChain | undefined {
    return this.#chains.get(id) ?? this.#dropped.get(id)?.deref()
  }

  /** Takes a chain in, or counts a use of it; others are dropped for it. */
  keep(chain: DatasetChain): void {
    const { id } = chain.name
    this.#dropped.delete(id)
    this.#chains.delete(id)
    this.#chains.set(id, chain)
    this.grown(chain)
  }

  /** Counts what a chain has grown by. */
  grown(chain: DatasetChain): void {
    const { id } = chain.name
    if (this.#chains.get(id) !== chain) return
    this.#bytes += chain.bytes - (this.#bytesOf.get(id) ?? 0)
    this.#bytesOf.set(id, chain.bytes)
    if (this.#bytes > this.#bytesMost) this.#dropOldest()
  }

  /** True when a chain of so many blocks can be held without dropping another. */
  hasRoomFor(blocks: number): boolean {
    return this.#bytes + blocks * bytesPerBlock <= this.#bytesMost
  }

  /** All but the newest may go. */
  #dropOldest(): void {
    for (const [id, chain] of this.#chains) {
      if (this.#bytes <= this.#bytesMost || this.#chains.size === 1) return
      this.#chains.delete(id)
      this.#bytes -= this.#bytesOf.get(id) ?? 0
      this.#bytesOf.delete(id)
      this.#dropped.set(id, new WeakRef(chain))
      this.#collected.register(chain, id)
    }
  }
}

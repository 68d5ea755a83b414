// The rows of a bundle as the page holds them: chains and slices as they come out of it, and what the datasets of a statement
// are made of at their blocks.

import { decompress as unpack } from 'fzstd'
import { checkNext, type ChainState, emptyChain } from '../../../libraries/odf/chain/rules.ts'
import { concatBytes } from '../../../libraries/base/bytes.ts'
import { dataOf, type MetadataBlock } from '../../../libraries/model/events.ts'
import type { DatasetPin } from '../../../libraries/model/query.ts'
import type { DataSchema } from '../../../libraries/model/schema.ts'
import { EngineFailure } from '../../../libraries/proof/rerun/engine.ts'
import { portableBytesMost, type PortableTable } from '../../../libraries/proof/rerun/tables.ts'

/** Chains and slices of a bundle, as they come out of it. */
export class BundleRows {
  readonly #chains = new Map<string, { state: ChainState; readonly slices: string[] }>()
  /** By hash of block. */
  readonly #at = new Map<string, { readonly schema: DataSchema | undefined; readonly slices: readonly string[] }>()
  readonly #pieces = new Map<string, Uint8Array[]>()
  #bytes = 0

  /** `named`: blocks whose rows will be asked for. */
  block(id: string, of: { readonly hash: string; readonly block: MetadataBlock; readonly isNamed: boolean }): void {
    const { hash, block, isNamed } = of
    const chain = this.#chains.get(id) ?? { state: emptyChain, slices: [] }
    chain.state = checkNext(chain.state, block, hash)
    const newData = dataOf(block.event)?.newData
    if (newData !== undefined) chain.slices.push(newData.physicalHash)
    this.#chains.set(id, chain)
    if (isNamed) this.#at.set(hash, { schema: chain.state.schema, slices: [...chain.slices] })
  }

  /** Throws EngineFailure for more than the page can hold. */
  slice(path: string, piece: Uint8Array): void {
    this.#bytes += piece.length
    if (this.#bytes > portableBytesMost)
      throw new EngineFailure('the bundle has more rows than this page holds in memory')
    const hash = path.slice(path.lastIndexOf('/') + 1)
    const pieces = this.#pieces.get(hash) ?? []
    pieces.push(piece.slice())
    this.#pieces.set(hash, pieces)
  }

  /** The datasets that an answer names. */
  tables(datasets: readonly DatasetPin[]): PortableTable[] {
    return datasets.map(({ alias, blockHash = '' }) => {
      const { schema, slices = [] } = this.#at.get(blockHash) ?? {}
      return { alias, schema, slices: this.#bytesOf(slices) }
    })
  }

  *#bytesOf(slices: readonly string[]): Generator<Uint8Array> {
    for (const hash of slices) yield concatBytes(this.#pieces.get(hash) ?? [])
  }
}

/** Zstandard, for pages of slices. */
export function decompress(page: Uint8Array, length: number): Uint8Array {
  return unpack(page, new Uint8Array(length))
}

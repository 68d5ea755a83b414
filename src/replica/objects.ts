// Stored objects verbatim: blocks, slices, checkpoints. Their bytes are their identity; nothing is re-encoded.

import type { DatasetChain } from '../catalog/dataset-chain.ts'
import { normalHash } from '../codec/multihash.ts'
import { DecodeError, NodeError } from '../model/errors.ts'
import type { Hash } from '../model/events.ts'
import { blockKey, checkpointKey, dataKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'

const keyOf = { blocks: blockKey, data: dataKey, checkpoints: checkpointKey } as const
export type ObjectKind = keyof typeof keyOf

export class Objects {
  readonly #store: ObjectStore

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /** Hash in its normal form and size of a stored object. Throws NodeError `InvalidParameter`, `BlockNotFound`, `ObjectNotFound`. */
  async find(
    chain: DatasetChain,
    kind: ObjectKind,
    text: string,
  ): Promise<{ hash: string; sizeBytes: number; key: string }> {
    const hash = hashOf(text)
    const key = keyOf[kind](chain.name.id, hash)
    const sizeBytes = await this.#store.size(key)
    // A block that was stored but not committed is none of the chain.
    if (sizeBytes === undefined || (kind === 'blocks' && chain.sequenceOf(hash) === undefined)) {
      throw new NodeError(
        kind === 'blocks' ? 'BlockNotFound' : 'ObjectNotFound',
        `'${chain.name.alias}' has no ${kind === 'blocks' ? 'block' : 'object'} ${hash}.`,
      )
    }
    return { hash, sizeBytes, key }
  }

  /** Bytes [start, end) of an object found by `find`. */
  async read(key: string, start: number, end: number): Promise<Uint8Array> {
    const bytes = await this.#store.getRange(key, start, end)
    if (bytes === undefined) throw new NodeError('ObjectNotFound', 'The object is gone.')
    return bytes
  }
}

/** The normal form of a hash in any multibase. Throws NodeError `InvalidParameter`. */
export function hashOf(text: string): Hash {
  try {
    return normalHash(text)
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause
    throw new NodeError('InvalidParameter', `'${text.slice(0, 120)}' is not a sha3-256 multihash.`, {
      hint: 'Hashes read f1620 and 64 hex digits; multibase F, u and z are taken too.',
      cause,
    })
  }
}

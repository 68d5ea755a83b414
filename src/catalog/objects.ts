// Stored objects verbatim: blocks, slices, checkpoints. Their bytes are their identity; nothing is re-encoded.

import type { NameRecord } from '../chain/records.ts'
import { normalHash } from '../ids/multihash.ts'
import { DecodeError, HaltError, NodeError } from '../model/errors.ts'
import type { Hash } from '../model/events.ts'
import { blockKey, checkpointKey, dataKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { DatasetChain } from './dataset-chain.ts'
import type { ObjectCheck, StoredObject } from './object-check.ts'

const keyOf = { blocks: blockKey, data: dataKey, checkpoints: checkpointKey } as const
export type ObjectKind = keyof typeof keyOf
const wordOf = { blocks: 'block', data: 'slice', checkpoints: 'checkpoint' } as const

export class Objects {
  readonly #store: ObjectStore
  readonly #check: ObjectCheck

  constructor(store: ObjectStore, check: ObjectCheck) {
    this.#store = store
    this.#check = check
  }

  /**
   * A stored object of the dataset `name` by its hash in any form. The chain is asked where it decides: slices and
   * checkpoints that are there can be fetched from a dataset whose chain is broken. Throws NodeError
   * `InvalidParameter`, `BlockNotFound`, `ObjectNotFound`; HaltError `ChainBroken` when a block of the chain names an
   * object that is not there, and as `chainOf` does.
   */
  async find(
    { id, alias }: NameRecord,
    asked: { readonly kind: ObjectKind; readonly text: string; readonly chainOf: () => Promise<DatasetChain> },
  ): Promise<StoredObject> {
    const { kind, text, chainOf } = asked
    const hash = hashOf(text)
    const key = keyOf[kind](id, hash)
    const sizeBytes = await this.#store.size(key)
    const words = `${wordOf[kind]} ${hash} of ${alias}`
    if (sizeBytes !== undefined && kind !== 'blocks') return { hash, sizeBytes, key, words }
    // A block that was stored but not committed is none of the chain.
    if (isNamed(await chainOf(), kind, hash)) {
      if (sizeBytes !== undefined) return { hash, sizeBytes, key, words }
      throw new HaltError('ChainBroken', `${words} is missing`)
    }
    throw new NodeError(
      kind === 'blocks' ? 'BlockNotFound' : 'ObjectNotFound',
      `'${alias}' has no ${kind === 'blocks' ? 'block' : 'object'} ${hash}.`,
    )
  }

  /** Throws HaltError `ChainBroken` unless the bytes are those that the hash names. */
  async check(object: StoredObject): Promise<void> {
    await this.#check.object(object)
  }

  /** Bytes [start, end) of an object found by `find`. */
  async read(key: string, start: number, end: number): Promise<Uint8Array> {
    const bytes = await this.#store.getRange(key, start, end)
    if (bytes === undefined) throw new NodeError('ObjectNotFound', 'The object is gone.')
    return bytes
  }
}

/** True when a block of the chain names the object. */
function isNamed(chain: DatasetChain, kind: ObjectKind, hash: Hash): boolean {
  switch (kind) {
    case 'blocks':
      return chain.sequenceOf(hash) !== undefined
    case 'data':
      return chain.names('slice', hash)
    case 'checkpoints':
      return chain.names('checkpoint', hash)
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

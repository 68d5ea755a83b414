// Hashes slices before a replica reads rows from them for the first time: what another process wrote, over whatever
// lies between, is taken only as what its block says it is.

import { createSha3256 } from '../codec/native-crypto.ts'
import { hashText } from '../codec/multihash.ts'
import type { DatasetView } from '../catalog/view.ts'
import { HaltError } from '../model/errors.ts'
import type { Hash } from '../model/events.ts'
import { dataKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'

const pieceBytes = 1024 * 1024

export class SliceCheck {
  readonly #store: ObjectStore
  /** Checks begun, by key; those that failed are made again. */
  readonly #checks = new Map<string, Promise<void>>()

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /** Checks the slices of `view`, or those with the numbers `[from, to)`. Throws HaltError `ChainBroken`. */
  async check(
    { id, slices }: DatasetView,
    { from, to }: { from: number; to: number } = { from: 0, to: slices.length },
  ): Promise<void> {
    for (const { hash, sizeBytes } of slices.slice(from, to)) {
      const key = dataKey(id, hash)
      let check = this.#checks.get(key)
      if (check === undefined) {
        check = this.#hash(key, { hash, sizeBytes })
        this.#checks.set(key, check)
        check.catch(() => this.#checks.delete(key))
      }
      await check
    }
  }

  async #hash(key: string, { hash, sizeBytes }: { hash: Hash; sizeBytes: number }): Promise<void> {
    if ((await this.#store.size(key)) !== sizeBytes)
      throw new HaltError('ChainBroken', `slice ${hash} is not there whole`)
    const digest = createSha3256()
    for (let at = 0; at < sizeBytes; at += pieceBytes) {
      const piece = await this.#store.getRange(key, at, Math.min(at + pieceBytes, sizeBytes))
      if (piece === undefined) throw new HaltError('ChainBroken', `slice ${hash} is missing`)
      digest.update(piece)
    }
    if (hashText(digest.digest()) !== hash) throw new HaltError('ChainBroken', `slice ${hash} is damaged`)
  }
}

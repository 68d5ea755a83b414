// Reads checkpoints of chains: in pieces, so that one with a million ids keeps nobody waiting, and each only once for
// those who ask for the same one at a time.

import { CheckpointScan, type TakeId } from '../chain/checkpoint-scan.ts'
import type { CheckpointContent } from '../chain/checkpoint.ts'
import type { NameRecord } from '../chain/records.ts'
import { hashText } from '../ids/multihash.ts'
import { createSha3256 } from '../ids/native-crypto.ts'
import { nextTurn } from '../lib/clock.ts'
import { DecodeError, HaltError } from '../model/errors.ts'
import type { Hash } from '../model/events.ts'
import { checkpointKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** A piece is hashed and read in 2 ms. */
const pieceBytes = 128 * 1024
/** Contents held, because the callers of one block ask for the same one. */
const heldMost = 16

export class Checkpoints {
  readonly #store: ObjectStore
  readonly #held = new Map<Hash, Promise<CheckpointContent>>()

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /** The content with the ids of its own block alone. Throws HaltError `ChainBroken`. */
  of(name: NameRecord, hash: Hash): Promise<CheckpointContent> {
    const held = this.#held.get(hash)
    if (held !== undefined) return held
    const reading = this.read(name, hash)
    this.#held.set(hash, reading)
    reading.catch(() => this.#held.delete(hash))
    const oldest = this.#held.keys().next().value
    if (this.#held.size > heldMost && oldest !== undefined) this.#held.delete(oldest)
    return reading
  }

  /** The same, read now; `take` is handed all ids that the checkpoint holds. Throws HaltError `ChainBroken`. */
  async read({ id, alias }: NameRecord, hash: Hash, take?: TakeId): Promise<CheckpointContent> {
    const broken = (reason: string, cause?: DecodeError): HaltError =>
      new HaltError('ChainBroken', `checkpoint ${hash} of ${alias} ${reason}`, cause)
    const scan = new CheckpointScan(take)
    const digest = createSha3256()
    try {
      for await (const piece of this.#pieces(checkpointKey(id, hash))) {
        if (piece === undefined) throw broken('is missing')
        digest.update(piece)
        scan.push(piece)
      }
      if (hashText(digest.digest()) === hash) return scan.finish()
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      throw broken(`is damaged: ${error.message}`, error)
    }
    throw broken('is damaged: its bytes have another hash')
  }

  async *#pieces(key: string): AsyncGenerator<Uint8Array | undefined> {
    const sizeBytes = await this.#store.size(key)
    if (sizeBytes === undefined) return yield undefined
    if (sizeBytes <= pieceBytes) return yield await this.#store.get(key)
    for (let at = 0; at < sizeBytes; at += pieceBytes) {
      yield await this.#store.getRange(key, at, Math.min(sizeBytes, at + pieceBytes))
      await nextTurn()
    }
  }
}

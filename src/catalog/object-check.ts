// Hashes stored objects before their bytes are served or queried for the first time: what another process wrote, or a
// disk has kept for long, is taken only as what its block says it is.

import { hashText, sha3Hash } from '../ids/multihash.ts'
import { createSha3256 } from '../ids/native-crypto.ts'
import { HaltError, NodeError } from '../model/errors.ts'
import type { DatasetId, Hash } from '../model/events.ts'
import { dataKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { DatasetView } from './view.ts'

const pieceBytes = 1024 * 1024
/** Slices that are read at once. */
const parallelChecks = 16

/** A stored object, and the words for it in a sentence. */
export interface StoredObject {
  readonly key: string
  readonly hash: Hash
  readonly sizeBytes: number
  /** `slice f1620… of acme/lab` */
  readonly words: string
}

/** Numbers `[from, to)` of slices of a chain. */
interface SliceRun {
  readonly from: number
  readonly to: number
}

export class ObjectCheck {
  readonly #store: ObjectStore
  /** Checks begun, by key; those that failed are made again. */
  readonly #checks = new Map<string, Promise<void>>()
  /** How many slices of a chain, from its first, are known to be whole. */
  readonly #wholeSlices = new Map<DatasetId, number>()

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /** Throws HaltError `ChainBroken` unless the object has the bytes that its hash names. Each is read once. */
  async object(object: StoredObject): Promise<void> {
    let check = this.#checks.get(object.key)
    if (check === undefined) {
      check = this.#hash(object)
      this.#checks.set(object.key, check)
      check.catch(() => this.#checks.delete(object.key))
    }
    await check
  }

  /** Checks the slices of `view`, or those of `run`. Throws HaltError `ChainBroken`. */
  async slices(view: DatasetView, run: SliceRun = { from: 0, to: view.slices.length }): Promise<void> {
    const { id, alias, slices } = view
    const whole = this.#wholeSlices.get(id) ?? 0
    for (let at = Math.max(run.from, whole); at < run.to; at += parallelChecks) {
      const group = slices.slice(at, Math.min(at + parallelChecks, run.to))
      const checks = await Promise.allSettled(
        group.map(({ hash, sizeBytes }) =>
          this.object({ key: dataKey(id, hash), hash, sizeBytes, words: `slice ${hash} of ${alias}` }),
        ),
      )
      const failed = checks.find((check) => check.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    }
    if (run.from <= whole) this.#wholeSlices.set(id, Math.max(run.to, this.#wholeSlices.get(id) ?? 0))
  }

  /**
   * After `error` of a query over `views`: throws HaltError `ChainBroken` when the engine itself failed and a slice is
   * no longer what it was, else `error` as it is.
   */
  async blame(error: unknown, views: readonly DatasetView[]): Promise<never> {
    if (!(error instanceof NodeError) || error.kind !== 'Internal') throw error
    for (const { id, slices } of views) {
      this.#wholeSlices.delete(id)
      for (const { hash } of slices) this.#checks.delete(dataKey(id, hash))
    }
    for (const view of views) await this.slices(view)
    throw error
  }

  async #hash(object: StoredObject): Promise<void> {
    const { key, hash, sizeBytes, words } = object
    if (sizeBytes <= pieceBytes) return this.#hashSmall(object)
    const found = await this.#store.size(key)
    if (found === undefined) throw new HaltError('ChainBroken', `${words} is missing`)
    if (found !== sizeBytes) throw damaged(words, `${found} bytes, not ${sizeBytes}`)
    const digest = createSha3256()
    for (let at = 0; at < sizeBytes; at += pieceBytes) {
      const piece = await this.#store.getRange(key, at, Math.min(at + pieceBytes, sizeBytes))
      if (piece === undefined) throw new HaltError('ChainBroken', `${words} is missing`)
      digest.update(piece)
    }
    if (hashText(digest.digest()) !== hash) throw damaged(words, 'its bytes have another hash')
  }

  /** The same in one read: chains may have thousands of small slices. */
  async #hashSmall({ key, hash, sizeBytes, words }: StoredObject): Promise<void> {
    const bytes = await this.#store.get(key)
    if (bytes === undefined) throw new HaltError('ChainBroken', `${words} is missing`)
    if (bytes.length !== sizeBytes) throw damaged(words, `${bytes.length} bytes, not ${sizeBytes}`)
    if (sha3Hash(bytes) !== hash) throw damaged(words, 'its bytes have another hash')
  }
}

function damaged(words: string, how: string): HaltError {
  return new HaltError('ChainBroken', `${words} is damaged: ${how}`)
}

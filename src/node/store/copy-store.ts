// A copy of all that is committed in one store, put into another: what `backup` and `restore` do. The source may be written
// to meanwhile. What refers is read before what it refers to, and stored after it, so that the copy is whole at every
// moment. A repeat copies only what is new: objects of chains never change.

import { posix } from 'node:path'
import { type DatasetId, hashPattern, hashText, sha3Hash } from '../../libraries/base/ids/identifiers.ts'
import { createSha3256 } from '../../libraries/base/ids/native-crypto.ts'
import { equalBytes } from '../../libraries/base/bytes.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { readHead } from './heads.ts'
import {
  adoptionsPrefix,
  blocksPrefix,
  checkpointsPrefix,
  commitKey,
  commitsPrefix,
  dataPrefix,
  deletionsPrefix,
  floorsPrefix,
  generationKey,
  generationsPrefix,
  headKey,
  ledgerEvidencePrefix,
  ledgerHeadsPrefix,
  ledgerKeysPrefix,
  ledgerLeftPrefix,
  logsPrefix,
  nameKey,
  packFileKey,
  packKey,
  rejectsRoot,
  queriesPrefix,
  retiredKeysPrefix,
  signersPrefix,
  tokensPrefix,
} from './layout.ts'
import { listNames, readAlias } from './names.ts'
import type { ObjectStore } from './object-store.ts'
import { listPacks, type Pack, PackGone } from './packs.ts'
import { listNumbers } from './records.ts'

/** What was copied now; what the copy had already counts as nothing. */
export interface CopyReport {
  readonly datasets: number
  readonly objects: number
  readonly bytes: number
  /** Datasets that could not be copied whole: the copy has what it had of them before. */
  readonly damaged: readonly { readonly alias: string; readonly message: string }[]
}

export interface CopyProgress {
  readonly alias: string
  /** Which dataset it is, from 1, and of how many. */
  readonly dataset: number
  readonly datasets: number
  readonly objects: number
  readonly bytes: number
}

/** Records of the store itself, and how many segments their keys have behind the prefix. */
const records = [
  [logsPrefix, 1],
  [adoptionsPrefix, 1],
  [signersPrefix, 1],
  [retiredKeysPrefix, 2],
  ['secrets', 1],
  [deletionsPrefix, 2],
  [tokensPrefix, 1],
  [queriesPrefix, 1],
  [ledgerKeysPrefix, 1],
  [ledgerLeftPrefix, 2],
  // The head before the batches, which then have all that it is over. Tiles and places follow from batches.
  [ledgerHeadsPrefix, 2],
  [ledgerEvidencePrefix, 2],
  ['ledger', 1],
  ['ledger/statements', 1],
  ['ledger/batches', 1],
  [rejectsRoot, 3],
] as const

const parallel = 8
const pieceBytes = 4 * 1024 * 1024

/**
 * Copies what `source` has committed when this begins, or later, into `target`. Both find objects loose or packed. What was
 * copied is durable when it resolves. Records that may change (tokens, saved queries, heads) are then as in the source; datasets that the
 * source no longer has stay. Throws HaltError `ChainBroken` where the target holds another history of a dataset; what the
 * stores throw.
 */
export async function copyStore(
  source: ObjectStore,
  target: ObjectStore,
  onProgress: (progress: CopyProgress) => void = () => {},
): Promise<CopyReport> {
  // Floors say that chains have got so far: they are read before the chains, and stored after them.
  const floors = await readTree(source, floorsPrefix, 3)
  const copy = new Copy(source, target)
  // That loose copies may be missing is known before they are.
  await copy.putTree(await readTree(source, logsPrefix, 1))
  const aliases = await listNames(source)
  const damaged: { alias: string; message: string }[] = []
  const names = new Map<string, Uint8Array>()
  const generations = new Map<string, Uint8Array>()
  // A dataset that is renamed meanwhile is copied under its new name, which may stand before the old one, or not at all.
  for (const [at, alias] of aliases.entries()) {
    const { objects, bytes } = copy
    onProgress({ alias, dataset: at + 1, datasets: aliases.length, objects, bytes })
    try {
      const record = await source.get(nameKey(alias))
      const later = await readGenerations(source, alias)
      const now = await readAlias(source, alias)
      const id = now?.state === 'is' ? now.name.id : undefined
      const to = now?.to === undefined ? undefined : foldAscii(now.to)
      if (to !== undefined && !aliases.includes(to, at)) aliases.push(to)
      // A name whose chain has not begun is of a creation that is under way.
      // Of what was deleted the name alone is kept, so that it is free in the copy too.
      const isFree = id === undefined && later.size > 0
      if (record === undefined || (!isFree && (id === undefined || !(await copy.chain(id))))) continue
      names.set(nameKey(alias), record)
      for (const [key, bytes] of later) generations.set(key, bytes)
    } catch (error) {
      if (!(error instanceof HaltError) && !(error instanceof DecodeError)) throw error
      damaged.push({ alias, message: error.message })
    }
  }
  for (const [prefix, depth] of records) await copy.putTree(await readTree(source, prefix, depth))
  for (const ledger of await listNumbers(source, 'ledger')) {
    for (const part of ['', '/statements', '/batches']) {
      await copy.putTree(await readTree(source, `ledger/${ledger}${part}`, 1))
    }
  }
  // What has become private is never public in the copy.
  await copy.putTree(generations)
  await copy.putTree(names)
  if (damaged.length === 0) await copy.putTree(floors)
  for (const prefix of [tokensPrefix, queriesPrefix]) {
    const kept = new Set(await source.list(prefix))
    const gone = (await target.list(prefix)).filter((name) => !kept.has(name))
    await target.delete(...gone.map((name) => `${prefix}/${name}`))
  }
  return { datasets: names.size, objects: copy.objects, bytes: copy.bytes, damaged }
}

/** The later generations of a name, in order: a copy that is interrupted has the first of them. */
async function readGenerations(store: ObjectStore, alias: string): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>()
  for (const number of await listNumbers(store, generationsPrefix(alias))) {
    const key = generationKey(alias, number)
    const bytes = await store.get(key)
    if (bytes !== undefined) found.set(key, bytes)
  }
  return found
}

/** The objects under a prefix whose keys have `depth` segments more. */
async function readTree(store: ObjectStore, prefix: string, depth: number): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>()
  for (const name of await store.list(prefix)) {
    const key = `${prefix}/${name}`
    if (depth > 1) for (const [below, bytes] of await readTree(store, key, depth - 1)) found.set(below, bytes)
    else {
      const bytes = await store.get(key)
      if (bytes !== undefined) found.set(key, bytes)
    }
  }
  return found
}

class Copy {
  readonly #source: ObjectStore
  readonly #target: ObjectStore
  objects = 0
  bytes = 0

  constructor(source: ObjectStore, target: ObjectStore) {
    this.#source = source
    this.#target = target
  }

  /** Puts records, over others where they differ. */
  async putTree(tree: ReadonlyMap<string, Uint8Array>): Promise<void> {
    for (const [key, bytes] of tree) {
      const there = await this.#target.get(key)
      if (there !== undefined && equalBytes(there, bytes)) continue
      if (there === undefined) await this.#target.put(key, bytes)
      else await this.#target.replace(key, bytes)
      this.#count(bytes.length)
    }
  }

  /** Copies a chain as far as it is committed now; false where it has no block. */
  async chain(id: DatasetId): Promise<boolean> {
    const head = await readHead(this.#source, id)
    if (head === undefined) return false
    // The hint is of a block whose commit is there when commits are listed.
    const hint = await readTree(this.#source, posix.dirname(headKey(id)), 1)
    const commits = await listNumbers(this.#source, commitsPrefix(id))
    await this.#packs(id)
    // Objects are there before the commit that names them: those of commits that were listed are found now.
    for (const prefix of [dataPrefix(id), checkpointsPrefix(id), blocksPrefix(id)]) {
      const hashes = (await this.#source.list(prefix)).filter((name) => hashPattern.test(name))
      await inTurns(hashes, (hash) => this.#object(`${prefix}/${hash}`, hash))
    }
    for (const sequence of commits) await this.#commit(id, sequence)
    await this.putTree(hint)
    return true
  }

  async #packs(id: DatasetId): Promise<void> {
    for (;;) {
      try {
        for (const pack of await listPacks(this.#source, id)) await this.#pack(pack)
        return
      } catch (error) {
        // One of a higher level has taken its place.
        if (!(error instanceof PackGone)) throw error
      }
    }
  }

  async #pack(pack: Pack): Promise<void> {
    const { id, level, number, record } = pack
    const key = packFileKey(id, record.hash)
    if ((await this.#target.size(key)) === undefined) {
      const size = await this.#source.size(key)
      if (size === undefined) throw new PackGone(pack)
      const hash = createSha3256()
      const source = this.#source
      const pieces = async function* (): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < size; at += pieceBytes) {
          const piece = await source.getRange(key, at, Math.min(size, at + pieceBytes))
          if (piece === undefined) throw new PackGone(pack)
          hash.update(piece)
          yield piece
        }
        demandHash(hashText(hash.digest()), record.hash, key)
      }
      await this.#target.putStream(pieces(), () => key)
      this.#count(size)
    }
    const recordKey = packKey(id, level, number)
    const bytes = await this.#source.get(recordKey)
    if (bytes === undefined) throw new PackGone(pack)
    await this.putTree(new Map([[recordKey, bytes]]))
  }

  async #object(key: string, hash: string): Promise<void> {
    if ((await this.#target.size(key)) !== undefined) return
    const bytes = await this.#source.get(key)
    if (bytes === undefined) throw new HaltError('ChainBroken', `${key} went while it was copied`)
    demandHash(sha3Hash(bytes), hash, key)
    await this.#target.put(key, bytes)
    this.#count(bytes.length)
  }

  async #commit(id: DatasetId, sequence: number): Promise<void> {
    const key = commitKey(id, sequence)
    const bytes = await this.#source.get(key)
    if (bytes === undefined) throw new HaltError('ChainBroken', `${key} went while it was copied`)
    const there = await this.#target.get(key)
    if (there === undefined) {
      await this.#target.put(key, bytes)
      return this.#count(bytes.length)
    }
    if (equalBytes(there, bytes)) return undefined
    throw new HaltError('ChainBroken', `the copy holds another history of ${id}: its commit ${sequence} differs`)
  }

  #count(bytes: number): void {
    this.objects++
    this.bytes += bytes
  }
}

function demandHash(found: string, expected: string, key: string): void {
  if (found !== expected) throw new HaltError('ChainBroken', `${key} is damaged: its bytes have the hash ${found}`)
}

async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += parallel) await Promise.all(items.slice(at, at + parallel).map(work))
}

// Checks the packs of a chain. A pack is a pure function of the commits that it covers, so each is made once more, from
// objects that are hashed as they are read: the bytes must be the very ones that are stored under the record's hash.

import { endOfPack, type PackStart } from '../chain/pack-summary.ts'
import { hashText } from '../ids/identifiers.ts'
import { createSha3256 } from '../ids/native-crypto.ts'
import { nextTurn } from '../lib/clock.ts'
import { HaltError } from '../model/errors.ts'
import type { DatasetId, Hash } from '../model/events.ts'
import { packFileKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { listPacks, type Pack, PackReader } from '../store/packs.ts'
import { packFile } from '../store/write-pack.ts'
import type { AddProblem } from './report.ts'

const pieceBytes = 1024 * 1024

/** The packs of a chain that were found, whether or not they are sound. */
export async function checkPacks(store: ObjectStore, id: DatasetId, add: AddProblem): Promise<number> {
  let packs: readonly Pack[] = []
  try {
    packs = await listPacks(store, id)
    const reader = new PackReader(store)
    let start: PackStart = { sequence: 0, offset: 0 }
    for (const pack of packs) {
      const words = `pack ${pack.level}/${pack.number}`
      const { hash, sizeBytes } = pack.record
      const found = await fileHash(store, packFileKey(id, hash))
      if (found === undefined) add('ObjectMissing', `${words}: ${hash} is not stored`)
      else if (found.hash !== hash || found.sizeBytes !== sizeBytes) {
        add('HashMismatch', `${words}: its ${found.sizeBytes} bytes hash to ${found.hash}, not to ${hash}`)
      }
      const file = packFile(store, { id, level: pack.level, number: pack.number }, start)
      for await (const _ of file.chunks()) await nextTurn()
      const made = file.record()
      if (made.hash !== hash) add('PackDisagrees', `${words}: its commits make the pack ${made.hash}, not ${hash}`)
      start = endOfPack(await reader.summary(pack))
    }
  } catch (error) {
    if (!(error instanceof HaltError)) throw error
    add('PackDisagrees', error.what)
  }
  return packs.length
}

/** Hash and size of a stored file, read in pieces; undefined when there is none. */
async function fileHash(
  store: ObjectStore,
  key: string,
): Promise<{ readonly hash: Hash; readonly sizeBytes: number } | undefined> {
  const sizeBytes = await store.size(key)
  const digest = createSha3256()
  for (let at = 0; at < (sizeBytes ?? 0); at += pieceBytes) {
    const piece = await store.getRange(key, at, Math.min(at + pieceBytes, sizeBytes ?? 0))
    if (piece === undefined) return undefined
    digest.update(piece)
  }
  return sizeBytes === undefined ? undefined : { hash: hashText(digest.digest()), sizeBytes }
}

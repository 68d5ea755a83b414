// Checks the packs of a chain. A pack is a pure function of the commits that it covers, so each is made once more, from
// objects that are hashed as they are read: the bytes must be the very ones that are stored under the record's hash.

import { endOfPack, type PackStart } from '../../libraries/odf/chain/pack-summary.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { packFileKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { fileHash, listPacks, type Pack, PackGone, PackReader } from '../store/packs.ts'
import { packFile } from '../store/write-pack.ts'
import type { AddProblem } from './report.ts'

/** How many packs of a chain were found, whether or not they are sound. */
export async function checkPacks(store: ObjectStore, id: DatasetId, add: AddProblem): Promise<number> {
  let packs: readonly Pack[] = []
  try {
    packs = await listPacks(store, id)
    await checkEach(store, { id, packs }, add)
  } catch (error) {
    // Beside a running builder one may have been replaced by a larger one meanwhile.
    const now = error instanceof PackGone ? await listPacks(store, id) : packs
    if (now.length < packs.length) return checkPacks(store, id, add)
    if (!(error instanceof HaltError)) throw error
    add(error instanceof PackGone ? 'ObjectMissing' : 'PackDisagrees', error.what)
  }
  return packs.length
}

async function checkEach(
  store: ObjectStore,
  { id, packs }: { readonly id: DatasetId; readonly packs: readonly Pack[] },
  add: AddProblem,
): Promise<void> {
  const reader = new PackReader(store)
  let start: PackStart = { sequence: 0, offset: 0 }
  for (const pack of packs) {
    const { hash, sizeBytes } = pack.record
    const words = `pack ${pack.level}/${pack.number}`
    const found = await fileHash(store, packFileKey(id, hash))
    if (found === undefined) throw new PackGone(pack)
    if (found.hash !== hash || found.sizeBytes !== sizeBytes) {
      add('HashMismatch', `${words}: its ${found.sizeBytes} bytes hash to ${found.hash}, not to ${hash}`)
    }
    const file = packFile(store, { id, level: pack.level, number: pack.number }, start)
    for await (const _ of file.chunks()) await nextTurn()
    const made = file.record()
    if (made.hash !== hash) add('PackDisagrees', `${words}: its commits make the pack ${made.hash}, not ${hash}`)
    start = endOfPack(await reader.summary(pack))
  }
}

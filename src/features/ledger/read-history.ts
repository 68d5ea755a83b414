// The history of a ledger as the store has it: from the newest state that was stored, with the tiles of its tree.

import { DecodeError } from '../../libraries/base/errors.ts'
import { rootTiles } from '../../libraries/ledger/tile-proofs.ts'
import { entriesOfBundle, type Tile, tileIn, tileName } from '../../libraries/ledger/tiles.ts'
import { ledgerObjectKey, ledgerStateKey, ledgerStatesOf } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { listNumbers } from '../../node/store/records.ts'
import { History } from './history.ts'
import { stateCodec } from './records.ts'

/** Without the batches after the state, which the keeper takes in. Throws DecodeError where an object is damaged or missing. */
export async function readHistory(store: ObjectStore, ledger: number): Promise<History> {
  const batches = (await listNumbers(store, ledgerStatesOf(ledger))).at(-1)
  if (batches === undefined) return History.empty()
  const state = stateCodec.decode(await need(store, ledgerStateKey(ledger, batches)))
  const { size } = state.tree
  const files = new Map<string, Uint8Array>()
  for (const tile of rootTiles(size)) {
    const name = tileName(tile)
    files.set(name, await need(store, ledgerObjectKey(ledger, name)))
  }
  const read = (tile: Tile): Uint8Array => files.get(tileName(tile)) ?? new Uint8Array()
  const last = tileIn(size, 'entries', Math.floor(size / 256))
  const bundle =
    last === undefined ? [] : entriesOfBundle(await need(store, ledgerObjectKey(ledger, tileName(last))), last.width)
  return History.from(batches, state, read, bundle)
}

async function need(store: ObjectStore, key: string): Promise<Uint8Array> {
  const bytes = await store.get(key)
  if (bytes === undefined) throw new DecodeError('ledger', `lacks ${key}`)
  return bytes
}

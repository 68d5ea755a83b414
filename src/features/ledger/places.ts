// Where the entry of a block is in the tree: out of the groups of places that the keeper has stored, and for the last blocks of a
// dataset out of the history, which is read on from where it was. Any process that has the store can ask.

import { rootTiles } from '../../libraries/ledger/tile-proofs.ts'
import { entriesOfBundle, fullTileWidth, type Tile, tileIn, tileName } from '../../libraries/ledger/tiles.ts'
import {
  ledgerBatchKey,
  ledgerObjectKey,
  ledgerPlacesKey,
  ledgerStateKey,
  ledgerStatesOf,
} from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { listNumbers, readRecord } from '../../node/store/records.ts'
import { History } from './history.ts'
import { batchCodec, placesCodec, placesPerGroup, stateCodec } from './records.ts'
import { needed } from './stored-tiles.ts'

export class Places {
  readonly #store: ObjectStore
  readonly #ledger: number
  /** As far as it was read; the next question reads on. */
  #history: Promise<History> | undefined

  constructor(store: ObjectStore, ledger: number) {
    this.#store = store
    this.#ledger = ledger
  }

  /**
   * The index of the entry of a block, by the tag of its dataset in hex; undefined where it is not entered yet. Throws
   * DecodeError or HaltError where what is stored of the ledger is damaged.
   */
  async indexOf(tag: string, sequence: number): Promise<number | undefined> {
    const history = await this.history()
    if (sequence >= history.nextOf(tag)) return undefined
    const open = history.placeOf(tag, sequence)
    if (open !== undefined) return open
    const group = Math.floor(sequence / placesPerGroup)
    // One that is full may not be stored yet: the head that it is below is not published then.
    const indexes = await readRecord(this.#store, ledgerPlacesKey(this.#ledger, tag, group), placesCodec)
    return indexes?.[sequence % placesPerGroup]
  }

  /** The ledger as far as it is stored. One after the other: each reads on where the one before has stopped, or failed. */
  async history(): Promise<History> {
    const before = this.#history
    const next = this.#readFrom(before)
    this.#history = next
    try {
      return await next
    } catch (error) {
      if (this.#history === next) this.#history = undefined
      throw error
    }
  }

  async #readFrom(before: Promise<History> | undefined): Promise<History> {
    const history = (await before?.catch(() => undefined)) ?? (await readHistory(this.#store, this.#ledger))
    for (;;) {
      const batch = await readRecord(this.#store, ledgerBatchKey(this.#ledger, history.batches), batchCodec)
      if (batch === undefined) return history
      history.takeIn(batch)
    }
  }
}

/**
 * The history from the newest state that was stored, and the tiles of its tree; without the batches after it. Throws DecodeError
 * where an object is damaged or missing.
 */
export async function readHistory(store: ObjectStore, ledger: number): Promise<History> {
  const batches = (await listNumbers(store, ledgerStatesOf(ledger))).at(-1)
  if (batches === undefined) return History.empty()
  const state = stateCodec.decode(await needed(store, ledgerStateKey(ledger, batches)))
  const { size } = state.tree
  const files = new Map<string, Uint8Array>()
  for (const tile of rootTiles(size)) {
    const name = tileName(tile)
    files.set(name, await needed(store, ledgerObjectKey(ledger, name)))
  }
  const read = (tile: Tile): Uint8Array => files.get(tileName(tile)) ?? new Uint8Array()
  const last = tileIn(size, 'entries', Math.floor(size / fullTileWidth))
  const bundle =
    last === undefined ? [] : entriesOfBundle(await needed(store, ledgerObjectKey(ledger, tileName(last))), last.width)
  return History.from(batches, state, read, bundle)
}

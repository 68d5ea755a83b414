// The files of a tree on their way into the store. Full tiles, full bundles and groups of places are stored batch by batch;
// those that are not full only when something is to rest on the tree as it is then: a head, a state.

import { fullTileWidth, tileName } from '../../libraries/ledger/tiles.ts'
import { ledgerObjectKey, ledgerPlacesKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import type { Growth } from './history.ts'
import { placesCodec } from './records.ts'

interface TreeFile {
  readonly key: string
  readonly bytes: Uint8Array
}

/** Files that are stored at a time. */
const filesAtOnce = 8

export class TreeFiles {
  readonly #store: ObjectStore
  readonly #ledger: number
  #full: TreeFile[] = []
  /** Of each place the newest, those that are not stored yet. */
  readonly #partial = new Map<string, TreeFile>()

  constructor(store: ObjectStore, ledger: number) {
    this.#store = store
    this.#ledger = ledger
  }

  /** Takes what a batch has brought. */
  add({ tiles, places }: Growth): void {
    for (const { tag, group, indexes } of places) {
      this.#full.push({ key: ledgerPlacesKey(this.#ledger, tag, group), bytes: placesCodec.encode([...indexes]) })
    }
    for (const { tile, bytes } of tiles) {
      const file = { key: ledgerObjectKey(this.#ledger, tileName(tile)), bytes }
      const place = `${tile.level}/${tile.index}`
      this.#partial.delete(place)
      if (tile.width === fullTileWidth) this.#full.push(file)
      else this.#partial.set(place, file)
    }
  }

  /** Durable when it resolves; what was not stored when it throws is stored by the next call. */
  async storeFull(): Promise<void> {
    while (this.#full.length > 0) {
      await this.#put(this.#full.slice(0, filesAtOnce))
      this.#full = this.#full.slice(filesAtOnce)
    }
  }

  /** The same of all files of the tree as it is now. */
  async storeAll(): Promise<void> {
    await this.storeFull()
    await this.#put([...this.#partial.values()])
    this.#partial.clear()
  }

  async #put(files: readonly TreeFile[]): Promise<void> {
    await Promise.all(files.map(({ key, bytes }) => this.#store.put(key, bytes)))
  }
}

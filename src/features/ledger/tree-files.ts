// The files of a tree on their way into the store, and out of it. Full tiles, full bundles and groups of places are stored batch
// by batch; those that are not full only when something is to rest on the tree as it is then: a head, a state. These go some
// minutes after the full ones came: readers of an older head then find what they need in the full ones. While a tile is not
// full, its partial ones stay. Source: https://c2sp.org/tlog-tiles

import type { Clock } from '../../libraries/base/clock.ts'
import { fullTileWidth, type Tile, tileName } from '../../libraries/ledger/tiles.ts'
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

/** A reader has so long for the tiles of the head that he has. */
const keptMs = 300_000
const noteMs = 60_000
/** Entries below the size at the start whose tiles are looked at again: an end before may have left some. */
const againEntries = 32 * fullTileWidth
/** Entries whose tiles are looked at in one go. */
const stepEntries = 64 * fullTileWidth
const levels: readonly Tile['level'][] = ['entries', 0, 1, 2, 3, 4, 5, 6]

export interface OldTilesDeps {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly ledger: number
}

export class OldTiles {
  readonly #deps: OldTilesDeps
  /** The tree at times, oldest first. */
  #noted: { readonly size: number; readonly atMs: number }[] = []
  /** Tiles that were full at this size have no partial ones left. */
  #cleaned: number | undefined

  constructor(deps: OldTilesDeps) {
    this.#deps = deps
  }

  /** Deletes what is old enough, of a tree that has this size now and all of its tiles. */
  async clean(size: number): Promise<void> {
    const nowMs = this.#deps.clock.monotonicMs()
    if (nowMs - (this.#noted.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY) >= noteMs)
      this.#noted.push({ size, atMs: nowMs })
    const old = this.#noted.findLast(({ atMs }) => nowMs - atMs >= keptMs)
    const from = (this.#cleaned ??= Math.max(0, size - againEntries))
    if (old === undefined) return
    this.#noted = this.#noted.filter(({ atMs }) => atMs >= old.atMs)
    const to = Math.min(old.size, from + stepEntries)
    for (const [at, level] of levels.entries()) {
      const entries = fullTileWidth ** Math.max(1, at)
      for (let index = Math.floor(from / entries); (index + 1) * entries <= to; index++)
        await this.#delete(level, index)
    }
    this.#cleaned = Math.max(from, to)
  }

  async #delete(level: Tile['level'], index: number): Promise<void> {
    const { store, ledger } = this.#deps
    const folder = `${ledgerObjectKey(ledger, tileName({ level, index, width: fullTileWidth }))}.p`
    await store.delete(...(await store.list(folder)).map((width) => `${folder}/${width}`))
  }
}

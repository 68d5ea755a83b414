// Partial tiles and bundles go some minutes after the full ones came: readers of an older head then find what they need in
// these. While a tile is not full, its partial ones stay. Source: https://c2sp.org/tlog-tiles

import type { Clock } from '../../libraries/base/clock.ts'
import { fullTileWidth, type Tile, tileName } from '../../libraries/ledger/tiles.ts'
import { ledgerObjectKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'

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

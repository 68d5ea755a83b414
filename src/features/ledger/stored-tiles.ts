// What follows from the tiles that the store has of a tree: proofs that a head goes on from an older one, and the root that the
// tree had at an earlier size.

import { must } from '../../libraries/base/assert.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import {
  consistencyProof,
  consistencyTiles,
  inclusionProof,
  inclusionTiles,
  rootOf,
  rootTiles,
} from '../../libraries/ledger/tile-proofs.ts'
import { fullTileWidth, hashesOfTile, type Tile, tileIn, tileName } from '../../libraries/ledger/tiles.ts'
import { emptyRoot, type TreeHead } from '../../libraries/ledger/tree.ts'
import { ledgerObjectKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'

export interface TreeOf {
  readonly store: ObjectStore
  /** Number of the ledger in its store, from 1. */
  readonly ledger: number
}

/** Throws DecodeError where nothing is there. */
export async function needed(store: ObjectStore, key: string): Promise<Uint8Array> {
  const bytes = await store.get(key)
  if (bytes === undefined) throw new DecodeError('ledger', `lacks ${key}`)
  return bytes
}

/** The consistency proof from the tree of `older` leaves. Throws DecodeError where a tile is damaged or missing. */
export async function storedConsistency(of: TreeOf, older: number, newer: number): Promise<Uint8Array[]> {
  const tiles = await readTiles(of, consistencyTiles(older, newer))
  return consistencyProof(older, newer, (level, index) => hashIn(tiles, level, index))
}

/** The inclusion proof of an entry in the tree of `size` leaves, which has grown to `newest`. Throws as `storedConsistency`. */
export async function storedInclusion(
  of: TreeOf,
  index: number,
  { size, newest }: { readonly size: number; readonly newest: number },
): Promise<Uint8Array[]> {
  const tiles = await readTiles(of, inNewest(inclusionTiles(index, size), newest))
  return inclusionProof(index, size, (level, at) => hashIn(tiles, level, at))
}

/** The root of the first `size` leaves of the tree with this head. Throws as `storedConsistency`. */
export async function storedRoot(of: TreeOf, size: number, newest: TreeHead): Promise<Uint8Array> {
  if (size === 0) return emptyRoot
  if (size === newest.size) return newest.root
  const tiles = await readTiles(of, inNewest(rootTiles(size), newest.size))
  return rootOf(size, (level, index) => hashIn(tiles, level, index))
}

/** Tiles of a tree as they are in what it has grown to. */
function inNewest(tiles: readonly Tile[], size: number): Tile[] {
  return tiles.map(({ level, index }) => must(tileIn(size, level, index), 'the newest tree has it, too'))
}

type TilesByPlace = ReadonlyMap<string, readonly Uint8Array[]>

async function readTiles({ store, ledger }: TreeOf, tiles: readonly Tile[]): Promise<TilesByPlace> {
  const found = tiles.map(async (tile) => {
    const bytes = await store.get(ledgerObjectKey(ledger, tileName(tile)))
    // A partial one may be gone when the full one is there.
    const full = { ...tile, width: fullTileWidth }
    const hashes =
      bytes === undefined
        ? hashesOfTile(await needed(store, ledgerObjectKey(ledger, tileName(full))), fullTileWidth)
        : hashesOfTile(bytes, tile.width)
    return [`${tile.level}/${tile.index}`, hashes] as const
  })
  return new Map(await Promise.all(found))
}

function hashIn(tiles: TilesByPlace, level: number, index: number): Uint8Array {
  const hashes = tiles.get(`${level}/${Math.floor(index / fullTileWidth)}`)
  return must(hashes?.[index % fullTileWidth], 'the tiles of a proof were read')
}

// The tree over the leaves of a block, as libraries/ledger/roots.ts has it, made in turns: there may be hundreds of thousands, and
// nothing waits longer than some milliseconds. Its upper levels are small: with the leaves of one tile they give the proofs of these.

import { must } from '../../../libraries/base/assert.ts'
import { concatBytes } from '../../../libraries/base/bytes.ts'
import { nextTurn } from '../../../libraries/base/clock.ts'
import { noRoot } from '../../../libraries/ledger/entry.ts'
import { countedRoot, type RecordPlace } from '../../../libraries/ledger/roots.ts'
import { inclusionProof, rootOf, type TileHashes } from '../../../libraries/ledger/tile-proofs.ts'
import { hashesByLevel } from '../../../libraries/ledger/tiled-tree.ts'
import { fullTileWidth, hashesOfTile } from '../../../libraries/ledger/tiles.ts'
import { treeRoot } from '../../../libraries/ledger/tree.ts'

/** A tree without the leaves of its full tiles. */
export interface UpperTree {
  readonly root: Uint8Array
  /** Leaves. */
  readonly count: number
  /** The roots of the full tiles of leaves, and the leaves of the tile that is not full, 32 bytes each. */
  readonly tiles: Uint8Array
  readonly rest: Uint8Array
}

/** Tiles of leaves that are hashed in one go: some 2 ms. */
const tilesAtOnce = 8
const hashBytes = 32

export async function upperTree(leafHashes: readonly Uint8Array[]): Promise<UpperTree> {
  const count = leafHashes.length
  const roots: Uint8Array[] = []
  for (let start = 0; start + fullTileWidth <= count; start += fullTileWidth) {
    roots.push(treeRoot(leafHashes.slice(start, start + fullTileWidth)))
    if (roots.length % tilesAtOnce === 0) await nextTurn()
  }
  const tiles = concatBytes(roots)
  const rest = concatBytes(leafHashes.slice(roots.length * fullTileWidth))
  const root = count === 0 ? noRoot : countedRoot(count, rootOf(count, hashesIn({ count, tiles, rest }, [])))
  return { root, count, tiles, rest }
}

/** The number of the first leaf of the tile that a leaf is in. */
export function tileStart(index: number): number {
  return index - (index % fullTileWidth)
}

/** The place of a leaf, by the leaves of its tile. */
export function placeIn(tree: UpperTree, index: number, tile: readonly Uint8Array[]): RecordPlace {
  const { count } = tree
  return { index, count, path: inclusionProof(index, count, hashesIn(tree, tile)) }
}

/** `tile`: the leaves of the one full tile that is asked for, if any is. */
function hashesIn({ tiles, rest }: Omit<UpperTree, 'root'>, tile: readonly Uint8Array[]): TileHashes {
  const full = tiles.length / hashBytes
  const upper = hashesByLevel(hashesOfTile(tiles, full))
  const last = hashesOfTile(rest, rest.length / hashBytes)
  return (level, index) => {
    if (level > 0) return upper(level - 1, index)
    const leaves = index < full * fullTileWidth ? tile : last
    return must(leaves[index % fullTileWidth], 'the tree has this leaf')
  }
}

// The tree over the leaves of a block, as libraries/ledger/roots.ts has it, made in turns: there may be hundreds of thousands, and
// nothing waits longer than some milliseconds.

import { must } from '../../../libraries/base/assert.ts'
import { nextTurn } from '../../../libraries/base/clock.ts'
import { noRoot } from '../../../libraries/ledger/entry.ts'
import { countedRoot, type RecordPlace } from '../../../libraries/ledger/roots.ts'
import { inclusionProof, rootOf, type TileHashes } from '../../../libraries/ledger/tile-proofs.ts'
import { hashesByLevel } from '../../../libraries/ledger/tiled-tree.ts'
import { fullTileWidth } from '../../../libraries/ledger/tiles.ts'
import { treeRoot } from '../../../libraries/ledger/tree.ts'

export interface RecordTree {
  readonly root: Uint8Array
  placeOf(index: number): RecordPlace
}

/** Tiles of leaves that are hashed in one go: some 2 ms. */
const tilesAtOnce = 8

export async function recordTree(leafHashes: readonly Uint8Array[]): Promise<RecordTree> {
  const above: Uint8Array[] = []
  for (let start = 0; start + fullTileWidth <= leafHashes.length; start += fullTileWidth) {
    above.push(treeRoot(leafHashes.slice(start, start + fullTileWidth)))
    if (above.length % tilesAtOnce === 0) await nextTurn()
  }
  const upper = hashesByLevel(above)
  const count = leafHashes.length
  const hashes: TileHashes = (level, index) =>
    level === 0 ? must(leafHashes[index], 'the tree has this leaf') : upper(level - 1, index)
  return {
    root: count === 0 ? noRoot : countedRoot(count, rootOf(count, hashes)),
    placeOf: (index) => ({ index, count, path: inclusionProof(index, count, hashes) }),
  }
}

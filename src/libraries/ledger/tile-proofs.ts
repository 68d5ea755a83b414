// Proofs out of a tree that is stored as tiles (tiles.ts): which complete subtrees a proof is made of, in which tiles they
// lie, and the proof itself from those tiles. A proof reads at most two tiles of each level.

import { assert } from '../base/assert.ts'
import { isTreeSize, joinedHash, nodeHash } from './tree.ts'
import { fullTileWidth, type Tile, tileIn, tileLevelHeight } from './tiles.ts'

/** The hash at a place of a level of tiles: the root of the complete subtree over leaves [index · 256^level, (index + 1) · 256^level). */
export type TileHashes = (level: number, index: number) => Uint8Array

/** A complete subtree over 2^height leaves, the index-th of its height. */
interface Subtree {
  readonly height: number
  readonly index: number
}

/** The complete subtrees over leaves [start, end), left to right, where these are all the leaves of a node of the tree. */
function subtreesOf(start: number, end: number): Subtree[] {
  const found: Subtree[] = []
  for (let at = start; at < end;) {
    let [height, leaves] = [0, 1]
    while (leaves * 2 <= end - at) [height, leaves] = [height + 1, leaves * 2]
    found.push({ height, index: at / leaves })
    at += leaves
  }
  return found
}

/** The largest power of two below `size`, which is 2 or more: where the root's left child ends. */
function splitOf(size: number): number {
  let split = 1
  while (split * 2 < size) split *= 2
  return split
}

/** For each hash of the inclusion proof of a leaf, bottom up, the subtrees that it is over. */
function inclusionParts(index: number, size: number): Subtree[][] {
  assert(isTreeSize(index) && isTreeSize(size) && index < size, 'a leaf is in its tree')
  const parts: Subtree[][] = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const split = start + splitOf(end - start)
    if (index < split) {
      parts.push(subtreesOf(split, end))
      end = split
    } else {
      parts.push(subtreesOf(start, split))
      start = split
    }
  }
  return parts.reverse()
}

/** For each hash of the consistency proof from `older` leaves to `newer`, the subtrees that it is over. */
function consistencyParts(older: number, newer: number): Subtree[][] {
  assert(isTreeSize(older) && isTreeSize(newer) && older <= newer, 'a tree does not become smaller')
  if (older === 0 || older === newer) return []
  const parts: Subtree[][] = []
  let [start, end] = [0, newer]
  while (older !== end) {
    const split = start + splitOf(end - start)
    if (older <= split) {
      parts.push(subtreesOf(split, end))
      end = split
    } else {
      parts.push(subtreesOf(start, split))
      start = split
    }
  }
  // The left end of the tree is the older root, which the reader has.
  if (start !== 0) parts.push(subtreesOf(start, end))
  return parts.reverse()
}

/** The tiles that hold what the inclusion proof of a leaf needs, in a tree of this size. */
export function inclusionTiles(index: number, size: number): Tile[] {
  return tilesOf(inclusionParts(index, size), size)
}

/** The tiles that hold what the consistency proof needs, in a tree of `newer` leaves. */
export function consistencyTiles(older: number, newer: number): Tile[] {
  return tilesOf(consistencyParts(older, newer), newer)
}

/** The tiles over the complete subtrees of a tree: what its root, and a tree that goes on from there, is made of. */
export function rootTiles(size: number): Tile[] {
  return tilesOf([subtreesOf(0, size)], size)
}

/** The inclusion proof of a leaf, bottom up. */
export function inclusionProof(index: number, size: number, hashes: TileHashes): Uint8Array[] {
  return inclusionParts(index, size).map((part) => joined(part, hashes))
}

/** The consistency proof from the tree of `older` leaves to that of `newer`. */
export function consistencyProof(older: number, newer: number, hashes: TileHashes): Uint8Array[] {
  return consistencyParts(older, newer).map((part) => joined(part, hashes))
}

/** The root of the first `size` leaves, one or more. */
export function rootOf(size: number, hashes: TileHashes): Uint8Array {
  return joined(subtreesOf(0, size), hashes)
}

function joined(part: readonly Subtree[], hashes: TileHashes): Uint8Array {
  const hash = joinedHash(part.map((subtree) => subtreeRoot(subtree, hashes)))
  assert(hash !== undefined, 'a hash of a proof is over leaves')
  return hash
}

/** A subtree's root is a hash of a tile, or over a power of two of them, all in one tile. */
function subtreeRoot({ height, index }: Subtree, hashes: TileHashes): Uint8Array {
  const level = Math.floor(height / tileLevelHeight)
  const count = 2 ** (height % tileLevelHeight)
  let row = Array.from({ length: count }, (_, i) => hashes(level, index * count + i))
  while (row.length > 1) row = pairs(row)
  const [root] = row
  assert(root !== undefined, 'a subtree has a root')
  return root
}

function pairs(row: readonly Uint8Array[]): Uint8Array[] {
  const out: Uint8Array[] = []
  for (let i = 0; i + 1 < row.length; i += 2) {
    const [left, right] = [row[i], row[i + 1]]
    if (left !== undefined && right !== undefined) out.push(nodeHash(left, right))
  }
  return out
}

function tilesOf(parts: readonly (readonly Subtree[])[], size: number): Tile[] {
  const found = new Map<string, Tile>()
  for (const { height, index } of parts.flat()) {
    const level = Math.floor(height / tileLevelHeight)
    const first = index * 2 ** (height % tileLevelHeight)
    const tile = tileIn(size, level, Math.floor(first / fullTileWidth))
    if (tile !== undefined) found.set(`${level}/${tile.index}`, tile)
  }
  return [...found.values()]
}

// A tree that only grows and makes its tiles on the way. It holds the tiles that are not full yet, one of each level, so that
// memory does not grow with the tree, and goes on from them after a restart.

import { must } from '../base/assert.ts'
import { copyBytes } from '../base/bytes.ts'
import type { RecordPlace } from './roots.ts'
import { hashesOfTile, fullTileWidth, type Tile } from './tiles.ts'
import { inclusionProof, rootTiles, type TileHashes } from './tile-proofs.ts'
import { emptyRoot, Frontier, hashBytes, treeRoot } from './tree.ts'

/** A tile of hashes and its bytes. */
export interface TileFile {
  readonly tile: Tile
  readonly bytes: Uint8Array
}

/** The tile of a level that is being filled. */
class OpenTile {
  /** The hashes so far, all of them below the tile's own root. */
  frontier = new Frontier()
  index: number
  readonly #bytes = new Uint8Array(fullTileWidth * hashBytes)
  /** Hashes in it when it was last taken as a file. */
  #taken = 0

  constructor(index: number) {
    this.index = index
  }

  get isTaken(): boolean {
    return this.frontier.size === this.#taken
  }

  append(hash: Uint8Array): void {
    this.#bytes.set(hash, this.frontier.size * hashBytes)
    this.frontier.append(hash)
  }

  take(level: number): TileFile {
    const width = this.frontier.size
    this.#taken = width
    return { tile: { level, index: this.index, width }, bytes: copyBytes(this.#bytes, 0, width * hashBytes) }
  }

  /** Begins the next tile of the level. */
  next(): void {
    this.frontier = new Frontier()
    this.index++
    this.#taken = 0
  }
}

/** A growing tree with its tiles. Appending leaves and taking tiles are all that changes it. */
export class TiledTree {
  readonly #open: OpenTile[] = []
  #full: TileFile[] = []
  #size = 0

  /** The tree of this size, from the tiles that `read` has. Throws DecodeError where one has another length. */
  static from(size: number, read: (tile: Tile) => Uint8Array): TiledTree {
    const tree = new TiledTree()
    tree.#size = size
    const tiles = new Map(rootTiles(size).map((tile) => [tile.level, tile]))
    for (let level = 0, hashes = size; hashes > 0; level++, hashes = Math.floor(hashes / fullTileWidth)) {
      const open = tree.#at(level, Math.floor(hashes / fullTileWidth))
      const tile = tiles.get(level)
      if (tile === undefined) continue
      for (const hash of hashesOfTile(read(tile), tile.width)) open.append(hash)
      open.take(level)
    }
    return tree
  }

  get size(): number {
    return this.#size
  }

  /** Adds a leaf by its hash. */
  append(leafHash: Uint8Array): void {
    this.#size++
    let hash = leafHash
    for (let level = 0; ; level++) {
      const open = this.#at(level, 0)
      open.append(hash)
      if (open.frontier.size < fullTileWidth) return
      hash = open.frontier.root()
      this.#full.push(open.take(level))
      open.next()
    }
  }

  root(): Uint8Array {
    return rootOver(this.#open.map(({ frontier }) => frontier))
  }

  /** The root that the tree would have with leaves of these hashes added. */
  rootWith(leafHashes: readonly Uint8Array[]): Uint8Array {
    const levels = this.#open.map(({ frontier }) => frontier.copy())
    for (const leafHash of leafHashes) {
      let hash = leafHash
      for (let level = 0; ; level++) {
        const frontier = (levels[level] ??= new Frontier())
        frontier.append(hash)
        if (frontier.size < fullTileWidth) break
        hash = frontier.root()
        levels[level] = new Frontier()
      }
    }
    return rootOver(levels)
  }

  /** The tiles of hashes, full ones and those of this size, that are new since the last call. */
  takeTiles(): TileFile[] {
    const taken = this.#full
    this.#full = []
    this.#open.forEach((open, level) => {
      if (!open.isTaken) taken.push(open.take(level))
    })
    return taken
  }

  #at(level: number, index: number): OpenTile {
    return (this.#open[level] ??= new OpenTile(index))
  }
}

/** The root over what is not in full tiles, by level. */
function rootOver(levels: readonly Frontier[]): Uint8Array {
  let hash: Uint8Array | undefined
  for (const frontier of levels) hash = frontier.joined(hash)
  return hash ?? emptyRoot
}

/** A reader of the hashes of a tree whose leaves are all at hand, as `tile-proofs.ts` takes it. */
export function hashesByLevel(leafHashes: readonly Uint8Array[]): TileHashes {
  const levels: (readonly Uint8Array[])[] = [leafHashes]
  for (let row = leafHashes; row.length >= fullTileWidth;) {
    const above: Uint8Array[] = []
    for (let start = 0; start + fullTileWidth <= row.length; start += fullTileWidth) {
      above.push(treeRoot(row.slice(start, start + fullTileWidth)))
    }
    levels.push(above)
    row = above
  }
  return (level, index) => must(levels[level]?.[index], 'the tree has this hash')
}

/** The place of a leaf of `roots.ts` among the leaves with these hashes. */
export function recordPlace(leafHashes: readonly Uint8Array[], index: number): RecordPlace {
  const count = leafHashes.length
  return { index, count, path: inclusionProof(index, count, hashesByLevel(leafHashes)) }
}

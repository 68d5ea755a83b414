// Reads a ledger out of its tiles, none of them trusted: entries, and proofs that show something where they lead to a root that
// is signed. Where the tiles come from is the source's matter.

import { must } from '../base/assert.ts'
import { equalBytes } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import {
  consistencyProof,
  consistencyTiles,
  inclusionProof,
  inclusionTiles,
  rootOf,
  rootTiles,
  type TileHashes,
} from './tile-proofs.ts'
import { entriesOfBundle, fullTileWidth, hashesOfTile, maxEntryBytes, type Tile, tileIn, tileName } from './tiles.ts'
import { hashBytes, leafHash, rootFromInclusion, type TreeHead } from './tree.ts'

/** Tiles of hashes that are held: a proof out of a tree takes at most two of each level. */
const heldTiles = 16

export interface TileSource {
  /** At most so many bytes; undefined where it has nothing of this name. Throws what reading throws. */
  read(name: string, mostBytes: number): Promise<Uint8Array | undefined>
  /** To throw where it should have something of this name. */
  lacks(name: string): Error
  /** To throw where what it has contradicts itself, or what was signed. */
  altered(reason: string): Error
}

/** All of it throws what its source throws. */
export class TileReader {
  readonly #source: TileSource
  readonly #bundleBytes: number
  /** By name. */
  readonly #held = new Map<string, Uint8Array[]>()

  /** No entry has more than `entryBytesMost`. */
  constructor(source: TileSource, entryBytesMost: number = maxEntryBytes) {
    this.#source = source
    this.#bundleBytes = fullTileWidth * (2 + entryBytesMost)
  }

  /** The entries of a tree of this size that are in its bundle with this number. */
  async entries(size: number, index: number): Promise<Uint8Array[]> {
    const tile = tileIn(size, 'entries', index)
    return tile === undefined ? [] : this.#decoded(tile, await this.tile(tile), entriesOfBundle)
  }

  /** The same, each of them in its place below the root of the head. */
  async provenEntries(head: TreeHead, index: number): Promise<Uint8Array[]> {
    const { size, root } = head
    const entries = await this.entries(size, index)
    const leaves = entries.map(leafHash)
    const [first] = leaves
    if (first === undefined) return []
    const start = index * fullTileWidth
    const isOwn = (level: Tile['level'], at: number): boolean => level === 0 && at === index
    const others = inclusionTiles(start, size).filter((tile) => !isOwn(tile.level, tile.index))
    const hashes = await this.#hashes(others, size)
    // What is beside the first entry in its bundle follows from the others.
    const path = inclusionProof(start, size, (level, at) => {
      const own = isOwn(level, Math.floor(at / fullTileWidth)) ? leaves[at % fullTileWidth] : undefined
      return own ?? hashes(level, at)
    })
    const found = rootFromInclusion(first, { index: start, size, path })
    if (found !== undefined && equalBytes(found, root)) return entries
    throw this.#source.altered(`the entries from ${start} on do not lead to the root that is signed`)
  }

  /** The proof that an entry is in the tree of `size` leaves, out of the tiles of the tree that it has grown to. */
  async inclusion(index: number, size: number, grown: number = size): Promise<Uint8Array[]> {
    return inclusionProof(index, size, await this.#hashes(inclusionTiles(index, size), grown))
  }

  /** The root of the first `size` leaves, one or more, out of the same. */
  async root(size: number, grown: number): Promise<Uint8Array> {
    return rootOf(size, await this.#hashes(rootTiles(size), grown))
  }

  /** The proof that the tree of `newer` leaves begins with those of that of `older`. */
  async consistency(older: number, newer: number): Promise<Uint8Array[]> {
    return consistencyProof(older, newer, await this.#hashes(consistencyTiles(older, newer), newer))
  }

  /** Its bytes. A tile that is not full may be there as the full one that it became. */
  async tile(tile: Tile): Promise<Uint8Array> {
    const { level, width } = tile
    const name = tileName(tile)
    const most = (hashes: number): number => (level === 'entries' ? this.#bundleBytes : hashes * hashBytes)
    const bytes = await this.#source.read(name, most(width))
    if (bytes !== undefined) return bytes
    const full = { ...tile, width: fullTileWidth }
    const whole = width === fullTileWidth ? undefined : await this.#source.read(tileName(full), most(fullTileWidth))
    if (whole === undefined) throw this.#source.lacks(name)
    if (level !== 'entries') return whole.subarray(0, width * hashBytes)
    const entries = this.#decoded(full, whole, entriesOfBundle).slice(0, width)
    return whole.subarray(
      0,
      entries.reduce((end, entry) => end + 2 + entry.length, 0),
    )
  }

  /** The hashes in these tiles, as wide as they are in a tree of this size. */
  async #hashes(tiles: readonly Tile[], size: number): Promise<TileHashes> {
    const read = await Promise.all(
      tiles.map(async ({ level, index }) => {
        const tile = must(tileIn(size, level, index), 'a larger tree has it, too')
        return [placeOf(level, index), await this.#hashesOf(tile)] as const
      }),
    )
    const found = new Map(read)
    return (level, at) => {
      const hash = found.get(placeOf(level, Math.floor(at / fullTileWidth)))?.[at % fullTileWidth]
      if (hash === undefined) throw this.#source.lacks(`a hash of level ${level}`)
      return hash
    }
  }

  async #hashesOf(tile: Tile): Promise<Uint8Array[]> {
    const name = tileName(tile)
    const hashes = this.#held.get(name) ?? this.#decoded(tile, await this.tile(tile), hashesOfTile)
    this.#held.delete(name)
    this.#held.set(name, hashes)
    const oldest = this.#held.keys().next().value
    if (this.#held.size > heldTiles && oldest !== undefined) this.#held.delete(oldest)
    return hashes
  }

  #decoded<T>(tile: Tile, bytes: Uint8Array, decode: (bytes: Uint8Array, width: number) => T): T {
    try {
      return decode(bytes, tile.width)
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      throw this.#source.altered(`${tileName(tile)} cannot be read: ${error.message}`)
    }
  }
}

function placeOf(level: Tile['level'], index: number): string {
  return `${level}/${index}`
}

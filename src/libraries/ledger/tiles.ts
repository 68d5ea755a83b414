// Tiles of a tree as `tlog-tiles` stores them: 256 hashes of one level in a file, and the entries in bundles of 256. Their names,
// which of them a growing tree makes, and their bytes. Source: https://c2sp.org/tlog-tiles

import { assert } from '../base/assert.ts'
import { concatBytes } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { hashBytes, isTreeSize } from './tree.ts'

/** Hashes of a full tile, entries of a full bundle. */
export const fullTileWidth = 256
/** Levels of the tree from one level of tiles to the next. */
export const tileLevelHeight = 8
/** An entry of a bundle has a length of 16 bits. */
export const maxEntryBytes = 65_535

/** A tile, or with level `entries` the bundle of entries below the tile of level 0 with the same index. */
export interface Tile {
  readonly level: number | 'entries'
  /** Number of the tile in its level. */
  readonly index: number
  /** Hashes or entries in it, 1 to 256; 256 is a full one. */
  readonly width: number
}

/** The name below the ledger's prefix: `tile/0/x001/x234/067`, with `.p/8` where it has only 8 hashes. */
export function tileName({ level, index, width }: Tile): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0')
  const path = groups.replace(/\d{3}(?=\d)/g, 'x$&/')
  return `tile/${level}/${path}${width === fullTileWidth ? '' : `.p/${width}`}`
}

const namePattern = /^tile\/(entries|0|[1-9]\d?)\/((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/

/** The tile of a name, or undefined where `tileName` makes no such name, or the index is beyond 2^53-1. */
export function parseTileName(name: string): Tile | undefined {
  const [, level = '', path = '', width] = namePattern.exec(name) ?? []
  if (level === '' || Number(level) > 63) return undefined
  const index = Number(path.replace(/[x/]/g, ''))
  const tile: Tile = {
    level: level === 'entries' ? level : Number(level),
    index,
    width: width === undefined ? fullTileWidth : Number(width),
  }
  return isTreeSize(index) && tileName(tile) === name ? tile : undefined
}

/** Hashes of a level of tiles in a tree of this size. */
function hashesAt(level: number, size: number): number {
  return Math.floor(size / fullTileWidth ** level)
}

/** The tile with this place as it is in a tree of this size, or undefined where that has nothing there. */
export function tileIn(size: number, level: Tile['level'], index: number): Tile | undefined {
  const left = hashesAt(level === 'entries' ? 0 : level, size) - index * fullTileWidth
  return left <= 0 ? undefined : { level, index, width: Math.min(left, fullTileWidth) }
}

/** The tiles and bundles, full and partial, that a tree of `to` leaves has and one of `from` has not; bundles first. */
export function grownTiles(from: number, to: number): Tile[] {
  assert(isTreeSize(from) && isTreeSize(to) && from <= to, 'a tree does not become smaller')
  const grown: Tile[] = []
  for (const level of ['entries', 0, 1, 2, 3, 4, 5, 6] as const) {
    const [old, now] = [from, to].map((size) => hashesAt(level === 'entries' ? 0 : level, size))
    if (old === undefined || now === undefined || old === now) continue
    for (let index = Math.floor(old / fullTileWidth); index * fullTileWidth < now; index++) {
      grown.push({ level, index, width: Math.min(now - index * fullTileWidth, fullTileWidth) })
    }
  }
  return grown
}

/** The hashes of a tile of this width. Throws DecodeError where the bytes are not as many. */
export function hashesOfTile(bytes: Uint8Array, width: number): Uint8Array[] {
  if (bytes.length !== width * hashBytes)
    throw new DecodeError('tile', `has ${bytes.length} bytes, not ${width} hashes`)
  return Array.from({ length: width }, (_, i) => bytes.subarray(i * hashBytes, (i + 1) * hashBytes))
}

/** The bytes of a bundle of entries, each with its length before it. */
export function entryBundle(entries: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = []
  for (const entry of entries) {
    assert(entry.length <= maxEntryBytes, 'an entry has at most 65,535 bytes')
    parts.push(Uint8Array.of(entry.length >> 8, entry.length & 255), entry)
  }
  return concatBytes(parts)
}

/** The entries of a bundle of this width. Throws DecodeError where the bytes are not just that. */
export function entriesOfBundle(bytes: Uint8Array, width: number): Uint8Array[] {
  const entries: Uint8Array[] = []
  let at = 0
  for (let i = 0; i < width; i++) {
    const start = at + 2
    const end = start + ((bytes[at] ?? 0) << 8) + (bytes[at + 1] ?? 0)
    if (end > bytes.length) throw new DecodeError('entry bundle', `ends within entry ${i} of ${width}`, at)
    entries.push(bytes.subarray(start, end))
    at = end
  }
  if (at < bytes.length) throw new DecodeError('entry bundle', `goes on after ${width} entries`, at)
  return entries
}

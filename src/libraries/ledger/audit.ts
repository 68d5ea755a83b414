// The auditor of a ledger: all entries in their order, the tree that follows from them, and entries held against the blocks that
// they are of. It reads by ports: what is served of the ledger (at an address, by a followed node), and what there is of a block.
// None of it is trusted.

import { equalBytes, toHex } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { hashPattern } from '../base/ids/identifiers.ts'
import { sha256 } from '../base/ids/native-crypto.ts'
import { type BlockEntry, blockTag, type Entry, noRoot, parseEntry, type StatementEntry } from './entry.ts'
import { blockSalt } from './secrets.ts'
import { parseStatement, type SignedStatement } from './statement.ts'
import { TileReader, type TileSource } from './tile-reader.ts'
import { TiledTree } from './tiled-tree.ts'
import { fullTileWidth, tileIn, tileName } from './tiles.ts'
import { checkConsistency, leafHash, type TreeHead } from './tree.ts'

/** A statement is a few hundred bytes; one that names engines of other kinds may be longer. */
const maxStatementBytes = 65_536
/** Bundles that are asked for ahead. */
const ahead = 6

/** What is served of a ledger: tiles, bundles of entries and statements by their names. */
export interface LedgerSource extends TileSource {
  /** To throw where an entry is of a kind that is not known here. */
  newer(index: number): Error
}

/** Where the entries are read, and how far it is. */
export interface Scan {
  readonly head: TreeHead
  /** Each entry, in order. */
  readonly each: (entry: Entry, index: number, bytes: Uint8Array) => void
  /** Called after each bundle, with how many there are up to there. */
  readonly onSize?: (size: number) => void
  /** A head that was seen before: the entries have to lead to it on the way. */
  readonly earlier?: TreeHead
  /** The tiles of hashes are read, too, and held against those that follow from the entries. */
  readonly isWithTiles?: boolean
}

/** All of it throws what its source throws. */
export class Auditor extends TileReader {
  readonly #source: LedgerSource

  constructor(source: LedgerSource, entryBytesMost?: number) {
    super(source, entryBytesMost)
    this.#source = source
  }

  /** The statement with this hash, which is an entry with this index, and its bytes. */
  async statement(
    { hash }: StatementEntry,
    index: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly statement: SignedStatement }> {
    const name = `statements/${toHex(hash)}`
    const bytes = await this.#source.read(name, maxStatementBytes)
    if (bytes === undefined) throw this.#source.lacks(name)
    if (!equalBytes(sha256(bytes), hash)) throw this.#source.altered(`${name} has another hash`)
    try {
      return { bytes, statement: parseStatement(bytes) }
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      throw this.#source.altered(`the statement that is entry ${index} is none: ${error.message}`)
    }
  }

  /** The first entry below a head. */
  async first({ size }: TreeHead): Promise<Entry | undefined> {
    const [bytes] = await this.entries(size, 0)
    return bytes && this.#entry(bytes, 0)
  }

  /** True where the entries of a tree go on from those of an older one. */
  async goesOn(older: TreeHead, newer: TreeHead): Promise<boolean> {
    const isSmaller = older.size > 0 && older.size < newer.size
    return checkConsistency(older, newer, isSmaller ? await this.consistency(older.size, newer.size) : [])
  }

  /** Reads all entries below a head, and throws where they do not lead to its root. Memory does not grow with the tree. */
  async scan({ head, each, onSize, earlier, isWithTiles }: Scan): Promise<void> {
    const tree = new TiledTree()
    for await (const entries of this.#bundles(head.size)) {
      for (const entry of entries) {
        each(this.#entry(entry, tree.size), tree.size, entry)
        tree.append(leafHash(entry))
        if (tree.size === earlier?.size && !equalBytes(tree.root(), earlier.root)) {
          const which = `its first ${tree.size} entries are others than those of the head that was seen before`
          throw this.#source.altered(which)
        }
      }
      const made = tree.takeTiles()
      if (isWithTiles === true) {
        const kept = made.filter(({ tile }) => tileIn(head.size, tile.level, tile.index)?.width === tile.width)
        await Promise.all(
          kept.map(async ({ tile, bytes }) => {
            if (equalBytes(await this.tile(tile), bytes)) return
            throw this.#source.altered(`${tileName(tile)} does not follow from the entries`)
          }),
        )
      }
      onSize?.(tree.size)
    }
    if (!equalBytes(tree.root(), head.root))
      throw this.#source.altered('the entries do not lead to the root that is signed')
  }

  async *#bundles(size: number): AsyncGenerator<Uint8Array[]> {
    const waiting: Promise<Uint8Array[]>[] = []
    const count = Math.ceil(size / fullTileWidth)
    for (let next = 0, at = 0; at < count; at++) {
      for (; next < count && next < at + ahead; next++) {
        const bundle = this.entries(size, next)
        // Where an earlier one fails, nobody waits for this one.
        bundle.catch(() => {})
        waiting.push(bundle)
      }
      yield (await waiting.shift()) ?? []
    }
  }

  #entry(bytes: Uint8Array, index: number): Entry {
    try {
      const entry = parseEntry(bytes)
      if (entry.kind !== 'newer') return entry
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      throw this.#source.altered(`entry ${index} is none: ${error.message}`)
    }
    throw this.#source.newer(index)
  }
}

/** What an entry says of its block, or the first bytes of each. */
export type EntryOfBlock = Pick<BlockEntry, 'blockTag' | 'batchRoot' | 'rowRoot'>

/** What there is of a block: `noRoot` where it has no such root, undefined where something that it takes is not to be had. */
export interface AuditedBlock {
  readonly hash: string
  readonly secret: Uint8Array
  batches(): Promise<Uint8Array | undefined>
  rows(): Promise<Uint8Array | undefined>
}

/** What is wrong: a sentence. `none`: the entry has no roots. `unread`: not both of them could be recomputed. */
export type EntryVerdict = 'good' | 'none' | 'unread' | 'another block' | { readonly about: string }

/** True where the entry is of the block with this hash. */
export function isOfBlock(
  { blockTag: tag }: EntryOfBlock,
  { hash, secret }: Pick<AuditedBlock, 'hash' | 'secret'>,
): boolean {
  return hashPattern.test(hash) && isOf(blockTag(blockSalt(secret), hash), tag)
}

/** Holds an entry against its block: the tag, the root of batches, the root of rows. Roots that it has not are no promise. */
export async function judgeEntry(entry: EntryOfBlock, block: AuditedBlock): Promise<EntryVerdict> {
  if (!isOfBlock(entry, block)) return 'another block'
  const { batchRoot, rowRoot } = entry
  const [hasBatches, hasRows] = [batchRoot, rowRoot].map((root) => !isOf(noRoot, root))
  if (hasBatches !== true && hasRows !== true) return 'none'
  const batches = hasBatches === true ? await block.batches() : batchRoot
  if (batches !== undefined && !isOf(batches, batchRoot))
    return { about: 'the root of batches is not that of the batches of the block' }
  const rows = hasRows === true ? await block.rows() : rowRoot
  if (rows !== undefined && !isOf(rows, rowRoot))
    return { about: 'the root of rows is not that of the rows of the block' }
  return batches === undefined || rows === undefined ? 'unread' : 'good'
}

function isOf(whole: Uint8Array, kept: Uint8Array): boolean {
  return equalBytes(whole.subarray(0, kept.length), kept)
}

// A ledger as anybody may read it: the head, the tiles and the statements under one address, none of them trusted. Each is read
// within bounds, without redirects and without a token; what is read of entries is held against the root of a signed head.

import { equalBytes, toHex } from '../libraries/base/bytes.ts'
import { BodyTooLong, boundedPieces } from '../libraries/base/bounded-body.ts'
import { DecodeError } from '../libraries/base/errors.ts'
import { sha256 } from '../libraries/base/ids/native-crypto.ts'
import { type Entry, parseEntry, type StatementEntry } from '../libraries/ledger/entry.ts'
import { maxNoteBytes } from '../libraries/ledger/note.ts'
import { parseStatement, type SignedStatement } from '../libraries/ledger/statement.ts'
import { TileReader, type TileSource } from '../libraries/ledger/tile-reader.ts'
import { TiledTree } from '../libraries/ledger/tiled-tree.ts'
import { fullTileWidth, tileIn, tileName } from '../libraries/ledger/tiles.ts'
import { checkConsistency, leafHash, type TreeHead } from '../libraries/ledger/tree.ts'
import { withRetries } from './client.ts'
import { CommandFailure, exitCodes } from './failure.ts'

const answerMs = 30_000
const retries = 2
/** A statement is a few hundred bytes; one that names engines of other kinds may be longer. */
const maxStatementBytes = 65_536
/** Bundles that are asked for ahead. */
const ahead = 6

/** Where the entries are read, and how far it is. */
export interface Scan {
  readonly head: TreeHead
  /** Each entry, in order. */
  readonly each: (entry: Entry, index: number, bytes: Uint8Array) => void
  /** Told after each bundle, with how many there are up to there. */
  readonly onSize?: (size: number) => void
  /** A head that was seen before: the entries have to lead to it on the way. */
  readonly earlier?: TreeHead
  /** The tiles of hashes are read, too, and held against those that follow from the entries. */
  readonly isWithTiles?: boolean
}

export class LedgerTiles implements TileSource {
  /** Without a slash at its end. */
  readonly address: string
  readonly #reader = new TileReader(this)

  constructor(address: string) {
    this.address = address.replace(/\/+$/, '')
  }

  /** The signed head, a note. Throws CommandFailure, as all here: `notJudged` where no head was ever shown. */
  async head(): Promise<Uint8Array> {
    const bytes = await this.read('checkpoint', maxNoteBytes)
    if (bytes !== undefined) return bytes
    throw new CommandFailure(exitCodes.notJudged, `The ledger at ${this.address} has shown no head.`)
  }

  /** The statement with this hash, which is an entry with this index, and its bytes. */
  async statement(
    { hash }: StatementEntry,
    index: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly statement: SignedStatement }> {
    const name = `statements/${toHex(hash)}`
    const bytes = await this.#there(name, maxStatementBytes)
    if (!equalBytes(sha256(bytes), hash)) throw this.altered(`${name} has another hash`)
    try {
      return { bytes, statement: parseStatement(bytes) }
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      throw this.altered(`the statement that is entry ${index} is none: ${error.message}`)
    }
  }

  /** The first entry below a head. */
  async first({ size }: TreeHead): Promise<Entry | undefined> {
    const [bytes] = await this.#reader.entries(size, 0)
    return bytes && this.#entry(bytes, 0)
  }

  /** The inclusion proof of an entry. It shows something where it leads to a root that is signed. */
  async inclusion(index: number, size: number): Promise<Uint8Array[]> {
    return await this.#reader.inclusion(index, size)
  }

  /** True where the entries of a tree go on from those of an older one. */
  async goesOn(older: TreeHead, newer: TreeHead): Promise<boolean> {
    const isSmaller = older.size > 0 && older.size < newer.size
    return checkConsistency(older, newer, isSmaller ? await this.#reader.consistency(older.size, newer.size) : [])
  }

  /** Reads all entries below a head, and throws where they do not lead to its root. Memory does not grow with the tree. */
  async scan({ head, each, onSize, earlier, isWithTiles }: Scan): Promise<void> {
    const tree = new TiledTree()
    for await (const entries of this.#bundles(head.size)) {
      for (const entry of entries) {
        each(this.#entry(entry, tree.size), tree.size, entry)
        tree.append(leafHash(entry))
        if (tree.size === earlier?.size && !equalBytes(tree.root(), earlier.root)) {
          throw this.altered(`its first ${tree.size} entries are others than those of the head that was seen before`)
        }
      }
      const made = tree.takeTiles()
      if (isWithTiles === true) {
        const kept = made.filter(({ tile }) => tileIn(head.size, tile.level, tile.index)?.width === tile.width)
        await Promise.all(
          kept.map(async ({ tile, bytes }) => {
            const told = await this.#reader.tile(tile)
            if (!equalBytes(told, bytes)) throw this.altered(`${tileName(tile)} does not follow from the entries`)
          }),
        )
      }
      onSize?.(tree.size)
    }
    if (!equalBytes(tree.root(), head.root)) throw this.altered('the entries do not lead to the root that is signed')
  }

  async *#bundles(size: number): AsyncGenerator<Uint8Array[]> {
    const waiting: Promise<Uint8Array[]>[] = []
    const count = Math.ceil(size / fullTileWidth)
    for (let next = 0, at = 0; at < count; at++) {
      for (; next < count && next < at + ahead; next++) {
        const bundle = this.#reader.entries(size, next)
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
      throw this.altered(`entry ${index} is none: ${error.message}`)
    }
    const message = `Entry ${index} is of a kind that this version does not know: the ledger is newer.`
    throw new CommandFailure(exitCodes.verificationImpossible, message)
  }

  async #there(name: string, mostBytes: number): Promise<Uint8Array> {
    const bytes = await this.read(name, mostBytes)
    if (bytes === undefined) throw this.lacks(name)
    return bytes
  }

  /** Undefined for 404. */
  async read(name: string, mostBytes: number): Promise<Uint8Array | undefined> {
    return await withRetries(async () => await this.#readOnce(name, mostBytes), {
      retries,
      reconnect: false,
      onRetry: () => {},
    })
  }

  async #readOnce(name: string, mostBytes: number): Promise<Uint8Array | undefined> {
    const url = `${this.address}/${name}`
    try {
      const headers = { 'user-agent': 'proofstream-cli' }
      const answer = await fetch(url, { redirect: 'error', headers, signal: AbortSignal.timeout(answerMs) })
      if (answer.status !== 200) await answer.body?.cancel()
      if (answer.status === 404) return undefined
      if (answer.status !== 200) throw refused(url, answer.status)
      const pieces: Uint8Array[] = []
      for await (const piece of boundedPieces(answer.body, mostBytes)) pieces.push(piece)
      return Buffer.concat(pieces)
    } catch (error) {
      if (error instanceof CommandFailure) throw error
      if (error instanceof BodyTooLong) throw this.altered(`${name} is longer than ${mostBytes} bytes`)
      const reason = error instanceof Error ? reasonOf(error) : String(error)
      throw new CommandFailure(exitCodes.unreachable, `${url} cannot be read: ${reason}.`, { cause: error })
    }
  }

  lacks(name: string): CommandFailure {
    return new CommandFailure(exitCodes.verificationImpossible, `The ledger at ${this.address} lacks ${name}.`)
  }

  /** What is served contradicts itself, or what was signed. */
  altered(reason: string): CommandFailure {
    return new CommandFailure(
      exitCodes.verificationFailed,
      `The ledger at ${this.address} is not to be trusted: ${reason}.`,
    )
  }
}

function refused(url: string, status: number): CommandFailure {
  const retryable = status === 429 || status >= 500
  const code = retryable ? exitCodes.unreachable : exitCodes.verificationImpossible
  return new CommandFailure(code, `${url} was answered with ${status}.`, { retryable })
}

/** Fetch says what went wrong in the cause. */
function reasonOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message
}

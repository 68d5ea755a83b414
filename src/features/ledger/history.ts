// What a keeper knows of its ledger: the tree, the number of the next batch, and of each dataset which block is entered next.
// Everything follows from the batches in their order, so two keepers that took in the same ones know the same. Pure.

import { base64Text } from '../../libraries/base/base64.ts'
import { toHex } from '../../libraries/base/bytes.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import { parseEntry } from '../../libraries/ledger/entry.ts'
import { type TileFile, TiledTree } from '../../libraries/ledger/tiled-tree.ts'
import { entryBundle, fullTileWidth, type Tile } from '../../libraries/ledger/tiles.ts'
import { leafHash, type TreeHead } from '../../libraries/ledger/tree.ts'
import { type BatchRecord, entriesOf, type StateRecord, storedTree } from './records.ts'

export class History {
  #tree: TiledTree
  /** Entries of the bundle that is not full. */
  #bundle: Uint8Array[]
  #batches: number
  #statement: string
  readonly #next: Map<string, number>

  private constructor(batches: number, tree: TiledTree, bundle: Uint8Array[], state?: StateRecord) {
    this.#batches = batches
    this.#tree = tree
    this.#bundle = bundle
    this.#statement = state?.statement ?? ''
    this.#next = new Map(state?.next.map(({ tag, sequence }) => [tag, sequence]))
  }

  /** Of a ledger without a batch. */
  static empty(): History {
    return new History(0, new TiledTree(), [])
  }

  /**
   * As it was before batch `batches`: `tiles` and `bundle` are what the store has of the tree of that size. Throws DecodeError
   * where these are of another.
   */
  static from(batches: number, state: StateRecord, read: (tile: Tile) => Uint8Array, bundle: Uint8Array[]): History {
    return new History(batches, TiledTree.from(state.tree.size, read), bundle, state)
  }

  /** Number of the next batch. */
  get batches(): number {
    return this.#batches
  }

  /** Hash of the last statement in hex; empty before the first. */
  get statement(): string {
    return this.#statement
  }

  get head(): TreeHead {
    return { size: this.#tree.size, root: this.#tree.root() }
  }

  /** Sequence of the next block to enter of the dataset with this tag, in hex. */
  nextOf(tag: string): number {
    return this.#next.get(tag) ?? 0
  }

  /** The record of a batch with these entries, one or more. */
  propose(entries: readonly Uint8Array[]): BatchRecord {
    const { head } = this
    const root = this.#tree.rootWith(entries.map(leafHash))
    return {
      from: storedTree(head),
      to: storedTree({ size: head.size + entries.length, root }),
      entries: entries.map(base64Text),
    }
  }

  /**
   * Takes in the next batch; the bundles and tiles that the ledger has after it and had not before, bundles first. Throws
   * HaltError `LedgerBroken` where the batch does not follow, and then has changed nothing.
   */
  takeIn(batch: BatchRecord): readonly TileFile[] {
    const entries = entriesOf(batch)
    const expected = this.propose(entries)
    const { from, to } = expected
    if (batch.from.size !== from.size || batch.from.root !== from.root || batch.to.root !== to.root) {
      throw new HaltError('ChainBroken', `batch ${this.#batches} of the ledger does not follow from those before it`)
    }
    const next = this.#nextAfter(entries)
    const bundles = this.#addToBundles(entries)
    for (const entry of entries) this.#tree.append(leafHash(entry))
    for (const [tag, sequence] of next.sequences) this.#next.set(tag, sequence)
    this.#statement = next.statement
    this.#batches++
    return [...bundles, ...this.#tree.takeTiles()]
  }

  /** What is stored, so that a start need not read all batches. */
  state(): StateRecord {
    const next = [...this.#next].map(([tag, sequence]) => ({ tag, sequence }))
    return {
      tree: storedTree(this.head),
      statement: this.#statement,
      next: next.sort((a, b) => (a.tag < b.tag ? -1 : 1)),
    }
  }

  #nextAfter(entries: readonly Uint8Array[]): { sequences: Map<string, number>; statement: string } {
    const sequences = new Map<string, number>()
    let statement = this.#statement
    for (const [at, bytes] of entries.entries()) {
      const entry = parseEntry(bytes)
      if (entry.kind === 'newer') throw new HaltError('ChainBroken', 'the ledger has entries of a newer release')
      if (entry.kind === 'statement') {
        statement = toHex(entry.hash)
        continue
      }
      const tag = toHex(entry.datasetTag)
      const expected = sequences.get(tag) ?? this.nextOf(tag)
      if (entry.sequence !== expected) {
        throw new HaltError(
          'ChainBroken',
          `entry ${at} of batch ${this.#batches} of the ledger is of block ${entry.sequence}, not ${expected}`,
        )
      }
      sequences.set(tag, expected + 1)
    }
    return { sequences, statement }
  }

  /** The bundles that these entries fill or begin. */
  #addToBundles(entries: readonly Uint8Array[]): TileFile[] {
    const files: TileFile[] = []
    let index = Math.floor(this.#tree.size / fullTileWidth)
    for (let at = 0; at < entries.length; index++) {
      const taken = entries.slice(at, at + fullTileWidth - this.#bundle.length)
      this.#bundle.push(...taken)
      at += taken.length
      const width = this.#bundle.length
      files.push({ tile: { level: 'entries', index, width }, bytes: entryBundle(this.#bundle) })
      if (width === fullTileWidth) this.#bundle = []
    }
    return files
  }
}

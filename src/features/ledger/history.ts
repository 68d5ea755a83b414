// What a keeper knows of its ledger: the tree, the number of the next batch, and of each dataset which block is entered next.
// Everything follows from the batches in their order, so two keepers that took in the same ones know the same. Pure.

import { base64Text } from '../../libraries/base/base64.ts'
import { toHex } from '../../libraries/base/bytes.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import { parseEntry } from '../../libraries/ledger/entry.ts'
import { type TileFile, TiledTree } from '../../libraries/ledger/tiled-tree.ts'
import { entryBundle, fullTileWidth, type Tile } from '../../libraries/ledger/tiles.ts'
import { leafHash, type TreeHead } from '../../libraries/ledger/tree.ts'
import { type BatchRecord, entriesOf, mostStatements, placesPerGroup, type StateRecord, storedTree } from './records.ts'

/** Where the entries of 64 blocks of a dataset are in the tree. */
export interface PlaceGroup {
  /** The dataset's tag in hex. */
  readonly tag: string
  readonly group: number
  readonly indexes: readonly number[]
}

/** What the ledger has after a batch and had not before. */
export interface Growth {
  /** Bundles first. */
  readonly tiles: readonly TileFile[]
  readonly places: readonly PlaceGroup[]
}

/** How far a dataset is entered. */
interface Entered {
  /** Sequence of its next block. */
  readonly sequence: number
  /** Indexes of its last entries, those that fill no group yet. */
  readonly places: readonly number[]
}

export class History {
  #tree: TiledTree
  /** Entries of the bundle that is not full. */
  #bundle: Uint8Array[]
  #batches: number
  #statements: StateRecord['statements']
  readonly #entered: Map<string, Entered>

  private constructor(batches: number, tree: TiledTree, bundle: Uint8Array[], state?: StateRecord) {
    this.#batches = batches
    this.#tree = tree
    this.#bundle = bundle
    this.#statements = state?.statements ?? []
    this.#entered = new Map(state?.next.map(({ tag, ...entered }) => [tag, entered]))
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
    return this.#statements.at(-1)?.hash ?? ''
  }

  /** Index of the entry of one of the last statements, by its hash in hex. */
  placeOfStatement(hash: string): number | undefined {
    return this.#statements.find((one) => one.hash === hash)?.index
  }

  get head(): TreeHead {
    return { size: this.#tree.size, root: this.#tree.root() }
  }

  /** Sequence of the next block to enter of the dataset with this tag, in hex. */
  nextOf(tag: string): number {
    return this.#entered.get(tag)?.sequence ?? 0
  }

  /** Index of the entry of a block, where that fills no group of places yet. */
  placeOf(tag: string, sequence: number): number | undefined {
    const fromEnd = sequence - this.nextOf(tag)
    return fromEnd < 0 ? this.#entered.get(tag)?.places.at(fromEnd) : undefined
  }

  /** The record of a batch with these entries, one or more. Throws HaltError `ChainBroken` where they are not the next ones. */
  propose(entries: readonly Uint8Array[]): BatchRecord {
    this.#nextAfter(entries)
    const { head } = this
    const root = this.#tree.rootWith(entries.map(leafHash))
    return {
      from: storedTree(head),
      to: storedTree({ size: head.size + entries.length, root }),
      entries: entries.map(base64Text),
    }
  }

  /** Takes in the next batch. Throws HaltError `ChainBroken` where it does not follow, and then has changed nothing. */
  takeIn(batch: BatchRecord): Growth {
    const entries = entriesOf(batch)
    const expected = this.propose(entries)
    const { from, to } = expected
    // mutant: a ledger goes on that does not follow from itself
    if (batch.from.size !== from.size || batch.from.root !== from.root || batch.to.root !== to.root) {
      throw new HaltError('ChainBroken', `batch ${this.#batches} of the ledger does not follow from those before it`)
    }
    const next = this.#nextAfter(entries)
    const bundles = this.#addToBundles(entries)
    for (const entry of entries) this.#tree.append(leafHash(entry))
    this.#statements = next.statements.slice(-mostStatements)
    this.#batches++
    return { tiles: [...bundles, ...this.#tree.takeTiles()], places: this.#place(next.places) }
  }

  /** What is stored, so that a start need not read all batches. */
  state(): StateRecord {
    const next = [...this.#entered].map(([tag, { sequence, places }]) => ({ tag, sequence, places: [...places] }))
    return {
      tree: storedTree(this.head),
      statements: this.#statements,
      next: next.sort((a, b) => (a.tag < b.tag ? -1 : 1)),
    }
  }

  /** What follows from entries: indexes of blocks by the tags of their datasets, and the statements. */
  #nextAfter(entries: readonly Uint8Array[]): { places: Map<string, number[]>; statements: StateRecord['statements'] } {
    const places = new Map<string, number[]>()
    const statements = [...this.#statements]
    for (const [at, bytes] of entries.entries()) {
      const entry = parseEntry(bytes)
      if (entry.kind === 'newer') throw new HaltError('ChainBroken', 'the ledger has entries of a newer release')
      if (entry.kind === 'statement') {
        statements.push({ hash: toHex(entry.hash), index: this.#tree.size + at })
        continue
      }
      const tag = toHex(entry.datasetTag)
      const added = places.get(tag) ?? []
      const expected = this.nextOf(tag) + added.length
      if (entry.sequence !== expected) {
        throw new HaltError(
          'ChainBroken',
          `entry ${at} of batch ${this.#batches} of the ledger is of block ${entry.sequence}, not ${expected}`,
        )
      }
      added.push(this.#tree.size + at)
      places.set(tag, added)
    }
    return { places, statements }
  }

  /** Notes where entries are; the groups of places that are full now. */
  #place(added: ReadonlyMap<string, readonly number[]>): PlaceGroup[] {
    const groups: PlaceGroup[] = []
    for (const [tag, indexes] of added) {
      const { sequence = 0, places = [] } = this.#entered.get(tag) ?? {}
      const open = [...places, ...indexes]
      let group = (sequence - places.length) / placesPerGroup
      while (open.length >= placesPerGroup)
        groups.push({ tag, group: group++, indexes: open.splice(0, placesPerGroup) })
      this.#entered.set(tag, { sequence: sequence + indexes.length, places: open })
    }
    return groups
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

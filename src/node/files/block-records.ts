// The batches and the rows of a block as leaves of the roots in its entry (libraries/ledger/roots.ts). Recomputed from what is
// committed, by the keeper and for a proof: the same block gives the same leaves at any time.

import { must } from '../../libraries/base/assert.ts'
import { concatBytes } from '../../libraries/base/bytes.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { defined } from '../../libraries/base/collections.ts'
import { DecodeError, NodeError } from '../../libraries/base/errors.ts'
import { FairQueue } from '../../libraries/base/fair-queue.ts'
import type { Hash } from '../../libraries/base/ids/identifiers.ts'
import { limitTable } from '../../libraries/base/limits.ts'
import { parseJson } from '../../libraries/base/json/json.ts'
import type { JsonObject, JsonValue } from '../../libraries/base/json/value.ts'
import type { AuditedBlock } from '../../libraries/ledger/audit.ts'
import { noRoot } from '../../libraries/ledger/entry.ts'
import { batchRecords, batchSalt, isBelow, recordLeaf, type RecordPlace } from '../../libraries/ledger/roots.ts'
import { fullTileWidth } from '../../libraries/ledger/tiles.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import { Checkpoints } from '../catalog/outcomes.ts'
import type { ChainBlock, SliceRef } from '../catalog/packed-blocks.ts'
import { placeIn, tileStart, type UpperTree, upperTree } from '../machine/work/record-tree.ts'
import type { WorkPool } from '../machine/work/work-pool.ts'
import { dataKey } from '../store/layout.ts'
import { readPieces } from '../store/load-block.ts'
import type { ObjectStore } from '../store/object-store.ts'

export interface RecordsDeps {
  readonly store: ObjectStore
  readonly work: Pick<WorkPool, 'run'>
}

/** A block of a chain and its secret. */
export interface OpenBlock {
  readonly chain: DatasetChain
  readonly block: ChainBlock
  readonly secret: Uint8Array
}

/** Members of the record of a batch: an id comes again after it was rejected. */
export type WantedBatch = Readonly<Record<'id' | 'bodyHash' | 'status', string>>

/** What is below a root. */
export interface Below {
  readonly root: Uint8Array
  /** The record that was asked for, and its place. */
  readonly shown?: { readonly place: RecordPlace; readonly record: JsonObject }
}

/** A piece is hashed in 2 ms. */
const pieceBytes = 128 * 1024
const leavesAtOnce = 1_000
/** Memory of upper levels: those of 64 million rows. */
export const treeBytesMost = 8 * 1024 * 1024
/** A tree takes that beside its hashes. */
const treeBytesLeast = 512
/** Proofs that wait, and the share of what others leave of them that one caller may have. */
export const mostProofs = 64
const { value: sharePercent } = limitTable.callerShare

type Waiter = { readonly key: readonly string[]; readonly begin: () => void }

export class BlockRecords {
  readonly #deps: RecordsDeps
  readonly #checkpoints: Checkpoints
  /** Upper levels of the trees of rows, by the hashes of their blocks, least recently used first. */
  readonly #trees = new Map<Hash, UpperTree>()
  #treeBytes = 0
  readonly #waiting = new FairQueue<Waiter>(mostProofs, sharePercent)
  #isProving = false

  constructor(deps: RecordsDeps) {
    this.#deps = deps
    this.#checkpoints = new Checkpoints(deps.store)
  }

  /**
   * What is over the batches of a block; shown is the one with these members. Undefined where it has none, or is of an
   * older release, which did not keep hashes of bodies. Throws HaltError `ChainBroken`.
   */
  async batches({ chain, block, secret }: OpenBlock, wanted?: WantedBatch): Promise<Below | undefined> {
    const hash = block.kind === 'AddData' ? await this.#checkpoints.hashOf(chain, block) : undefined
    if (hash === undefined) return undefined
    const records = batchRecords(await this.#checkpoints.read(chain, hash))
    if (records === undefined || records.length === 0) return undefined
    const hashes: Uint8Array[] = []
    for (const [index, record] of records.entries()) {
      hashes.push(recordLeaf(batchSalt(secret, index), record))
      if (hashes.length % leavesAtOnce === 0) await nextTurn()
    }
    const at = wanted === undefined ? -1 : records.findIndex((record) => isWanted(record, wanted))
    const tree = await upperTree(hashes)
    const { root } = tree
    if (at < 0) return { root }
    const tile = hashes.slice(tileStart(at), tileStart(at) + fullTileWidth)
    return { root, shown: { place: placeIn(tree, at, tile), record: objectOf(records[at]) } }
  }

  /** What an auditor holds its entry against. It throws as `batches` and `rows`. */
  audited(open: OpenBlock): AuditedBlock {
    return {
      hash: open.block.hash,
      secret: open.secret,
      batches: async () => (await this.batches(open))?.root ?? noRoot,
      rows: async () => (sliceOf(open) === undefined ? noRoot : (await this.rows(open))?.root),
    }
  }

  /**
   * What is over the rows of a block; shown is that with the offset `wanted`. Undefined where it has no rows, or values that
   * are printed in no one way. Throws HaltError `ChainBroken`, and as `WorkPool.run`.
   */
  async rows({ chain, block, secret }: OpenBlock, wanted?: number): Promise<Below | undefined> {
    const slice = sliceOf({ chain, block })
    if (slice === undefined) return undefined
    const { id, alias } = chain.name
    const { hash, start, sizeBytes } = slice
    const pieces: Uint8Array[] = []
    const object = { key: dataKey(id, hash), hash, sizeBytes, words: `slice ${hash} of ${alias}` }
    await readPieces(this.#deps.store, object, { pieceBytes, take: (piece) => void pieces.push(piece) })
    const known = this.#trees.get(block.hash)
    const settings = { secret, start, ...(wanted !== undefined && defined({ wanted, tree: known })) }
    try {
      // What is handed over is gone: the store may hold what it has given.
      const { tree, shown } = await this.#deps.work.run('rowLeaves', [concatBytes(pieces)], { settings })
      this.#keep(block.hash, tree)
      const { root } = tree
      if (shown === undefined) return { root }
      const { place, record, leaf } = shown
      return { root: isBelow(root, leaf, place) ? root : noRoot, shown: { place, record: objectOf(parseJson(record)) } }
    } catch (error) {
      if (error instanceof DecodeError) return undefined
      throw error
    }
  }

  /**
   * Proofs that strangers ask for are made one after the other, of each caller in turn: they take a core at most, and no thread
   * from bodies for long. Throws NodeError `Saturated` where too many wait, and what `work` throws.
   */
  async inTurn<T>(key: readonly string[], work: () => Promise<T>): Promise<T> {
    const noRoom = this.#waiting.noRoom(key)
    if (noRoom !== undefined) {
      const whose = noRoom === 'share' ? ' of this caller' : ''
      const details = { hint: 'Ask again in a moment.', retryAfterSeconds: 2 }
      throw new NodeError('Saturated', `Too many proofs of rows and batches${whose} wait.`, details)
    }
    await new Promise<void>((begin) => {
      this.#waiting.push(key, { key, begin })
      this.#next()
    })
    try {
      return await work()
    } finally {
      this.#isProving = false
      this.#next()
    }
  }

  #next(): void {
    const [next] = this.#isProving ? [] : this.#waiting.heads()
    if (next === undefined) return
    this.#isProving = true
    this.#waiting.take(next.key, next)
    next.begin()
  }

  /** Keeps the tree of a block for its next proof; the least recently used ones go. */
  #keep(hash: Hash, tree: UpperTree): void {
    const before = this.#trees.get(hash)
    this.#trees.delete(hash)
    this.#trees.set(hash, tree)
    this.#treeBytes += sizeOf(tree) - (before === undefined ? 0 : sizeOf(before))
    for (const [oldest, one] of this.#trees) {
      if (this.#treeBytes <= treeBytesMost) break
      this.#trees.delete(oldest)
      this.#treeBytes -= sizeOf(one)
    }
  }
}

function sizeOf({ tiles, rest }: UpperTree): number {
  return tiles.length + rest.length + treeBytesLeast
}

function sliceOf({ chain, block }: Pick<OpenBlock, 'chain' | 'block'>): SliceRef | undefined {
  const slice = chain.slices.at(block.sliceCount - 1)
  return slice?.sequence === block.sequence ? slice : undefined
}

function isWanted(record: JsonValue, wanted: WantedBatch): boolean {
  return Object.entries(wanted).every(([name, value]) => objectOf(record).get(name) === value)
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return must(value instanceof Map ? value : undefined, 'a record is an object')
}

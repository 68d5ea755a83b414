// The batches and the rows of a block as leaves of the roots in its entry (libraries/ledger/roots.ts). Recomputed from what is
// committed, by the keeper and for a proof: the same block gives the same leaves at any time.

import { must } from '../../libraries/base/assert.ts'
import { concatBytes } from '../../libraries/base/bytes.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import { parseJson } from '../../libraries/base/json/json.ts'
import type { JsonObject, JsonValue } from '../../libraries/base/json/value.ts'
import { noRoot } from '../../libraries/ledger/entry.ts'
import { batchRecords, batchSalt, type BlockRoots, recordLeaf, type RecordPlace } from '../../libraries/ledger/roots.ts'
import type { DatasetChain } from '../../node/catalog/dataset-chain.ts'
import { Checkpoints } from '../../node/catalog/outcomes.ts'
import type { ChainBlock, SliceRef } from '../../node/catalog/packed-blocks.ts'
import { recordTree } from '../../node/machine/work/record-tree.ts'
import type { WorkPool } from '../../node/machine/work/work-pool.ts'
import { dataKey } from '../../node/store/layout.ts'
import { readPieces } from '../../node/store/load-block.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'

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

export class BlockRecords {
  readonly #deps: RecordsDeps
  readonly #checkpoints: Checkpoints

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
    const { root, placeOf } = await recordTree(hashes)
    return at < 0 ? { root } : { root, shown: { place: placeOf(at), record: objectOf(records[at]) } }
  }

  /** Its roots, as a reader recomputes them. They throw as `batches` and `rows`. */
  rootsOf(open: OpenBlock): BlockRoots {
    return {
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
    const settings = { secret, start, ...(wanted !== undefined && { wanted }) }
    try {
      // What is handed over is gone: the store may hold what it has given.
      const { root, shown } = await this.#deps.work.run('rowLeaves', [concatBytes(pieces)], { settings })
      return { root, ...(shown && { shown: { place: shown.place, record: objectOf(parseJson(shown.record)) } }) }
    } catch (error) {
      if (error instanceof DecodeError) return undefined
      throw error
    }
  }
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

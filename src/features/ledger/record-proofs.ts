// What the proof of a batch or a row shows: its record, its salt, and its place below the root that the entry of its block has.

import { equalBytes } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { type BlockEntry, noRoot, parseEntry } from '../../libraries/ledger/entry.ts'
import { batchSalt, rowSalt } from '../../libraries/ledger/roots.ts'
import type { DatasetChain } from '../../node/catalog/dataset-chain.ts'
import type { ChainBlock } from '../../node/catalog/packed-blocks.ts'
import type { Receipt } from '../../node/gateway/receipts.ts'
import type { Never, Shown } from './answers.ts'
import type { Below, BlockRecords } from '../../node/files/block-records.ts'

/** Where the record is. */
export interface RecordsIn {
  readonly records: BlockRecords
  readonly chain: DatasetChain
  readonly block: ChainBlock
}

/** What the proof of a batch shows, which has this id and receipt. */
export function batchShown({ records, ...of }: RecordsIn, batchId: string, receipt: Receipt): Shown {
  return async ({ any, secret }) => {
    const { batchRoot } = blockEntry(any.entry)
    if (isNone(batchRoot)) return never('Its block has no root of batches: an older release has made or entered it.')
    const wanted = { id: batchId, bodyHash: receipt.bodyHash, status: receipt.status }
    const { shown } = demandRoot(await records.inTurn(() => records.batches({ ...of, secret }, wanted)), batchRoot)
    if (shown === undefined) return never('Its block has these records from another batch.')
    const { record, place } = shown
    return { ...any, kind: 'batch', record, salt: batchSalt(secret, place.index), ...place }
  }
}

/** What the proof of a row shows. */
export function rowShown({ records, ...of }: RecordsIn, offset: number): Shown {
  return async ({ any, secret }) => {
    const { rowRoot } = blockEntry(any.entry)
    if (isNone(rowRoot)) return noRows(of.chain)
    const { shown } = demandRoot(await records.inTurn(() => records.rows({ ...of, secret }, offset)), rowRoot)
    if (shown === undefined) return never('Its block has no such row.')
    return { ...any, kind: 'row', record: shown.record, salt: rowSalt(secret, offset), ...shown.place }
  }
}

function noRows({ name: { alias, proofs } }: DatasetChain): Never {
  const what = `The block of this row has no root of rows in the ledger`
  if (proofs === 'rows') return never(`${what}: it was entered before ${alias} had them, or has values of such types.`)
  return { ...never(`${what}.`), hint: 'PATCH the dataset with {"proofs": "rows"}: it counts for blocks to come.' }
}

/** The entry is of a block, since it was found as that. */
function blockEntry(bytes: Uint8Array): Pick<BlockEntry, 'batchRoot' | 'rowRoot'> {
  const entry = parseEntry(bytes)
  return entry.kind === 'block' ? entry : { batchRoot: noRoot, rowRoot: noRoot }
}

function isNone(root: Uint8Array): boolean {
  return equalBytes(root, noRoot)
}

/** Throws NodeError `StoreUnavailable` where what is stored gives another root. */
function demandRoot(below: Below | undefined, root: Uint8Array): Below {
  if (below !== undefined && equalBytes(below.root, root)) return below
  throw new NodeError('StoreUnavailable', 'The records of the block are not those of its entry in the ledger.')
}

export function never(why: string): Never {
  return { kind: 'never', why }
}

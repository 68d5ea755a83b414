// The root of the rows of a slice, as the entry of its block has it: for who audits a ledger from outside.

import { hashBytes } from '../libraries/ledger/tree.ts'
import { recordsRoot } from '../libraries/ledger/roots.ts'
import { rowLeaves, type RowLeavesOf } from './machine/work/row-leaves.ts'

/** Throws DecodeError for a slice that cannot be read. */
export async function rowRoot(slice: Uint8Array, of: RowLeavesOf): Promise<Uint8Array> {
  const { hashes } = await rowLeaves(slice, of)
  const count = hashes.length / hashBytes
  return recordsRoot(Array.from({ length: count }, (_, at) => hashes.subarray(at * hashBytes, (at + 1) * hashBytes)))
}

// The root of the rows of a slice, as the entry of its block has it, for an auditor of a ledger.

import { rowLeaves, type RowLeavesOf } from '../node/machine/work/row-leaves.ts'

/** Throws DecodeError for a slice that cannot be read. */
export async function rowRoot(slice: Uint8Array, of: RowLeavesOf): Promise<Uint8Array> {
  return (await rowLeaves(slice, of)).tree.root
}

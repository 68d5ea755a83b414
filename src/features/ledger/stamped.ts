// The first stamped head that holds an entry, with the proof that it does: what binds the time of the stamp to the entry.

import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import type { HeadTimestamp } from '../../libraries/ledger/proof-document.ts'
import { ledgerStampKey } from '../../node/store/layout.ts'
import type { LedgerTree } from './inclusion.ts'
import { mostStamps } from './records.ts'
import { newestStamps, stampedSizes } from './stamps.ts'
import { storedInclusion } from './stored-tiles.ts'

/** Partial tiles go when a head moves on. */
const mostTries = 3

/** Undefined where no stamped head has the entry with this index yet. Throws DecodeError where what is stored is damaged. */
export async function stampedAt(tree: LedgerTree, index: number): Promise<HeadTimestamp | undefined> {
  const { store, ledger } = tree
  const size = await firstSizeBeyond(tree, index)
  if (size === undefined) return undefined
  const head = await store.get(ledgerStampKey(ledger, size, 'head'))
  const token = await store.get(ledgerStampKey(ledger, size, 'tsr'))
  if (head === undefined || token === undefined) return undefined
  for (let tries = 1; ; tries++) {
    const newest = (await tree.heads()).reduce((most, one) => Math.max(most, one.size), 0)
    // The published head may for a moment be an older one.
    if (newest < size) return undefined
    try {
      return { size, head: decodeUtf8(head), hashes: await storedInclusion(tree, index, { size, newest }), token }
    } catch (error) {
      if (!(error instanceof DecodeError) || tries === mostTries) throw error
    }
  }
}

/** All sizes are listed only for entries that are older than those that are noted. */
async function firstSizeBeyond(tree: LedgerTree, index: number): Promise<number | undefined> {
  const noted = (await newestStamps(tree.store, tree.ledger)).map(({ size }) => size)
  if ((noted.at(-1) ?? 0) <= index) return undefined
  const isNoted = noted.length < mostStamps || (noted[0] ?? 0) <= index
  return (isNoted ? noted : await stampedSizes(tree)).find((size) => size > index)
}

// Which heads of a ledger have a time stamp, out of the store. All are found by their names; the newest are listed with their times.

import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import { timeText } from '../../libraries/base/clock.ts'
import { DecodeError, decoded } from '../../libraries/base/errors.ts'
import { parseNote } from '../../libraries/ledger/note.ts'
import type { HeadTimestamp } from '../../libraries/ledger/proof-document.ts'
import { ledgerObjectKey, ledgerStampKey, ledgerStampsKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { type LedgerTree, mostTries } from './inclusion.ts'
import { mostStamps, type StampRecord, stampsCodec } from './records.ts'
import { storedInclusion, type TreeOf } from './stored-tiles.ts'

/** The newest, smallest size first; none where the record is damaged, which the next time stamp writes anew. */
export async function newestStamps({ get }: Pick<ObjectStore, 'get'>, ledger: number): Promise<readonly StampRecord[]> {
  const bytes = await get(ledgerStampsKey(ledger))
  return bytes === undefined ? [] : (decoded(() => stampsCodec.decode(bytes)) ?? [])
}

/** Writes that record anew, from what is stored. */
export async function noteStamps(of: TreeOf): Promise<void> {
  const { store, ledger } = of
  const known = new Map((await newestStamps(store, ledger)).map((stamp) => [stamp.size, stamp]))
  const stamps: StampRecord[] = []
  for (const size of (await stampedSizes(of)).slice(-mostStamps)) {
    const stamp = known.get(size) ?? (await readStamp(of, size))
    if (stamp !== undefined) stamps.push(stamp)
  }
  await store.replace(ledgerStampsKey(ledger), stampsCodec.encode(stamps))
}

/** Sizes of all heads with a time stamp, smallest first. */
export async function stampedSizes({ store, ledger }: TreeOf): Promise<readonly number[]> {
  const names = await store.list(ledgerObjectKey(ledger, 'timestamps'))
  const sizes = names.flatMap((name) => /^([1-9]\d{0,15})\.tsr$/.exec(name)?.[1] ?? [])
  return sizes.map(Number).sort((a, b) => a - b)
}

async function readStamp({ store, ledger }: TreeOf, size: number): Promise<StampRecord | undefined> {
  const [head, response] = await Promise.all([
    store.get(ledgerStampKey(ledger, size, 'head')),
    store.get(ledgerStampKey(ledger, size, 'tsr')),
  ])
  if (head === undefined || response === undefined) return undefined
  const { openTimestamp } = await import('../../libraries/ledger/timestamp-token.ts')
  return decoded(() => ({ size, at: timeText(openTimestamp(response, parseNote(head).text).atMs) }))
}

/** The first stamped head that holds an entry, with the proof that it does; undefined where no stamped head has the entry with this index yet. Throws DecodeError where what is stored is damaged. */
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

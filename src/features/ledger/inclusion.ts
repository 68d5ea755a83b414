// An entry of the ledger with the proof that it is there, out of the bundles and tiles in the store. Each of them goes on to be a
// part of the wider ones, so those of the newest head serve for older heads, too.

import { must } from '../../libraries/base/assert.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import type { Policy, Quorum } from '../../libraries/ledger/policy.ts'
import { entriesOfBundle, fullTileWidth, tileIn, tileName } from '../../libraries/ledger/tiles.ts'
import type { TlogProof } from '../../libraries/ledger/tlog-proof.ts'
import { ledgerObjectKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { ledgerRecord, newestLedger } from './ledgers.ts'
import { policyOf } from './policy-file.ts'
import { noteBytes, quorumOver, readHeads } from './published.ts'
import { needed, storedInclusion, type TreeOf } from './stored-tiles.ts'

/** A ledger of a store. */
export interface LedgerTree extends TreeOf {
  readonly origin: string
  /** The head that is shown, and the newest whose quorum is met. Throws DecodeError. */
  readonly heads: () => Promise<readonly ShownHead[]>
}

/** A head that is published. */
export interface ShownHead {
  readonly note: Uint8Array
  readonly size: number
  readonly quorum: Quorum
}

/** An entry, and the proof of it that lacks what its salts show. */
export interface Included {
  readonly entry: Uint8Array
  readonly proof: Omit<TlogProof, 'extra'>
  readonly quorum: Quorum
}

/** Partial tiles go when a head moves on. */
export const mostTries = 3

/**
 * The entry with this index: under the newest head whose quorum is met, where that has it, else under the newest. Undefined
 * where no head has it yet. Throws DecodeError where what is stored of the ledger is damaged.
 */
export async function includedAt(tree: LedgerTree, index: number): Promise<Included | undefined> {
  for (let tries = 1; ; tries++) {
    const heads = (await tree.heads()).filter(({ size }) => index < size).sort((a, b) => b.size - a.size)
    const [newest] = heads
    if (newest === undefined) return undefined
    const head = heads.find(({ quorum }) => quorum === 'met') ?? newest
    try {
      const hashes = await storedInclusion(tree, index, { size: head.size, newest: newest.size })
      const entry = await storedEntry(tree, index, newest.size)
      return { entry, proof: { index, hashes, head: head.note }, quorum: head.quorum }
    } catch (error) {
      if (!(error instanceof DecodeError) || tries === mostTries) throw error
    }
  }
}

async function storedEntry({ store, ledger }: LedgerTree, index: number, size: number): Promise<Uint8Array> {
  const tile = must(tileIn(size, 'entries', Math.floor(index / fullTileWidth)), 'the tree has the entry')
  const key = ledgerObjectKey(ledger, tileName(tile))
  return must(
    entriesOfBundle(await needed(store, key), tile.width)[index % fullTileWidth],
    'a bundle has the entries of its tree',
  )
}

/** The n-th, else the newest. Undefined where the store has none. Throws DecodeError where the record of it is damaged. */
export async function newestTree(
  store: ObjectStore,
  policy: Policy | undefined,
  number?: number,
): Promise<LedgerTree | undefined> {
  const newest = await newestLedger(store)
  const ledger = number ?? newest
  if (ledger === 0 || ledger > newest) return undefined
  const record = await ledgerRecord(store, ledger)
  if (record === undefined) throw new DecodeError('ledger origin', 'is damaged')
  const deps = { store, ledger, policy: policyOf(record.key, policy) }
  const heads: LedgerTree['heads'] = async () => {
    const { shown, met } = await readHeads(deps)
    return [shown, met]
      .filter((head) => head !== undefined)
      .map((head) => ({
        note: noteBytes(deps.policy, head),
        size: head.head.size,
        quorum: quorumOver(deps.policy, head),
      }))
  }
  return { store, ledger, origin: record.origin, heads }
}

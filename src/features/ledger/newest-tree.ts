// A ledger of a store, mostly the newest, as proofs are made of it: who it is, and the heads that it shows, with what the policy says of each.

import { DecodeError } from '../../libraries/base/errors.ts'
import type { Policy } from '../../libraries/ledger/policy.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import type { LedgerTree } from './inclusion.ts'
import { ledgerRecord, newestLedger } from './ledgers.ts'
import { policyOf } from './policy-file.ts'
import { noteBytes, quorumOver, readHeads } from './published.ts'

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

// The statements of a node in the store of its ledger: each is an object and an entry with its hash. The first entry is one,
// and another comes when one of its facts has changed, so also when a key of the node is retired.

import { toHex } from '../../libraries/base/bytes.ts'
import { DecodeError, NodeError } from '../../libraries/base/errors.ts'
import { canonicalText } from '../../libraries/base/json/canonical.ts'
import { fromPlain } from '../../libraries/base/json/json.ts'
import { entryBytes } from '../../libraries/ledger/entry.ts'
import { parseStatement, type Statement, statementBytes, statementEntry } from '../../libraries/ledger/statement.ts'
import type { NodeKey } from '../../libraries/proof/sign.ts'
import { ledgerObjectKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { listSigners } from '../../node/store/signers.ts'

/** What a statement says beside its time, its node and the keys that the node had. */
export type StatementFacts = Omit<Statement, 'time' | 'retired'>

/** The former keys of the nodes over this store, as statements have them. Throws NodeError `StoreUnavailable`. */
export async function retiredKeys(store: ObjectStore): Promise<Statement['retired']> {
  const signers = await listSigners(store).catch((cause: unknown) => {
    if (!(cause instanceof DecodeError)) throw cause
    throw new NodeError('StoreUnavailable', 'What the store has of retired keys is damaged.', { cause })
  })
  const keys = signers.flatMap(({ did, retired }) =>
    retired === undefined ? [] : [{ node: did, at: retired.at, why: retired.why }],
  )
  const text = ({ at, node }: (typeof keys)[number]): string => `${at} ${node}`
  return keys.sort((a, b) => (text(a) < text(b) ? -1 : 1))
}

/** Stores a statement of these facts; its entry. Durable when it resolves. */
export async function putStatement(
  store: ObjectStore,
  statement: Statement,
  { ledger, key }: { readonly ledger: number; readonly key: NodeKey },
): Promise<Uint8Array> {
  const bytes = statementBytes(statement, key)
  const entry = statementEntry(bytes)
  await store.put(ledgerObjectKey(ledger, `statements/${toHex(entry.hash)}`), bytes)
  return entryBytes(entry)
}

/** True when the statement with this hash says these facts of this node. Throws DecodeError where it is damaged. */
export async function saysFacts(
  store: ObjectStore,
  facts: Omit<Statement, 'time'> & { readonly node: string },
  { ledger, hash }: { readonly ledger: number; readonly hash: string },
): Promise<boolean> {
  const bytes = await store.get(ledgerObjectKey(ledger, `statements/${hash}`))
  if (bytes === undefined) return false
  const { time: _, ...said } = parseStatement(bytes)
  return canonicalText(fromPlain(said)) === canonicalText(fromPlain(facts))
}

// The statements of a node in the store of its ledger: each is an object and an entry with its hash. The first entry is one,
// and another comes when one of its facts has changed.

import { toHex } from '../../libraries/base/bytes.ts'
import { canonicalText } from '../../libraries/base/json/canonical.ts'
import { fromPlain } from '../../libraries/base/json/json.ts'
import { entryBytes } from '../../libraries/ledger/entry.ts'
import { parseStatement, type Statement, statementBytes, statementEntry } from '../../libraries/ledger/statement.ts'
import type { NodeKey } from '../../libraries/proof/sign.ts'
import { ledgerObjectKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'

/** What a statement says beside its time and its node. */
export type StatementFacts = Omit<Statement, 'time'>

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
  facts: StatementFacts & { readonly node: string },
  { ledger, hash }: { readonly ledger: number; readonly hash: string },
): Promise<boolean> {
  const bytes = await store.get(ledgerObjectKey(ledger, `statements/${hash}`))
  if (bytes === undefined) return false
  const { time: _, ...said } = parseStatement(bytes)
  return canonicalText(fromPlain(said)) === canonicalText(fromPlain(facts))
}

// What the node says of itself in the ledger: which ledger, which key, which release. A statement is an object of the store
// and an entry with its hash; the first entry is one, and another comes when one of its facts has changed.

import { toHex } from '../../libraries/base/bytes.ts'
import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { canonicalBytes } from '../../libraries/base/json/canonical.ts'
import { fromPlain, parseJson, toPlain } from '../../libraries/base/json/json.ts'
import { entryBytes } from '../../libraries/ledger/entry.ts'
import { type NodeKey, signDocument } from '../../libraries/proof/sign.ts'
import { ledgerObjectKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'

const domain = 'proofstream/statement/1'

/** What a statement says beside its time. */
export interface StatementFacts {
  readonly ledger: { readonly origin: string; readonly keys: readonly string[] }
  /** The DID of the key that signs answers. */
  readonly node: string
  readonly version: string
  readonly engines: readonly { readonly name: string; readonly version: string; readonly sha256: string }[]
}

/** Stores a statement of these facts; its entry. Durable when it resolves. */
export async function putStatement(
  store: ObjectStore,
  facts: StatementFacts,
  { ledger, key, time }: { readonly ledger: number; readonly key: NodeKey; readonly time: string },
): Promise<Uint8Array> {
  const document = { type: domain, ...facts, time }
  const bytes = canonicalBytes(fromPlain({ ...document, proof: signDocument(domain, document, key) }))
  const hash = sha256(bytes)
  await store.put(ledgerObjectKey(ledger, `statements/${toHex(hash)}`), bytes)
  return entryBytes({ kind: 'statement', hash })
}

/** True when the statement with this hash says these facts. */
export async function saysFacts(
  store: ObjectStore,
  facts: StatementFacts,
  { ledger, hash }: { readonly ledger: number; readonly hash: string },
): Promise<boolean> {
  const bytes = await store.get(ledgerObjectKey(ledger, `statements/${hash}`))
  if (bytes === undefined) return false
  const { type: _type, time: _time, proof: _proof, ...said } = toPlain(parseJson(bytes)) as Record<string, unknown> // as `putStatement` wrote it
  return toHex(sha256(canonicalBytes(fromPlain(said)))) === toHex(sha256(canonicalBytes(fromPlain(facts))))
}

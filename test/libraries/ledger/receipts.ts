// Signed receipts and refusals for the blocks of a small ledger, as a node makes them.

import { base64Text } from '../../../src/libraries/base/base64.ts'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../../src/libraries/base/json/value.ts'
import { parseEntry, promisedBytes } from '../../../src/libraries/ledger/entry.ts'
import { receiptDomain, refusalDomain, signDocument } from '../../../src/libraries/ledger/signed-document.ts'
import { generateNodeKey, type NodeKey } from '../../../src/libraries/proof/sign.ts'
import { origin } from './keys.ts'
import type { SmallLedger } from './proofs.ts'

export const nodeKey = generateNodeKey()

/** The receipt of the block at this index of the ledger; `entry` is promised in its place, `by` is RFC 3339. */
export function signedReceipt(
  ledger: SmallLedger,
  index: number,
  {
    by,
    entry = ledger.blocks[index]!.entry,
    key = nodeKey,
    more = {},
  }: { by?: string; entry?: Uint8Array; key?: NodeKey; more?: object },
): JsonObject {
  const { documents } = ledger.blocks[index]!
  const parsed = parseEntry(entry)
  if (parsed.kind !== 'block' || documents.block.kind !== 'block') throw new Error('no block')
  const promise = { ledger: origin, by, entry: base64Text(entry.subarray(0, promisedBytes)) }
  const receipt = {
    receiptId: 'R'.repeat(40),
    status: 'committed',
    dataset: { id: documents.block.dataset.id, alias: 'me/lab' },
    block: { hash: documents.block.block.hash, sequence: parsed.sequence },
    bodyHash: `f1220${'0'.repeat(64)}`,
    ...(by !== undefined && { promise }),
    ...more,
  }
  // An object becomes a JSON object.
  return signDocument(receiptDomain, fromPlain(receipt) as JsonObject, key)
}

export function signedRefusal(key: NodeKey = nodeKey): JsonObject {
  const dataset = { id: `did:odf:fed01${'0'.repeat(64)}`, alias: 'me/lab' }
  const time = '2026-05-28T20:26:40.000Z'
  const refusal = { dataset, bodyHash: `f1220${'0'.repeat(64)}`, kind: 'SchemaMismatch', errors: [], time }
  return signDocument(refusalDomain, fromPlain(refusal) as JsonObject, key)
}

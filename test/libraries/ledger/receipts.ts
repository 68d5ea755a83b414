// Signed receipts and refusals for the blocks of a small ledger, as a node makes them.

import { toHex } from '../../../src/libraries/base/bytes.ts'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../../src/libraries/base/json/value.ts'
import { receiptDomain, refusalDomain, signDocument } from '../../../src/libraries/ledger/signed-document.ts'
import { generateNodeKey, type NodeKey } from '../../../src/libraries/proof/sign.ts'
import { origin } from './keys.ts'
import type { SmallLedger } from './proofs.ts'

export const nodeKey = generateNodeKey()
/** Hash of a block that no ledger has. */
export const otherHash = `f1620${'5'.repeat(64)}`

/** The receipt of the block at this index of the ledger; `hash` is named and promised in its place, `by` is RFC 3339. */
export function signedReceipt(
  ledger: SmallLedger,
  index: number,
  {
    by,
    hash,
    key = nodeKey,
    more = {},
  }: { by?: string | undefined; hash?: string | undefined; key?: NodeKey; more?: object },
): JsonObject {
  const { block, dataset } = ledger.blocks[index]!.documents.block
  const salts = { datasetSalt: toHex(dataset.salt), blockSalt: toHex(block.salt) }
  const receipt = {
    receiptId: 'R'.repeat(40),
    batchId: 'batch',
    time: '2026-05-01T00:00:00.000Z',
    status: 'committed',
    dataset: { id: dataset.id, alias: 'me/lab' },
    block: { hash: hash ?? block.hash, sequence: Math.floor(index / 3) },
    bodyHash: `f1220${'0'.repeat(64)}`,
    ...(by !== undefined && { promise: { ledger: origin, by, ...salts } }),
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

// What the store of a ledger shows of itself, and what others have shown of it: where that is larger, the store is an older copy.

import { fromBase64 } from '../../libraries/base/base64.ts'
import { parseVerifierKey } from '../../libraries/ledger/verifier-key.ts'
import { ledgerEvidenceKey, ledgerEvidenceOf, ledgerObjectKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { fail, type Finding } from '../../node/upkeep/finding.ts'
import { ownHead, type ShownHead } from './ask-witness.ts'
import { ledgerRecord, newestLedger } from './ledgers.ts'
import type { OriginRecord } from './records.ts'
import { evidenceCodec } from './regression.ts'

/** The head that the store shows. */
export async function shownOf(
  store: ObjectStore,
  ledger: number,
  { key }: OriginRecord,
): Promise<ShownHead | undefined> {
  const bytes = await store.get(ledgerObjectKey(ledger, 'checkpoint'))
  return bytes && ownHead(bytes, parseVerifierKey(key))
}

/** The largest head that a witness has shown and that the ledger could not have. */
export async function largestSeen(
  store: ObjectStore,
  ledger: number,
  { key }: OriginRecord,
): Promise<ShownHead | undefined> {
  let largest: ShownHead | undefined
  for (const name of await store.list(ledgerEvidenceOf(ledger))) {
    const bytes = await store.get(ledgerEvidenceKey(ledger, name))
    const note = bytes && fromBase64(evidenceCodec.decode(bytes).note)
    const shown = note && ownHead(note, parseVerifierKey(key))
    if (shown !== undefined && shown.head.size > (largest?.head.size ?? -1)) largest = shown
  }
  return largest
}

/** What `doctor` says of the newest ledger of a store. */
export async function inspectLedger(store: ObjectStore): Promise<readonly Finding[]> {
  const ledger = await newestLedger(store)
  const record = await ledgerRecord(store, ledger)
  const seen = record && (await largestSeen(store, ledger, record))
  const size = (record && (await shownOf(store, ledger, record))?.head.size) ?? 0
  if (record === undefined || seen === undefined || seen.head.size <= size) return []
  const others = `A witness holds a head of ${seen.head.size} entries of ${record.origin}`
  const found = `${others}, and this store shows ${size}: the ledger halts (LedgerRegressed), all else goes on.`
  return [fail('ledger', found, 'docs/halts.md says what ends the halt.')]
}

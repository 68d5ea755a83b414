// What the store of a ledger shows of itself, what others have shown of it (where that is larger, the store is an older copy), and
// what it lacks.

import { fromBase64 } from '../../libraries/base/base64.ts'
import { systemClock } from '../../libraries/base/clock.ts'
import { parseVerifierKey } from '../../libraries/ledger/verifier-key.ts'
import { instantMs } from '../../libraries/model/instant.ts'
import { isEntered } from '../../libraries/odf/chain/records.ts'
import { readHint } from '../../node/store/heads.ts'
import { ledgerEvidenceKey, ledgerEvidenceOf, ledgerObjectKey } from '../../node/store/layout.ts'
import { loadBlock } from '../../node/store/load-block.ts'
import { listNames, readName } from '../../node/store/names.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { fail, type Finding, warn } from '../../node/upkeep/finding.ts'
import { ownHead, type ShownHead } from './ask-witness.ts'
import type { History } from './history.ts'
import { LedgerKeys } from './ledger-keys.ts'
import { ledgerRecord, newestLedger } from './ledgers.ts'
import { Places } from './places.ts'
import type { OriginRecord } from './records.ts'
import { evidenceCodec } from './regression.ts'

/** A block is an entry by then, whatever the delay is that is usual. */
const patienceMs = 600_000
/** Datasets that `doctor` looks at. */
const mostLooked = 1_000

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
  if (record === undefined) return []
  const seen = await largestSeen(store, ledger, record)
  const size = (await shownOf(store, ledger, record))?.head.size ?? 0
  if (seen === undefined || seen.head.size <= size) return await lagOf(store, ledger, size)
  const others = `A witness holds a head of ${seen.head.size} entries of ${record.origin}`
  const found = `${others}, and this store shows ${size}: the ledger halts (LedgerRegressed), all else goes on.`
  return [fail('ledger', found, 'docs/halts.md says what ends the halt.')]
}

/** What is not in the ledger yet: entries that no head has that is shown, and datasets with a block that waits for minutes. */
async function lagOf(store: ObjectStore, ledger: number, shown: number): Promise<Finding[]> {
  const history = await new Places(store, ledger).history()
  const findings: Finding[] = []
  if (shown < history.head.size) {
    const found = `The head of the ledger that is shown has ${shown} of ${history.head.size} entries.`
    findings.push(warn('ledger', found, 'Where that stays so, GET /ledger and the log of the builder say why.'))
  }
  const waiting: string[] = []
  // What cannot be read is damaged, as other findings say.
  for (const alias of (await listNames(store)).slice(0, mostLooked))
    if (await isWaiting(store, history, alias).catch(() => false)) waiting.push(alias)
  if (waiting.length === 0) return findings
  const found = `The ledger lacks blocks of ${waiting.length} datasets that are minutes old: ${waiting.slice(0, 5).join(', ')}.`
  return [
    ...findings,
    fail('ledger', found, 'The log of the builder says why; proofstream fsck finds what is damaged.'),
  ]
}

/** True where the last block of a dataset is no entry for minutes. */
async function isWaiting(store: ObjectStore, history: History, alias: string): Promise<boolean> {
  const name = await readName(store, alias)
  const head = name && isEntered(name) ? await readHint(store, name.id) : undefined
  if (name === undefined || head === undefined) return false
  const key = await new LedgerKeys(store).stored(name.id)
  if (key !== undefined && head.sequence < history.nextOf(key.tag)) return false
  const { systemTime } = await loadBlock(store, name, head.hash)
  return systemClock.nowMs() - instantMs(systemTime) > patienceMs
}

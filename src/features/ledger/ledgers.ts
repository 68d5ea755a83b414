// The ledgers that a store has had: the first, and those that took another's place. The newest is the one that is kept; the
// others stay readable where they were.

import { decoded } from '../../libraries/base/errors.ts'
import { ledgerObjectKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { originCodec, type OriginRecord } from './records.ts'

type Reading = Pick<ObjectStore, 'get'>

/** Number of the newest ledger of a store, from 1; 0 where it has none. */
export async function newestLedger({ get }: Reading): Promise<number> {
  let ledger = 0
  while ((await get(ledgerObjectKey(ledger + 1, 'origin'))) !== undefined) ledger++
  return ledger
}

/** Who a ledger is; undefined where there is none, or no whole record of it. */
export async function ledgerRecord({ get }: Reading, ledger: number): Promise<OriginRecord | undefined> {
  const bytes = await get(ledgerObjectKey(ledger, 'origin'))
  return bytes && decoded(() => originCodec.decode(bytes))
}

/** File of the key of the n-th ledger, beside that of the first. */
export function ledgerKeyFile(first: string, ledger: number): string {
  return ledger <= 1 ? first : first.replace(/(\.json)?$/, (end) => `-${ledger}${end}`)
}

/** Origins of the ledgers up to the newest, oldest first. */
export async function originsUpTo(reading: Reading, newest: number): Promise<readonly string[]> {
  const origins: string[] = []
  for (let ledger = 1; ledger <= newest; ledger++) {
    const record = await ledgerRecord(reading, ledger)
    if (record !== undefined) origins.push(record.origin)
  }
  return origins
}

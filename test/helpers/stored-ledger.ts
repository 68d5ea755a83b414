// What the ledger of a store is in the end, read back for the history checker.

import { must } from '../../src/libraries/base/assert.ts'
import { fromBase64 } from '../../src/libraries/base/base64.ts'
import { Catalog } from '../../src/node/catalog/catalog.ts'
import { isEntered } from '../../src/libraries/odf/chain/records.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../src/node/log/announcements.ts'
import { batchCodec } from '../../src/features/ledger/records.ts'
import { ledgerKeyKey } from '../../src/node/store/layout.ts'
import type { ObjectStore } from '../../src/node/store/object-store.ts'
import type { LedgerDataset, LedgerSeen } from '../history/ledger.ts'

/** The first ledger of the store: its entries, its objects, and the datasets that have a ledger key. */
export async function readLedger(store: ObjectStore): Promise<Pick<LedgerSeen, 'entries' | 'files' | 'datasets'>> {
  const files = new Map<string, Uint8Array>()
  await readAll(store, 'ledger', files)
  const entries: Uint8Array[] = []
  for (let number = 0; ; number++) {
    const bytes = files.get(`batches/${number}`)
    if (bytes === undefined) break
    const batch = batchCodec.decode(bytes)
    entries.push(...batch.entries.map((entry) => must(fromBase64(entry), 'an entry is base64')))
  }
  return { entries, files, datasets: await datasetsOf(store) }
}

async function readAll(store: ObjectStore, prefix: string, files: Map<string, Uint8Array>): Promise<void> {
  for (const name of await store.list(prefix)) {
    const key = `${prefix}/${name}`
    const bytes = await store.get(key)
    if (bytes === undefined) await readAll(store, key, files)
    else files.set(key.slice('ledger/'.length), bytes)
  }
}

async function datasetsOf(store: ObjectStore): Promise<LedgerDataset[]> {
  const catalog = new Catalog({ store, announcements: openLocalAnnouncements(silentLogger), logger: silentLogger })
  const names = (await catalog.names()).map((name) => ({ name, isDeleted: false }))
  const deleted = (await catalog.deletions()).map(({ name }) => ({ name, isDeleted: true }))
  const datasets: LedgerDataset[] = []
  for (const { name, isDeleted } of [...names, ...deleted]) {
    const key = await store.get(ledgerKeyKey(name.id))
    const isWhole = !isDeleted && isEntered(name)
    if (key === undefined && !isWhole) continue
    const { blocks } = await catalog.chainOf(name)
    datasets.push({ id: name.id, key, blocks: [...blocks].map(({ hash }) => hash), isWhole })
  }
  catalog.close()
  return datasets
}

// What a keeper of a ledger works with, in a process of its own over a store: jobs run in this thread.

import { BlockRecords } from '../../src/node/files/block-records.ts'
import { LedgerKeys } from '../../src/features/ledger/ledger-keys.ts'
import { LeftEntries } from '../../src/features/ledger/left-entries.ts'
import { Places } from '../../src/features/ledger/stored-ledger.ts'
import { SetAside, WaitingDatasets } from '../../src/features/ledger/waiting.ts'
import { type Clock, systemClock } from '../../src/libraries/base/clock.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { Catalog } from '../../src/node/catalog/catalog.ts'
import { openLocalAnnouncements } from '../../src/node/log/announcements.ts'
import { runJob } from '../../src/node/machine/work/jobs.ts'
import type { ObjectStore } from '../../src/node/store/object-store.ts'

export interface KeeperParts {
  readonly catalog: Catalog
  readonly keys: LedgerKeys
  readonly waiting: WaitingDatasets
  readonly left: LeftEntries
  readonly aside: SetAside
}

export function keeperParts(store: ObjectStore, { clock = systemClock }: { readonly clock?: Clock } = {}): KeeperParts {
  const logger = silentLogger
  const catalog = new Catalog({ store, announcements: openLocalAnnouncements(logger), logger })
  const keys = new LedgerKeys(store)
  const records = new BlockRecords({
    store,
    work: { run: (kind, pieces, { settings }) => runJob(kind, pieces, settings) },
  })
  const aside = new SetAside({ clock, logger })
  const waiting = new WaitingDatasets({ catalog, store, keys, records, clock, aside })
  const left = new LeftEntries({ store, catalog, keys, records, places: new Places(store, 1), aside, logger })
  return { catalog, keys, waiting, left, aside }
}

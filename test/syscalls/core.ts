// A node without HTTP and SQL, on real files: what takes rows, logs and commits them. Small segments, quick cuts.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type Builder, startBuilder } from '../../src/node/builder/builder.ts'
import { Catalog } from '../../src/node/catalog/catalog.ts'
import { Outcomes } from '../../src/node/catalog/outcomes.ts'
import { readControls } from '../../src/node/gateway/controls.ts'
import { Gateway, type IngestAnswer } from '../../src/node/gateway/gateway.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { systemClock } from '../../src/libraries/base/clock.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../src/node/log/announcements.ts'
import type { EventLog } from '../../src/node/log/event-log.ts'
import { openFileLog } from '../../src/node/log/file/file-log.ts'
import { parseAliasText } from '../../src/libraries/model/names.ts'
import { openDirectoryStore } from '../../src/node/store/directory/directory-store.ts'
import type { ObjectStore } from '../../src/node/store/object-store.ts'
import { compressor, quickCuts } from '../node/builder/support.ts'
import { defaultLimits } from '../helpers/default-limits.ts'
import { libraryFormats } from '../../src/libraries/formats/registry.ts'

export interface Core {
  readonly log: EventLog
  readonly store: ObjectStore
  readonly catalog: Catalog
  readonly gateway: Gateway
  readonly builder: Builder
  post(alias: string, body: string, headers: Readonly<Record<string, string>>): Promise<IngestAnswer>
  stop(): Promise<void>
}

/** Opens log and store below `dir` and starts. `onFailure` when it cannot go on. */
export async function openCore(dir: string, onFailure: (error: unknown) => void): Promise<Core> {
  const cache = join(dir, 'cache')
  mkdirSync(cache, { recursive: true })
  const shared = { clock: systemClock, logger: silentLogger }
  const log = await openFileLog({ ...shared, directory: join(dir, 'log'), segmentBytes: 64 * 1024, onFailure })
  const store = await openDirectoryStore(join(dir, 'store'), undefined, onFailure)
  const announcements = openLocalAnnouncements(silentLogger)
  const catalog = new Catalog({ store, announcements, logger: silentLogger })
  const builder = await startBuilder({ ...shared, log, store, announcements, compressor, options: quickCuts })
  const gateway = new Gateway({
    formats: libraryFormats,
    ...shared,
    log,
    catalog,
    announcements,
    outcomes: new Outcomes(store),
    limits: defaultLimits(),
    spoolDir: cache,
    receiptSecret: utf8('a secret that outlives the process'),
    haltOf: () => undefined,
    stream: { ageMs: 250, rows: 10_000 },
    newDatasets: 'public',
    hasRoom: async () => true,
  })
  return {
    log,
    store,
    catalog,
    gateway,
    builder,
    post: async (alias, body, headers) => {
      const bytes = utf8(body)
      const all = { 'content-type': 'application/x-ndjson', 'content-length': String(bytes.length), ...headers }
      return gateway.ingest({
        alias: parseAliasText(alias),
        chain: await catalog.byAlias(alias),
        tokenId: 't1',
        controls: readControls(all, { create: 'true' }),
        body: Readable.from([bytes]),
      })
    },
    stop: async () => {
      gateway.drain()
      gateway.close()
      await builder.stop()
      catalog.close()
      await store.close()
      await log.close()
    },
  }
}

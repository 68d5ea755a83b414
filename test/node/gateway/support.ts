// A gateway over memory adapters with a real builder behind it: what the tests of this folder post to.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'
import type { Builder } from '../../../src/node/builder/builder.ts'
import { Catalog } from '../../../src/node/catalog/catalog.ts'
import { Outcomes } from '../../../src/node/catalog/outcomes.ts'
import { readControls } from '../../../src/node/gateway/controls.ts'
import { Gateway, type GatewayDeps, type IngestAnswer } from '../../../src/node/gateway/gateway.ts'
import type { Published } from '../../../src/node/gateway/large-batch.ts'
import type { Publisher, RowsToPublish } from '../../../src/node/gateway/publish.ts'
import type { Receipt } from '../../../src/node/gateway/receipts.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import type { MessageHeader } from '../../../src/node/log/messages.gen.ts'
import { decodeMessage } from '../../../src/node/log/messages.ts'
import { parseAliasText } from '../../../src/libraries/model/names.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { quickCuts, start } from '../builder/support.ts'
import { until } from '../../helpers/until.ts'
import { defaultLimits } from '../../helpers/default-limits.ts'
import { formatsBut } from '../../../src/app/formats.ts'

export const spoolDir = mkdtempSync(join(tmpdir(), 'proofstream-spool-'))

/** Sends a stream that is there already, in these pieces, as a large batch. */
export async function sendLarge(
  publisher: Publisher,
  rows: RowsToPublish,
  ...pieces: readonly Uint8Array[]
): Promise<Published> {
  const large = publisher.large(rows)
  try {
    for (const piece of pieces) await large.append(piece)
    return await large.end(rows.batch, rows.schema)
  } finally {
    await large.discard()
  }
}

export interface Post {
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly token?: string
}

/** One process: log and store may be shared with others, the rest is its own. */
export class Rig {
  readonly log: EventLog
  readonly store: ObjectStore
  readonly announcements = openLocalAnnouncements(silentLogger)
  readonly catalog: Catalog
  readonly outcomes: Outcomes
  readonly gateway: Gateway
  #builder: Builder | undefined

  /** `apart`: others commit to the store unheard. */
  constructor(more: Partial<GatewayDeps> & { store?: ObjectStore; apart?: boolean } = {}) {
    const { store = openMemoryStore(), log = openMemoryLog(), apart = false, ...deps } = more
    this.log = log
    // Tests look at all that was ever logged.
    log.release = async () => {}
    this.store = store
    this.catalog = new Catalog({
      store,
      announcements: this.announcements,
      logger: silentLogger,
      clock: apart ? systemClock : undefined,
    })
    this.outcomes = new Outcomes(store)
    this.gateway = new Gateway({
      formats: formatsBut([]),
      catalog: this.catalog,
      outcomes: this.outcomes,
      log,
      announcements: this.announcements,
      clock: systemClock,
      logger: silentLogger,
      limits: defaultLimits(),
      spoolDir,
      receiptSecret: utf8('a secret of thirty-two bytes, no '),
      haltOf: () => undefined,
      stream: { ageMs: 250, rows: 10_000 },
      newDatasets: 'public',
      hasRoom: async () => true,
      ...deps,
    })
  }

  /** Starts a builder that cuts at once. */
  async build(): Promise<this> {
    const { builder } = await start(this.log, this.store, { announcements: this.announcements, options: quickCuts })
    this.#builder = builder
    return this
  }

  /** Waits until the dataset's chain has all that is in the log now, then stops the builder: it lags from here on. */
  async pause(alias = 'a/b'): Promise<void> {
    const { end } = await this.log.range(0)
    await until('the chain has what the log had', async () => {
      const chain = await this.catalog.byAlias(alias)
      if (chain !== undefined) await this.catalog.refresh(chain)
      return chain !== undefined && chain.head.next >= end
    })
    await this.#builder?.stop()
    this.#builder = undefined
  }

  async stop(): Promise<void> {
    this.gateway.close()
    this.catalog.close()
    await this.#builder?.stop()
    this.#builder = undefined
  }

  /** Posts a body; NDJSON that waits for its block unless told otherwise. */
  async post(
    alias: string,
    body: string | Uint8Array,
    { headers, query = {}, token = 't1' }: Post = {},
  ): Promise<IngestAnswer> {
    const bytes = typeof body === 'string' ? utf8(body) : body
    const all = {
      'content-type': 'application/x-ndjson',
      'content-length': String(bytes.length),
      prefer: 'wait=20',
      ...headers,
    }
    return this.gateway.ingest({
      alias: parseAliasText(alias),
      chain: await this.catalog.byAlias(alias),
      tokenId: token,
      controls: readControls(all, query),
      body: Readable.from([bytes]),
    })
  }

  /** Posts rows as NDJSON; the receipt. */
  async rows(alias: string, rows: readonly object[], post: Post = {}): Promise<Receipt> {
    return receiptOf(await this.post(alias, ndjson(rows), post))
  }

  /** Headers of what the log holds. */
  async headers(): Promise<MessageHeader[]> {
    const headers: MessageHeader[] = []
    for await (const entries of this.log.read(0, 0, { follow: false })) {
      for (const { bytes } of entries) {
        const message = decodeMessage(bytes)
        if (message.kind === 'message') headers.push(message.header)
      }
    }
    return headers
  }
}

/** A rig that stops when its test ends. */
export function rigOf(more: ConstructorParameters<typeof Rig>[0] = {}): Rig {
  const rig = new Rig(more)
  onTestFinished(() => rig.stop())
  return rig
}

/** A rig with a dataset `a/b` that has the column `n`, and a builder. */
export async function withDataset(more: ConstructorParameters<typeof Rig>[0] = {}): Promise<Rig> {
  const rig = await rigOf(more).build()
  await rig.rows('a/b', [{ n: 1 }], { query: { create: 'true' } })
  return rig
}

export function ndjson(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

export function receiptOf({ body }: IngestAnswer): Receipt {
  if ('dryRun' in body) throw new Error('a dry run has no receipt')
  return body
}

/** The kind of the NodeError that `work` ends with. */
export async function kindOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no error',
    (error: unknown) => (typeof error === 'object' && error !== null && 'kind' in error ? error.kind : error),
  )
}

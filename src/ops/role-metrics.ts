// What the roles of a process tell of themselves at each scrape: queues, what is open, how new what they know is.

import type { Instant } from '../model/events.ts'
import { instantMs } from '../model/instant.ts'
import type { Metrics } from './metrics.ts'

/** What a gateway has under way. */
export interface GatewayLoad {
  readonly openRequests: number
  readonly openBytes: number
  readonly waitingRequests: number
  readonly waitingCallers: number
}

/** What a builder tells of itself. */
export interface MeasuredBuilder {
  status(): {
    readonly halted: readonly { readonly dataset?: string }[]
    readonly partitions: readonly { readonly waitingPlans: number }[]
    readonly lostRaces: number
  }
  openBytes(): number
  openRows(): number
}

/** Queries of a replica. */
export interface EngineLoad {
  readonly running: number
  readonly waiting: number
}

interface NewBlocks {
  readonly chain: {
    readonly blocks: { readonly length: number; slice(start: number): readonly { readonly systemTime: Instant }[] }
  }
  readonly fromSequence: number
}

/** What a catalog tells of blocks that it has come to know. */
export interface MeasuredCatalog {
  readonly bytes: number
  onAdvance(listener: (advance: NewBlocks) => void): unknown
}

export function measureGateway(metrics: Metrics, load: () => GatewayLoad): void {
  metrics.gauge('ingest_open_requests', 'Batches being read, parsed and logged.', () => load().openRequests)
  metrics.gauge('ingest_open_bytes', 'Bytes of the bodies of those.', () => load().openBytes)
  metrics.gauge('ingest_waiting_requests', 'Batches that wait for room, unread.', () => load().waitingRequests)
  metrics.gauge(
    'ingest_waiting_callers',
    'Callers whose logged batch is not yet in a block.',
    () => load().waitingCallers,
  )
}

export function measureBuilder(metrics: Metrics, builder: MeasuredBuilder): void {
  metrics.gauge('builder_open_rows', 'Rows that have been read from the log and are in no block yet.', () =>
    builder.openRows(),
  )
  metrics.gauge('builder_open_bytes', 'Logged bytes of those, with parts of batches still coming.', () =>
    builder.openBytes(),
  )
  metrics.gauge('builder_waiting_blocks', 'Blocks that have ended and are not committed yet.', () =>
    builder.status().partitions.reduce((sum, { waitingPlans }) => sum + waitingPlans, 0),
  )
  metrics.gauge('halted_datasets', 'Datasets that take no rows until an operator has looked.', () => {
    return builder.status().halted.filter(({ dataset }) => dataset !== undefined).length
  })
  metrics.counter('builder_lost_races_total', 'Commits in which another builder came first with other bytes.', () => {
    return builder.status().lostRaces
  })
}

export function measureEngine(metrics: Metrics, load: () => EngineLoad): void {
  metrics.gauge('query_running', 'Queries that run.', () => load().running)
  metrics.gauge('query_waiting', 'Queries that wait for a free process.', () => load().waiting)
}

/** `nowMs` is the wall clock. Chains that are read for the first time tell nothing of the time since their last block. */
export function measureCatalog(metrics: Metrics, catalog: MeasuredCatalog, nowMs: () => number): void {
  let newestMs = 0
  catalog.onAdvance(({ chain, fromSequence }) => {
    for (const { systemTime } of chain.blocks.slice(fromSequence === 0 ? chain.blocks.length - 1 : fromSequence)) {
      const timeMs = instantMs(systemTime)
      newestMs = Math.max(newestMs, timeMs)
      if (fromSequence > 0) metrics.blockAgeSeconds.observe(Math.max(0, nowMs() - timeMs) / 1000)
    }
  })
  metrics.gauge('catalog_bytes', 'Memory that is taken by what is remembered of chains.', () => catalog.bytes)
  metrics.gauge('newest_block_timestamp_seconds', 'Time of the newest block known here; 0 before any.', () => {
    return newestMs / 1000
  })
}

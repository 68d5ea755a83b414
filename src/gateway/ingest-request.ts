// What the gateway is given: its neighbours, and one ingest request as the route hands it over.

import type { Readable } from 'node:stream'
import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { Outcomes } from '../catalog/outcomes.ts'
import type { Clock } from '../lib/clock.ts'
import type { Limits } from '../lib/limits.ts'
import type { Logger } from '../lib/logger.ts'
import type { Announcements } from '../log/announcements.ts'
import type { EventLog } from '../log/event-log.ts'
import type { DatasetId } from '../model/events.ts'
import type { Alias } from '../model/names.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { IngestControls } from './controls.ts'

export interface GatewayDeps {
  readonly catalog: Catalog
  readonly outcomes: Outcomes
  readonly log: EventLog
  readonly announcements: Announcements
  readonly clock: Clock
  readonly logger: Logger
  readonly limits: Limits
  /** What the process may have in all; without it bodies are not bounded by memory. */
  readonly memoryBytes?: number
  readonly metrics?: Metrics | undefined
  readonly spoolDir: string
  /** Seals receipt ids; the same in every process of the installation. */
  readonly receiptSecret: Uint8Array
  /** Why a dataset takes no rows, or undefined. */
  readonly haltOf: (dataset: DatasetId, partition: number) => string | undefined
  /** False while `bytes` more of rows would use space that the store's volume keeps back. */
  readonly hasRoom: (bytes: number) => Promise<boolean>
}

export interface IngestRequest {
  readonly alias: Alias
  /** The dataset, or undefined when there is none and `create` may make it. */
  readonly chain: DatasetChain | undefined
  readonly tokenId: string | undefined
  readonly controls: IngestControls
  readonly body: Readable
}

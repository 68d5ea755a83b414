// What each role of a process is made of; one function opens one role. Roles meet only in log, store and announcements,
// except that a gateway asks a builder of its own process what it would otherwise learn from the store.

import { totalmem } from 'node:os'
import { type Builder, type BuilderHalt, startBuilder } from './builder/builder.ts'
import { openBuildNotes } from './builder/poison.ts'
import { declareLog, otherLogs } from './builder/resume.ts'
import type { Catalog } from './catalog/catalog.ts'
import { Outcomes } from './catalog/outcomes.ts'
import type { Config } from './config.ts'
import { SpaceReserve } from './disk/space.ts'
import { Gateway } from './gateway/gateway.ts'
import { type AgingLog, FloorHalts, LogWatch } from './gateway/log-watch.ts'
import type { Clock } from './lib/clock.ts'
import type { Logger } from './lib/logger.ts'
import type { Announcements } from './log/announcements.ts'
import type { EventLog } from './log/event-log.ts'
import type { PartitionShare } from './log/partitions.ts'
import { measureBuilder, measureGateway, type Metrics } from './ops/metrics.ts'
import type { ObjectStore } from './store/object-store.ts'

/** What the roles of a process share. */
export interface Shared {
  readonly config: Config
  readonly clock: Clock
  readonly logger: Logger
  readonly store: ObjectStore
  readonly announcements: Announcements
  readonly catalog: Catalog
  readonly metrics: Metrics
  /** Closes what was opened, in reverse order. */
  readonly opened: (() => Promise<void>)[]
}

/** Opens the builder. Throws as `startBuilder`. */
export async function openBuilder(
  shared: Shared,
  parts: {
    readonly log: EventLog
    readonly compressor: Parameters<typeof startBuilder>[0]['compressor']
    readonly share: PartitionShare | undefined
    /** Where large blocks are noted while they are built. */
    readonly notesDir: string
  },
): Promise<Builder> {
  const { store, announcements, clock, logger, config, metrics } = shared
  const notes = openBuildNotes(parts.notesDir)
  const own = { store, announcements, clock, logger, metrics, notes, options: config.cut }
  const builder = await startBuilder({ ...own, ...parts })
  measureBuilder(metrics, builder)
  shared.opened.push(() => builder.stop())
  return builder
}

export interface GatewayParts {
  readonly log: EventLog
  /** The builder of this process, if it has one. */
  readonly builder: Builder | undefined
  /** The log's watch, where it may lose what is old. */
  readonly watch: LogWatch | undefined
  /** Other processes may build too. */
  readonly hasOtherBuilders: boolean
  readonly spoolDir: string
  readonly receiptSecret: Uint8Array
}

/** Opens the gateway. Throws HaltError `LogReplaced` when the log is declared with another partition count. */
export async function openGateway(shared: Shared, parts: GatewayParts): Promise<Gateway> {
  const { config, store, clock, logger } = shared
  const { log, builder, hasOtherBuilders, watch } = parts
  await declareLog(store, log)
  const others = await otherLogs(store, log)
  if (others.length > 0) logger.warn({ log: log.id, others }, 'Rows of datasets of other logs are refused (log adopt)')
  const haltInFloors = builder === undefined || hasOtherBuilders ? haltOfFloors(shared, log) : () => undefined
  const openBytes = (): number => builder?.openBytes() ?? 0
  const space = new SpaceReserve({ freeSpace: () => store.freeSpace(), openBytes, clock })
  const gateway = new Gateway({
    ...shared,
    ...parts,
    outcomes: new Outcomes(store, config.limits.keyMemoryBytes),
    limits: config.limits,
    memoryBytes: memoryBytes(),
    haltOf: (dataset, partition) =>
      textOf(builder?.haltOf(partition, dataset)) ?? haltInFloors(dataset) ?? watch?.of(partition),
    // Each byte may be needed twice: in the slice and in the checkpoint.
    hasRoom: (bytes) => space.hasRoom(2 * bytes),
  })
  shared.opened.push(async () => gateway.close())
  measureGateway(shared.metrics, () => gateway.load)
  logger.debug({ builder: builder !== undefined }, 'gateway open')
  return gateway
}

/** Watches a log that deletes what is old. */
export function openLogWatch({ store, clock, logger, opened }: Shared, log: AgingLog): LogWatch {
  const watch = new LogWatch({ store, log, clock, logger })
  opened.push(() => watch.close())
  return watch
}

/** Memory that this process may have: its container's, else the machine's. */
function memoryBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
}

function haltOfFloors(
  { store, clock, logger, opened }: Shared,
  log: EventLog,
): (dataset: string) => string | undefined {
  const halts = new FloorHalts({ store, log, clock, logger })
  opened.push(() => halts.close())
  return (dataset) => halts.of(dataset)
}

function textOf(halt: BuilderHalt | undefined): string | undefined {
  return halt === undefined ? undefined : `${halt.reason}: ${halt.what}`
}

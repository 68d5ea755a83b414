// What each role of a process is made of; one function opens one role. Roles meet only in log, store and announcements,
// except that a gateway asks a builder of its own process what it would otherwise learn from the store.

import { readdir, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type Builder, type BuilderHalt, startBuilder } from '../node/builder/builder.ts'
import { openBuildNotes } from '../node/builder/poison.ts'
import { declareLog, otherLogs } from '../node/builder/resume.ts'
import { Outcomes } from '../node/catalog/outcomes.ts'
import { machineMemoryBytes } from './config.ts'
import type { Opening } from '../node/driver.ts'
import { lockDirectory } from '../node/machine/disk/directory-lock.ts'
import { SpaceReserve } from '../node/machine/disk/space.ts'
import { Engines } from '../node/engine/engines.ts'
import { Gateway } from '../node/gateway/gateway.ts'
import { type AgingLog, HaltedDatasets, LogWatch } from '../node/gateway/log-watch.ts'
import { queriesInMemory } from '../libraries/base/limits.ts'
import type { EventLog } from '../node/log/event-log.ts'
import type { PartitionAssignment } from '../node/log/partitions.ts'
import { compressor } from '../node/machine/work/zstd-page.ts'
import { formatsBut } from './formats.ts'
import type { Shared } from '../node/feature.ts'
import { measureBuilder, measureGateway, measureMerged } from '../node/machine/ops/metrics.ts'
import { AnswerFiles } from '../node/answers/answer-files.ts'
import type { Merging } from '../node/files/files.ts'
import { MergedFiles } from '../node/files/merged-files.ts'
import { MergedMaker } from '../node/files/merged-maker.ts'
import type { DataPaths } from '../node/store/layout.ts'
import { ThreadPool } from '../node/machine/work/thread-pool.ts'
import { SliceFiles } from '../node/files/slice-files.ts'

/** In the cache: what lies in these is found again at the next start. */
const mergedFolder = 'merged'
const slicesFolder = 'slice-files'

/** Opens the builder; `assignment` tells its partitions, without it all are built. Throws as `startBuilder`. */
export async function openBuilder(
  { config, paths, clock, logger, store, announcements, metrics, work, opened, beforeRemoval }: Shared,
  { log, assignment }: { readonly log: EventLog; readonly assignment: PartitionAssignment | undefined },
): Promise<Builder> {
  const builder = await startBuilder({
    log,
    store,
    announcements,
    clock,
    logger,
    compressor,
    threads: work,
    options: config.cut,
    limits: config.limits,
    stateBytesMost: config.limits.catalogBytes,
    keepLoose: config.keepLoose,
    metrics,
    notes: openBuildNotes(paths.builds),
    beforeRemoval: async (deletion) => {
      for (const act of beforeRemoval) await act(deletion)
    },
    assignment,
  })
  measureBuilder(metrics, builder)
  opened.push(() => builder.stop())
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
  readonly receiptSecret: Uint8Array
}

/** Opens the gateway. Throws HaltError `LogReplaced` when the log is declared with another partition count. */
export async function openGateway(shared: Shared, parts: GatewayParts): Promise<Gateway> {
  const { config, paths, clock, logger, store, announcements, catalog, metrics, work, openBytes, opened } = shared
  const { log, builder, hasOtherBuilders, watch, receiptSecret } = parts
  await declareLog(store, log)
  const others = await otherLogs(store, log)
  if (others.length > 0) logger.warn({ log: log.id, others }, 'Rows of datasets of other logs are refused (log adopt)')
  const halts =
    builder === undefined || hasOtherBuilders ? new HaltedDatasets({ store, log, clock, logger }) : undefined
  if (halts !== undefined) opened.push(() => halts.close())
  const space = new SpaceReserve({ freeSpace: () => store.freeSpace(), openBytes, clock })
  const gateway = new Gateway({
    catalog,
    outcomes: new Outcomes(store, config.limits.keyMemoryBytes),
    log,
    announcements,
    clock,
    logger,
    limits: config.limits,
    threads: work,
    metrics,
    stream: config.stream,
    newDatasets: config.newDatasets,
    formats: formatsBut(config.without),
    spoolDir: paths.cache,
    receiptSecret,
    haltOf: (dataset, partition) =>
      textOf(builder?.haltOf(partition, dataset)) ?? halts?.of(dataset) ?? watch?.of(partition),
    // Each byte may be needed twice: in the slice and in the checkpoint.
    hasRoom: (bytes) => space.hasRoom(2 * bytes),
  })
  opened.push(async () => gateway.close())
  measureGateway(metrics, () => gateway.load)
  logger.debug({ builder: builder !== undefined }, 'gateway open')
  return gateway
}

/** Watches a log that deletes what is old, for a gateway. */
export function openLogWatch({ store, clock, logger, opened }: Shared, log: AgingLog): LogWatch {
  const watch = new LogWatch({ store, log, clock, logger })
  opened.push(() => watch.close())
  return watch
}

/** Opens the query engines of a replica. */
export function openQueries(shared: Shared): Engines {
  const { config, paths, clock, logger, catalog, opened } = shared
  const { limits, anonymousRead } = config
  const engines = new Engines({
    enginesDir: paths.engines,
    cores: availableParallelism(),
    processes: limits.concurrentQueries,
    // Where there is memory for one query alone, nothing stands ready beside it.
    spares: Math.min(1, queriesInMemory(machineMemoryBytes()) - 1),
    exportSlots: limits.exportSlots,
    exportMs: limits.exportMs,
    exportBytes: limits.exportBytes,
    queryMs: limits.queryMs,
    memoryBytes: limits.queryMemoryBytes,
    resultBytes: limits.resultBytes,
    queueLimit: limits.queuedQueries,
    callerSharePercent: limits.callerShare,
    isOpen: (dataset) => anonymousRead && catalog.heldName(dataset)?.visibility === 'public',
    dataRoots: [paths.store, slicesDir(paths), mergedDir(paths)],
    logger,
    clock,
  })
  opened.push(() => engines.close())
  return engines
}

/** Slices as files, for the engine of a replica. */
export function openSliceFiles({ config, paths, store, clock, opened }: Shared): SliceFiles {
  const files = new SliceFiles({ store, dir: slicesDir(paths), mostBytes: config.limits.sliceFileBytes, clock })
  opened.push(() => files.close())
  return files
}

function slicesDir({ cache }: DataPaths): string {
  return join(cache, slicesFolder)
}

/** Opens the merged files of a replica. They are cut off from `opened` last first: what makes them before where they lie. */
export async function openMerged(shared: Shared, files: SliceFiles): Promise<Merging> {
  const { config, paths, clock, logger, store, catalog, metrics, opened } = shared
  const { mergedFileBytes: mostBytes, exportMs: graceMs } = config.limits
  const merged = new MergedFiles({ dir: mergedDir(paths), mostBytes, graceMs, clock, logger })
  await merged.load()
  opened.push(async () => merged.close())
  const work = new ThreadPool({ clock, jobs: 1, queueLimit: 1, tasks: 0, heapMiB: 512 })
  opened.push(() => work.close())
  const maker = new MergedMaker({ catalog, store, files, merged, work, clock, logger })
  opened.push(() => maker.close())
  measureMerged(metrics, () => ({
    bytes: merged.bytes,
    files: merged.files,
    made: maker.made,
    dropped: merged.dropped,
    refused: merged.refused + maker.refused,
  }))
  return { merged, maker }
}

function mergedDir({ cache }: DataPaths): string {
  return join(cache, mergedFolder)
}

/** The files of a replica's answers. */
export function openAnswerFiles({ config, paths, clock }: Shared): AnswerFiles {
  return new AnswerFiles({ dir: join(paths.cache, 'answers'), mostBytes: config.limits.answerFileBytes, clock })
}

function textOf(halt: BuilderHalt | undefined): string | undefined {
  return halt === undefined ? undefined : `${halt.reason}: ${halt.what}`
}

/**
 * What lies in cache/ is derived: spools of a process that died are of no use. Its lock keeps those of another. The process that
 * holds it finds merged files and slices again.
 */
export async function emptyCache(dir: string, { opened }: Opening): Promise<void> {
  const unlock = lockDirectory(dir, 'cache')
  opened.push(async () => unlock())
  for (const name of await readdir(dir)) {
    if (/^(?:lock|owner)/.test(name) || name === mergedFolder || name === slicesFolder) continue
    await rm(join(dir, name), { recursive: true, force: true })
  }
}

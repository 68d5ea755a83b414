// The builder role: reads the log, folds it into blocks, commits them (design.md, decisions 3 to 9). One partition
// builder per partition of the log; builders of several processes may run side by side.

import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { Announcements } from '../log/announcements.ts'
import type { EventLog } from '../log/event-log.ts'
import type { DatasetId } from '../model/events.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { Compressor } from './built-slice.ts'
import { BlockBudget, type CutOptions, defaultCutOptions, Governor } from './governor.ts'
import { NameIndex } from './name-index.ts'
import { Partition } from './partition.ts'
import { declareLog } from './resume.ts'

/** A wall clock that moves this far against the monotonic one is not trusted with block times. */
const clockJumpMs = 10 * 60_000
const openBytesFreshMs = 100

export interface BuilderDeps {
  readonly log: EventLog
  readonly store: ObjectStore
  readonly announcements: Announcements
  readonly clock: Clock
  readonly logger: Logger
  readonly compressor: Compressor
  readonly options?: Partial<CutOptions>
  /** How long the next part of a large batch is waited for; default 15 minutes. */
  readonly attemptPatienceMs?: number
}

/** What stopped: a dataset, a whole partition when `dataset` is absent, or the cuts of the process. */
export interface BuilderHalt {
  /** Absent for what concerns the whole process. */
  readonly partition?: number
  readonly dataset?: DatasetId
  readonly reason: string
  readonly what: string
}

export interface BuilderStatus {
  /** False while a partition is halted or not begun, or the wall clock has jumped. */
  readonly ready: boolean
  readonly halted: readonly BuilderHalt[]
  readonly partitions: readonly {
    readonly partition: number
    /** Next message to read. */
    readonly position: number
    /** Everything below is committed. */
    readonly floor: number
    /** What the log held when reading began has been read. */
    readonly caughtUp: boolean
    /** Ended blocks that are not committed yet. */
    readonly waitingPlans: number
  }[]
  /** Commits in which another builder with other bytes came first. */
  readonly lostRaces: number
}

export interface Builder {
  status(): BuilderStatus
  /** Time until the next block of a dataset of `partition` may end; 0 when at once. */
  earliestNextCutInMs(partition: number, dataset: DatasetId): number
  /** Bytes of rows that have been read from the log and are in no block yet; at most 100 ms old. */
  openBytes(): number
  /** Finishes the commits under way, writes the floors, and resolves. Idempotent. */
  stop(): Promise<void>
}

/**
 * Starts building. Resolves once the log is declared in the store; resuming goes on behind (`status`).
 * Throws HaltError `LogReplaced` when the log is declared with another partition count.
 */
export async function startBuilder(deps: BuilderDeps): Promise<Builder> {
  const { log, store, clock } = deps
  await declareLog(store, log)
  const options = { ...defaultCutOptions, ...deps.options }
  const budget = new BlockBudget(options.blocksPerSecond)
  const startedMs = clock.nowMs() - clock.monotonicMs()
  const hasJumped = (): boolean => Math.abs(clock.nowMs() - clock.monotonicMs() - startedMs) > clockJumpMs
  const shared = { ...deps, names: new NameIndex(store), mayCut: () => !hasJumped() }
  const partitions = Array.from({ length: log.partitions }, (_, number) => {
    return new Partition(number, { ...shared, governor: new Governor(options, budget) })
  })
  const done = Promise.all(partitions.map((partition) => partition.run()))
  return {
    earliestNextCutInMs: (partition, dataset) => partitions[partition]?.earliestNextCutInMs(dataset) ?? 0,
    status: () => statusOf(partitions, hasJumped()),
    openBytes: openBytesOf(partitions, clock),
    async stop() {
      for (const partition of partitions) partition.stop()
      await done
    },
  }
}

/** Counts over all datasets, at most every 100 ms: the log asks at every append. */
function openBytesOf(partitions: readonly Partition[], clock: Clock): () => number {
  let bytes = 0
  let countedAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const nowMs = clock.monotonicMs()
    if (nowMs - countedAtMs >= openBytesFreshMs) {
      bytes = partitions.reduce((sum, partition) => sum + partition.openBytes, 0)
      countedAtMs = nowMs
    }
    return bytes
  }
}

function statusOf(partitions: readonly Partition[], hasJumped: boolean): BuilderStatus {
  const halted = partitions.flatMap((partition) => haltsOf(partition))
  const jump: BuilderHalt[] = hasJumped
    ? [{ reason: 'ClockJump', what: 'the wall clock has moved more than 10 minutes against the monotonic clock' }]
    : []
  return {
    ready: !hasJumped && partitions.every((partition) => partition.halt === undefined && partition.isBegun),
    halted: [...halted, ...jump],
    partitions: partitions.map((partition) => ({
      partition: partition.number,
      position: partition.position,
      floor: partition.floor,
      caughtUp: partition.isCaughtUp,
      waitingPlans: partition.waitingPlans,
    })),
    lostRaces: partitions.reduce((sum, partition) => sum + partition.lostRaces, 0),
  }
}

function haltsOf(partition: Partition): BuilderHalt[] {
  const { number, halt, haltedSlots } = partition
  const datasets = haltedSlots.map(({ id, halt: stopped }) => ({
    partition: number,
    dataset: id,
    reason: stopped?.reason ?? '',
    what: stopped?.what ?? '',
  }))
  return halt === undefined ? datasets : [{ partition: number, ...halt }, ...datasets]
}

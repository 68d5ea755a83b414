// The builder role: reads the log, folds it into blocks, commits them (docs/spec/protocol.md). One partition
// builder per partition that this process has; builders of several processes share the partitions, and whatever they
// believe, may build the same one side by side.

import type { Deletion } from '../../libraries/odf/chain/records.ts'
import { defined } from '../../libraries/base/collections.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { PartitionAssignment } from '../log/partitions.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { type Limits, limitsOf } from '../../libraries/base/limits.ts'
import { Assignment } from './assignment.ts'
import { CommitWatch } from './commit-watch.ts'
import { BuildTurns } from './committer.ts'
import { NameIndex } from './name-index.ts'
import { ClockWatch } from './clock-watch.ts'
import { BlockBudget, type CutOptions, defaultCutOptions, Governor } from './governor.ts'
import { Packer } from './packer.ts'
import { Partition, type PartitionDeps } from './partition.ts'
import { Remover } from './remover.ts'
import { declareLog, lastFloorMs } from './resume.ts'
import { EarlySlices } from './early-slice.ts'

const openBytesFreshMs = 100
/** Of the memory of bodies, each block that is built beside others counts its bytes within this part. */
const besideParts = 32

type OwnParts = 'early' | 'governor' | 'mayCut' | 'names' | 'packer' | 'rowMemory' | 'turns' | 'watch'

export interface BuilderDeps extends Omit<PartitionDeps, OwnParts> {
  readonly options?: Partial<CutOptions>
  /** What rows and blocks may take; that of a large machine by default. */
  readonly limits?: Pick<Limits, 'bodyMemoryBytes' | 'logMemoryBytes'>
  /** Loose copies of what is packed are not removed. */
  readonly keepLoose?: boolean | undefined
  /** See RemoverDeps. */
  readonly beforeRemoval?: ((deletion: Deletion) => Promise<void>) | undefined
  /** Says which partitions to build; without it all. */
  readonly assignment?: PartitionAssignment | undefined
}

/** What stopped: a dataset, a whole partition when `dataset` is absent, or the cuts of the process. */
export interface BuilderHalt {
  /** Absent for what concerns the whole process. */
  readonly partition?: number
  readonly dataset?: DatasetId
  readonly reason: string
  readonly what: string
  /** The message at fault, where an operator may end the halt by rejecting it. */
  readonly message?: number
}

export interface BuilderStatus {
  /**
   * False while a partition is halted or not begun, or the wall clock has jumped, or this builder has not been told its
   * partitions yet. A builder that was told that it has none is ready.
   */
  readonly ready: boolean
  readonly halted: readonly BuilderHalt[]
  /** Those that this builder has, ascending. */
  readonly partitions: readonly {
    readonly partition: number
    /** Next message to read. */
    readonly position: number
    /** Everything below is committed. */
    readonly floor: number
    /** Messages from the floor to the end of the log as of a few seconds ago; undefined until that is known. */
    readonly lag: number | undefined
    /** What the log held when reading began has been read. */
    readonly caughtUp: boolean
    /** Ended blocks that are not committed yet. */
    readonly waitingPlans: number
  }[]
  /** Why no block can be committed, where that has gone on for some seconds. */
  readonly commitFault: string | undefined
  /** Commits in which another builder with other bytes came first. */
  readonly lostRaces: number
}

export interface Builder {
  status(): BuilderStatus
  /** What stops the rows of a dataset of `partition`, if anything does. Costs no more with many datasets. */
  haltOf(partition: number, dataset: DatasetId): BuilderHalt | undefined
  /** Time until the next block of a dataset of `partition` may end; 0 when at once. */
  earliestNextCutInMs(partition: number, dataset: DatasetId): number
  /** Bytes of rows that have been read from the log and are in no block yet; at most 100 ms old. */
  openBytes(): number
  /** Rows of those. */
  openRows(): number
  /** Finishes the commits in flight, writes the floors, and resolves. Idempotent. */
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
  const { bodyMemoryBytes, logMemoryBytes } = deps.limits ?? limitsOf()
  const budget = new BlockBudget(options.blocksPerSecond)
  const clockWatch = new ClockWatch(clock, await lastFloorMs(store, log))
  const hasJumped = (): boolean => clockWatch.hasJumped()
  const watch = new CommitWatch(clock)
  const packer = new Packer(deps)
  const remover = new Remover({ ...deps, mayRemove: () => !hasJumped() })
  const names = new NameIndex(store, (id) => remover.deleted(id))
  const own = {
    names,
    packer,
    watch,
    turns: new BuildTurns(bodyMemoryBytes / besideParts),
    rowMemory: { freeBytes: logMemoryBytes },
    early: new EarlySlices(deps),
  }
  const shared = { ...deps, ...own, mayCut: () => !hasJumped() }
  const held = new Assignment(deps, (number) => {
    return new Partition(number, { ...shared, governor: new Governor(options, budget) })
  })
  const leave = new AbortController()
  const sharing = held.follow(leave.signal)
  return {
    earliestNextCutInMs: (partition, dataset) => held.get(partition)?.earliestNextCutInMs(dataset) ?? 0,
    status: () => {
      const clockHalt = hasJumped() ? haltOfClock(clockWatch) : undefined
      return { ...statusOf(held, clockHalt), commitFault: watch.fault }
    },
    haltOf: (partition, dataset) => (hasJumped() ? haltOfClock(clockWatch) : held.get(partition)?.haltOf(dataset)),
    openBytes: openBytesOf(held, clock),
    openRows: () => held.all.reduce((sum, partition) => sum + partition.openRows, 0),
    async stop() {
      // Handed back when the floors are written: the next builder begins there.
      await held.close()
      await packer.close()
      await remover.close()
      leave.abort()
      await sharing
    },
  }
}

/** Counts over all datasets, at most every 100 ms: the log asks at every append. */
function openBytesOf(held: Assignment, clock: Clock): () => number {
  let bytes = 0
  let countedAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const nowMs = clock.monotonicMs()
    if (nowMs - countedAtMs >= openBytesFreshMs) {
      bytes = held.all.reduce((sum, partition) => sum + partition.openBytes, 0)
      countedAtMs = nowMs
    }
    return bytes
  }
}

function haltOfClock({ isFar }: ClockWatch): BuilderHalt {
  const what = isFar
    ? 'the wall clock is more than five years beyond the time when something was last committed: set it'
    : 'the wall clock has moved more than 10 minutes against the monotonic clock; it is trusted once it is steady for a minute'
  return { reason: 'ClockJump', what }
}

function statusOf(held: Assignment, clockHalt: BuilderHalt | undefined): Omit<BuilderStatus, 'commitFault'> {
  const partitions = held.all
  const halted = partitions.flatMap((partition) => haltsOf(partition))
  return {
    ready:
      clockHalt === undefined &&
      held.isKnown &&
      partitions.every((partition) => partition.halt === undefined && partition.isBegun),
    halted: clockHalt === undefined ? halted : [...halted, clockHalt],
    partitions: partitions.map(({ number: partition, position, floor, lag, isCaughtUp: caughtUp, waitingPlans }) => {
      return { partition, position, floor, lag, caughtUp, waitingPlans }
    }),
    lostRaces: held.lostRaces,
  }
}

function haltsOf(partition: Partition): BuilderHalt[] {
  const { number, halt, haltedWorkers } = partition
  const datasets = haltedWorkers.flatMap(({ id, halted }): BuilderHalt[] => {
    if (halted === undefined) return []
    const { reason, what, message } = halted
    return [{ partition: number, dataset: id, reason, what, ...defined({ message }) }]
  })
  return halt === undefined ? datasets : [{ partition: number, ...halt }, ...datasets]
}

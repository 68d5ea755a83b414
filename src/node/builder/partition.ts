// The builder of one partition: three loops around a session. Reading hands it messages; cutting writes cuts; keeping
// writes floors, ends attempts whose parts stopped coming, and lets go of what is no longer needed.

import { defined } from '../../libraries/base/collections.ts'
import { HaltError, type HaltReason } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { Keeper, type KeeperDeps } from './keeper.ts'
import { checkLowWaterMark, LowWaterMarks } from './resume.ts'
import { Session, type SessionDeps } from './session.ts'
import type { DatasetWorker } from './worker.ts'

const keepMs = 5_000
const retryMs = 1_000
const cutEntriesMost = 4_000
/** While so many blocks wait to be committed, none is ended by time: rows gather in larger ones instead. */
const blocksWaitingMost = 64
const blocksLookMs = 20

/** What the partitions of a process share, and the governor of this one. */
export interface PartitionDeps
  extends
    Omit<SessionDeps, 'partition' | 'floors' | 'onDue' | 'anchorAt' | 'earliestNextCutInMs'>,
    Pick<KeeperDeps, 'attemptPatienceMs'> {
  /** False while this process must not write cuts. */
  readonly mayCut: () => boolean
  /** False where the log must not grow for the sake of floors alone; default true. */
  readonly tellsHalts?: boolean
}

export class Partition {
  readonly number: number
  readonly #deps: PartitionDeps
  readonly #floors: LowWaterMarks
  readonly #keeper: Keeper
  readonly #stop = new AbortController()
  #session: Session | undefined
  /** End of the log when the session began: no cuts before it is reached. */
  #backlogEnd = Number.POSITIVE_INFINITY
  #wake = new AbortController()
  #end: number | undefined
  /** The floor at which reading was last begun. */
  #tried = 0
  /** Of the sessions before this one. */
  #lostRaces = 0
  halt: { readonly reason: HaltReason; readonly what: string; readonly message?: number } | undefined

  constructor(number: number, deps: PartitionDeps) {
    this.number = number
    this.#deps = deps
    this.#floors = new LowWaterMarks({ ...deps, partition: number })
    this.#keeper = new Keeper({ ...deps, partition: number, floors: this.#floors })
  }

  /** Next message to read. */
  get position(): number {
    return this.#session?.position ?? this.floor
  }

  /** True once resuming has succeeded. */
  get isBegun(): boolean {
    return this.#session !== undefined
  }

  /** Everything below is committed, as this builder knows. */
  get floor(): number {
    return this.#floors.position
  }

  /** Messages from the floor to the end of the log, which was looked at some seconds ago at most. */
  get lag(): number | undefined {
    return this.#end === undefined ? undefined : Math.max(0, this.#end - this.floor)
  }

  /** True once the session has reached what the log held when it began. */
  get isCaughtUp(): boolean {
    return this.#session !== undefined && this.position >= this.#backlogEnd
  }

  /** Time until the dataset's next block may end; 0 when at once. */
  earliestNextCutInMs(dataset: DatasetId): number {
    return this.#deps.governor.earliestNextCutInMs(dataset, this.#deps.clock.monotonicMs())
  }

  get lostRaces(): number {
    return this.#lostRaces + (this.#session?.committer.lostRaces ?? 0)
  }

  /** Plans not committed yet, and datasets whose chain has to be read again. */
  get waitingPlans(): number {
    const stale = this.#workers.filter(({ phase }) => phase === 'stale' || phase === 'rebasing').length
    return stale + (this.#session?.committer.waiting ?? 0)
  }

  /** Bytes of rows that have been read and are in no block yet. */
  get openBytes(): number {
    return this.#workers.reduce((sum, worker) => sum + worker.openBytes, 0)
  }

  /** Rows that have been read and are in no block yet; those of batches whose parts are still coming do not count. */
  get openRows(): number {
    return this.#workers.reduce((sum, worker) => sum + worker.openRows, 0)
  }

  get haltedWorkers(): DatasetWorker[] {
    return this.#workers.filter(({ phase }) => phase === 'halted')
  }

  get #workers(): DatasetWorker[] {
    return this.#session?.workers ?? []
  }

  /** What stops a dataset of this partition. */
  haltOf(dataset: DatasetId): { readonly reason: string; readonly what: string } | undefined {
    return this.halt ?? this.#session?.worker(dataset)?.halted
  }

  /** Builds until `stop` is called. Never throws: faults of log and store are waited out, all else is a halt. */
  async run(): Promise<void> {
    await Promise.all([this.#readLoop(), this.#cutLoop(), this.#keepLoop()])
    await this.#session?.committer.settled()
    try {
      if (this.#session !== undefined) await this.#keeper.keepFloor(this.#session)
    } catch (error) {
      this.#deps.logger.warn({ err: error, partition: this.number }, 'the last floor could not be written')
    }
  }

  stop(): void {
    this.#stop.abort()
    this.#session?.stop()
    this.#wake.abort()
  }

  async #readLoop(): Promise<void> {
    const { log, logger, clock } = this.#deps
    while (!this.#stop.signal.aborted) {
      try {
        const { session, floor, from, replay } = await this.#begin()
        const { signal } = this.#stop
        // Below the floor only halted datasets have anything left.
        const filter = (id: DatasetId, position: number): boolean => position >= floor || replay.has(id)
        for await (const entries of log.read(this.number, from, { signal })) {
          const wasCaughtUp = this.isCaughtUp
          await session.takeAll(entries, from < floor ? filter : undefined)
          if (!wasCaughtUp && this.isCaughtUp) this.#ring()
        }
        return
      } catch (error) {
        if (this.#stop.signal.aborted) return
        if (error instanceof HaltError && !(await this.#hasNewerFloor(error))) {
          const message = this.#session?.unreadable
          this.halt = { reason: error.reason, what: error.what, ...defined({ message }) }
          logger.error({ partition: this.number, reason: error.reason }, error.message)
          if (message === undefined || !(await this.#keeper.rejected(message, this.#stop.signal))) return
          this.halt = undefined
          continue
        }
        logger.warn({ err: error, partition: this.number }, 'reading begins again at the floor')
        await clock.sleep(retryMs, this.#stop.signal)
      }
    }
  }

  /** A new session at the newest floor; `replay` are the halted datasets, read from where they stopped. */
  async #begin(): Promise<{
    readonly session: Session
    readonly floor: number
    readonly from: number
    readonly replay: ReadonlySet<DatasetId>
  }> {
    const { log, governor } = this.#deps
    for (const worker of this.#workers) governor.forget(worker.id)
    this.#lostRaces += this.#session?.committer.lostRaces ?? 0
    this.#session?.stop()
    this.#session = undefined
    const record = await this.#floors.refresh()
    // mutant: a lost log is read from where it begins
    const floor = record.position
    this.#tried = floor
    await checkLowWaterMark(log, this.number, record)
    const { start, end } = await log.range(this.number)
    // mutant end
    const replay = record.halted.filter(({ position }) => position >= start)
    const from = Math.min(floor, ...replay.map(({ position }) => position))
    this.#end = end
    this.#backlogEnd = end
    const session = new Session(
      {
        ...this.#deps,
        partition: this.number,
        floors: this.#floors,
        anchorAt: (position) => this.#keeper.anchorAt(position),
        earliestNextCutInMs: (dataset) => this.earliestNextCutInMs(dataset),
        onDue: () => this.#ring(),
      },
      { position: from, rejects: await this.#keeper.readRejects() },
    )
    for (const { dataset, position } of record.halted) {
      if (position >= start) continue
      const error = new HaltError('LogTruncated', `message ${position} is needed and gone`)
      session.haltUnread(dataset, error, position)
    }
    this.#session = session
    return { session, floor, from, replay: new Set(replay.map(({ dataset }) => dataset)) }
  }

  /** Goes on with datasets whose halt an operator has ended. */
  async #takeRejections(session: Session): Promise<void> {
    if (!this.haltedWorkers.some(({ halted }) => halted?.message !== undefined)) return
    const rejects = await this.#keeper.readRejects()
    if (this.#session !== session) return
    for (const dataset of session.release(rejects)) {
      this.#deps.logger.info({ dataset, partition: this.number }, 'an operator has ended a halt')
    }
  }

  /** A log that was cut below a floor that another builder has put meanwhile is no fault. */
  async #hasNewerFloor(error: HaltError): Promise<boolean> {
    if (error.reason !== 'LogTruncated' && error.reason !== 'LogRegressed') return false
    try {
      return (await this.#floors.refresh()).position > this.#tried
    } catch {
      return false
    }
  }

  #ring(): void {
    // A reason that is at hand: without one an error with its stack is made, for every row that opens a block.
    this.#wake.abort('due')
    this.#wake = new AbortController()
  }

  async #cutLoop(): Promise<void> {
    const { clock, governor, mayCut, logger } = this.#deps
    while (!this.#stop.signal.aborted) {
      const { signal } = this.#wake
      const nowMs = clock.monotonicMs()
      let dueMs: number | undefined
      if (this.isCaughtUp && mayCut()) {
        const isBehind = (this.#session?.committer.waiting ?? 0) >= blocksWaitingMost
        const datasets = isBehind ? [] : governor.take(nowMs)
        try {
          await this.#cut(datasets)
        } catch (error) {
          logger.warn({ err: error, partition: this.number }, 'a cut could not be written')
          governor.failed(datasets, clock.monotonicMs())
        }
        dueMs = isBehind ? nowMs + blocksLookMs : governor.nextDueMs(clock.monotonicMs())
      }
      if (this.#stop.signal.aborted) return
      const sleepMs = dueMs === undefined ? keepMs : Math.max(1, dueMs - clock.monotonicMs())
      await clock.sleep(Math.min(sleepMs, keepMs), signal)
    }
  }

  async #cut(datasets: readonly DatasetId[]): Promise<void> {
    const entries = datasets.flatMap((dataset) => {
      const state = this.#session?.worker(dataset)?.state
      return state?.open === undefined ? [] : [{ dataset, sequence: state.nextSequence }]
    })
    for (let at = 0; at < entries.length; at += cutEntriesMost) {
      await this.#keeper.cut(entries.slice(at, at + cutEntriesMost))
    }
  }

  async #keepLoop(): Promise<void> {
    const { clock, logger } = this.#deps
    while (!this.#stop.signal.aborted) {
      await clock.sleep(keepMs, this.#stop.signal)
      if (this.#stop.signal.aborted) return
      void this.#readEnd()
      const session = this.#session
      if (session === undefined) continue
      try {
        await this.#keeper.keepFloor(session)
        await this.#takeRejections(session)
        if (this.isCaughtUp && this.#deps.tellsHalts !== false) await this.#keeper.tellHalts(session)
        if (this.isCaughtUp) await this.#keeper.endStaleAttempts(session)
        if (this.isCaughtUp) this.#hurry(session.holdingTheLog)
        void session.dropIdle()
      } catch (error) {
        logger.warn({ err: error, partition: this.number }, 'the floor could not be written')
      }
    }
  }

  #hurry(datasets: readonly DatasetId[]): void {
    const { governor, clock } = this.#deps
    for (const dataset of datasets) governor.hurry(dataset, clock.monotonicMs())
    if (datasets.length > 0) this.#ring()
  }

  async #readEnd(): Promise<void> {
    try {
      this.#end = (await this.#deps.log.range(this.number)).end
    } catch {
      // It is only logged; a user of the log says what is wrong with it.
    }
  }
}

// The builder of one partition: three loops around a session. Reading takes messages; cutting writes cuts; keeping
// writes floors, ends attempts whose parts stopped coming, and lets go of what is no longer needed.

import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { Announcements } from '../log/announcements.ts'
import type { EventLog } from '../log/event-log.ts'
import { HaltError, type HaltReason } from '../model/errors.ts'
import type { DatasetId, Hash } from '../model/events.ts'
import type { Metrics } from '../ops/metrics.ts'
import { dataKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { newestFloor, type Rejects } from '../store/records.ts'
import { AttemptWatch } from './attempt-watch.ts'
import type { BuildNotes } from './build-notes.ts'
import type { BuildTurns } from './build-turns.ts'
import type { Compressor } from './built-slice.ts'
import { Committer } from './committer.ts'
import { findCulprit } from './find-culprit.ts'
import { FloorKeeper } from './floor-keeper.ts'
import type { Governor } from './governor.ts'
import { LogWriter } from './log-writer.ts'
import type { NameIndex } from './name-index.ts'
import { Rejections } from './rejections.ts'
import { checkFloor } from './resume.ts'
import { Session } from './session.ts'
import { openBytes, openRows, type Slot } from './slot.ts'
import { readPayload } from './whole-rows.ts'

const keepMs = 5_000
const retryMs = 1_000
const cutEntriesMost = 4_000

export interface PartitionDeps {
  readonly log: EventLog
  readonly store: ObjectStore
  readonly announcements: Announcements
  readonly clock: Clock
  readonly logger: Logger
  readonly compressor: Compressor
  readonly names: NameIndex
  readonly governor: Governor
  readonly metrics?: Metrics | undefined
  readonly turns: BuildTurns
  readonly notes?: BuildNotes | undefined
  /** False while this process must not write cuts. */
  readonly mayCut: () => boolean
  readonly attemptPatienceMs?: number
  /** False where the log must not grow for the sake of floors alone. */
  readonly tellsHalts?: boolean
}

interface Running {
  readonly session: Session
  readonly committer: Committer
  readonly stop: AbortController
}

export class Partition {
  readonly number: number
  readonly #deps: PartitionDeps
  readonly #writer: LogWriter
  readonly #stop = new AbortController()
  readonly #watch: AttemptWatch
  readonly #keeper: FloorKeeper
  readonly #rejections: Rejections
  #running: Running | undefined
  /** End of the log when the session began: no cuts before it is reached. */
  #backlogEnd = Number.POSITIVE_INFINITY
  #wake = new AbortController()
  #turn: Promise<unknown> = Promise.resolve()
  #end: number | undefined
  /** The floor at which reading was last begun. */
  #tried = 0
  #lostRaces = 0
  halt: { readonly reason: HaltReason; readonly what: string; readonly message?: number } | undefined

  constructor(number: number, deps: PartitionDeps) {
    this.number = number
    this.#deps = deps
    this.#watch = new AttemptWatch(deps.attemptPatienceMs)
    this.#writer = new LogWriter(deps.log, number, deps.clock)
    this.#keeper = new FloorKeeper({ ...deps, partition: number, writer: this.#writer })
    this.#rejections = new Rejections({ ...deps, partition: number })
  }

  get position(): number {
    return this.#running?.session.position ?? this.#keeper.floor
  }

  /** True once resuming has succeeded. */
  get isBegun(): boolean {
    return this.#running !== undefined
  }

  get floor(): number {
    return this.#keeper.floor
  }

  /** Messages from the floor to the end of the log, which was looked at some seconds ago at most. */
  get lag(): number | undefined {
    return this.#end === undefined ? undefined : Math.max(0, this.#end - this.#keeper.floor)
  }

  /** True once the session has reached what the log held when it began. */
  get isCaughtUp(): boolean {
    return this.#running !== undefined && this.position >= this.#backlogEnd
  }

  /** Time until the dataset's next block may end; 0 when at once. */
  earliestNextCutInMs(dataset: DatasetId): number {
    return this.#deps.governor.earliestNextCutInMs(dataset, this.#deps.clock.monotonicMs())
  }

  get lostRaces(): number {
    return this.#lostRaces + (this.#running?.committer.lostRaces ?? 0)
  }

  /** Plans not committed yet, and datasets whose chain has to be read again. */
  get waitingPlans(): number {
    let waiting = this.#running?.committer.waiting ?? 0
    for (const { isStale } of this.#running?.session.slots ?? []) if (isStale) waiting++
    return waiting
  }

  /** Bytes of rows that have been read and are in no block yet. */
  get openBytes(): number {
    let bytes = 0
    for (const slot of this.#running?.session.slots ?? []) bytes += openBytes(slot)
    return bytes
  }

  /** Rows that have been read and are in no block yet; those of batches whose parts are still coming do not count. */
  get openRows(): number {
    let rows = 0
    for (const slot of this.#running?.session.slots ?? []) rows += openRows(slot)
    return rows
  }

  /** What stops a dataset of this partition. */
  haltOf(dataset: DatasetId): { readonly reason: string; readonly what: string } | undefined {
    return this.halt ?? this.#running?.session.slot(dataset)?.halt
  }

  get haltedSlots(): Slot[] {
    return [...(this.#running?.session.slots ?? [])].filter((slot) => slot.halt !== undefined)
  }

  /** Builds until `stop` is called. Never throws: faults of log and store are waited out, all else is a halt. */
  async run(): Promise<void> {
    await Promise.all([this.#readLoop(), this.#cutLoop(), this.#keepLoop()])
    await this.#running?.committer.settled()
    try {
      await this.#keep()
    } catch (error) {
      this.#deps.logger.warn({ err: error, partition: this.number }, 'the last floor could not be written')
    }
  }

  stop(): void {
    this.#stop.abort()
    this.#running?.stop.abort()
    this.#wake.abort()
  }

  async #readLoop(): Promise<void> {
    const { log, logger, clock } = this.#deps
    while (!this.#stop.signal.aborted) {
      try {
        const { floor, from, replay } = await this.#begin()
        const { signal } = this.#stop
        for await (const entries of log.read(this.number, from, { signal })) {
          const wasCaughtUp = this.isCaughtUp
          await this.#inTurn(async (session) => {
            const first = entries[0]?.position ?? 0
            // Below the floor only halted datasets have anything left.
            const below = entries.slice(0, Math.max(0, floor - first))
            if (below.length > 0) await session.takeAll(below, (id) => replay.has(id))
            await session.takeAll(entries.slice(below.length), undefined)
          })
          if (!wasCaughtUp && this.isCaughtUp) this.#ring()
        }
        return
      } catch (error) {
        if (this.#stop.signal.aborted) return
        if (error instanceof HaltError && !(await this.#hasNewerFloor(error))) {
          const message = this.#running?.session.unreadable
          this.halt = { reason: error.reason, what: error.what, ...(message === undefined ? {} : { message }) }
          logger.error({ partition: this.number, reason: error.reason }, error.message)
          if (message === undefined || !(await this.#rejections.awaitAt(message, this.#stop.signal))) return
          this.halt = undefined
          continue
        }
        logger.warn({ err: error, partition: this.number }, 'reading begins again at the floor')
        await clock.sleep(retryMs, this.#stop.signal)
      }
    }
  }

  /** A new session at the newest floor; `replay` are the halted datasets, read from where they stopped. */
  async #begin(): Promise<{ floor: number; from: number; replay: ReadonlySet<DatasetId> }> {
    const { log, store, governor } = this.#deps
    for (const slot of this.#running?.session.slots ?? []) governor.forget(slot.id)
    this.#lostRaces += this.#running?.committer.lostRaces ?? 0
    this.#running?.stop.abort()
    this.#running = undefined
    const record = await newestFloor(store, log.id, this.number)
    // mutant: a lost log is read from where it begins
    const floor = record?.position ?? 0
    this.#tried = floor
    await checkFloor(log, this.number, record)
    const { start, end } = await log.range(this.number)
    // mutant end
    const halted = record?.halted ?? []
    const replay = halted.filter(({ position }) => position >= start)
    const from = Math.min(floor, ...replay.map(({ position }) => position))
    this.#keeper.floor = floor
    this.#end = end
    this.#backlogEnd = end
    const running = this.#newSession({ floor, position: from, rejects: await this.#rejections.read() })
    for (const { dataset, position } of halted) {
      if (position >= start) continue
      const error = new HaltError('LogTruncated', `message ${position} is needed and gone`)
      running.session.haltUnread(dataset, error, position)
    }
    this.#running = running
    return { floor, from, replay: new Set(replay.map(({ dataset }) => dataset)) }
  }

  /** Goes on with datasets whose halt an operator has ended. */
  async #takeRejections(session: Session): Promise<void> {
    if (!this.haltedSlots.some(({ halt }) => halt?.message !== undefined)) return
    const rejects = await this.#rejections.read()
    const running = this.#running
    if (running?.session !== session) return
    session.rejects = rejects
    for (const slot of session.release()) {
      this.#deps.logger.info({ dataset: slot.id, partition: this.number }, 'an operator has ended a halt')
      void this.#rebase(running, slot)
    }
  }

  #newSession(start: { floor: number; position: number; rejects: Rejects }): Running {
    const { log, store, compressor } = this.#deps
    const partition = this.number
    const build = {
      log: log.id,
      partition,
      compressor,
      readPayload: (positions: readonly number[]) => readPayload(log, partition, positions),
      storeSlice: async (dataset: DatasetId, chunks: AsyncIterable<Uint8Array>, hashOf: () => Hash) => {
        await store.putStream(chunks, () => dataKey(dataset, hashOf()))
      },
      anchorAt: (position: number) => this.#keeper.anchorAt(position),
    }
    const stop = new AbortController()
    const committer = new Committer({
      ...this.#deps,
      signal: stop.signal,
      build,
      culpritOf: (plan, tip) =>
        findCulprit({ store, build, source: { log, partition, rejects: session.rejects } }, plan, tip),
      earliestNextCutInMs: (dataset) => this.earliestNextCutInMs(dataset),
      onHalt: (slot, halt) => session.halt(slot, new HaltError(halt.reason, halt.what), halt.position, halt.message),
      onStale: (slot) => void this.#rebase(running, slot),
    })
    const session = new Session({ ...this.#deps, partition, committer, onDue: () => this.#ring() }, start)
    const running: Running = { session, committer, stop }
    return running
  }

  /** Reads a stale dataset's chain again, however long log or store keep it waiting. */
  async #rebase({ session, stop }: Running, slot: Slot): Promise<void> {
    const { clock, logger } = this.#deps
    while (!stop.signal.aborted) {
      try {
        return await this.#inTurn(async () => {
          if (!stop.signal.aborted) await session.rebase(slot)
        })
      } catch (error) {
        if (error instanceof HaltError) {
          const isBehind = await session.isBehind(error).catch(() => true)
          if (isBehind) continue
          return session.halt(slot, error, session.position)
        }
        logger.warn({ err: error, dataset: slot.id }, 'a chain could not be read again; it is tried again')
        await clock.sleep(retryMs, stop.signal)
      }
    }
  }

  /** Messages and rebases have the session one after the other. */
  #inTurn(work: (session: Session) => Promise<void>): Promise<void> {
    const turn = this.#turn.then(async () => {
      if (this.#running !== undefined) await work(this.#running.session)
    })
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  /** A log that was cut below a floor that another builder has put meanwhile is no fault. */
  async #hasNewerFloor(error: HaltError): Promise<boolean> {
    if (error.reason !== 'LogTruncated' && error.reason !== 'LogRegressed') return false
    try {
      const record = await newestFloor(this.#deps.store, this.#deps.log.id, this.number)
      return (record?.position ?? 0) > this.#tried
    } catch {
      return false
    }
  }

  #ring(): void {
    this.#wake.abort()
    this.#wake = new AbortController()
  }

  async #cutLoop(): Promise<void> {
    const { clock, governor, mayCut, logger } = this.#deps
    while (!this.#stop.signal.aborted) {
      const { signal } = this.#wake
      const nowMs = clock.monotonicMs()
      let dueMs: number | undefined
      if (this.isCaughtUp && mayCut()) {
        const datasets = governor.take(nowMs)
        try {
          await this.#cut(datasets)
        } catch (error) {
          logger.warn({ err: error, partition: this.number }, 'a cut could not be written')
          governor.failed(datasets, clock.monotonicMs())
        }
        dueMs = governor.nextDueMs(clock.monotonicMs())
      }
      if (this.#stop.signal.aborted) return
      const sleepMs = dueMs === undefined ? keepMs : Math.max(1, dueMs - clock.monotonicMs())
      await clock.sleep(Math.min(sleepMs, keepMs), signal)
    }
  }

  async #cut(datasets: readonly DatasetId[]): Promise<void> {
    const entries = datasets.flatMap((dataset) => {
      const state = this.#running?.session.slot(dataset)?.state
      return state?.open === undefined ? [] : [{ dataset, sequence: state.nextSequence }]
    })
    for (let at = 0; at < entries.length; at += cutEntriesMost) {
      await this.#writer.cut(entries.slice(at, at + cutEntriesMost))
    }
  }

  async #keepLoop(): Promise<void> {
    const { clock, logger } = this.#deps
    while (!this.#stop.signal.aborted) {
      await clock.sleep(keepMs, this.#stop.signal)
      if (this.#stop.signal.aborted) return
      void this.#readEnd()
      try {
        await this.#keep()
        const session = this.#running?.session
        if (session !== undefined) {
          await this.#takeRejections(session)
          if (this.#deps.tellsHalts !== false && this.isCaughtUp) await this.#keeper.tellHalts(session)
        }
        await this.#endStaleAttempts()
        void this.#inTurn(async (session) => session.dropIdle())
      } catch (error) {
        logger.warn({ err: error, partition: this.number }, 'the floor could not be written')
      }
    }
  }

  async #readEnd(): Promise<void> {
    try {
      this.#end = (await this.#deps.log.range(this.number)).end
    } catch {
      // It is only told; whoever needs the log says what is wrong with it.
    }
  }

  /** Writes the floor, if anything has been read. */
  async #keep(): Promise<void> {
    const session = this.#running?.session
    if (session !== undefined) await this.#keeper.keep(session)
  }

  async #endStaleAttempts(): Promise<void> {
    const session = this.#running?.session
    if (session === undefined || !this.isCaughtUp) return
    const states = [...session.slots].flatMap(({ state, halt }) =>
      state === undefined || halt !== undefined ? [] : [state],
    )
    for (const { dataset, attempt } of this.#watch.expired(states, this.#deps.clock.monotonicMs())) {
      await this.#writer.abort(dataset, attempt)
    }
  }
}

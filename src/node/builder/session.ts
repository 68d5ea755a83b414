// One run over a partition from its floor on: hands messages in order to the workers of their datasets, and rebases the
// workers that have gone stale. A session that meets a fault of the log or the store is thrown away; the next one starts
// at the floor.

import { nextTurn } from '../../libraries/base/clock.ts'
import type { LogEntry } from '../log/event-log.ts'
import { type DecodedMessage, decodeMessage } from '../log/messages.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { limitTable } from '../../libraries/base/limits.ts'
import { dataKey } from '../store/layout.ts'
import type { Rejects } from '../store/records.ts'
import { Committer, type CommitterDeps } from './committer.ts'
import type { LoadedDataset } from './load-dataset.ts'
import { findCulprit } from './poison.ts'
import { openChain } from './resume.ts'
import type { EarlySlices } from './early-slice.ts'
import { decodeEntry, KeptRows, readBatches, type RowMemory } from './rows.ts'
import { DatasetWorker, type Run } from './worker.ts'

/** Work on messages goes on at most this long before the event loop turns. */
const turnMs = 5
const retryMs = 1_000
/** Messages whose datasets are looked at together. */
const aheadMessages = 256
const chainsAtOnce = 16

export interface SessionDeps
  extends
    Pick<Run, 'log' | 'partition' | 'store' | 'names' | 'floors' | 'clock' | 'logger' | 'governor' | 'onDue'>,
    Omit<CommitterDeps, 'build' | 'signal' | 'culpritOf'> {
  readonly compressor: CommitterDeps['build']['compressor']
  readonly threads?: CommitterDeps['build']['threads']
  readonly anchorAt: CommitterDeps['build']['anchorAt']
  readonly rowMemory: RowMemory
  readonly early: EarlySlices
  /** How much of the log may wait for open blocks; default 250,000 messages or 1 GiB. */
  readonly replayMost?: ReplayMost
  /** Memory of datasets above which idle ones are dropped; limit `catalogBytes`. */
  readonly stateBytesMost?: number
}

/** What a restart may have to read again because of blocks that are open: sparse ones are ended for it. */
interface ReplayMost {
  readonly messages: number
  readonly bytes: number
}

const defaultReplayMost: ReplayMost = { messages: 250_000, bytes: 1024 * 1024 * 1024 }
/** Into so many pieces the log that may be read again is divided. */
const replayMarks = 16

/** Which datasets' messages to take; all when undefined. */
type Filter = ((dataset: DatasetId, position: number) => boolean) | undefined

export class Session {
  readonly #run: Run
  readonly #stop = new AbortController()
  readonly #workers = new Map<DatasetId, DatasetWorker>()
  /**
   * Chains that are read before their messages come: one after the other each waits for the disk, and a restart with
   * thousands of datasets behind the floor would keep new rows waiting.
   */
  readonly #reading = new Map<DatasetId, Promise<LoadedDataset | undefined>>()
  readonly #replayMost: ReplayMost
  readonly #stateBytesMost: number
  /** Positions that lie a piece of that apart, the oldest first, and what came since the last one. */
  readonly #marks: number[] = []
  #sinceMark = { messages: 0, bytes: 0 }
  #uses = 0
  /** Messages and rebases have the workers one after the other. */
  #turn: Promise<unknown> = Promise.resolve()
  /** The message that stopped the partition, because it cannot be read. */
  unreadable: number | undefined

  constructor(deps: SessionDeps, start: { readonly position: number; readonly rejects: Rejects }) {
    const { log, partition, store, compressor, threads, anchorAt } = deps
    const kept = new KeptRows(deps.rowMemory, deps.early)
    const build: CommitterDeps['build'] = {
      log: log.id,
      partition,
      compressor,
      threads,
      anchorAt,
      early: (plan) => deps.early.take(plan),
      readBatches: (positions) => readBatches(this.#run, positions),
      storeSlice: (dataset, chunks, hashOf) => store.putStream(chunks, () => dataKey(dataset, hashOf())),
    }
    const committer = new Committer({
      ...deps,
      signal: this.#stop.signal,
      build,
      culpritOf: (plan, tip) =>
        findCulprit({ store, build, source: { log, partition, rejects: this.#run.rejects } }, plan, tip),
    })
    this.#replayMost = deps.replayMost ?? defaultReplayMost
    this.#stateBytesMost = deps.stateBytesMost ?? limitTable.catalogBytes.value
    this.#run = { ...deps, ...start, committer, kept, onStale: (worker) => void this.#rebase(worker) }
  }

  /** Position of the next message to take. */
  get position(): number {
    return this.#run.position
  }

  get committer(): Committer {
    return this.#run.committer
  }

  get workers(): DatasetWorker[] {
    return [...this.#workers.values()]
  }

  worker(id: DatasetId): DatasetWorker | undefined {
    return this.#workers.get(id)
  }

  /** Datasets whose open blocks keep more of the log from being let go than a restart should have to read. */
  get holdingTheLog(): readonly DatasetId[] {
    const [horizon] = this.#marks
    if (horizon === undefined || this.#marks.length < replayMarks) return []
    return this.workers.filter(({ firstUncommitted = horizon }) => firstUncommitted < horizon).map(({ id }) => id)
  }

  /** Ends the session; commits in flight come to their end, or not. */
  stop(): void {
    this.#stop.abort()
    this.#run.kept.close()
  }

  /** Takes `entries` in order. Throws HaltError for what stops the partition; store and log errors as they are. */
  takeAll(entries: readonly LogEntry[], filter: Filter): Promise<void> {
    const { clock } = this.#run
    return this.#inTurn(async () => {
      let turnAtMs = clock.monotonicMs() + turnMs
      for (let at = 0; at < entries.length; at += aheadMessages) {
        const messages = entries.slice(at, at + aheadMessages).map((entry) => ({ entry, message: decodeAhead(entry) }))
        this.#readAhead(messages, filter)
        for (const { entry, message } of messages) {
          if (entry.position !== this.position) {
            throw new HaltError('LogDamaged', `message ${entry.position} comes where ${this.position} should`)
          }
          await this.#take(entry.position, message ?? this.#decode(entry), filter)
          this.#run.position++
          this.#mark(entry.bytes.length)
          if (clock.monotonicMs() < turnAtMs) continue
          await nextTurn()
          turnAtMs = clock.monotonicMs() + turnMs
        }
      }
    })
  }

  /** Halts a dataset that the floor lists as halted and whose messages are gone. */
  haltUnread(id: DatasetId, error: HaltError, position: number): void {
    const worker = new DatasetWorker(id, this.#run)
    this.#workers.set(id, worker)
    worker.halt(error, position)
  }

  /** Goes on with datasets whose halt an operator has ended by rejecting a message. Resolves with their ids. */
  release(rejects: Rejects): DatasetId[] {
    this.#run.rejects = rejects
    const released = this.workers.filter(({ id, halted }) => {
      return halted?.message !== undefined && rejects.get(halted.message)?.dataset === id
    })
    for (const worker of released) worker.release()
    return released.map(({ id }) => id)
  }

  /** Everything below is committed, but for halted datasets. */
  committedTo(): number {
    let position = this.position
    for (const worker of this.#workers.values()) {
      // mutant: the floor before the block
      if (worker.phase !== 'halted') position = Math.min(position, worker.firstUncommitted ?? position)
    }
    return position
  }

  /** Drops datasets that hold nothing of their own, least recently used first, until memory is within its bound. */
  dropIdle(): Promise<void> {
    return this.#inTurn(async () => {
      let bytes = 0
      for (const worker of this.#workers.values()) bytes += worker.memoryBytes
      if (bytes <= this.#stateBytesMost) return
      for (const worker of this.workers.sort((a, b) => a.lastUsed - b.lastUsed)) {
        if (bytes <= this.#stateBytesMost) return
        if (!worker.isIdle) continue
        bytes -= worker.memoryBytes
        this.#workers.delete(worker.id)
      }
    })
  }

  #mark(bytes: number): void {
    const since = { messages: this.#sinceMark.messages + 1, bytes: this.#sinceMark.bytes + bytes }
    const { messages, bytes: bytesMost } = this.#replayMost
    const isPiece = since.messages * replayMarks >= messages || since.bytes * replayMarks >= bytesMost
    this.#sinceMark = isPiece ? { messages: 0, bytes: 0 } : since
    if (isPiece && this.#marks.push(this.position) > replayMarks) this.#marks.shift()
  }

  /** Rebases a stale worker, however long log or store keep it waiting. */
  async #rebase(worker: DatasetWorker): Promise<void> {
    const { clock, logger } = this.#run
    const { signal } = this.#stop
    while (!signal.aborted) {
      // What it was committing has nothing to do with the chain that is about to be read.
      await worker.inFlight
      try {
        return await this.#inTurn(async () => {
          if (!signal.aborted) await worker.rebase((from) => this.#replay(worker, from))
        })
      } catch (error) {
        if (error instanceof HaltError) {
          if (await this.#isBehind(error).catch(() => true)) continue
          if (worker.phase === 'stale') worker.halt(error, this.position)
          return
        }
        logger.warn({ err: error, dataset: worker.id }, 'a chain could not be read again; it is tried again')
        await clock.sleep(retryMs, signal)
      }
    }
  }

  /** Hands the messages of one dataset from `from` up to the session's position to its worker. */
  async #replay(worker: DatasetWorker, from: number): Promise<void> {
    const { log, partition } = this.#run
    if (from >= this.position) return
    for await (const entries of log.read(partition, from, { follow: false })) {
      for (const entry of entries) {
        if (entry.position >= this.position || worker.phase !== 'rebasing') return
        await this.#take(entry.position, this.#decode(entry), (id) => id === worker.id)
      }
    }
  }

  /** True when the floor has risen since it was last read: what `error` says is gone may be committed by now. */
  async #isBehind(error: HaltError): Promise<boolean> {
    const { floors } = this.#run
    const before = floors.position
    await floors.refresh()
    return error.reason === 'LogTruncated' && floors.position > before
  }

  async #take(position: number, message: DecodedMessage, filter: Filter): Promise<void> {
    if (message.kind === 'foreign') return
    const { header, payload } = message
    if (header.kind === 'cut') {
      const timeMs = Date.parse(header.time)
      for (const { dataset, sequence } of header.entries) {
        if (filter !== undefined && !filter(dataset, position)) continue
        await (await this.#workerOf(dataset)).takeCut({ position, sequence, timeMs })
      }
      return
    }
    if (filter !== undefined && !filter(header.dataset, position)) return
    const worker = await this.#workerOf(header.dataset)
    worker.lastUsed = ++this.#uses
    await worker.take(header.kind === 'create' ? { position, header, payload } : { position, header, payload })
  }

  async #workerOf(id: DatasetId): Promise<DatasetWorker> {
    const known = this.#workers.get(id)
    if (known !== undefined) return known
    const worker = new DatasetWorker(id, this.#run)
    const reading = this.#reading.get(id)
    this.#reading.delete(id)
    await worker.load(reading)
    this.#workers.set(id, worker)
    return worker
  }

  /** Begins to read the chains of datasets that are new, many at once; forgets those whose messages did not come. */
  #readAhead(messages: readonly { entry: LogEntry; message: DecodedMessage | undefined }[], filter: Filter): void {
    this.#reading.clear()
    const missing = new Set<DatasetId>()
    for (const { entry, message } of messages) {
      if (message?.kind !== 'message' || message.header.kind === 'cut') continue
      const { dataset } = message.header
      if (!this.#workers.has(dataset) && filter?.(dataset, entry.position) !== false) missing.add(dataset)
    }
    if (missing.size < 2) return
    const lanes = Array.from({ length: chainsAtOnce }, (): Promise<unknown> => Promise.resolve())
    for (const [index, dataset] of [...missing].entries()) {
      const before = lanes[index % chainsAtOnce] ?? Promise.resolve()
      const reading = before.then(() => openChain(this.#run, dataset))
      // The worker is told why its chain could not be read.
      lanes[index % chainsAtOnce] = reading.catch(() => {})
      this.#reading.set(dataset, reading)
    }
  }

  #decode(entry: LogEntry): DecodedMessage {
    try {
      return decodeEntry(this.#run.rejects, entry)
    } catch (error) {
      if (!(error instanceof HaltError) || error.reason !== 'LogDamaged') throw error
      this.unreadable = entry.position
      throw new HaltError(error.reason, `${error.what} (message ${entry.position})`, error)
    }
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => undefined)
    return turn
  }
}

/** The message, or undefined for one that cannot be read: that is met when its turn comes. */
function decodeAhead({ bytes }: LogEntry): DecodedMessage | undefined {
  try {
    return decodeMessage(bytes)
  } catch {
    return undefined
  }
}

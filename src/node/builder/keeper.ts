// What the builder of one partition writes beside blocks: cuts and aborts into the log, as one writer with numbered
// messages, and floors into the store: how far everything is committed, and which datasets are halted
// (docs/spec/protocol.md §4). It also reads what operators have rejected.

import { defined } from '../../libraries/base/collections.ts'
import type { HaltedDataset, LowWaterMark } from '../../libraries/odf/chain/records.ts'
import { type DatasetId, type Hash, base64urlText, sha3Hash } from '../../libraries/base/ids/identifiers.ts'
import { randomBytes } from '../../libraries/base/ids/native-crypto.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import { sameValue } from '../../libraries/base/compare.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { EventLog } from '../log/event-log.ts'
import type { AbortHeader, Attempt, CutEntry, CutHeader } from '../log/messages.gen.ts'
import { encodeMessage } from '../log/messages.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { putLowWaterMark, readRejects, type Rejects } from '../store/records.ts'
import { attemptKey, type DatasetState } from './dataset-state.ts'
import type { LowWaterMarks } from './resume.ts'
import type { Session } from './session.ts'

const anchorsKept = 64
const writerBytes = 16
/** How often it is looked whether an operator has rejected a message. */
const lookMs = 5_000
/** A builder that is caught up with the log ends an attempt after waiting this long for its next part. */
const defaultPatienceMs = 15 * 60_000

export interface KeeperDeps {
  readonly log: EventLog
  readonly store: ObjectStore
  readonly partition: number
  readonly floors: LowWaterMarks
  readonly clock: Clock
  readonly logger: Logger
  /** How long the next part of a large batch is waited for; default 15 minutes. */
  readonly attemptPatienceMs?: number
}

export class Keeper {
  readonly #deps: KeeperDeps
  readonly #writer = base64urlText(randomBytes(writerBytes)).slice(1)
  #n = 0
  readonly #anchors = new Map<number, Promise<Hash>>()
  readonly #attempts: AttemptWatch
  /** What was halted when the log last got a message for it. */
  #told: readonly HaltedDataset[] = []

  constructor(deps: KeeperDeps) {
    this.#deps = deps
    this.#attempts = new AttemptWatch(deps.attemptPatienceMs)
  }

  /** Ends the open blocks of `entries` at the time of now. Durable when it resolves. Throws as `EventLog.append`. */
  async cut(entries: readonly CutEntry[]): Promise<void> {
    const at = this.#now()
    await this.#append({ kind: 'cut', writer: this.#writer, n: ++this.#n, at, time: at, entries })
  }

  /** Ends large batches whose parts have stopped coming. Throws as `cut`. */
  async endStaleAttempts(session: Session): Promise<void> {
    const states = session.workers.flatMap(({ state, halted }) => (state === undefined || halted ? [] : [state]))
    for (const { dataset, attempt } of this.#attempts.expired(states, this.#deps.clock.monotonicMs())) {
      await this.#append({ kind: 'abort', writer: this.#writer, n: ++this.#n, at: this.#now(), dataset, attempt })
    }
  }

  /** Writes the floor if it has risen, and lets the log go of what is below it. Throws what log and store throw. */
  async keepFloor(session: Session): Promise<void> {
    const { log, store, partition, floors } = this.#deps
    const newest = await floors.refresh()
    const position = session.committedTo()
    if (position <= newest.position) return
    const halted = haltedOf(session)
    const anchor = await this.anchorAt(position - 1)
    const record: LowWaterMark = { log: log.id, partition, position, anchor, halted }
    await putLowWaterMark(store, record)
    floors.position = position
    await log.release(partition, Math.min(position, ...halted.map((one) => one.position)))
  }

  /**
   * Lets the floor rise by a message that does nothing, where the newest floor lists other halts than there are and
   * everything is committed. At most once for the same halts. Throws what log and store throw.
   */
  async tellHalts(session: Session): Promise<void> {
    const halted = haltedOf(session)
    const newest = await this.#deps.floors.refresh()
    if (sameValue(halted, newest.halted)) this.#told = halted
    if (sameValue(halted, this.#told)) return
    if (newest.position !== session.position || session.committedTo() !== session.position) return
    const of = session.workers.find(({ state }) => state !== undefined)
    if (of === undefined) return
    this.#told = halted
    await this.cut([{ dataset: of.id, sequence: 0 }])
  }

  /** Hash of a message; kept for a few, because one cut ends blocks of many datasets. */
  anchorAt(position: number): Promise<Hash> {
    let anchor = this.#anchors.get(position)
    if (anchor === undefined) {
      anchor = this.#deps.log.get(this.#deps.partition, position).then((message) => {
        if (message === undefined) throw new HaltError('LogTruncated', `message ${position} is needed and gone`)
        return sha3Hash(message)
      })
      this.#anchors.set(position, anchor)
      anchor.catch(() => this.#anchors.delete(position))
      for (const oldest of this.#anchors.keys()) {
        if (this.#anchors.size <= anchorsKept) break
        this.#anchors.delete(oldest)
      }
    }
    return anchor
  }

  /** What operators have rejected in the partition. Throws what the store throws. */
  readRejects(): Promise<Rejects> {
    const { log, store, logger, partition } = this.#deps
    return readRejects(store, { log: log.id, partition }, (position, error) =>
      logger.warn({ err: error, partition, position }, 'a rejection by an operator is damaged'),
    )
  }

  /** Waits until the message at `position` is rejected. False when `signal` aborts before. */
  async rejected(position: number, signal: AbortSignal): Promise<boolean> {
    const { clock, logger, partition } = this.#deps
    while (!signal.aborted) {
      try {
        if ((await this.readRejects()).has(position)) return true
      } catch (error) {
        logger.warn({ err: error, partition }, 'rejections by operators cannot be read')
      }
      await clock.sleep(lookMs, signal)
    }
    return false
  }

  async #append(header: CutHeader | AbortHeader): Promise<void> {
    await this.#deps.log.append(this.#deps.partition, [encodeMessage(header)], { useReserve: true, ahead: true })
  }

  #now(): string {
    return new Date(this.#deps.clock.nowMs()).toISOString()
  }
}

function haltedOf({ workers }: Session): readonly HaltedDataset[] {
  return workers
    .flatMap(({ id, halted }): HaltedDataset[] => {
      if (halted === undefined) return []
      const { position, reason, message } = halted
      return [{ dataset: id, position, reason, ...defined({ message }) }]
    })
    .sort((a, b) => (a.dataset < b.dataset ? -1 : 1))
}

interface Seen {
  readonly parts: number
  readonly sinceMs: number
}

/** Notices large batches whose parts have stopped coming. Pure over monotonic time. */
export class AttemptWatch {
  readonly #patienceMs: number
  #seen = new Map<string, Seen>()

  constructor(patienceMs: number = defaultPatienceMs) {
    this.#patienceMs = patienceMs
  }

  /** Attempts among `states` that have had no new part for so long (15 minutes); each is named again after as long. */
  expired(states: Iterable<DatasetState>, nowMs: number): { dataset: DatasetId; attempt: Attempt }[] {
    const seen = new Map<string, Seen>()
    const expired: { dataset: DatasetId; attempt: Attempt }[] = []
    for (const state of states) {
      for (const { writer, n, positions } of state.attempts.values()) {
        const key = `${state.id} ${attemptKey({ writer, n })}`
        const before = this.#seen.get(key)
        const isSame = before?.parts === positions.length
        const isExpired = isSame && nowMs - before.sinceMs >= this.#patienceMs
        if (isExpired) expired.push({ dataset: state.id, attempt: { writer, n } })
        seen.set(key, isSame && !isExpired ? before : { parts: positions.length, sinceMs: nowMs })
      }
    }
    this.#seen = seen
    return expired
  }
}

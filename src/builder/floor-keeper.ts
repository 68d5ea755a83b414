// Writes the floors of one partition: how far everything is committed, and which datasets are halted (protocol.md §4). A
// floor is written when it rises; where only what is halted has changed, the log gets one message more, so that it can.

import type { FloorRecord, HaltedDataset } from '../chain/records.ts'
import { sha3Hash } from '../ids/multihash.ts'
import { sameValue } from '../lib/compare.ts'
import type { EventLog } from '../log/event-log.ts'
import { HaltError } from '../model/errors.ts'
import type { Hash } from '../model/events.ts'
import { newestFloor, putFloor } from '../store/records.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { LogWriter } from './log-writer.ts'
import type { Session } from './session.ts'

const anchorsKept = 64

export interface FloorKeeperDeps {
  readonly log: EventLog
  readonly store: ObjectStore
  readonly partition: number
  readonly writer: LogWriter
}

export class FloorKeeper {
  readonly #deps: FloorKeeperDeps
  readonly #anchors = new Map<number, Promise<Hash>>()
  /** What was halted when the log last got a message for it. */
  #told: readonly HaltedDataset[] = []
  /** Everything below is committed, as this builder knows. */
  floor = 0

  constructor(deps: FloorKeeperDeps) {
    this.#deps = deps
  }

  /** Writes the floor if it has risen, and lets the log go of what is below it. Throws what log and store throw. */
  async keep(session: Session): Promise<void> {
    const { log, store, partition } = this.#deps
    const newest = (await newestFloor(store, log.id, partition))?.position ?? 0
    const position = session.committedTo()
    if (position <= newest) return
    const halted = haltedOf(session)
    const anchor = await this.anchorAt(position - 1)
    const record: FloorRecord = { log: log.id, partition, position, anchor, halted }
    await putFloor(store, record)
    this.floor = position
    session.floor = position
    await log.release(partition, Math.min(position, ...halted.map((one) => one.position)))
  }

  /**
   * Lets the floor rise by a message that does nothing, where the newest floor lists other halts than there are and
   * everything is committed. At most once for the same halts. Throws what log and store throw.
   */
  async tellHalts(session: Session): Promise<void> {
    const { log, store, partition, writer } = this.#deps
    const halted = haltedOf(session)
    const newest = await newestFloor(store, log.id, partition)
    if (sameValue(halted, newest?.halted ?? [])) this.#told = halted
    if (sameValue(halted, this.#told)) return
    if (newest?.position !== session.position || session.committedTo() !== session.position) return
    const of = [...session.slots].find(({ state }) => state !== undefined)
    if (of === undefined) return
    this.#told = halted
    await writer.cut([{ dataset: of.id, sequence: 0 }])
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
}

function haltedOf({ slots }: Session): readonly HaltedDataset[] {
  const halted: HaltedDataset[] = []
  for (const { id, halt } of slots) {
    if (halt === undefined) continue
    const { position, reason, message } = halt
    halted.push({ dataset: id, position, reason, ...(message === undefined ? {} : { message }) })
  }
  return halted.sort((a, b) => (a.dataset < b.dataset ? -1 : 1))
}

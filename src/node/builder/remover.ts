// Removes what the store has of deleted datasets, when they can no longer be restored (docs/decisions/datasets.md). A
// restoration that was logged in time may still be on its way: so the log's end is looked at a while after the grace, and
// nothing goes before all up to there is committed. What was begun when a process ended is finished by the next. A wall
// clock that is wrong ends no grace: the clock of the store has to have gone as far.

import type { Deletion } from '../../libraries/odf/chain/records.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { EventLog } from '../log/event-log.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { datasetOfFolder, deletionsPrefix } from '../store/layout.ts'
import { readDeletion } from '../store/names.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { newestLowWaterMark } from '../store/records.ts'
import { deletionAgeMs, removeChain } from '../store/remove-chain.ts'

const lookMs = 10_000
/** Clocks of gateways differ less, and a gateway gives up what it appends much sooner. */
const laterMs = 15 * 60_000

/** A deletion that is not due yet, or done. */
interface Watched {
  /** Which one of the dataset's. */
  readonly at: string
  readonly notBeforeMs: number
  /** End of the log when it was found due. */
  readonly end?: number
}

export interface RemoverDeps {
  readonly store: ObjectStore
  readonly log: EventLog
  readonly clock: Clock
  readonly logger: Logger
  /** What others do before a dataset is removed; where it fails, the removal is tried again later. */
  readonly beforeRemoval?: ((deletion: Deletion) => Promise<void>) | undefined
  /** False while the wall clock is not to be trusted. */
  readonly mayRemove: () => boolean
}

export class Remover {
  readonly #deps: RemoverDeps
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  readonly #startedMs: number
  readonly #watched = new Map<DatasetId, Watched>()

  constructor(deps: RemoverDeps) {
    this.#deps = deps
    this.#startedMs = deps.clock.monotonicMs()
    this.#running = this.#run()
  }

  /** The dataset was deleted just now, maybe not for the first time. */
  deleted(id: DatasetId): void {
    this.#watched.delete(id)
  }

  /** Resolves when nothing is being removed; the rest waits for the next process. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { store, clock, logger } = this.#deps
    const { signal } = this.#stop
    for (;;) {
      await clock.sleep(lookMs, signal)
      if (signal.aborted) return
      if (!this.#deps.mayRemove()) continue
      try {
        for (const folder of await store.list(deletionsPrefix)) {
          const id = datasetOfFolder(folder)
          if (id !== undefined && (this.#watched.get(id)?.notBeforeMs ?? 0) <= clock.nowMs()) await this.#look(id)
        }
      } catch (error) {
        if (!signal.aborted) logger.warn({ err: error }, 'deleted datasets could not be removed; it is tried again')
      }
    }
  }

  async #look(id: DatasetId): Promise<void> {
    const { store, clock, logger } = this.#deps
    const deletion = await readDeletion(store, id)
    if (deletion === undefined) return
    const { at } = deletion
    const held = this.#watched.get(id)
    const watched = held?.at === at ? held : { at, notBeforeMs: dueAt(deletion) }
    this.#watched.set(id, watched)
    if (watched.notBeforeMs > clock.nowMs()) return
    if (!(await this.#isOver(id, deletion))) {
      this.#watched.set(id, { ...watched, notBeforeMs: clock.nowMs() + laterMs })
      return
    }
    if (!(await this.#isPast(id, deletion, watched)) || (await readDeletion(store, id))?.at !== at) return
    await this.#deps.beforeRemoval?.(deletion)
    const objects = await removeChain(store, id, this.#stop.signal)
    if (this.#stop.signal.aborted) return
    this.#watched.set(id, { at, notBeforeMs: Number.POSITIVE_INFINITY })
    if (objects > 0) logger.info({ dataset: id, alias: deletion.name.alias, objects }, 'a deleted dataset is removed')
  }

  /**
   * True where more says that the grace is over than the wall clock, which may be wrong since this process began: the store,
   * and that nobody has put the clock right for a while.
   */
  async #isOver(id: DatasetId, { at, until }: Deletion): Promise<boolean> {
    const { store, clock } = this.#deps
    if (until === at) return true
    if (clock.monotonicMs() - this.#startedMs < laterMs) return false
    return ((await deletionAgeMs(store, id)) ?? 0) >= Date.parse(until) - Date.parse(at)
  }

  /** True where all that the log held when the deletion was found due is committed. */
  async #isPast(id: DatasetId, { name }: Deletion, watched: Watched): Promise<boolean> {
    const { store, log } = this.#deps
    // Nothing comes from a log that was given up.
    if (name.log !== log.id) return true
    const end = watched.end ?? (await log.range(name.partition)).end
    this.#watched.set(id, { ...watched, end })
    return ((await newestLowWaterMark(store, log.id, name.partition))?.position ?? 0) >= end
  }
}

/** Without a grace there is nothing to wait for. */
function dueAt({ at, until }: Deletion): number {
  return until === at ? Date.parse(at) : Date.parse(until) + laterMs
}

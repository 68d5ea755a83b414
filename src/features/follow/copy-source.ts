// What readers of the copies ask for while they wait: an object, a chain or a name that fails its check, fetched anew; the
// head that the origin has by now. Each is done once for all readers that ask, and none waits for long: what takes longer
// goes on, and the reader comes again.

import { ProofstreamError } from '../../libraries/client/exchange.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { DecodeError, HaltError, NodeError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import type { PackableKey } from '../../node/store/layout.ts'
import type { FollowedDataset } from './dataset.ts'
import { fetchAnew, type FetchDeps, isPacked } from './fetch.ts'
import { isRefusal } from './origin.ts'

/** A reader is told to come again after this. */
const patienceMs = 15_000
/** The same for a head: it may be long way to it. */
const catchUpMs = 5_000
const lookEveryMs = 50
/** The origin is asked for its head for this long at most once. */
const askEveryMs = 1_000

export interface CopySourceDeps extends FetchDeps {
  readonly clock: Clock
  readonly logger: Logger
  /** One that the origin shows to this replica. */
  readonly shown: (id: DatasetId) => FollowedDataset | undefined
  readonly mendName: (alias: string) => Promise<boolean>
  /** Resolves when the origin has been asked once. */
  readonly asked: Promise<void>
}

export class CopySource {
  readonly #deps: CopySourceDeps
  readonly #objects = new Map<string, Promise<boolean>>()
  /** When the head of a dataset is asked for next, or was last, by the monotonic clock, and whether the origin says it. */
  readonly #asks = new Map<DatasetId, { readonly atMs: number; readonly said: Promise<boolean> }>()

  constructor(deps: CopySourceDeps) {
    this.#deps = deps
  }

  /** Stores an object anew; false where the origin does not have it. Throws NodeError `CopyBehind`. */
  async object(asked: PackableKey): Promise<boolean> {
    if (asked.kind === 'commits') return false
    const key = `${asked.id} ${asked.kind} ${asked.hash}`
    const fetch = async (dataset: FollowedDataset): Promise<void> => {
      // Where it lies in a pack, the pack is damaged.
      if (await isPacked(this.#deps, asked)) await dataset.mend()
      await fetchAnew(this.#deps, dataset.name, asked)
    }
    const fetching = this.#objects.get(key) ?? this.#had(asked.id, fetch)
    this.#objects.set(key, fetching)
    return await this.#inTime(fetching.finally(() => this.#objects.delete(key)))
  }

  /** Makes blocks, commits and packs of a copy whole; false where that cannot be had. Throws NodeError `CopyBehind`. */
  async chain(id: DatasetId): Promise<boolean> {
    return await this.#inTime(this.#had(id, (dataset) => dataset.mend()))
  }

  /** Writes the record of a name anew. */
  async name(alias: string): Promise<boolean> {
    return await this.#deps.mendName(alias)
  }

  /**
   * Brings the copy to the origin's head of now; true when it is there. Throws NodeError `CopyBehind` where it is not soon, or
   * where the origin does not say.
   */
  async catchUp(id: DatasetId): Promise<boolean> {
    const { clock, shown } = this.#deps
    const dataset = shown(id)
    if (dataset === undefined) return true
    const sinceMs = clock.monotonicMs()
    if (!(await this.#askHead(id, dataset))) throw behind('The node that this copy is of cannot be asked now.')
    const isComing = (): boolean => dataset.progress.kind === 'following' && !dataset.isCurrent
    while (isComing() && clock.monotonicMs() - sinceMs < catchUpMs) await clock.sleep(lookEveryMs)
    if (dataset.isCurrent || dataset.progress.kind === 'halted') return true
    throw behind('This copy is behind the node that it is of.')
  }

  /**
   * Asks for the head of a dataset and goes there; false where it cannot be asked. Once a second at most, for all who came
   * before it is asked: what was said before somebody came is nothing for him.
   */
  #askHead(id: DatasetId, dataset: FollowedDataset): Promise<boolean> {
    const { clock, origin } = this.#deps
    const coming = this.#asks.get(id)
    if (coming !== undefined && clock.monotonicMs() < coming.atMs) return coming.said
    const atMs = Math.max(clock.monotonicMs(), (coming?.atMs ?? Number.NEGATIVE_INFINITY) + askEveryMs)
    const ask = async (): Promise<boolean> => {
      await clock.sleep(Math.max(0, atMs - clock.monotonicMs()))
      try {
        const head = await this.#inTime(origin.head(dataset.name.alias))
        if (head !== undefined) dataset.follow(head)?.catch(() => {})
        return true
      } catch (error) {
        if (error instanceof ProofstreamError) return isRefusal(error)
        if (error instanceof NodeError) return false
        throw error
      }
    }
    const said = ask()
    this.#asks.set(id, { atMs, said })
    return said
  }

  /** Does what the origin is needed for; false where it has nothing of the kind. */
  async #had(id: DatasetId, work: (dataset: FollowedDataset) => Promise<void>): Promise<boolean> {
    const { asked, logger, shown } = this.#deps
    await asked
    const dataset = shown(id)
    if (dataset === undefined) return false
    try {
      await work(dataset)
      return true
    } catch (error) {
      if (isRefusal(error) || error instanceof HaltError || error instanceof DecodeError) return false
      if (!(error instanceof ProofstreamError)) throw error
      logger.warn({ dataset: dataset.name.alias, cause: error.message }, 'What is damaged could not be fetched anew')
      throw behind('Stored data of the dataset is damaged, and cannot be fetched again now.', error)
    }
  }

  /** What `work` gives. Throws NodeError `CopyBehind` where that takes long; it goes on. */
  async #inTime<T>(work: Promise<T>): Promise<T> {
    const done = new AbortController()
    const late = this.#deps.clock.sleep(patienceMs, done.signal).then(() => {
      throw behind('Stored data of the dataset is damaged, and is being fetched again.')
    })
    late.catch(() => {})
    return await Promise.race([work, late]).finally(() => done.abort())
  }
}

function behind(message: string, cause?: unknown): NodeError {
  return new NodeError('CopyBehind', message, { hint: 'Repeat in a moment.', retryAfterSeconds: 2, cause })
}

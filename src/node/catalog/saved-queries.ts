// Statements with a name, kept for everybody who may read what they ask: records under `queries/` in the store, read when they
// are asked for.

import { type Clock, timeText } from '../../libraries/base/clock.ts'
import { DecodeError, NodeError } from '../../libraries/base/errors.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { queriesPrefix, savedQueryKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { isQueryName, type SavedQuery, savedQueryCodec } from '../store/saved-queries.ts'

export { isQueryName, type SavedQuery }

export type SavedQueryList = readonly (readonly [name: string, saved: SavedQuery])[]

const rereadAfterMs = 4_000
const mostSavedQueries = 1_000
/** Of one, as it is stored. */
const mostBytes = 32 * 1024
const parallel = 16

export class SavedQueries {
  readonly #store: ObjectStore
  readonly #clock: Clock
  readonly #logger: Logger
  #listed: Promise<SavedQueryList> | undefined
  /** Monotonic time at which that began. */
  #listedAtMs = 0

  constructor({ store, clock, logger }: { store: ObjectStore; clock: Clock; logger: Logger }) {
    this.#store = store
    this.#clock = clock
    this.#logger = logger
  }

  /** Those of the store by name, in order of names; at most a few seconds old. */
  async list(): Promise<SavedQueryList> {
    const nowMs = this.#clock.monotonicMs()
    if (this.#listed === undefined || nowMs - this.#listedAtMs >= rereadAfterMs) {
      this.#listedAtMs = nowMs
      const listed = (this.#listed = this.#read())
      listed.catch(() => {
        if (this.#listed === listed) this.#listed = undefined
      })
    }
    return await this.#listed
  }

  /** What is saved under a name now; one that is damaged counts as none. */
  async get(name: string): Promise<SavedQuery | undefined> {
    const bytes = await this.#store.get(savedQueryKey(name))
    if (bytes === undefined) return undefined
    try {
      return savedQueryCodec.decode(bytes)
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      this.#logger.warn({ name, reason: error.message }, 'the record of a saved query is damaged: it is not answered')
      return undefined
    }
  }

  /**
   * Saves a query under a name, in place of `before`; without one it is new, and undefined where another came first. Durable when
   * it resolves. Throws NodeError `InvalidRequest` where it is too long, or there are too many.
   */
  async save(
    name: string,
    asked: Omit<SavedQuery, 'savedAt'>,
    before: SavedQuery | undefined,
  ): Promise<SavedQuery | undefined> {
    const saved = { ...asked, savedAt: timeText(this.#clock.nowMs()) }
    const bytes = savedQueryCodec.encode(saved)
    if (bytes.length > mostBytes) {
      throw new NodeError('InvalidRequest', `The query has ${bytes.length} bytes with its values and its names.`, {
        limit: { name: 'savedQueryBytes', value: mostBytes, unit: 'bytes' },
      })
    }
    const names = await this.#store.list(queriesPrefix)
    if (names.length >= mostSavedQueries && !names.includes(name)) {
      throw new NodeError('InvalidRequest', 'This node has as many saved queries as it keeps.', {
        hint: 'Delete some: DELETE /q/<name>.',
        limit: { name: 'savedQueries', value: mostSavedQueries, unit: 'queries' },
      })
    }
    if (before !== undefined) await this.#store.replace(savedQueryKey(name), bytes)
    else if ((await this.#store.put(savedQueryKey(name), bytes)) === 'exists') return undefined
    this.#listed = undefined
    return saved
  }

  /** Durable when it resolves. */
  async remove(name: string): Promise<void> {
    await this.#store.delete(savedQueryKey(name))
    this.#listed = undefined
  }

  async #read(): Promise<SavedQueryList> {
    const names = (await this.#store.list(queriesPrefix)).filter(isQueryName)
    const found: [name: string, saved: SavedQuery][] = []
    for (let at = 0; at < names.length; at += parallel) {
      const some = names.slice(at, at + parallel).map(async (name) => [name, await this.get(name)] as const)
      for (const [name, saved] of await Promise.all(some)) if (saved !== undefined) found.push([name, saved])
    }
    return found
  }
}

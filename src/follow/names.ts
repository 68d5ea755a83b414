// The names of followed datasets in the store: as the origin shows them to this replica, and to no one else. A dataset that
// is hidden there has no name here; its copy stays, and gets a name when it is shown again.

import { deletionCodec, type DeletionRecord, type NameRecord, originLog } from '../chain/records.ts'
import { sameValue } from '../lib/compare.ts'
import type { DatasetId } from '../model/events.ts'
import { foldAscii } from '../model/names.ts'
import { datasetOfFolder, deletionKey, deletionsOf, deletionsPrefix } from '../store/layout.ts'
import { listNames, putAlias, readDeletion, readName } from '../store/names.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { listNumbers, putOnce } from '../store/records.ts'
import { removeChain } from '../store/remove-chain.ts'
import type { Listed } from './origin.ts'

/** The name record of a dataset as the origin tells of it; `before`: the one that it has here. */
export function nameOf({ id, alias, visibility }: Listed, before: NameRecord | undefined): NameRecord {
  const born = before?.born ?? before?.alias ?? alias
  return {
    id,
    alias,
    log: originLog,
    partition: 0,
    visibility,
    ...(foldAscii(born) === foldAscii(alias) ? {} : { born }),
  }
}

export class FollowedNames {
  readonly #store: ObjectStore
  readonly #held = new Map<DatasetId, NameRecord>()
  /** Removed, or not to be removed before. */
  readonly #notBeforeMs = new Map<DatasetId, number>()

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /** As the store has them. */
  async load(): Promise<readonly NameRecord[]> {
    for (const alias of await listNames(this.#store)) {
      const name = await readName(this.#store, alias)
      if (name !== undefined) this.#held.set(name.id, name)
    }
    return [...this.#held.values()]
  }

  /** True where the dataset has a name here. */
  has(id: DatasetId): boolean {
    return this.#held.has(id)
  }

  /** Takes the names away that are not among `names`, then gives these; a name goes before another dataset gets it. */
  async settle(names: readonly NameRecord[]): Promise<void> {
    const wanted = new Map(names.map((name) => [name.id, name]))
    for (const [id, held] of this.#held) {
      const alias = wanted.get(id)?.alias
      if (alias !== undefined && foldAscii(alias) === foldAscii(held.alias)) continue
      await putAlias(this.#store, { state: 'deleted', name: held })
      this.#held.delete(id)
    }
    for (const [id, name] of wanted) {
      const held = this.#held.get(id)
      if (held !== undefined && sameValue(held, name)) continue
      if (held === undefined) await this.#restore(name)
      await putAlias(this.#store, { state: 'is', name })
      this.#held.set(id, name)
    }
  }

  /** Notes that a dataset was deleted at the origin; its name goes with the next `settle`. */
  async noteDeleted(name: NameRecord, times: { readonly at: string; readonly until: string }): Promise<void> {
    if ((await readDeletion(this.#store, name.id)) === undefined)
      await this.#note(name.id, { state: 'deleted', name, ...times })
  }

  /** Removes the copies of deleted datasets whose time is over. */
  async removeDue(nowMs: number, signal: AbortSignal): Promise<void> {
    for (const folder of await this.#store.list(deletionsPrefix)) {
      const id = datasetOfFolder(folder)
      if (id === undefined || this.#held.has(id) || (this.#notBeforeMs.get(id) ?? 0) > nowMs) continue
      const deletion = await readDeletion(this.#store, id)
      if (deletion === undefined) continue
      const dueMs = Date.parse(deletion.until)
      if (dueMs <= nowMs) await removeChain(this.#store, id, signal)
      if (!signal.aborted) this.#notBeforeMs.set(id, dueMs <= nowMs ? Number.POSITIVE_INFINITY : dueMs)
    }
  }

  async #restore({ id, alias }: NameRecord): Promise<void> {
    this.#notBeforeMs.delete(id)
    if ((await readDeletion(this.#store, id)) !== undefined) await this.#note(id, { state: 'restored', alias })
  }

  async #note(id: DatasetId, value: DeletionRecord): Promise<void> {
    const last = (await listNumbers(this.#store, deletionsOf(id))).at(-1) ?? 0
    await putOnce(this.#store, deletionKey(id, last + 1), { codec: deletionCodec, value })
  }
}

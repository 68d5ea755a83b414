// The names of followed datasets in the store: as the origin shows them to this replica, and to no one else. A dataset that
// is hidden there has no name here; its copy stays, and gets a name when it is shown again.

import {
  aliasCodec,
  type Deletion,
  deletionCodec,
  type DeletionRecord,
  nameCodec,
  type NameRecord,
  originLog,
} from '../../libraries/odf/chain/records.ts'
import { defined } from '../../libraries/base/collections.ts'
import { sameValue } from '../../libraries/base/compare.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { datasetOfFolder, deletionKey, deletionsOf, deletionsPrefix, generationKey } from '../../node/store/layout.ts'
import { generationOf, listNames, putAlias, readDeletion, readName } from '../../node/store/names.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { listNumbers, putOnce } from '../../node/store/records.ts'
import { removeChain } from '../../node/store/remove-chain.ts'
import type { Listed } from './origin.ts'

/** The name record of a dataset as the origin tells of it; `before`: the one that it has here. */
export function nameOf(told: Listed, before: NameRecord | undefined): NameRecord {
  const { id, alias, visibility, ledger, proofs } = told
  const born = before?.born ?? before?.alias ?? alias
  return {
    id,
    alias,
    log: originLog,
    partition: 0,
    visibility,
    ...defined({ ledger, proofs }),
    ...(foldAscii(born) === foldAscii(alias) ? {} : { born }),
  }
}

export class FollowedNames {
  readonly #store: ObjectStore
  readonly #held = new Map<DatasetId, NameRecord>()
  /** Removed, or not to be removed before. */
  readonly #notBeforeMs = new Map<DatasetId, number>()

  readonly #mended: () => void

  /** `mended` is called for each record that failed its check and was written anew, or dropped. */
  constructor(store: ObjectStore, mended: () => void) {
    this.#store = store
    this.#mended = mended
  }

  /** As the store has them; what is damaged is dropped, for the origin says it again. */
  async load(): Promise<readonly NameRecord[]> {
    for (const alias of await listNames(this.#store)) {
      const name = await readName(this.#store, alias).catch((error: unknown) => {
        if (!(error instanceof DecodeError)) throw error
        return this.#drop(alias)
      })
      if (name !== undefined) this.#held.set(name.id, name)
    }
    return [...this.#held.values()]
  }

  async #drop(alias: string): Promise<undefined> {
    const last = await generationOf(this.#store, alias)
    for (let number = last; number >= 0; number--) await this.#store.delete(generationKey(alias, number))
    this.#mended()
  }

  /** Writes what holds of a name in the place of a record that is damaged; of one that is nobody's nothing stays. */
  async mend(alias: string): Promise<boolean> {
    const name = [...this.#held.values()].find((held) => foldAscii(held.alias) === foldAscii(alias))
    if (name === undefined) {
      await this.#drop(alias)
      return true
    }
    // The number stays: a process that knows this generation looks for later ones.
    const last = await generationOf(this.#store, alias)
    const bytes = last === 0 ? nameCodec.encode(name) : aliasCodec.encode({ state: 'is', name })
    await this.#store.replace(generationKey(alias, last), bytes)
    this.#mended()
    return true
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
    if ((await this.#deletionOf(name.id)) === undefined) await this.#note(name.id, { state: 'deleted', name, ...times })
  }

  /** The datasets whose copies are to be removed: deleted, their time over, and not to be shown again. */
  async due(nowMs: number, isShown: (id: DatasetId) => boolean): Promise<readonly DatasetId[]> {
    const due: DatasetId[] = []
    for (const folder of await this.#store.list(deletionsPrefix)) {
      const id = datasetOfFolder(folder)
      if (id === undefined || this.#held.has(id) || isShown(id) || (this.#notBeforeMs.get(id) ?? 0) > nowMs) continue
      const deletion = await this.#deletionOf(id)
      const dueMs = deletion === undefined ? Number.POSITIVE_INFINITY : Date.parse(deletion.until)
      if (dueMs > nowMs) this.#notBeforeMs.set(id, dueMs)
      else due.push(id)
    }
    return due
  }

  /** Removes a copy. */
  async remove(id: DatasetId, signal: AbortSignal): Promise<void> {
    await removeChain(this.#store, id, signal)
    if (!signal.aborted) this.#notBeforeMs.set(id, Number.POSITIVE_INFINITY)
  }

  async #restore({ id, alias }: NameRecord): Promise<void> {
    this.#notBeforeMs.delete(id)
    if ((await this.#deletionOf(id)) !== undefined) await this.#note(id, { state: 'restored', alias })
  }

  /** What is damaged is dropped: the origin says again what became of the dataset. */
  async #deletionOf(id: DatasetId): Promise<Deletion | undefined> {
    return await readDeletion(this.#store, id).catch(async (error: unknown) => {
      if (!(error instanceof DecodeError)) throw error
      for (const number of await listNumbers(this.#store, deletionsOf(id))) {
        await this.#store.delete(deletionKey(id, number))
      }
      this.#mended()
      return undefined
    })
  }

  async #note(id: DatasetId, value: DeletionRecord): Promise<void> {
    const last = (await listNumbers(this.#store, deletionsOf(id))).at(-1) ?? 0
    await putOnce(this.#store, deletionKey(id, last + 1), { codec: deletionCodec, value })
  }
}

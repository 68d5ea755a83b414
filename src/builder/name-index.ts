// From a dataset's id to its alias, for announcements. Derived from the store's name records; read once, then only
// what is new.

import { DecodeError } from '../model/errors.ts'
import { foldAscii } from '../model/names.ts'
import type { DatasetId } from '../model/events.ts'
import { listNames, readName } from '../store/records.ts'
import type { ObjectStore } from '../store/object-store.ts'

export class NameIndex {
  readonly #store: ObjectStore
  readonly #aliasOf = new Map<DatasetId, string>()
  readonly #known = new Set<string>()

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /** Alias as written, or undefined when no name leads to the dataset. */
  async aliasOf(id: DatasetId): Promise<string | undefined> {
    const held = this.#aliasOf.get(id)
    if (held !== undefined) return held
    for (const folded of await listNames(this.#store)) {
      if (this.#known.has(folded)) continue
      const record = await readName(this.#store, folded).catch(damagedName)
      if (record === 'damaged') this.#known.add(folded)
      else if (record !== undefined) this.add(record.id, record.alias)
    }
    return this.#aliasOf.get(id)
  }

  /**
   * True where `alias` is the name of another dataset than `id`: then nothing is built that nobody would find. Two may
   * still build at once; the put of the name decides.
   */
  async isTaken(alias: string, id: DatasetId): Promise<boolean> {
    const record = await readName(this.#store, alias).catch(damagedName)
    return record !== undefined && record !== 'damaged' && record.id !== id
  }

  /** A name that is known to be in force. */
  add(id: DatasetId, alias: string): void {
    this.#aliasOf.set(id, alias)
    this.#known.add(foldAscii(alias))
  }
}

/** A damaged name leads to no dataset: it must not stop those of others. */
function damagedName(error: unknown): 'damaged' {
  if (error instanceof DecodeError) return 'damaged'
  throw error
}

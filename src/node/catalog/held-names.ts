// The names that a process has read, as they are now: which dataset, who may see it, where its rows go. Where another
// process may change names unheard, a held one is looked at again after a second; elsewhere the catalog says when.

import type { AdoptionRecord, Deletion, NameRecord } from '../../libraries/odf/chain/records.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { partitionOf } from '../log/partitions.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import {
  followName,
  generationOf,
  listChangedNames,
  listNames,
  readAlias,
  readDeletion,
  readName,
} from '../store/names.ts'
import { datasetOfFolder, deletionsPrefix } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { adoptionsFrom } from '../store/records.ts'
import { type ChainSource, mended } from './chain-source.ts'

/** How long what was looked at is taken for what is, where another process may have changed it. */
const currentMs = 1_000

/** Whose commits and names a process hears of: those of one log, or without a `clock` all. */
export interface Hearing {
  readonly clock?: Clock | undefined
  readonly heardLog?: string | undefined
}

/** Whether what was looked at at `lookedMs` of a dataset with rows in `log` need not be looked at again. */
export function isCurrent({ clock, heardLog }: Hearing, log: string, lookedMs = Number.NEGATIVE_INFINITY): boolean {
  return clock === undefined || log === heardLog || clock.monotonicMs() - lookedMs < currentMs
}

interface HeldName {
  readonly name: NameRecord
  readonly generation: number
  /** When it was looked at, by the monotonic clock. */
  readonly readMs: number
}

export class HeldNames {
  readonly #store: ObjectStore
  readonly #logger: Logger
  readonly #hearing: Hearing
  readonly #onChange: (name: NameRecord) => void
  #source: ChainSource | undefined
  /** By folded alias, and by id. */
  readonly #names = new Map<string, HeldName>()
  readonly #ofId = new Map<DatasetId, NameRecord>()
  /** By log that names were made with: the adoptions that lead to the one that rows go to now. */
  readonly #adoptions = new Map<string, readonly AdoptionRecord[]>()

  constructor(deps: {
    readonly store: ObjectStore
    readonly logger: Logger
    readonly hearing: Hearing
    readonly onChange: (name: NameRecord) => void
  }) {
    this.#store = deps.store
    this.#logger = deps.logger
    this.#hearing = deps.hearing
    this.#onChange = deps.onChange
  }

  /** From now on records that are damaged are asked for at `source`. */
  completeFrom(source: ChainSource): void {
    this.#source = source
  }

  /** The name `alias` (any ASCII case), or undefined. Throws HaltError `ChainBroken` when its record is damaged. */
  async of(alias: string): Promise<NameRecord | undefined> {
    return this.heldNow(alias) ?? this.reread(alias)
  }

  /** The same if it need not be looked at; no IO. */
  heldNow(alias: string): NameRecord | undefined {
    const held = this.#names.get(foldAscii(alias))
    return held !== undefined && isCurrent(this.#hearing, held.name.log, held.readMs) ? held.name : undefined
  }

  /** The name of the dataset with this DID, if its record is whole. */
  async ofId(id: DatasetId): Promise<NameRecord | undefined> {
    const held = this.#ofId.get(id)
    if (held === undefined) await this.#readAll()
    else await this.of(held.alias)
    return this.#ofId.get(id)
  }

  /**
   * The name now of the dataset that had `alias` (any ASCII case) before it was renamed; undefined where the name is in use,
   * or was freed otherwise. Throws as `of`.
   */
  async renamed(alias: string): Promise<NameRecord | undefined> {
    const folded = foldAscii(alias)
    const fault = `the name record of ${folded} is damaged`
    const record = await whole(fault, readAlias(this.#store, folded))
    if (record === undefined || record.state === 'deleted') return undefined
    const { id } = record.name
    const now = record.state === 'is' ? this.#ofId.get(id) : await whole(fault, followName(this.#store, record.name))
    if (now === undefined || foldAscii(now.alias) === folded) return undefined
    const name = await this.of(now.alias)
    return name?.id === id ? name : undefined
  }

  /** The same as it was read last; no IO. */
  heldOfId(id: DatasetId): NameRecord | undefined {
    return this.#ofId.get(id)
  }

  /** Every name in the store whose record is whole, sorted by folded alias. */
  async all(): Promise<readonly NameRecord[]> {
    await this.#readAll()
    const names = [...this.#names.entries()].filter(([, { name }]) => this.#ofId.get(name.id) === name)
    return names.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { name }]) => name)
  }

  /** The name as the store has it now. Throws as `of`. */
  reread(alias: string): Promise<NameRecord | undefined> {
    return this.#rereadAfter(alias, [])
  }

  #rereadAfter(alias: string, before: readonly string[]): Promise<NameRecord | undefined> {
    const folded = foldAscii(alias)
    const source = this.#source
    return mended(() => this.#reread(folded, before), source && (() => source.name(folded)))
  }

  /** `before`: names that are being reread, and led here. */
  async #reread(folded: string, before: readonly string[]): Promise<NameRecord | undefined> {
    const readMs = this.#hearing.clock?.monotonicMs() ?? 0
    const generation = await generationOf(this.#store, folded, this.#names.get(folded)?.generation)
    const held = this.#names.get(folded)
    if (held !== undefined && held.generation >= generation) {
      this.#names.set(folded, { ...held, readMs })
      return held.name
    }
    const fault = `the name record of ${folded} is damaged`
    const stored = await whole(fault, readName(this.#store, folded))
    if (held !== undefined && stored?.id !== held.name.id) {
      // Known by its new name before it is not by the old one.
      const renamed = await whole(fault, followName(this.#store, held.name))
      const way = [...before, folded]
      // Datasets may have taken each other's name: what led here is read to its end above.
      const now = renamed === undefined || way.includes(foldAscii(renamed.alias)) ? undefined : renamed.alias
      if (now !== undefined) await this.#rereadAfter(now, way)
      this.#forget(folded, held.name)
      // A name that was claimed and given back counted for more than the one that its dataset kept.
      if (now !== undefined && !this.#ofId.has(held.name.id)) await this.#rereadAfter(now, way)
    }
    if (stored === undefined) return undefined
    const name = await this.#nowOf(folded, stored)
    // Another reading may have come to its end first.
    if ((this.#names.get(folded)?.generation ?? -1) >= generation) return this.#names.get(folded)?.name
    const other = this.#ofId.get(name.id)
    // Of a dataset that is being renamed both names are found: the new one counts.
    if (other !== undefined && foldAscii(other.alias) !== folded) {
      if ((other.changed ?? 0) > (name.changed ?? 0)) return undefined
      this.#names.delete(foldAscii(other.alias))
    }
    this.#names.set(folded, { name, generation, readMs })
    this.#ofId.set(name.id, name)
    this.#onChange(name)
    return name
  }

  /** The name is no longer the dataset's. */
  #forget(folded: string, name: NameRecord): void {
    if (this.#names.get(folded)?.name === name) this.#names.delete(folded)
    if (this.#ofId.get(name.id) === name) this.#ofId.delete(name.id)
  }

  /** When a dataset was deleted, and what it was; undefined where it was not. Throws HaltError `ChainBroken`. */
  deletionOf(id: DatasetId): Promise<Deletion | undefined> {
    return whole(`the deletion of ${id} is damaged`, readDeletion(this.#store, id))
  }

  /** Of all datasets that are deleted; those whose record is damaged are left out. */
  async deletions(): Promise<readonly Deletion[]> {
    const ids = (await this.#store.list(deletionsPrefix)).flatMap((folder) => datasetOfFolder(folder) ?? [])
    const found: Deletion[] = []
    for (const id of ids) {
      const deletion = await readDeletion(this.#store, id).catch((error: unknown) => {
        if (!(error instanceof DecodeError)) throw error
        this.#logger.error({ dataset: id, cause: error.message }, 'A deletion is left out')
      })
      if (deletion !== undefined) found.push(deletion)
    }
    return found
  }

  /** The name with the log and partition of now: those it was made with, unless that log was given up for another. */
  async #nowOf(folded: string, name: NameRecord): Promise<NameRecord> {
    const records =
      this.#adoptions.get(name.log) ?? (await whole(`log ${name.log}`, adoptionsFrom(this.#store, name.log)))
    this.#adoptions.set(name.log, records)
    const last = records.at(-1)
    return last === undefined
      ? name
      : {
          ...name,
          log: last.new,
          partition: partitionOf(foldAscii(name.born ?? folded), last.begin.length),
        }
  }

  async #readAll(): Promise<void> {
    const changed = new Set(await listChangedNames(this.#store))
    for (const alias of await listNames(this.#store)) {
      // As its creation made it.
      if (!changed.has(alias) && this.#names.has(alias)) continue
      try {
        await this.of(alias)
      } catch (error) {
        if (!(error instanceof HaltError)) throw error
        this.#logger.error({ dataset: alias, cause: error.message }, 'A dataset is left out')
      }
    }
  }
}

/** What `reading` gives. Throws HaltError `ChainBroken` with `fault` where bytes are not what they claim to be. */
export async function whole<T>(fault: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    throw asBroken(fault, error)
  }
}

export function asBroken(fault: string, error: unknown): unknown {
  return error instanceof DecodeError ? new HaltError('ChainBroken', `${fault}: ${error.message}`, error) : error
}

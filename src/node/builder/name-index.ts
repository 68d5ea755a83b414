// From datasets to their names, for a builder: aliases for announcements, paces for its governor; and the record of a name
// after a change.

import { defined } from '../../libraries/base/collections.ts'
import type { CommitRecord, LogPlace, NameRecord } from '../../libraries/odf/chain/records.ts'
import type { ChainState } from '../../libraries/odf/chain/rules.ts'
import type { ChangeHeader } from '../log/messages.gen.ts'
import { must } from '../../libraries/base/assert.ts'
import { timeText } from '../../libraries/base/clock.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import type { DatasetId, Hash } from '../../libraries/base/ids/identifiers.ts'
import { instantMs } from '../../libraries/model/instant.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import {
  changeName,
  claimName,
  deleteName,
  followName,
  isNameTaken,
  leaveName,
  listChangedNames,
  listNames,
  type NameChange,
  putRestored,
  readDeletion,
  readName,
  releaseName,
  renameTo,
  settleDeletion,
} from '../store/names.ts'
import { loadBlock, loadCheckpoint } from '../store/load-block.ts'
import { isRemovalBegun } from '../store/remove-chain.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { AnyChange } from './dataset-state.ts'

/** The commit of a change, whose last block is number `sequence`. */
interface ChangeCommit {
  readonly sequence: number
  readonly record: CommitRecord
  /** Time of the block. */
  readonly timeMs: number
}

/** What a builder needs of a name record. */
export type KnownName = Pick<NameRecord, 'id' | 'alias' | 'born' | 'from' | 'changed' | 'freshnessMs'>

/** From a dataset's id to its name, for announcements and the pace: the name records of the store, each read once. */
export class NameIndex {
  readonly #store: ObjectStore
  readonly #ofId = new Map<DatasetId, KnownName>()
  readonly #known = new Set<string>()
  readonly #onDeleted: (id: DatasetId) => void
  #look: Promise<void> | undefined

  /** `onDeleted` is told of datasets that are noted as deleted. */
  constructor(store: ObjectStore, onDeleted: (id: DatasetId) => void = () => {}) {
    this.#store = store
    this.#onDeleted = onDeleted
  }

  /** The name, or undefined when none leads to the dataset. Throws what the store throws. */
  async of(id: DatasetId): Promise<KnownName | undefined> {
    // A look that is under way may have begun before the name was there.
    if (!this.#ofId.has(id)) await this.#look
    if (!this.#ofId.has(id)) await this.#lookAgain()
    return this.#ofId.get(id)
  }

  /** Alias as written, or undefined when no name leads to the dataset. Throws what the store throws. */
  async aliasOf(id: DatasetId): Promise<string | undefined> {
    return (await this.of(id))?.alias
  }

  /** Callers that ask meanwhile share the look. */
  #lookAgain(): Promise<void> {
    this.#look ??= this.#readNew().finally(() => (this.#look = undefined))
    return this.#look
  }

  async #readNew(): Promise<void> {
    // A name that was free since may be another's.
    for (const folded of await listChangedNames(this.#store)) this.#known.delete(folded)
    for (const folded of await listNames(this.#store)) {
      if (this.#known.has(folded)) continue
      const record = await readName(this.#store, folded).catch(damagedName)
      if (record === 'damaged') this.#known.add(folded)
      else if (record !== undefined) this.add(record)
    }
  }

  /**
   * True where dataset `id` does not get `alias` by the message at `place`: then nothing is built that nobody would find.
   * Two may still build at once; the put of the name decides.
   */
  async isTaken(alias: string, id: DatasetId, place: LogPlace): Promise<boolean> {
    return (await isNameTaken(this.#store, alias, { id, place }).catch(damagedName)) === true
  }

  /** The name as the store has it now. Throws what the store throws. */
  async reread(id: DatasetId): Promise<KnownName | undefined> {
    const alias = this.#ofId.get(id)?.alias
    const record = alias === undefined ? undefined : await followName(this.#store, { id, alias }).catch(damagedName)
    if (record !== undefined && record !== 'damaged') this.#ofId.set(id, record)
    return this.of(id)
  }

  /** Notes in the record of the name what block `sequence` has changed. May be repeated. Throws what the store throws. */
  async change(id: DatasetId, header: AnyChange, by: ChangeCommit): Promise<void> {
    const { sequence, record, timeMs } = by
    if (header.kind === 'restore') return putRestored(this.#store, id, sequence, header.alias)
    const { log, partition, next } = record
    const freedAt = { log, partition, position: next - 1 }
    const known = (await this.#renamed(id, header, sequence)) ?? (await this.reread(id))
    // Its name is free already, maybe by a builder that has not made that durable.
    if (known === undefined) return settleDeletion(this.#store, id)
    // A rename that was committed, and whose committer stopped before the old name said so, is finished first.
    const { alias, changed } = known
    await leaveName(this.#store, known, changed === sequence ? freedAt : undefined)
    if (header.kind === 'change') return this.#set(known, header, sequence)
    const [at, until] = [timeText(timeMs), timeText(timeMs + header.graceMs)]
    await deleteName(this.#store, { id, alias, sequence }, { at, until }, freedAt)
    this.#onDeleted(id)
  }

  /**
   * Gives a dataset the name that a restoration or a rename asks for, before the block that says so; false where the name is
   * another's. May be repeated. Throws what the store throws.
   */
  async claim(id: DatasetId, header: AnyChange, sequence: number): Promise<boolean> {
    if (header.kind === 'delete' || header.alias === undefined) return true
    const to = { alias: header.alias, sequence }
    if (header.kind === 'change') {
      const had = await this.of(id)
      const name = had && (await renameTo(this.#store, had, changeOf(header), to))
      if (name === 'taken') return false
      if (name !== undefined) this.add(name)
      // Without a name it was deleted since: its chain is longer than this builder knows.
      return true
    }
    const deletion = await readDeletion(this.#store, id)
    const name = deletion && (await claimName(this.#store, deletion.name, to))
    if (name !== undefined) this.add(name)
    return name !== undefined
  }

  /**
   * Takes back what was claimed for a change, if the commit that has come first in its place, `record`, has not taken it:
   * another builder judged the same message when the name was another's. Throws what the store throws.
   */
  async release(id: DatasetId, header: AnyChange, record: CommitRecord | undefined, sequence: number): Promise<void> {
    if (header.kind === 'delete' || header.alias === undefined) return
    const head = must(record, 'a lost commit has a winner').blocks.at(-1)
    const block = await loadBlock(this.#store, { id }, must(head, 'a commit has blocks'))
    const hash = block.event.kind === 'AddData' ? block.event.newCheckpoint?.physicalHash : undefined
    if (hash !== undefined && (await this.#hasTaken(id, header, hash))) return
    await releaseName(this.#store, { id, alias: header.alias, sequence })
  }

  /** True where the checkpoint says that the change was made. */
  async #hasTaken(id: DatasetId, header: AnyChange, checkpoint: Hash): Promise<boolean> {
    const { outcomes } = await loadCheckpoint(this.#store, { id }, checkpoint)
    return outcomes.some((outcome) => outcome.id === header.id && outcome.status.kind === 'changed')
  }

  /**
   * Does what the change at `position` asks for, if the last commit of the chain, `record`, took it: its committer may have
   * stopped before. Throws what the store throws.
   */
  async finish(
    { datasetId, checkpoint, length, systemTime }: ChainState,
    header: AnyChange,
    { position, record }: { readonly position: number; readonly record: CommitRecord | undefined },
  ): Promise<void> {
    if (record?.next !== position + 1 || datasetId === undefined || checkpoint === undefined) return
    const timeMs = instantMs(must(systemTime, 'a chain has a time'))
    const isTaken = await this.#hasTaken(datasetId, header, checkpoint.physicalHash)
    if (isTaken) await this.change(datasetId, header, { sequence: length - 1, record, timeMs })
  }

  /**
   * Why a deleted dataset may be without a chain in memory: it is removed, or nobody has looked since its chain came. Undefined for
   * one that is not deleted. Throws what the store throws.
   */
  async absenceOf(id: DatasetId): Promise<'removed' | 'unread' | undefined> {
    if ((await readDeletion(this.#store, id)) === undefined) return undefined
    return (await isRemovalBegun(this.#store, id)) ? 'removed' : 'unread'
  }

  /** The name that block `sequence` gave, which another builder may have claimed: the old one does not tell of it yet. */
  async #renamed(id: DatasetId, header: AnyChange, sequence: number): Promise<KnownName | undefined> {
    if (header.kind !== 'change' || header.alias === undefined) return undefined
    const name = await readName(this.#store, header.alias).catch(damagedName)
    if (name === undefined || name === 'damaged' || name.id !== id || (name.changed ?? 0) < sequence) return undefined
    this.add(name)
    return name
  }

  async #set({ id, alias }: KnownName, header: ChangeHeader, sequence: number): Promise<void> {
    const change = changeOf(header)
    // A new name has it all since it was claimed.
    if (header.alias !== undefined || Object.keys(change).length === 0) return
    const name = await changeName(this.#store, { id, alias, sequence }, change)
    if (name !== undefined) this.add(name)
  }

  /** A name that is known to be in force. */
  add(name: NameRecord): void {
    const held = this.#ofId.get(name.id)
    this.#known.add(foldAscii(name.alias))
    // Of a dataset that is being renamed both names are found.
    if (held === undefined || (held.changed ?? 0) <= (name.changed ?? 0)) this.#ofId.set(name.id, name)
  }
}

/** What is said in the record of the name. */
function changeOf({ visibility, freshnessMs, ingest, ledger, proofs }: ChangeHeader): NameChange {
  return { ...defined({ visibility, freshnessMs, ingest, ledger, proofs }) }
}

/** A damaged name leads to no dataset: it must not stop those of others. */
function damagedName(error: unknown): 'damaged' {
  if (error instanceof DecodeError) return 'damaged'
  throw error
}

// Names of datasets. `names/<account>/<dataset>` is what the creation wrote and stays; each change of a name is a later
// generation, `aliases/<account>/<dataset>/<generation>`, put if absent, of which the highest holds. So two writers never
// overwrite each other, and a repeat after a crash finds what it wrote. A dataset that is renamed has its new name first, then
// its old one says so; meanwhile the one that changed last counts. `deletions/<id>/<sequence>` says of a dataset that it was
// deleted, or restored: a name that is free may be another's by then.

import { posix } from 'node:path'
import {
  aliasCodec,
  type AliasRecord,
  type Deletion,
  deletionCodec,
  type DeletionRecord,
  type IngestRules,
  type LogPlace,
  nameCodec,
  type NameRecord,
} from '../../libraries/odf/chain/records.ts'
import type { RecordCodec } from '../../libraries/base/json/shape.ts'
import { sameValue } from '../../libraries/base/compare.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { aliasesPrefix, deletionKey, deletionsOf, generationKey, nameKey, namesPrefix } from './layout.ts'
import type { ObjectStore } from './object-store.ts'
import { listNumbers, type PutOnce, putOnce, readRecord } from './records.ts'

/** What holds of a name: its highest generation. */
interface Generation {
  readonly number: number
  readonly record: AliasRecord
}

/**
 * Gives the name `value.alias` to the new dataset `value.id`, if it is free and was never its own. Durable when it resolves.
 * Throws DecodeError.
 */
export async function putName(store: ObjectStore, value: NameRecord): Promise<PutOnce<NameRecord>> {
  for (;;) {
    const latest = await settled(store, value.alias)
    if (latest === undefined) {
      const codec = firstCodecOf(value.alias)
      const first = await putOnce(store, nameKey(value.alias), { codec, value })
      if (first.outcome === 'won' || first.inForce.id !== value.id) return first
    } else {
      const { state, name } = latest.record
      // What has become of it since stays.
      if ((await lastOf(store, value.alias, value.id)) !== undefined) return { outcome: 'won' }
      if (state === 'is') return { outcome: 'lost', inForce: name }
      if (await putGeneration(store, { state: 'is', name: value }, latest.number + 1)) return { outcome: 'won' }
    }
  }
}

/** The last generation of `alias` that was of dataset `id`. */
async function lastOf(store: ObjectStore, alias: string, id: DatasetId): Promise<AliasRecord | undefined> {
  for (let number = await generationOf(store, alias); number >= 0; number--) {
    const record = await readGeneration(store, alias, number)
    if (record?.name.id === id) return record
  }
  return undefined
}

/** True where the generation is there now as `record`. */
async function putGeneration(store: ObjectStore, record: AliasRecord, number: number): Promise<boolean> {
  const { alias } = record.name
  const put = { codec: laterCodecOf(alias), value: record }
  return (await putOnce(store, generationKey(alias, number), put)).outcome === 'won'
}

/** The owner of `alias` (any ASCII case), or undefined. Throws DecodeError. */
export async function readName(store: ObjectStore, alias: string): Promise<NameRecord | undefined> {
  const record = await readAlias(store, alias)
  return record?.state === 'is' ? record.name : undefined
}

/** What holds of `alias` (any ASCII case); undefined where nobody ever had it. Throws DecodeError. */
export async function readAlias(store: ObjectStore, alias: string): Promise<AliasRecord | undefined> {
  return (await readLatest(store, alias))?.record
}

/**
 * The name that dataset `id` has now, which had `alias` once: through renames and restorations, whatever took those names
 * since. Undefined where it is deleted, or never had the name. Throws DecodeError.
 */
export async function followName(
  store: ObjectStore,
  { id, alias }: Pick<NameRecord, 'id' | 'alias'>,
): Promise<NameRecord | undefined> {
  let at: string | undefined = alias
  let since = -1
  while (at !== undefined) {
    const last: AliasRecord | undefined = await lastOf(store, at, id)
    if (last === undefined || last.state === 'is') return last?.name
    const { changed = 0 } = last.name
    if (changed <= since) throw new DecodeError('name record', `${at} was left before its dataset came there`)
    since = changed
    at = last.to ?? (await restoredAs(store, id))
  }
  return undefined
}

async function restoredAs(store: ObjectStore, id: DatasetId): Promise<string | undefined> {
  const record = await lastDeletion(store, id)
  return record?.state === 'restored' ? record.alias : undefined
}

/**
 * Number of the generation of `alias` that holds, which is `known` or a later one; 0 also where there is no such name. Each
 * was put after the one before it, so there is no gap: one read where nothing has changed, and few where much has.
 */
export async function generationOf(store: Pick<ObjectStore, 'get'>, alias: string, known = 0): Promise<number> {
  const isThere = async (number: number): Promise<boolean> =>
    (await store.get(generationKey(alias, number))) !== undefined
  let [low, step] = [known, 1]
  for (; await isThere(low + step); step *= 2) low += step
  while (step > 1) {
    step /= 2
    if (await isThere(low + step)) low += step
  }
  return low
}

async function readLatest(store: ObjectStore, alias: string): Promise<Generation | undefined> {
  const number = await generationOf(store, alias)
  const record = await readGeneration(store, alias, number)
  return record && { number, record }
}

async function readGeneration(store: ObjectStore, alias: string, number: number): Promise<AliasRecord | undefined> {
  if (number > 0) return readRecord(store, generationKey(alias, number), laterCodecOf(alias))
  const name = await readRecord(store, nameKey(alias), firstCodecOf(alias))
  return name && { state: 'is', name }
}

/** The same for a caller that goes on from it: another may have put it whose disk has not made it durable yet. */
async function settled(store: ObjectStore, alias: string): Promise<Generation | undefined> {
  const latest = await readLatest(store, alias)
  // mutant: a name is built on that a loss of power takes back
  if (latest !== undefined) await store.makeDurable(posix.dirname(generationKey(alias, latest.number)))
  // mutant end
  return latest
}

/**
 * True where a creation of dataset `id` that was logged at `place` does not get `alias`: another dataset has the name, or
 * had it when the creation came to its turn. Throws DecodeError.
 */
export async function isNameTaken(
  store: ObjectStore,
  alias: string,
  { id, place }: { readonly id: DatasetId; readonly place: LogPlace },
): Promise<boolean> {
  const latest = await readLatest(store, alias)
  if (latest === undefined) return false
  const { state, name, freedAt } = latest.record
  if (state === 'is') return name.id !== id
  const isSameOrder = freedAt?.log === place.log && freedAt.partition === place.partition
  return isSameOrder && place.position < freedAt.position
}

/** What a change sets in the record of a name; 0, no rule and `batches` stand for nothing set. */
export type NameChange = Partial<Pick<NameRecord, 'visibility' | 'freshnessMs' | 'ledger'>> & {
  readonly ingest?: IngestRules
  readonly proofs?: 'rows' | 'batches'
}

/**
 * Changes the name `alias` of dataset `id` as its block `sequence` says, unless that block or a later one has done so
 * already. Resolves with the name as it is now, or undefined where the dataset does not have it. Durable when it
 * resolves. Throws DecodeError.
 */
export async function changeName(
  store: ObjectStore,
  of: { readonly id: DatasetId; readonly alias: string; readonly sequence: number },
  change: NameChange,
): Promise<NameRecord | undefined> {
  for (;;) {
    const latest = await settled(store, of.alias)
    if (latest === undefined || latest.record.name.id !== of.id) return undefined
    const { state, name } = latest.record
    if (state !== 'is') return undefined
    if ((name.changed ?? 0) >= of.sequence) return name
    const changed = changedName(name, change, of.sequence)
    if (await putGeneration(store, { state: 'is', name: changed }, latest.number + 1)) return changed
  }
}

/**
 * Notes at the name `from` that its dataset has the name `alias` instead, since block `changed`; `freedAt` is the place of
 * the message, where that is known. May be repeated. Durable when it resolves. Throws DecodeError.
 */
export async function leaveName(
  store: ObjectStore,
  { id, alias, from, changed = 0 }: Pick<NameRecord, 'id' | 'alias' | 'from' | 'changed'>,
  freedAt?: LogPlace,
): Promise<void> {
  if (from === undefined) return
  await settled(store, alias)
  for (;;) {
    const latest = await settled(store, from)
    if (latest === undefined || latest.record.name.id !== id) return
    const { state, name } = latest.record
    if (state !== 'is' || (name.changed ?? 0) >= changed) return
    const left: AliasRecord = { state: 'moved', name: { ...name, changed }, to: alias }
    if (await putGeneration(store, { ...left, ...(freedAt && { freedAt }) }, latest.number + 1)) return
  }
}

/**
 * Deletes dataset `id`, whose name is `alias`, as its block `sequence` says: notes it under the dataset, then frees the name.
 * May be repeated. Durable when it resolves. Throws DecodeError.
 */
export async function deleteName(
  store: ObjectStore,
  of: { readonly id: DatasetId; readonly alias: string; readonly sequence: number },
  times: { readonly at: string; readonly until: string },
  freedAt: LogPlace,
): Promise<void> {
  const key = deletionKey(of.id, of.sequence)
  for (;;) {
    const latest = await settled(store, of.alias)
    if (latest === undefined || latest.record.name.id !== of.id) return
    const { state, name } = latest.record
    if (state !== 'is' || (name.changed ?? 0) > of.sequence) return
    const value: DeletionRecord = { state: 'deleted', name, ...times }
    await putOnce(store, key, { codec: deletionCodec, value })
    const freed = { ...name, changed: of.sequence }
    if (await putGeneration(store, { state: 'deleted', name: freed, freedAt }, latest.number + 1)) return
  }
}

/**
 * What holds of a name from now on, in a store that no builder writes to: names there are as another node says. Durable
 * when it resolves. Throws DecodeError.
 */
export async function putAlias(store: ObjectStore, record: AliasRecord): Promise<void> {
  const { alias } = record.name
  for (;;) {
    const latest = await settled(store, alias)
    if (latest === undefined && record.state === 'deleted') return
    if (latest !== undefined && sameValue(latest.record, record)) return
    if (latest === undefined) {
      const put = { codec: firstCodecOf(alias), value: record.name }
      if ((await putOnce(store, nameKey(alias), put)).outcome === 'won') return
    } else if (await putGeneration(store, record, latest.number + 1)) return
  }
}

/** When dataset `id` was deleted, and what it was; undefined where it was not, or is restored. Throws DecodeError. */
export async function readDeletion(store: ObjectStore, id: DatasetId): Promise<Deletion | undefined> {
  const record = await lastDeletion(store, id)
  return record?.state === 'deleted' ? record : undefined
}

/** Makes durable what another may have noted of the deletion of dataset `id` just now. Throws DecodeError. */
export async function settleDeletion(store: ObjectStore, id: DatasetId): Promise<void> {
  const deletion = await readDeletion(store, id)
  if (deletion === undefined) return
  await store.makeDurable(deletionsOf(id))
  await settled(store, deletion.name.alias)
}

async function lastDeletion(store: ObjectStore, id: DatasetId): Promise<DeletionRecord | undefined> {
  const sequence = (await listNumbers(store, deletionsOf(id))).at(-1)
  return sequence === undefined ? undefined : readRecord(store, deletionKey(id, sequence), deletionCodec)
}

/**
 * Gives dataset `was.id`, which is deleted or has another name, the name `alias` as its block `sequence` says. Undefined
 * where another has it, or where the dataset was deleted since. May be repeated.
 * Durable when it resolves. Throws DecodeError.
 */
export async function claimName(
  store: ObjectStore,
  was: NameRecord,
  to: { readonly alias: string; readonly sequence: number },
): Promise<NameRecord | undefined> {
  const { born = was.alias, ...same } = was
  const isBirthName = foldAscii(born) === foldAscii(to.alias)
  const name = { ...same, alias: to.alias, ...(isBirthName ? {} : { born }), changed: to.sequence }
  for (;;) {
    const latest = await settled(store, to.alias)
    if (latest?.record.state === 'is' && latest.record.name.id !== name.id) return undefined
    // Claimed already, and maybe left again: a builder that comes late finds that its block is there. What is older is a
    // name from before the deletion, which has yet to free it, and must not do so when it is restored.
    const held = await lastOf(store, to.alias, name.id)
    if (held !== undefined && held.state !== 'deleted' && (held.name.changed ?? 0) >= to.sequence) return held.name
    // Deleted again meanwhile: a builder that comes late finds that its block is there.
    if (((await listNumbers(store, deletionsOf(name.id))).at(-1) ?? 0) >= to.sequence) return undefined
    if (latest === undefined) {
      if ((await putOnce(store, nameKey(to.alias), { codec: nameCodec, value: name })).outcome === 'won') return name
    } else if (await putGeneration(store, { state: 'is', name }, latest.number + 1)) return name
  }
}

/**
 * Gives dataset `id` the name `to.alias` instead of the one that it has, with what else `change` sets, as its block
 * `to.sequence` says; the old one is left by `leaveName`. Resolves with the name that it has then; undefined where it has
 * none any more, or had none. `taken`: it is another's. May be repeated. Durable when it resolves. Throws DecodeError.
 */
export async function renameTo(
  store: ObjectStore,
  had: Pick<NameRecord, 'id' | 'alias'>,
  change: NameChange,
  to: { readonly alias: string; readonly sequence: number },
): Promise<NameRecord | undefined | 'taken'> {
  const was = await followName(store, had)
  if (was === undefined) return undefined
  await settled(store, was.alias)
  if ((was.changed ?? 0) >= to.sequence) return was
  const isSpelling = foldAscii(was.alias) === foldAscii(to.alias)
  const name = { ...changedName(was, change, to.sequence), ...(isSpelling ? {} : { from: was.alias }) }
  return (await claimName(store, name, to)) ?? 'taken'
}

/**
 * Takes back what `claimName` gave for block `sequence`, where that says otherwise: the dataset keeps the name that it had, or
 * none. May be repeated. Durable when it resolves. Throws DecodeError.
 */
export async function releaseName(
  store: ObjectStore,
  { id, alias, sequence }: { readonly id: DatasetId; readonly alias: string; readonly sequence: number },
): Promise<void> {
  for (;;) {
    const latest = await settled(store, alias)
    if (latest?.record.state !== 'is') return
    const { name } = latest.record
    if (name.id !== id || name.changed !== sequence) return
    const isKept = name.from !== undefined && (await readName(store, name.from))?.id === id
    if (!isKept && (await readDeletion(store, id)) === undefined) return
    const released: AliasRecord = isKept ? { state: 'moved', name, to: name.from } : { state: 'deleted', name }
    if (await putGeneration(store, released, latest.number + 1)) return
  }
}

/** Notes that dataset `id` is restored, as its block `sequence` says. May be repeated. Durable when it resolves. */
export async function putRestored(store: ObjectStore, id: DatasetId, sequence: number, alias: string): Promise<void> {
  await putOnce(store, deletionKey(id, sequence), { codec: deletionCodec, value: { state: 'restored', alias } })
}

/** `name` with what `change` sets, as of block `sequence`. */
function changedName(name: NameRecord, change: NameChange, sequence: number): NameRecord {
  const { freshnessMs = 0, ingest = {}, proofs = 'batches', ...rest } = { ...name, ...change }
  return {
    ...rest,
    ...(freshnessMs === 0 ? {} : { freshnessMs }),
    ...(Object.keys(ingest).length === 0 ? {} : { ingest }),
    ...(proofs === 'batches' ? {} : { proofs }),
    changed: sequence,
  }
}

function firstCodecOf(alias: string): RecordCodec<NameRecord> {
  return standingUnder(alias, nameCodec, (name) => name)
}

function laterCodecOf(alias: string): RecordCodec<AliasRecord> {
  return standingUnder(alias, aliasCodec, ({ name }) => name)
}

/** For records under a key of `alias`, which are of that name. */
function standingUnder<T>(alias: string, codec: RecordCodec<T>, nameIn: (record: T) => NameRecord): RecordCodec<T> {
  return {
    encode: codec.encode,
    decode(bytes) {
      const record = codec.decode(bytes)
      const name = nameIn(record)
      if (nameKey(name.alias) === nameKey(alias)) return record
      throw new DecodeError('name record', `it is of '${name.alias}' and stands under '${alias}'`)
    },
  }
}

/** All names as aliases in lower case, sorted by account, then dataset. */
export function listNames(store: Pick<ObjectStore, 'list'>): Promise<string[]> {
  return listAliases(store, namesPrefix)
}

/** Those of them that have changed since their creation. */
export function listChangedNames(store: Pick<ObjectStore, 'list'>): Promise<string[]> {
  return listAliases(store, aliasesPrefix)
}

async function listAliases(store: Pick<ObjectStore, 'list'>, prefix: string): Promise<string[]> {
  const aliases: string[] = []
  for (const account of await store.list(prefix)) {
    for (const dataset of await store.list(`${prefix}/${account}`)) aliases.push(`${account}/${dataset}`)
  }
  return aliases
}

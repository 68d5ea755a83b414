// Names in a statement → datasets the caller may read → blocks → files, before anything is planned.

import { defined } from '../../libraries/base/collections.ts'
import { similarNames } from '../../libraries/base/compare.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { type DatasetChain, type DatasetView, viewOf } from '../catalog/dataset-chain.ts'
import type { NameRecord } from '../../libraries/odf/chain/records.ts'
import type { Connection } from '../../libraries/pgwire/catalogue/numbered.ts'
import type { AnswerRoom, Asking } from '../engine/messages.ts'
import { must } from '../../libraries/base/assert.ts'
import { HaltError, NodeError, type TextPosition } from '../../libraries/base/errors.ts'
import { foldAscii, isName } from '../../libraries/model/names.ts'
import type { DatasetPin, NamePin, PinnedDataset } from '../../libraries/model/query.ts'

/** What a replica asks of a catalog. */
export type Chains = Pick<Catalog, 'nameOf' | 'nameOfId' | 'heldName' | 'names' | 'renamed' | 'chainOf' | 'refresh'>

/** Says whether the caller may read a dataset. A dataset that may not be read is missing. */
export type MayRead = (dataset: { readonly alias: string; readonly visibility: 'public' | 'private' }) => boolean

/** The caller of a query, a tail or a verification. */
export interface Caller {
  /** Callers of one key take turns as one; those that share its first parts share the turn of those. */
  readonly key: readonly string[]
  readonly mayRead: MayRead
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal
  /** Where the bytes of the answer are counted. */
  readonly room: AnswerRoom
  /** Told when a process has the statement. */
  readonly begins?: () => void
  /** To what he is connected, where he speaks PostgreSQL. */
  readonly connection?: Connection
}

/** The caller in the engine's terms. A dataset whose name is no longer known may not be read. */
export function askingOf(catalog: Chains, { key, mayRead, signal, room, begins, connection }: Caller): Asking {
  const mayReadId = (dataset: string): boolean => {
    const name = catalog.heldName(dataset)
    return name !== undefined && mayRead(name)
  }
  const speaks = connection && { speaks: 'postgres' as const }
  return { caller: { key, mayRead: mayReadId }, signal, room, ...(begins && { begins }), ...speaks }
}

/** A name as the statement has it. */
export interface NameInSql {
  readonly parts: readonly string[]
  readonly position?: TextPosition
}

/** A distinct name bound to a snapshot. */
export interface Binding {
  readonly parts: readonly string[]
  readonly pinned: PinnedDataset
  readonly view: DatasetView
}

/** Finds datasets for a caller; what he may not read is not there. */
export class Reader {
  readonly catalog: Chains
  readonly mayRead: MayRead

  constructor(catalog: Chains, mayRead: MayRead) {
    this.catalog = catalog
    this.mayRead = mayRead
  }

  /**
   * The readable dataset with this alias or DID text, or undefined. Throws HaltError `ChainBroken` when it is damaged;
   * a caller that may not read it does not learn that.
   */
  async find(text: string): Promise<DatasetChain | undefined> {
    const name = text.startsWith('did:') ? await this.catalog.nameOfId(text) : await this.#nameOf(text)
    // mutant: an answer is reused for who may not read
    return name !== undefined && this.mayRead(name) ? this.catalog.chainOf(name) : undefined
  }

  /** As `find`, or NodeError `DatasetNotFound`. */
  async need(alias: string): Promise<DatasetChain> {
    const chain = await this.find(alias)
    if (chain === undefined) throw await this.missing(alias)
    return chain
  }

  /** The error for a name that `find` does not know; it says how the dataset is called now, or which names are alike. */
  async missing(alias: string, position?: TextPosition): Promise<NodeError> {
    const renamed = await renamedFrom(this.catalog, alias, this.mayRead, position)
    if (renamed !== undefined) return renamed
    const readable = (await this.catalog.names()).filter((name) => this.mayRead(name))
    return datasetNotFound(
      alias,
      position,
      aliasesLike(
        alias,
        readable.map((name) => name.alias),
      ),
    )
  }

  async #nameOf(text: string): Promise<NameRecord | undefined> {
    if (!isAlias(text)) return undefined
    return nameFor(this.catalog, text, this.mayRead)
  }
}

/**
 * The name record of `alias`, or undefined. Throws HaltError `ChainBroken` when it is damaged, but only for a caller
 * whose `right` covers the alias whatever its visibility was.
 */
export async function nameFor(catalog: Chains, alias: string, right: MayRead): Promise<NameRecord | undefined> {
  try {
    return await catalog.nameOf(alias)
  } catch (error) {
    if (error instanceof HaltError && !right({ alias, visibility: 'private' })) return undefined
    throw error
  }
}

function isAlias(text: string): boolean {
  const parts = text.split('/')
  return parts.length === 2 && parts.every(isName)
}

/**
 * The error for the name of a dataset that has another now, for a caller whose `right` covers it by that; undefined where
 * there is no such dataset. Throws as `nameFor`.
 */
export async function renamedFrom(
  catalog: Chains,
  alias: string,
  right: MayRead,
  position?: TextPosition,
): Promise<NodeError | undefined> {
  if (!isAlias(alias)) return undefined
  const name = await catalog.renamed(alias).catch((error: unknown) => {
    if (error instanceof HaltError && !right({ alias, visibility: 'private' })) return undefined
    throw error
  })
  if (name === undefined || !right(name)) return undefined
  return new NodeError('DatasetNotFound', `The dataset '${alias}' has another name now.`, {
    hint: `It is '${name.alias}' now.`,
    candidates: [name.alias],
    moved: { from: alias, to: name.alias },
    ...defined({ position }),
  })
}

export function datasetNotFound(alias: string, position?: TextPosition, candidates: readonly string[] = []): NodeError {
  const hints = [
    ...(alias.includes('/') ? [] : ['Name it account.dataset; SHOW TABLES lists what there is.']),
    ...(candidates.length > 0 ? [] : ['Create it with PUT, or by posting records with ?create=true.']),
  ]
  return new NodeError('DatasetNotFound', `There is no dataset '${alias.slice(0, 210)}'.`, {
    hint: hints.length > 0 ? hints.join(' ') : `Did you mean '${candidates[0]}'?`,
    ...(candidates.length > 0 && { candidates }),
    ...defined({ position }),
  })
}

/** Names of datasets that may have been meant: first those of other accounts, then those with few other letters. */
function aliasesLike(wanted: string, aliases: readonly string[]): readonly string[] {
  const lastOf = (alias: string): string => foldAscii(alias.slice(alias.lastIndexOf('/') + 1))
  const last = lastOf(wanted)
  const elsewhere = aliases.filter((alias) => lastOf(alias) === last)
  if (elsewhere.length > 0) return elsewhere.slice(0, 5)
  if (wanted.includes('/')) return similarNames(foldAscii(wanted), aliases)
  const meant = new Set(similarNames(last, aliases.map(lastOf)))
  return aliases.filter((alias) => meant.has(lastOf(alias))).slice(0, 5)
}

/** The alias that a name in SQL stands for: `"a/b"`, `a.b`, `a."b.c"`, `"did:odf:…"`. */
export function aliasOfParts(parts: readonly string[]): string {
  if (parts.length === 1) return must(parts[0], 'a name has a part')
  return `${parts[0]}/${parts.slice(1).join('.')}`
}

/**
 * Binds each distinct name to the head, or to the block that `pins` names (then no other names resolve).
 * Throws NodeError `DatasetNotFound`, `BlockNotFound`, `InvalidRequest`.
 */
export async function pinNames(
  reader: Reader,
  names: readonly NameInSql[],
  pins: readonly DatasetPin[] | undefined,
): Promise<Binding[]> {
  checkPins(pins ?? [])
  const bindings = new Map<string, Binding>()
  // A dataset under two spellings is one snapshot, even if its head moves meanwhile.
  const heads = new Map<DatasetChain, DatasetView>()
  const headOf = (chain: DatasetChain): DatasetView => {
    const view = heads.get(chain) ?? viewOf(chain)
    heads.set(chain, view)
    return view
  }
  for (const name of names) {
    const alias = aliasOfParts(name.parts)
    const key = JSON.stringify(name.parts)
    if (bindings.has(key)) continue
    const pin = pins?.find((candidate) => foldAscii(candidate.alias) === foldAscii(alias))
    const chain = pins !== undefined && pin === undefined ? undefined : await reader.find(pin?.id ?? alias)
    if (chain === undefined)
      throw pins === undefined ? await reader.missing(alias, name.position) : datasetNotFound(alias, name.position)
    const view = pin?.blockHash === undefined ? headOf(chain) : await viewAt(reader.catalog, chain, pin.blockHash)
    bindings.set(key, { parts: name.parts, pinned: pinnedAt(view, alias, pin), view })
  }
  return [...bindings.values()]
}

/** True for a name in SQL that names no dataset by itself: a request says what it means. */
export function isBare(alias: string): boolean {
  return !/\/|^did:/i.test(alias)
}

/**
 * Pins of names as `datasets` has them: a pin binds the name that it is, and every name in the statement of the dataset
 * that it names by DID or otherwise; one with an alias binds that. One that binds none stays. Throws NodeError `DatasetNotFound`.
 */
export async function datasetsOfPins(
  reader: Reader,
  names: readonly NameInSql[],
  pins: readonly NamePin[],
): Promise<DatasetPin[]> {
  const ids = await Promise.all(names.map(async ({ parts }) => (await reader.find(aliasOfParts(parts)))?.name.id))
  const bound: DatasetPin[] = []
  for (const { name, alias: own, blockHash } of pins) {
    const { id } = (await reader.need(name)).name
    const aliases = names.filter((_, index) => ids[index] === id).map(({ parts }) => aliasOfParts(parts))
    for (const alias of own !== undefined ? [own] : aliases.length > 0 ? aliases : [name])
      bound.push({ id, alias, blockHash })
  }
  return bound
}

/** A name at a block. Throws NodeError `InvalidRequest` where `pin` says another time of it. */
function pinnedAt({ id, block }: DatasetView, alias: string, pin: DatasetPin | undefined): PinnedDataset {
  const { hash, systemTime } = block
  if (pin?.blockTime !== undefined && pin.blockTime !== systemTime) {
    throw new NodeError(
      'InvalidRequest',
      `datasets says that the block of '${alias.slice(0, 210)}' is of another time.`,
      {
        hint: `The block ${hash} was made ${systemTime}; leave blockTime away, or take it over as an answer has it.`,
      },
    )
  }
  return { id, alias, blockHash: hash, blockTime: systemTime }
}

/** A name must not stand for two snapshots. */
function checkPins(pins: readonly DatasetPin[]): void {
  const seen = new Map<string, DatasetPin>()
  for (const pin of pins) {
    const held = seen.get(foldAscii(pin.alias))
    if (held !== undefined && (held.id !== pin.id || held.blockHash !== pin.blockHash)) {
      throw new NodeError('InvalidRequest', `datasets pins '${pin.alias.slice(0, 210)}' twice, and differently.`)
    }
    seen.set(foldAscii(pin.alias), pin)
  }
}

/**
 * A pin's alias that reads as the name of a dataset, `account/dataset` or a DID, must be the name of that very dataset: an
 * answer would else say of one dataset what holds for another. For what is asked here, not for what is verified: another
 * node may hold a dataset under another name. Throws NodeError `InvalidRequest`.
 */
export async function checkPinAliases(reader: Reader, pins: readonly DatasetPin[]): Promise<void> {
  for (const { id, alias } of pins) {
    if (isBare(alias)) continue
    const chain = await reader.find(id)
    if (chain === undefined || [chain.name.alias, id].some((own) => foldAscii(own) === foldAscii(alias))) continue
    // A former name of it, as an older answer has it.
    if (isAlias(alias) && (await reader.catalog.renamed(alias))?.id === id) continue
    throw new NodeError('InvalidRequest', `datasets gives the name '${alias.slice(0, 210)}' to another dataset.`, {
      hint: 'Use the name of the dataset itself, or one without a slash.',
      candidates: [chain.name.alias],
    })
  }
}

/** The dataset at a block by hash; looks in the store once before it says `BlockNotFound`. */
export async function viewAt(catalog: Chains, chain: DatasetChain, hash: string): Promise<DatasetView> {
  const sequence = await sequenceAt(catalog, chain, hash)
  if (sequence !== undefined) return viewOf(chain, sequence)
  throw new NodeError('BlockNotFound', `The dataset '${chain.name.alias}' has no block '${hash.slice(0, 100)}'.`, {
    hint: 'Blocks are named by the hashes that refs/head and receipts give.',
  })
}

/** Sequence number of a block by hash, or undefined; looks in the store once. */
export async function sequenceAt(catalog: Chains, chain: DatasetChain, hash: string): Promise<number | undefined> {
  if (chain.sequenceOf(hash) === undefined) await catalog.refresh(chain)
  return chain.sequenceOf(hash)
}

/**
 * The entries of `input.datasets`: distinct, ordered by id, then alias. Pins that no name of the statement uses stay, and are
 * checked as the others are, because they are signed as well. Throws NodeError `DatasetNotFound`, `BlockNotFound`.
 */
export async function pinnedList(
  reader: Reader,
  pins: readonly DatasetPin[],
  used: readonly Binding[],
): Promise<PinnedDataset[]> {
  const names = new Set(used.map(({ pinned }) => foldAscii(pinned.alias)))
  const all = used.map(({ pinned }) => pinned)
  for (const pin of pins) {
    const { id, alias, blockHash } = pin
    if (names.has(foldAscii(alias))) continue
    const chain = await reader.find(id)
    if (chain === undefined) throw datasetNotFound(alias)
    const view = blockHash === undefined ? viewOf(chain) : await viewAt(reader.catalog, chain, blockHash)
    all.push(pinnedAt(view, alias, pin))
  }
  return inOrder(all)
}

/** Distinct, by id, then alias. */
export function inOrder(pins: readonly PinnedDataset[]): PinnedDataset[] {
  const distinct = new Map(pins.map((pinned) => [`${pinned.id} ${pinned.alias} ${pinned.blockHash}`, pinned]))
  return [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pinned]) => pinned)
}

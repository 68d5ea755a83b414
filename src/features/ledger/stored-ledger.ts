// A ledger as its store has it: the heads that are published, entries with the proof that they are there, and where in the tree the
// entry of a block is.

import { must } from '../../libraries/base/assert.ts'
import { equalBytes, utf8 } from '../../libraries/base/bytes.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import { cosignedAt } from '../../libraries/ledger/cosignature.ts'
import type { Head } from '../../libraries/ledger/head.ts'
import { isBy, noteOf, type NoteSignature } from '../../libraries/ledger/note.ts'
import { openHead } from '../../libraries/ledger/open-head.ts'
import { type Policy, type Quorum, quorumOf } from '../../libraries/ledger/policy.ts'
import { rootTiles } from '../../libraries/ledger/tile-proofs.ts'
import { TileReader } from '../../libraries/ledger/tile-reader.ts'
import { fullTileWidth, type Tile, tileName } from '../../libraries/ledger/tiles.ts'
import type { TlogProof } from '../../libraries/ledger/tlog-proof.ts'
import {
  ledgerBatchKey,
  ledgerMetKey,
  ledgerObjectKey,
  ledgerPlacesKey,
  ledgerStateKey,
  ledgerStatesOf,
} from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { listNumbers, readRecord } from '../../node/store/records.ts'
import { History } from './history.ts'
import { ledgerRecord, newestLedger } from './identity.ts'
import { policyOf } from './policy-file.ts'
import { batchCodec, placesCodec, placesPerGroup, stateCodec } from './records.ts'

/** A ledger of a store. */
export interface LedgerTree {
  readonly store: ObjectStore
  /** Its number in the store, from 1. */
  readonly ledger: number
  readonly origin: string
  /** The head that is shown, and the newest whose quorum is met. Throws DecodeError. */
  readonly heads: () => Promise<readonly ShownHead[]>
}

/** A head that is published. */
export interface ShownHead {
  readonly note: Uint8Array
  readonly size: number
  readonly quorum: Quorum
}

/** An entry, and the proof of it that lacks what its salts show. */
export interface Included {
  readonly entry: Uint8Array
  readonly proof: Omit<TlogProof, 'extra'>
  readonly quorum: Quorum
}

const mostTries = 3

/** Reads again what lacks a tile: partial ones go when a head moves on. Throws DecodeError where it does each time. */
export async function withTiles<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof DecodeError) || tries === mostTries) throw error
    }
  }
}

/**
 * The entry with this index: under the newest head whose quorum is met, where that has it, else under the newest. Undefined
 * where no head has it yet. Throws DecodeError where what is stored of the ledger is damaged.
 */
export async function includedAt(tree: LedgerTree, index: number): Promise<Included | undefined> {
  return await withTiles(async () => {
    const heads = (await tree.heads()).filter(({ size }) => index < size).sort((a, b) => b.size - a.size)
    const [newest] = heads
    if (newest === undefined) return undefined
    const head = heads.find(({ quorum }) => quorum === 'met') ?? newest
    const tiles = storedTiles(tree.store, tree.ledger)
    const hashes = await tiles.inclusion(index, head.size, newest.size)
    const entries = await tiles.entries(newest.size, Math.floor(index / fullTileWidth))
    const entry = must(entries[index % fullTileWidth], 'a bundle has the entries of its tree')
    return { entry, proof: { index, hashes, head: head.note }, quorum: head.quorum }
  })
}

/** The n-th, else the newest. Undefined where the store has none. Throws DecodeError where the record of it is damaged. */
export async function newestTree(
  store: ObjectStore,
  policy: Policy | undefined,
  number?: number,
): Promise<LedgerTree | undefined> {
  const newest = await newestLedger(store)
  const ledger = number ?? newest
  if (ledger === 0 || ledger > newest) return undefined
  const record = await ledgerRecord(store, ledger)
  if (record === undefined) throw new DecodeError('ledger origin', 'is damaged')
  const deps = { store, ledger, policy: policyOf(record.key, policy) }
  const heads: LedgerTree['heads'] = async () => {
    const { shown, met } = await readHeads(deps)
    return [shown, met]
      .filter((head) => head !== undefined)
      .map((head) => ({
        note: noteBytes(deps.policy, head),
        size: head.head.size,
        quorum: quorumOver(deps.policy, head),
      }))
  }
  return { store, ledger, origin: record.origin, heads }
}

/** The tiles of a ledger in the store. It throws DecodeError where one is damaged or missing. */
export function storedTiles(store: ObjectStore, ledger: number): TileReader {
  return new TileReader({
    read: async (name) => await store.get(ledgerObjectKey(ledger, name)),
    lacks: (name) => lacks(ledgerObjectKey(ledger, name)),
    altered: (reason) => new DecodeError('ledger', `is damaged: ${reason}`),
  })
}

function lacks(key: string): DecodeError {
  return new DecodeError('ledger', `lacks ${key}`)
}

export class Places {
  readonly #store: ObjectStore
  readonly #ledger: number
  /** As far as it was read; the next question reads on. */
  #history: Promise<History> | undefined

  constructor(store: ObjectStore, ledger: number) {
    this.#store = store
    this.#ledger = ledger
  }

  /**
   * The index of the entry of a block, by the tag of its dataset in hex; undefined where it is not entered yet. Throws
   * DecodeError or HaltError where what is stored of the ledger is damaged.
   */
  async indexOf(tag: string, sequence: number): Promise<number | undefined> {
    const history = await this.history()
    if (sequence >= history.nextOf(tag)) return undefined
    const open = history.placeOf(tag, sequence)
    if (open !== undefined) return open
    const group = Math.floor(sequence / placesPerGroup)
    // One that is full may not be stored yet: the head that it is below is not published then.
    const indexes = await readRecord(this.#store, ledgerPlacesKey(this.#ledger, tag, group), placesCodec)
    return indexes?.[sequence % placesPerGroup]
  }

  /** The ledger as far as it is stored. One after the other: each reads on where the one before has stopped, or failed. */
  async history(): Promise<History> {
    const before = this.#history
    const next = this.#readFrom(before)
    this.#history = next
    try {
      return await next
    } catch (error) {
      if (this.#history === next) this.#history = undefined
      throw error
    }
  }

  async #readFrom(before: Promise<History> | undefined): Promise<History> {
    const history = (await before?.catch(() => undefined)) ?? (await readHistory(this.#store, this.#ledger))
    for (;;) {
      const batch = await readRecord(this.#store, ledgerBatchKey(this.#ledger, history.batches), batchCodec)
      if (batch === undefined) return history
      history.takeIn(batch)
    }
  }
}

/**
 * The history from the newest state that was stored, and the tiles of its tree; without the batches after it. Throws DecodeError
 * where an object is damaged or missing.
 */
export async function readHistory(store: ObjectStore, ledger: number): Promise<History> {
  const batches = (await listNumbers(store, ledgerStatesOf(ledger))).at(-1)
  if (batches === undefined) return History.empty()
  const key = ledgerStateKey(ledger, batches)
  const state = await readRecord(store, key, stateCodec)
  if (state === undefined) throw lacks(key)
  const { size } = state.tree
  const tiles = storedTiles(store, ledger)
  const files = new Map<string, Uint8Array>()
  for (const tile of rootTiles(size)) files.set(tileName(tile), await tiles.tile(tile))
  const read = (tile: Tile): Uint8Array => files.get(tileName(tile)) ?? new Uint8Array()
  const bundle = await tiles.entries(size, Math.floor(size / fullTileWidth))
  return History.from(batches, state, read, bundle)
}

/** A line of a witness, and when it has signed, in seconds since 1970. */
export interface Cosigned {
  readonly line: NoteSignature
  readonly at: number
}

/** A head that the ledger has signed, with the newest line of each witness, by its name in the policy. */
export interface CosignedHead {
  readonly head: Head
  readonly text: string
  /** That of the ledger. */
  readonly own: NoteSignature
  readonly lines: ReadonlyMap<string, Cosigned>
}

export interface HeadsDeps {
  readonly store: ObjectStore
  readonly ledger: number
  /** One log, the ledger itself, and the witnesses that count. */
  readonly policy: Policy
}

/** Whether the quorum of the policy has cosigned a head. */
export function quorumOver(policy: Policy, { lines }: Pick<CosignedHead, 'lines'>): Quorum {
  return quorumOf(policy, lines.keys())
}

/** The head of these bytes; undefined where another ledger wrote them, or a line is not good. */
export function readHead(policy: Policy, bytes: Uint8Array | undefined): CosignedHead | undefined {
  const opened = bytes && openHead(bytes, policy)
  if (opened?.ok !== true) return undefined
  const { head, note } = opened
  const [log] = policy.logs
  const own = log && note.signatures.find((line) => isBy(line, log.key))
  if (own === undefined) return undefined
  const lines = new Map<string, Cosigned>()
  for (const { name, key } of policy.witnesses) {
    const line = note.signatures.find((one) => isBy(one, key))
    const at = line && cosignedAt(note.text, key, line.signature)
    if (line !== undefined && at !== undefined) lines.set(name, { line, at })
  }
  return { head, text: note.text, own, lines }
}

/** The note of a head, witnesses in the order of the policy. */
export function noteBytes({ witnesses }: Policy, { text, own, lines }: CosignedHead): Uint8Array {
  const good = witnesses.map(({ name }) => lines.get(name)?.line).filter((line) => line !== undefined)
  return utf8(noteOf({ text, signatures: [own, ...good] }))
}

/** The head that is shown, and the newest whose quorum has cosigned, which may be the same; with their notes. */
export async function readHeads(deps: HeadsDeps): Promise<{
  readonly shown: CosignedHead | undefined
  readonly met: CosignedHead | undefined
}> {
  const { store, ledger, policy } = deps
  const shown = readHead(policy, await store.get(ledgerObjectKey(ledger, 'checkpoint')))
  if (shown !== undefined && quorumOver(policy, shown) === 'met') return { shown, met: shown }
  const met = readHead(policy, await store.get(ledgerMetKey(ledger)))
  return { shown, met: met !== undefined && quorumOver(policy, met) === 'met' ? met : undefined }
}

/**
 * Shows a head to everybody, unless a larger one is shown already, with the lines that other keepers have. A head whose quorum is
 * met stays to be found. The head that is shown then.
 */
export async function showHead(deps: HeadsDeps, head: CosignedHead): Promise<CosignedHead> {
  const { store, ledger, policy } = deps
  const key = ledgerObjectKey(ledger, 'checkpoint')
  const bytes = await store.get(key)
  const there = readHead(policy, bytes)
  if (there !== undefined && there.head.size > head.head.size) {
    await keepMet(deps, head)
    return there
  }
  const shown = there?.text === head.text ? joined(there, head) : head
  const note = noteBytes(policy, shown)
  if (bytes !== undefined && equalBytes(bytes, note)) return shown
  if (there !== undefined && quorumOver(policy, shown) !== 'met') await keepMet(deps, there)
  await store.replace(key, note)
  return shown
}

/** Keeps a head whose quorum is met to be found, unless that of a larger one is. */
export async function keepMet(deps: HeadsDeps, head: CosignedHead): Promise<void> {
  const { store, ledger, policy } = deps
  if (quorumOver(policy, head) !== 'met') return
  const key = ledgerMetKey(ledger)
  const kept = readHead(policy, await store.get(key))
  if (kept === undefined || kept.head.size < head.head.size) await store.replace(key, noteBytes(policy, head))
}

/** The newer line of each witness. */
function joined(there: CosignedHead, own: CosignedHead): CosignedHead {
  const lines = new Map(there.lines)
  for (const [name, line] of own.lines) if (line.at >= (lines.get(name)?.at ?? 0)) lines.set(name, line)
  return { ...own, lines }
}

// What the ledger says of single blocks: what is promised of one, the proof of it or of a record in it, by when there is to be
// one, and what readers of a dataset recompute its entries by.

import { decodeUtf8, toHex } from '../../libraries/base/bytes.ts'
import { type Clock, timeText } from '../../libraries/base/clock.ts'
import { DecodeError, HaltError, NodeError } from '../../libraries/base/errors.ts'
import { parseJson } from '../../libraries/base/json/json.ts'
import type { JsonObject } from '../../libraries/base/json/value.ts'
import type { Quorum } from '../../libraries/ledger/policy.ts'
import {
  type BlockDocument,
  documentBytes,
  type HeadTimestamp,
  type ProofDocument,
} from '../../libraries/ledger/proof-document.ts'
import { blockSalt, secretsToJson } from '../../libraries/ledger/secrets.ts'
import { type TlogProof, tlogProofText } from '../../libraries/ledger/tlog-proof.ts'
import { instantMs } from '../../libraries/model/instant.ts'
import { isEntered, type NameRecord } from '../../libraries/odf/chain/records.ts'
import type { LedgerAnswers, LedgerBlock, LedgerPromise, LedgerProof } from '../../node/http/context.ts'
import { ledgerObjectKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { type KeeperStatus, standingOf } from './about.ts'
import type { BlockRecords } from '../../node/files/block-records.ts'
import { type Included, includedAt, type LedgerTree, Places } from './stored-ledger.ts'
import { LedgerKeys, type Tagger } from './ledger-keys.ts'
import { mostBatchEntries } from './records.ts'
import { stampedAt } from './time-stamps.ts'

/** A keeper begins a step so often within the delay, so that what waits for one, and for its own work, is in time. */
export const stepsPerDelay = 4

export interface AnswersDeps {
  readonly store: ObjectStore
  readonly clock: Clock
  /** The n-th ledger of the store, else the newest, if it has one. */
  readonly tree: (number?: number) => Promise<LedgerTree | undefined>
  readonly records: BlockRecords
  /** From a commit to the entry, and from that to a head with it. */
  readonly delayMs: number
  /** Undefined where heads wait for their quorum without end. Then nothing is promised. */
  readonly waitMs: number | undefined
  /** Of the keeper of this process, if it has one. */
  readonly status: () => KeeperStatus | undefined
}

/** A proof, by when there is to be one, or why there is none and never will be. */
export type Proven =
  | {
      readonly kind: 'proven'
      readonly tree: LedgerTree
      readonly document: ProofDocument
      readonly proof: TlogProof
      readonly quorum: Quorum
    }
  /** Without a time where it is in no block yet; `what` is not. */
  | { readonly kind: 'not yet'; readonly byMs?: number; readonly what?: string }
  | Never

export interface Never {
  readonly kind: 'never'
  readonly why: string
  readonly hint?: string
}

/** What the document of any proof of a block has, and what its salts are made of. */
export interface OpenEntry {
  readonly any: Pick<BlockDocument, 'entry' | 'dataset'>
  readonly secret: Uint8Array
}

/** Makes the document of a proof. */
export type Shown = (open: OpenEntry) => ProofDocument | Promise<ProofDocument | Never>

export class Answers implements LedgerAnswers {
  readonly #deps: AnswersDeps
  /** By the number of their ledger. */
  readonly #places = new Map<number, Places>()
  readonly #keys: LedgerKeys

  constructor(deps: AnswersDeps) {
    this.#deps = deps
    this.#keys = new LedgerKeys(deps.store)
  }

  get records(): BlockRecords {
    return this.#deps.records
  }

  /** After so many seconds it is worth asking again. */
  get stepSeconds(): number {
    return Math.max(1, Math.ceil(this.#deps.delayMs / 1000 / stepsPerDelay))
  }

  async promiseOf(name: NameRecord, block: LedgerBlock): Promise<LedgerPromise | undefined> {
    const { clock, waitMs, status } = this.#deps
    const kept = status()
    const nowMs = clock.nowMs()
    const isKept = kept !== undefined && standingOf(kept, clock) === 'running' && !kept.aside.has(name.id)
    if (!isKept || waitMs === undefined) return undefined
    const tree = await this.#tree()
    if (tree === undefined || !(await this.#isEntered(tree, name))) return undefined
    const byMs = this.#byMs(block)
    const key = await this.#keys.of(name.id)
    // Of more blocks than a batch takes nobody knows when they are entered.
    const before = block.sequence - mostBatchEntries
    if (before >= 0 && (await this.#indexOf(tree, key, before)) === undefined) return undefined
    // After that time what is there is told, and nothing promised of what is not.
    const isDue = nowMs > byMs
    if (isDue && (await this.#included(tree, name, block)) === undefined) return undefined
    const ofBlock = blockSalt(key.secretOf(block.sequence))
    const by = timeText(isDue ? nowMs : byMs)
    return { ledger: tree.origin, by, datasetSalt: toHex(key.salt), blockSalt: toHex(ofBlock) }
  }

  async proofOf(name: NameRecord, block: LedgerBlock): Promise<LedgerProof> {
    const proven = await this.prove(name, block, blockShown(block))
    if (proven.kind === 'not yet') return { notYet: timeText(proven.byMs ?? this.#byMs(block)) }
    if (proven.kind === 'never') return { noProof: proven.why }
    const text = tlogProofText(proven.proof)
    return text === undefined ? { noProof: 'It is too long.' } : { proof: decodeUtf8(text) }
  }

  async secretsOf(name: NameRecord, sequence: number): Promise<object | undefined> {
    const tree = await this.#tree()
    if (tree === undefined || !(await this.#isEntered(tree, name))) return undefined
    const key = await this.#keys.held(name.id)
    return key && { salt: toHex(key.salt), keys: secretsToJson(key.secretsUpTo(sequence)) }
  }

  /** The proof of what is `shown` of a block. Throws NodeError `StoreUnavailable` where the ledger in the store is damaged. */
  async prove(name: NameRecord, block: LedgerBlock, shown: Shown): Promise<Proven> {
    const tree = await this.#tree()
    if (tree === undefined) return { kind: 'never', why: 'This node has no ledger.' }
    if (!(await this.#isEntered(tree, name))) return notEntered(name)
    const included = await this.#included(tree, name, block)
    if (included === undefined) return { kind: 'not yet', byMs: this.#byMs(block) }
    const { key, entry, proof, quorum } = included
    const any = { entry, dataset: { id: name.id, salt: key.salt } }
    const document = await shown({ any, secret: key.secretOf(block.sequence) })
    if (document.kind === 'never') return document
    return { kind: 'proven', tree, document, proof: { ...proof, extra: documentBytes(document) }, quorum }
  }

  /** The proof of a statement of the n-th ledger, by its hash in hex. Undefined where that has none. Throws as `prove`. */
  async proveStatement(ledger: number, hash: string): Promise<Proven | undefined> {
    const tree = await undamaged(this.#deps.tree(ledger))
    const bytes = tree && (await tree.store.get(ledgerObjectKey(ledger, `statements/${hash}`)))
    if (tree === undefined || bytes === undefined) return undefined
    const index = (await undamaged(this.#placesOf(tree).history())).placeOfStatement(hash)
    if (index === undefined) return { kind: 'never', why: 'The ledger has no such statement among its last 1,000.' }
    const included = await undamaged(includedAt(tree, index))
    if (included === undefined) return { kind: 'not yet', what: 'The statement is below no head' }
    const statement = await undamaged(Promise.resolve(bytes).then(parseJson))
    if (!(statement instanceof Map)) throw new NodeError('StoreUnavailable', 'The stored statement is damaged.')
    const { entry, proof, quorum } = included
    const document = { kind: 'statement', entry, statement: statement as JsonObject } as const // names are strings
    return { kind: 'proven', tree, document, proof: { ...proof, extra: documentBytes(document) }, quorum }
  }

  /** Hash of the newest statement in hex; undefined where there is none, and where the ledger in the store is damaged. */
  async newestStatement(): Promise<string | undefined> {
    try {
      const tree = await this.#deps.tree()
      const statement = tree && (await this.#placesOf(tree).history()).statement
      return statement === '' ? undefined : statement
    } catch (error) {
      if (error instanceof DecodeError || error instanceof HaltError) return undefined
      throw error
    }
  }

  /** The first time stamp of a head that holds what was proven. Throws as `prove`. */
  async timestampOf({ tree, proof }: Proven & { readonly kind: 'proven' }): Promise<HeadTimestamp | undefined> {
    return await undamaged(stampedAt(tree, proof.index))
  }

  async #tree(): Promise<LedgerTree | undefined> {
    return await undamaged(this.#deps.tree())
  }

  #byMs({ systemTime }: LedgerBlock): number {
    const { delayMs, waitMs = 0 } = this.#deps
    return instantMs(systemTime) + delayMs + waitMs
  }

  async #included(tree: LedgerTree, { id }: NameRecord, { sequence }: LedgerBlock): Promise<KeyedEntry | undefined> {
    const key = await this.#keys.held(id)
    const index = key && (await this.#indexOf(tree, key, sequence))
    const included = index === undefined ? undefined : await undamaged(includedAt(tree, index))
    return key && included && { ...included, key }
  }

  async #indexOf(tree: LedgerTree, { tag }: Tagger, sequence: number): Promise<number | undefined> {
    return await undamaged(this.#placesOf(tree).indexOf(tag, sequence))
  }

  #placesOf({ store, ledger }: LedgerTree): Places {
    const places = this.#places.get(ledger) ?? new Places(store, ledger)
    this.#places.set(ledger, places)
    return places
  }

  /** Those whose name says so are, and those that were once. */
  async #isEntered(tree: LedgerTree, name: NameRecord): Promise<boolean> {
    if (isEntered(name)) return true
    const key = await this.#keys.held(name.id)
    return key !== undefined && (await this.#indexOf(tree, key, 0)) !== undefined
  }
}

interface KeyedEntry extends Included {
  readonly key: Tagger
}

/** What the proof of a block shows. */
export function blockShown({ hash }: Pick<LedgerBlock, 'hash'>): Shown {
  return ({ any, secret }) => ({ ...any, kind: 'block', block: { hash, salt: blockSalt(secret) } })
}

async function undamaged<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new NodeError('StoreUnavailable', 'What the store has of the ledger is damaged.', { cause: error })
  }
}

function notEntered({ alias }: NameRecord): Never {
  return {
    kind: 'never',
    why: `The blocks of ${alias} are not in the ledger.`,
    hint: 'A caller with the scope admin enters it for good: PATCH it with {"ledger": true}.',
  }
}

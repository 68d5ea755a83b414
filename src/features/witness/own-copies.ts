// The copies of a replica beside the ledger of the node that it follows: which of its datasets an entry is of, and whether the entry
// is what follows from the copy. What is not here yet is waited for.

import { toHex } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { judgeEntry } from '../../libraries/ledger/audit.ts'
import { type BlockEntry, datasetTag } from '../../libraries/ledger/entry.ts'
import { datasetSecretsFromJson, type SecretWalk } from '../../libraries/ledger/secrets.ts'
import type { NameRecord } from '../../libraries/odf/chain/records.ts'
import type { Catalog } from '../../node/catalog/catalog.ts'
import type { DatasetChain } from '../../node/catalog/dataset-chain.ts'
import type { Origin } from '../../node/feature.ts'
import type { BlockRecords } from '../../node/files/block-records.ts'
import { inTime, NotChecked } from './followed-ledger.ts'

const lookMs = 250
/** What is not here by then is left to the next head. */
const waitMost = 60_000
const answerMs = 30_000
const asksAtOnce = 8

export interface CopiesDeps {
  readonly origin: Pick<Origin, 'shown' | 'secretsOf'>
  readonly catalog: Pick<Catalog, 'byId'>
  readonly records: BlockRecords
  readonly clock: Clock
  readonly signal: AbortSignal
}

interface Known {
  readonly id: DatasetId
  secrets: SecretWalk
}

interface Names {
  readonly byId: ReadonlyMap<DatasetId, NameRecord>
  readonly sinceMs: number
  readonly untilMs: number
}

/** `unknown`: of no dataset that is followed, or of a block whose secret is gone. */
export type CopyVerdict = 'good' | 'unknown' | { readonly about: string }

export class OwnCopies {
  readonly #deps: CopiesDeps
  readonly #byTag = new Map<string, Known>()
  /** Datasets of which the node has told something, and when, by the monotonic clock. */
  readonly #asked = new Map<DatasetId, number>()
  /** Entries that were there then are judged. */
  #sinceMs = 0
  /** What the node shows, good for a moment. */
  #names: Names = { byId: new Map(), sinceMs: 0, untilMs: Number.NEGATIVE_INFINITY }
  /** All of these names without salts were asked for at this time, or later. */
  #askedSinceMs = Number.NEGATIVE_INFINITY
  waitsFor: string | undefined

  constructor(deps: CopiesDeps) {
    this.#deps = deps
  }

  /** Begins with entries that are there by now. */
  begin(): void {
    this.#sinceMs = this.#deps.clock.monotonicMs()
  }

  /** Judges an entry; `isFirst` of its dataset. Throws NotChecked, and what the store throws. */
  async judge(entry: BlockEntry, isFirst: boolean): Promise<CopyVerdict> {
    const known = await this.#datasetOf(toHex(entry.datasetTag), isFirst)
    const secret = known && (await this.#secretOf(known, entry.sequence))
    if (known === undefined || secret === undefined) return 'unknown'
    const chain = await this.#until('a block that is not copied yet', () => this.#copyWith(known.id, entry.sequence))
    const block = chain.blocks.at(entry.sequence)
    if (block === undefined) return 'unknown'
    const { alias } = chain.name
    const verdict = await judgeEntry(entry, this.#deps.records.audited({ chain, block, secret }))
    if (verdict === 'unread') throw new NotChecked('the rows of a block cannot be read here')
    if (verdict === 'another block')
      return { about: `it is of another block than block ${entry.sequence} of ${alias}, ${block.hash}` }
    return typeof verdict === 'string' ? 'good' : { about: `${verdict.about}: block ${entry.sequence} of ${alias}` }
  }

  /**
   * The followed dataset with this tag. Before one is none, the node is asked what it shows since the entry came, and for the
   * salts of datasets of which none are known.
   */
  async #datasetOf(tag: string, isFirst: boolean): Promise<Known | undefined> {
    const { origin, clock } = this.#deps
    const isNew = isFirst && !this.#byTag.has(tag)
    if (clock.monotonicMs() >= this.#names.untilMs || (isNew && this.#names.sinceMs < this.#sinceMs)) {
      const { names, sinceMs } = await this.#until('the list of datasets', async () => {
        const shown = origin.shown()
        return shown !== undefined && (!isNew || shown.sinceMs >= this.#sinceMs) ? shown : undefined
      })
      const byId = new Map(names.map((name) => [name.id, name]))
      this.#names = { byId, sinceMs, untilMs: clock.monotonicMs() + lookMs }
      this.#askedSinceMs = Number.NEGATIVE_INFINITY
      await this.#askAll(0)
    }
    if (isNew) await this.#askAll(this.#sinceMs)
    const known = this.#byTag.get(tag)
    return known !== undefined && this.#names.byId.has(known.id) ? known : undefined
  }

  /** Asks for the salts of datasets of which none are known, unless the node was asked at or after a time. */
  async #askAll(sinceMs: number): Promise<void> {
    if (this.#askedSinceMs >= sinceMs) return
    const known = new Set([...this.#byTag.values()].map(({ id }) => id))
    const due = [...this.#names.byId.values()].filter(({ id }) => {
      return !known.has(id) && (this.#asked.get(id) ?? Number.NEGATIVE_INFINITY) < sinceMs
    })
    for (let at = 0; at < due.length; at += asksAtOnce) {
      await Promise.all(due.slice(at, at + asksAtOnce).map((name) => this.#ask(name)))
    }
    this.#askedSinceMs = sinceMs
  }

  async #ask(name: NameRecord): Promise<void> {
    const { clock, origin, signal } = this.#deps
    const { id } = name
    const askedMs = clock.monotonicMs()
    const told = await this.#until('the salts of a dataset', async () => {
      const answer = await inTime(origin.secretsOf(name), { clock, signal, ms: answerMs })
      return answer?.kind === 'unanswered' ? undefined : answer
    })
    this.#asked.set(id, askedMs)
    if (told.kind !== 'told') return
    try {
      const { salt, secrets } = datasetSecretsFromJson(told.salt, told.keys)
      const tag = toHex(datasetTag(salt, id))
      const known = this.#byTag.get(tag)
      if (known === undefined) this.#byTag.set(tag, { id, secrets })
      else known.secrets = secrets
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      throw new NotChecked('the salts of a dataset cannot be read', { cause: error })
    }
  }

  /** Undefined where it is gone: those of later blocks are told, and it is not. */
  async #secretOf(known: Known, sequence: number): Promise<Uint8Array | undefined> {
    return await this.#until('the salt of a block', async () => {
      const secret = known.secrets.secretOf(sequence)
      if (secret !== undefined) return { secret }
      const shown = this.#deps.origin.shown()
      if (shown === undefined) return undefined
      const name = shown.names.find(({ id }) => id === known.id)
      if (name === undefined || known.secrets.hasAfter(sequence)) return { secret }
      await this.#ask(name)
      return undefined
    }).then(({ secret }) => secret)
  }

  async #copyWith(id: DatasetId, sequence: number): Promise<DatasetChain | undefined> {
    const chain = await this.#deps.catalog.byId(id)
    return chain !== undefined && chain.headSequence >= sequence ? chain : undefined
  }

  /** What `look` finds, in time. Throws NotChecked. */
  async #until<T extends object>(what: string, look: () => Promise<T | undefined>): Promise<T> {
    const { clock, signal } = this.#deps
    const untilMs = clock.monotonicMs() + waitMost
    for (;;) {
      const found = await look()
      if (found !== undefined) return found
      if (signal.aborted || clock.monotonicMs() > untilMs) throw new NotChecked(`it waits for ${what}`)
      this.waitsFor = what
      await clock.sleep(lookMs, signal)
    }
  }
}

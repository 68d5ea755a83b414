// What of a dataset is not in the ledger when it is removed: its entries are made before its blocks and its key go, and lie in the
// store until a keeper has appended them. So a keeper that is late or halted holds no removal up, and no block is missing.

import { base64Text, fromBase64 } from '../../libraries/base/base64.ts'
import { toHex } from '../../libraries/base/bytes.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { parseEntry } from '../../libraries/ledger/entry.ts'
import { type Deletion, isEntered } from '../../libraries/odf/chain/records.ts'
import type { Catalog } from '../../node/catalog/catalog.ts'
import { ledgerLeftKey, ledgerLeftOf, ledgerLeftPrefix } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { listNumbers, putOnce, readRecord } from '../../node/store/records.ts'
import { isRemovalBegun } from '../../node/store/remove-chain.ts'
import type { BlockRecords } from '../../node/files/block-records.ts'
import type { History } from './history.ts'
import { entriesOf } from './entries.ts'
import type { LedgerKeys } from './ledger-keys.ts'
import type { Places } from './stored-ledger.ts'
import { leftCodec } from './records.ts'
import type { SetAside } from './waiting.ts'

export interface LeftDeps {
  readonly store: ObjectStore
  readonly catalog: Catalog
  readonly keys: LedgerKeys
  readonly records: BlockRecords
  readonly places: Places
  readonly aside: SetAside
  readonly logger: Logger
}

/** Entries of a record. */
const entriesPerRecord = 512

export class LeftEntries {
  readonly #deps: LeftDeps
  /** Tags of datasets of which something is left. */
  readonly #tags = new Set<string>()

  constructor(deps: LeftDeps) {
    this.#deps = deps
  }

  /** Stores what is left of a dataset that is about to be removed. May be repeated. Durable when it resolves. */
  async handOver(deletion: Deletion): Promise<void> {
    try {
      await this.#handOver(deletion)
    } catch (error) {
      if (!(error instanceof HaltError)) throw error
      const { alias } = deletion.name
      this.#deps.logger.error(
        { alias, reason: error.message },
        'A removed dataset is not entered in the ledger to its end',
      )
    }
  }

  async #handOver({ name }: Deletion): Promise<void> {
    const { store, catalog, keys, records, places } = this.#deps
    // It was handed over before the removal began.
    if (await isRemovalBegun(store, name.id)) return
    const key = await (isEntered(name) ? keys.of(name.id) : keys.stored(name.id))
    if (key === undefined) return
    const next = (await places.history()).nextOf(key.tag)
    if (next === 0 && !isEntered(name)) return
    const chain = await catalog.chainOf(name)
    const waiting: Uint8Array[] = []
    let start = next
    const put = async (): Promise<void> => {
      const value = waiting.splice(0, entriesPerRecord).map(base64Text)
      if (value.length > 0) await putOnce(store, ledgerLeftKey(key.tag, start), { codec: leftCodec, value })
      start += value.length
    }
    for await (const made of entriesOf(chain, { start: next, end: chain.blocks.length }, { key, records })) {
      waiting.push(...made)
      if (waiting.length >= entriesPerRecord) await put()
    }
    await put()
    this.#tags.add(key.tag)
  }

  /** Looks for what other processes have handed over. */
  async sweep(): Promise<void> {
    for (const tag of await this.#deps.store.list(ledgerLeftPrefix)) this.#tags.add(tag)
  }

  /** Entries that are left, at most `most`, each after those that the ledger has of its dataset. What it has is removed. */
  async take(history: History, most: number): Promise<Uint8Array[]> {
    const taken: Uint8Array[] = []
    for (const tag of this.#tags) {
      const next = history.nextOf(tag)
      const mine = await this.#deps.aside.trying(tag, () => this.#waiting(tag, next))
      if (mine === undefined) continue
      if (mine.length === 0) this.#tags.delete(tag)
      taken.push(...mine.slice(0, most - taken.length))
      if (taken.length >= most) break
    }
    return taken
  }

  async #waiting(tag: string, next: number): Promise<Uint8Array[]> {
    const { store } = this.#deps
    const waiting: Uint8Array[] = []
    for (const start of await listNumbers(store, ledgerLeftOf(tag))) {
      const entries = (await readRecord(store, ledgerLeftKey(tag, start), leftCodec)) ?? []
      const at = next + waiting.length
      if (start + entries.length <= next) await store.delete(ledgerLeftKey(tag, start))
      else if (start <= at) waiting.push(...entries.slice(at - start).map((text, i) => entryIn(text, tag, at + i)))
      if (waiting.length >= entriesPerRecord) break
    }
    return waiting
  }
}

/** Throws DecodeError for bytes that are not the entry of this block. */
function entryIn(text: string, tag: string, sequence: number): Uint8Array {
  const bytes = fromBase64(text) ?? new Uint8Array()
  const entry = parseEntry(bytes)
  if (entry.kind === 'block' && toHex(entry.datasetTag) === tag && entry.sequence === sequence) return bytes
  throw new DecodeError('entries that are left', 'are not those of the blocks of their dataset')
}

// The follower of a ledger: before its witness cosigns a head, every entry below that is read and checked, those of followed datasets
// against the copies that this node has, the others for their order. An entry that contradicts them is refused, now and after
// any restart. What was checked is kept, so that it is not checked again.

import { base64Text } from '../../libraries/base/base64.ts'
import { type Clock, nextTurn } from '../../libraries/base/clock.ts'
import { concatBytes, equalBytes, toHex, utf8 } from '../../libraries/base/bytes.ts'
import { DecodeError, NodeError } from '../../libraries/base/errors.ts'
import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { Auditor, type LedgerSource } from '../../libraries/ledger/audit.ts'
import { type Checked, checkedBytes, orderLines, parseChecked } from '../../libraries/ledger/checked.ts'
import { blockEntryBytes, type Entry, parseEntry } from '../../libraries/ledger/entry.ts'
import type { Head } from '../../libraries/ledger/head.ts'
import { Order } from '../../libraries/ledger/order.ts'
import { fullTileWidth } from '../../libraries/ledger/tiles.ts'
import { Frontier, leafHash } from '../../libraries/ledger/tree.ts'
import { checkedKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { inTime, NotChecked } from './followed-ledger.ts'
import type { OwnCopies } from './own-copies.ts'
import type { Contradiction, Vouching } from './witness.ts'

/** How long a request waits. The check continues. */
const patienceMs = 2_000
const retrySeconds = 2
/** After so many entries, or after so long, what was checked is kept. */
const keepEntries = 16_384
const keepMs = 60_000
/** Held against the copies in a few milliseconds, where nothing has to be read for it. */
const entriesAtOnce = 32
/** Datasets of a ledger, which a stranger makes as many as he likes: each takes 200 bytes of memory, and 70 of the record. */
const datasetsMost = 32_768

export interface FollowerDeps {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly logger: Logger
  /** Name of the ledger. */
  readonly origin: string
  readonly ledger: LedgerSource
  readonly copies: OwnCopies
  readonly signal: AbortSignal
}

interface Checking {
  /** Resolves when it has ended: with why not all is checked, or undefined. */
  readonly ended: Promise<string | undefined>
}

export class Follower implements Vouching {
  readonly #deps: FollowerDeps
  readonly #key: string
  #loaded: Promise<void> | undefined
  #frontier = new Frontier()
  #order = new Order()
  #fault: Contradiction | undefined
  #checking: Checking | undefined
  #kept = { size: 0, atMs: 0 }
  /** Why not all was checked, as the log has it. */
  #logged: string | undefined
  #compared = 0
  #ordered = 0

  constructor(deps: FollowerDeps) {
    this.#deps = deps
    this.#key = checkedKey(toHex(sha256(utf8(deps.origin))))
  }

  /** Entries that were held against the copies of this node since the start, and those of which only the order was checked. */
  get counts(): { readonly compared: number; readonly ordered: number } {
    return { compared: this.#compared, ordered: this.#ordered }
  }

  /** Throws NodeError `Saturated` while not all entries below the head are checked. */
  async vouch(head: Head, signed: string): Promise<Contradiction | undefined> {
    const { clock, signal, copies } = this.#deps
    await (this.#loaded ??= this.#load())
    const untilMs = clock.monotonicMs() + patienceMs
    for (;;) {
      if (this.#fault !== undefined && this.#fault.index < head.size) return this.#fault
      const { size } = this.#frontier
      if (size > head.size) throw notYet('it has checked a larger head')
      if (size === head.size) {
        if (equalBytes(this.#frontier.root(), head.root)) return undefined
        throw notYet('it has checked another tree of this size')
      }
      const { ended } = (this.#checking ??= this.#begin(head, signed))
      const waitMs = untilMs - clock.monotonicMs()
      if (waitMs <= 0) throw notYet(copies.waitsFor ?? `${size} of ${head.size} entries are checked`)
      const fault = await inTime(ended, { clock, signal, ms: waitMs })
      if (fault !== undefined) throw notYet(fault)
      if (signal.aborted) throw notYet('this node stops')
    }
  }

  /** The evidence of the contradiction is kept: from now on it is told whatever becomes of the copies. */
  async settled(): Promise<void> {
    await this.#keep()
    this.#fault &&= { ...this.#fault, evidence: undefined }
  }

  /** What was checked is kept for the next start. */
  async close(): Promise<void> {
    await this.#checking?.ended
    if (this.#frontier.size > this.#kept.size) await this.#keep()
  }

  async #load(): Promise<void> {
    const { store, logger } = this.#deps
    const bytes = await store.get(this.#key)
    if (bytes === undefined) return
    try {
      const { frontier, order, fault } = await parseChecked(bytes)
      this.#frontier = frontier
      this.#order = order
      this.#fault = fault && { ...fault, evidence: undefined }
      this.#kept = { size: frontier.size, atMs: this.#deps.clock.monotonicMs() }
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      logger.warn(
        { key: this.#key, reason: error.message },
        'What was checked of a ledger is damaged; it is checked anew',
      )
    }
  }

  #begin(head: Head, signed: string): Checking {
    const { logger, origin, copies } = this.#deps
    const ended = this.#check(head, signed)
      .then(() => (this.#logged = undefined))
      .catch((error: unknown) => {
        if (error instanceof NotChecked) return this.#tellOnce(error.message)
        logger.warn({ origin, err: error }, 'The entries of a ledger could not be checked')
        return 'they cannot be checked now'
      })
      .finally(() => {
        this.#checking = undefined
        copies.waitsFor = undefined
      })
    return { ended }
  }

  /** The request that reads the log is not always the one that waits. */
  #tellOnce(reason: string): string {
    const { logger, origin, signal } = this.#deps
    if (reason !== this.#logged && !signal.aborted) logger.warn({ origin, reason }, 'A ledger is not vouched for yet')
    this.#logged = reason
    return reason
  }

  /** Checks the entries below a head that are not yet checked. Each is shown to be below its root first. Throws NotChecked. */
  async #check(head: Head, signed: string): Promise<void> {
    const { ledger, copies, signal } = this.#deps
    const auditor = new Auditor(ledger, blockEntryBytes)
    const before = { size: this.#frontier.size, root: this.#frontier.root() }
    if (!(await auditor.goesOn(before, head)))
      throw new NotChecked('the head is not shown to go on from what was checked')
    copies.begin()
    for (let index = Math.floor(before.size / fullTileWidth); this.#frontier.size < head.size; index++) {
      const entries = await auditor.provenEntries(head, index)
      for (const [at, entry] of entries.entries()) {
        if (index * fullTileWidth + at < this.#frontier.size) continue
        if (at % entriesAtOnce === 0) await nextTurn()
        const about = await this.#judge(entry)
        if (about !== undefined) {
          const fault = { index: this.#frontier.size, about }
          const path = (await auditor.inclusion(fault.index, head.size)).map(base64Text)
          this.#fault = { ...fault, evidence: { signed, entry: { ...fault, bytes: base64Text(entry), path } } }
          return
        }
        this.#frontier.append(leafHash(entry))
      }
      await this.#keepSometimes()
      if (signal.aborted) throw new NotChecked('this node stops')
    }
    if (!equalBytes(this.#frontier.root(), head.root)) throw new NotChecked('the entries do not lead to the root')
  }

  /** What is wrong with the next entry: a sentence. Throws NotChecked. */
  async #judge(bytes: Uint8Array): Promise<string | undefined> {
    const entry = this.#entryOf(bytes)
    if (typeof entry === 'string') return `the entry is none: ${entry}`
    if (entry.kind === 'statement') return undefined
    const tag = toHex(entry.datasetTag)
    const isFirst = !this.#order.has(tag)
    if (isFirst && this.#order.datasets >= datasetsMost) {
      throw new NotChecked(`the ledger has more than ${datasetsMost} datasets`)
    }
    const disorder = this.#order.faultOf(tag, entry.sequence)
    if (disorder !== undefined) return `${disorder.about}: the entry of sequence ${entry.sequence} of dataset ${tag}`
    const verdict = await this.#deps.copies.judge(entry, isFirst)
    if (typeof verdict === 'object') return verdict.about
    if (verdict === 'good') this.#compared++
    else this.#ordered++
    this.#order.take(tag, entry.sequence)
    return undefined
  }

  /** Why it is none, where it is none. */
  #entryOf(bytes: Uint8Array): Entry | string {
    try {
      const entry = parseEntry(bytes)
      if (entry.kind !== 'newer') return entry
    } catch (error) {
      if (error instanceof DecodeError) return error.message
      throw error
    }
    throw this.#deps.ledger.newer(this.#frontier.size)
  }

  async #keepSometimes(): Promise<void> {
    const { size } = this.#frontier
    const isDue = size - this.#kept.size >= keepEntries || this.#deps.clock.monotonicMs() - this.#kept.atMs >= keepMs
    if (isDue) await this.#keep()
  }

  async #keep(): Promise<void> {
    const { store, clock } = this.#deps
    const checked: Checked = {
      frontier: this.#frontier.copy(),
      order: this.#order,
      ...(this.#fault !== undefined && { fault: { index: this.#fault.index, about: this.#fault.about } }),
    }
    const lines: Uint8Array[] = []
    for (const piece of orderLines(this.#order)) {
      lines.push(piece)
      await nextTurn()
    }
    await store.replace(this.#key, checkedBytes(checked, concatBytes(lines)))
    this.#kept = { size: checked.frontier.size, atMs: clock.monotonicMs() }
  }
}

function notYet(reason: string): NodeError {
  return new NodeError('Saturated', `Not all entries below this head are checked: ${reason}.`, {
    hint: 'Ask again in a moment.',
    retryAfterSeconds: retrySeconds,
  })
}

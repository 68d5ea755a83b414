// Publishes the heads of a ledger: each is signed when its batch is durable, the witnesses of the policy are asked to cosign it,
// and it is shown when their quorum has, or after a time without. Lines that come later are added. One head is asked for at a
// time, so that a quorum comes together whatever the pace of each witness.

import type { Clock } from '../../libraries/base/clock.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { headText } from '../../libraries/ledger/head.ts'
import { signNote } from '../../libraries/ledger/note.ts'
import { type Policy, quorumOf } from '../../libraries/ledger/policy.ts'
import type { TreeHead } from '../../libraries/ledger/tree.ts'
import type { Signer } from '../../libraries/ledger/verifier-key.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { AskedWitness, askWitness, type Reply, type ShownHead, shownHead } from './asked-witness.ts'
import { boundedFetch } from '../../libraries/base/bounded-fetch.ts'
import {
  type Cosigned,
  type CosignedHead,
  type HeadsDeps,
  keepMet,
  quorumOver,
  readHeads,
  showHead,
  storedTiles,
} from './stored-ledger.ts'

export interface PublisherDeps {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly logger: Logger
  readonly ledger: number
  readonly origin: string
  readonly signer: Signer
  /** One log, the ledger itself, and the witnesses that count. */
  readonly policy: Policy
  /** How long a head waits for its quorum; undefined: until it is met. */
  readonly waitMs: number | undefined
  /** How witnesses are asked; over HTTP where it is absent. */
  readonly exchange?: typeof boundedFetch | undefined
}

/** A head of this life. */
interface SignedHead extends CosignedHead {
  readonly lines: Map<string, Cosigned>
  /** When it was signed, by the monotonic clock. */
  readonly sinceMs: number
}

/** A head that somebody holds and shows, which the ledger's own key has signed. */
export interface Seen extends ShownHead {
  /** Who shows it. */
  readonly by: string
}

export class Publisher {
  readonly #deps: PublisherDeps
  readonly #heads: HeadsDeps
  readonly #asked: readonly AskedWitness[]
  readonly #stop = new AbortController()
  readonly #asks = new Set<Promise<void>>()
  /** Signed and not passed by a larger one that is shown, smallest first. */
  #signed: SignedHead[] = []
  /** The one that witnesses are asked for. */
  #current: SignedHead | undefined
  #shown: CosignedHead | undefined
  /** What earlier lives have shown was looked for. */
  #hasLooked = false
  /** The head that was shown last, or would have been, had a larger one not been there; the store is not asked for it again. */
  #tried: string | undefined
  /** Lines came since then, or the store may have another head by now. */
  #isChanged = false
  /** When the first head was signed that no head that is shown reaches. */
  #unshownMs: number | undefined
  #isConfirmed = false
  #seen: Seen[] = []
  /** Heads are shown one after the other. */
  #writing: Promise<void> = Promise.resolve()

  constructor(deps: PublisherDeps) {
    this.#deps = deps
    const { store, ledger, policy } = deps
    this.#heads = { store, ledger, policy }
    this.#asked = policy.witnesses.flatMap((witness) =>
      witness.url === undefined ? [] : [new AskedWitness(witness, witness.url.replace(/\/+$/, ''))],
    )
    this.#confirm()
  }

  get #calling() {
    return { signal: this.#stop.signal, exchange: this.#deps.exchange ?? boundedFetch }
  }

  get witnesses(): readonly AskedWitness[] {
    return this.#asked
  }

  /** How often witnesses have cosigned. */
  get cosignatures(): number {
    return this.#asked.reduce((sum, { cosigned }) => sum + cosigned, 0)
  }

  /** True when a quorum has said since the start that it holds no larger tree. Without a quorum nobody is asked. */
  get isConfirmed(): boolean {
    return this.#isConfirmed
  }

  #confirm(): void {
    const names = this.#asked.filter(({ holdsNoMore }) => holdsNoMore).map(({ witness }) => witness.name)
    this.#isConfirmed ||= quorumOf(this.#deps.policy, names) !== 'not met'
  }

  /** Entries that no head that is shown has, and since when the first of them waits, by the monotonic clock. */
  get unshown(): { readonly entries: number; readonly sinceMs: number | undefined } {
    const entries = (this.#signed.at(-1)?.head.size ?? 0) - (this.#shown?.head.size ?? 0)
    return this.#hasLooked && entries > 0 ? { entries, sinceMs: this.#unshownMs } : { entries: 0, sinceMs: undefined }
  }

  /** Heads that witnesses have shown since this was called last. */
  takeSeen(): readonly Seen[] {
    const seen = this.#seen
    this.#seen = []
    return seen
  }

  /** Signs a head whose batches are durable and whose tiles are stored; what can be shown at once is when this resolves. */
  async offer(head: TreeHead): Promise<void> {
    if (this.#signed.at(-1)?.head.size !== head.size) this.#sign(head)
    this.#isChanged = true
    await this.tick()
  }

  #sign(tree: TreeHead): void {
    const { origin, signer, clock } = this.#deps
    const head = { origin, ...tree }
    const text = headText(head)
    const own = signNote(text, origin, signer)
    const sinceMs = clock.monotonicMs()
    this.#signed.push({ head, text, own, lines: new Map(), sinceMs })
    this.#unshownMs ??= sinceMs
  }

  /** Asks the witnesses that are to be asked now, without waiting for them, and shows what can be shown. */
  async tick(): Promise<void> {
    if (this.#stop.signal.aborted) return
    const nowMs = this.#deps.clock.monotonicMs()
    const head = this.#nextCurrent(nowMs)
    if (head !== undefined) {
      for (const asked of this.#asked.filter((one) => one.isDue(head.head.size, nowMs))) {
        const asking = this.#ask(asked, head).finally(() => this.#asks.delete(asking))
        this.#asks.add(asking)
      }
    }
    await this.#show()
  }

  /** Nothing is asked or shown any more; what is under way has ended. */
  async close(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#asks)
    await this.#writing
  }

  /** The head to ask for: the newest, once the last has its quorum, or everybody has been asked for it in vain. */
  #nextCurrent(nowMs: number): SignedHead | undefined {
    const current = this.#current
    const isOpen =
      current !== undefined &&
      quorumOver(this.#deps.policy, current) === 'not met' &&
      this.#asked.some((one) => one.isAsking || one.isDue(current.head.size, nowMs))
    if (!isOpen) this.#current = this.#signed.at(-1)
    return this.#current
  }

  async #ask(asked: AskedWitness, signed: SignedHead): Promise<void> {
    const { clock, logger } = this.#deps
    const { witness } = asked
    asked.begin(signed.head.size)
    for (;;) {
      const reply = await this.#reply(asked, signed)
      if (this.#stop.signal.aborted) return
      asked.take(reply, clock.monotonicMs())
      this.#confirm()
      if (reply.kind === 'wrong')
        logger.warn({ witness: witness.name, reason: reply.reason }, 'A witness answers wrongly')
      if (reply.kind === 'signed') {
        signed.lines.set(witness.name, reply)
        this.#isChanged = true
      }
      if (!asked.isAsking) break
    }
    // mutant: nobody looks at what a witness holds
    if (asked.isContrary) await this.#look(asked)
    await this.#show().catch((error: unknown) => logger.warn({ err: error }, 'A head could not be published'))
  }

  async #reply({ witness, url, size }: AskedWitness, { head, text, own }: SignedHead): Promise<Reply> {
    const { store, ledger } = this.#deps
    const oldSize = Math.min(size, head.size)
    try {
      const proof = await storedTiles(store, ledger).consistency(oldSize, head.size)
      const note = { text, signatures: [own] }
      return await askWitness({ witness, url, oldSize, size: head.size, proof, note, ...this.#calling })
    } catch (error) {
      const reason = error instanceof DecodeError ? error.message : 'the store could not be read'
      return { kind: 'wrong', reason: `it was not asked: ${reason}` }
    }
  }

  /** What a witness holds that says that it holds another tree: the ledger's own signature makes it so. */
  async #look({ witness, url }: AskedWitness): Promise<void> {
    const [log] = this.#deps.policy.logs
    const shown = log && (await shownHead(url, log.key, this.#calling))
    if (shown !== undefined) this.#seen.push({ ...shown, by: witness.name })
  }

  async #show(): Promise<void> {
    const showing = this.#writing.then(() => this.#showNow())
    this.#writing = showing.catch(() => {})
    await showing
  }

  async #showNow(): Promise<void> {
    if (this.#stop.signal.aborted) return
    if (!this.#hasLooked) this.#shown = (await readHeads(this.#heads)).shown
    this.#hasLooked = true
    const signed = this.#signed.filter(({ head }) => head.size > 0)
    // mutant: a head is shown before its quorum
    const met = signed.findLast((one) => quorumOver(this.#deps.policy, one) !== 'not met')
    const due = this.#isOneDue(signed) ? signed.at(-1) : signed.find((one) => one.text === this.#shown?.text)
    const next = (met?.head.size ?? 0) >= (due?.head.size ?? 0) ? met : due
    if (next !== undefined && (this.#isChanged || next.text !== this.#tried)) {
      this.#isChanged = false
      this.#tried = undefined
      const { size } = (this.#shown = await showHead(this.#heads, next)).head
      this.#unshownMs = signed.find(({ head }) => head.size > size)?.sinceMs
      if (met !== undefined && met !== next) await keepMet(this.#heads, met)
      this.#tried = next.text
    }
    this.#forget()
  }

  /** What is kept beside the newest: what is asked for, what is shown and may get lines, and what is to be shown by its time. */
  #forget(): void {
    const size = this.#shown?.head.size ?? 0
    const isWaited = this.#deps.waitMs !== undefined
    this.#signed = this.#signed.filter(
      (one, at, all) =>
        at === all.length - 1 ||
        one === this.#current ||
        one.text === this.#shown?.text ||
        (isWaited && one.head.size > size),
    )
  }

  /** True when a head that is larger than the one that is shown has waited long enough. */
  #isOneDue(signed: readonly SignedHead[]): boolean {
    const { waitMs, clock } = this.#deps
    if (waitMs === undefined) return false
    const first = signed.find(({ head }) => head.size > (this.#shown?.head.size ?? 0))
    return first !== undefined && clock.monotonicMs() - first.sinceMs >= waitMs
  }
}

// Whether somebody holds a head that the ledger's own key has signed and that its tree cannot have: then the store was put back to an older
// copy, or the key has signed elsewhere. What shows it is kept in the store, and speaks again at each start.

import { base64Text, fromBase64 } from '../../libraries/base/base64.ts'
import { equalBytes, toHex, utf8 } from '../../libraries/base/bytes.ts'
import { type Clock, timeText } from '../../libraries/base/clock.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { object, recordCodec, text } from '../../libraries/base/json/shape.ts'
import { headText } from '../../libraries/ledger/head.ts'
import type { TreeHead } from '../../libraries/ledger/tree.ts'
import type { VerifierKey } from '../../libraries/ledger/verifier-key.ts'
import { ledgerEvidenceKey, ledgerEvidenceOf, ledgerObjectKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { ownHead } from './ask-witness.ts'
import type { Seen } from './publisher.ts'
import { storedTree, treeShape } from './records.ts'
import { storedRoot } from './stored-tiles.ts'

/** `ledger-evidence/<ledger>/<hash>`: a head that somebody holds, and the tree of the store that cannot become it. */
export const evidenceCodec = recordCodec(
  'ledger evidence',
  object({
    /** Name of the witness in the policy. */
    by: text(),
    /** RFC 3339 UTC. */
    at: text(),
    /** The signed note, as base64. */
    note: text(),
    have: treeShape,
  }),
)

export interface RegressionDeps {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly ledger: number
  /** The key that signs heads. */
  readonly key: VerifierKey
}

export class Regression {
  readonly #deps: RegressionDeps
  #seen: Seen[] = []
  #isGathered = false

  constructor(deps: RegressionDeps) {
    this.#deps = deps
  }

  /** Heads that others have shown, to be judged when the batches that the store has by now are taken in. */
  add(seen: readonly Seen[]): void {
    this.#seen.push(...seen)
  }

  /** Once: the head that the store shows, and what was kept as evidence before. */
  async gather(): Promise<void> {
    if (this.#isGathered) return
    const { store, ledger } = this.#deps
    const own = await store.get(ledgerObjectKey(ledger, 'checkpoint'))
    this.#addNote('the store', own)
    for (const name of await store.list(ledgerEvidenceOf(ledger))) {
      const kept = await store.get(ledgerEvidenceKey(ledger, name))
      const { by, note } = kept === undefined ? { by: '', note: '' } : evidenceCodec.decode(kept)
      this.#addNote(by, fromBase64(note))
    }
    this.#isGathered = true
  }

  #addNote(by: string, note: Uint8Array | undefined): void {
    const shown = note && ownHead(note, this.#deps.key)
    if (shown !== undefined) this.#seen.push({ ...shown, by })
  }

  /** Throws HaltError `LedgerRegressed` where the tree with this head cannot become or have been what was shown. */
  async judge(have: TreeHead): Promise<void> {
    for (let seen = this.#seen[0]; seen !== undefined; seen = this.#seen[0]) {
      if (!(await this.#fits(seen.head, have))) {
        await this.#keep(seen, have)
        const { by, head } = seen
        const what = `${by} has a head of ${head.size} entries with the signature of this ledger`
        throw new HaltError('LedgerRegressed', `${what}; the store has ${have.size} entries that do not lead to it`)
      }
      this.#seen.shift()
    }
  }

  async #fits(shown: TreeHead, have: TreeHead): Promise<boolean> {
    if (shown.size > have.size) return false
    return equalBytes(await storedRoot(this.#deps, shown.size, have), shown.root)
  }

  async #keep({ by, head, note }: Seen, have: TreeHead): Promise<void> {
    const { store, clock, ledger } = this.#deps
    const record = { by, at: timeText(clock.nowMs()), note: base64Text(note), have: storedTree(have) }
    await store.put(ledgerEvidenceKey(ledger, toHex(sha256(utf8(headText(head))))), evidenceCodec.encode(record))
  }
}

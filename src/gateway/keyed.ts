// Keyed batches under way and lately taken: a repeat finds the first one here before it asks the chain.

import type { DecidedOutcome } from '../catalog/outcomes.ts'
import { sha3256 } from '../ids/native-crypto.ts'
import { canonicalBytes } from '../json/canonical.ts'
import type { DatasetId, Hash } from '../model/events.ts'
import type { ReceiptNote } from './receipt-id.ts'

const maxHeld = 100_000

/** A batch that has its place: in the log, or (`decided`) in the chain already. */
export interface Placed {
  readonly note: ReceiptNote
  readonly decided: DecidedOutcome | undefined
  /** Its rows ask for columns: whether they get them is decided when its turn comes in the log. */
  readonly bringsSchema?: boolean
}

interface Held {
  readonly bodyHash: Hash
  readonly placed: Promise<Placed>
}

/** Identity of a keyed batch: base64url of SHA3-256 over canonical `[dataset, token, key]`. */
export function keyedBatchId(dataset: DatasetId, tokenId: string, key: string): string {
  return Buffer.from(sha3256(canonicalBytes([dataset, tokenId, key]))).toString('base64url')
}

export class KeyedBatches {
  readonly #held = new Map<string, Held>()

  get(id: string): Held | undefined {
    return this.#held.get(id)
  }

  /** Remembers a batch whose place is being found; forgotten again if that fails. */
  set(id: string, held: Held): void {
    this.#held.set(id, held)
    held.placed.catch(() => this.forget(id, held))
    const oldest = this.#held.keys().next().value
    if (this.#held.size > maxHeld && oldest !== undefined) this.#held.delete(oldest)
  }

  /** Frees an id whose batch was not stored or was rejected. */
  forget(id: string, held = this.#held.get(id)): void {
    if (this.#held.get(id) === held) this.#held.delete(id)
  }
}

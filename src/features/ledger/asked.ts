// A witness that is asked to cosign heads: its states, what each answer makes of it, and when it is asked next. Pure.

import type { NoteSignature } from '../../libraries/ledger/note.ts'
import type { PolicyWitness } from '../../libraries/ledger/policy.ts'

/** What a request came to. */
export type Reply =
  /** 200, with a line that is good. `at` is in seconds since 1970. */
  | { readonly kind: 'signed'; readonly line: NoteSignature; readonly at: number }
  /** 409 with a size that is not larger than the head's: the head is to go on from there. */
  | { readonly kind: 'behind'; readonly size: number }
  /** 409 with a larger size, which nothing shows yet. */
  | { readonly kind: 'ahead' }
  /** 422 to a right proof, or 409 to the head's own size: it has another tree, or says so. */
  | { readonly kind: 'contradicted' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'busy'; readonly retryMs: number }
  | { readonly kind: 'silent' }
  | { readonly kind: 'wrong'; readonly reason: string }

export type AskedState =
  | 'not asked'
  | 'asking'
  | 'asking again'
  | 'cosigned'
  | 'ahead'
  | 'contradicting'
  | 'unknown'
  | 'refused'
  | 'busy'
  | 'silent'
  | 'faulty'

type Asking = 'asking' | 'asking again'

const settled = {
  signed: 'cosigned',
  ahead: 'ahead',
  contradicted: 'contradicting',
  unknown: 'unknown',
  refused: 'refused',
  busy: 'busy',
  silent: 'silent',
  wrong: 'faulty',
} as const

/** What becomes of a witness that is asked. A second size in a row is of another keeper, which asks at the same time. */
const transitions: Readonly<Record<Asking, Readonly<Record<Reply['kind'], AskedState>>>> = {
  asking: { ...settled, behind: 'asking again' },
  'asking again': { ...settled, behind: 'busy' },
}

/**
 * Whether a witness that ends in this state has said that it holds no tree beyond the one that it was asked for. In any other
 * state it has where it named a size that is not larger, else nothing is new.
 */
const holdsNoMore: Readonly<Partial<Record<AskedState, boolean>>> = {
  cosigned: true,
  unknown: true,
  ahead: false,
  contradicting: false,
}

const firstRetryMs = 10_000
const longestRetryMs = 600_000
/** The last head is cosigned again after this, so that readers see that it is still the last. */
const renewMs = 3_600_000

export class AskedWitness {
  readonly witness: PolicyWitness
  readonly url: string
  #state: AskedState = 'not asked'
  /** Size that it was asked to cosign last. */
  #asked: number | undefined
  /** Failures in a row for one head. */
  #failures = 0
  /** By the monotonic clock: when it is asked again for the same head, and for any. */
  #againMs = 0
  #notBeforeMs = 0
  /** Undefined: it has not said. */
  #holdsNoMore: boolean | undefined
  #size = 0
  #cosignedAt: number | undefined
  #cosigned = 0

  constructor(witness: PolicyWitness, url: string) {
    this.witness = witness
    this.url = url
  }

  get state(): AskedState {
    return this.#state
  }

  get isAsking(): boolean {
    return this.#state === 'asking' || this.#state === 'asking again'
  }

  /** True where what it said makes it worth a look at the head that it holds. */
  get isContrary(): boolean {
    return this.#state === 'ahead' || this.#state === 'contradicting'
  }

  get holdsNoMore(): boolean {
    return this.#holdsNoMore === true
  }

  /** The size that it has signed last, as far as is known; 0 before it has told. */
  get size(): number {
    return this.#size
  }

  /** When it has cosigned last, in seconds since 1970. */
  get cosignedAt(): number | undefined {
    return this.#cosignedAt
  }

  /** How often it has cosigned. */
  get cosigned(): number {
    return this.#cosigned
  }

  isDue(size: number, nowMs: number): boolean {
    if (this.isAsking || nowMs < this.#notBeforeMs) return false
    return this.#asked !== size || nowMs >= this.#againMs
  }

  begin(size: number): void {
    if (this.#asked !== size) this.#failures = 0
    this.#asked = size
    this.#state = 'asking'
  }

  /** Takes the answer to what it was asked. */
  take(reply: Reply, nowMs: number): void {
    if (!this.isAsking) return
    const hasNamed = this.#state === 'asking again'
    this.#state = transitions[this.#state as Asking][reply.kind] // just tested
    if (reply.kind === 'behind') this.#size = reply.size
    if (this.isAsking) return
    this.#holdsNoMore = holdsNoMore[this.#state] ?? (hasNamed ? true : this.#holdsNoMore)
    if (reply.kind === 'signed') {
      this.#size = this.#asked ?? 0
      this.#cosignedAt = reply.at
      this.#cosigned++
      this.#failures = 0
      this.#againMs = nowMs + renewMs
      return
    }
    this.#againMs = nowMs + Math.min(firstRetryMs * 2 ** this.#failures, longestRetryMs)
    this.#failures++
    if (reply.kind === 'busy') this.#notBeforeMs = nowMs + Math.min(reply.retryMs, longestRetryMs)
  }
}

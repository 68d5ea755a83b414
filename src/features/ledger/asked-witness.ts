// A witness that is asked to cosign heads: its states, what each answer makes of it, and when it is asked next. Below that, one
// request, bounded in time and bytes, and what its answer means. No redirect is followed: what is asked goes where the policy says.
// Source: https://c2sp.org/tlog-witness

import { toHex, utf8 } from '../../libraries/base/bytes.ts'
import { decoded, DecodeError } from '../../libraries/base/errors.ts'
import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { cosignedAt } from '../../libraries/ledger/cosignature.ts'
import { type Head, parseHead } from '../../libraries/ledger/head.ts'
import { isBy, type Note, type NoteSignature, parseNote, verifyNote } from '../../libraries/ledger/note.ts'
import type { PolicyWitness } from '../../libraries/ledger/policy.ts'
import type { VerifierKey } from '../../libraries/ledger/verifier-key.ts'
import { addCheckpointBody, cosignaturesIn, sizeIn } from '../../libraries/ledger/witness.ts'
import type { Answered, boundedFetch } from '../../libraries/base/bounded-fetch.ts'

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

const answerMsMost = 5_000

export interface Question {
  readonly witness: PolicyWitness
  readonly url: string
  readonly oldSize: number
  readonly size: number
  readonly proof: readonly Uint8Array[]
  readonly note: Note
  readonly signal: AbortSignal
  readonly exchange: typeof boundedFetch
}

/** Asks once. What does not answer, or not as it should, is a kind of reply, too. */
export async function askWitness(question: Question): Promise<Reply> {
  const { url, oldSize, proof, note, signal, exchange } = question
  const body = addCheckpointBody({ oldSize, proof, note })
  let answer: Answered
  try {
    answer = await exchange(`${url}/add-checkpoint`, {
      signal,
      mostMs: answerMsMost,
      method: 'POST',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body,
    })
  } catch {
    return { kind: 'silent' }
  }
  return replyOf(answer, question)
}

function replyOf({ status, bytes, retryAfter }: Answered, { witness, oldSize, size, note }: Question): Reply {
  if (status === 404) return { kind: 'unknown' }
  if (status === 403) return { kind: 'refused' }
  if (status === 422) return { kind: 'contradicted' }
  if (status === 429 || status === 503) return { kind: 'busy', retryMs: retryAfter }
  if (typeof bytes === 'string') return { kind: 'wrong', reason: 'its answer is too long, or broke off' }
  try {
    if (status === 409) return conflict(sizeIn(bytes), oldSize, size)
    if (status !== 200) return { kind: 'wrong', reason: `it answered ${status}` }
    // Of its lines one is enough, the first.
    const [line] = cosignaturesIn(bytes, note.text, witness.key)
    const at = line && cosignedAt(note.text, witness.key, line.signature)
    if (line !== undefined && at !== undefined) return { kind: 'signed', line, at }
    return { kind: 'wrong', reason: 'its answer has no line by its key' }
  } catch (error) {
    if (error instanceof DecodeError) return { kind: 'wrong', reason: error.message }
    throw error
  }
}

function conflict(told: number | undefined, oldSize: number, size: number): Reply {
  if (told === undefined) return { kind: 'wrong', reason: 'its conflict names no size' }
  if (told > size) return { kind: 'ahead' }
  if (told !== oldSize) return { kind: 'behind', size: told }
  return told === size
    ? { kind: 'contradicted' }
    : { kind: 'wrong', reason: `it answered that it has the size ${told} from which it was asked to go on` }
}

/** A head that the ledger's own key has signed. */
export interface ShownHead {
  readonly head: Head
  readonly note: Uint8Array
}

/** The head that a witness holds; undefined where it shows none that the key has signed. */
export async function shownHead(
  url: string,
  key: VerifierKey,
  { signal, exchange }: Pick<Question, 'signal' | 'exchange'>,
): Promise<ShownHead | undefined> {
  try {
    const { status, bytes } = await exchange(`${url}/${toHex(sha256(utf8(key.name)))}/checkpoint`, {
      signal,
      mostMs: answerMsMost,
    })
    return status === 200 && typeof bytes !== 'string' ? ownHead(bytes, key) : undefined
  } catch {
    return undefined
  }
}

/** The head of these bytes, where they are one that the key has signed. */
export function ownHead(note: Uint8Array, key: VerifierKey): ShownHead | undefined {
  return decoded(() => {
    const { text, signatures } = parseNote(note)
    const head = parseHead(text)
    const isSigned = signatures.some((line) => isBy(line, key) && verifyNote(text, key, line.signature))
    return isSigned && head.origin === key.name ? { head, note } : undefined
  })
}

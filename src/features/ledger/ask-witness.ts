// One request to a witness, bounded in time and bytes, and what its answer means. No redirect is followed: what is asked goes
// where the policy says. Source: https://c2sp.org/tlog-witness

import { toHex, utf8 } from '../../libraries/base/bytes.ts'
import { DecodeError, decoded } from '../../libraries/base/errors.ts'
import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { cosignedAt } from '../../libraries/ledger/cosignature.ts'
import { type Head, parseHead } from '../../libraries/ledger/head.ts'
import { isBy, type Note, parseNote, verifyNote } from '../../libraries/ledger/note.ts'
import type { PolicyWitness } from '../../libraries/ledger/policy.ts'
import type { VerifierKey } from '../../libraries/ledger/verifier-key.ts'
import { addCheckpointBody, cosignaturesIn, sizeIn } from '../../libraries/ledger/witness.ts'
import type { Reply } from './asked.ts'
import type { Answered, Exchange } from './exchange.ts'

const answerMsMost = 5_000

export interface Question {
  readonly witness: PolicyWitness
  readonly url: string
  readonly oldSize: number
  readonly size: number
  readonly proof: readonly Uint8Array[]
  readonly note: Note
  readonly signal: AbortSignal
  readonly exchange: Exchange
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
  if (bytes === undefined) return { kind: 'wrong', reason: 'its answer is too long, or broke off' }
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
    return status === 200 && bytes !== undefined ? ownHead(bytes, key) : undefined
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

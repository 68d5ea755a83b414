// Both sides of `add-checkpoint`, by which a ledger asks a witness to cosign: the body, read within bounds, and what a witness
// decides from what it has signed last. Nothing is stored here. Source: https://c2sp.org/tlog-witness

import { base64Text, fromBase64 } from '../base/base64.ts'
import { equalBytes, utf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { cosign, cosignedAt } from './cosignature.ts'
import { type Head, parseHead, parseSize } from './head.ts'
import {
  isBy,
  type Note,
  noteOf,
  type NoteSignature,
  parseNote,
  parseSignatures,
  signatureLine,
  textOf,
  verifyNote,
} from './note.ts'
import { checkConsistency, emptyRoot, hashBytes, type TreeHead } from './tree.ts'
import type { Signer, VerifierKey } from './verifier-key.ts'

/** A body is not longer. Sixteen signatures of 5 kB fit. */
export const maxAddCheckpointBytes = 131_072
const maxProofLines = 63
const what = 'add-checkpoint'

/** What a ledger sends: the head, and that it goes on from a size that the witness has signed. */
export interface AddCheckpoint {
  readonly oldSize: number
  readonly proof: readonly Uint8Array[]
  readonly note: Note
  readonly head: Head
}

/** The body of a request. */
export function addCheckpointBody({ oldSize, proof, note }: Omit<AddCheckpoint, 'head'>): Uint8Array {
  const lines = [`old ${oldSize}`, ...proof.map(base64Text), '']
  return utf8(`${lines.join('\n')}\n${noteOf(note)}`)
}

/** Reads a body. Throws DecodeError: the witness answers 400. */
export function parseAddCheckpoint(bytes: Uint8Array): AddCheckpoint {
  if (bytes.length > maxAddCheckpointBytes) refuse(`is longer than ${maxAddCheckpointBytes} bytes`)
  const text = textOf(what, bytes)
  const end = text.indexOf('\n\n')
  if (end < 0) refuse('has no empty line before its head')
  const [first = '', ...lines] = text.slice(0, end).split('\n')
  const oldSize = first.startsWith('old ') ? parseSize(first.slice(4)) : undefined
  if (oldSize === undefined) return refuse('does not begin with the old size')
  if (lines.length > maxProofLines) refuse(`has more than ${maxProofLines} lines of a proof`)
  const proof = lines.map((line) => {
    const hash = fromBase64(line)
    return hash?.length === hashBytes ? hash : refuse('has a line that is no base64 of a hash')
  })
  const note = parseNote(utf8(text.slice(end + 2)))
  return { oldSize, proof, note, head: parseHead(note.text) }
}

/** What a witness knows of a ledger, and with what it signs. */
export interface WitnessState {
  /** Keys of the ledger; empty where the witness does not know it. */
  readonly keys: readonly VerifierKey[]
  /** The head that it has signed last; absent before the first. */
  readonly last?: TreeHead
  readonly name: string
  readonly signer: Signer
  /** Seconds since 1970. */
  readonly seconds: number
}

/** The answer, and what the witness has to do about it. */
export type WitnessDecision =
  /** `body` may be sent when the head is durable as the last one, put in the place of the `last` that was handed in. */
  | { readonly status: 200; readonly body: string; readonly next: TreeHead }
  /** The body is the size that was signed last, as `text/x.tlog.size`. `isEvidence`: the ledger has signed two heads of it. */
  | { readonly status: 409; readonly body: string; readonly isEvidence: boolean }
  /** `isEvidence`: the ledger has signed two heads of one size, or a larger one that goes on from the last by no proof here. */
  | { readonly status: 422; readonly reason: string; readonly isEvidence: boolean }
  | { readonly status: 400 | 403 | 404; readonly reason: string }

/** What a witness answers to a request. Pure: the last head is handed in, and has to be the last one still when it is replaced. */
export function decideAddCheckpoint(request: AddCheckpoint, state: WitnessState): WitnessDecision {
  const { oldSize, proof, note, head } = request
  const keys = state.keys.filter(({ name }) => name === head.origin)
  if (keys.length === 0) return { status: 404, reason: 'This witness does not know the ledger.' }
  if (!isSignedBy(note, keys)) return { status: 403, reason: 'The head is not signed by its ledger.' }
  if (oldSize > head.size) return { status: 400, reason: 'The old size is larger than the size of the head.' }
  const last = state.last ?? { size: 0, root: emptyRoot }
  const isFork = head.size === last.size && !equalBytes(head.root, last.root)
  if (oldSize !== last.size) return { status: 409, body: `${last.size}\n`, isEvidence: isFork }
  if (isFork) return { status: 422, reason: 'The ledger has signed another head of this size.', isEvidence: true }
  if (!checkConsistency(last, head, proof)) {
    const reason = 'The proof does not show that the head goes on from the old size.'
    // Every tree goes on from the empty one.
    return { status: 422, reason, isEvidence: last.size > 0 && head.size > last.size }
  }
  const line = signatureLine(cosign(note.text, state.name, state.signer, state.seconds))
  return { status: 200, body: line, next: { size: head.size, root: head.root } }
}

/** One good signature of a known key, and none that is not good. */
function isSignedBy({ text, signatures }: Note, keys: readonly VerifierKey[]): boolean {
  const known = keys.flatMap((key) => signatures.filter((line) => isBy(line, key)).map((line) => ({ key, line })))
  return known.length > 0 && known.every(({ key, line }) => verifyNote(text, key, line.signature))
}

/**
 * The lines of a witness's answer that are good cosignatures of the head by its key. Lines of other keys are passed over. Throws
 * DecodeError where the answer is no lines of signatures, or has a line of the key that is not good: no line of it counts.
 */
export function cosignaturesIn(answer: Uint8Array, headText: string, key: VerifierKey): NoteSignature[] {
  if (answer.length > maxAddCheckpointBytes) refuse(`is longer than ${maxAddCheckpointBytes} bytes`)
  const lines = parseSignatures(textOf(what, answer)).filter((line) => isBy(line, key))
  if (lines.some(({ signature }) => cosignedAt(headText, key, signature) === undefined)) {
    return refuse('has a cosignature that is not good')
  }
  return lines
}

/** The size that a witness tells with 409, or undefined where the answer is none. */
export function sizeIn(answer: Uint8Array): number | undefined {
  const [, digits = ''] = answer.length > 20 ? [] : (/^(\d+)\n$/.exec(textOf(what, answer)) ?? [])
  return parseSize(digits)
}

function refuse(reason: string): never {
  throw new DecodeError(what, reason)
}

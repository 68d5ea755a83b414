// Signed notes: a text of lines, a blank line, and lines with signatures, those of type 1 by Ed25519. Notes are read within
// bounds, and lines of keys that are not known stay as they came. Source: https://c2sp.org/signed-note

import { base64Text, fromBase64 } from '../base/base64.ts'
import { concatBytes, decodeUtf8, utf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { signatureFault } from '../proof/check.ts'
import { isKeyName, signatureTypes, type Signer, type VerifierKey, verifierKey } from './verifier-key.ts'

/** A note has at most so many bytes. Sixteen signatures of 5 kB fit. */
export const maxNoteBytes = 131_072
export const maxSignatures = 100

/** A line of a note: the name of a key, and a signature that is said to be of it. Nothing is checked yet. */
export interface NoteSignature {
  readonly name: string
  readonly keyId: number
  /** What follows the key id; its form depends on the type of the key. */
  readonly signature: Uint8Array
}

export interface Note {
  /** Ends in a newline. It is what signatures are over. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

const linePrefix = '— '
/** Control characters of ASCII but the newline. */
const control = /[^\P{Cc}\n\x7f-\x9f]/u

/** Reads a note. Throws DecodeError. */
export function parseNote(bytes: Uint8Array): Note {
  if (bytes.length > maxNoteBytes) return refuse(`is longer than ${maxNoteBytes} bytes`)
  const source = textOf('note', bytes)
  if (control.test(source)) return refuse('has a control character')
  const end = source.lastIndexOf('\n\n')
  if (end < 0) return refuse('has no blank line before its signatures')
  return { text: source.slice(0, end + 1), signatures: parseSignatures(source.slice(end + 2)) }
}

/** The text of these bytes. Throws DecodeError, which says what they are of. */
export function textOf(what: string, bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch {
    throw new DecodeError(what, 'is not UTF-8')
  }
}

/** Lines of signatures by themselves, one or more, each with its newline. Throws DecodeError. */
export function parseSignatures(text: string): NoteSignature[] {
  if (!text.endsWith('\n')) return refuse('does not end with a line of a signature')
  const lines = text.slice(0, -1).split('\n', maxSignatures + 1)
  if (lines.length > maxSignatures) return refuse(`has more than ${maxSignatures} signatures`)
  return lines.map(parseLine)
}

function parseLine(line: string): NoteSignature {
  if (!line.startsWith(linePrefix)) return refuse('has a line of a signature that does not begin with an em dash')
  const space = line.indexOf(' ', linePrefix.length)
  const name = line.slice(linePrefix.length, Math.max(space, linePrefix.length))
  if (!isKeyName(name)) return refuse('has a signature without the name of a key')
  const bytes = fromBase64(line.slice(space + 1))
  if (bytes === undefined || bytes.length < 5) return refuse('has a signature that is no base64 of 5 bytes or more')
  return { name, keyId: new DataView(bytes.buffer).getUint32(0), signature: bytes.subarray(4) }
}

/** The line of a signature, with its newline. */
export function signatureLine({ name, keyId, signature }: NoteSignature): string {
  const id = new Uint8Array(4)
  new DataView(id.buffer).setUint32(0, keyId)
  return `${linePrefix}${name} ${base64Text(concatBytes([id, signature]))}\n`
}

/** The text of a note. What `parseNote` has read comes out byte for byte. */
export function noteOf({ text, signatures }: Note): string {
  return `${text}\n${signatures.map(signatureLine).join('')}`
}

/** True where the line is by this key: name and key id are the key's. Whether it is good is not said. */
export function isBy({ name, keyId }: NoteSignature, key: VerifierKey): boolean {
  return name === key.name && keyId === key.id
}

/** The signature of type 1 over the text of a note. */
export function signNote(text: string, name: string, signer: Signer): NoteSignature {
  const { id } = verifierKey(name, signatureTypes.ed25519, signer.publicKey)
  return { name, keyId: id, signature: signer.sign(utf8(text)) }
}

/** True when the bytes are the key's signature of type 1 over the text of a note, by the rule of answers: readers differ about others. */
export function verifyNote(text: string, key: VerifierKey, signature: Uint8Array): boolean {
  return key.type === signatureTypes.ed25519 && signatureFault(key.publicKey, utf8(text), signature) === undefined
}

function refuse(reason: string): never {
  throw new DecodeError('note', reason)
}

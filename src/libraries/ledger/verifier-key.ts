// Keys of notes by name and id, and their text, `name+id+base64`.
// Source: https://c2sp.org/signed-note

import { base64Text, fromBase64 } from '../base/base64.ts'
import { concatBytes, utf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { sha256 } from '../base/ids/native-crypto.ts'

/** Types of signatures that are known here: of notes, and cosignatures with a time (cosignature.ts). */
export const signatureTypes = { ed25519: 1, cosignature: 4 } as const
export type SignatureType = (typeof signatureTypes)[keyof typeof signatureTypes]

/** A public key with its name. Name and id together say which key it is. */
export interface VerifierKey {
  readonly name: string
  readonly id: number
  /** One of `signatureTypes`, or of a witness one that is not known here: then it signs nothing that can be checked. */
  readonly type: number
  /** 32 bytes, where the type is known. */
  readonly publicKey: Uint8Array
}

/** What signs: `Ed25519Signer` of the platform's cryptography, or another with its form. */
export interface Signer {
  readonly publicKey: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

const publicKeyBytes = 32

/** A name has no white space (that of Unicode) and no plus. */
export function isKeyName(name: string): boolean {
  return name !== '' && !/[\p{White_Space}+]/u.test(name)
}

/** The key with this name, with the id that follows from name, type and key. */
export function verifierKey(name: string, type: number, publicKey: Uint8Array): VerifierKey {
  return { name, id: keyId(name, type, publicKey), type, publicKey }
}

function keyId(name: string, type: number, publicKey: Uint8Array): number {
  const digest = sha256(concatBytes([utf8(`${name}\n`), Uint8Array.of(type), publicKey]))
  return new DataView(digest.buffer, digest.byteOffset).getUint32(0)
}

/** `name+0123abcd+base64`. */
export function verifierKeyText({ name, id, type, publicKey }: VerifierKey): string {
  return `${name}+${idText(id)}+${base64Text(concatBytes([Uint8Array.of(type), publicKey]))}`
}

/** As it stands in a policy. */
export function idText(id: number): string {
  return id.toString(16).padStart(8, '0')
}

/** The key of a text. Throws DecodeError: for types that are not known here, too. */
export function parseVerifierKey(text: string): VerifierKey {
  const key = parseAnyKey(text)
  return isKnown(key) ? key : refuse(`has signatures of the type ${key.type}, which is not known here`)
}

export function isKnown({ type }: VerifierKey): boolean {
  return Object.values<number>(signatureTypes).includes(type)
}

/** The key of a text, also of a type that is not known here; what follows from its bytes is not checked then. */
export function parseAnyKey(text: string): VerifierKey {
  const [, name = '', id = '', base64 = ''] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/s.exec(text) ?? []
  if (!isKeyName(name)) return refuse('is not of the form name+key id+base64')
  const bytes = fromBase64(base64)
  if (bytes === undefined || bytes.length === 0) return refuse('has no base64 of a key')
  const [type = 0] = bytes
  const publicKey = bytes.subarray(1)
  const newer = { name, id: Number.parseInt(id, 16), type, publicKey }
  if (!isKnown(newer)) return newer
  if (publicKey.length !== publicKeyBytes)
    return refuse(`has ${publicKey.length} bytes of a key, not ${publicKeyBytes}`)
  const key = verifierKey(name, type, publicKey)
  // The id of a name that is not UTF-8 would be that of another name.
  return idText(key.id) === id && !/\p{Surrogate}/u.test(name)
    ? key
    : refuse('has a key id that does not follow from name and key')
}

function refuse(reason: string): never {
  throw new DecodeError('key of a note', reason)
}

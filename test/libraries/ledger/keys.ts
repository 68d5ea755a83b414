// Keys, policies and small ledgers for the tests of the ledger's library: every key from a number.

import { createHash } from 'node:crypto'
import { Point } from '@noble/ed25519'
import { ed25519Signer } from '../../../src/libraries/base/ids/native-crypto.ts'
import { concatBytes, littleEndian, utf8 } from '../../../src/libraries/base/bytes.ts'
import { cosign } from '../../../src/libraries/ledger/cosignature.ts'
import { headText } from '../../../src/libraries/ledger/head.ts'
import { noteOf, type NoteSignature, signNote } from '../../../src/libraries/ledger/note.ts'
import {
  signatureTypes,
  type SignatureType,
  type Signer,
  verifierKey,
  verifierKeyText,
} from '../../../src/libraries/ledger/verifier-key.ts'

export const signer = (number: number): Signer => ed25519Signer(new Uint8Array(32).fill(number))

/** The key text of a number. */
export const keyText = (name: string, number: number, type: SignatureType = signatureTypes.cosignature): string =>
  verifierKeyText(verifierKey(name, type, signer(number).publicKey))

/** Signs as the owner of the key can and nobody does: with a point of small order, for which the equation of RFC 8032 holds. */
export function smallOrderSigner(number: number): Signer {
  const { publicKey } = signer(number)
  const sha512 = (...parts: readonly Uint8Array[]): Uint8Array =>
    createHash('sha512').update(concatBytes(parts)).digest()
  const half = sha512(new Uint8Array(32).fill(number)).slice(0, 32)
  half[0]! &= 248
  half[31] = (half[31]! & 127) | 64
  const point = Point.ZERO.toBytes()
  const sign = (message: Uint8Array): Uint8Array => {
    const scalar = (littleEndian(sha512(point, publicKey, message)) * littleEndian(half)) % Point.CURVE().n
    return concatBytes([point, Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex').reverse()])
  }
  return { publicKey, sign }
}

export const origin = 'node.example/ledger'
const logKey = 1
/** Witness n has the key 10 + n. */
export const witnessName = (n: number): string => `w${n}.example/witness`
const time = 1_780_000_000

/** Two of three witnesses. */
export const twoOfThree = [
  `log ${keyText(origin, logKey, signatureTypes.ed25519)}`,
  ...[1, 2, 3].map((n) => `witness W${n} ${keyText(witnessName(n), 10 + n)}`),
  'group G 2 W1 W2 W3',
  'quorum G',
  '',
].join('\n')

/** A head signed by the ledger and by these witnesses, then a line of a key that nobody knows. */
export function signedHead(
  tree: { readonly size: number; readonly root: Uint8Array },
  {
    witnesses = [1, 3],
    stranger = false,
    at = time,
  }: { witnesses?: readonly number[]; stranger?: boolean; at?: number } = {},
): Uint8Array {
  const text = headText({ origin, ...tree })
  const signatures: NoteSignature[] = [
    signNote(text, origin, signer(logKey)),
    ...witnesses.map((n) => cosign(text, witnessName(n), signer(10 + n), at + n)),
    ...(stranger ? [signNote(text, 'stranger.example', signer(99))] : []),
  ]
  return utf8(noteOf({ text, signatures }))
}

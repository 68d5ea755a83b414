// A node shows that it has its key and answers at an address: it signs a text with the caller's nonce and the address at which
// the connection came in. A relay of the question to the node gets a signature over another address than its own. The text
// begins with words that no commitment, which is a JSON object, begins with: no signature is taken for one of the other kind.

import { base64urlText, decodeMultibase, parseDidKey } from '../base/ids/identifiers.ts'
import { ed25519Verify } from '../base/ids/native-crypto.ts'
import { utf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import type { NodeKey } from './sign.ts'

const context = 'proofstream-node-possession-v1'
/** 16 to 64 bytes in lower-case hex. */
export const noncePattern = '^(?:[0-9a-f]{2}){16,64}$'

/** What a node is asked to sign. */
export interface PossessionAsked {
  /** `127.0.0.1:8080`, `[::1]:8080`: the node's end of the connection. */
  readonly address: string
  /** As `noncePattern` says. */
  readonly nonce: string
}

/** `u` + base64url of the signature over both. */
export function signPossession(key: Pick<NodeKey, 'sign'>, asked: PossessionAsked): string {
  return base64urlText(key.sign(messageOf(asked)))
}

/** True where `signature` is that of the key of `did` over what was asked. */
export function hasSigned(did: string, asked: PossessionAsked, signature: string): boolean {
  try {
    return ed25519Verify(parseDidKey(did), messageOf(asked), decodeMultibase(signature, 'signature', 64))
  } catch (error) {
    if (error instanceof DecodeError) return false
    throw error
  }
}

/** One end of a connection; an IPv4 address that a socket of IPv6 has taken is told as one. */
export function addressText(host: string | undefined, port: number | undefined): string {
  const plain = (host ?? '').replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  return `${plain.includes(':') ? `[${plain}]` : plain}:${port ?? ''}`
}

function messageOf({ address, nonce }: PossessionAsked): Uint8Array {
  return utf8(`${context}\n${address}\n${nonce}\n`)
}

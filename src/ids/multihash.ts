// Multihashes: varint code, varint length, digest. Every hash that Proofstream shows is one, in base16 multibase.
// Source: https://github.com/multiformats/multihash; codes from the multicodec table.

import { assert } from '../lib/assert.ts'
import { concatBytes, toHex } from '../lib/bytes.ts'
import { DecodeError } from '../model/errors.ts'
import type { Hash } from '../model/events.ts'
import { base16Text, decodeMultibase } from './multibase.ts'
import { sha3256Hex } from './native-crypto.ts'
import { decodeVarint, encodeVarint } from './varint.ts'

/** Multicodec codes of the hash functions that are understood; each has a digest of 32 bytes. */
export const multihashCodes = { sha2256: 0x12, sha3256: 0x16, arrowDigest: 0x300016 } as const

/** A sha3-256 multihash in its normal form. */
export const hashPattern = /^f1620[0-9a-f]{64}$/

const digestBytes = 32
const maxMultihashBytes = 4 + 1 + digestBytes
const knownCodes: ReadonlySet<number> = new Set(Object.values(multihashCodes))

/** A multihash taken apart; `bytes` is the whole of it. */
export interface Multihash {
  readonly code: number
  readonly digest: Uint8Array
  readonly bytes: Uint8Array
}

/** `f1620` and the hex of a 32-byte SHA3-256 digest. */
export function hashText(digest: Uint8Array): Hash {
  assert(digest.length === digestBytes, 'a SHA3-256 digest has 32 bytes')
  return `f1620${toHex(digest)}`
}

/** The SHA3-256 multihash of `bytes` as text, `f1620…`. */
export function sha3Hash(bytes: Uint8Array): Hash {
  return `f1620${sha3256Hex(bytes)}`
}

/** `f9680c00120` and the hex of a 32-byte arrow-digest (code 0x300016): the form of a slice's logical hash. */
export function arrowDigestText(digest: Uint8Array): Hash {
  assert(digest.length === digestBytes, 'an arrow-digest has 32 bytes')
  return `f9680c00120${toHex(digest)}`
}

/** Reads a multihash in multibase `f`, `F`, `u` or `z`. Throws DecodeError unless it is whole and of a known kind. */
export function parseMultihash(text: string): Multihash {
  return splitMultihash(decodeMultibase(text, 'multihash', maxMultihashBytes))
}

/** The same from its bytes. Throws DecodeError. */
export function splitMultihash(bytes: Uint8Array): Multihash {
  const code = decodeVarint(bytes)
  if (!knownCodes.has(code.value))
    throw new DecodeError('multihash', `has the unknown code 0x${code.value.toString(16)}`)
  const length = decodeVarint(bytes, code.next)
  if (length.value !== digestBytes) throw new DecodeError('multihash', `says ${length.value} digest bytes, not 32`)
  const digest = bytes.subarray(length.next)
  if (digest.length !== digestBytes) throw new DecodeError('multihash', `has ${digest.length} digest bytes, not 32`)
  return { code: code.value, digest, bytes }
}

/** Bytes of a multihash text. Throws DecodeError. */
export function multihashBytes(text: string): Uint8Array {
  return parseMultihash(text).bytes
}

/** Base16 text of multihash bytes. Throws DecodeError unless they are a multihash. */
export function multihashText(bytes: Uint8Array): Hash {
  splitMultihash(bytes)
  return base16Text(bytes)
}

/** Bytes of a multihash from its parts. */
export function buildMultihash(code: number, digest: Uint8Array): Uint8Array {
  return concatBytes([encodeVarint(code), encodeVarint(digest.length), digest])
}

/** Any accepted spelling of a SHA3-256 multihash in the form that is stored and shown (`f1620…`). Throws DecodeError. */
export function normalHash(text: string): Hash {
  const { code, digest } = parseMultihash(text)
  if (code !== multihashCodes.sha3256) throw new DecodeError('hash', 'is not a sha3-256 multihash')
  return hashText(digest)
}

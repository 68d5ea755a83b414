// Multihashes, and the multibase text that they and DIDs are shown in. Every hash that Proofstream shows is a multihash
// in base16; texts in `f`, `F`, `u` and `z` are read. A dataset is `did:odf:f` + hex, a node `did:key:z` + base58btc, both
// over `ED 01` and an Ed25519 key. Sources: https://github.com/multiformats/multihash and /multibase; codes from the
// multicodec table; Open Data Fabric specification (DatasetID); W3C did:key method.

import { base58btc } from 'multiformats/bases/base58'
import { base64url } from 'multiformats/bases/base64'
import { assert } from '../assert.ts'
import { concatBytes, fromHex, toHex } from '../bytes.ts'
import { DecodeError } from '../errors.ts'
import { sha3256Hex } from './native-crypto.ts'

/** Multibase base16 multihash text: `f1620…` (sha3-256) or `f9680c00120…` (arrow-digest). */
export type Hash = string
/** `did:odf:fed01…`. */
export type DatasetId = string

/** A sha3-256 multihash in its normal form. */
export const hashPattern = /^f1620[0-9a-f]{64}$/

const digestBytes = 32
const sha2Prefix = 'f1220'
const sha3Prefix = 'f1620'
const arrowDigestPrefix = 'f9680c00120'
/** What stands before the digest of sha2-256, sha3-256 and arrow-digest: the code and the length 32, as varints. */
const prefixes = [Uint8Array.of(0x12, 0x20), Uint8Array.of(0x16, 0x20), Uint8Array.of(0x96, 0x80, 0xc0, 0x01, 0x20)]
const maxMultihashBytes = 5 + digestBytes

/** `f1620` and the hex of a 32-byte SHA3-256 digest. */
export function hashText(digest: Uint8Array): Hash {
  assert(digest.length === digestBytes, 'a SHA3-256 digest has 32 bytes')
  return `${sha3Prefix}${toHex(digest)}`
}

/** The SHA3-256 multihash of `bytes` as text, `f1620…`. */
export function sha3Hash(bytes: Uint8Array): Hash {
  return `${sha3Prefix}${sha3256Hex(bytes)}`
}

/** `f1220` and a SHA-256 digest that is 64 lower-case hexadecimal digits already. */
export function sha2HashOfHex(digest: string): Hash {
  assert(digest.length === 2 * digestBytes, 'a SHA-256 digest has 64 hexadecimal digits')
  return `${sha2Prefix}${digest}`
}

/** `f1220` and the hex of a 32-byte SHA-256 digest. */
export function sha2HashText(digest: Uint8Array): Hash {
  assert(digest.length === digestBytes, 'a SHA-256 digest has 32 bytes')
  return `${sha2Prefix}${toHex(digest)}`
}

/** `f9680c00120` and the hex of a 32-byte arrow-digest (code 0x300016): the form of a slice's logical hash. */
export function arrowDigestText(digest: Uint8Array): Hash {
  assert(digest.length === digestBytes, 'an arrow-digest has 32 bytes')
  return `${arrowDigestPrefix}${toHex(digest)}`
}

/** Base16 text of multihash bytes. Throws DecodeError unless they are a whole multihash of a known hash function. */
export function multihashText(bytes: Uint8Array): Hash {
  checkMultihash(bytes)
  return base16Text(bytes)
}

/** Bytes of a multihash in multibase `f`, `F`, `u` or `z`. Throws DecodeError as `multihashText`. */
export function multihashBytes(text: string): Uint8Array {
  const bytes = decodeMultibase(text, 'multihash', maxMultihashBytes)
  checkMultihash(bytes)
  return bytes
}

function checkMultihash(bytes: Uint8Array): void {
  for (const prefix of prefixes) {
    let same = 0
    while (same < prefix.length && bytes[same] === prefix[same]) same++
    if (same < prefix.length) continue
    const length = bytes.length - prefix.length
    if (length !== digestBytes) throw new DecodeError('multihash', `has ${length} digest bytes, not ${digestBytes}`)
    return
  }
  throw new DecodeError('multihash', 'is not of sha2-256, sha3-256 or arrow-digest, 32 bytes')
}

/** Any accepted spelling of a SHA3-256 multihash in the form that is stored and shown (`f1620…`). Throws DecodeError. */
export function normalHash(text: string): Hash {
  const normal = base16Text(multihashBytes(text))
  if (!normal.startsWith(sha3Prefix)) throw new DecodeError('hash', 'is not a sha3-256 multihash')
  return normal
}

/** `f` and lower-case hex. */
export function base16Text(bytes: Uint8Array): string {
  return `f${toHex(bytes)}`
}

/** `u` and base64url without padding. */
export function base64urlText(bytes: Uint8Array): string {
  return base64url.encode(bytes)
}

/** `z` and base58btc (the Bitcoin alphabet). */
export function base58Text(bytes: Uint8Array): string {
  return base58btc.encode(bytes)
}

/**
 * Bytes of a multibase text in base16 (`f`, `F`), base64url (`u`) or base58btc (`z`). `what` names the thing in errors.
 * Throws DecodeError for another base, foreign characters, padding, stray bits, or more than `maxBytes` bytes: the
 * length is judged before the digits are read, because base58 takes quadratic time.
 */
export function decodeMultibase(text: string, what: string, maxBytes: number): Uint8Array {
  if (text.length > 1 + 2 * maxBytes) throw new DecodeError(what, `is longer than ${maxBytes} bytes can be`)
  const bytes = decodeDigits(text, what)
  if (bytes.length > maxBytes) throw new DecodeError(what, `has ${bytes.length} bytes, more than ${maxBytes}`)
  return bytes
}

function decodeDigits(text: string, what: string): Uint8Array {
  const isLower = text[0] === 'f'
  if (isLower || text[0] === 'F') {
    const foreign = isLower ? /[^0-9a-f]/ : /[^0-9A-F]/
    const digits = text.slice(1)
    const bytes = foreign.test(digits) ? undefined : fromHex(digits)
    return bytes ?? refuse(what, 'is not base16 of whole bytes')
  }
  const base = text[0] === 'u' ? base64url : text[0] === 'z' ? base58btc : undefined
  if (base === undefined) return refuse(what, 'has no multibase prefix of f, F, u or z')
  try {
    // The library takes padding, of which there is none in multibase `u`.
    if (!text.includes('=')) return base.decode(text)
  } catch {}
  return refuse(what, `is not ${base.name}`)
}

function refuse(what: string, reason: string): never {
  throw new DecodeError(what, reason)
}

const keyBytes = 32
const didBytes = 2 + keyBytes
const ed25519Prefix = Uint8Array.of(0xed, 0x01)
const odfScheme = 'did:odf:'
/** A dataset id in its normal form. */
export const datasetIdPattern = /^did:odf:fed01[0-9a-f]{64}$/
const keyScheme = 'did:key:'

/** The dataset whose key is this 32-byte Ed25519 public key. */
export function datasetIdFromKey(publicKey: Uint8Array): DatasetId {
  return datasetIdText(withPrefix(publicKey))
}

/** The 34 bytes (`ED 01`, key) of a dataset's DID in any accepted multibase. Throws DecodeError. */
export function datasetIdBytes(id: string): Uint8Array {
  return keyCodeBytes(id, odfScheme, 'dataset id')
}

/** `did:odf:fed01…` of the 34 bytes. Throws DecodeError when they are no Ed25519 key code. */
export function datasetIdText(bytes: Uint8Array): DatasetId {
  checkKeyCode(bytes, 'dataset id')
  return `${odfScheme}${base16Text(bytes)}`
}

/** `did:key:z6Mk…` of a 32-byte Ed25519 public key. */
export function didKeyText(publicKey: Uint8Array): string {
  return `${keyScheme}${base58Text(withPrefix(publicKey))}`
}

/** The 32-byte Ed25519 public key of a did:key. Throws DecodeError (other methods and key types too). */
export function parseDidKey(did: string): Uint8Array {
  if (!did.startsWith(`${keyScheme}z`)) throw new DecodeError('did:key', `does not begin with ${keyScheme}z`)
  return keyCodeBytes(did, keyScheme, 'did:key').subarray(ed25519Prefix.length)
}

function withPrefix(publicKey: Uint8Array): Uint8Array {
  assert(publicKey.length === keyBytes, 'an Ed25519 public key has 32 bytes')
  return concatBytes([ed25519Prefix, publicKey])
}

function keyCodeBytes(did: string, scheme: string, what: string): Uint8Array {
  if (!did.startsWith(scheme)) throw new DecodeError(what, `does not begin with ${scheme}`)
  const bytes = decodeMultibase(did.slice(scheme.length), what, didBytes)
  checkKeyCode(bytes, what)
  return bytes
}

function checkKeyCode(bytes: Uint8Array, what: string): void {
  if (bytes.length !== didBytes) throw new DecodeError(what, `has ${bytes.length} bytes, not ${didBytes}`)
  if (bytes[0] !== ed25519Prefix[0] || bytes[1] !== ed25519Prefix[1]) {
    throw new DecodeError(what, 'is not of an Ed25519 key')
  }
}

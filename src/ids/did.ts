// Identities: a dataset is `did:odf:f` + hex, a node is `did:key:z` + base58btc, both over `ED 01` and an Ed25519 key.
// Source: Open Data Fabric specification (DatasetID); W3C did:key method.

import { assert } from '../lib/assert.ts'
import { concatBytes } from '../lib/bytes.ts'
import { DecodeError } from '../model/errors.ts'
import type { DatasetId } from '../model/events.ts'
import { base16Text, base58Text, decodeMultibase } from './multihash.ts'

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

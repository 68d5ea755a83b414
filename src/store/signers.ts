// The keys with which nodes over this store have signed: one record each, made when a node first starts with it. So a
// DID document names former keys and those of other nodes of the installation. A replica alone writes nothing: its key
// is known here when it is shared, or has been that of a node that writes.

import { canonicalBytes } from '../json/canonical.ts'
import { fromPlain } from '../json/json.ts'
import { DecodeError } from '../model/errors.ts'
import { signerKey, signersPrefix } from './layout.ts'
import type { ObjectStore } from './object-store.ts'

const didPrefix = 'did:key:'
const keyPattern = /^z6Mk[1-9A-HJ-NP-Za-km-z]{40,50}$/

/** Notes that a node over this store signs as `did`. Durable when it resolves. */
export async function putSigner(store: ObjectStore, did: string): Promise<void> {
  await store.put(keyOf(did), recordOf(did))
}

/** The did:key of every node that has signed over this store, sorted. */
export async function listSigners(store: ObjectStore): Promise<readonly string[]> {
  const names = await store.list(signersPrefix)
  return names.filter((name) => keyPattern.test(name)).map((name) => didPrefix + name)
}

/** What is wrong with a record, or undefined. */
export async function signerFault(store: ObjectStore, name: string): Promise<string | undefined> {
  if (!keyPattern.test(name)) return 'is no key of a node'
  const bytes = await store.get(signerKey(name))
  const expected = recordOf(didPrefix + name)
  return bytes === undefined || Buffer.compare(bytes, expected) === 0 ? undefined : 'names another key'
}

function keyOf(did: string): string {
  const key = did.startsWith(didPrefix) ? did.slice(didPrefix.length) : ''
  if (!keyPattern.test(key)) throw new DecodeError('signer', 'is no did:key of Ed25519')
  return signerKey(key)
}

function recordOf(did: string): Uint8Array {
  return canonicalBytes(fromPlain({ did }))
}

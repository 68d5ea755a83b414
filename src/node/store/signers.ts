// The keys with which nodes over this store have signed, and those with which nobody signs any more. Each record is one
// put-if-absent.

import { must } from '../../libraries/base/assert.ts'
import { defined } from '../../libraries/base/collections.ts'
import { equalBytes } from '../../libraries/base/bytes.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import { object, recordCodec, text } from '../../libraries/base/json/shape.ts'
import type { Retired, Signer } from '../../libraries/proof/signer.ts'
import { retiredKeyKey, retiredKeysPrefix, signerKey, signersPrefix } from './layout.ts'
import type { ObjectStore } from './object-store.ts'

const didPrefix = 'did:key:'
const signerPattern = /^z6Mk[1-9A-HJ-NP-Za-km-z]{40,50}$/
const signerCodec = recordCodec('signer', object({ did: text() }))
const retiredCodec = recordCodec(
  'retired key',
  object({ did: text(), at: text(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/) }),
)

/**
 * Notes that a node over this store signs as `did`, so that a DID document names former keys and those of other nodes of
 * the installation. A replica alone writes nothing: its key is known here when it is shared, or has been a writer's.
 */
export async function putSigner(store: ObjectStore, did: string): Promise<void> {
  await store.put(signerKey(keyOf(did)), signerCodec.encode({ did }))
}

/** Notes that nobody signs as `did` any more, and tells what counts: the first time, and a leak. Durable when it resolves. */
export async function putRetired(store: ObjectStore, did: string, { at, why }: Retired): Promise<Retired> {
  await store.put(retiredKeyKey(keyOf(did), why), retiredCodec.encode({ did, at }))
  return must(await readRetired(store, did), 'what was put is there')
}

/** Since when nobody signs as `did`; undefined while somebody may. That it leaked counts more, and the earlier time. */
export async function readRetired(store: ObjectStore, did: string): Promise<Retired | undefined> {
  const found: Retired[] = []
  for (const why of ['leaked', 'rotated'] as const) {
    const bytes = await store.get(retiredKeyKey(keyOf(did), why))
    if (bytes !== undefined) found.push({ at: retiredCodec.decode(bytes).at, why })
  }
  const [first] = found.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
  return first && { at: first.at, why: found[0]?.why ?? first.why }
}

/** Every key with which a node over this store has signed, sorted. */
export async function listSigners(store: ObjectStore): Promise<readonly Signer[]> {
  const retired = new Set(await store.list(retiredKeysPrefix))
  const keys = (await store.list(signersPrefix)).filter((name) => signerPattern.test(name))
  return Promise.all(
    keys.map(async (key) => {
      const did = didPrefix + key
      return { did, ...(retired.has(key) && defined({ retired: await readRetired(store, did) })) }
    }),
  )
}

/** What is wrong with the records of retired keys under this name, or undefined. */
export async function retiredFault(store: ObjectStore, name: string): Promise<string | undefined> {
  if (!signerPattern.test(name)) return 'is no key of a node'
  try {
    await readRetired(store, didPrefix + name)
    return undefined
  } catch (error) {
    if (error instanceof DecodeError) return error.message
    throw error
  }
}

/** What is wrong with the signer's record under this name, or undefined. */
export async function signerFault(store: ObjectStore, name: string): Promise<string | undefined> {
  if (!signerPattern.test(name)) return 'is no key of a node'
  const bytes = await store.get(signerKey(name))
  const expected = signerCodec.encode({ did: didPrefix + name })
  return bytes === undefined || equalBytes(bytes, expected) ? undefined : 'names another key'
}

/** The part of a did:key behind its method. Throws DecodeError for another DID. */
function keyOf(did: string): string {
  const key = did.startsWith(didPrefix) ? did.slice(didPrefix.length) : ''
  if (!signerPattern.test(key)) throw new DecodeError('signer', 'is no did:key of Ed25519')
  return key
}

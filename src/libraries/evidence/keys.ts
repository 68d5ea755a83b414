// Whose keys they are, as the document of a node says of itself: `/.well-known/did.json`. It is the word of that address.

import type { JsonValue } from '../base/json/value.ts'

/** By did:key: which node calls it its own, and since when it signs nothing. */
export type NamedKeys = ReadonlyMap<string, string>

/** `node`: the address that has answered so. */
export function namedKeys(document: JsonValue | undefined, node: string): NamedKeys {
  const methods = document instanceof Map ? document.get('verificationMethod') : undefined
  const found = new Map<string, string>()
  for (const one of Array.isArray(methods) ? methods : []) {
    if (!(one instanceof Map)) continue
    const [did, expires, revoked] = ['controller', 'expires', 'revoked'].map((name) => one.get(name))
    if (typeof did !== 'string') continue
    const gone =
      typeof revoked === 'string'
        ? `; it leaked, and signs nothing since ${revoked}: others can sign with it`
        : typeof expires === 'string'
          ? `; a former one, which signs nothing since ${expires}`
          : ''
    found.set(did, `a key of ${node}, by its did.json${gone}`)
  }
  return found
}

// Secrets that every process of an installation shares; the first one to ask makes them.

import { randomBytes } from '../ids/native-crypto.ts'
import { must } from '../lib/assert.ts'
import { secretKey } from './layout.ts'
import type { ObjectStore } from './object-store.ts'

/** 32 bytes that are the same for all who ask `store` for `name`. Durable when it resolves. */
export async function sharedSecret(store: ObjectStore, name: string): Promise<Uint8Array> {
  await store.put(secretKey(name), randomBytes(32))
  return must(await store.get(secretKey(name)), 'a secret that was put is there')
}

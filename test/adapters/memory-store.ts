// Object store in memory: the reference for what the port means, and the store of tests. Nothing outlives the process.

import { concatBytes, copyBytes } from '../../src/libraries/base/bytes.ts'
import { checkKey } from '../../src/node/store/layout.ts'
import { checkRange, type ObjectStore } from '../../src/node/store/object-store.ts'

/** An empty store; `nowMs` tells when objects are stored. Bytes are copied in and out, so no caller can change an object. */
export function openMemoryStore(nowMs: () => number = () => 0): ObjectStore {
  const objects = new Map<string, Uint8Array>()
  const storedMs = new Map<string, number>()
  const children = new Map<string, Map<string, number>>()

  /** Counts `key` in (+1) or out (-1) of the listing of each of its prefixes. */
  function count(key: string, change: 1 | -1): void {
    for (
      let slash = key.lastIndexOf('/'), end = key.length;
      slash > 0;
      end = slash, slash = key.lastIndexOf('/', end - 1)
    ) {
      const names = children.get(key.slice(0, slash)) ?? new Map<string, number>()
      const name = key.slice(slash + 1, end)
      const left = (names.get(name) ?? 0) + change
      if (left === 0) names.delete(name)
      else names.set(name, left)
      children.set(key.slice(0, slash), names)
    }
  }

  function set(key: string, bytes: Uint8Array): void {
    if (!objects.has(key)) count(key, 1)
    objects.set(key, bytes)
    storedMs.set(key, nowMs())
  }

  return {
    async put(key, bytes) {
      checkKey(key)
      if (objects.has(key)) return 'exists'
      set(key, concatBytes(bytes instanceof Uint8Array ? [bytes] : bytes))
      return 'stored'
    },
    async putStream(chunks, keyOf) {
      const bytes = await joined(chunks)
      return this.put(keyOf(), bytes)
    },
    async replace(key, bytes) {
      checkKey(key)
      set(key, copyBytes(bytes))
    },
    async get(key) {
      checkKey(key)
      return objects.get(key)?.slice()
    },
    async getRange(key, start, end) {
      checkKey(key)
      const bytes = objects.get(key)
      if (bytes === undefined) return undefined
      checkRange(start, end, bytes.length)
      return copyBytes(bytes, start, end)
    },
    async size(key) {
      checkKey(key)
      return objects.get(key)?.length
    },
    async list(prefix) {
      checkKey(prefix)
      return [...(children.get(prefix)?.keys() ?? [])].sort()
    },
    makeDurable: async () => {},
    async delete(...keys) {
      for (const key of keys) {
        checkKey(key)
        if (objects.delete(key)) count(key, -1)
      }
    },
    modifiedMs: async (key) => (objects.has(key) ? storedMs.get(key) : undefined),
    fileOf: () => undefined,
    freeSpace: async () => undefined,
    close: async () => {},
  }
}

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const bytes: Uint8Array[] = []
  for await (const chunk of chunks) bytes.push(copyBytes(chunk))
  return concatBytes(bytes)
}

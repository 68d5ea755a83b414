// A store on another machine: the memory store, whose objects are no files here, each request of which takes its time. What
// was asked of it is counted.

import { systemClock } from '../../src/libraries/base/clock.ts'
import type { ObjectStore } from '../../src/node/store/object-store.ts'
import { openMemoryStore } from './memory-store.ts'

type Operation = 'put' | 'putStream' | 'replace' | 'get' | 'getRange' | 'size' | 'modifiedMs' | 'list' | 'delete'

export interface FarStore extends ObjectStore {
  /** Requests so far, by operation; may be cleared. */
  readonly requests: Map<Operation, number>
  /** Their keys. */
  readonly keys: string[]
}

/** An empty store, each request of which takes `latencyMs`; `nowMs` tells when objects are stored. */
export function openFarStore(latencyMs = 0, nowMs: () => number = Date.now): FarStore {
  const store = openMemoryStore(nowMs)
  const requests = new Map<Operation, number>()
  const keys: string[] = []
  const far =
    <A extends readonly unknown[], R>(operation: Operation, ask: (...asked: A) => Promise<R>) =>
    async (...asked: A): Promise<R> => {
      requests.set(operation, (requests.get(operation) ?? 0) + 1)
      keys.push(`${operation} ${String(asked[0])}`)
      if (latencyMs > 0) await systemClock.sleep(latencyMs)
      return await ask(...asked)
    }
  return {
    ...store,
    requests,
    keys,
    put: far('put', store.put),
    putStream: far('putStream', (chunks, keyOf) => store.putStream(chunks, keyOf)),
    replace: far('replace', store.replace),
    get: far('get', store.get),
    getRange: far('getRange', store.getRange),
    size: far('size', store.size),
    modifiedMs: far('modifiedMs', store.modifiedMs),
    list: far('list', store.list),
    delete: far('delete', (...keys: readonly string[]) => store.delete(...keys)),
  }
}

// A store that counts what is asked of it, by operation: over a store elsewhere each request takes its time and its price.

import type { ObjectStore } from './object-store.ts'

/** What counts as a request; what makes names durable is none elsewhere. */
export type StoreOperation = Exclude<keyof ObjectStore, 'makeDurable' | 'fileOf' | 'freeSpace' | 'close'>

/** `store`, each request of which `count` is told of when it begins: of a deletion one for each object. */
export function counted(store: ObjectStore, count: (operation: StoreOperation, requests: number) => void): ObjectStore {
  const counting =
    <A extends readonly unknown[], R>(operation: StoreOperation, ask: (...asked: A) => R) =>
    (...asked: A): R => {
      count(operation, operation === 'delete' ? asked.length : 1)
      return ask(...asked)
    }
  return {
    ...store,
    put: counting('put', (key, bytes) => store.put(key, bytes)),
    putStream: counting('putStream', (chunks, keyOf) => store.putStream(chunks, keyOf)),
    replace: counting('replace', (key, bytes) => store.replace(key, bytes)),
    get: counting('get', (key) => store.get(key)),
    getRange: counting('getRange', (key, start, end) => store.getRange(key, start, end)),
    size: counting('size', (key) => store.size(key)),
    modifiedMs: counting('modifiedMs', (key) => store.modifiedMs(key)),
    list: counting('list', (prefix) => store.list(prefix)),
    delete: counting('delete', (...keys: readonly string[]) => store.delete(...keys)),
  }
}

// A chain in a memory store that is long enough for packs, with what its blocks name; and what takes its loose copies away.

import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { headKey, dataKey, packableOf } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { type ChainSpec, chainObjects, nameObject, type StoredObject } from '../../helpers/long-chain.ts'

export const dataset = `did:odf:fed01${'7'.repeat(64)}`

/** Every stored object of a chain of `blocks` AddData blocks after those of its creation, each with a slice. */
export function objectsOfChain(
  blocks: number,
  spec: Pick<ChainSpec, 'ids' | 'sliceBytes'> = {},
): readonly StoredObject[] {
  const objects = [...chainObjects({ dataset, blocks, ...spec })]
  for (let number = 0; number < blocks; number++) {
    const bytes = utf8(`slice ${number}`)
    objects.push({ key: dataKey(dataset, sha3Hash(bytes)), bytes })
  }
  return objects
}

/** A store that holds `objects`, a name and the head; `nowMs` tells when objects are stored. */
export async function storeOf(objects: readonly StoredObject[], nowMs?: () => number): Promise<ObjectStore> {
  const store = openMemoryStore(nowMs)
  await putAll(store, objects)
  return store
}

/** Puts `objects`, the name acme/long and the head, where a block is among them. */
export async function putAll(store: ObjectStore, objects: readonly StoredObject[]): Promise<void> {
  for (const { key, bytes } of [...objects, nameObject(dataset, 'acme/long')]) await store.put(key, bytes)
  const head = objects.findLast(({ key }) => packableOf(key)?.kind === 'blocks')
  if (head !== undefined) await store.replace(headKey(dataset), utf8(head.key.split('/').at(-1) ?? ''))
}

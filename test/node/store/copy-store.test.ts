// A copy of a store that is interrupted at any write: what is there is whole, and a repeat makes it complete.

import { expect, test } from 'vitest'
import { fsck } from '../../../src/node/upkeep/fsck.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { copyStore } from '../../../src/node/store/copy-store.ts'
import { blockKey, commitKey, nameKey, savedQueryKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { withPacks } from '../../../src/node/store/packed-store.ts'
import { changeName, putName } from '../../../src/node/store/names.ts'
import { putLog } from '../../../src/node/store/records.ts'
import { savedQueryCodec } from '../../../src/node/store/saved-queries.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { copyFixture, type FixtureChain, nodeChains, putCommits } from './copy-fixture.ts'

/** A store that takes `most` writes and then fails. */
function failing(store: ObjectStore, most: number): ObjectStore {
  let left = most
  const counted =
    <Args extends unknown[], T>(write: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> =>
      left-- > 0 ? write(...args) : Promise.reject(new Error('stopped'))
  return { ...store, put: counted(store.put), putStream: counted(store.putStream), replace: counted(store.replace) }
}

async function putChain(store: ObjectStore, chain: FixtureChain): Promise<void> {
  const { id, alias } = chain
  await putLog(store, { id: 'log-1', kind: 'file', partitions: 1 })
  await copyFixture(store, chain)
  await putCommits(store, chain, [])
  await putName(store, { id, alias, log: 'log-1', partition: 0, visibility: 'public' })
  for (const sequence of [1, 2]) await changeName(store, { id, alias, sequence }, { visibility: 'private' })
}

async function problemsOf(store: ObjectStore): Promise<string[]> {
  const { problems, datasets } = await fsck(withPacks(store))
  return [...problems, ...datasets.flatMap((dataset) => dataset.problems)].map(
    ({ kind, message }) => `${kind} ${message}`,
  )
}

test('what an interrupted copy leaves is whole, and a repeat completes it', async () => {
  const source = openMemoryStore()
  const chains: FixtureChain[] = await nodeChains()
  for (const chain of chains) await putChain(source, chain)
  // The fixture is of another maker, so its log positions are not ours.
  const known = new Set(await problemsOf(source))
  const target = openMemoryStore()
  let writes = 0
  for (let done = false; !done; writes++) {
    done = await copyStore(withPacks(source), withPacks(failing(target, 1))).then(
      () => true,
      (error: unknown) => {
        if (String(error) !== 'Error: stopped') throw error
        return false
      },
    )
    expect((await problemsOf(target)).filter((problem) => !known.has(problem))).toEqual([])
  }
  expect(writes).toBeGreaterThan(20)
  const again = await copyStore(withPacks(source), withPacks(target))
  expect(again).toMatchObject({ objects: 0, bytes: 0, damaged: [] })
  expect(again.datasets).toBe(chains.length)
})

test('a copy that holds another history refuses this one', async () => {
  const [source, target] = [openMemoryStore(), openMemoryStore()]
  const [chain] = await nodeChains()
  const { id, alias } = must(chain, 'there is a chain')
  await putChain(source, must(chain, 'there is a chain'))
  await copyStore(source, target)
  const key = commitKey(id, 0)
  const other = new TextEncoder().encode('{"another":1}')
  await target.replace(key, other)
  const { damaged } = await copyStore(source, target)
  expect(damaged).toEqual([{ alias, message: expect.stringContaining('another history') }])
  expect(await target.get(key)).toEqual(other)
  expect(await source.size(nameKey(alias))).toBeDefined()
  expect(await target.size(blockKey(id, must(chain, 'there is a chain').hashes[0] ?? ''))).toBeDefined()
})

test('a copy has the saved queries of its source: changed ones anew, removed ones no more, damaged ones named', async () => {
  const [source, target] = [openMemoryStore(), openMemoryStore()]
  const saved = { query: 'select 1', parameters: [], required: [], datasets: [], savedAt: '2026-01-01T00:00:00.000Z' }
  const putQuery = (name: string, query: string): Promise<void> =>
    source.replace(savedQueryKey(name), savedQueryCodec.encode({ ...saved, query }))
  await putQuery('kept', 'select 1')
  await putQuery('gone', 'select 2')
  await copyStore(source, target)
  expect(await target.list('queries')).toEqual(['gone', 'kept'])
  await putQuery('kept', 'select 3')
  await source.delete(savedQueryKey('gone'))
  await copyStore(source, target)
  expect(await target.list('queries')).toEqual(['kept'])
  expect(await target.get(savedQueryKey('kept'))).toEqual(await source.get(savedQueryKey('kept')))
  expect(await problemsOf(target)).toEqual([])
  await target.replace(savedQueryKey('kept'), new TextEncoder().encode('{"query":"select 1"}'))
  expect(await problemsOf(target)).toEqual([expect.stringMatching(/^RecordDisagrees queries\/kept /)])
})

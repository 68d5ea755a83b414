import { describe, expect, test } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { commitOf, followHead, readHead, writeHead } from '../../../src/node/store/heads.ts'
import { blockKey, commitKey, headKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { copyFixture, type FixtureChain, putCommits, trips } from './copy-fixture.ts'

const chain: FixtureChain = await trips()
const { id, hashes } = chain
const last = hashes.length - 1
const hash = (sequence: number): string => must(hashes[sequence], `block ${sequence}`)

async function committed(): Promise<ObjectStore> {
  const store = openMemoryStore()
  await copyFixture(store, chain)
  await putCommits(store, chain, [5, 1, 2])
  return store
}

describe('the head of a chain', () => {
  test('is the last block of the last commit, wherever the hint points', async () => {
    const store = await committed()
    for (let hint = 0; hint <= last; hint++) {
      // Only ends of commits are ever hinted at.
      if (hint < 4 || hint === 6) continue
      await store.replace(headKey(id), utf8(hash(hint)))
      expect(await readHead(store, id)).toMatchObject({ sequence: last, hash: hash(last), commit: { sequence: last } })
    }
  })

  test.each(['', 'nonsense', `f1620${'00'.repeat(32)}`, `f1620${'zz'.repeat(32)}`, 'x'.repeat(5_000)])(
    'is found without a usable hint (%j)',
    async (hint) => {
      const store = await committed()
      await store.replace(headKey(id), utf8(hint))
      expect(await readHead(store, id)).toMatchObject({ sequence: last, hash: hash(last) })
      await store.delete(headKey(id))
      expect(await readHead(store, id)).toMatchObject({ sequence: last, hash: hash(last) })
    },
  )

  test('is found when the hinted block is not a block', async () => {
    const store = await committed()
    await store.replace(blockKey(id, hash(last)), utf8('damaged'))
    expect(await readHead(store, id)).toMatchObject({ sequence: last, hash: hash(last) })
  })

  test('is the hinted block in a chain without commits', async () => {
    const store = openMemoryStore()
    await copyFixture(store, chain)
    expect(await readHead(store, id)).toEqual({ sequence: last, hash: hash(last) })
  })

  test('does not exist in an unknown dataset', async () => {
    expect(await readHead(openMemoryStore(), id)).toBeUndefined()
  })

  test('comes with the commit that made it', async () => {
    const store = await committed()
    await store.delete(commitKey(id, last))
    await store.replace(headKey(id), utf8(hash(last - 1)))
    const head = must(await readHead(store, id), 'head')
    expect(head.commit).toMatchObject({ sequence: last - 1, record: { blocks: [hash(last - 1)], log: 'log-1' } })
    expect(await commitOf(store, id, { sequence: 3, hash: hash(3) })).toMatchObject({ sequence: 0 })
    expect(await commitOf(store, id, { sequence: 7, hash: hash(7) })).toMatchObject({ sequence: 6 })
    expect(await commitOf(store, id, { sequence: 7, hash: hash(6) })).toBeUndefined()
  })

  test('costs one missing read to follow when nothing is newer', async () => {
    const store = await committed()
    const head = must(await readHead(store, id), 'head')
    const keys: string[] = []
    const counting: ObjectStore = {
      ...store,
      get: (key) => {
        keys.push(key)
        return store.get(key)
      },
    }
    expect(await followHead(counting, id, head)).toEqual(head)
    expect(keys).toEqual([commitKey(id, last + 1)])
  })
})

describe('writing the head', () => {
  test('leaves the later commit in place when writers overlap', async () => {
    const store = await committed()
    const slow = { sequence: 5, hash: hash(5) }
    const told: number[] = []
    await writeHead(store, id, slow, async ({ sequence }) => void told.push(sequence))
    expect(told).toEqual([5, last])
    expect(await store.get(headKey(id))).toEqual(utf8(hash(last)))
  })

  test('writes the hash alone, without a line end', async () => {
    const store = openMemoryStore()
    await writeHead(store, id, { sequence: 0, hash: hash(0) })
    expect(await store.get(headKey(id))).toEqual(utf8(hash(0)))
  })
})

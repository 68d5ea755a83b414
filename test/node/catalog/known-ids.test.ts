// The gateway finds a key where the fold would take its batch for a duplicate, and nowhere else: over histories that
// cross the ends of groups and eras, from a start at any point, after sets were dropped, and at the edges of memory.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DatasetChain } from '../../../src/node/catalog/dataset-chain.ts'
import { IdSet } from '../../../src/libraries/odf/chain/id-set.ts'
import { Outcomes } from '../../../src/node/catalog/outcomes.ts'
import { idPrefix } from '../../../src/libraries/odf/chain/checkpoint-scan.ts'
import type { KnownId } from '../../../src/libraries/odf/chain/checkpoint.ts'
import { type Random, randomOf } from '../../history/load.ts'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { fixedLimits } from '../../../src/libraries/base/limits.ts'
import { decodeBlock } from '../../../src/libraries/odf/block.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { batchId, datasetId } from '../builder/support.ts'
import { chainObjects, type ChainSpec } from '../../helpers/long-chain.ts'

const dayMs = 86_400_000
const body = sha3Hash(utf8('body'))

/** Puts the objects of a chain into the store one by one, and yields the chain after each block. */
async function* growing(store: ObjectStore, spec: ChainSpec): AsyncGenerator<DatasetChain> {
  const chain = new DatasetChain({
    id: spec.dataset,
    alias: 'acme/long',
    log: 'log',
    partition: 0,
    visibility: 'public',
  })
  for (const { key, bytes } of chainObjects(spec)) {
    await store.put(key, bytes)
    if (!key.includes('/blocks/')) continue
    chain.apply(sha3Hash(bytes), decodeBlock(bytes).block)
    yield chain
  }
}

async function grown(store: ObjectStore, spec: ChainSpec): Promise<DatasetChain> {
  let last: DatasetChain | undefined
  for await (const chain of growing(store, spec)) last = chain
  return must(last, 'a chain has blocks')
}

/** The store, and how often it was asked for checkpoints. */
function counted(store: ObjectStore): { readonly store: ObjectStore; reads: number } {
  const counting = {
    reads: 0,
    store: {
      ...store,
      get: (key: string) => {
        if (key.includes('/checkpoints/')) counting.reads++
        return store.get(key)
      },
      getRange: (key: string, start: number, end: number) => {
        // The first piece of a long one.
        if (key.includes('/checkpoints/') && start === 0) counting.reads++
        return store.getRange(key, start, end)
      },
    },
  }
  return counting
}

/** Batches of a random history: some of their keys were used before, days and weeks go by between some of them. */
class History {
  readonly issued: KnownId[] = []
  /** What the fold remembers: hash of the body by id. */
  remembered: ReadonlyMap<string, string> = new Map()
  readonly #random: Random
  readonly #seed: number
  #timeMs = 0

  constructor(seed: number) {
    this.#seed = seed
    this.#random = randomOf(seed)
  }

  spec(dataset: string, blocks: number): ChainSpec {
    return {
      dataset,
      blocks,
      ids: () => this.#batches(),
      atMs: () => (this.#timeMs += this.#chance(0.002) ? this.#random.between(0, 9) * dayMs : 30_000),
      onBlock: (_, memory) => void (this.remembered = memory.known),
    }
  }

  /** The oldest ids that are remembered and those beside them, the newest, and some of all. */
  sample(): string[] {
    const { issued } = this
    const edge = issued.findIndex(({ id }) => this.remembered.has(id))
    const some = Array.from({ length: 20 }, () => this.#random.between(0, issued.length - 1))
    const near = Array.from({ length: 10 }, (_, i) => edge - 5 + i)
    const last = Array.from({ length: 5 }, (_, i) => issued.length - 1 - i)
    return [...near, ...last, ...some].flatMap((at) => issued[at]?.id ?? [])
  }

  #chance(share: number): boolean {
    return this.#random.next() < share
  }

  #batches(): KnownId[] {
    const mine = new Map<string, KnownId>()
    for (let i = this.#random.between(-2, 7); i > 0; i--) {
      const again = this.#chance(0.05) ? this.issued[this.#random.between(0, this.issued.length - 1)] : undefined
      const id = again?.id ?? batchId(`${this.#seed} ${this.issued.length}`)
      if (this.remembered.has(id) || mine.has(id)) continue
      const one = { id, bodyHash: sha3Hash(utf8(`body ${this.issued.length}`)) }
      mine.set(id, one)
      this.issued.push(one)
    }
    return [...mine.values()]
  }
}

describe('keys that a dataset remembers', () => {
  test.each([
    [1, 8_300, 20],
    [2, 4_200, 0],
    [3, 700, 0],
  ])(
    'are those of the fold, wherever a process starts (history %i)',
    { timeout: 120_000 },
    async (seed, blocks, forgotten) => {
      const store = openMemoryStore()
      const random = randomOf(seed)
      const history = new History(seed)
      const other = await grown(store, { dataset: datasetId('other'), blocks: 70, ids: () => [] })
      let following = new Outcomes(store)
      let [found, missed] = [0, 0]
      for await (const chain of growing(store, history.spec(datasetId(`history ${seed}`), blocks))) {
        const edge = Math.min(...[4096, 64 * 11].map((every) => (chain.dataCount + 1) % every))
        if (history.issued.length === 0 || !(edge < 3 || random.next() < 0.003 || chain.dataCount === blocks)) continue
        if (random.next() < 0.1) following = new Outcomes(store)
        // One has followed for a while, one starts now, one has no room for two datasets.
        const tight = new Outcomes(store, 1)
        await tight.known(chain, batchId('none'))
        await tight.known(other, batchId('none'))
        const all = [following, new Outcomes(store), tight]
        for (const id of history.sample()) {
          const expected = history.remembered.get(id)
          for (const outcomes of all) {
            const known = await outcomes.known(chain, id)
            expect([known?.bodyHash, known?.decided.outcome.id]).toEqual([expected, expected && id])
          }
          if (expected === undefined) missed++
          else found++
        }
      }
      expect(found).toBeGreaterThan(50)
      expect(missed).toBeGreaterThanOrEqual(forgotten)
    },
  )

  test('are asked for without reading anything, once they are known; a new block is one read', async () => {
    const store = openMemoryStore()
    const counting = counted(store)
    const outcomes = new Outcomes(counting.store)
    const ids = (number: number): KnownId[] => [{ id: batchId(`k${number}`), bodyHash: body }]
    const reads: number[] = []
    for await (const chain of growing(store, { dataset: datasetId('a'), blocks: 200, ids })) {
      if (chain.dataCount < 100) continue
      expect(await outcomes.known(chain, batchId('none'))).toBeUndefined()
      reads.push(counting.reads)
      await Promise.all([1, 2, 3].map((i) => outcomes.known(chain, batchId(`none ${i}`))))
      expect(counting.reads).toBe(reads.at(-1))
    }
    const [first = 0] = reads
    expect(reads).toEqual(reads.map((_, i) => first + i))
  })

  test('are read once from a bounded number of checkpoints, for all who ask at once', async () => {
    const store = openMemoryStore()
    const ids = (number: number): KnownId[] => [{ id: batchId(`k${number}`), bodyHash: body }]
    const blocks = 2 * 4096 + 63 * 64 + 63
    const chain = await grown(store, { dataset: datasetId('a'), blocks, ids, slices: false })
    const counting = counted(store)
    const outcomes = new Outcomes(counting.store)
    await Promise.all([1, 2, 3].map((i) => outcomes.known(chain, batchId(`none ${i}`))))
    expect(counting.reads).toBe(63 + 63 + 2)
    expect(await outcomes.known(chain, batchId('k0'))).toMatchObject({ bodyHash: body })
  })

  test('are asked for again after a checkpoint could not be read', async () => {
    const store = openMemoryStore()
    const ids = (number: number): KnownId[] => [{ id: batchId(`k${number}`), bodyHash: body }]
    const chain = await grown(store, { dataset: datasetId('a'), blocks: 10, ids })
    let isGone = true
    const outcomes = new Outcomes({
      ...store,
      size: async (key) => (isGone && key.includes('/checkpoints/') ? undefined : store.size(key)),
    })
    await expect(outcomes.known(chain, batchId('k3'))).rejects.toMatchObject({ reason: 'ChainBroken' })
    isGone = false
    expect(await outcomes.known(chain, batchId('k3'))).toMatchObject({ decided: { block: { sequence: 3 + 3 } } })
  })
})

describe('a set of ids', () => {
  test('holds the last 10,000 and those younger than 7 days, and never more than a million', () => {
    const set = new IdSet()
    const prefix = (i: number) => ({ high: i >> 15, low: i & 0x7fff })
    const [few, most] = [fixedLimits.keyedBatches.value, fixedLimits.keyedBatchesMost.value]
    for (let i = 0; i < most + 50; i++) set.add(prefix(i), i)
    set.forget(0, () => 0)
    expect(set.size).toBe(most)
    expect([49, 50, most + 49].map((i) => set.numbersOf(prefix(i)))).toEqual([[], [50], [most + 49]])
    expect(set.bytes).toBeLessThan(most * 24)
    set.forget(7 * dayMs - 1, () => 0)
    expect(set.size).toBe(most)
    set.forget(7 * dayMs, () => 0)
    expect(set.size).toBe(few)
    expect([most + 49 - few, most + 50 - few].map((i) => set.numbersOf(prefix(i)).length)).toEqual([0, 1])
    expect(set.bytes).toBeLessThan(2 ** 20)
  })

  test('of 32,768 is one part, and of one more two, of which the first goes as a whole', () => {
    const [most, few] = [32_768, fixedLimits.keyedBatches.value]
    const prefix = (i: number) => ({ high: 7, low: i })
    const addTo = (set: IdSet, end: number): IdSet => {
      for (let i = set.size; i < end; i++) set.add(prefix(i), i)
      return set
    }
    const bytesOf = (count: number): number => addTo(new IdSet(), count).bytes
    const part = bytesOf(most)
    for (const [count, bytes, bytesAfter] of [
      [most - 1, part, part + bytesOf(few - 1)],
      [most, part, bytesOf(few)],
      [most + 1, part + bytesOf(1), bytesOf(few + 1)],
    ] as const) {
      const set = addTo(new IdSet(), count)
      const before = set.bytes
      addTo(set, count + few).forget(7 * dayMs, () => 0)
      const known = [0, count - 1, count].flatMap((i) => set.numbersOf(prefix(i)))
      expect([before, set.bytes, set.size, ...known]).toEqual([bytes, bytesAfter, few, count])
    }
  })

  test('tells every checkpoint that holds an id with the same beginning', () => {
    const prefixes = fc.record({ high: fc.nat(2), low: fc.nat(5) })
    fc.assert(
      fc.property(fc.array(prefixes, { maxLength: 200 }), (all) => {
        const set = new IdSet()
        for (const [number, prefix] of all.entries()) set.add(prefix, number)
        for (const prefix of all) {
          const same = [...all.keys()].filter((i) => all[i]?.high === prefix.high && all[i]?.low === prefix.low)
          expect(set.numbersOf(prefix).toSorted((a, b) => a - b)).toEqual(same)
        }
      }),
    )
    expect(new IdSet().numbersOf(idPrefix(batchId('none')))).toEqual([])
  })
})

// A chain that is opened from the summaries of packs is the very one that is opened block by block.

import { beforeAll, describe, expect, test } from 'vitest'
import { Catalog } from '../../../src/node/catalog/catalog.ts'
import { type DatasetChain, viewOf } from '../../../src/node/catalog/dataset-chain.ts'
import { Objects } from '../../../src/node/catalog/objects.ts'
import { Outcomes } from '../../../src/node/catalog/outcomes.ts'
import { PackedBlocks } from '../../../src/node/catalog/packed-blocks.ts'
import { digestBytes, type PackSummary } from '../../../src/libraries/odf/chain/pack-summary.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import { HaltError } from '../../../src/libraries/base/errors.ts'
import { packableOf, packFileKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { withPacks } from '../../../src/node/store/packed-store.ts'
import { listPacks } from '../../../src/node/store/packs.ts'
import { packChain } from '../../../src/node/store/write-pack.ts'
import { dataset, objectsOfChain, storeOf } from '../store/packed-chain.ts'

const blocks = 17 * 256 + 40
const id = (number: number): string => Buffer.from(String(number).padEnd(32)).toString('base64url')
const keyed = (number: number) => [{ id: id(number), bodyHash: `f1620${'5'.repeat(64)}` }]
const objects = objectsOfChain(blocks, { ids: keyed })
const commits = objects.map(({ key }) => packableOf(key)).filter((asked) => asked?.kind === 'commits')

let loose: ObjectStore
let packed: ObjectStore
beforeAll(async () => {
  loose = await storeOf(objects)
  const all = await storeOf(objects)
  await packChain(withPacks(all), dataset, commits.at(-1)?.sequence ?? 0)
  // Only the tail is loose.
  for (const { key } of objects) {
    const asked = packableOf(key)
    if (asked?.kind !== 'commits' || asked.sequence < 17 * 256) continue
    tail.add(key)
  }
  let isTail = false
  for (const { key } of objects.slice(0, -blocks).toReversed()) {
    isTail = key.includes('/commits/') ? tail.has(key) : isTail
    if (isTail) tail.add(key)
  }
  const tailCommits = [...tail].filter((key) => key.includes('/commits/')).length
  for (const { key } of objects.slice(-tailCommits)) tail.add(key)
  for (const { key } of objects) if (!tail.has(key)) await all.delete(key)
  packed = all
})
const tail = new Set<string>()

async function chainOf(store: ObjectStore): Promise<DatasetChain> {
  const announcements = openLocalAnnouncements(silentLogger)
  const catalog = new Catalog({ store: withPacks(store), announcements, logger: silentLogger })
  try {
    return must(await catalog.byAlias('acme/long'), 'the dataset is there')
  } finally {
    catalog.close()
  }
}

/** All that a chain can be asked. */
function told(chain: DatasetChain): unknown {
  const view = viewOf(chain)
  const early = viewOf(chain, 700)
  return {
    blocks: [...chain.blocks],
    slices: [...chain.slices],
    views: [view, early].map((one) => ({ ...one, slices: one.slices.length })),
    found: chain.blocks.slice(0, 600).map(({ hash }) => chain.sequenceOf(hash)),
    data: Array.from({ length: chain.dataCount }, (_, number) => chain.dataBlock(number)?.sequence),
    positions: [0, 1, 2, 300, 5_000].map((at) => chain.blockAtPosition(at)?.sequence),
    spans: [...chain.logSpans()],
    next: chain.next,
    aspects: chain.aspects,
    creation: chain.creationSequence,
    times: [0, 5, 4_000].map((number) => chain.dataTimeMs(number)),
  }
}

describe('a chain that is opened from packs', () => {
  test('says what it says when it is opened block by block', async () => {
    expect(tail.size).toBeGreaterThan(100)
    expect(told(await chainOf(packed))).toEqual(told(await chainOf(loose)))
  })

  test('knows what became of every batch, by position and by key', async () => {
    const store = withPacks(packed)
    const chain = await chainOf(packed)
    const outcomes = new Outcomes(store)
    for (const number of [0, 1, 255, 2_000, blocks - 41, blocks - 1]) {
      const decided = await outcomes.at(chain, { id: id(number), position: number + 1 })
      expect(decided).toMatchObject({ outcome: { id: id(number) }, block: { sequence: number + 3 } })
      expect(await outcomes.known(chain, id(number))).toMatchObject({ decided: { block: { sequence: number + 3 } } })
    }
    expect(await outcomes.known(chain, id(blocks))).toBeUndefined()
  })

  test('gives its objects by hash', async () => {
    const chain = await chainOf(packed)
    const found = new Objects(withPacks(packed))
    for (const { key, bytes } of objects.filter((_, i) => i % 501 === 0)) {
      const asked = must(packableOf(key), 'objects of chains')
      if (asked.kind === 'commits') continue
      const object = await found.find(chain.name, { kind: asked.kind, text: asked.hash, chainOf: async () => chain })
      await found.check(object)
      expect(await found.read(object.key, 0, object.sizeBytes)).toEqual(bytes)
    }
  })

  test('is not opened when a pack is damaged', async () => {
    const [pack] = await listPacks(packed, dataset)
    const key = packFileKey(dataset, must(pack, 'a pack').record.hash)
    const bytes = must(await packed.get(key), 'its file')
    for (const at of [bytes.length - 1, bytes.length - 200_000]) {
      const damaged = bytes.slice()
      damaged[at] = (damaged[at] ?? 0) ^ 1
      const store = {
        ...packed,
        getRange: async (asked: string, start: number, end: number) =>
          asked === key ? damaged.slice(start, end) : packed.getRange(asked, start, end),
      }
      await expect(chainOf(store)).rejects.toThrow(HaltError)
    }
  })
})

test('a block of a pack takes 120 bytes at most', () => {
  const count = 65_536
  const numbers = (value: (i: number) => number): Float64Array =>
    Float64Array.from({ length: count }, (_, i) => value(i))
  const digests = new Uint8Array(count * digestBytes)
  const view = new DataView(digests.buffer)
  for (let i = 0; i < count; i++) view.setUint32(i * digestBytes, (i * 2_654_435_761) % 2 ** 32, true)
  const zeros = numbers(() => 0)
  const codes = new Uint16Array(count)
  const commit = { next: zeros, partition: zeros, blocks: codes, log: codes }
  const block = {
    timeMs: numbers((i) => i),
    next: zeros,
    rows: numbers(() => 60),
    sliceBytes: zeros,
    checkpointBytes: zeros,
    watermarkMs: zeros,
    hash: digests,
    slice: digests,
    checkpoint: digests,
    kind: codes,
    log: codes,
  }
  const place = { dataset, level: 2, number: 0, sequence: 0, offset: 0, commits: count, blocks: count, logs: ['log'] }
  const summary: PackSummary = { ...place, commit, block, starts: zeros }
  const held = new PackedBlocks()
  for (let i = 0; i < count; i++) held.addPacked(summary, i)
  expect(held.rowsAt(count - 1)).toBe(60 * count)
  expect(held.bytes / count).toBeLessThan(120)
})

// Chains take little memory and no more than they may: the one not asked for longest is dropped, and answers the same
// when it is read again. A chain that someone works with stays the only one of its dataset, and goes on.

import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { Catalog } from '../../../src/node/catalog/catalog.ts'
import { type DatasetChain, viewOf } from '../../../src/node/catalog/dataset-chain.ts'
import { PackedBlocks } from '../../../src/node/catalog/packed-blocks.ts'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import { DecodeError } from '../../../src/libraries/base/errors.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { datasetId } from '../builder/support.ts'
import { announcement } from '../../helpers/announcement.ts'
import { chainObjects, keyIn, nameObject } from '../../helpers/long-chain.ts'
import { until } from '../../helpers/until.ts'

const blocks = 300
const objects = [...chainObjects({ dataset: datasetId('0'), blocks })]
const open: Catalog[] = []
afterEach(() => {
  for (const catalog of open.splice(0)) catalog.close()
})

/** A store with `datasets` datasets lab/0, lab/1, … of the same blocks, and how often a block was read. */
async function storeOf(datasets: number): Promise<{ store: ObjectStore; blockReads: () => number }> {
  const held = openMemoryStore()
  for (let i = 0; i < datasets; i++) {
    const dataset = datasetId(String(i))
    const name = nameObject(dataset, `lab/${i}`)
    await held.put(name.key, name.bytes)
    for (const { key, bytes } of objects) await held.put(keyIn(dataset, key), bytes)
  }
  let reads = 0
  const get: ObjectStore['get'] = async (key) => {
    if (key.includes('/blocks/')) reads++
    return held.get(key)
  }
  return { store: { ...held, get }, blockReads: () => reads }
}

function catalogOf(store: ObjectStore, bytesMost: number) {
  const announcements = openLocalAnnouncements(silentLogger)
  const catalog = new Catalog({ store, announcements, logger: silentLogger, bytesMost })
  open.push(catalog)
  const chain = async (number: number): Promise<DatasetChain> =>
    must(await catalog.byAlias(`lab/${number}`), 'a dataset is there')
  return { catalog, announcements, chain }
}

/** All that a chain can be asked. */
function told(chain: DatasetChain): unknown {
  const view = viewOf(chain, 100)
  return {
    blocks: [...chain.blocks],
    slices: [...chain.slices],
    view: { ...view, id: undefined, alias: undefined, slices: [...view.slices] },
    found: [...chain.blocks].map(({ hash }) => chain.sequenceOf(hash)),
    data: Array.from({ length: chain.dataCount }, (_, number) => chain.dataBlock(number)?.sequence),
    positions: [0, 1, 2, 17, blocks, blocks + 1, blocks + 2].map((at) => chain.blockAtPosition(at)?.sequence),
    spans: [...chain.logSpans()],
    offsets: [0, 9, 10, 1234].map((offset) => chain.slices.numberWith(offset)),
    next: chain.next,
  }
}

test('a block takes 160 bytes at most', async () => {
  const chain = await catalogOf((await storeOf(1)).store, 2 ** 20).chain(0)
  expect(chain.blocks.length).toBe(3 + blocks)
  expect(chain.bytes / chain.blocks.length).toBeLessThan(180)
  const packed = new PackedBlocks()
  const [systemTime, log] = ['2026-01-01T00:00:00Z', 'log']
  for (let i = 0; i < 50_000; i++) {
    const hash = sha3Hash(utf8(String(i)))
    const slice = { hash, start: i, end: i, sizeBytes: 10 }
    packed.add({ hash, systemTime, kind: 'AddData', log, next: i, checkpoint: hash, slice })
  }
  // With the room that a chain which grows by single blocks has left, and the widest moment of its index.
  expect(packed.bytes / packed.length).toBeLessThan(140 * 1.25 + 12)
})

/** Collects garbage until nobody holds what `ref` points to. */
async function collected(ref: WeakRef<object>): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void // what the flag exposes
  await until('it is collected', () => {
    collect()
    return ref.deref() === undefined
  })
}

test('chains beyond the limit are dropped, least recently asked for first, and answer the same again', async () => {
  const { store, blockReads } = await storeOf(4)
  const one = (await catalogOf(store, 2 ** 30).chain(0)).bytes
  const { catalog, chain } = catalogOf(store, 2.5 * one)
  const before = JSON.stringify(told(await chain(0)))
  const refs: WeakRef<DatasetChain>[] = []
  for (const number of [0, 1, 0, 2, 0, 3]) refs[number] = new WeakRef(await chain(number))
  expect(catalog.bytes).toBeLessThanOrEqual(2.5 * one)
  await Promise.all([1, 2].map((number) => collected(must(refs[number], 'a chain was there'))))
  expect([0, 1, 2, 3].map((number) => catalog.known(`lab/${number}`) !== undefined)).toEqual([true, false, false, true])
  const reads = blockReads()
  await chain(0)
  expect(blockReads()).toBe(reads)
  await chain(1)
  expect(blockReads()).toBe(reads + 3 + blocks)
  await chain(2)
  await collected(must(refs[0], 'a chain was there'))
  expect(JSON.stringify(told(await chain(0)))).toBe(before)
  expect(catalog.bytes).toBeLessThanOrEqual(2.5 * one)
})

test('a dropped chain that someone works with is the chain of its dataset, and follows what is announced', async () => {
  const { store } = await storeOf(3)
  const hidden = { ...store }
  let last = blocks + 1
  hidden.get = async (key) => (Number(/commits\/(\d+)$/.exec(key)?.[1] ?? 0) > last ? undefined : store.get(key))
  hidden.list = async (prefix) =>
    (await store.list(prefix)).filter((name) => !prefix.endsWith('commits') || Number(name) <= last)
  const { catalog, announcements, chain } = catalogOf(hidden, 1)
  const mine = await chain(0)
  await chain(1)
  await chain(2)
  expect(catalog.bytes).toBe((await chain(2)).bytes)
  expect(mine.headSequence).toBe(blocks + 1)
  last = blocks + 2
  const { id: dataset, alias } = mine.name
  await announcements.announce({ ...announcement(last), dataset, alias })
  await expect.poll(() => mine.headSequence).toBe(blocks + 2)
  expect(await chain(0)).toBe(mine)
})

test('what nobody has asked for is read ahead only where there is room', async () => {
  const { store, blockReads } = await storeOf(3)
  const one = (await catalogOf(store, 2 ** 30).chain(0)).bytes
  const { catalog, announcements, chain } = catalogOf(store, 2.5 * one)
  const hear = async (number: number): Promise<void> => {
    const hint = announcement(blocks + 2)
    await announcements.announce({ ...hint, dataset: datasetId(String(number)), alias: `lab/${number}` })
    await setTimeout(20)
  }
  await chain(0)
  await hear(1)
  await expect.poll(() => catalog.known('lab/1')?.headSequence).toBe(blocks + 2)
  const reads = blockReads()
  await hear(2)
  expect([blockReads() - reads, catalog.known('lab/2')]).toEqual([0, undefined])
  expect(catalog.known('lab/0')).toBeDefined()
})

const digits = fc.nat(15).map((digit) => digit.toString(16))
const zeros = `f1620${'0'.repeat(64)}`
const hashes = fc.oneof(
  fc.array(digits, { minLength: 64, maxLength: 64 }).map((hex) => `f1620${hex.join('')}`),
  fc.constant(zeros),
)
const packable = fc.record({
  hash: hashes,
  checkpoint: fc.option(hashes, { nil: undefined }),
  systemTime: fc.constantFrom('2026-01-01T00:00:00Z', '0000-01-01T00:00:00.5Z', '9999-12-31T23:59:59.123456789Z'),
  kind: fc.constantFrom('AddData', 'SetInfo', 'ExecuteTransform', 'DisablePollingSource'),
  log: fc.constantFrom(undefined, 'a', 'b'),
  next: fc.constantFrom(-1, 0, 2 ** 53 - 1),
  rows: fc.constantFrom(0, 1, 2 ** 45),
  sizeBytes: fc.constantFrom(0, 2 ** 40),
})

test('what is packed comes out as it was put in', () => {
  fc.assert(
    fc.property(fc.array(packable, { maxLength: 40 }), (all) => {
      const packed = new PackedBlocks()
      let rows = 0
      const slices: unknown[] = []
      const expected = all.map((block, sequence) => {
        const { rows: more, sizeBytes, checkpoint, ...same } = block
        const slice = { hash: block.hash, start: rows, end: rows + more - 1, sizeBytes }
        if (more > 0) slices.push({ ...slice, sequence })
        rows += more
        packed.add({ ...same, checkpoint, slice: more > 0 ? slice : undefined })
        return { ...same, sequence, rows, sliceCount: slices.length }
      })
      expect(all.map((_, sequence) => packed.block(sequence))).toEqual(expected)
      expect(Array.from({ length: packed.sliceCount }, (_, number) => packed.slice(number))).toEqual(slices)
      const data = expected.filter(({ kind }) => kind === 'AddData').map(({ sequence }) => sequence)
      expect(Array.from({ length: packed.dataCount }, (_, number) => packed.dataBlock(number))).toEqual(data)
      for (const { hash } of all) expect(all[packed.sequenceOf(hash) ?? -1]?.hash).toBe(hash)
      expect(all.map((_, sequence) => packed.checkpointAt(sequence))).toEqual(
        // No object has the hash of zeros.
        all.map(({ checkpoint }) => (checkpoint === zeros ? undefined : checkpoint)),
      )
      const checkpoints = all.flatMap(({ checkpoint = zeros }) => (checkpoint === zeros ? [] : checkpoint))
      expect(checkpoints.every((checkpoint) => packed.names('checkpoint', checkpoint))).toBe(true)
      for (const kind of ['slice', 'checkpoint'] as const) expect(packed.names(kind, zeros)).toBe(false)
    }),
  )
})

test('a block whose offsets or hashes are none is refused, and leaves the chain as it was', () => {
  const packed = new PackedBlocks()
  const hash = sha3Hash(utf8('x'))
  const block = {
    hash,
    systemTime: '2026-01-01T00:00:00Z',
    kind: 'AddData',
    log: 'a',
    next: 1,
    checkpoint: undefined,
  } as const
  const slice = { hash, start: 0, end: 4, sizeBytes: 1 }
  const wrong = [
    { ...slice, start: 1 },
    { ...slice, end: -1 },
    { ...slice, hash: `f9680c00120${hash.slice(5)}` },
  ]
  for (const one of wrong) expect(() => packed.add({ ...block, slice: one })).toThrow(DecodeError)
  expect(() => packed.add({ ...block, checkpoint: 'f1620', slice })).toThrow(DecodeError)
  expect([packed.length, packed.sliceCount, packed.sequenceOf(hash)]).toEqual([0, 0, undefined])
  packed.add({ ...block, slice })
  expect([packed.length, packed.sequenceOf(hash), packed.sequenceOf(hash.slice(0, 9))]).toEqual([1, 0, undefined])
  expect(packed.names('slice', 'f1620')).toBe(false)
})

test('a block without slice or checkpoint names none, not even the hash of zeros', () => {
  const packed = new PackedBlocks()
  const nothing = { log: undefined, next: -1, checkpoint: undefined, slice: undefined }
  packed.add({ ...nothing, hash: sha3Hash(utf8('x')), systemTime: '2026-01-01T00:00:00Z', kind: 'Seed' })
  for (const kind of ['slice', 'checkpoint'] as const) expect(packed.names(kind, `f1620${'0'.repeat(64)}`)).toBe(false)
})

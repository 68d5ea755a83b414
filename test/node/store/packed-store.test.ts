// That no pack covers a commit is remembered for some minutes, a small part of the day for which loose copies stay, by clocks
// of which none is trusted alone.

import { beforeEach, expect, test } from 'vitest'
import { commitCodec } from '../../../src/libraries/odf/chain/records.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { commitKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { withPacks } from '../../../src/node/store/packed-store.ts'
import { putLog } from '../../../src/node/store/records.ts'
import { markSwept, sweepChain } from '../../../src/node/store/sweep.ts'
import { packChain } from '../../../src/node/store/write-pack.ts'
import { type FarStore, openFarStore } from '../../adapters/far-store.ts'
import { dataset, objectsOfChain, putAll } from './packed-chain.ts'

const objects = objectsOfChain(300)
const minuteMs = 60_000
const now = { nowMs: 0, monotonicMs: 0 }
const clock = { ...systemClock, nowMs: () => now.nowMs, monotonicMs: () => now.monotonicMs }
const bytesOf = (sequence: number): Uint8Array =>
  must(
    objects.find(({ key }) => key === commitKey(dataset, sequence)),
    'a commit',
  ).bytes
const other = (sequence: number): Uint8Array =>
  commitCodec.encode({ ...commitCodec.decode(bytesOf(sequence)), next: 5 })

let far: FarStore
let store: ObjectStore
beforeEach(async () => {
  far = openFarStore()
  await putLog(far, { id: 'log', kind: 'file', partitions: 1 })
  await putAll(far, objects)
  Object.assign(now, { nowMs: 0, monotonicMs: 0 })
  store = withPacks(far, clock)
})

/** Looks for packs, each a read of a record of every level, while `work` runs. */
async function looksOf(work: () => Promise<unknown>): Promise<number> {
  far.keys.length = 0
  await work()
  return far.keys.filter((key) => /\/packs\/\d/.test(key)).length / 3
}

async function packAndSweep(): Promise<void> {
  const packer = withPacks(far)
  await packChain(packer, dataset, 302)
  await markSwept(packer)
  expect(await sweepChain(packer, dataset, { beforeMs: Number.POSITIVE_INFINITY })).toBeGreaterThan(200)
}

test('many who ask share a look, which holds for all commits behind it, and for some minutes', async () => {
  const all = Array.from({ length: 250 }, (_, i) => i + 3)
  const readAll = async () => {
    const read = await Promise.all(all.map((sequence) => store.get(commitKey(dataset, sequence))))
    expect(read).toEqual(all.map(bytesOf))
  }
  expect(await looksOf(readAll)).toBe(1)
  expect(await looksOf(readAll)).toBe(0)
  expect(await looksOf(() => store.put(commitKey(dataset, 303), other(302)))).toBe(0)
  Object.assign(now, { nowMs: 11 * minuteMs, monotonicMs: 11 * minuteMs })
  expect(await looksOf(readAll)).toBe(1)
})

test.each([
  ['both clocks have gone on', { nowMs: 11 * minuteMs, monotonicMs: 11 * minuteMs }],
  ['the machine has slept', { nowMs: 11 * minuteMs, monotonicMs: 1 }],
  ['the wall clock was set back', { nowMs: -1, monotonicMs: 1 }],
  ['the wall clock stands still', { nowMs: 0, monotonicMs: 11 * minuteMs }],
])('who comes back when all is packed and swept has lost: %s', async (_, later) => {
  await store.get(commitKey(dataset, 7))
  await packAndSweep()
  Object.assign(now, later)
  expect(await store.put(commitKey(dataset, 7), other(7))).toBe('exists')
  expect(await store.get(commitKey(dataset, 7))).toEqual(bytesOf(7))
})

test('a look that fails is made again', async () => {
  let fails = true
  const failing: ObjectStore = {
    ...far,
    get: (key) => (fails && key.includes('/packs/') ? Promise.reject(new TypeError('no answer')) : far.get(key)),
  }
  const over = withPacks(failing, clock)
  await expect(over.get(commitKey(dataset, 7))).rejects.toThrow('no answer')
  fails = false
  expect(await over.get(commitKey(dataset, 7))).toEqual(bytesOf(7))
})

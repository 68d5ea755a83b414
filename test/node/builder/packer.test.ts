import { describe, expect, test } from 'vitest'
import { Packer } from '../../../src/node/builder/packer.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { commitsPrefix } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { withPacks } from '../../../src/node/store/packed-store.ts'
import { listPacks } from '../../../src/node/store/packs.ts'
import { putLog, sweptSince } from '../../../src/node/store/records.ts'
import { handClock } from '../../helpers/hand-clock.ts'
import { dataset, objectsOfChain, storeOf } from '../store/packed-chain.ts'
import { until } from '../../helpers/until.ts'

const hourMs = 60 * 60 * 1000
const objects = objectsOfChain(800)

async function packing(store?: ObjectStore, keepLoose = false) {
  const clock = handClock()
  const held = store ?? withPacks(await storeOf(objects, clock.nowMs))
  const packer = new Packer({ store: held, clock, logger: silentLogger, keepLoose })
  const ranges = async (): Promise<number> => (await listPacks(held, dataset)).length
  const commits = async (): Promise<number> => (await held.list(commitsPrefix(dataset))).length
  return { clock, packer, ranges, commits, held }
}

describe('a chain that a builder commits to', () => {
  test('is packed an hour after the last block of a range', async () => {
    const { clock, packer, ranges } = await packing()
    packer.committed(dataset, 254, 1)
    expect(clock.slept).toEqual([])
    packer.committed(dataset, 255, 1)
    await clock.advance(hourMs - 1)
    expect(clock.slept).toEqual([hourMs, 1])
    expect(await ranges()).toBe(0)
    await clock.advance(1)
    await until('a pack', async () => (await ranges()) === 1)
    await packer.close()
  })

  test('is packed as far as it was full an hour ago, with what an earlier process has left', async () => {
    const { clock, packer, ranges } = await packing()
    packer.committed(dataset, 510, 5)
    packer.committed(dataset, 767, 1)
    await clock.advance(hourMs)
    await until('the first pack', async () => (await ranges()) === 1)
    // It rests between two packs.
    await until('a rest', () => clock.slept.at(-1) === 1_000)
    expect(await ranges()).toBe(1)
    await until('all packs', async () => {
      await clock.advance(1_000)
      return (await ranges()) === 3
    })
    await packer.close()
  })

  test('loses its loose copies a day after its packs were made, unless they are to be kept', async () => {
    for (const keepLoose of [false, true]) {
      const { clock, packer, ranges, commits, held } = await packing(undefined, keepLoose)
      await putLog(held, { id: 'log', kind: 'file', partitions: 1 })
      const all = await commits()
      packer.committed(dataset, 255, 1)
      await clock.advance(hourMs)
      await until('a pack', async () => (await ranges()) === 1)
      await until('the next step', () => clock.slept.at(-1) === 1_000)
      await clock.advance(1_000)
      for (let hours = 0; hours < 24; hours++) {
        expect(await commits()).toBe(all)
        await clock.advance(hourMs)
      }
      await clock.advance(hourMs)
      if (!keepLoose) {
        await until('a sweep', async () => {
          await clock.advance(hourMs)
          return (await commits()) === all - 254
        })
      }
      expect(await commits()).toBe(keepLoose ? all : all - 254)
      expect((await sweptSince(held)) === undefined).toBe(keepLoose)
      await packer.close()
    }
  })

  test('goes on without packs where none can be made, and is tried again', async () => {
    const held = withPacks(await storeOf(objects))
    let isBroken = true
    const store: ObjectStore = {
      ...held,
      putStream: (chunks, keyOf) =>
        isBroken ? Promise.reject(new TypeError('no disk')) : held.putStream(chunks, keyOf),
    }
    const { clock, packer, ranges } = await packing(store)
    packer.committed(dataset, 255, 1)
    await clock.advance(hourMs)
    await clock.advance(0)
    expect(await ranges()).toBe(0)
    isBroken = false
    packer.committed(dataset, 511, 1)
    await until('packs', async () => {
      await clock.advance(hourMs)
      return (await ranges()) === 2
    })
    await packer.close()
  })

  test('is left alone by a builder that stops, and no part of a pack stays', async () => {
    const { clock, packer, ranges } = await packing()
    packer.committed(dataset, 255, 1)
    await packer.close()
    await clock.advance(hourMs)
    packer.committed(dataset, 511, 1)
    await clock.advance(hourMs)
    expect(await ranges()).toBe(0)
  })
})

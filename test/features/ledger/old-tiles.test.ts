// Partial tiles go when the full ones have been there for a while, and not before; full ones stay.

import { expect, test } from 'vitest'
import { OldTiles } from '../../../src/features/ledger/tree-files.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { grownTiles, parseTileName, tileName } from '../../../src/libraries/ledger/tiles.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { handClock } from '../../helpers/hand-clock.ts'

test('partial tiles go some minutes after the full ones came', async () => {
  const store = openMemoryStore()
  let nowMs = 0
  const old = new OldTiles({ store, clock: { ...systemClock, monotonicMs: () => nowMs }, ledger: 1 })
  let size = 0
  const grow = async (to: number): Promise<void> => {
    for (const tile of grownTiles(size, to)) await store.put(`ledger/${tileName(tile)}`, new Uint8Array(1))
    size = to
    await old.clean(size)
  }
  /** Names of partial tiles that are there. */
  const partial = async (): Promise<string[]> => {
    const found: string[] = []
    const look = async (key: string): Promise<void> => {
      for (const name of await store.list(key)) await look(`${key}/${name}`)
      const tile = parseTileName(key.slice('ledger/'.length))
      if (tile !== undefined && tile.width < 256 && (await store.size(key)) !== undefined) found.push(tileName(tile))
    }
    await look('ledger/tile')
    return found
  }
  await grow(3)
  await grow(200)
  nowMs += 600_000
  await grow(255)
  expect(await partial()).toHaveLength(6)
  await grow(300)
  nowMs += 299_000
  await grow(310)
  // That of 256 entries at level 1, and those of 44 and 54 entries beyond.
  expect(await partial()).toHaveLength(11)
  nowMs += 301_000
  await grow(310)
  expect(await partial()).toEqual([
    'tile/0/001.p/44',
    'tile/0/001.p/54',
    'tile/1/000.p/1',
    'tile/entries/001.p/44',
    'tile/entries/001.p/54',
  ])
  expect(await store.size('ledger/tile/0/000')).toBe(1)
  expect(await store.size('ledger/tile/entries/000')).toBe(1)
  // One that is begun over the same store finds what another has left.
  for (const width of [1, 7]) await store.put(`ledger/tile/0/000.p/${width}`, new Uint8Array(1))
  const next = new OldTiles({ store, clock: { ...systemClock, monotonicMs: () => nowMs }, ledger: 1 })
  await next.clean(size)
  nowMs += 300_000
  await next.clean(size)
  expect(await store.list('ledger/tile/0/000.p')).toEqual([])
})

test('those of 16,384 entries go in one go, those of more in two', async () => {
  const goesOf = async (size: number): Promise<string> => {
    const [store, clock] = [openMemoryStore(), handClock()]
    const old = new OldTiles({ store, clock, ledger: 1 })
    await old.clean(0)
    const folderOf = (index: number): string => `ledger/${tileName({ level: 0, index, width: 256 })}.p`
    for (let index = 0; index < 70; index++) await store.put(`${folderOf(index)}/9`, new Uint8Array(1))
    const leftAfter = async (laterMs: number): Promise<number> => {
      await clock.advance(laterMs)
      await old.clean(size)
      const left = await Promise.all(Array.from({ length: 70 }, (_, index) => store.list(folderOf(index))))
      return left.findIndex((widths) => widths.length > 0)
    }
    return `${await leftAfter(60_000)} ${await leftAfter(300_000)} ${await leftAfter(0)}`
  }
  expect([await goesOf(16_383), await goesOf(16_384), await goesOf(16_640)]).toEqual(['0 63 63', '0 64 64', '0 64 65'])
})

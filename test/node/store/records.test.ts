import { describe, expect, test } from 'vitest'
import type { LowWaterMark } from '../../../src/libraries/odf/chain/records.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../src/libraries/base/errors.ts'
import { commitKey, progressKey, progressPrefix } from '../../../src/node/store/layout.ts'
import * as records from '../../../src/node/store/records.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'

const id = `did:odf:fed01${'ab'.repeat(32)}`
const hash = (byte: string): string => `f1620${byte.repeat(32)}`
const floor = (position: number, halted: LowWaterMark['halted'] = []): LowWaterMark => ({
  log: 'log-1',
  partition: 0,
  position,
  ...(position === 0 ? {} : { anchor: hash('aa') }),
  halted,
})

describe('a commit', () => {
  const record = { blocks: [hash('01')], log: 'log-1', partition: 0, next: 4 }

  test('is won by the first, and by whoever brings the same bytes', async () => {
    const store = openMemoryStore()
    expect(await records.putCommit(store, { id, sequence: 3 }, record)).toEqual({ outcome: 'won' })
    expect(await records.putCommit(store, { id, sequence: 3 }, { ...record })).toEqual({ outcome: 'won' })
    expect(await records.readCommit(store, id, 3)).toEqual(record)
    expect(await records.readCommit(store, id, 4)).toBeUndefined()
  })

  test('is lost to other bytes, and the loser learns what stands', async () => {
    const store = openMemoryStore()
    await records.putCommit(store, { id, sequence: 3 }, record)
    const other = await records.putCommit(store, { id, sequence: 3 }, { ...record, blocks: [hash('02')] })
    expect(other).toEqual({ outcome: 'lost', inForce: record })
  })

  test('that is damaged is an error, not a lost race', async () => {
    const store = openMemoryStore()
    await store.put(commitKey(id, 3), utf8('{}'))
    await expect(records.putCommit(store, { id, sequence: 3 }, record)).rejects.toThrow(DecodeError)
    await expect(records.readCommit(store, id, 3)).rejects.toThrow(DecodeError)
  })
})

test('the first declaration of a log decides its partitions', async () => {
  const store = openMemoryStore()
  expect(await records.readLog(store, 'log-1')).toBeUndefined()
  expect(await records.putLog(store, { id: 'log-1', kind: 'kafka', partitions: 8 })).toEqual({ outcome: 'won' })
  expect(await records.putLog(store, { id: 'log-1', kind: 'kafka', partitions: 9 })).toEqual({
    outcome: 'lost',
    inForce: { id: 'log-1', kind: 'kafka', partitions: 8 },
  })
})

describe('floors', () => {
  test('count by their number, not by their text', async () => {
    const store = openMemoryStore()
    for (const position of [9, 10, 100, 20]) await records.putLowWaterMark(store, floor(position))
    expect(await records.newestLowWaterMark(store, 'log-1', 0)).toEqual(floor(100))
    expect(await records.newestLowWaterMark(store, 'log-1', 1)).toBeUndefined()
  })

  test('keep the newest few, and a late low one does not come back as the newest', async () => {
    const store = openMemoryStore()
    for (let position = 0; position < 100; position++) await records.putLowWaterMark(store, floor(position))
    const names = await store.list(progressPrefix('log-1', 0))
    expect(names.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, i) => 84 + i))
    await records.putLowWaterMark(store, floor(3))
    expect(await records.newestLowWaterMark(store, 'log-1', 0)).toEqual(floor(99))
  })

  test('of one position: the first stands', async () => {
    const store = openMemoryStore()
    await records.putLowWaterMark(store, floor(5))
    const halted = [{ dataset: id, position: 2, reason: 'PoisonBlock' }]
    expect(await records.putLowWaterMark(store, floor(5, halted))).toEqual({ outcome: 'lost', inForce: floor(5) })
  })

  test('that lie about their place are refused', async () => {
    const store = openMemoryStore()
    await records.putLowWaterMark(store, floor(5))
    const bytes = (await store.get(progressKey('log-1', 0, 5))) ?? new Uint8Array(0)
    await store.put(progressKey('log-1', 0, 6), bytes)
    await expect(records.newestLowWaterMark(store, 'log-1', 0)).rejects.toThrow(DecodeError)
  })
})

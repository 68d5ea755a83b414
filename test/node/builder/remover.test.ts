// When a deleted dataset goes for good: not before its grace is over by more than one wall clock, and each deletion by its
// own grace.

import { afterEach, expect, test } from 'vitest'
import { Remover } from '../../../src/node/builder/remover.ts'
import type { NameRecord } from '../../../src/libraries/odf/chain/records.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { headKey } from '../../../src/node/store/layout.ts'
import * as names from '../../../src/node/store/names.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { type HandClock, handClock } from '../../helpers/hand-clock.ts'
import { datasetId } from './support.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const id = datasetId('removed')
const log = openMemoryLog({ id: '0'.repeat(32) })
const name: NameRecord = { id, alias: 'acme/x', log: 'a log that was given up', partition: 0, visibility: 'public' }
let stop: () => Promise<void> = async () => {}
afterEach(() => stop())

/** A store with one dataset, whose clock is its own. */
async function stored(storeMs: () => number) {
  const store = openMemoryStore(storeMs)
  await names.putName(store, name)
  await store.put(headKey(id), new Uint8Array(4))
  const isThere = async (): Promise<boolean> => (await store.size(headKey(id))) !== undefined
  const timeOf = (ms: number): string => new Date(ms).toISOString()
  const remove = async (sequence: number, [atMs, graceMs]: readonly [number, number]): Promise<void> => {
    const times = { at: timeOf(atMs), until: timeOf(atMs + graceMs) }
    const at = { log: name.log, partition: 0, position: sequence }
    await names.deleteName(store, { id, alias: name.alias, sequence }, times, at)
  }
  const restore = async (sequence: number): Promise<void> => {
    const deletion = must(await names.readDeletion(store, id), 'it is deleted')
    await names.claimName(store, deletion.name, { alias: name.alias, sequence })
    await names.putRestored(store, id, sequence, name.alias)
  }
  return { store, isThere, remove, restore }
}

function remover(store: Awaited<ReturnType<typeof stored>>['store'], clock: HandClock): Remover {
  const made = new Remover({ store, log, clock, logger: silentLogger, mayRemove: () => true })
  stop = () => made.close()
  return made
}

/** Lets time pass, ten seconds by ten seconds. */
async function pass(clock: HandClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10_000) {
    await clock.advance(10_000)
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
}

test('it goes a quarter of an hour after its grace', async () => {
  const clock = handClock()
  const { store, isThere, remove } = await stored(clock.nowMs)
  await remove(3, [0, hourMs])
  remover(store, clock)
  await pass(clock, hourMs + 14 * minuteMs)
  expect(await isThere()).toBe(true)
  await pass(clock, 2 * minuteMs)
  expect(await isThere()).toBe(false)
})

test('a wall clock that is days ahead from the start ends no grace: the store has its own', async () => {
  const clock = handClock()
  let aheadMs = 0
  const { store, isThere, remove } = await stored(() => clock.nowMs() - aheadMs)
  await remove(3, [0, hourMs])
  aheadMs = 240 * hourMs
  await clock.advance(aheadMs)
  remover(store, clock)
  await pass(clock, 50 * minuteMs)
  expect(await isThere()).toBe(true)
  await pass(clock, 30 * minuteMs)
  expect(await isThere()).toBe(false)
})

test('a process that has just begun waits until somebody could have put its clock right', async () => {
  const clock = handClock()
  const { store, isThere, remove } = await stored(clock.nowMs)
  await remove(3, [0, hourMs])
  await clock.advance(240 * hourMs)
  remover(store, clock)
  await pass(clock, 14 * minuteMs)
  expect(await isThere()).toBe(true)
  await pass(clock, 20 * minuteMs)
  expect(await isThere()).toBe(false)
})

test('each deletion has its own grace, however often it was deleted and restored', async () => {
  const clock = handClock()
  const { store, isThere, remove, restore } = await stored(clock.nowMs)
  const watching = remover(store, clock)
  await remove(3, [0, 24 * hourMs])
  await pass(clock, minuteMs)
  await restore(4)
  await pass(clock, minuteMs)
  expect(await isThere()).toBe(true)
  await remove(6, [clock.nowMs(), 0])
  watching.deleted(id)
  await pass(clock, minuteMs)
  expect(await isThere()).toBe(false)
})

test('a deletion that came after a restoration is not taken for the one before it', async () => {
  const clock = handClock()
  const { store, isThere, remove, restore } = await stored(clock.nowMs)
  remover(store, clock)
  await remove(3, [0, hourMs])
  await pass(clock, minuteMs)
  await restore(4)
  await remove(6, [clock.nowMs(), 24 * hourMs])
  await pass(clock, 2 * hourMs)
  expect(await isThere()).toBe(true)
})

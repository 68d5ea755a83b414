// Arrays that nobody holds are given back when nothing happens.

import { getHeapStatistics } from 'node:v8'
import { expect, test } from 'vitest'
import { systemClock } from '../../../../src/libraries/base/clock.ts'
import { collectWhenIdle, lookMs } from '../../../../src/node/machine/ops/idle-memory.ts'

const MiB = 1024 * 1024
const held: Uint8Array[] = []

/** A clock whose looks come at once: the steps in between are small, and take their time. */
const quick = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms === lookMs ? 50 : ms, signal),
}

test('of arrays that nobody holds the memory is given back, and of others not', async () => {
  const faults: unknown[] = []
  held.push(new Uint8Array(64 * MiB))
  let garbage: ArrayBuffer[] | undefined = Array.from({ length: 20 }, () => new ArrayBuffer(10 * MiB))
  const full = getHeapStatistics().external_memory
  const refs = garbage.map((one) => new WeakRef(one))
  garbage = undefined
  const idle = collectWhenIdle(quick, (error) => faults.push(error))
  await expect.poll(() => refs.filter((ref) => ref.deref() !== undefined).length, { timeout: 60_000 }).toBe(0)
  await expect.poll(() => full - getHeapStatistics().external_memory, { timeout: 60_000 }).toBeGreaterThan(100 * MiB)
  await idle.close()
  expect(held[0]).toHaveLength(64 * MiB)
  expect(faults).toEqual([])
})

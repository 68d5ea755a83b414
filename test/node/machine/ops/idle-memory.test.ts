// Arrays that nobody holds are given back when nothing happens.

import { constants, PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'
import { expect, onTestFinished, test } from 'vitest'
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

test('of the room of new objects the memory is given back, by a collection of them alone', async () => {
  const roomBytes = (): number =>
    getHeapSpaceStatistics().find((one) => one.space_name === 'new_space')?.space_size ?? 0
  const faults: unknown[] = []
  // What lives through a collection of new objects makes the room for them larger.
  for (let at = 0; roomBytes() <= 32 * MiB && at < 1_000; at++) {
    const lasting = Array.from({ length: 20_000 }, (_, number) => [number, { text: `${number}` }])
    expect(lasting).toHaveLength(20_000)
  }
  expect(roomBytes()).toBeGreaterThan(32 * MiB)
  // V8 does it too, by a whole collection, where it happens to come to that.
  const forced: unknown[] = []
  const { NODE_PERFORMANCE_GC_MINOR: minor, NODE_PERFORMANCE_GC_FLAGS_FORCED: flag } = constants
  const observer = new PerformanceObserver((seen) => {
    const details = (seen.getEntries() as unknown as { readonly detail: { kind: number; flags: number } }[]).map(
      (one) => one.detail,
    )
    forced.push(...details.filter(({ kind, flags }) => kind === minor && (flags & flag) !== 0))
  })
  observer.observe({ entryTypes: ['gc'] })
  onTestFinished(() => observer.disconnect())
  const idle = collectWhenIdle(quick, (error) => faults.push(error))
  await expect.poll(() => forced.length, { timeout: 60_000 }).toBeGreaterThan(0)
  await expect.poll(roomBytes, { interval: 500, timeout: 60_000 }).toBeLessThan(8 * MiB)
  await idle.close()
  expect(faults).toEqual([])
})

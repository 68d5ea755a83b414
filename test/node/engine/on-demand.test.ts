// Processes of an engine come when they are asked for and go when nobody asks. One that does not stand in time is no end:
// the engine says so, and tries again.

import { expect, onTestFinished, test, vi } from 'vitest'
import { ChildHandle, startMs } from '../../../src/node/engine/process/child-handle.ts'
import { openEngine } from '../../../src/node/engine/engine.ts'
import { sweepMs, unusedMs } from '../../../src/node/engine/process/child-pool.ts'
import { type Clock, systemClock } from '../../../src/libraries/base/clock.ts'
import { ask, benchOptions } from './helpers.ts'

/** A clock on which so many of the times that a process has to stand are over at once. */
function hurried(times: number): Clock {
  let left = times
  return {
    ...systemClock,
    sleep: (ms, signal) => {
      if (ms < startMs || left === 0) return systemClock.sleep(ms, signal)
      left -= 1
      return Promise.resolve()
    },
  }
}

test('processes come when they are asked for, and go when nobody has asked for a minute', async () => {
  const handles = new Set<ChildHandle>()
  const { ready } = ChildHandle.prototype
  vi.spyOn(ChildHandle.prototype, 'ready').mockImplementation(function (this: ChildHandle, ...given) {
    handles.add(this)
    return ready.apply(this, given)
  })
  onTestFinished(() => void vi.restoreAllMocks())
  const standing = (): number => [...handles].filter(({ usable }) => usable).length
  let laterMs = 0
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() + laterMs,
    sleep: (ms, signal) => systemClock.sleep(ms === sweepMs ? 20 : ms, signal),
  }
  const engine = openEngine({ ...benchOptions, processes: 2, dataRoots: [], clock })
  onTestFinished(async () => await engine.close())
  expect([handles.size, engine.fault()]).toEqual([0, undefined])
  for (let round = 0; round < 2; round++) {
    expect(await ask(engine, `SELECT ${round}`)).toBe(`[[${round}]]`)
    // The one that answered, and one that would serve the next while it works.
    await expect.poll(standing).toBe(2)
    laterMs += unusedMs
    await expect.poll(standing).toBe(0)
  }
  // It is there before the tail is that somebody reads a chain for; nobody gets two for that.
  for (let tails = 0; tails < 3; tails++) engine.expectOwn()
  await expect.poll(standing).toBe(2)
  laterMs += unusedMs
  await expect.poll(standing).toBe(0)
  // One that works is no unused one.
  const leaving = new AbortController()
  const running = ask(
    engine,
    'SELECT count(*) FROM range(1e6::bigint) a, range(1e6::bigint) b WHERE a.range < b.range',
    {
      signal: leaving.signal,
    },
  )
  await expect.poll(() => engine.load().running).toBe(1)
  await expect.poll(standing).toBe(2)
  laterMs += 2 * unusedMs
  await clock.sleep(100)
  expect(engine.load().running).toBe(1)
  leaving.abort()
  await expect(running).rejects.toMatchObject({ kind: 'QueryTimeout' })
  laterMs += unusedMs
  await expect.poll(standing).toBe(0)
})

test('a process that does not stand in time is told, and tried again', async () => {
  const engine = openEngine({ ...benchOptions, dataRoots: [], clock: hurried(2) })
  onTestFinished(async () => await engine.close())
  await expect(engine.prove()).rejects.toMatchObject({ kind: 'Internal' })
  expect(engine.fault()).toBe('no process of the query engine starts')
  await expect.poll(() => engine.fault(), { timeout: 60_000 }).toBeUndefined()
  expect(await engine.analyze('SELECT 1')).toMatchObject({ sql: 'SELECT 1' })
})

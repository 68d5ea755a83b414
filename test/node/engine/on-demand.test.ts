// An engine whose first process does not stand in time: it is there all the same, says so, and tries again.

import { expect, onTestFinished, test } from 'vitest'
import { startMs } from '../../../src/node/engine/child-handle.ts'
import { type Clock, systemClock } from '../../../src/libraries/base/clock.ts'
import { openBench } from './helpers.ts'

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

test('a process that does not stand in time is tried again', async () => {
  const { engine, close } = await openBench({ clock: hurried(2), firstWaitMs: 1 })
  onTestFinished(close)
  expect(engine.fault()).toBe('the first process of the query engine has not started yet')
  await expect.poll(() => engine.fault(), { timeout: 60_000 }).toBeUndefined()
  expect(await engine.analyze('SELECT 1')).toMatchObject({ sql: 'SELECT 1' })
})

test('without the wait there is no engine then', async () => {
  await expect(openBench({ clock: hurried(1) })).rejects.toMatchObject({ kind: 'Internal' })
})

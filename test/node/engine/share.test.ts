// How many threads a statement is given: all cores where it is alone, its share of them beside others, no more than its
// memory allows.

import { expect, it, onTestFinished, vi } from 'vitest'
import { ChildHandle } from '../../../src/node/engine/process/child-handle.ts'
import type { EngineOptions } from '../../../src/node/engine/messages.ts'
import { until } from '../../helpers/until.ts'
import { ask, type Bench, openBench } from './helpers.ts'

const mebibyte = 1024 * 1024
const long = 'select count(*) from range(1000000000) a, range(1000) b'

const perform = Object.getOwnPropertyDescriptor(ChildHandle.prototype, 'perform')?.value as ChildHandle['perform']

/** Threads that statements are given, as they begin. */
async function open(options: Partial<EngineOptions>): Promise<{ readonly bench: Bench; readonly given: number[] }> {
  const given: number[] = []
  const spy = vi.spyOn(ChildHandle.prototype, 'perform')
  spy.mockImplementation(async function (this: ChildHandle, job, limits) {
    const noted: typeof job = (lists) => {
      const message = job(lists)
      if (message.kind === 'run') given.push(message.job.threads)
      return message
    }
    return await perform.call(this, noted, limits)
  })
  const bench = await openBench({ memoryBytes: 1024 * mebibyte, ...options })
  onTestFinished(async () => {
    spy.mockRestore()
    await bench.close()
  })
  return { bench, given }
}

it('is all cores for one alone, and a share for each that comes beside it', async () => {
  const { bench, given } = await open({ cores: 6, processes: 8, queryMs: 60_000 })
  await ask(bench.engine, 'select 1')
  const leave = new AbortController()
  const running: Promise<string>[] = []
  for (const shares of [[6], [6, 3], [6, 3, 2], [6, 3, 2, 1]]) {
    running.push(ask(bench.engine, long, { signal: leave.signal }).catch(() => 'left'))
    await until('it runs', async () => given.length > shares.length || undefined)
    expect(given.slice(1)).toEqual(shares)
  }
  leave.abort()
  await Promise.all(running)
  await ask(bench.engine, 'select 1')
  expect(given.at(-1)).toBe(6)
}, 60_000)

it('is one for each of more than there are cores, and never more than memory is for', async () => {
  const { bench, given } = await open({ cores: 1, processes: 1 })
  await ask(bench.engine, 'select 1')
  const narrow = await open({ cores: 64, processes: 1, memoryBytes: 300 * mebibyte })
  await ask(narrow.bench.engine, 'select 1')
  expect([given, narrow.given]).toEqual([[1], [2]])
}, 60_000)

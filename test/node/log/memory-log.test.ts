// The memory log against the contract of event logs, and its partitions.

import { expect, test } from 'vitest'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { describeEventLog } from './contract-suite.ts'

describeEventLog('the memory log', async () => openMemoryLog())

test('partitions have positions of their own', async () => {
  const log = openMemoryLog({ partitions: 2, id: 'fixed' })
  expect(log.id).toBe('fixed')
  expect(await log.append(1, [new Uint8Array([1])])).toBe(0)
  expect(await log.append(0, [new Uint8Array([2])])).toBe(0)
  expect(await log.range(0)).toEqual({ start: 0, end: 1 })
  expect(await log.get(1, 0)).toEqual(new Uint8Array([1]))
})

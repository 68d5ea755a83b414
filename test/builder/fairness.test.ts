// One dataset with a backlog does not stop the blocks of another: counted by the order of commits, not by time.

import { expect, test } from 'vitest'
import { BlockBudget, defaultCutOptions, Governor } from '../../src/builder/governor.ts'
import { openMemoryLog } from '../adapters/memory-log.ts'
import { openMemoryStore } from '../adapters/memory-store.ts'
import { buildAll, datasetId, TestWriter } from './support.ts'

const [busy, quiet] = [datasetId('busy'), datasetId('quiet')]

test('a block of a quiet dataset is committed before the backlog that came before it in the log', async () => {
  const log = openMemoryLog()
  const writer = new TestWriter('w')
  const backlog = 300
  await log.append(0, [writer.create(busy, 'acme/busy'), writer.create(quiet, 'acme/quiet')])
  for (let i = 0; i < backlog; i++) {
    await log.append(0, [writer.rows(busy, [{ rows: 1 }]), writer.cut([{ dataset: busy, sequence: 3 + i }])])
  }
  await log.append(0, [writer.rows(quiet, [{ rows: 1 }]), writer.cut([{ dataset: quiet, sequence: 3 }])])
  const { announced } = await buildAll(log, openMemoryStore())
  const order = announced.filter(({ sequence }) => sequence >= 3).map(({ dataset }) => dataset)
  expect(order).toHaveLength(backlog + 1)
  expect(order.indexOf(quiet)).toBeLessThan(backlog / 2)
})

test('blocks that end by their size take no cuts from other datasets', () => {
  const governor = new Governor(defaultCutOptions, new BlockBudget(1))
  for (let i = 0; i < 10_000; i++) {
    governor.opened(busy, i, false)
    governor.ended(busy, i)
  }
  governor.opened(quiet, 10_000, false)
  governor.opened(busy, 10_001, false)
  expect(governor.take(10_000 + defaultCutOptions.openAgeMs)).toEqual([quiet])
})

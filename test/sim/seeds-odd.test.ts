// The simulation with the odd seeds; the others run beside it. Invariant: whatever the disk, the log, the clock and the
// processes do, a history that callers see has no verdict, the store is sound, nothing halts, and all drains in time.

import { expect, test, vi } from 'vitest'
import { runSeeds, seedsOf } from './seeds.ts'

vi.mock(import('../../src/libraries/base/ids/native-crypto.ts'), async (original) => {
  const { seededBytes } = await import('./chance.ts')
  return { ...(await original()), randomBytes: seededBytes }
})

// Large bodies are in the log part after part while they come.
vi.mock(import('../../src/node/gateway/large-batch.ts'), async (original) => ({
  ...(await original()),
  heldBytes: 128 * 1024,
}))

// Small batches of the ledger, and a state after every third.
vi.mock('../../src/features/ledger/records.ts', async (original) => ({
  ...(await original<object>()),
  mostBatchEntries: 4,
  batchesPerState: 3,
}))

const seeds = seedsOf(1, 2)

test.runIf(seeds.length > 0)('keeps every promise under odd seeds', async () => {
  await runSeeds(seeds)
  expect(seeds.length).toBeGreaterThan(0)
})

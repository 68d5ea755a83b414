// The simulation with packs: chains are packed four blocks at a time, two packs into one, and swept at once, beside builders
// and readers, by processes that are killed and paused as all others are. Invariant: that of the other seeds; a builder that
// slept while its place was packed and swept has lost, and nothing that was told is missing.

import { expect, test, vi } from 'vitest'
import { runSeeds, seedsOf } from './seeds.ts'

vi.mock(import('../../src/libraries/base/ids/native-crypto.ts'), async (original) => {
  const { seededBytes } = await import('./chance.ts')
  return { ...(await original()), randomBytes: seededBytes }
})
vi.mock('../../src/libraries/odf/chain/pack-span.ts', async (original) => ({
  ...(await original<object>()),
  packSpan: 4,
  packsTrustedMs: 60,
  spanOf: (level: number) => 4 * 2 ** level,
}))
// Time passes in this world by events alone.
vi.mock(import('../../src/libraries/base/clock.ts'), async (original) => ({
  ...(await original()),
  nextTurn: async () => {},
}))

const seeds = seedsOf(0, 4)

test.runIf(seeds.length > 0)('keeps every promise while chains are packed and swept', async () => {
  const { packs = 0, swept = 0 } = await runSeeds(seeds, { packing: true })
  expect(packs).toBeGreaterThan(seeds.length)
  expect(swept).toBeGreaterThan(2 * seeds.length)
})

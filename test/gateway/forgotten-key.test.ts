// A key that the dataset has forgotten is a new one, also for the gateway that placed its first batch and holds it still.

import { expect, onTestFinished, test, vi } from 'vitest'
import { Rig } from './support.ts'

const keyed = { headers: { 'idempotency-key': 'k', prefer: 'respond-async' } }

async function rigOf(): Promise<{ rig: Rig; logged: () => Promise<number> }> {
  const rig = await new Rig().build()
  onTestFinished(() => rig.stop())
  await rig.rows('a/b', [{ n: 1 }], { query: { create: 'true' } })
  await rig.rows('a/b', [{ n: 2 }], keyed)
  await rig.pause()
  const logged = async (): Promise<number> => (await rig.headers()).filter(({ kind }) => kind === 'rows').length
  return { rig, logged }
}

test('a repeat of a batch that the chain remembers, or has not read, is not logged', async () => {
  const { rig, logged } = await rigOf()
  const before = await logged()
  await rig.rows('a/b', [{ n: 2 }], keyed)
  const other = { headers: { ...keyed.headers, 'idempotency-key': 'other' } }
  await rig.rows('a/b', [{ n: 3 }], other)
  await rig.rows('a/b', [{ n: 3 }], other)
  expect(await logged()).toBe(before + 1)
})

test('one that the chain has forgotten is a new batch', async () => {
  const { rig, logged } = await rigOf()
  const before = await logged()
  vi.spyOn(rig.outcomes, 'known').mockResolvedValue(undefined)
  await rig.rows('a/b', [{ n: 2 }], keyed)
  expect(await logged()).toBe(before + 1)
})

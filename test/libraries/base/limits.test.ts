// Limits of memory follow from what the machine has, so that the defaults suit a small board and a server.

import { expect, test } from 'vitest'
import { limitsOf, limitTable, queriesInMemory } from '../../../src/libraries/base/limits.ts'

const MiB = 1024 * 1024
const bounded = [
  'queryMemoryBytes',
  'resultBytes',
  'answerBytes',
  'keptAnswerBytes',
  'keyMemoryBytes',
  'exportSlots',
] as const

function inMemory(memoryBytes: number): readonly number[] {
  const limits = limitsOf({}, memoryBytes)
  return bounded.map((name) => limits[name] / (name === 'exportSlots' ? 1 : MiB))
}

test('what a node may take for queries fits beside it, in any memory', () => {
  expect(inMemory(64 * MiB)).toEqual([8, 4, 8, 2, 2, 1])
  expect(inMemory(512 * MiB)).toEqual([128, 64, 128, 32, 32, 1])
  expect(inMemory(1024 * MiB)).toEqual([384, 192, 384, 64, 96, 1])
  expect(inMemory(4096 * MiB)).toEqual([1024, 256, 512, 64, 128, 2])
  const bodies = (memory: number): readonly number[] => {
    const { bodyMemoryBytes, verifyBytes, jsonValues, openJsonBytes, catalogBytes } = limitsOf({}, memory * MiB)
    return [...[bodyMemoryBytes, verifyBytes, openJsonBytes, catalogBytes].map((one) => one / MiB), jsonValues]
  }
  expect(bodies(64)).toEqual([16, 1, 2, 4, 16_384])
  expect(bodies(512)).toEqual([128, 8, 16, 64, 131_072])
  expect(bodies(1024)).toEqual([640, 40, 80, 192, 655_360])
  expect(bodies(2048)).toEqual([1664, 64, 128, 256, 1_000_000])
  const sizes = (memory: number, given = {}): readonly number[] => {
    const limits = limitsOf(given, memory * MiB)
    return [limits.bodyBytes, limits.inflatedBytes, limits.columnBytes, limits.logMemoryBytes].map((one) => one / MiB)
  }
  expect(sizes(64)).toEqual([2, 2, 8, 1])
  expect(sizes(512)).toEqual([16, 16, 64, 8])
  expect(sizes(512, { bodyBytes: 32 * MiB })).toEqual([16, 16, 64, 8])
  expect(sizes(512, { bodyBytes: 5 * MiB })).toEqual([5, 16, 20, 8])
  expect(sizes(895)).toEqual([63.875, 63.875, 255.5, 31.9375])
  expect(sizes(896)).toEqual([256, 1024, 1024, 32])
  expect([64, 512, 1024, 2048, 4096].map((one) => queriesInMemory(one * MiB))).toEqual([1, 1, 1, 3, 7])
})

test('what is given holds in any memory, and no other limit depends on it', () => {
  expect(limitsOf({ queryMemoryBytes: 4096 * MiB }, 1024 * MiB).queryMemoryBytes).toBe(4096 * MiB)
  const [small, large] = [limitsOf({}, MiB), limitsOf()]
  const changed = Object.keys(limitTable).filter((name) => Reflect.get(small, name) !== Reflect.get(large, name))
  const ofBodies = ['bodyBytes', 'bodyMemoryBytes', 'columnBytes', 'inflatedBytes', 'jsonValues', 'logMemoryBytes']
  expect(changed.sort()).toEqual([...bounded, ...ofBodies, 'catalogBytes', 'openJsonBytes', 'verifyBytes'].sort())
  for (const name of bounded) expect(large[name]).toBe(limitTable[name].value)
})

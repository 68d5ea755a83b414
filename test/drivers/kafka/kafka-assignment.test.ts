import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assignPartitions } from '../../../src/node/log/partitions.ts'

const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number)

/** What each of `ids` builds after a first round. */
function shared(
  partitions: number,
  ids: readonly string[],
  before: ReadonlyMap<string, readonly number[]> = new Map(),
) {
  return assignPartitions(
    partitions,
    ids.map((id) => ({ id, held: before.get(id) ?? [] })),
  )
}

describe('sharing partitions out', () => {
  test('gives each partition to one, in numbers that differ by one at most', () => {
    const arbitraryCount = fc.integer({ min: 1, max: 40 })
    const held = fc.array(fc.array(fc.integer({ min: -2, max: 45 }), { maxLength: 50 }), {
      minLength: 1,
      maxLength: 12,
    })
    fc.assert(
      fc.property(arbitraryCount, held, (partitions, taken) => {
        const given = assignPartitions(
          partitions,
          taken.map((own, at) => ({ id: `m${at}`, held: own })),
        )
        expect([...given.values()].flat().sort((a, b) => a - b)).toEqual(numbers(partitions))
        const counts = [...given.values()].map(({ length }) => length)
        expect(given.size).toBe(taken.length)
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
      }),
    )
  })

  test('moves only the partitions of one who has gone', () => {
    const before = shared(8, ['a', 'b', 'c', 'd'])
    const after = shared(8, ['a', 'b', 'd'], before)
    for (const id of ['a', 'b', 'd']) expect(after.get(id)).toEqual(expect.arrayContaining([...(before.get(id) ?? [])]))
  })

  test('moves only what one who comes must have', () => {
    const before = shared(8, ['a', 'b'])
    const after = shared(8, ['c', 'b', 'a'], before)
    const stayed = ['a', 'b'].flatMap((id) => (after.get(id) ?? []).filter((one) => before.get(id)?.includes(one)))
    expect(stayed).toHaveLength(6)
    expect(after.get('c')).toHaveLength(2)
  })

  test('leaves some with nothing when there are more builders than partitions', () => {
    const before = shared(2, ['a', 'b'])
    const after = shared(2, ['a', 'b', 'c', 'd'], before)
    expect([...after.values()].map(({ length }) => length)).toEqual([1, 1, 0, 0])
    expect(after.get('a')).toEqual(before.get('a'))
  })

  test('does not depend on the order of the builders, and gives what two claim to one', () => {
    const sharers = [
      { id: 'a', held: [1, 2] },
      { id: 'b', held: [1, 3] },
    ]
    expect(assignPartitions(4, sharers)).toEqual(assignPartitions(4, sharers.toReversed()))
    expect(assignPartitions(4, sharers).get('a')).toEqual([1, 2])
  })
})

// Deep equality against vitest's own, which counts undefined members as absent too.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sameValue } from '../../../src/libraries/base/compare.ts'

function equals(a: unknown, b: unknown): boolean {
  try {
    expect(a).toEqual(b)
    return true
  } catch {
    return false
  }
}

describe('values', () => {
  it('are the same when every member is', () => {
    const small = fc.object({
      maxDepth: 2,
      maxKeys: 2,
      key: fc.constantFrom('a', 'b'),
      values: [fc.constantFrom(0, 1, 'a', null, undefined)],
    })
    fc.assert(
      fc.property(small, small, (a, b) => {
        expect(sameValue(a, structuredClone(a))).toBe(true)
        expect(sameValue(a, b)).toBe(equals(a, b))
      }),
      { numRuns: 400 },
    )
  })

  it.each([
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: undefined }, {}, true],
    [[1, 2], [2, 1], false],
    [[1], { 0: 1 }, false],
    [{ a: 1 }, { a: 1, b: 1 }, false],
    [null, {}, false],
    [[undefined], [], false],
    [1n, 1, false],
    [{ a: [{ b: 1n }] }, { a: [{ b: 1n }] }, true],
  ])('%o and %o: %s', (a, b, same) => {
    expect(sameValue(a, b)).toBe(same)
    expect(sameValue(b, a)).toBe(same)
  })
})

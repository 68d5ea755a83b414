// Names that stand twice in an object, whatever stands inside of it and around it.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonScanner } from '../../../src/libraries/formats/json/scanner.ts'

type Tree = { readonly members: readonly (readonly [name: string, value: Tree])[] } | number

const name = fc.constantFrom('a', 'b', 'ab', 'ba', 'é', '', ...Array.from({ length: 40 }, (_, i) => `n${i}`))

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.nat(9),
    fc.record({ members: fc.array(fc.tuple(name, tie('tree')), { maxLength: 24 }) }),
  ),
}))

/** As JSON; every `escaped`-th name with its first letter escaped. */
function textOf(value: Tree, escaped: number, count = { names: 0 }): string {
  if (typeof value === 'number') return String(value)
  const members = value.members.map(([key, inner]) => {
    const isEscaped = count.names++ % escaped === 0 && key !== ''
    const first = `\\u${key.charCodeAt(0).toString(16).padStart(4, '0')}`
    return `"${isEscaped ? first + key.slice(1) : key}": ${textOf(inner, escaped, count)}`
  })
  return `{${members.join(', ')}}`
}

/** The first name met a second time in its object, in the order of the text. */
function firstRepeated(value: Tree): string | undefined {
  if (typeof value === 'number') return undefined
  const names = new Set<string>()
  for (const [key, inner] of value.members) {
    if (names.has(key)) return key
    names.add(key)
    const below = firstRepeated(inner)
    if (below !== undefined) return below
  }
  return undefined
}

describe('names of nested objects', () => {
  it('are found when they stand twice in one object, and only then', () => {
    const checker = new JsonScanner(64)
    let repeated = 0
    fc.assert(
      fc.property(tree, fc.integer({ min: 1, max: 60 }), (value, escaped) => {
        const bytes = Buffer.from(textOf(value, escaped))
        const after = checker.check(bytes, 0, bytes.length, 1)
        const expected = firstRepeated(value)
        if (expected === undefined) return after === bytes.length
        repeated += 1
        return after === -1 && checker.kind === 'DuplicateField' && checker.message.includes(`'${expected}'`)
      }),
      { numRuns: 500 },
    )
    expect(repeated).toBeGreaterThan(20)
    expect(repeated).toBeLessThan(480)
  })
})

// What becomes of values, measures and rings: rules that GDAL does not have, or has otherwise, and properties.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonText } from '../../../src/libraries/base/json/json-text.ts'
import { groupRings, type Ring, ringOf } from '../../../src/features/shapefile/rings.ts'
import { featureLines, fixture } from './reading.ts'

async function members(name: string): Promise<readonly Record<string, unknown>[]> {
  return (await featureLines(fixture(`${name}.zip`))).map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('numbers keep their digits, and become numbers of JSON where they are none', async () => {
  const lines = await featureLines(fixture('numbers.zip'))
  const tokens = lines.map((line) => /"n":([^}]*)\}/.exec(line)?.[1])
  const expected = ['5', '0.5', '5', '-0.5', '7', '1e5', '1.5E+003', 'null', 'null', '-0', '0.0', '0', '1.0']
  expect(tokens).toEqual(expected)
  const [first] = await featureLines(fixture('values.zip'))
  expect(first).toContain('"n":9007199254740993,"price":1.250000,')
})

test('logicals are true, false and null; dates are days', async () => {
  const rows = (await members('values')).map(({ properties }) => properties as Record<string, unknown>)
  expect(rows.map(({ yes }) => yes)).toEqual([true, null, false, null, true])
  expect(rows.map(({ day }) => day)).toEqual(['2026-01-31', null, '0001-01-01', '9999-12-31', '2000-02-29'])
})

describe('measures stand beside the geometry', () => {
  test.each([
    ['points-m', [4.25, undefined]],
    ['points-zm', [4.25, undefined]],
    [
      'lines-zm',
      [
        [
          [1, 2.5],
          [null, 4, 5],
        ],
      ],
    ],
    ['polygons-m', [[[10, 12, 11, 10]]]],
    ['polygons-zm', [[[10, 12, 11, 10]]]],
  ])('%s', async (name, expected) => {
    expect((await members(name)).map(({ m }) => m)).toEqual(expected)
  })
})

test('a hole in a ring, both running the wrong way, is a hole', async () => {
  const [{ geometry } = {}] = await members('reversed')
  const outer = [
    [0, 0],
    [10, 0],
    [10, 10],
    [0, 10],
    [0, 0],
  ]
  expect(geometry).toEqual({
    type: 'Polygon',
    coordinates: [
      outer,
      [
        [3, 3],
        [3, 5],
        [5, 5],
        [5, 3],
        [3, 3],
      ],
    ],
  })
})

test('numbers are written as JavaScript writes them', () => {
  const near = fc
    .tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: 0, max: 12 }))
    .map(([a, b]) => a / 10 ** b)
  const any = fc.double({ noNaN: true, noDefaultInfinity: true })
  fc.assert(
    fc.property(fc.oneof(any, near, fc.double({ min: -180, max: 180, noNaN: true })), (value) => {
      const out = new JsonText(1)
      out.number(value)
      expect(Buffer.from(out.bytes.subarray(0, out.at)).toString()).toBe(String(value))
    }),
    { numRuns: 5000 },
  )
})

/** Squares in squares: even depths are land, odd depths water. */
interface Square {
  readonly x: number
  readonly y: number
  readonly size: number
  readonly inner: readonly Square[]
}

const side = fc.double({ min: 0.1, max: 0.9, noNaN: true })
const squares: fc.Arbitrary<Square> = fc.letrec<{ square: Square; many: Square }>((tie) => ({
  square: fc.oneof({ maxDepth: 5 }, squareOf(fc.constant([])), tie('many')),
  many: squareOf(fc.array(tie('square'), { maxLength: 3 })),
})).many

function squareOf(inner: fc.Arbitrary<Square[]>): fc.Arbitrary<Square> {
  return fc.tuple(inner, side).map(([squares, at]) => ({ x: at, y: 1 - at, size: 1, inner: squares }))
}

interface Placed {
  readonly ring: readonly number[]
  readonly depth: number
  readonly parent: number
}

/** The rings of a square whose corner is at (x, y), each inner one in a column of its own. */
function place(
  square: Square,
  at: { x: number; y: number; size: number; depth: number; parent: number },
  out: Placed[],
): void {
  const { x, y, size, depth, parent } = at
  const clockwise = [x, y, x, y + size, x + size, y + size, x + size, y, x, y]
  const counter = [x, y, x + size, y, x + size, y + size, x, y + size, x, y]
  const index = out.push({ ring: depth % 2 === 0 ? clockwise : counter, depth, parent }) - 1
  const width = size / (square.inner.length + 1)
  for (const [i, inner] of square.inner.entries()) {
    const side = width * 0.6
    place(
      inner,
      {
        x: x + width * (i + 0.5) + 0.05 * width,
        y: y + side * inner.y * 0.5 + 0.01 * size,
        size: side,
        depth: depth + 1,
        parent: index,
      },
      out,
    )
  }
}

test('rings nested in any way and order are grouped as they were nested', () => {
  fc.assert(
    fc.property(squares, fc.integer(), (square, seed) => {
      const placed: Placed[] = []
      place(square, { x: -20, y: -10, size: 30, depth: 0, parent: -1 }, placed)
      const order = placed.map((_, i) => i).toSorted((a, b) => Math.sin(seed + a) - Math.sin(seed + b))
      const xy = Float64Array.from(order.flatMap((i) => placed[i]?.ring ?? []))
      const rings = order.map((_, place) => ringOf(xy, 5 * place, 5 * place + 5))
      const groups = run(groupRings(xy, rings, 1e6))
      const found = groups.map((group) => group.map((ring) => order[rings.indexOf(ring)] ?? -1).toSorted(ascending))
      const expected = placed.flatMap(({ depth }, i) => {
        if (depth % 2 === 1) return []
        return [[i, ...placed.flatMap(({ parent }, child) => (parent === i ? [child] : []))].toSorted(ascending)]
      })
      expect(sorted(found)).toEqual(sorted(expected))
    }),
    { numRuns: 300 },
  )
})

const ascending = (a: number, b: number): number => a - b

function sorted(groups: readonly unknown[]): unknown[] {
  return groups.map((group) => JSON.stringify(group)).toSorted()
}

function run(steps: Generator<void, readonly (readonly Ring[])[] | undefined>): readonly (readonly Ring[])[] {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value ?? []
  }
}

test('rings that would take too long to group are given up, and others have their turn before', () => {
  // A comb whose teeth pass every hole.
  const teeth = 3000
  const comb = Array.from({ length: teeth }, (_, i) => [i / 100, i % 2 === 0 ? 0 : 80]).flat()
  const outer = [
    ...comb.toReversed().flatMap((_, i, all) => (i % 2 === 0 ? [all[i + 1] ?? 0, all[i] ?? 0] : [])),
    ...comb.slice(-2),
  ]
  const hole = (i: number): number[] => [
    50,
    10 + i / 100,
    50.001,
    10 + i / 100,
    50.001,
    10.001 + i / 100,
    50,
    10 + i / 100,
  ]
  const coordinates = [...outer, ...Array.from({ length: 2000 }, (_, i) => hole(i)).flat()]
  const xy = Float64Array.from(coordinates)
  const first = outer.length / 2
  const rings = [
    { ...ringOf(xy, 0, first), area: -1e9 },
    ...Array.from({ length: 2000 }, (_, i) => ringOf(xy, first + 4 * i, first + 4 * i + 4)),
  ]
  const steps = groupRings(xy, rings, 5e6)
  let turns = 0
  for (; ; turns++) {
    const { done, value } = steps.next()
    if (done !== true) continue
    expect(value).toBeUndefined()
    break
  }
  expect(turns).toBeGreaterThan(10)
})

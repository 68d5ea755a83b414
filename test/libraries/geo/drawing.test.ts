// Geometries as a picture: true to scale in its middle, all within it, as few strokes as it shows.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draw, pictureWidth, type Shape } from '../../../src/libraries/geo/drawing.ts'
import { geometryOf } from '../../../src/libraries/geo/geometry.ts'

const geometry = (type: string, coordinates: unknown) => geometryOf(JSON.stringify({ type, coordinates }))
const joined = (shapes: readonly Shape[] = []): string => shapes.map(({ path }) => path).join('')
const numbers = (path: string): number[][] =>
  [...path.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)])

describe('a picture of geometries', () => {
  it('has one scale both ways in its middle, west on the left and north above', () => {
    const cross = geometry('MultiLineString', [
      [
        [9, 60],
        [11, 60],
      ],
      [
        [10, 59.5],
        [10, 60.5],
      ],
    ])
    const drawing = draw([cross], [])
    const [west = [], east = [], south = [], north = []] = numbers(joined(drawing?.lines))
    const [wide, high] = [(east[0] ?? 0) - (west[0] ?? 0), (south[1] ?? 0) - (north[1] ?? 0)]
    // At 60° a degree of longitude is half as long as one of latitude.
    expect(wide / high).toBeCloseTo(1, 2)
    expect(wide).toBeGreaterThan(200)
    expect([west[1], north[0]]).toEqual([east[1], pictureWidth / 2])
    expect(drawing?.bounds).toEqual([9, 59.5, 11, 60.5])
  })

  it('holds every position, wherever it lies', () => {
    const position = fc.tuple(
      fc.double({ min: -180, max: 360, noNaN: true }),
      fc.double({ min: -90, max: 90, noNaN: true }),
    )
    fc.assert(
      fc.property(fc.array(position, { minLength: 1, maxLength: 30 }), (positions) => {
        const drawing = draw([geometry('MultiPoint', positions)], [])
        if (drawing === undefined) return false
        const dots = numbers(joined(drawing.points))
        const isWithin = ([x = -1, y = -1]: number[]): boolean =>
          x >= 0 && x <= pictureWidth && y >= 0 && y <= drawing.height
        return dots.length >= 1 && dots.length <= positions.length && dots.every(isWithin)
      }),
    )
  })

  it('draws what is smaller than a pixel as a dot, and dots of one pixel once', () => {
    const speck = [
      [
        [50, 10],
        [50.0001, 10],
        [50, 10.0001],
        [50, 10],
      ],
    ]
    const drawing = draw(
      [
        geometry('Polygon', speck),
        geometry('MultiPoint', [
          [50, 10],
          [0, 0],
          [0, 0.0001],
        ]),
      ],
      [],
    )
    expect([drawing?.areas, numbers(joined(drawing?.points)).length]).toEqual([[], 2])
    // Each dot is of the feature that had it first.
    expect(drawing?.points.map(({ feature }) => feature)).toEqual([0, 1])
  })

  it('keeps holes, members of collections and shapes beyond the antimeridian', () => {
    const square = (from: number, to: number) => [
      [from, from],
      [to, from],
      [to, to],
      [from, to],
      [from, from],
    ]
    const holed = geometry('Polygon', [square(0, 30), square(10, 20)])
    const many = geometry('MultiPolygon', [[square(0, 30)], [square(40, 60), square(45, 50)]])
    const all = geometryOf(
      JSON.stringify({
        type: 'GeometryCollection',
        geometries: [
          { type: 'Polygon', coordinates: [square(0, 30)] },
          { type: 'Point', coordinates: [355, 5] },
          {
            type: 'LineString',
            coordinates: [
              [0, 0],
              [20, 20],
            ],
          },
        ],
      }),
    )
    expect(joined(draw([holed], [])?.areas).split('Z').length).toBe(3)
    expect(joined(draw([many], [])?.areas).split('Z').length).toBe(4)
    const drawing = draw([all], [square(-10, 10)])
    expect([drawing?.points, drawing?.lines, drawing?.areas].map((shapes) => joined(shapes).length > 0)).toEqual([
      true,
      true,
      true,
    ])
    expect(drawing?.land.split('Z').length).toBe(3)
  })

  it('has the land behind large pictures alone, and none without positions', () => {
    const land = [
      [
        [0, 0],
        [10, 0],
        [10, 10],
        [0, 0],
      ],
    ]
    expect(
      draw(
        [
          geometry('MultiPoint', [
            [0, 0],
            [20, 20],
          ]),
        ],
        land,
      )?.land,
    ).not.toBe('')
    expect(
      draw(
        [
          geometry('MultiPoint', [
            [0, 0],
            [0.1, 0.1],
          ]),
        ],
        land,
      )?.land,
    ).toBe('')
    const far = land.map((ring) => ring.map(([x = 0, y = 0]) => [x + 100, y]))
    const corners = [
      [0, 0],
      [20, 20],
    ]
    expect(draw([geometry('MultiPoint', corners)], far)?.land).toBe('')
    expect(draw([geometry('Point', [])], land)).toBeUndefined()
    expect(draw([], land)).toBeUndefined()
  })
})

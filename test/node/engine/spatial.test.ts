// Geometries in statements: whether they meet a box (against GEOS), bounds, well-known text (against the engine's own
// reader of it), and what happens to texts that are no geometry.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { boundsOf, geometryOf, intersectsBox, pointOf, wktOf } from '../../../src/libraries/geo/geometry.ts'
import { sample } from '../../helpers/samples.ts'
import { ask, askWhole, refusal, useBench, usePlainEngine } from './helpers.ts'

interface BoxCase {
  readonly box: [number, number, number, number]
  readonly meets: readonly number[]
}

const cases: readonly BoxCase[] = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/spatial/boxes.json'), 'utf8'),
)
const countries: readonly string[] = JSON.parse(sample('countries.geojson').toString()).features.map(
  ({ geometry }: { geometry: object }) => JSON.stringify(geometry),
)

test('countries meet the boxes that GEOS says they meet', () => {
  const geometries = countries.map(geometryOf)
  for (const { box, meets } of cases) {
    const found = geometries.flatMap((geometry, index) => (intersectsBox(geometry, box) ? [index] : []))
    expect({ box, meets: found }).toEqual({ box, meets })
  }
})

describe('a box', () => {
  const ring = '[[0,0],[10,0],[10,10],[0,10],[0,0]]'
  const hole = '[[2,2],[2,8],[8,8],[8,2],[2,2]]'
  const donut = `{"type":"Polygon","coordinates":[${ring},${hole}]}`
  test.each([
    ['touches an edge', donut, [10, 5, 12, 6], true],
    ['touches a corner', donut, [10, 10, 12, 12], true],
    ['lies in the hole', donut, [4, 4, 5, 5], false],
    ['lies on the edge of the hole', donut, [8, 4, 8, 4], true],
    ['lies inside', donut, [1, 1, 1.5, 1.5], true],
    ['lies around', donut, [-1, -1, 11, 11], true],
    ['is beside', donut, [10.000001, 0, 11, 1], false],
    ['is passed by a line', '{"type":"LineString","coordinates":[[0,0],[10,10]]}', [0, 9, 1, 10], false],
    ['is cut by a line', '{"type":"LineString","coordinates":[[0,0],[10,10]]}', [4, 5, 5, 6], true],
    ['holds one of many', '{"type":"MultiPoint","coordinates":[[50,50],[3,4]]}', [3, 4, 3, 4], true],
    ['meets a part of a collection', `{"type":"GeometryCollection","geometries":[${donut}]}`, [0, 0, 1, 1], true],
    ['crosses the antimeridian', '{"type":"Point","coordinates":[-179,0]}', [170, -10, -170, 10], true],
    ['crosses it elsewhere', '{"type":"Point","coordinates":[0,0]}', [170, -10, -170, 10], false],
    ['meets nothing of an empty collection', '{"type":"GeometryCollection","geometries":[]}', [0, 0, 1, 1], false],
  ] as const)('%s', (_, text, box, expected) => {
    expect(intersectsBox(geometryOf(text), box)).toBe(expected)
  })

  test('is met exactly: a line half a unit in the last place away is not', () => {
    // The line passes the corner (1, 1) of the box; moved by one ulp it does not.
    const line = (y: number): string => `{"type":"LineString","coordinates":[[0,${y}],[${y},0]]}`
    expect(intersectsBox(geometryOf(line(2)), [1, 1, 3, 3])).toBe(true)
    expect(intersectsBox(geometryOf(line(2 - 2 ** -52)), [1, 1, 3, 3])).toBe(false)
  })
})

test.each([
  ['{"type":"Point","coordinates":[1.5,-2,7]}', 'POINT Z (1.5 -2 7)', [1.5, -2, 1.5, -2]],
  ['{"type":"Point","coordinates":[]}', 'POINT EMPTY', undefined],
  ['{"coordinates":[[1,2],[3,4]],"type":"LineString"}', 'LINESTRING (1 2, 3 4)', [1, 2, 3, 4]],
  ['{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}', 'MULTIPOINT (1 2, 3 4)', [1, 2, 3, 4]],
  [
    '{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{"type":"Point","coordinates":[0,9]}]}',
    'GEOMETRYCOLLECTION (POINT (1 2), POINT (0 9))',
    [0, 2, 1, 9],
  ],
] as const)('%s is %s', (text, wkt, bounds) => {
  const geometry = geometryOf(text)
  expect([wktOf(geometry), boundsOf(geometry)]).toEqual([wkt, bounds])
})

test('only a point has an x', () => {
  expect(pointOf(geometryOf('{"type":"Point","coordinates":[3,4]}'))).toEqual([3, 4])
  expect(pointOf(geometryOf('{"type":"MultiPoint","coordinates":[[3,4]]}'))).toBeUndefined()
})

const plain = usePlainEngine()

test('the engine reads our well-known text back, and prints the same bounds', async () => {
  for (const text of countries) {
    const wkt = wktOf(geometryOf(text))
    expect(await plain('SELECT ST_AsText(CAST($1::VARCHAR AS GEOMETRY))', wkt)).toBe(wkt)
  }
})

describe('in statements', () => {
  const bench = useBench()

  test('the functions answer, nulls stay null, and a proof is possible', async () => {
    const sql = `
      SELECT st_x(g), st_y(g), st_xmax(g), st_astext(g), st_intersects(g, 0, 0, 5, 5), bbox(g, 8, 8, 9, 9)
      FROM (VALUES ('{"type":"Point","coordinates":[3,4]}'), (NULL)) AS t(g)`
    const answer = await askWhole(bench.engine, sql, { reproducible: true })
    expect(JSON.parse(Buffer.from(answer.data).toString())).toEqual([
      [3, 4, 3, 'POINT (3 4)', true, false],
      [null, null, null, null, null, null],
    ])
  })

  test('points are made of the very doubles, and a proof is possible', async () => {
    const numbers = [0.1, 1e-7, 5e-324, 59.91, 2 ** -30, -179.99999999999997, 90]
    const made = numbers.map((number) => `st_point(${number}::DOUBLE, ${number / 2}::DOUBLE)`)
    const answer = await askWhole(bench.engine, `SELECT ${made.join(', ')}`, { reproducible: true })
    const [row] = JSON.parse(Buffer.from(answer.data).toString()) as string[][]
    expect(row?.map((text) => JSON.parse(text).coordinates)).toEqual(numbers.map((number) => [number, number / 2]))
    const back = `SELECT st_x(st_point(10.75, 59.91)), st_geometrytype(st_point(10.75, 59.91)), st_point(1, NULL)`
    expect(await ask(bench.engine, back)).toBe('[[10.75,"Point",null]]')
  })

  test('coordinates are the doubles that JSON reads', async () => {
    const texts = [
      '{"type":"Point","coordinates":[0.1000000000000000055511151231257827,1e-400]}',
      '{"type":"MultiPoint","coordinates":[[-1.7976931348623157e308,2.5],[9007199254740993,-7.25]]}',
      ...countries.slice(0, 20),
    ]
    for (const text of texts) {
      const positions = JSON.stringify(JSON.parse(text).coordinates)
      const flat: number[] = JSON.parse(`[${positions.replaceAll(/[[\]]/g, '')}]`)
      const [xs, ys] = [0, 1].map((axis) => flat.filter((_, at) => at % 2 === axis))
      const bounds = [xs, ys].flatMap((axis = []) => [Math.min(...axis), Math.max(...axis)])
      const sql = `SELECT st_xmin(g), st_xmax(g), st_ymin(g), st_ymax(g), st_geometrytype(g) FROM (SELECT '${text}' AS g)`
      expect(JSON.parse(await ask(bench.engine, sql))).toEqual([[...bounds, JSON.parse(text).type]])
    }
  })

  test.each(['361, 0', '0, 91', "'nan', 0", "0, 'inf'"])('st_point(%s) is an error of the caller', async (numbers) => {
    expect((await refusal(ask(bench.engine, `SELECT st_point(${numbers})`))).kind).toBe('SqlValue')
  })

  test('a function that there is not names those that there are', async () => {
    const error = await refusal(ask(bench.engine, 'SELECT ST_Distance(g, g) FROM (SELECT 1 AS g)'))
    expect([error.kind, error.details.hint, error.details.candidates]).toEqual([
      'SqlUnknownName',
      expect.stringContaining('/ogc/collections/{account}:{dataset}/items?bbox='),
      expect.arrayContaining(['bbox', 'st_astext', 'st_geometrytype', 'st_intersects', 'st_point', 'st_x', 'st_ymin']),
    ])
  })

  test.each([
    'no json',
    '{"type":"Point"}',
    '{"type":"Circle","coordinates":[1,2]}',
    '[1,2]',
    '{"type":"Point","coordinates":["1",2]}',
  ])('%s is an error of the caller', async (text) => {
    const error = await refusal(ask(bench.engine, `SELECT st_x(g) FROM (VALUES ('${text}')) AS t(g)`))
    expect([error.kind, error.message]).toEqual(['SqlValue', expect.stringContaining('not a GeoJSON geometry')])
    expect(await ask(bench.engine, 'SELECT 1')).toBe('[[1]]')
  })

  test('deep nesting harms nothing', async () => {
    const deep = `SELECT st_x('{"type":"Point","coordinates":' || repeat('[', 1000000) || repeat(']', 1000000) || '}')`
    expect((await refusal(ask(bench.engine, deep))).kind).toBe('SqlValue')
    expect(await ask(bench.engine, 'SELECT 1')).toBe('[[1]]')
  })
})

// CQL2 text → SQL: what is taken, and where faults are.

import { describe, expect, test } from 'vitest'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { type Field, optional } from '../../../src/libraries/model/schema.ts'
import { type FilterTarget, sqlOfCql2 } from '../../../src/features/ogc/cql2.ts'

const fields: readonly Field[] = [
  { name: 'speed', type: { kind: 'Float64' } },
  { name: 'Name', type: optional({ kind: 'String' }) },
  { name: 'is "odd"', type: { kind: 'Bool' } },
  { name: 'tags', type: { kind: 'List', itemType: { kind: 'String' } } },
]
const target: FilterTarget = {
  fields,
  geometry: 'geometry',
  intersects: ({ west, south, east, north }) => `MEETS(${west} ${south} ${east} ${north})`,
}

test.each([
  ['speed >= 10.5', '("speed" >= 10.5)'],
  ["SPEED<>-1e3 and name='it''s'", `(("speed" <> -1e3) AND ("Name" = 'it''s'))`],
  [
    "name LIKE 'A%' OR NOT name NOT LIKE '_b'",
    `(("Name" LIKE 'A%' ESCAPE '\\') OR (NOT ("Name" NOT LIKE '_b' ESCAPE '\\')))`,
  ],
  ['speed BETWEEN 1 AND 2 AND speed NOT IN (3, 4)', '(("speed" BETWEEN 1 AND 2) AND ("speed" NOT IN (3, 4)))'],
  ['name IS NULL OR name IS NOT NULL', '(("Name" IS NULL) OR ("Name" IS NOT NULL))'],
  ['"is ""odd"""', '("is ""odd""")'],
  ['"is ""odd""" = TRUE', '("is ""odd""" = true)'],
  ["name < TIMESTAMP('2026-01-01T00:00:00Z')", `("Name" < CAST('2026-01-01T00:00:00Z' AS TIMESTAMPTZ))`],
  ["name = DATE('2026-01-01')", `("Name" = CAST('2026-01-01' AS DATE))`],
  ['S_INTERSECTS(geometry, BBOX(5, 58, 12, 64))', 'MEETS(5 58 12 64)'],
  ['s_intersects("geometry",bbox(5,58,-10,12,64,9000)) and speed=1', '(MEETS(5 58 12 64) AND ("speed" = 1))'],
  ['((speed = 1))', '((("speed" = 1)))'],
])('%s', (text, sql) => {
  expect(sqlOfCql2(text, target)).toBe(sql)
})

describe('a fault', () => {
  test.each([
    ['speed >', 'at its end', 'a column or a value'],
    ['speed ! 1', "at '! 1'", 'Nothing of CQL2'],
    ['altitude = 1', "at 'altitude = 1'", "no column 'altitude'"],
    ["name = 'open", "at ''open'", 'Nothing of CQL2'],
    ['speed = 1 speed = 2', "at 'speed = 2'", 'AND, OR or the end'],
    ['speed NOT = 1', "at '= 1'", 'LIKE, BETWEEN or IN'],
    ['upper(name) = 1', "at 'upper(name)", 'not known'],
    ['tags = 1', "at 'tags", 'lists'],
    ['S_INTERSECTS(speed, BBOX(1,2,3,4))', "at 'speed,", 'the column geometry'],
    ['S_INTERSECTS(geometry, BBOX(1,2,3))', '', 'BBOX has 4 numbers'],
    ['S_INTERSECTS(geometry, BBOX(1,9,3,4))', '', 'BBOX has 4 numbers'],
    ['S_INTERSECTS(geometry, LINESTRING(1 2,3 4))', "at 'LINESTRING", 'BBOX('],
    ['S_INTERSECTS(POINT(1 2), BBOX(1,2,3,4))', "at 'BBOX", 'compares the column'],
  ])('%s', (text, place, why) => {
    let message = ''
    try {
      sqlOfCql2(text, target)
    } catch (error) {
      if (error instanceof NodeError) message = `${error.kind}: ${error.message}`
    }
    expect(message).toMatch(/^InvalidParameter: filter/)
    expect(message).toContain(place)
    expect(message).toContain(why)
  })

  test('of depth', () => {
    const deep = `${'NOT '.repeat(100)}speed = 1`
    expect(() => sqlOfCql2(deep, target)).toThrow(/nests more than 64/)
  })
})

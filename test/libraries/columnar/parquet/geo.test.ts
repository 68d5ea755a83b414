// GeoParquet: geometries are those that shapely reads, in longitude and latitude alone (test/fixtures/parquet/make.py).

import { describe, expect, test } from 'vitest'
import { NodeError } from '../../../../src/libraries/base/errors.ts'
import { fixture, open, readAll } from './parquet-helper.ts'

async function geometries(name: string): Promise<{ name: string; type: string; values: unknown[] }> {
  const file = await open(fixture(name))
  const columns = await readAll(fixture(name))
  const { name: column = '', type = '', values = [] } = columns[file.geometry ?? -1] ?? {}
  return { name: column, type, values: values.map((text) => (text === null ? null : JSON.parse(String(text)))) }
}

const expected = (name: string): unknown => JSON.parse(new TextDecoder().decode(fixture(`${name}.json`)))

describe('geometries are those of shapely', () => {
  test('WKB, in CRS84', async () => {
    const found = await geometries('geo-wkb.parquet')
    expect(found).toEqual({ name: 'geometry', type: 'String?', values: expected('geo-wkb') })
  })

  test('WKB, in EPSG:4326, under another name', async () => {
    expect(await geometries('geo-4326.parquet')).toEqual({
      name: 'the_geom',
      type: 'String?',
      values: expected('geo-wkb'),
    })
  })

  for (const type of ['point', 'linestring', 'polygon', 'multipoint', 'multilinestring', 'multipolygon']) {
    test(`the native encoding ${type}`, async () => {
      expect((await geometries(`geo-native-${type}.parquet`)).values).toEqual(expected(`geo-native-${type}`))
    })
  }
})

test('another coordinate system is refused with the command that reprojects', async () => {
  for (const [name, shown] of [
    ['geo-3857.parquet', 'EPSG:3857'],
    ['geo-no-crs.parquet', 'null'],
  ] as const) {
    const file = await open(fixture(name))
    const error = file.refused.get(file.geometry ?? -1)
    expect(error).toBeInstanceOf(NodeError)
    expect(error).toMatchObject({
      kind: 'UnsupportedCrs',
      message: expect.stringContaining(shown),
      details: { hint: expect.stringContaining('ogr2ogr -t_srs EPSG:4326') },
    })
  }
})

test('the geometries of DuckDB are read, whether by geo metadata or by their type', async () => {
  for (const version of ['v1', 'v2']) {
    const columns = await readAll(fixture(`geo-duckdb-${version}.parquet`))
    expect(columns.map(({ type }) => type)).toEqual(['String?', 'String?'])
    expect(columns.map(({ values }) => values)).toEqual([
      ['{"type":"Point","coordinates":[1,2]}', null],
      ['{"type":"LineString","coordinates":[[0,0,1],[1,1,2]]}', null],
    ])
  }
})

// GeoParquet read by hyparquet, and by GeoPandas where python3 has it: the geometries, their bounds, and what the file says.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { describe, expect, test } from 'vitest'
import { createColumnBuilder } from '../../../../src/libraries/columnar/arrow/column-builder.ts'
import { concatBytes, utf8 } from '../../../../src/libraries/base/bytes.ts'
import { NodeError } from '../../../../src/libraries/base/errors.ts'
import type { Column } from '../../../../src/libraries/model/schema.ts'
import { parquet } from '../../../../src/libraries/columnar/outputs/parquet/format.ts'

const geometries = [
  { type: 'Point', coordinates: [1.5, 2] },
  {
    type: 'LineString',
    coordinates: [
      [0, 0],
      [1, 1.25],
    ],
  },
  {
    type: 'Polygon',
    coordinates: [
      [
        [0, 0],
        [4, 0],
        [4, 4],
        [0, 0],
      ],
      [
        [1, 1],
        [2, 1],
        [2, 2],
        [1, 1],
      ],
    ],
  },
  {
    type: 'MultiPoint',
    coordinates: [
      [1, 2],
      [3, 4],
    ],
  },
  {
    type: 'MultiLineString',
    coordinates: [
      [
        [1, 2],
        [3, 4],
      ],
      [
        [5, 6],
        [7, 8],
      ],
    ],
  },
  {
    type: 'MultiPolygon',
    coordinates: [
      [
        [
          [0, 0],
          [4, 0],
          [4, 4],
          [0, 0],
        ],
      ],
      [
        [
          [10, 10],
          [14, 10],
          [14, 14],
          [10, 10],
        ],
      ],
    ],
  },
  { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [1, 2] }] },
  { type: 'Point', coordinates: [-179.5, -89.25, 3.5] },
  { type: 'Point', coordinates: [] },
  null,
]

function textColumn(name: string, texts: readonly (string | null)[]): Column {
  const builder = createColumnBuilder({ name, type: { kind: 'Option', inner: { kind: 'String' } } })
  for (const text of texts) {
    if (text === null) builder.appendNull()
    else builder.appendBytes(utf8(text), 0, utf8(text).length)
  }
  return builder.finish()
}

function fileOf(
  texts: readonly (string | null)[],
  names: readonly string[] = ['geometry'],
  asked?: string,
): Uint8Array {
  const columns = names.map((name) => ({ name, type: { kind: 'String' as const }, means: 'value' as const }))
  const options = { escapeFormulas: false, geometry: asked }
  const writer = parquet.begin(columns, options, { compress: zstdCompressSync })
  const batch = { rows: texts.length, columns: names.map((name) => textColumn(name, texts)) }
  return concatBytes([...(texts.length === 0 ? [] : writer.rows(batch)), ...writer.end()])
}

const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) }
const texts = geometries.map((one) => (one === null ? null : JSON.stringify(one)))
const geoOf = (bytes: Uint8Array): { columns: Record<string, Record<string, unknown>> } | undefined => {
  const { key_value_metadata: entries = [] } = parquetMetadata(new Uint8Array(bytes).buffer)
  const value = entries.find(({ key }) => key === 'geo')?.value
  return value === undefined ? undefined : JSON.parse(value)
}

describe('a column of geometry', () => {
  test('is read by hyparquet as the same geometries, with bounds beside', async () => {
    const bytes = fileOf(texts)
    const rows = await parquetReadObjects({ file: new Uint8Array(bytes).buffer, compressors })
    // An empty Point of WKB has coordinates that are no numbers.
    const read = geometries.map((one) =>
      one?.coordinates?.length === 0 ? { ...one, coordinates: [Number.NaN, Number.NaN] } : one,
    )
    expect(rows.map((row) => row['geometry'] ?? null)).toEqual(read)
    expect(rows.map((row) => row['bbox'] ?? null).slice(5)).toEqual([
      { xmin: 0, ymin: 0, xmax: 14, ymax: 14 },
      { xmin: 1, ymin: 2, xmax: 1, ymax: 2 },
      { xmin: -179.5, ymin: -89.25, xmax: -179.5, ymax: -89.25 },
      { xmin: Infinity, ymin: Infinity, xmax: -Infinity, ymax: -Infinity },
      null,
    ])
    expect(geoOf(bytes)).toMatchObject({
      version: '1.1.0',
      primary_column: 'geometry',
      columns: {
        geometry: {
          encoding: 'WKB',
          bbox: [-179.5, -89.25, 3.5, 14, 14, 3.5],
          covering: { bbox: { xmin: ['bbox', 'xmin'], ymax: ['bbox', 'ymax'] } },
        },
      },
    })
  })

  test('is one even without rows, and by any name that is asked for', () => {
    expect(geoOf(fileOf([]))?.columns['geometry']).toMatchObject({ geometry_types: [] })
    expect(geoOf(fileOf(texts, ['shape'], 'shape'))?.columns).toHaveProperty('shape')
    expect(geoOf(fileOf(texts, ['shape']))).toBeUndefined()
    expect(
      geoOf(fileOf(['{"type":"Point","coordinates":[1,2]}'], ['geometry', 'bbox']))?.columns['geometry'],
    ).toMatchObject({
      covering: { bbox: { xmin: ['geometry_bbox', 'xmin'] } },
    })
  })

  test('of WKT stays text; a text that is no geometry among others is refused', () => {
    expect(geoOf(fileOf(['POINT (1 2)']))).toBeUndefined()
    for (const bad of [
      'POINT (1 2)',
      '{"type":"Point"}',
      '{"type":"Point","coordinates":["1",2]}',
      '[]',
      '{"type":"toString"}',
    ]) {
      expect(() => fileOf([texts[0] ?? '', bad])).toThrow(NodeError)
    }
  })
})

const script = `
import json, sys, geopandas as gpd, shapely
path, expected = sys.argv[1], json.loads(sys.argv[2])
read = gpd.read_parquet(path)
assert str(read.crs) == 'OGC:CRS84', read.crs
for a, b in zip(expected, read.geometry):
    assert (a is None and b is None) or shapely.equals(shapely.geometry.shape(a), b), (a, b)
print(len(read), len(gpd.read_parquet(path, bbox=(9, 9, 20, 20))))
`
const hasGeoPandas = spawnSync('python3', ['-c', 'import geopandas, pyarrow']).status === 0

test.skipIf(!hasGeoPandas)('is read by GeoPandas, which skips rows by their bounds', () => {
  const directory = mkdtempSync(join(tmpdir(), 'proofstream-geoparquet-'))
  const path = join(directory, 'a.parquet')
  writeFileSync(path, fileOf(texts))
  const { stdout, stderr } = spawnSync('python3', ['-c', script, path, JSON.stringify(geometries)])
  rmSync(directory, { recursive: true })
  expect([stdout.toString().trim(), stderr.toString()]).toEqual(['10 1', ''])
})

const validator = spawnSync('geoparquet-validator', ['--help']).status === 0

test.skipIf(!validator)('is what the GeoParquet validator calls conformant', () => {
  const directory = mkdtempSync(join(tmpdir(), 'proofstream-geoparquet-'))
  const path = join(directory, 'a.parquet')
  const verdicts = [texts, texts.slice(0, 3), []].map((some) => {
    writeFileSync(path, fileOf(some))
    const { status, stdout } = spawnSync('geoparquet-validator', ['check', path])
    return [status, ...(stdout.toString().match(/^ *FAIL.*$/gm) ?? [])]
  })
  rmSync(directory, { recursive: true })
  expect(verdicts).toEqual([[0], [0], [0]])
})

// URLs of a live node in the hands of those who read such files: pandas, polars, pyarrow over fsspec, GeoPandas, DuckDB,
// where python3 has them (pip install pandas polars pyarrow fsspec aiohttp geopandas; duckdb-extensions and
// duckdb-extension-httpfs); skipped elsewhere.

import { spawn, spawnSync } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

const script = `
import json, sys
import fsspec, geopandas as gpd, pandas as pd, polars as pl, pyarrow.parquet as pq
base = sys.argv[1]
url = base + '/acme/readings/export?format='
places = base + '/acme/places/export?format='
parquet = url + 'parquet'
query = base + '/query?format=parquet&query=select+n+from+acme.readings+where+n+%25+2+%3D+0'

def remote():
    file = pq.ParquetFile(fsspec.filesystem('http').open(parquet))
    groups = [file.read_row_group(group, columns=['n'])['n'].to_pylist() for group in reversed(range(file.num_row_groups))]
    return [file.metadata.num_rows, sum(map(sum, groups))]

def places_of(frame):
    return [len(frame), str(frame.crs.to_epsg() or frame.crs), frame.geometry.x.sum(), frame.geometry.y.sum()]

told = {
    'pandas': [len(pd.read_parquet(parquet)), int(pd.read_parquet(parquet, columns=['n'])['n'].sum())],
    'pandas csv': int(pd.read_csv(url + 'csv')['n'].sum()),
    'polars': [len(pl.read_parquet(parquet)), pl.scan_parquet(parquet).select(pl.col('n').sum()).collect().item()],
    'polars filter': pl.scan_parquet(parquet).filter(pl.col('n') >= 150000).select(pl.len()).collect().item(),
    'polars arrow': int(pl.read_ipc_stream(url + 'arrow')['n'].sum()),
    'pyarrow': remote(),
    'query': pl.scan_parquet(query).select(pl.len()).collect().item(),
    'geopandas': places_of(gpd.read_parquet(places + 'parquet')),
    'geopandas box': len(gpd.read_parquet(places + 'parquet', bbox=(0, 0, 9.5, 90))),
    'geopandas geojson': places_of(gpd.read_file(places + 'geojson')),
}
print(json.dumps(told))
`

const modules = 'import aiohttp, fsspec, geopandas, pandas, polars, pyarrow'
const hasReaders = spawnSync('python3', ['-c', modules]).status === 0

test.skipIf(!hasReaders)('pandas, polars, pyarrow and GeoPandas read a dataset by its URL', async () => {
  const live = await liveNode({ 'anonymous-read': true })
  const rows = 200_000
  const lines = Array.from({ length: rows }, (_, n) => ({ n, name: `reading ${n % 1000}` }))
  for (let at = 0; at < rows; at += 50_000) {
    await live.ingest('acme/readings', lines.slice(at, at + 50_000), '?create=true&visibility=public')
  }
  const features = Array.from({ length: 60 }, (_, i) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [i, i / 2] },
    properties: { i },
  }))
  await live.call('/acme/places/ingest?create=true&visibility=public', {
    method: 'POST',
    headers: { 'content-type': 'application/geo+json', prefer: 'wait=20' },
    body: JSON.stringify({ type: 'FeatureCollection', features }),
  })
  const python = spawn('python3', ['-W', 'ignore', '-c', script, live.node.url])
  const [out, problems] = await Promise.all([text(python.stdout), text(python.stderr)])
  expect(problems).toBe('')
  const sum = (rows * (rows - 1)) / 2
  const places = (crs: string): unknown[] => [60, crs, 1770, 885]
  expect(JSON.parse(out)).toEqual({
    pandas: [rows, sum],
    'pandas csv': sum,
    polars: [rows, sum],
    'polars filter': 50_000,
    'polars arrow': sum,
    pyarrow: [rows, sum],
    query: rows / 2,
    geopandas: places('OGC:CRS84'),
    'geopandas box': 10,
    'geopandas geojson': places('4326'),
  })
})

const duckdbScript = `
import json, sys, duckdb
from duckdb_extensions import import_extension
import_extension('httpfs')
db = duckdb.connect()
db.execute('set enable_progress_bar = false')
db.sql('load httpfs')
url = sys.argv[1] + '/acme/readings/export?format='
read = ["read_parquet('%sparquet')", "read_csv('%scsv')", "read_json('%sndjson', format='newline_delimited')"]
print(json.dumps([db.sql(f'select count(*), sum(n)::int from {one % url}').fetchone() for one in read]))
`
const hasDuckDb = spawnSync('python3', ['-c', 'import duckdb, duckdb_extensions']).status === 0

test.skipIf(!hasDuckDb)('DuckDB reads a dataset by its URL, Parquet in parts', async () => {
  const live = await liveNode({ 'anonymous-read': true })
  const rows = Array.from({ length: 30_000 }, (_, n) => ({ n, name: `reading ${n % 1000}` }))
  await live.ingest('acme/readings', rows, '?create=true&visibility=public&integers=int64')
  const python = spawn('python3', ['-c', duckdbScript, live.node.url])
  const [out, problems] = await Promise.all([text(python.stdout), text(python.stderr)])
  expect(problems).toBe('')
  const whole = [30_000, (30_000 * 29_999) / 2]
  expect(JSON.parse(out)).toEqual([whole, whole, whole])
})

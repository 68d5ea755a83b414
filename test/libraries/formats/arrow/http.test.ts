// Arrow over HTTP: a stream makes a dataset, a file is added to it, whatever its media type says; what was sent is answered.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type LiveNode, liveNode } from '../../../helpers/live-node.ts'

const folder = join(import.meta.dirname, '../../../fixtures')
const fixture = (name: string): Buffer => readFileSync(join(folder, name))
const live = await liveNode()

function post(path: string, body: Uint8Array, headers: Record<string, string> = {}): ReturnType<LiveNode['call']> {
  const type = { 'content-type': 'application/vnd.apache.arrow.stream', prefer: 'wait=20' }
  return live.call(path, { method: 'POST', headers: { ...type, ...headers }, body })
}

test('a stream and a file become rows with their types', async () => {
  const made = await post('/acme/readings/ingest?create=true', fixture('ingest/arrow/readings.arrows'))
  expect([made.status, made.at('mediaType')]).toEqual([200, 'application/vnd.apache.arrow.stream'])
  const file = gzipSync(fixture('ingest/arrow/readings-file.arrow'))
  const added = await post('/acme/readings/ingest', file, {
    'content-type': 'application/vnd.apache.arrow.file',
    'content-encoding': 'gzip',
  })
  expect([added.status, added.at('records.committed')]).toEqual([200, 2])
  const rows = await live.query(
    `select station, level, "count", price, seen, tags, event_time from "acme/readings" order by "offset"`,
  )
  // As text: parsed JSON would not have every digit.
  const first = '["north",0.5,9007199254740993,"150.00","01:02:03","[\\"a\\",null]","2024-02-29T12:00:00.005Z"]'
  expect(rows.text).toContain(first)
  expect(rows.at('output.data.2')).toEqual(rows.at('output.data.0'))
  expect(rows.at('output.data.3.0')).toBe('süd')
})

test.each([
  // A column of times that lacks some is asked about.
  ['polars.arrow', 3, '&eventTime=received'],
  ['duckdb.arrows', 20, ''],
  ['nanoarrow.arrows', 3, ''],
])('what another writer made becomes a dataset: %s', async (name, count, more) => {
  const path = `/acme/${name.replace('.', '-')}`
  const made = await post(`${path}/ingest?create=true&timeZone=UTC${more}`, fixture(`arrow/${name}`))
  expect(made.status).toBe(200)
  const rows = await live.query(`select count(*) from "${path.slice(1)}"`)
  expect(rows.at('output.data.0.0')).toBe(count)
})

test('every type of column fits a new dataset; finer times than it holds are cut and told', async () => {
  const made = await post(
    '/acme/types/ingest?create=true&dryRun=true&timeZone=UTC&eventTime=received',
    fixture('arrow/types-zstd.arrow'),
  )
  expect(made.status).toBe(200)
  expect(String(made.at('warnings'))).toContain("'instant_ns'")
})

test('a fault of the body is told with column and batch, and nothing is stored', async () => {
  const cut = await post('/acme/cut/ingest?create=true', fixture('ingest/arrow/cut-off.arrows'))
  expect([cut.status, cut.at('error.kind')]).toEqual([400, 'MalformedBody'])
  const refused = await post('/acme/cut/ingest?create=true', fixture('arrow/refused-duration.arrows'))
  expect([refused.status, refused.at('error.kind')]).toEqual([415, 'UnsupportedEncoding'])
  const json = { 'content-type': 'application/json' }
  await post('/acme/around/ingest?create=true', Buffer.from('{"fine":7}'), json)
  const around = await post('/acme/around/ingest?unknownFields=ignore', fixture('arrow/refused-duration.arrows'))
  expect([around.status, around.at('records.committed')]).toEqual([200, 1])
  const adding = await post('/acme/around/ingest?unknownFields=add', fixture('arrow/refused-duration.arrows'))
  expect([adding.status, adding.at('error.kind')]).toEqual([415, 'UnsupportedEncoding'])
  const narrow = await post('/acme/readings/ingest', fixture('arrow/nanoarrow.arrows'))
  expect([narrow.status, narrow.at('error.kind')]).toEqual([422, 'RecordsDoNotFit'])
  expect((await live.call('/acme/cut/metadata')).status).toBe(404)
})

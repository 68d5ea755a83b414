// Files of columns as other programs write them, with values that mean something else here, or nothing: each is stored the
// same, refused with its place, or warned of. Written by pyarrow; skipped, loudly, where python3 has it not.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type Answer, liveNode } from '../../helpers/live-node.ts'

const hasArrow = spawnSync('python3', ['-c', 'import pyarrow']).status === 0
if (!hasArrow) console.warn('NOT RUN: files of columns of other programs need pyarrow')

const script = `
import sys, datetime, pyarrow as pa, pyarrow.parquet as pq
folder = sys.argv[1]
def save(name, table, keys={}):
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), **keys})
    pq.write_table(table, f'{folder}/{name}.parquet')
    with pa.OSFile(f'{folder}/{name}.arrow', 'wb') as out, pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
days = pa.table({'d': pa.array([-141428, 0], pa.date32())})
later = pa.table({'d': pa.array([-141427, None], pa.date32())})
moments = pa.table({'t': pa.array([-12219292800000001, 0], pa.timestamp('us', 'UTC'))})
inside = pa.table({'l': pa.array([[0], [-141428]], pa.list_(pa.date32()))})
spark = {'org.apache.spark.version': '3.2.0'}
legacy = {**spark, 'org.apache.spark.legacyDateTime': ''}
for name, keys in {'spark3': spark, 'legacy': legacy, 'spark2': {'org.apache.spark.version': '2.4.6'},
        'older': {'org.apache.spark.sql.parquet.row.metadata': '{}'}, 'hive': {'writer.date.proleptic': 'false'},
        'proleptic': {'writer.date.proleptic': 'true'}, 'none': {}}.items():
    save(f'days-{name}', days, keys)
def by_parquet_mr(name, keys):
    save(name, days, keys)
    path = f'{folder}/{name}.parquet'
    data = open(path, 'rb').read()
    open(path, 'wb').write(data.replace(b'parquet-cpp-arrow version', b'parquet-mr version 1.10.1'))
by_parquet_mr('days-mr', {})
by_parquet_mr('days-avro', {'parquet.avro.schema': '{}'})
save('later-legacy', later, legacy)
save('moments-legacy', moments, legacy)
save('inside-legacy', inside, legacy)
fine = pa.array([1704067200123456789, None, 1704067200000001000], pa.timestamp('ns', 'UTC'))
save('nanos', pa.table({'t': fine, 'event_time': fine}))
save('offset', pa.table({'offset': pa.array([7, 8]), 'v': pa.array(['a', 'b'])}))
save('nested', pa.table({'l': pa.array([[1, 2], None]), 's': pa.array([{'a': 1}, None]), 'plain': pa.array([1, 2])}))
save('clock', pa.table({'t': pa.array([datetime.time(1, 2, 3), None], pa.time64('us')), 'u': pa.array([1, 2])}))
`
const folder = mkdtempSync(join(tmpdir(), 'proofstream-foreign-'))
const made = hasArrow ? spawnSync('python3', ['-c', script, folder]).stderr.toString() : ''
afterAll(() => rmSync(folder, { recursive: true }))

const mediaTypes = { parquet: 'application/vnd.apache.parquet', arrow: 'application/vnd.apache.arrow.stream' } as const

describe.runIf(hasArrow)('a file of columns', async () => {
  test('is made', () => expect(made).toBe(''))
  const live = await liveNode()
  const post = (alias: string, name: string, form: keyof typeof mediaTypes, query = '?create=true'): Promise<Answer> =>
    live.call(`/${alias}/ingest${query}`, {
      method: 'POST',
      headers: { 'content-type': mediaTypes[form], prefer: 'wait=20' },
      body: readFileSync(join(folder, `${name}.${form}`)),
    })
  const rows = async (sql: string): Promise<unknown> => (await live.query(sql)).at('output.data')

  test.each(['days-legacy', 'days-spark2', 'days-older', 'days-hive', 'days-mr', 'moments-legacy'])(
    'with days of a calendar that is not certain is refused with its record: %s',
    async (name) => {
      const answer = await post(`old/${name}`, name, 'parquet')
      expect([answer.refusal, answer.at('errors.0.record'), answer.at('errors.0.kind')]).toEqual([
        '422 RecordsDoNotFit',
        0,
        'OutOfRange',
      ])
      expect(answer.at('message')).toMatch(/before 15 October 1582, written by .*(Spark|Hive)/)
    },
  )

  test('with such days inside of lists is refused too', async () => {
    const answer = await post('old/inside', 'inside-legacy', 'parquet')
    expect(answer.status).toBe(400)
    expect(answer.at('message')).toContain('before 15 October 1582, written by Spark 3.2.0')
  })

  test.each(['days-spark3', 'days-proleptic', 'days-avro', 'days-none'])(
    'with days of our calendar keeps them: %s',
    async (name) => {
      expect((await post(`new/${name}`, name, 'parquet')).at('status')).toBe('committed')
      expect(await rows(`select d from "new/${name}" order by d`)).toEqual([['1582-10-14'], ['1970-01-01']])
    },
  )

  test('of an old writer keeps days on which both calendars agree', async () => {
    expect((await post('new/later', 'later-legacy', 'parquet')).at('status')).toBe('committed')
    expect(await rows('select d from new.later order by d')).toEqual([['1582-10-15'], [null]])
  })

  test.each(['parquet', 'arrow'] as const)(
    'with times finer than its columns is cut as text is, and warns: %s',
    async (form) => {
      const answer = await post(`fine/${form}`, 'nanos', form)
      expect(answer.at('warnings')).toEqual(
        expect.arrayContaining([
          "Times of 't' are kept in microseconds; finer digits were cut off (record 0).",
          "Times of 'event_time' are kept in milliseconds; finer digits were cut off (2 times, first in record 0).",
        ]),
      )
      const text = await live.call(`/fine/${form}-text/ingest?create=true`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=20' },
        body: '{"t":"2024-01-01T00:00:00.123456789Z"}\n{"t":null}\n{"t":"2024-01-01T00:00:00.000001Z"}\n',
      })
      expect(text.at('warnings.0')).toBe("Times of 't' are kept in microseconds; finer digits were cut off (record 0).")
      const both = [`fine/${form}`, `fine/${form}-text`].map((alias) =>
        rows(`select t from "${alias}" order by "offset"`),
      )
      const [ofFile, ofText] = await Promise.all(both)
      expect(ofFile).toEqual([['2024-01-01T00:00:00.123456Z'], [null], ['2024-01-01T00:00:00.000001Z']])
      expect(ofText).toEqual(ofFile)
    },
  )

  test.each(['parquet', 'arrow'] as const)(
    'with a column offset is told the ways in, which lead there: %s',
    async (form) => {
      const answer = await post(`kafka/${form}`, 'offset', form)
      expect([answer.refusal, answer.at('errors.0.kind')]).toEqual(['422 RecordsDoNotFit', 'ReservedColumn'])
      const vocab = JSON.parse(/\{"vocab":.*\}/.exec(String(answer.at('hint')))?.[0] ?? '{}')
      expect((await live.call(`/kafka/${form}`, { method: 'PUT', json: vocab })).status).toBe(201)
      expect((await post(`kafka/${form}`, 'offset', form, '?unknownFields=add')).at('status')).toBe('committed')
      expect(await rows(`select "row", "offset", v from "kafka/${form}" order by "row"`)).toEqual([
        [0, 7, 'a'],
        [1, 8, 'b'],
      ])
    },
  )

  test.each(['parquet', 'arrow'] as const)('with lists and structs warns that they are text: %s', async (form) => {
    const answer = await post(`nested/${form}`, 'nested', form)
    expect(answer.at('warnings')).toEqual(
      ['l', 's'].map((name) => `Column '${name}' holds structs, lists or maps; they are stored as JSON text.`),
    )
    expect(await rows(`select l, s from "nested/${form}" order by "offset"`)).toEqual([
      ['[1,2]', '{"a":1}'],
      [null, null],
    ])
  })

  test.each(['parquet', 'arrow'] as const)('with times of day warns that they are text: %s', async (form) => {
    const answer = await post(`clock/${form}`, 'clock', form)
    expect(answer.at('warnings')).toEqual(["Column 't' holds times of day; they are stored as text."])
    expect(await rows(`select t from "clock/${form}" order by "offset"`)).toEqual([['01:02:03'], [null]])
  })

  test('with several columns of geometries warns of those that are no geometry of the dataset', async () => {
    const answer = await live.call('/maps/two/ingest?create=true', {
      method: 'POST',
      headers: { 'content-type': mediaTypes.parquet, prefer: 'wait=20' },
      body: readFileSync('test/fixtures/parquet/geo-duckdb-v1.parquet'),
    })
    expect(answer.at('warnings')).toEqual(["Column 'h' holds geometries; they are stored as GeoJSON text."])
  })
})

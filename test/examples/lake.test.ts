// The examples for lake engines, and the Python of docs/lake.md: what they print of a dataset is what /query says of it. PyIceberg
// and DuckDB where python3 has them, as in test/features/iceberg/engines.test.ts; Spark where it has pyspark 3.5, with Java, and Maven for
// the two jars (pip install pyspark==3.5.7); skipped elsewhere.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { blockOf } from '../helpers/page-blocks.ts'
import { liveNode, type LiveNode } from '../helpers/live-node.ts'
import { mavenJars, missingJava, missingMaven } from '../helpers/maven-jars.ts'
import { runCommand } from '../helpers/run-node.ts'
import { run } from './run.ts'

const root = new URL('../..', import.meta.url).pathname
const can = (code: string): boolean => spawnSync('python3', ['-c', code]).status === 0
const hasPyIceberg = can('import pyiceberg.catalog.rest, pyarrow')
const hasDuckDb = can(
  'import duckdb_extensions, duckdb_extension_iceberg, duckdb_extension_avro, duckdb_extension_httpfs',
)
const hasSpark =
  can("import pyspark; assert pyspark.__version__.startswith('3.5.')") &&
  missingJava() === undefined &&
  missingMaven() === undefined
const sparkMs = 600_000

let live: LiveNode
let env: Readonly<Record<string, string>>
let blocks: readonly number[] = []

/** Three days of readings, a block each, and a column that came on the third. */
async function fill(): Promise<void> {
  for (const day of [1, 2, 3]) {
    const rows = Array.from({ length: 24 }, (_, hour) => ({
      event_time: `2026-03-0${day}T${String(hour).padStart(2, '0')}:00:00Z`,
      sensor: `s${hour % 2}`,
      celsius: day * 10 + hour / 4,
      ...(day === 3 && { note: 'new' }),
    }))
    const answer = await live.ingest('demo/climate', rows, day === 1 ? '?create=true' : '?unknownFields=add')
    expect(answer.status).toBe(200)
  }
}

beforeAll(async () => {
  live = await liveNode()
  env = { SERVER: live.node.url, TOKEN: live.adminToken }
  await fill()
  const table = await live.call('/iceberg/v1/namespaces/demo/tables/climate')
  const snapshots = table.at('metadata.snapshots') as readonly Readonly<Record<string, unknown>>[] // of table metadata
  blocks = snapshots.map((one) => Number(one['snapshot-id']))
})

test.skipIf(!hasPyIceberg)('PyIceberg reads files that can hold what is asked for, at each block', async () => {
  const asked = ['examples/lake/read.py', 'demo.climate', "event_time >= '2026-03-02T12:00:00+00:00' and celsius > 24"]
  const { code, stdout, stderr } = await run('python3', ['-W', 'ignore', ...asked], { env })
  expect([code, stderr]).toEqual([0, ''])
  const counts = blocks.map((block, at) => `block ${block}: ${24 * (at + 1)} rows`)
  expect(stdout.trim().split('\n')).toEqual(['31 rows in 2 of 3 files', ...counts])
})

test.skipIf(!hasPyIceberg)('PyIceberg without a token is told what to write', async () => {
  const code = `from pyiceberg.catalog import load_catalog
load_catalog('lake', type='rest', uri='${live.node.url}/iceberg').list_namespaces()`
  const { stderr } = await run('python3', ['-W', 'ignore', '-c', code], { env: {} })
  expect(stderr).toContain("The token is the word None: give one, or to PyIceberg auth={'type': 'noop'}.")
})

describe.skipIf(!hasSpark)('Spark', () => {
  test('reads what /query says', { timeout: sparkMs }, async () => {
    const jars = await mavenJars(join(root, 'test/features/iceberg/pom.xml'), 'lake')
    const SPARK_JARS = readdirSync(jars)
      .map((jar) => join(jars, jar))
      .join(',')
    const sums = 'count(*), sum(celsius), min(`offset`)'
    const statements = [
      'SELECT sensor, count(*), sum(celsius) FROM lake.demo.climate GROUP BY sensor ORDER BY sensor',
      "SELECT count(*), min(celsius) FROM lake.demo.climate WHERE event_time >= timestamp '2026-03-02 12:00:00'",
      "SELECT count(*) FROM lake.demo.climate WHERE event_time = timestamp '2026-03-01 07:00:00'",
      "SELECT count(*) FROM lake.demo.climate WHERE system_time > timestamp '2000-01-01 00:00:00'",
      `SELECT ${sums} FROM lake.demo.climate VERSION AS OF ${blocks[1]}`,
      `SELECT ${sums} FROM lake.demo.climate VERSION AS OF ${blocks[0]}`,
      'SELECT count(note), max(note) FROM lake.demo.climate',
      'SELECT unix_millis(min(event_time)), unix_millis(max(event_time)) FROM lake.demo.climate',
      'SELECT snapshot_id, operation FROM lake.demo.climate.snapshots ORDER BY snapshot_id',
    ]
    const { code, stdout, stderr } = await run('python3', ['examples/lake/spark.py', ...statements], {
      env: { ...env, SPARK_JARS },
    })
    expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
    const ms = Date.parse
    expect(stdout.split('\n\n').slice(0, -1)).toEqual([
      's0\t36\t819.0\ns1\t36\t828.0',
      '36\t23.0',
      '1',
      '72',
      '48\t858.0\t0',
      '24\t309.0\t0',
      '24\tnew',
      `${ms('2026-03-01T00:00:00Z')}\t${ms('2026-03-03T23:00:00Z')}`,
      blocks.map((block) => `${block}\tappend`).join('\n'),
    ])
    const same = await live.query(
      'select sensor, count(*), sum(celsius) from demo.climate group by sensor order by sensor',
    )
    expect(same.at('output.data')).toEqual([
      ['s0', 36, 819],
      ['s1', 36, 828],
    ])
  })
})

const page = readFileSync(join(root, 'docs/lake.md'), 'utf8')
const shown = [...page.matchAll(/```python\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g)]

test('examples/lake/spark.py makes the settings that docs/lake.md shows for Spark', () => {
  const program = readFileSync(join(root, 'examples/lake/spark.py'), 'utf8')
  const settings = blockOf('docs/lake.md', 'spark.jars.packages').trim().split('\n')
  for (const setting of settings) {
    const [name = '', value = ''] = setting.split(/ +/)
    const parts = value.split(/[,:]|pst_…|http.*8080/).filter((part) => part !== '')
    for (const part of [name, ...parts]) expect(program).toContain(part)
  }
  expect(settings.length).toBeGreaterThan(5)
})

test('examples/lake/read.py says how it is called', async () => {
  const { code, stderr } = await run('python3', ['examples/lake/read.py'], { env })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('read.py us.earthquakes') })
})

test.skipIf(!hasPyIceberg || !hasDuckDb)('what docs/lake.md shows is printed, over what demo loads', async () => {
  const loaded = await runCommand(['demo'], {
    env: { PROOFSTREAM_SERVER: live.node.url, PROOFSTREAM_TOKEN: env['TOKEN'] ?? '' },
  })
  expect(loaded.code).toBe(0)
  expect(shown.length).toBeGreaterThan(1)
  for (const [, code = '', printed] of shown) {
    const python = code.replaceAll('http://127.0.0.1:8080', live.node.url)
    const ended = await run('python3', ['-W', 'ignore', '-c', python], { env })
    expect(ended).toEqual({ code: 0, stdout: printed, stderr: '' })
  }
})

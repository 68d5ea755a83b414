// A dataset of many small blocks as a table: merged files stand in the place of the slices that they hold, for who reads at
// the node. The same rows as /query gives in far fewer files, now and at blocks of the past, to PyIceberg and DuckDB where
// python3 has them (as in engines.test.ts), and to Spark (as in test/examples/lake.test.ts); a file that is gone is made again for who was told of it.

import { spawn, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sha256Hex } from '../../../src/libraries/base/ids/native-crypto.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { run } from '../../examples/run.ts'
import { startLiveNode, type LiveNode } from '../../helpers/live-node.ts'
import { mavenJars, missingJava, missingMaven } from '../../helpers/maven-jars.ts'

const script = String.raw`
import json, sys
import duckdb
from duckdb_extensions import import_extension
from pyiceberg.catalog import load_catalog

url, token, jobs = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
for name in ['avro', 'httpfs', 'iceberg']: import_extension(name)
db = duckdb.connect(config={'autoinstall_known_extensions': 'false'})
# Else what takes two seconds draws a bar into the output.
db.execute('set enable_progress_bar = false')
for name in ['avro', 'httpfs', 'iceberg']: db.sql(f'load {name}')
db.sql(f"create secret (type iceberg, token '{token}')")
db.sql(f"attach '' as lake (type iceberg, endpoint '{url}/iceberg')")
catalog = load_catalog('lake', type='rest', uri=url + '/iceberg', token=token)

def files(plan): return int(plan.split('Total Files Read:')[1].split()[0])

out = []
for table, snapshot, select in jobs:
    scan = catalog.load_table('acme.' + table).scan(snapshot_id=snapshot)
    db.register('seen', scan.to_arrow())
    at = f' at (version => {snapshot})' if snapshot else ''
    relation = f'lake.acme."{table}"{at}'
    py, duck = [[list(row) for row in db.sql(f'{select} from {of}').fetchall()] for of in ['seen', relation]]
    whole = db.sql(f'explain analyze select * from {relation}').fetchall()[0][1]
    out.append([py, duck, len(list(scan.plan_files())), files(whole)])
print(json.dumps(out))
`
const modules =
  'import duckdb_extensions, duckdb_extension_iceberg, duckdb_extension_avro, pyiceberg.catalog.rest, pyarrow'
const hasEngines = spawnSync('python3', ['-c', modules]).status === 0
const hasSpark =
  spawnSync('python3', ['-c', "import pyspark; assert pyspark.__version__.startswith('3.5.')"]).status === 0 &&
  missingJava() === undefined &&
  missingMaven() === undefined
const posts = 600
const windows = 2
const root = '/iceberg/v1/namespaces/acme/tables'

let dir: string
let live: LiveNode
/** Sequences of the blocks that brought rows. */
const blocks: number[] = []
const quick = { cut: { waitAgeMs: 1, openAgeMs: 1 } }

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'proofstream-lake-merged-'))
  live = await startLiveNode({ data: dir }, quick)
  for (let n = 0; n < posts; n++) {
    const at = new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString()
    const rows = [1, 2, 3].map((x) => ({
      event_time: at,
      n,
      // No whole number: the first batch decides the type.
      x: (n + 0.5) / 7 + x,
      city: `c${n % 5}`,
      ...(n >= 300 && { added: n }),
    }))
    const more = n === 0 ? '?create=true' : n === 300 ? '?unknownFields=add' : ''
    const posted = await live.ingest('acme/stream', rows, more)
    if (posted.status !== 200) throw new Error(posted.text)
    blocks.push(Number(posted.at('block.sequence')))
  }
  await live.query('select count(*) from "acme/stream"')
  while ((await mergedFiles()) < windows) await sleep(100)
})

afterAll(async () => {
  await live.stop()
  await rm(dir, { recursive: true, force: true })
})

async function mergedFiles(): Promise<number> {
  const folder = join(dir, 'cache', 'merged')
  const [dataset] = await readdir(folder).catch(() => [])
  return dataset === undefined ? 0 : (await readdir(join(folder, dataset))).filter((name) => name !== 'part').length
}

const sequenceOf = (slice: number): number => must(blocks[slice], 'a block')
const get = async (uri: string) => await live.call(uri.replace('s3:/', ''))

/** URI of the list of the newest snapshot of a table. */
async function listOf(table: string): Promise<string> {
  const snapshots = (await live.call(`${root}/${table}`)).at('metadata.snapshots') as readonly object[] // of table metadata
  return String(Object(snapshots.at(-1))['manifest-list'])
}

/** Names of manifests in a list, in order; of merged files without what is hashed of them. */
async function manifestsOf(table: string): Promise<readonly string[]> {
  const { text: list } = await get(await listOf(table))
  return (list.match(/[a-z]+-[-0-9a-f]+\.avro/g) ?? []).map((name) => name.replace(/-[0-9a-f]{64}/, ''))
}

test('a list has merged files up to its block, and slices behind them and inside of a range', async () => {
  expect(await manifestsOf('stream')).toEqual([
    'merged-0-256.avro',
    'merged-256-512.avro',
    'slices-512-599.avro',
    'added-599.avro',
  ])
  const behind = ['slices-256-400.avro', 'added-400.avro']
  expect(await manifestsOf(`stream@${sequenceOf(400)}`)).toEqual(['merged-0-256.avro', ...behind])
  // The slice that a snapshot added is told alone: in no merged file.
  expect(await manifestsOf(`stream@${sequenceOf(511)}`)).toEqual([
    'merged-0-256.avro',
    'slices-256-511.avro',
    'added-511.avro',
  ])
  expect(await manifestsOf(`stream@${sequenceOf(255)}`)).toEqual(['slices-0-255.avro', 'added-255.avro'])
})

test('who copies the table is told of slices alone', async () => {
  const metadata = String((await live.call(`${root}/stream`)).at('metadata-location'))
  const copied = await live.call(`${metadata.replace('s3:/', '')}?location=s3://lake/stream`)
  const names = copied.text.match(/s3:\/\/lake\/stream\/metadata\/snap-[^"]*/g) ?? []
  expect(names.length).toBe(100)
  expect(names.filter((name) => name.includes('merged'))).toEqual([])
  expect(copied.at('snapshots.99.summary.total-data-files')).toBe(String(posts))
  const list = (await listOf('stream')).replace('s3:/', '')
  expect((await live.call(`${list}?location=s3://lake/stream`)).refusal).toBe('404 ObjectNotFound')
  const early = list.replace(/snap-\d+/, `snap-${sequenceOf(100)}`)
  expect((await live.call(early)).refusal).toBe('404 ObjectNotFound')
})

test.skipIf(!hasEngines)(
  'engines read the same rows in fewer files, at blocks of the past as well',
  { timeout: 300_000 },
  async () => {
    const select =
      'select count(*), sum("offset")::bigint, sum(n)::bigint, max(x), min(city), epoch_ms(max(event_time))'
    const at = (slice: number): [string, null] => [`stream@${sequenceOf(slice)}`, null]
    const jobs = [['stream', null], at(200), at(400), at(550), ['stream', sequenceOf(560)]] as const
    const files = [2 + 88, 201, 1 + 145, 2 + 39, 2 + 49]
    const asked = JSON.stringify(jobs.map((job) => [...job, select]))
    const python = spawn('python3', ['-W', 'ignore', '-c', script, live.node.url, live.adminToken, asked])
    const [out, problems] = await Promise.all([text(python.stdout), text(python.stderr)])
    expect(problems).toBe('')
    const slices = [599, 200, 400, 550, 560]
    const expected = slices.map((slice, job) => {
      const n = slice + 1
      const sum = (slice * n) / 2
      const last = Date.UTC(2026, 0, 1, 0, slice)
      const rows = [[3 * n, (3 * n * (3 * n - 1)) / 2, 3 * sum, (slice + 0.5) / 7 + 3, 'c0', last]]
      return [rows, rows, files[job], files[job]]
    })
    expect(JSON.parse(out)).toEqual(expected)
    const answer = await live.query(`${select} from "acme/stream"`)
    expect(answer.at('output.data')).toEqual(must(expected[0], 'a row')[0])
  },
)

test.skipIf(!hasSpark)('Spark too, and finds what came between two blocks once', async () => {
  const root = new URL('../../..', import.meta.url).pathname
  const jars = await mavenJars(join(root, 'test/features/iceberg/pom.xml'), 'lake')
  const code = `
exec(open('${root}examples/lake/spark.py').read().split('for statement in')[0])
day = "event_time >= timestamp '2026-01-01 02:00:00' and event_time < timestamp '2026-01-01 03:00:00'"
for sql in ['select count(*), sum(n) from lake.acme.stream', 'select count(*), min(n) from lake.acme.stream where ' + day,
            'select count(*) from lake.acme.stream.files']:
    print(*spark.sql(sql).collect()[0])
between = {'start-snapshot-id': '${sequenceOf(520)}', 'end-snapshot-id': '${sequenceOf(540)}'}
rows = spark.read.format('iceberg').options(**between).load('lake.acme.stream')
print(*rows.selectExpr('count(*)', 'min(n)', 'max(n)').collect()[0])
`
  const SPARK_JARS = readdirSync(jars)
    .map((jar) => join(jars, jar))
    .join(',')
  const env = { SERVER: live.node.url, TOKEN: live.adminToken, SPARK_JARS }
  const { stdout, stderr, code: ended } = await run('python3', ['-c', code], { env })
  expect([ended, ended === 0 ? '' : stderr]).toEqual([0, ''])
  const all = `${3 * posts} ${(3 * posts * (posts - 1)) / 2}.0`
  expect(stdout.trim().split('\n')).toEqual([all, '180 120.0', String(2 + 88), '60 521.0 540.0'])
})

test(
  'a merged file that is gone is made again for who was told of it, and no other',
  {
    timeout: 120_000,
  },
  async () => {
    const { text: list } = await get(await listOf('stream'))
    const manifest = must(/merged-0-256-[0-9a-f]{64}/.exec(list)?.[0], 'a merged file')
    const folder = (await listOf('stream')).replace(/metadata\/.*/, '')
    const file = `${folder}data/${manifest}.parquet`
    const before = await get(file)
    expect([before.status, before.text.slice(0, 4)]).toEqual([200, 'PAR1'])
    const described = await get(`${folder}metadata/${manifest}.avro`)
    await live.stop()
    await rm(join(dir, 'cache', 'merged'), { recursive: true })
    live = await startLiveNode({ data: dir }, quick)
    const again = await get(file)
    expect(sha256Hex(again.bytes)).toBe(sha256Hex(before.bytes))
    expect((await get(`${folder}metadata/${manifest}.avro`)).text).toBe(described.text)
    const other = manifest.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
    for (const name of [other, manifest.replace('-256-', '-200-'), manifest.replace('0-256', '1-257')]) {
      expect((await get(`${folder}data/${name}.parquet`)).refusal).toBe('404 ObjectNotFound')
      expect((await get(`${folder}metadata/${name}.avro`)).refusal).toBe('404 ObjectNotFound')
    }
    // A name that is made up makes nothing.
    expect((await live.call('/metrics')).text).toMatch(/^proofstream_merged_files_made_total [12]$/m)
  },
)

// What PyIceberg and DuckDB read through the catalog of a live node: the rows that /query gives, at three blocks, and bounds
// that are those of the files. Where python3 has them (pip install 'pyiceberg[pyarrow]' duckdb-extension-iceberg
// duckdb-extension-avro duckdb-extension-httpfs, these of DuckDB's own version); skipped elsewhere.

import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { liveNode, type LiveNode } from '../../helpers/live-node.ts'
import { runCommand } from '../../helpers/run-node.ts'

const script = String.raw`
import json, sys
import duckdb, duckdb_extension_iceberg, pyarrow.compute as pc, pyarrow.parquet as pq
from duckdb_extensions import import_extension
from pyiceberg.catalog import load_catalog
from pyiceberg.conversions import from_bytes
from pyiceberg.table import StaticTable

url, token, jobs = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
for name in ['avro', 'httpfs', 'iceberg']: import_extension(name)
db = duckdb.connect(config={'autoinstall_known_extensions': 'false'})
# Else what takes two seconds draws a bar into the output.
db.execute('set enable_progress_bar = false')
for name in ['avro', 'httpfs', 'iceberg']: db.sql(f'load {name}')
db.sql(f"create secret (type iceberg, token '{token}')")
db.sql(f"attach '' as lake (type iceberg, endpoint '{url}/iceberg')")
catalog = load_catalog('lake', type='rest', uri=url + '/iceberg', token=token)

def rows(select, relation):
    return [list(row) for row in db.sql(f'select {select} from {relation} order by 1').fetchall()]

def duck(job, snapshot):
    name = 'lake.' + job['table'] + (f' at (version => {snapshot})' if snapshot else '')
    return rows(job['select'], name)

def py(job, snapshot):
    db.register('seen', catalog.load_table(job['table']).scan(snapshot_id=snapshot).to_arrow())
    return rows(job['select'], 'seen')

def wrong_bounds(job):
    table = catalog.load_table(job['table'])
    names = {field.field_id: field for field in table.schema().fields}
    told, wrong = 0, []
    for task in table.scan().plan_files():
        data = pq.read_table(table.io.new_input(task.file.file_path).open())
        for id, low in task.file.lower_bounds.items():
            field, told = names[id], told + 1
            column = data[field.name].cast(field_type(field)) if str(field.field_type).startswith('timestamp') else data[field.name]
            bounds = [from_bytes(field.field_type, b) for b in [low, task.file.upper_bounds[id]]]
            real = [plain(pc.min(column)), plain(pc.max(column))]
            if bounds != real or task.file.null_value_counts[id] != column.null_count: wrong.append([field.name, str(bounds), str(real)])
    return told, wrong

def field_type(field):
    import pyarrow as pa
    return pa.timestamp('us', tz='UTC')

def plain(scalar):
    value = scalar.value if hasattr(scalar, 'value') and str(scalar.type).startswith(('timestamp', 'date')) else scalar.as_py()
    return value

def files_read(job):
    plan = db.sql(f"explain analyze select * from lake.{job['table']} where {job['filter']}").fetchall()[0][1]
    read = int(plan.split('Total Files Read:')[1].split()[0])
    return [read, len(list(catalog.load_table(job['table']).scan(row_filter=job['filter']).plan_files()))]

def exported(job):
    seen = StaticTable.from_metadata(job['metadata']).scan().to_arrow()
    db.register('seen', seen)
    select = '"offset"::varchar, text, f64, money::varchar, day::varchar, epoch_us(fine)::varchar, hex(raw), tags::varchar'
    return [rows(select, 'seen') == rows(select, f"iceberg_scan('{job['dir']}')"), len(seen)]

out = []
for job in jobs:
    result = {}
    if 'select' in job:
        for snapshot in job['snapshots']:
            for name in job['engines']: result[f'{name} {snapshot}'] = (duck if name == 'duckdb' else py)(job, snapshot)
    if 'bounds' in job: result['told'], result['wrong'] = wrong_bounds(job)
    if 'filter' in job: result['files'] = files_read(job)
    if 'dir' in job: result['exported'] = exported(job)
    out.append(result)
print(json.dumps(out))
`
const modules =
  'import duckdb_extensions, duckdb_extension_iceberg, duckdb_extension_avro, pyiceberg.catalog.rest, pyarrow'
const hasEngines = spawnSync('python3', ['-c', modules]).status === 0

interface Job {
  readonly table?: string
  readonly select?: string
  readonly snapshots?: readonly (number | null)[]
  readonly engines?: readonly ('duckdb' | 'pyiceberg')[]
  readonly bounds?: true
  readonly filter?: string
  /** Of an export. */
  readonly dir?: string
  readonly metadata?: string
}

async function ask(live: LiveNode, jobs: readonly Job[]): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const python = spawn('python3', ['-W', 'ignore', '-c', script, live.node.url, live.adminToken, JSON.stringify(jobs)])
  const [out, problems] = await Promise.all([text(python.stdout), text(python.stderr)])
  expect(problems).toBe('')
  return JSON.parse(out)
}

const columns = {
  flag: 'Bool?',
  text: 'String?',
  i8: 'Int8?',
  i16: 'Int16?',
  i32: 'Int32?',
  i64: 'Int64?',
  f32: 'Float32?',
  f64: 'Float64?',
  small: 'Decimal(7,2)?',
  money: 'Decimal(15,4)?',
  huge: 'Decimal(38,10)?',
  day: 'Date?',
  at: 'Timestamp?',
  fine: 'Timestamp(Microsecond)?',
  raw: 'Binary?',
  tags: 'List(String?)?',
}
const unsigned = { u8: 'UInt8?', u16: 'UInt16?', u32: 'UInt32?', u64: 'UInt64?' }

/** A column as a text that DuckDB makes the same of what it and what pyarrow read. */
function asText([name, type]: readonly [string, string]): string {
  if (type.startsWith('Timestamp')) return `epoch_us("${name}")::varchar`
  return type === 'Binary?' ? `hex("${name}")` : `"${name}"::varchar`
}

function selectOf(types: Readonly<Record<string, string>>): string {
  return ['"offset"', 'op', 'epoch_us(system_time)::varchar', ...Object.entries(types).map(asText)].join(', ')
}

/** Row `n` of the datasets; every seventh has nulls. */
function rowOf(n: number): string {
  if (n % 7 === 3) return '{"event_time":"1969-12-31T00:00:00Z"}'
  const sign = n % 2 === 0 ? '-' : ''
  return (
    `{"event_time":"2026-01-0${1 + (n % 9)}T00:00:00Z","flag":${n % 2 === 0},"text":"ä${'x'.repeat(n)}","i8":${sign}${n},` +
    `"i16":${sign}${n * 300},"i32":${sign}${n * 20_000_000},"i64":${sign}${n}234567890123456,"f32":${n}.5,"f64":${sign}1e${n},` +
    `"small":"${sign}${n}.25","money":"${sign}${n}2345678.0001","huge":"${sign}${n}234567890123456789012345.0123456789",` +
    `"day":"${1950 + n}-02-03","at":"19${50 + (n % 50)}-12-31T23:59:59.999Z","fine":"2026-01-01T00:00:00.${123456 + n}Z",` +
    `"raw":"ff${n.toString(16).padStart(2, '0')}","tags":["a",null,"${n}"]}`
  )
}

async function create(live: LiveNode, alias: string, types: Readonly<Record<string, string>>): Promise<void> {
  const fields = Object.entries(types).map(([name, type]) => ({ name, type }))
  const made = await live.call(`/${alias}`, { method: 'PUT', json: { visibility: 'private', schema: { fields } } })
  expect(made.status).toBe(201)
}

async function post(live: LiveNode, alias: string, lines: readonly string[], query = ''): Promise<void> {
  const headers = { 'content-type': 'application/x-ndjson', prefer: 'wait=20' }
  const answer = await live.call(`/${alias}/ingest${query}`, { method: 'POST', headers, body: lines.join('\n') })
  expect([answer.status, answer.at('status')]).toEqual([200, 'committed'])
}

interface Block {
  readonly snapshot: number
  readonly hash: string
}

async function blocksOf(live: LiveNode, alias: string): Promise<readonly Block[]> {
  const table = await live.call(`/iceberg/v1/namespaces/${alias.replace('/', '/tables/')}`)
  const snapshots = table.at('metadata.snapshots') as readonly Readonly<Record<string, unknown>>[] // of table metadata
  return snapshots.map((one) => ({
    snapshot: Number(one['snapshot-id']),
    hash: String(Object(one['summary'])['odf.block-hash']),
  }))
}

/** What /query gives of a dataset at a block, by snapshot and engine. */
async function expectedOf(live: LiveNode, alias: string, job: Job): Promise<Readonly<Record<string, unknown>>> {
  const blocks = await blocksOf(live, alias)
  const { id } = (await live.call(`/${alias}`, { headers: { accept: 'application/json' } })).json as { id: string } // a DID
  const entries = (job.snapshots ?? []).map(async (snapshot) => {
    const { hash } = must(
      snapshot === null ? blocks.at(-1) : blocks.find((one) => one.snapshot === snapshot),
      'a block',
    )
    const answer = await live.query(`select ${job.select} from "${alias}" order by 1`, {
      datasets: [{ id, alias, blockHash: hash }],
    })
    expect(answer.status).toBe(200)
    return (job.engines ?? []).map((engine) => [`${engine} ${snapshot ?? 'None'}`, answer.at('output.data')] as const)
  })
  return Object.fromEntries((await Promise.all(entries)).flat())
}

test.skipIf(!hasEngines)('engines read the rows that /query gives, now and at blocks of the past', async () => {
  const live = await liveNode()
  await create(live, 'acme/types', columns)
  const lines = Array.from({ length: 60 }, (_, n) => rowOf(n + 1))
  for (let at = 0; at < 60; at += 20) await post(live, 'acme/types', lines.slice(at, at + 20))
  const added = '{"event_time":"2026-02-01T00:00:00Z","more":"new","text":"z"}'
  await post(live, 'acme/types', [added], '?unknownFields=add')
  await create(live, 'acme/unsigned', unsigned)
  const largest = '{"u8":255,"u16":65535,"u32":4294967295,"u64":18446744073709551615}'
  await post(live, 'acme/unsigned', ['{"u8":0,"u16":0,"u32":0,"u64":0}', largest])
  const [first, , third] = await blocksOf(live, 'acme/types')
  const snapshots = [null, must(first, 'a block').snapshot, must(third, 'a block').snapshot]
  const dir = await mkdtemp(join(tmpdir(), 'proofstream-lake-'))
  await writeFile(join(dir, 'token'), live.adminToken)
  const asked = ['--server', live.node.url, '--token-file', 'token', '--format', 'iceberg', '-o', 'lake']
  const made = await runCommand(['export', 'acme/types', ...asked], { cwd: dir })
  const jobs: Job[] = [
    { table: 'acme.types', select: selectOf(columns), snapshots, engines: ['duckdb', 'pyiceberg'] },
    { table: 'acme.unsigned', select: selectOf(unsigned), snapshots: [null], engines: ['duckdb'] },
    { table: 'acme.types', bounds: true },
    { table: 'acme.types', filter: '"offset" >= 45' },
    { table: 'acme.types', filter: "event_time >= '2026-01-20T00:00:00+00:00'" },
    { table: 'acme.types', filter: "text = 'z'" },
    { dir: join(dir, 'lake'), metadata: JSON.parse(made.stdout).metadata },
  ]
  const [types, unsignedRows, bounds, ...filters] = await ask(live, jobs)
  expect(types).toEqual(await expectedOf(live, 'acme/types', must(jobs[0], 'a job')))
  expect(unsignedRows).toEqual(await expectedOf(live, 'acme/unsigned', must(jobs[1], 'a job')))
  expect(bounds?.['wrong']).toEqual([])
  // Of 20 columns, two are floats and one is a list; the last file has values in two columns beside those of the system.
  expect(bounds?.['told']).toBe(3 * 17 + 6)
  expect(filters).toEqual([{ files: [2, 2] }, { files: [1, 1] }, { files: [1, 1] }, { exported: [true, 61] }])
})

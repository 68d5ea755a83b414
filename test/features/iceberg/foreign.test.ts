// Datasets that other ODF software wrote, with nested, unsigned and other types, as tables: DuckDB reads of the table what it
// reads of the slices themselves. Where python3 has its extension, as in engines.test.ts; skipped elsewhere.

import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { DatasetChain } from '../../../src/node/catalog/dataset-chain.ts'
import { Objects } from '../../../src/node/catalog/objects.ts'
import { manifestName, manifestRuns } from '../../../src/features/iceberg/manifests.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import type { MetadataEvent } from '../../../src/libraries/model/events.ts'
import { LakeTables } from '../../../src/features/iceberg/lake-tables.ts'
import { dataKey } from '../../../src/node/store/layout.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { type FixtureDataset, readFixtureDatasets } from '../../helpers/odf-fixtures.ts'

const script = `
import json, sys, duckdb
from duckdb_extensions import import_extension
for name in ['avro', 'iceberg']: import_extension(name)
db = duckdb.connect(config={'autoinstall_known_extensions': 'false'})
# Else what takes two seconds draws a bar into the output.
db.execute('set enable_progress_bar = false')
for name in ['avro', 'iceberg']: db.sql(f'load {name}')
out = {}
for name, dir, slices in json.loads(sys.stdin.read()):
    table, files = f"iceberg_scan('{dir}')", f'read_parquet({slices}, union_by_name=true)'
    columns = [row[0] for row in db.sql(f'describe select * from {table}').fetchall()]
    quoted = ['"' + column.replace('"', '""') + '"' for column in columns]
    select = ', '.join(f'({one})::varchar' for one in quoted)
    same = [db.sql(f'select {select} from {of} order by {quoted[0]}').fetchall() for of in [table, files]]
    differing = [column for at, column in enumerate(columns) if [r[at] for r in same[0]] != [r[at] for r in same[1]]]
    all = [row[0] for row in db.sql(f'describe select * from {files}').fetchall()]
    out[name] = [len(same[0]), differing, [column for column in all if column not in columns]]
print(json.dumps(out))
`
const modules = 'import duckdb_extensions, duckdb_extension_iceberg, duckdb_extension_avro'
const hasDuckDb = spawnSync('python3', ['-c', modules]).status === 0
const root = mkdtempSync(join(tmpdir(), 'proofstream-foreign-'))
afterAll(() => rmSync(root, { recursive: true }))

/** Where rows came from is nothing that a table knows; fixtures say it in forms of old. */
function withoutPosition(event: MetadataEvent): MetadataEvent {
  if (event.kind !== 'AddData' || event.newSourceState === undefined) return event
  return { ...event, newSourceState: { ...event.newSourceState, kind: 'odf/etag' } }
}

/** Writes the files of a dataset's table; undefined where it has no rows. */
async function writeTable({
  name,
  directory,
  blocks,
}: FixtureDataset): Promise<[string, string, string[]] | undefined> {
  const seed = must(blocks[0], 'a block').block.event
  const id = seed.kind === 'Seed' ? seed.datasetId : ''
  const chain = new DatasetChain({ id, alias: 'acme/foreign', log: 'x', partition: 0, visibility: 'public' })
  for (const { hash, block } of blocks) chain.apply(hash, { ...block, event: withoutPosition(block.event) })
  if (chain.slices.length === 0) return undefined
  const store = openMemoryStore()
  const slices = readdirSync(join(directory, 'data')).filter((file) => file.startsWith('f1620'))
  for (const hash of slices)
    await store.put(dataKey(id, hash), new Uint8Array(readFileSync(join(directory, 'data', hash))))
  const tables = new LakeTables(new Objects(store))
  const dir = join(root, name.replaceAll('/', '-'))
  for (const folder of ['data', 'metadata']) mkdirSync(join(dir, folder), { recursive: true })
  const last = must(chain.slices.at(-1), 'a slice')
  const names = manifestRuns(chain.slices.length - 1).map(manifestName)
  for (const file of [...names, `snap-${last.sequence}.avro`, `v${chain.headSequence}.metadata.json`]) {
    writeFileSync(
      join(dir, 'metadata', file),
      must(await tables.file(chain, file, { location: `file://${dir}`, isHere: false }), file),
    )
  }
  writeFileSync(join(dir, 'metadata/version-hint.text'), String(chain.headSequence))
  for (const slice of chain.slices.slice(0)) {
    const { sizeBytes, read } = await tables.dataFile(id, slice)
    writeFileSync(join(dir, 'data', `${slice.hash}.parquet`), await read(0, sizeBytes))
  }
  return [name, dir, chain.slices.slice(0).map(({ hash }) => join(directory, 'data', hash))]
}

test.skipIf(!hasDuckDb)('tables of foreign datasets have the values of their slices', async () => {
  const written = await Promise.all(readFixtureDatasets().map(writeTable))
  const tables = written.filter((one) => one !== undefined)
  expect(tables.length).toBeGreaterThan(5)
  const python = spawn('python3', ['-W', 'ignore', '-c', script])
  python.stdin.end(JSON.stringify(tables))
  const [out, problems] = await Promise.all([text(python.stdout), text(python.stderr)])
  expect(problems).toBe('')
  const told = JSON.parse(out) as Readonly<Record<string, unknown>> // what the script prints
  for (const [name] of tables) expect([name, told[name]]).toEqual([name, [expect.any(Number), [], []]])
})

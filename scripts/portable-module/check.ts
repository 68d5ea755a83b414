// Runs the module that build.sh made, and holds what it answers against what DuckDB 1.5.6 answers on a machine.
// Run: node scripts/portable-module/check.ts FOLDER   (that of duckdb.wasm and duckdb.mjs)

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** What Emscripten's glue gives of the module. */
interface Module {
  _ddb_open(memoryLimit: number): number
  _ddb_query(handle: number, sql: number): number
  _ddb_free(text: number): void
  _malloc(bytes: number): number
  _free(at: number): void
  UTF8ToString(at: number): string
  stringToUTF8(text: string, at: number, bytes: number): void
  lengthBytesUTF8(text: string): number
}

const folder = resolve(process.argv[2] ?? '.')
// Its shape is that of bridge.cpp.
const { default: create } = (await import(pathToFileURL(join(folder, 'duckdb.mjs')).href)) as {
  default(options: { wasmBinary: Uint8Array }): Promise<Module>
}
const module = await create({ wasmBinary: await readFile(join(folder, 'duckdb.wasm')) })

function textOf(text: string): number {
  const bytes = module.lengthBytesUTF8(text) + 1
  const at = module._malloc(bytes)
  module.stringToUTF8(text, at, bytes)
  return at
}

const handle = module._ddb_open(textOf('1GB'))

/** The rows of a statement, or `kind` of its error. */
function answerTo(sql: string): unknown {
  const asked = textOf(sql)
  const answer = module._ddb_query(handle, asked)
  const { rows, kind } = JSON.parse(module.UTF8ToString(answer)) as { rows?: unknown; kind?: string } // bridge.cpp
  module._free(asked)
  module._ddb_free(answer)
  return rows ?? kind
}

const cases: readonly (readonly [sql: string, answer: unknown])[] = [
  ["SET TimeZone = 'UTC'", []],
  ['PRAGMA version', [['v1.5.6', '069cc9f9b5', 'Variegata']]],
  ["SELECT date_trunc('day', TIMESTAMPTZ '2026-03-01 10:00:00+00')", [['2026-03-01 00:00:00+00']]],
  ["SELECT timezone('Europe/Berlin', TIMESTAMPTZ '2026-07-01 10:00:00+00')", [['2026-07-01 12:00:00']]],
  ["SELECT 'a' < 'B' COLLATE de", [['true']]],
  [`SELECT json_extract('{"a":[1,2,{"b":3}]}', '$.a[2].b')`, [['3']]],
  [`SELECT json_serialize_sql('SELECT 1') LIKE '%"error":false%'`, [['true']]],
  [
    'SELECT sum(i), sum(i * 0.1::DOUBLE), avg(sqrt(i)), fsum(1.0 / (i + 1)) FROM range(1000000) t(i)',
    [['499999500000', '49999950000.0', '666.6661664588418', '14.392726722865724']],
  ],
  ["COPY (SELECT i FROM range(1000) t(i)) TO 'made.parquet' (COMPRESSION zstd)", [['1000']]],
  ["SELECT count(*), sum(i) FROM read_parquet('made.parquet')", [['1000', '499500']]],
  ["SELECT 'x'::INT", 'Conversion'],
  ['SELECT * FROM nowhere', 'Catalog'],
  ['SELEC', 'Parser'],
  ['LOAD httpfs', 'Permission'],
]
for (const [sql, answer] of cases) assert.deepEqual(answerTo(sql), answer, sql)
console.log(`${cases.length} statements, as DuckDB 1.5.6 answers them.`)

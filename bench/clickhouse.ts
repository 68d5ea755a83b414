// ClickHouse beside a node, as the Python module chdb has it (`pip install chdb`; PEERS_PYTHON names the Python that has
// it): one INSERT of a file into a MergeTree table with one thread, in a process and a directory of its own.

import { execFileSync, spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bulkRows, type Kind, ndjson } from './bulk.ts'
import { fail, makeDataDir } from './machine.ts'

const python = process.env['PEERS_PYTHON'] ?? 'python3'
const program = fileURLToPath(new URL('./clickhouse.py', import.meta.url))
const structure =
  "id Int64, time DateTime64(3, 'UTC'), device String, temp Float64, humidity Int64, status String, note String"

/** What is missing on this machine, or undefined. */
export function missingClickHouse(): string | undefined {
  return spawnSync(python, ['-c', 'import chdb']).status === 0 ? undefined : `the module chdb of ${python}`
}

/** Time and CPU of the INSERT, in seconds, the start left out. */
export function clickHouseInsert(kind: Kind, path: string): { readonly seconds: number; readonly cpu: number } {
  const directory = makeDataDir()
  const form = kind === ndjson ? 'JSONEachRow' : 'CSVWithNames'
  const text = execFileSync(python, [program, path, form, structure, directory], { encoding: 'utf8' })
  rmSync(directory, { recursive: true, force: true })
  const result = JSON.parse(text) as { seconds: number; cpu: number; rows: number } // what the program prints
  if (result.rows !== bulkRows) fail('ClickHouse', `it has ${result.rows} rows`)
  return result
}

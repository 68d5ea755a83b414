// Programs that find their way through a node by its catalogue: SQLAlchemy's inspector, DuckDB's PostgreSQL extension, ADBC and ibis.
// What each finds is what HTTP answers. Skipped, loudly, where they are missing (pip install sqlalchemy "psycopg[binary]" duckdb
// duckdb-extensions duckdb-extension-postgres-scanner adbc-driver-postgresql pyarrow "ibis-framework[postgres]" packaging rich).

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { run } from '../examples/run.ts'
import { freePort } from '../helpers/free-port.ts'
import { liveNode } from '../helpers/live-node.ts'

const program = join(import.meta.dirname, 'postgres', 'analysts.py')

/** False, and said so, where python3 does not have them; an error where it must. */
function has(...modules: readonly string[]): boolean {
  const isThere = spawnSync('python3', ['-c', `import ${modules.join()}`]).status === 0
  if (!isThere && process.env['CI'] === 'true') throw new Error(`${modules.join()} of python3 is missing`)
  if (!isThere) console.warn(`NOT RUN: the PostgreSQL door with ${modules.join()} of python3, which is missing`)
  return isThere
}

const port = await freePort()
const live = await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
const begin = Date.parse('2026-03-01T00:00:00Z')
const rows = Array.from({ length: 20_000 }, (_, n) => ({
  event_time: new Date(begin + n * 15_000).toISOString(),
  n,
  word: n % 3 === 0 ? "it's" : `w${n % 5}`,
  celsius: n % 7 === 0 ? null : n / 8,
  ok: n % 2 === 0,
}))
await live.ingest('demo/hours', rows, '?create=true')
await live.ingest('Other/odd-Name.v2', [{ 'Mixed Case': 7, 'a "b"': 'é' }], '?create=true')

async function overHttp(sql: string): Promise<unknown[][]> {
  const answer = await live.query(sql)
  expect(answer.status).toBe(200)
  // `as`: rows of an answer are arrays.
  return answer.at('output.data') as unknown[][]
}
const expected = {
  tables: [
    ['Other', 'odd-Name.v2'],
    ['demo', 'hours'],
  ],
  days: await overHttp(
    'select cast(event_time as date)::varchar, count(*), sum(n)::bigint from demo.hours group by 1 order by 1',
  ),
  chosen: (
    await overHttp(`select count(*) from demo.hours where event_time >= '2026-03-02' and word in ('it''s', 'w1')`)
  )[0]?.[0],
  all: (await overHttp('select sum(n)::bigint from demo.hours'))[0]?.[0],
  odd: [[7, 'é']],
  write: '25006',
}
const names = ['offset', 'op', 'system_time', 'event_time', 'n', 'word', 'celsius', 'ok']

/** What a program finds, by name. */
async function found(name: string): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await run('python3', [program, name, String(port)])
  expect([code, stderr]).toEqual([0, ''])
  return Object.fromEntries(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  )
}
const typed = (types: readonly string[]): string[][] => names.map((name, at) => [name, types[at] ?? ''])

describe('the facts that HTTP answers are found', () => {
  test.skipIf(!has('sqlalchemy', 'psycopg'))('by SQLAlchemy', async () => {
    const types = ['BIGINT', 'INTEGER', 'TIMESTAMP', 'TIMESTAMP', 'BIGINT', 'TEXT', 'DOUBLE PRECISION', 'BOOLEAN']
    const columns = typed(types).map((one, at) => [...one, at > 3])
    expect(await found('sqlalchemy')).toEqual({ ...expected, columns, nothing: [[], [], [], []], after: 1 })
  })

  test.skipIf(!has('duckdb', 'duckdb_extension_postgres_scanner'))("by DuckDB's extension", async () => {
    const zoned = 'TIMESTAMP WITH TIME ZONE'
    const types = ['BIGINT', 'INTEGER', zoned, zoned, 'BIGINT', 'VARCHAR', 'DOUBLE', 'BOOLEAN']
    const columns = typed(types).map((one, at) => [...one, at > 3 ? 'YES' : 'NO'])
    expect(await found('duckdb')).toEqual({ ...expected, columns, write: 'InvalidInputException' })
  })

  test.skipIf(!has('adbc_driver_postgresql', 'pyarrow'))('by ADBC', async () => {
    const zoned = 'timestamp[us, tz=UTC]'
    const columns = typed(['int64', 'int32', zoned, zoned, 'int64', 'string', 'double', 'bool'])
    expect(await found('adbc')).toEqual({ ...expected, columns })
  })

  test.skipIf(!has('ibis.backends.postgres'))('by ibis', async () => {
    const zoned = "!timestamp('UTC', 6)"
    const columns = typed(['!int64', '!int32', zoned, zoned, 'int64', 'string', 'float64', 'boolean'])
    const { odd: _, ...others } = expected
    expect(await found('ibis')).toEqual({ ...others, columns, tables: [['demo', 'hours']] })
  })
})

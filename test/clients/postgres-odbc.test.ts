// psqlODBC, the driver of Excel, Power BI and Tableau on Windows, at the PostgreSQL door: as it is, with cursors at the server, and with
// values in the text. Rows beside what HTTP answers, lists of tables and columns, refusals. Skipped, loudly, where it is missing
// (apt-get install odbc-postgresql odbcinst; pip install pyodbc); not in CI.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { run } from '../examples/run.ts'
import { freePort } from '../helpers/free-port.ts'
import { liveNode } from '../helpers/live-node.ts'

const hasDriver = spawnSync('odbcinst', ['-q', '-d', '-n', 'PostgreSQL Unicode']).status === 0
const hasPyodbc = spawnSync('python3', ['-c', 'import pyodbc']).status === 0
const isThere = hasDriver && hasPyodbc
if (!isThere && process.env['CI'] === 'true') throw new Error('psqlODBC or pyodbc is missing')
if (!isThere) console.warn('NOT RUN: the PostgreSQL door with psqlODBC and pyodbc, which are missing')

const port = await freePort()
const live = await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
const count = 1_000
const begin = Date.UTC(2026, 0, 1)
const given = Array.from({ length: count }, (_, i) => ({
  n: i + 1,
  word: i % 10 === 0 && i > 0 ? null : `w${i + 1} "ö" '😀'`,
  f: i / 8,
  moment: new Date(begin + i * 60_000).toISOString(),
}))
await live.ingest('demo/all', given, '?create=true')
await live.ingest('zoo/Odd-Names', [{ 'Some Name': 'x', select: true }], '?create=true')
const whole = 'select n, word, f, moment::timestamptz as moment from "demo/all" order by n'
const types = `select 7::tinyint as a, 7::smallint as b, 7::integer as c, 18446744073709551615::ubigint as d, 1.5::float as e,
  -12345678.90::decimal(18, 2) as f, true as g, '\\x00\\xFF'::blob as h, date '2026-03-01' as i, time '10:00:00' as j,
  timestamp '2026-03-01 10:00:00.5' as k, uuid '00112233-4455-6677-8899-aabbccddeeff' as l, [1, 2] as m, null::integer as o`

/** What the program says, by name. */
async function told(settings: string): Promise<Record<string, unknown>> {
  const program = join(import.meta.dirname, 'postgres/odbc.py')
  const { code, stdout, stderr } = await run('python3', [program, String(port), settings, whole, types])
  expect([code, stderr]).toEqual([0, ''])
  const lines = stdout.trimEnd().split('\n')
  return Object.fromEntries(
    lines.map((line) => [line.split(': ', 1)[0], JSON.parse(line.slice(line.indexOf(': ') + 2))]),
  )
}

const system = [
  ['offset', 'int8', 0],
  ['op', 'int4', 0],
  ['system_time', 'timestamptz', 0],
]
const word = (n: number): string => `w${n} "ö" '😀'`
/** A bool is text to it, and a UUID has capitals. */
const read = {
  types: [
    [
      7,
      7,
      7,
      '18446744073709551615',
      1.5,
      '-12345678.90',
      '1',
      '00ff',
      '2026-03-01',
      '10:00:00',
      '2026-03-01T10:00:00.500000Z',
      '00112233-4455-6677-8899-AABBCCDDEEFF',
      '[1,2]',
      null,
    ],
  ],
  tables: [
    ['all', 'demo', 'all', 'TABLE'],
    ['all', 'zoo', 'Odd-Names', 'TABLE'],
  ],
  'tables by a pattern': [['all']],
  schemas: [['demo'], ['zoo']],
  columns: [...system, ['moment', 'timestamptz', 0], ['n', 'int8', 1], ['word', 'text', 1], ['f', 'float8', 1]],
  'a column with a low line': [['system_time']],
  'odd names': [
    ...system.map((column) => column.slice(0, 2)),
    ['event_time', 'timestamptz'],
    ['Some Name', 'text'],
    ['select', 'bool'],
  ],
  'primary keys': [],
  'foreign keys': [],
  statistics: [],
  values: [[5, word(5)]],
  doubles: [[8, word(8)]],
  decimals: [[13, word(13)]],
  times: [[3, word(3)]],
  nothing: [[11, null]],
  'column of a value': [['x', 1]],
  'odd rows': [['x', '1']],
  transaction: [[1], [2]],
  error: 'refused 42703',
  write: 'refused 25006',
  after: [[1]],
}

/** Its times have no zone: they are those of the session. */
const withoutFraction = (rows: unknown): unknown => JSON.parse(JSON.stringify(rows).replaceAll('.000Z"', 'Z"'))

describe.skipIf(!isThere)('psqlODBC', () => {
  test.each(['', 'UseDeclareFetch=1;Fetch=70', 'UseServerSidePrepare=0'])('with the settings %j', async (settings) => {
    const { whole: rows, ...others } = await told(settings)
    const answer = await live.query(whole, { limit: count })
    expect(answer.status).toBe(200)
    expect(rows).toEqual(withoutFraction(answer.at('output.data')))
    expect(rows).toHaveLength(count)
    expect(others).toEqual(read)
  })
})

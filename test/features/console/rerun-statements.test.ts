// What the engine for browsers can run, and what it says: of the statements of the corpus that a node signs it gets the
// same output, or cannot tell, and never another. Which it cannot run is a list, which docs/engines.md sums up.

import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PortableVerdict } from '../../../src/libraries/proof/rerun/verdict.ts'
import { hasBrowserEngine } from '../../helpers/browser-engine.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { EngineBench } from './rerun-bench.ts'
import {
  blockFreeStatements,
  exactStatements,
  pinnedStatements,
  randomStatement,
} from '../../node/engine/statement-corpus.ts'

const live = await liveNode({ 'anonymous-read': true })

/** Columns with times, of rows and of the system. */
const timesThatRun: readonly string[] = [
  'select offset, op, system_time, event_time from t',
  'select event_time from t order by event_time desc, offset limit 20',
  'select count(*) as n from t where event_time <= system_time',
  'select max(event_time) as newest, min(system_time) as oldest from t',
  'select a.offset from t a join t b on a.event_time = b.event_time and a.offset = b.offset',
  'select distinct system_time from t',
  'select system_time, count(*) as n from t group by system_time',
  'select offset, lag(event_time) over (order by offset) as before from t',
  'select avg(epoch_us(event_time)) as mean from t',
  'select coalesce(event_time, system_time) as at from t',
  "select strftime(event_time, '%Y') as year from t",
  "select count(*) as n from t where event_time > '2020-01-01'",
  "select count(*) as n from t where event_time > timestamptz '2020-01-01 00:00:00+00'",
  "select count(*) as n from t where event_time > timestamp '2020-01-01'",
  'select event_time::varchar as text from t',
  'select event_time::timestamp as local from t',
  "select '2020-01-01 00:00:00+00'::timestamptz as then",
  "select timestamp '2020-01-01 10:00:00' as then, date_trunc('hour', timestamp '2020-01-01 10:20:00') as hour",
  "select strptime('2020-01-01', '%Y-%m-%d') as day",
]
/** What only an extension does, which the module has not: it says so at once. */
const withoutExtension: readonly string[] = [
  "select date_trunc('day', event_time) as day, count(*) as n from t group by day",
  'select extract(year from event_time) as year from t',
  'select year(event_time) as year, hour(system_time) as hour from t',
  'select epoch_ms(event_time) as ms, epoch(system_time) as s from t',
  'select event_time::date as day from t',
  "select event_time at time zone 'UTC' as local from t",
  'select event_time - system_time as late from t limit 3',
  'select event_time + interval 1 day as later from t',
  'select time_bucket(interval 1 hour, event_time) as hour from t',
  "select date_diff('hour', system_time, event_time) as hours from t",
  'select make_timestamptz(2020, 1, 1, 0, 0, 0) as then',
  'select to_json(g) as text from t limit 3',
  "select json_extract_string('{\"a\": 1}', '$.a') as a",
  "select '{\"a\": 1}' ->> '$.a' as a",
  "select k from t where g collate de = 'g1'",
]

const rowsOf = (from: number, to: number): object[] =>
  Array.from({ length: to - from }, (_, at) => {
    const n = from + at
    return {
      k: (n * 31) % 7,
      m: (n * 37) % 900,
      ...(n % 9 !== 0 && { x: ((n * 7919) % 1000) / 7 - 4 }),
      z: ((n * 13) % 5) / 2,
      g: `g${(n * 3) % 12}`,
      d: `2024-0${1 + (n % 9)}-1${n % 10}`,
      b: n % 3 === 0,
      l: [n % 4, n % 3],
      q: Math.floor(n / 500),
    }
  })

describe.runIf(hasBrowserEngine)('the engine for browsers', () => {
  let bench: EngineBench

  beforeAll(async () => {
    const schema = {
      fields: [
        ...Object.entries({ k: 'Int32', m: 'Int64', z: 'Float64', g: 'String', d: 'Date', b: 'Bool', q: 'Int32' }).map(
          ([name, kind]) => ({ name, type: { kind } }),
        ),
        { name: 'x', type: { kind: 'Option', inner: { kind: 'Float64' } } },
        { name: 'p', type: { kind: 'Option', inner: { kind: 'Decimal', precision: 9, scale: 2 } } },
        { name: 'l', type: { kind: 'List', itemType: { kind: 'Int64' } } },
      ],
    }
    await live.call('/acme/t', { method: 'PUT', json: { schema } })
    for (let block = 0; block < 3; block++)
      await live.ingest(
        'acme/t',
        rowsOf(400 * block, 400 * (block + 1)).map((row, n) => ({ ...row, p: (n * 11) % 100 })),
      )
    const names = Array.from({ length: 30 }, (_, n) => ({ k: n % 9, name: `n${n}`, w: n / 3 }))
    await live.ingest('acme/u', names, '?create=true&integers=int64')
    bench = await EngineBench.open(live)
  })

  /** What it says of an answer that the node signed; undefined where the node signs none. */
  const verdictOf = async (sql: string): Promise<PortableVerdict | undefined> => {
    const pins = await Promise.all(
      ['t', 'u'].map(async (alias) => ({ id: String((await live.call(`/acme/${alias}`)).at('id')), alias })),
    )
    const answer = await live.query(sql, { include: ['Proof', 'Schema'], datasets: pins, limit: 5000 })
    return answer.status === 200 ? await bench.judge(answer.bytes) : undefined
  }

  test('gets what a node signed of more than four statements in five, or cannot tell, and never another output', async () => {
    const said = { same: 0, other: [] as string[], unknown: 0 }
    for (const sql of [...exactStatements, ...blockFreeStatements, ...pinnedStatements]) {
      const verdict = await verdictOf(sql)
      if (verdict?.outcome === 'other') said.other.push(`${sql}: ${verdict.why}`)
      else if (verdict !== undefined) said[verdict.outcome]++
    }
    // As docs/engines.md has it.
    expect(said).toEqual({ same: 244, other: [], unknown: 18 })
    await fc.assert(
      fc.asyncProperty(randomStatement, async (sql) => {
        expect([sql, (await verdictOf(sql))?.outcome]).not.toEqual([sql, 'other'])
      }),
      { numRuns: 20 },
    )
  })

  test.each(timesThatRun)('runs %s', async (sql) => {
    expect(await verdictOf(sql)).toMatchObject({ outcome: 'same' })
  })

  test.each(withoutExtension)('cannot run %s', async (sql) => {
    const verdict = await verdictOf(sql)
    if (verdict === undefined) throw new Error('the node signs no answer to it')
    expect(verdict).toMatchObject({ outcome: 'unknown', why: expect.stringContaining('This engine cannot run it') })
  })

  test.each([
    'select offset, sum(k) over (partition by g, g order by offset) a, sum(k) over (partition by g, b order by offset) c from t',
    'select sum(k) over (partition by "g") a, sum(k) over (partition by "b" order by offset) c from t',
  ])('does not judge %s, whose windows it may confuse', async (sql) => {
    expect(await verdictOf(sql)).toMatchObject({ outcome: 'unknown', why: expect.stringContaining('other partitions') })
  })

  test('plans a correlated subquery as nodes do', async () => {
    const rows = [
      { id: 1, views: 100, likes: 10 },
      { id: 2, views: 150, likes: 20 },
      { id: 3, likes: 5 },
      { id: 4, views: 7, likes: 30 },
    ]
    await live.ingest('acme/v', rows, '?create=true&integers=int64')
    const sql = `select count(*) as n from v x where exists (select 1 from (select x.id as c, y.views as d from v y
      where x.likes > y.likes) z where z.d <> x.likes)`
    const datasets = [{ id: String((await live.call('/acme/v')).at('id')), alias: 'v' }]
    const answer = await live.query(sql, { include: ['Proof', 'Schema'], datasets })
    expect(answer.at('output.data')).toEqual([[2]])
    expect(await bench.judge(answer.bytes)).toMatchObject({ outcome: 'same' })
  })

  test('tells of a syntax error in words, not in JSON', async () => {
    for (const sql of ['pragma database_list', 'select * from (pragma "a\nb")'])
      await expect(bench.engine.query(`SELECT * FROM (${sql})`)).rejects.toThrow(
        /^Parser Error: syntax error at or near "/,
      )
  })

  test('has no extension and reaches no file, and no statement changes that', async () => {
    const { engine } = bench
    const extensions = ['icu', 'json', 'parquet'].map((name) => `'${name}'`).join(', ')
    const loaded = `SELECT * FROM duckdb_extensions() WHERE loaded AND extension_name IN (${extensions})`
    expect(await engine.query(loaded)).toEqual([])
    for (const read of ["read_csv('/etc/hosts')", "read_text('/etc/hosts')", "glob('/*')", "'/etc/hosts'"])
      await expect(engine.query(`SELECT * FROM ${read}`)).rejects.toThrow(/disabled by configuration|does not exist/)
    for (const set of ['SET threads = 2', 'SET enable_external_access = true', "ATTACH '/tmp/a.db'"])
      await expect(engine.query(set)).rejects.toThrow(/has been locked|disabled by configuration/)
  })
})

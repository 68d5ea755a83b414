// The same answer with any number of threads, byte by byte, and the same refusal: every statement of the corpus, statements
// out of parts, statements that fail, and some over many rows. What is signed is these bytes.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openSession } from '../../../src/node/engine/duckdb/open.ts'
import type { DuckDbSession } from '../../../src/node/engine/duckdb/session.ts'
import { SentLists } from '../../../src/node/engine/process/file-lists.ts'
import { maySplit } from '../../../src/libraries/sql/many-threads.ts'
import { engineVersion, type PlainJob } from '../../../src/node/engine/messages.ts'
import { quoteOffsetWord } from '../../../src/libraries/sql/offset-word.ts'
import { concatBytes } from '../../../src/libraries/base/bytes.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { listOf, topNodeOf, usePlainEngine } from './helpers.ts'
import { blockFreeStatements, exactStatements, pinnedStatements, randomStatement } from './statement-corpus.ts'
import { rowsOf, schemas } from './statement-tables.ts'

type Name = keyof typeof schemas
type Options = Partial<Pick<PlainJob, 'reproducible' | 'ordered' | 'limit'>> & { readonly rows?: number }

const gibibyte = 1024 ** 3
const plain = usePlainEngine()
const root = mkdtempSync(join(tmpdir(), 'proofstream-threads-'))
const few = new Map<Name, string[]>()
const many = new Map<Name, string[]>()
let session: DuckDbSession
const sent = new SentLists()
const named = (['t', 'u'] as const).map((name) => ({ parts: [name], schema: schemas[name] }))

beforeAll(async () => {
  const writer = await (await DuckDBInstance.create(':memory:')).connect()
  await writer.run("SET TimeZone = 'UTC'")
  const write = async (name: Name, total: number, files: number): Promise<string[]> =>
    await Promise.all(
      Array.from({ length: files }, async (_, at) => {
        const path = join(root, `${name}-${total}-${at}`)
        const [from, to] = [Math.floor((total * at) / files), Math.floor((total * (at + 1)) / files)]
        // A dictionary of this writer would make one value of 0.0 and -0.0.
        await writer.run(`COPY (${rowsOf(name, from, to)}) TO '${path}' (FORMAT parquet, DICTIONARY_SIZE_LIMIT 0)`)
        return path
      }),
    )
  few.set('t', await write('t', 3000, 40)).set('u', await write('u', 12, 3))
  many.set('t', await write('t', 700_000, 3)).set('u', few.get('u') ?? [])
  writer.closeSync()
  const bytes = { memoryBytes: 2 * gibibyte, killBytes: 8 * gibibyte, resultBytes: gibibyte, exportBytes: gibibyte }
  session = await openSession({ engineVersion, ...bytes, dataRoots: [root] })
})
afterAll(() => rmSync(root, { recursive: true }))

/** Answer or refusal with so many threads, of files that are said to hold many rows. */
async function told(sql: string, threads: number, over = few, options: Options = {}): Promise<string> {
  const { rows = 1_000_000, ...rest } = options
  try {
    const analysis = await session.analyze(sql)
    const tables = analysis.tables.map(({ parts, text }) => {
      const name = text === 'u' ? 'u' : 't'
      return { parts, dataset: name, files: listOf(over.get(name) ?? []), schema: schemas[name], rows }
    })
    const job = {
      reproducible: true,
      dataFormat: 'JsonAoa',
      wantSchema: true,
      keyOrder: 'canonical',
      ascii: true,
    } as const
    const given = { analysis, ...sent.plain(tables), ...job, skip: 0, limit: 100_000, threads, ...rest }
    const { pieces, truncated, stability, schema } = await session.run(given)
    return `${Buffer.from(concatBytes([...pieces])).toString()} ${JSON.stringify({ truncated, stability, schema })}`
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    return JSON.stringify([error.kind, error.message, error.details])
  }
}

async function differences(statements: readonly string[], over = few, options: Options = {}): Promise<string[]> {
  const found: string[] = []
  for (const sql of statements) {
    const [alone, ...others] = [
      await told(sql, 1, over, options),
      await told(sql, 2, over, options),
      await told(sql, 8, over, options),
    ]
    if (others.some((other) => other !== alone)) found.push(sql)
  }
  return found
}

async function isSplit(sql: string): Promise<boolean> {
  return maySplit(await topNodeOf(plain, quoteOffsetWord(sql).text), named)
}

/** What the session makes the number of threads of the engine while `action` runs. */
async function settings(action: () => Promise<unknown>): Promise<string[]> {
  const run = vi.spyOn(DuckDBConnection.prototype, 'run')
  await action()
  const texts = run.mock.calls.map(([sql]) => sql).filter((sql) => sql.startsWith('SET threads'))
  run.mockRestore()
  return texts
}

describe('with 1, 2 and 8 threads', () => {
  it('a proof of any statement of the corpus has the same bytes', async () => {
    expect(await differences([...exactStatements, ...blockFreeStatements, ...pinnedStatements])).toEqual([])
    const split: string[] = []
    for (const sql of exactStatements) if (await isSplit(sql)) split.push(sql)
    expect(split.length).toBeGreaterThan(80)
    for (const sql of pinnedStatements) expect([sql, await isSplit(sql)]).toEqual([sql, false])
  }, 300_000)

  it('so has an answer without a proof, where it has one order', async () => {
    const options = { reproducible: false, ordered: 'whereSplit', limit: 40 } as const
    const split: string[] = []
    for (const sql of exactStatements) if (await isSplit(sql)) split.push(sql)
    expect(await differences(split, few, options)).toEqual([])
    expect(await settings(() => differences(split.slice(0, 3), few, options))).toContain('SET threads = 8')
    expect(await settings(() => differences(split, few, { reproducible: false }))).toEqual(['SET threads = 1'])
  }, 300_000)

  it('so have statements out of parts', async () => {
    const check = fc.asyncProperty(randomStatement, async (sql) => {
      expect(await differences([sql])).toEqual([])
    })
    await fc.assert(check, { numRuns: Number(process.env['STATEMENTS'] ?? 150) })
  }, 36_000_000)

  it('a statement that fails has the same reason', async () => {
    const failing = [
      'select cast(g as integer) from t',
      "select k, cast(g || m as integer) from t where g <> 'g3' limit 5",
      'select sum(cast(g as integer)) from t',
      'select g, max(cast(g || offset as date)) from t where offset > 2000 group by g',
      'select distinct error_at(k) from t',
      'select sum(m * 9223372036854775807) from t',
      'select count(*) from t where g::integer = 3',
      'select count(*) from t where k = (select m from t where m < 9)',
      'select sum(k::tinyint * 100::tinyint) from t',
    ]
    expect(await differences(failing)).toEqual([])
    for (const sql of failing) expect([sql, (await told(sql, 8)).slice(0, 2)]).toEqual([sql, '["'])
  })

  it('so have answers over many rows', async () => {
    const statements = [
      'select count(*), sum(k), avg(m), min(g), max(d), sum(p), bit_xor(m) from t',
      'select g, count(*), sum(m), max(event_time) from t group by g',
      'select offset // 3 as o, count(*), max(g), sum(k) from t group by o order by o desc limit 500',
      'select m, k, g, count(*), count(distinct d), count(distinct x) from t group by all',
      'select distinct m, d, g from t',
      'select median(m), quantile_disc(g, 0.4), quantile_cont(k, [0.1, 0.7]) from t',
      'select g, list(x order by offset)[5:9] as xs, arg_max(z, offset) as newest from t group by g',
      'select offset, x, z, s, l from t where m = 77',
      'select * from t where hash(offset) % 1000 = 3 limit 300 offset 100',
      'select offset, x * 3 from t where k > 5 limit 70000 offset 20',
      'select a.g, count(*), sum(b.m) from t a join t b on a.offset = b.offset + 1000 group by a.g',
      'select u.name, sum(t.m), max(t.d), count(*) from t join u on t.k = u.k group by all',
      'with a as (select m, sum(k) as s, count(*) as n from t group by m) select max(s), sum(n), sum(s), count(*) from a',
      'select count(*), sum(r) from (select rank() over (partition by m order by d) as r from t)',
      'select g, count(*) from t where m in (select m from t where offset < 50) group by g',
      'select m, d, count(*) from t group by rollup (m, d) order by 3 desc, 1 limit 4000',
      'select z, x, count(*) from t group by all',
      'select sum(x), avg(x), list(k)[3], first(g) from t',
      'select cast(g as integer) from t where offset > 699000',
    ]
    expect(await differences(statements, many, { rows: 700_000 })).toEqual([])
  }, 300_000)
})

describe('the number of threads', () => {
  const sums = 'select g, sum(k) from t group by g'

  it('is that of the job where threads may split the rows and these are many, else one', async () => {
    await told(sums, 1)
    expect(await settings(() => told(sums, 8))).toEqual(['SET threads = 8'])
    expect(await settings(() => told('select k from t where m = 3', 8))).toEqual([])
    expect(await settings(() => told(sums, 3, few, { rows: 3000 }))).toEqual(['SET threads = 3'])
    expect(await settings(() => told('select sum(x) from t', 8))).toEqual(['SET threads = 1'])
    expect(await settings(() => told(sums, 8, few, { rows: 3000 }))).toEqual([])
  })

  it.each([
    [262_143, []],
    [262_144, ['SET threads = 8']],
    [262_145, ['SET threads = 8']],
  ])('is that of the job from 262,144 rows on: %i', async (rows, set) => {
    const answer = await told(sums, 1)
    expect(await settings(async () => expect(await told(sums, 8, few, { rows })).toBe(answer))).toEqual(set)
  })

  it('is one again for what fails on several, whose reason counts', async () => {
    await told(sums, 1)
    const failing = 'select max(g::integer) from t'
    expect(await settings(() => told(failing, 8))).toEqual(['SET threads = 8', 'SET threads = 1'])
  })

  it.each([
    'select sum(p * p) from t',
    'select sum(k::hugeint) from t',
    'select sum(s * s) from (select sum(k) as s from t group by g)',
    'select sum(k::ubigint * k) from t',
    'select sum(m::decimal(30, 2)) from t',
    'select sum(v) from (select * from t join (values (170141183460469231731687303715884105727)) w(v) on true)',
  ])('is one where a sum may overflow in one order and not in another: %s', async (sql) => {
    expect(await isSplit(sql)).toBe(false)
  })

  it.each([
    'select k, g from t order by m limit 10',
    'select count(*) from (select k from t order by offset limit 100)',
    'select k from t union all select m from t',
    'select count(*) from t where exists (select 1 from u where cast(name as integer) = 3)',
    'select count(*) from t where k > (select w from u where name::integer = 2)',
    'select count(*) from t where st_x(g) > 3 and bbox(g, 1, 2, 3, 4)',
    'select st_astext(g) from t',
  ])('is one where rows may be left out before they fail: %s', async (sql) => {
    expect(await isSplit(sql)).toBe(false)
  })

  it('is one without a dataset', async () => {
    expect(maySplit(await topNodeOf(plain, 'select sum(range) from range(100)'), [])).toBe(false)
  })
})
